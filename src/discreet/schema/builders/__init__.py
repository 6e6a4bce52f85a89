"""Builders: recipes that make a hierarchy from the distinct values of a column, one module each."""

from collections.abc import Callable

from discreet.schema.builders._auto import auto
from discreet.schema.builders._base import Builder, LevelBuilder, blocks_of_runs, blocks_of_text
from discreet.schema.builders._dates import dates
from discreet.schema.builders._flat import flat
from discreet.schema.builders._groups import Groups, Ordered, groups, ordered
from discreet.schema.builders._intervals import intervals
from discreet.schema.builders._mask import mask
from discreet.schema.builders._ranges import ranges

__all__ = [
    "BUILDERS",
    "Builder",
    "Groups",
    "LevelBuilder",
    "Ordered",
    "auto",
    "blocks_of_runs",
    "blocks_of_text",
    "dates",
    "flat",
    "groups",
    "intervals",
    "mask",
    "ordered",
    "ranges",
]

BUILDERS: dict[str, Callable[..., Builder]] = {
    "auto": auto,
    "dates": dates,
    "flat": flat,
    "groups": groups,
    "intervals": intervals,
    "mask": mask,
    "ordered": ordered,
    "ranges": ranges,
}
