"""Units of figures in reports: people and rows differ where people may have several rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.runtime.plurals import units

if TYPE_CHECKING:
    from discreet.pipeline.release import Release

__all__ = ["counted_as", "values_of"]


def counted_as(release: Release) -> str:
    """Return the unit of promises and class sizes: people, or households; a row is a person if rows are counted."""
    return "people" if release.audit.people is None else units(release.audit.unit)


def values_of(release: Release) -> str:
    """Return the unit of value counts: people, or rows if people may have several."""
    return "people" if release.audit.people is None else "rows"
