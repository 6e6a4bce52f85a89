"""Ages from dates of birth: years on a given day, then bands of years."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError, UsageError
from discreet.schema._column import Column, Wants
from discreet.schema._hierarchy import Level
from discreet.schema.builders._base import BUILDERS, LevelBuilder, blocks_of_runs

__all__ = ["Age", "age"]

_FORM = "age(on=2026-01-01) or age(5, 10, on=2026-01-01)"


def age(*widths: int, on: str | datetime.date | None = None) -> Age:
    """Turn dates of birth into ages on a day, and ages into bands of some widths; each is a multiple of the last.

    The day is given, so that the same table becomes the same release next year.

    >>> import polars as pl
    >>> age(10, on="2026-01-01").build(pl.Series(["1990-01-01", "1990-01-02"])).rows()
    [['1990-01-01', '36', '[30, 40)', '*'], ['1990-01-02', '35', '[30, 40)', '*']]
    """
    return Age.from_arguments(*widths, on=on)


@BUILDERS.register
@dataclass(frozen=True)
class Age(LevelBuilder):
    """Ages on a day, from dates of birth, and bands of ages."""

    name: ClassVar[str] = "age"
    examples: ClassVar[tuple[str, ...]] = ("age(5, 10, on=2026-01-01)",)
    sought_as: ClassVar[tuple[str, ...]] = ("birth", "birthday", "years")
    title: ClassVar[str] = "Ages"
    summary: ClassVar[str] = "Ages on a day instead of dates of birth, then bands of ages."
    types: ClassVar[tuple[str, ...]] = ("date",)
    rank: ClassVar[int] = 45

    widths: tuple[int, ...]
    on: datetime.date

    def __post_init__(self) -> None:
        if not all(isinstance(width, int) and not isinstance(width, bool) and width > 1 for width in self.widths):
            raise UsageError(f"The widths of age are whole numbers of years above 1, as in {_FORM}.")
        for narrow, wide in pairwise(self.widths):
            if wide <= narrow or wide % narrow:
                raise UsageError(
                    f"In '{self.text}', {wide} is not a multiple of {narrow}, so its bands would cut across narrower "
                    "ones; make each width a multiple of the one before."
                )

    @property
    def wants(self) -> Wants:
        """Dates."""
        return "dates"

    @classmethod
    def from_arguments(cls, *widths: int, on: str | datetime.date | None = None) -> Self:
        """Make a builder from the widths of bands and the day ages are counted on."""
        if isinstance(on, datetime.datetime):
            on = on.date()
        if isinstance(on, str):
            try:
                on = datetime.date.fromisoformat(on)
            except ValueError:
                on = None
        if not isinstance(on, datetime.date):
            raise UsageError(
                f"age needs the day on which ages are counted, as in {_FORM}; a column of ages takes intervals(5, 10)."
            )
        return cls(tuple(widths), on)

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the widths and the day."""
        return list(self.widths), {"on": self.on.isoformat()}

    def levels(self, column: Column) -> list[Level]:
        """Return the level of ages and one per width."""
        assert column.numbers is not None
        years = _years(column.numbers, self.on)
        if (years < 0).any():
            raise DataError(
                f"Column '{column.name}' has dates after {self.on}, on which ages are to be counted; choose a later "
                "day, or correct them.",
                column=column.name,
            )
        codes, first = blocks_of_runs(years)
        found: list[Level] = [(codes, [str(year) for year in years[first].tolist()])]
        for width in self.widths:
            codes, first = blocks_of_runs(years // width)
            low = years[first] // width * width
            found.append((codes, [f"[{year}, {year + width})" for year in low.tolist()]))
        return found


def _years(numbers: NDArray[Any], on: datetime.date) -> NDArray[np.int64]:
    """Return the ages on a day of people born on days since 1970-01-01; who is born on 29 February ages on 1 March."""
    days = np.floor(numbers).astype(np.int64).astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    year, month = months.astype(np.int64) // 12 + 1970, months.astype(np.int64) % 12 + 1
    day = (days - months).astype(np.int64) + 1
    later = (month > on.month) | ((month == on.month) & (day > on.day))
    return np.asarray(on.year - year - later, dtype=np.int64)
