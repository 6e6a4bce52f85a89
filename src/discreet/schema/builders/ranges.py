"""Ranges between given cut points."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from discreet.errors import UsageError
from discreet.schema._column import Column, Wants, value_text
from discreet.schema._hierarchy import Level
from discreet.schema._types import Type
from discreet.schema.builders._base import BUILDERS, LevelBuilder, blocks_of_runs

__all__ = ["Ranges", "ranges"]

_EPOCH = datetime.date(1970, 1, 1)
_FORM = "ranges([0, 18, 65]) or ranges([0, 5, 18, 65], [0, 18, 65])"

Cut = int | float | datetime.date


def ranges(*cuts: Any) -> Ranges:
    """Group numbers or dates between cut points; each further list keeps some cuts of the one before.

    A range includes its lower end and not its upper one. Values below the first cut, and from the last cut on, have
    ranges of their own.

    >>> import polars as pl
    >>> tree = ranges([18, 65]).build(pl.Series([3, 18, 64, 70]))
    >>> tree.levels[1]
    ['< 18', '[18, 65)', '[18, 65)', '>= 65']
    """
    return Ranges.from_arguments(*cuts)


@BUILDERS.register
@dataclass(frozen=True)
class Ranges(LevelBuilder):
    """Ranges of numbers or dates between cut points; each further level keeps some cuts of the one before."""

    name: ClassVar[str] = "ranges"
    examples: ClassVar[tuple[str, ...]] = ("ranges([18, 30, 45, 65], [30, 65])", "ranges([2020-01-01, 2022-01-01])")
    title: ClassVar[str] = "My own steps"
    summary: ClassVar[str] = "Where each range begins; one list for each level."
    types: ClassVar[tuple[str, ...]] = ("integer", "decimal", "date")
    rank: ClassVar[int] = 30
    takes_tree: ClassVar[bool] = True

    cuts: tuple[tuple[Cut, ...], ...]

    def __post_init__(self) -> None:
        if not self.cuts or not all(self.cuts):
            raise UsageError(f"ranges needs lists of cut points, as in {_FORM}.")
        if len({isinstance(cut, datetime.date) for level in self.cuts for cut in level}) > 1:
            raise UsageError(f"'{self.text}' mixes numbers and dates; use one kind of cut point.")
        for level in self.cuts:
            if any(high <= low for low, high in pairwise(level)):  # type: ignore[operator]
                raise UsageError(f"The cut points of each level in '{self.text}' must rise.")
        for fine, coarse in pairwise(self.cuts):
            if not set(coarse) <= set(fine):
                raise UsageError(
                    f"In '{self.text}' a coarser level has a cut point the finer one before it lacks, so its "
                    "ranges would cut across finer ones; add it there."
                )

    @property
    def wants(self) -> Wants:
        """Numbers or dates, as the cut points are."""
        return "dates" if isinstance(self.cuts[0][0], datetime.date) else "numbers"

    @classmethod
    def from_arguments(cls, *cuts: Any) -> Self:
        """Make a builder from one list of cut points per level, a list of such lists, or the cut points of one."""
        levels: Iterable[Any] = cuts
        if len(cuts) == 1 and isinstance(cuts[0], Sequence) and cuts[0] and isinstance(cuts[0][0], list | tuple):
            levels = cuts[0]
        elif not any(isinstance(cut, list | tuple) for cut in cuts):
            levels = [cuts]
        return cls(tuple(tuple(map(_cut, level)) if isinstance(level, list | tuple) else () for level in levels))

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Return one list of cut points per level."""
        return [[cut if isinstance(cut, int | float) else value_text(cut) for cut in level] for level in self.cuts], {}

    def levels(self, column: Column) -> list[Level]:
        """Return one level per list of cut points."""
        if column.type is Type.DATE and self.wants == "numbers":
            raise UsageError(
                f"Column '{column.name}' holds dates; give the cut points as dates, as in 2024-01-01.",
                column=column.name,
            )
        assert column.numbers is not None
        found: list[Level] = []
        for level in self.cuts:
            points = [(cut - _EPOCH).days if isinstance(cut, datetime.date) else cut for cut in level]
            codes, first = blocks_of_runs(range_of := np.searchsorted(np.array(points), column.numbers, side="right"))
            names = list(map(value_text, level))
            inner = [f"[{low}, {high})" for low, high in pairwise(names)]
            labels = [f"< {names[0]}", *inner, f">= {names[-1]}"]
            found.append((codes, [labels[block] for block in range_of[first].tolist()]))
        return found


def _cut(value: Any) -> Cut:
    if isinstance(value, datetime.datetime):
        value = value.date()
    if isinstance(value, str):
        try:
            return datetime.date.fromisoformat(value)
        except ValueError:
            raise UsageError(f"'{value}' is no cut point for ranges; give numbers or dates, as in {_FORM}.") from None
    if isinstance(value, datetime.date):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | np.number) or value != value:
        raise UsageError(f"The cut points of ranges are numbers or dates, as in {_FORM}.")
    number = float(value)
    return int(value) if number.is_integer() else number
