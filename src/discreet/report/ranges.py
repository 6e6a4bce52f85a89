"""Histograms of numbers and dates with round bin edges, so that no edge reveals a single person's value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.report.numbers import number_text
from discreet.report.small_counts import merge_small_cells
from discreet.runtime.integer_codes import add_up

__all__ = ["RangeCounts", "evenly_spread", "round_between", "round_edges", "round_ranges"]

_BINS = 24
_YEARS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_MONTHS = (1, 2, 3, 6)


@dataclass(frozen=True)
class RangeCounts:
    """A histogram: the number of people between consecutive edges; dates are days since 1970-01-01."""

    edges: tuple[float, ...]
    rows: tuple[float, ...]
    date: bool = False

    @property
    def densities(self) -> list[float]:
        """People per unit, for each bin."""
        return [rows / (b - a) for rows, (a, b) in zip(self.rows, pairwise(self.edges), strict=True)]

    def name(self, edge: float) -> str:
        """Write an edge as text; a date as short as possible."""
        if not self.date:
            return number_text(edge)
        day = np.datetime64(round(edge), "D")
        year, month = day.astype("datetime64[Y]"), day.astype("datetime64[M]")
        return str(year if year == day else month if month == day else day)


def round_ranges(positions: FloatArray, rows: IntArray, least: int, *, date: bool = False) -> RangeCounts | None:
    """Return a histogram whose bins are empty or hold at least ``least`` people; None if there are too few people.

    The outermost bins also hold whatever lies beyond them, so that extreme values are not revealed.

    >>> ages = np.arange(20.0, 91.0)
    >>> round_ranges(ages, np.where(ages < 60, 10, 0) + (ages == 90), 5).edges[-3:]
    (56.0, 58.0, 60.0)
    """
    there = rows > 0
    positions, rows = positions[there], rows[there]
    order = np.argsort(positions, kind="stable")
    positions, rows = positions[order], rows[order]
    upto = np.cumsum(rows)
    if not upto.size or upto[-1] < 2 * least:
        return None
    low = float(positions[np.searchsorted(upto, least)])
    high = float(positions[np.searchsorted(upto, int(upto[-1]) - least, side="right")])
    if low >= high:
        return None
    edges = round_edges(low, high, whole=bool((positions == np.rint(positions)).all()), date=date)
    bin_of = np.clip(np.searchsorted(edges, positions, side="right") - 1, 0, edges.size - 2)
    counts = add_up(bin_of, rows, edges.size - 1)
    cell = merge_small_cells(counts, least)
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    merged = np.add.reduceat(counts, first)
    return RangeCounts((*edges[first].tolist(), float(edges[-1])), tuple(merged.tolist()), date)


def round_between(low: float, high: float, *, date: bool = False) -> float:
    """Return the roundest number in (low, high]; for dates the first day of a year or month, if there is one.

    >>> round_between(19, 20), round_between(34.7, 35.2), round_between(98, 251), round_between(0.021, 0.029)
    (20.0, 35.0, 200.0, 0.025)
    """
    if date:
        last = np.datetime64(math.floor(high), "D")
        for unit in ("Y", "M"):
            begin = float(last.astype(f"datetime64[{unit}]").astype("datetime64[D]").astype(np.int64))
            if low < begin:
                return begin
        return math.ceil((low + high) / 2)
    top = math.ceil(math.log10(max(abs(low), abs(high), high - low, 1e-300)))
    for power in range(top, top - 20, -1):
        for factor in (10, 5, 2):
            scale = 10.0 ** (power - 1)
            candidate = math.floor(high / (factor * scale) + 1e-9) * factor * scale
            if low < candidate <= high:
                return round(candidate, 15 - top)
    return (low + high) / 2


def evenly_spread(low: FloatArray, high: FloatArray, rows: IntArray, over: RangeCounts) -> RangeCounts:
    """Return the histogram over the bins of ``over`` if the people of each class lie evenly between its ends."""
    known = ~(np.isnan(low) | np.isnan(high))
    low, high, rows = low[known], high[known], rows[known]
    wide = high > low
    width, is_wide = np.where(wide, high - low, 1.0), bool(wide.all())
    up_to = [0.0]
    for edge in over.edges[1:-1]:
        part = (edge - low) / width
        if not is_wide:
            part = np.where(wide, part, edge > low)
        up_to.append(float((np.clip(part, 0, 1, out=part) * rows).sum()))
    up_to.append(float(rows.sum()))
    return RangeCounts(over.edges, tuple(np.diff(up_to).tolist()), over.date)


def round_edges(low: float, high: float, *, whole: bool = False, date: bool = False) -> FloatArray:
    """Return the edges of at most 25 bins with round ends that cover all numbers or days from ``low`` to ``high``.

    >>> round_edges(17, 90, whole=True)[:4].tolist()
    [15.0, 20.0, 25.0, 30.0]
    """
    return _date_edges(low, high) if date else _edges(low, high, whole)


def _edges(low: float, high: float, whole: bool) -> FloatArray:
    rough = (high - low) / _BINS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    step = max(step, 1.0) if whole else step
    numbers = np.arange(math.floor(low / step), math.floor(high / step) + 2)
    edges = numbers * step
    return np.asarray(edges if step >= 1 else np.round(edges, 12))


def _date_edges(low: float, high: float) -> FloatArray:
    first, last = (np.datetime64(math.floor(day), "D") for day in (low, high))
    years = int(last.astype("datetime64[Y]").astype(int) - first.astype("datetime64[Y]").astype(int)) + 1
    months = int(last.astype("datetime64[M]").astype(int) - first.astype("datetime64[M]").astype(int)) + 1
    if months > _BINS * _MONTHS[-1]:
        step = next((step for step in _YEARS if years <= _BINS * step), _YEARS[-1])
        begin = (int(first.astype("datetime64[Y]").astype(int)) + 1970) // step * step - 1970
        starts = np.arange(begin, begin + years + 2 * step, step).astype("datetime64[Y]")
    elif months > 2:
        step = next(step for step in _MONTHS if months <= _BINS * step)
        begin = int(first.astype("datetime64[M]").astype(int)) // step * step
        starts = np.arange(begin, begin + months + 2 * step, step).astype("datetime64[M]")
    else:
        starts = np.arange(
            first.astype("datetime64[M]"), last + np.timedelta64(8, "D"), np.timedelta64(2 * months, "D")
        )
        starts = starts[max(int(np.searchsorted(starts, first, side="right")) - 1, 0) :]
    edges = starts.astype("datetime64[D]").astype(np.int64).astype(np.float64)
    return edges[: int(np.searchsorted(edges, high, side="right")) + 1]
