"""The data protection page: one page to sign, as HTML, PDF or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import UsageError
from discreet.report.formats.html import to_html
from discreet.report.formats.markdown import to_markdown
from discreet.report.formats.page import document, own_file
from discreet.report.formats.pdf import find_browser, print_page
from discreet.report.sections.blocks import Section
from discreet.report.sections.protection import Handover, protection_footer, protection_sections, protection_title
from discreet.runtime.atomic_write import check_target, replacing

if TYPE_CHECKING:
    from discreet.pipeline.release import Release

__all__ = ["Handover", "check_protection_page", "write_protection_page"]

SUFFIXES = (".html", ".pdf", ".md")


def check_protection_page(path: Path) -> Path:
    """Raise UsageError if the page could not be written there; return the target."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"A data protection page cannot be written as '{path.name}'; end the name in {', '.join(SUFFIXES)}."
        )
    if path.suffix.lower() == ".pdf":
        find_browser()
    return check_target(path)


def write_protection_page(release: Release, path: Path, handover: Handover, original: Any = None) -> Path:
    """Write the page in the format that its name says.

    ``original`` is the table the release was made from, for releases that do not know it any more.
    """
    target = check_protection_page(path)
    suffix = path.suffix.lower()
    sections = protection_sections(release, handover, original)
    page = (_markdown if suffix == ".md" else _html)(release, handover, sections)
    with replacing(target, private=handover.internal) as unfinished:
        if suffix == ".pdf":
            print_page(page, unfinished)
        else:
            unfinished.write_text(page, encoding="utf-8")
    return target


def _markdown(release: Release, handover: Handover, sections: Sequence[Section]) -> str:
    title, subtitle = protection_title(release, handover)
    return to_markdown(title, subtitle, sections, [protection_footer(handover)])


def _html(release: Release, handover: Handover, sections: Sequence[Section]) -> str:
    title, subtitle = protection_title(release, handover)
    parts = to_html(sections, contents=False)
    style = own_file("formats/report_page.css") + own_file("formats/protection_page.css")
    return document(title, subtitle, parts, [protection_footer(handover)], style=style)
