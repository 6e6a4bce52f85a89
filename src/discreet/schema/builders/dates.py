"""The calendar: days into weeks, months, quarters, years and decades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UsageError, did_you_mean
from discreet.schema._column import Column, Wants
from discreet.schema._hierarchy import Level
from discreet.schema.builders._base import BUILDERS, LevelBuilder, blocks_of_runs

__all__ = ["UNITS", "Dates", "calendar_level", "dates"]

UNITS = ("day", "week", "month", "quarter", "year", "decade")


def dates(*units: str) -> Dates:
    """Group dates by calendar units, from fine to coarse; by default by month, quarter, year and decade.

    With weeks among the units, a week belongs to the month, quarter and year its Thursday lies in, as ISO
    8601 has it, so that units nest. The level ``day`` only exists for dates that have a time of day.

    >>> import polars as pl
    >>> dates("month", "quarter", "year").build(pl.Series(["2024-03-01"])).rows()
    [['2024-03-01', '2024-03', '2024-Q1', '2024', '*']]
    """
    return Dates.from_arguments(*units)


@BUILDERS.register
@dataclass(frozen=True)
class Dates(LevelBuilder):
    """Calendar units from fine to coarse: day, week, month, quarter, year and decade."""

    name: ClassVar[str] = "dates"
    examples: ClassVar[tuple[str, ...]] = ("dates(month, year, decade)", "dates")
    sought_as: ClassVar[tuple[str, ...]] = ("age", "birthday", "calendar", "day", "month", "year", "decade")
    title: ClassVar[str] = "Calendar"
    summary: ClassVar[str] = "Months, years, decades."
    types: ClassVar[tuple[str, ...]] = ("date",)
    rank: ClassVar[int] = 40

    units: tuple[str, ...]

    def __post_init__(self) -> None:
        for unit in self.units:
            if unit not in UNITS:
                hint = did_you_mean(str(unit), UNITS) or f"known are {', '.join(UNITS)}."
                raise UsageError(f"There is no calendar unit '{unit}' for dates; {hint}", topic="unknown-name")
        if list(self.units) != [unit for unit in UNITS if unit in self.units]:
            raise UsageError(f"The units of '{self.text}' must go from fine to coarse, each once: {', '.join(UNITS)}.")

    @property
    def wants(self) -> Wants:
        """Dates."""
        return "dates"

    @classmethod
    def from_arguments(cls, *units: str) -> Self:
        """Make a builder from its units."""
        return cls(units or ("month", "quarter", "year", "decade"))

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the units."""
        return list(self.units), {}

    def levels(self, column: Column) -> list[Level]:
        """Return one level per unit."""
        assert column.numbers is not None
        timed = column.numbers.dtype.kind == "f"
        units = [unit for unit in self.units if timed or unit != "day"]
        return [calendar_level(column.numbers, unit, weeks="week" in units) for unit in units]


def calendar_level(numbers: NDArray[np.integer] | NDArray[np.floating], unit: str, weeks: bool = False) -> Level:
    """Return the level of a unit over sorted days since 1970-01-01; ``weeks``: by each week's Thursday."""
    days = np.floor(numbers).astype(np.int64)
    if weeks and unit != "day":
        days = (days + 3) // 7 * 7  # 1970-01-01 was a Thursday
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]").astype(np.int64)
    years = months // 12 + 1970
    keys = {
        "day": days,
        "week": days,
        "month": months,
        "quarter": months // 3,
        "year": years,
        "decade": years // 10,
    }[unit]
    codes, first = blocks_of_runs(keys)
    year = years[first]
    if unit == "day":
        return codes, dates[first].astype(str).tolist()
    if unit == "week":
        number = (dates[first] - dates[first].astype("datetime64[Y]")).astype(np.int64) // 7 + 1
        return codes, [f"{y}-W{w:02}" for y, w in zip(year.tolist(), number.tolist(), strict=True)]
    if unit == "month":
        return codes, dates[first].astype("datetime64[M]").astype(str).tolist()
    if unit == "quarter":
        quarter = months[first] // 3 % 4 + 1
        return codes, [f"{y}-Q{q}" for y, q in zip(year.tolist(), quarter.tolist(), strict=True)]
    if unit == "year":
        return codes, [f"{y}" for y in year.tolist()]
    return codes, [f"{y // 10 * 10}s" for y in year.tolist()]
