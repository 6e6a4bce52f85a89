"""What notebooks show of a release and of an audit: a small table, without style of its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from typing import TYPE_CHECKING

from discreet._words import amount

if TYPE_CHECKING:
    from discreet.release._audit import Audit
    from discreet.release._release import Release

__all__ = ["audit_html", "release_html", "table_html"]


def audit_html(audit: Audit, hidden: Collection[str] = ()) -> str:
    """Return the verdict as a table; what ``hidden`` promises have reached is not shown."""
    from discreet.release._audit import number_text

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


def release_html(release: Release) -> str:
    """Return the main figures and the audit as tables."""
    from discreet.release._left_out import compared_promises
    from discreet.release._report_sections import report_tiles

    tiles = [(name, figure, hint) for name, figure, hint, _ in report_tiles(release).tiles]
    return table_html("Release", (), tiles) + audit_html(release.audit, compared_promises(release))


def table_html(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with a title."""
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>"
        + "".join(f"<{'td' if n else 'th'}>{escape(c)}</{'td' if n else 'th'}>" for n, c in enumerate(row))
        + "</tr>"
        for row in rows
    )
    first = f"<thead><tr>{heads}</tr></thead>" if head else ""
    return f"<table><caption>{escape(title)}</caption>{first}<tbody>{body}</tbody></table>"
