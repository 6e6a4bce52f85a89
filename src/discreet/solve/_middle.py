"""The one value that a group of a local recoding shows in place of its values."""

from __future__ import annotations

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.solve._base import Groups

__all__ = ["middles"]


def middles(positions: FloatArray | None, codes: IntArray, groups: Groups) -> FloatArray:
    """Return for each group the mean, the median or the mode of its numbers, given the leaf of each tuple.

    A group of which the most frequent is no number has none. Without ``positions`` it is the leaf itself that is most
    frequent. Of leaves as frequent as each other the first in their order counts.
    """
    published = np.flatnonzero(groups.group >= 0)
    leaves = int(codes.max(initial=0)) + 1
    cells, place = np.unique(
        groups.group[published] * leaves + codes[groups.tuple[published]].astype(np.int64), return_inverse=True
    )
    rows = np.bincount(place.reshape(-1), weights=groups.count[published], minlength=cells.size).astype(np.float64)
    owner, leaf = cells // leaves, cells % leaves
    by_rows = np.lexsort((leaf, -rows, owner))
    mode = leaf[by_rows[np.flatnonzero(np.diff(owner, prepend=-1))]]
    if positions is None:
        return mode.astype(np.float64)
    shown = positions[mode] + 0.0
    there = np.flatnonzero(~np.isnan(shown))
    if groups.show != "mode" and there.size:
        known = np.flatnonzero(~np.isnan(positions[leaf]))
        owner, number, rows = owner[known], positions[leaf[known]] + 0.0, rows[known]
        begins = np.flatnonzero(np.diff(owner, prepend=-1))
        middle = (_means if groups.show == "mean" else _medians)(begins, number, rows)
        shown[there] = middle[np.searchsorted(owner[begins], there)]
    return shown


def _means(begins: IntArray, number: FloatArray, rows: FloatArray) -> FloatArray:
    """The mean of each run of numbers."""
    with np.errstate(over="ignore"):
        return np.asarray(np.add.reduceat(number * rows, begins) / np.add.reduceat(rows, begins))


def _medians(begins: IntArray, number: FloatArray, rows: FloatArray) -> FloatArray:
    """The least number of each run that at least half of its rows do not exceed; runs are in ascending order."""
    upto = np.append(0.0, np.cumsum(rows))
    halves = (upto[begins] + upto[np.append(begins[1:], number.size)]) / 2
    return np.asarray(number[np.searchsorted(upto[1:], halves)])
