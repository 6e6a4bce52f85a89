"""The verdict of an audit: what was promised, what the table attains, and what that rests on."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from discreet._words import amount
from discreet.release._html_table import table_html
from discreet.release._sizes import ClassSizes

__all__ = ["Audit", "Check", "audit_html", "number_text"]


@dataclass(frozen=True)
class Check:
    """One promise: what was promised, what the table really attains, and whether that is enough."""

    model: str
    promised: float | None
    reached: float
    passed: bool


@dataclass(frozen=True)
class Audit:
    """The verdict on a released table, and what it rests on."""

    checks: tuple[Check, ...]
    rows: int
    classes: int
    smallest_class: int
    quasi_identifiers: tuple[str, ...]
    sizes: ClassSizes = field(default_factory=ClassSizes, repr=False)
    """How many classes have how many rows."""

    @property
    def passed(self) -> bool:
        """Whether every promise is kept."""
        return all(check.passed for check in self.checks)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The promises that are broken."""
        return tuple(check for check in self.checks if not check.passed)

    def summary(self, *, hidden: Collection[str] = ()) -> str:
        """Return the verdict as text for people, without what the ``hidden`` promises have reached."""
        width = max(len(check.model) for check in self.checks)
        lines = [
            f"Audit {'passed' if self.passed else 'FAILED'}: {amount(self.rows, 'row')} in "
            f"{amount(self.classes, 'class', 'classes')}"
            + (f", the smallest of {self.smallest_class:,}." if self.classes else "."),
        ]
        if not self.rows:
            lines.append("  Nothing was released, so that no promise can be broken.")
        for check in self.checks:
            mark = "ok    " if check.passed else "BROKEN"
            reached = "" if check.model in hidden else f"reached {number_text(check.reached)}"
            lines.append(f"  {mark}  {check.model:<{width}}  {reached}".rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return audit_html(self)

    def to_dict(self, *, hidden: Collection[str] = ()) -> dict[str, Any]:
        """Return the audit as plain data, ready for JSON, without what the ``hidden`` promises have reached."""
        return {
            "passed": self.passed,
            "rows": self.rows,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "quasi_identifiers": list(self.quasi_identifiers),
            "checks": [
                {
                    "model": check.model,
                    "promised": check.promised,
                    "reached": check.reached if math.isfinite(check.reached) and check.model not in hidden else None,
                    "passed": check.passed,
                }
                for check in self.checks
            ],
        }


def number_text(value: float) -> str:
    """Write a number for people.

    >>> number_text(5.0), number_text(0.123456), number_text(149604.37), number_text(float("inf"))
    ('5', '0.1235', '149,604', 'any')
    """
    if math.isinf(value):
        return "any"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 10_000 else f"{value:.4g}"


def audit_html(audit: Audit, hidden: Collection[str] = ()) -> str:
    """Return the verdict as a table; what ``hidden`` promises have reached is not shown."""
    verdict = "passed" if audit.passed else "FAILED"
    title = f"Audit {verdict}: {amount(audit.rows, 'row')} in {amount(audit.classes, 'class', 'classes')}"
    rows = [
        (
            check.model,
            "" if check.promised is None else number_text(check.promised),
            "not shown" if check.model in hidden else number_text(check.reached),
            "✓ kept" if check.passed else "✗ BROKEN",
        )
        for check in audit.checks
    ]
    return table_html(title, ("promise", "promised", "reached", "verdict"), rows)
