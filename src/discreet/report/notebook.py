"""Audits in notebooks."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from discreet.report.numbers import number_text
from discreet.runtime.notebook_html import card, findings, table
from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.pipeline.audit.verdict import Audit

__all__ = ["NOTHING", "audit_html", "audit_table", "check_rows"]

NOTHING = "There are no rows, so nothing was checked: a table without rows keeps every promise."
"""What is said of the audit of an empty table."""


def audit_html(audit: Audit) -> str:
    """Return an audit as a card."""
    title = f"Audit of {audit.counts} in {amount(audit.classes, 'class', 'classes')}"
    level, words = ("danger", "A promise is broken.") if not audit.passed else ("ok", "Every promise is kept.")
    if audit.passed and not audit.rows:
        level, words = "caution", NOTHING
    return card(title, findings([(level, words)]), audit_table(audit), level=level)


def audit_table(audit: Audit, hidden: Collection[str] = ()) -> str:
    """Return the checks of an audit as a table, without the measured values of the ``hidden`` promises."""
    title = f"Audit {'passed' if audit.passed else 'FAILED'}"
    return table(title, ("promise", "promised", "reached", "verdict"), check_rows(audit, hidden), text=[3])


def check_rows(audit: Audit, hidden: Collection[str] = ()) -> list[list[str]]:
    """Return a row for each check: the promise, the promised and the reached value, and the verdict."""
    return [
        [
            check.model,
            "" if check.promised is None else number_text(check.promised),
            "not shown" if check.model in hidden else number_text(check.reached),
            "✓ kept" if check.passed else "✗ BROKEN",
        ]
        for check in audit.checks
    ]
