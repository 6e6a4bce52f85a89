"""The verdict of an audit: promised and measured values."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.pipeline.audit.classes import KeySetClasses, described
from discreet.problem.hidden_values import HiddenValues
from discreet.report.class_sizes import ClassSizes
from discreet.report.notebook import NOTHING, audit_html
from discreet.report.numbers import number_text
from discreet.runtime.plurals import amount, unit_amount

__all__ = ["AttributeDisclosure", "Audit", "Check"]


@dataclass(frozen=True)
class Check:
    """A promise, the value that was measured, and whether it is kept."""

    model: str
    promised: float | None
    reached: float
    passed: bool
    key_sets: tuple[KeySetClasses, ...] = field(default=(), repr=False)
    """What was measured on each key set, if the promise is about key sets; ``reached`` is the least."""


@dataclass(frozen=True)
class AttributeDisclosure:
    """How surely the classes give a sensitive column away, whatever was promised.

    A class whose people nearly all have a value tells something only if others do not: a value counts where its share
    in the class exceeds its share in the whole release by a tenth.
    """

    column: str
    highest: float
    """The largest share of such a value in a class; 0 if there is none."""
    certain: float
    """The share of released rows in classes where all known values are one such value."""
    usual: float
    """The share, in the whole release, of the value with the largest share."""


@dataclass(frozen=True)
class Audit:
    """The verdict on a released table."""

    checks: tuple[Check, ...]
    rows: int
    classes: int
    smallest_class: int
    quasi_identifiers: tuple[str, ...]
    sizes: ClassSizes = field(default_factory=ClassSizes, repr=False)
    """The distribution of class sizes."""
    unique: Mapping[str, float] = field(default_factory=dict, repr=False)
    """For columns released unchanged, the share of released rows with a value of their own, of those that have one."""
    singled_out: float | None = None
    """The share of rows that quasi-identifiers and columns released unchanged single out together, if measured."""
    certainties: tuple[AttributeDisclosure, ...] = field(default=(), repr=False)
    """What the classes give away about sensitive columns."""
    hidden: Mapping[str, HiddenValues] = field(default_factory=dict, repr=False)
    """For each sensitive column with suppressed values, what these can be."""
    notes: tuple[str, ...] = field(default=(), repr=False)
    """What may have been meant otherwise."""
    people: int | None = None
    """The number of people with a released row, or of households, if promises count those."""
    unit: str = "row"
    """What classes are counted in: ``row``, ``person`` or ``household``."""

    @property
    def counts(self) -> str:
        """How much was released, in words: rows, and the people they are about where those are counted."""
        rows = amount(self.rows, "row")
        return rows if self.people is None else f"{rows} of {unit_amount(self.people, self.unit)}"

    @property
    def passed(self) -> bool:
        """Whether every promise is kept."""
        return all(check.passed for check in self.checks)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The promises that are broken."""
        return tuple(check for check in self.checks if not check.passed)

    def summary(self, *, hidden: Collection[str] = ()) -> str:
        """Return the verdict as text, without the measured values of the ``hidden`` promises."""
        width = max(len(check.model) for check in self.checks)
        lines = [
            f"Audit {'FAILED' if not self.passed else 'passed' if self.rows else 'of nothing'}: {self.counts} in "
            f"{amount(self.classes, 'class', 'classes')}"
            + (f", the smallest of {self.smallest_words}." if self.classes else "."),
        ]
        for check in self.checks:
            mark = "ok    " if check.passed else "BROKEN"
            reached = "" if check.model in hidden else f"reached {number_text(check.reached)}"
            about = described(check.key_sets)
            reached += f" ({about})" if about and reached else ""
            lines.append(f"  {mark}  {check.model:<{width}}  {reached}".rstrip())
        lines += [*([] if self.rows else [f"caution: {NOTHING}"]), *self.notes]
        return "\n".join(lines)

    @property
    def smallest_words(self) -> str:
        """The size of the smallest class, with what is counted unless it is rows."""
        if self.people is None:
            return f"{self.smallest_class:,}"
        return unit_amount(self.smallest_class, self.unit)

    def _repr_html_(self) -> str:
        return audit_html(self)

    def to_dict(self, *, hidden: Collection[str] = ()) -> dict[str, Any]:
        """Return the audit as plain data, ready for JSON, without the measured values of the ``hidden`` promises."""
        notes = [*([] if self.rows else [NOTHING]), *self.notes]
        return {
            "passed": self.passed,
            "rows": self.rows,
            **({} if self.people is None else {"people": self.people, "unit": self.unit}),
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "quasi_identifiers": list(self.quasi_identifiers),
            "checks": [
                {
                    "model": check.model,
                    "promised": check.promised,
                    "reached": check.reached if math.isfinite(check.reached) and check.model not in hidden else None,
                    "passed": check.passed,
                    **({"key_sets": [_key_set(each) for each in check.key_sets]} if check.key_sets else {}),
                }
                for check in self.checks
            ],
            **({"notes": notes} if notes else {}),
        }


def _key_set(found: KeySetClasses) -> dict[str, Any]:
    """Return what was measured on a key set as plain data."""
    reached = found.reached if math.isfinite(found.reached) else None
    return {"columns": list(found.columns), "classes": found.classes, "reached": reached}
