"""What figures of a report count, in words: where people may have several rows, both people and rows are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.runtime.plurals import units

if TYPE_CHECKING:
    from discreet.pipeline.release import Release

__all__ = ["counted_as", "values_of"]


def counted_as(release: Release) -> str:
    """Return what promises and class sizes count: people, or households; every row is a person if rows are counted."""
    return "people" if release.audit.people is None else units(release.audit.unit)


def values_of(release: Release) -> str:
    """Return what values are counted in: people, or rows if people may have several."""
    return "people" if release.audit.people is None else "rows"
