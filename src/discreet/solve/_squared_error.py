"""The information loss of microaggregation: how much of the variation of numbers is inside the groups."""

from __future__ import annotations

import numpy as np

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.solve._base import Groups

__all__ = ["squared_error"]


def squared_error(table: CountTable, groups: Groups) -> float | None:
    """Return SSE / SST over the published rows, or None where there are no numbers that differ.

    SSE is the sum of the squared distances of numbers and dates from the means of their groups, SST of those from the
    mean of all; each attribute is divided by its standard deviation. Missing values are left out.
    """
    published = groups.group >= 0
    within = total = 0.0
    for attribute, codes in zip(table.attributes, table.codes, strict=True):
        if attribute.positions is None:
            continue
        number = attribute.positions[codes[groups.tuple]]
        there = np.flatnonzero(published & ~np.isnan(number))
        if not there.size:
            continue
        half, rows = number[there] / 2, groups.count[there]  # a half, so that nothing is too large
        above = half - half.min()
        scaled = above / (above.max() or 1.0)
        around_all = _squares(scaled, rows, np.zeros(there.size, dtype=np.int64))
        if around_all > 0:
            known = int(rows.sum())  # what SST of a standardized attribute is
            within += known * _squares(scaled, rows, groups.group[there]) / around_all
            total += known
    return within / total if total else None


def _squares(number: FloatArray, rows: IntArray, group: IntArray) -> float:
    """The sum over the rows of the squared distances of numbers from the means of their groups."""
    sums, sizes = np.bincount(group, weights=number * rows), np.bincount(group, weights=rows)
    mean = np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0)
    return float(rows @ (number - mean[group]) ** 2)
