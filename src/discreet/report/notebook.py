"""Plain HTML tables, as notebooks show them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from typing import TYPE_CHECKING

from discreet.report.numbers import number_text
from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.pipeline.audit.verdict import Audit

__all__ = ["audit_html", "check_rows", "table_html"]


def table_html(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with a caption; the first cell of each row is its header."""

    def cells(row: Sequence[str]) -> str:
        return "".join(f"<{'td' if i else 'th'}>{escape(c)}</{'td' if i else 'th'}>" for i, c in enumerate(row))

    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    first = f"<thead><tr>{heads}</tr></thead>" if head else ""
    body = "".join(f"<tr>{cells(row)}</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption>{first}<tbody>{body}</tbody></table>"


def audit_html(audit: Audit, hidden: Collection[str] = ()) -> str:
    """Return an audit as a table, without the measured values of the ``hidden`` promises."""
    verdict = "passed" if audit.passed else "FAILED"
    title = f"Audit {verdict}: {amount(audit.rows, 'row')} in {amount(audit.classes, 'class', 'classes')}"
    return table_html(title, ("promise", "promised", "reached", "verdict"), check_rows(audit, hidden))


def check_rows(audit: Audit, hidden: Collection[str] = ()) -> list[list[str]]:
    """Return a row for each check: the promise, what was promised, what was reached, and the verdict."""
    return [
        [
            check.model,
            "" if check.promised is None else number_text(check.promised),
            "not shown" if check.model in hidden else number_text(check.reached),
            "✓ kept" if check.passed else "✗ BROKEN",
        ]
        for check in audit.checks
    ]
