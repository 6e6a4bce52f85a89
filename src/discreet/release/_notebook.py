"""What notebooks show of a release: a small table, without style of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.release._audit import audit_html
from discreet.release._html_table import table_html

if TYPE_CHECKING:
    from discreet.release._release import Release

__all__ = ["release_html"]


def release_html(release: Release) -> str:
    """Return the main figures and the audit as tables."""
    from discreet.release._left_out import compared_promises
    from discreet.release._report_sections import report_tiles

    tiles = [(name, figure, hint) for name, figure, hint, _ in report_tiles(release).tiles]
    return table_html("Release", (), tiles) + audit_html(release.audit, compared_promises(release))
