"""The data protection page: one page to sign, as HTML, PDF or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import UsageError
from discreet.report.formats.html import to_html
from discreet.report.formats.markdown import to_markdown
from discreet.report.formats.page import document, own_file
from discreet.report.formats.pdf import find_browser, print_page
from discreet.report.sections.blocks import Section
from discreet.report.sections.protection import (
    Handover,
    first_section,
    protection_footer,
    protection_sections,
    protection_title,
)
from discreet.runtime.atomic_write import check_target, replacing

if TYPE_CHECKING:
    from discreet.pipeline.release import Release

__all__ = ["Handover", "ProtectionPage", "check_protection_page", "make_protection_page", "write_protection_page"]

SUFFIXES = (".html", ".pdf", ".md")


@dataclass(frozen=True)
class ProtectionPage:
    """A page that is ready to be written. It holds no value of the data, and can be pickled."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    footer: str
    internal: bool
    """Whether it is for the owner of the data alone."""

    def handed_to(self, purpose: str, recipient: str) -> ProtectionPage:
        """Return the page with another purpose and recipient."""
        return replace(self, sections=[first_section(self.sections[0], purpose, recipient), *self.sections[1:]])

    def write(self, path: Path) -> Path:
        """Write the page in the format that its name says."""
        target = check_protection_page(path)
        suffix = path.suffix.lower()
        with replacing(target, private=self.internal) as unfinished:
            if suffix == ".pdf":
                print_page(self._html(), unfinished)
            else:
                unfinished.write_text(self._markdown() if suffix == ".md" else self._html(), encoding="utf-8")
        return target

    def _markdown(self) -> str:
        return to_markdown(self.title, self.subtitle, self.sections, [self.footer])

    def _html(self) -> str:
        style = own_file("formats/report_page.css") + own_file("formats/protection_page.css")
        parts = to_html(self.sections, contents=False)
        return document(self.title, self.subtitle, parts, [self.footer], style=style)


def check_protection_page(path: Path) -> Path:
    """Raise UsageError if the page could not be written there; return the target."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"A data protection page cannot be written as '{path.name}'; end the name in {', '.join(SUFFIXES)}."
        )
    if path.suffix.lower() == ".pdf":
        find_browser()
    return check_target(path)


def make_protection_page(release: Release, handover: Handover, original: Any = None) -> ProtectionPage:
    """Make the page; ``original`` is the table it was made from, for releases that do not know it any more."""
    title, subtitle = protection_title(release, handover)
    sections = protection_sections(release, handover, original)
    return ProtectionPage(title, subtitle, sections, protection_footer(handover), handover.internal)


def write_protection_page(release: Release, path: Path, handover: Handover) -> Path:
    """Make the page and write it in the format that its name says."""
    check_protection_page(path)
    return make_protection_page(release, handover).write(path)
