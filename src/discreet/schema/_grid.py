"""A grid for numbers and dates whose lines no single value decides, to round the ends of ranges outward to."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.schema._domain import Domain
from discreet.schema._types import Type

__all__ = ["Grid", "rounding_grid"]

_ROWS = 20
"""About so many rows are in a cell between the quartiles ..."""
_FEWEST, _MOST = 4, 200
"""... which has at least and at most so many cells."""
_YEAR, _MONTH = 365.25, 30.4375
_YEARS, _MONTHS = (1, 2, 5, 10, 20, 50, 100), (1, 3, 6)


@dataclass(frozen=True, eq=False)
class Grid:
    """The cell of each leaf of a column, in order, and the half-open range of each cell as text.

    A missing value is a cell of its own, which has no ends.
    """

    cell: NDArray[np.int64]
    low: tuple[str, ...]
    high: tuple[str, ...]


def rounding_grid(domain: Domain, rows: NDArray[np.integer]) -> Grid | None:
    """Return a grid of round steps, so fine that about twenty rows are in a cell between the quartiles; None for text.

    ``rows`` counts the rows of each leaf. Quartiles hardly depend on single rows, and steps are round numbers or
    calendar units, at least 2 for whole numbers, so that no end of a range tells about a person.
    """
    if domain.positions is None:
        return None
    known = np.flatnonzero(~np.isnan(domain.positions))
    positions = domain.positions[known]
    weights = np.cumsum(rows[known])
    if not known.size or not weights[-1]:
        return None
    first, third = positions[np.searchsorted(weights, np.array([0.25, 0.75]) * weights[-1])]
    step = max(float(third - first), 0.0) / min(max(int(weights[-1]) / 2 / _ROWS, _FEWEST), _MOST)
    if domain.type is Type.DATE:
        number, ends = _calendar_cells(positions, step)
    else:
        number, ends = _number_cells(positions, step, whole=bool((positions == np.rint(positions)).all()))
    distinct, cell = np.unique(number, return_inverse=True)
    every = np.full(domain.positions.size, distinct.size, dtype=np.int64)
    every[known] = cell.reshape(-1)
    low, high = zip(*(ends(int(each)) for each in distinct.tolist()), strict=True)
    return Grid(every, tuple(low), tuple(high))


_Ends = Callable[[int], tuple[str, str]]


def _number_cells(positions: NDArray[np.float64], step: float, *, whole: bool) -> tuple[NDArray[np.int64], _Ends]:
    """Return the cell of each number, and a function that writes the ends of a cell."""
    size = round_down(step) if step > 0 else 1.0
    size = max(size, 2.0) if whole else size
    digits = max(0, -math.floor(math.log10(size)))

    def ends(cell: int) -> tuple[str, str]:
        return f"{cell * size:.{digits}f}", f"{(cell + 1) * size:.{digits}f}"

    return np.floor(positions / size + 1e-9).astype(np.int64), ends


def _calendar_cells(positions: NDArray[np.float64], step: float) -> tuple[NDArray[np.int64], _Ends]:
    """Return the cell of each date, and a function that writes the ends of a cell."""
    if step < _MONTH:
        days = max(round_down(max(step, 2.0)), 2.0)
        return np.floor(positions / days).astype(np.int64), lambda cell: (_iso(cell * days), _iso((cell + 1) * days))
    if step < _YEAR:
        months = max(each for each in _MONTHS if each * _MONTH <= step)
    else:
        months = 12 * max(each for each in _YEARS if each * _YEAR <= step)
    dates = positions.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) + 1970 * 12
    return dates // months, lambda cell: (_month(cell * months), _month((cell + 1) * months))


def round_down(step: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above a number.

    >>> [round_down(step) for step in (7.5, 0.034, 20)]
    [5.0, 0.02, 20.0]
    """
    power = 10.0 ** math.floor(math.log10(step) + 1e-12)
    return max(factor * power for factor in (1.0, 2.0, 5.0) if factor * power <= step * (1 + 1e-12))


def _iso(days: float) -> str:
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=round(days))).isoformat()


def _month(months: int) -> str:
    return datetime.date(months // 12, months % 12 + 1, 1).isoformat()
