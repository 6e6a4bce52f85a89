"""Microaggregation: the one value a group shows in place of its values, and the usual measure of its loss."""

from __future__ import annotations

import numpy as np

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.solve._base import LocalRecoding

__all__ = ["representatives", "squared_error"]


def representatives(positions: FloatArray | None, codes: IntArray, groups: LocalRecoding) -> FloatArray:
    """Return the mean, the median or the mode of the numbers of each group, given the leaf of each tuple.

    It is NaN if the most frequent value of a group is missing. Without ``positions`` it is the most frequent leaf.
    Of equally frequent leaves the first counts.
    """
    published = np.flatnonzero(groups.group >= 0)
    leaves = int(codes.max(initial=0)) + 1
    cells, cell = np.unique(
        groups.group[published] * leaves + codes[groups.tuple[published]].astype(np.int64), return_inverse=True
    )
    rows = np.bincount(cell.reshape(-1), weights=groups.count[published], minlength=cells.size).astype(np.float64)
    owner, leaf = cells // leaves, cells % leaves
    by_rows = np.lexsort((leaf, -rows, owner))
    mode = leaf[by_rows[np.flatnonzero(np.diff(owner, prepend=-1))]]
    if positions is None:
        return mode.astype(np.float64)
    shown = positions[mode] + 0.0
    present = np.flatnonzero(~np.isnan(shown))
    if groups.show != "mode" and present.size:
        known = np.flatnonzero(~np.isnan(positions[leaf]))
        owner, number, rows = owner[known], positions[leaf[known]] + 0.0, rows[known]
        begins = np.flatnonzero(np.diff(owner, prepend=-1))
        central = (_means if groups.show == "mean" else _medians)(begins, number, rows)
        shown[present] = central[np.searchsorted(owner[begins], present)]
    return shown


def _means(begins: IntArray, number: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the mean of each run of numbers."""
    with np.errstate(over="ignore"):
        return np.asarray(np.add.reduceat(number * rows, begins) / np.add.reduceat(rows, begins))


def _medians(begins: IntArray, number: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the lower median of each run of ascending numbers: a number that occurs."""
    upto = np.append(0.0, np.cumsum(rows))
    halves = (upto[begins] + upto[np.append(begins[1:], number.size)]) / 2
    return np.asarray(number[np.searchsorted(upto[1:], halves)])


def squared_error(table: CountTable, groups: LocalRecoding) -> float | None:
    """Return SSE / SST over the published rows, or None if no number or date varies.

    SSE is the sum of squared distances of numbers and dates from the means of their groups, SST from the overall mean.
    Each attribute is divided by its standard deviation. Missing values are left out.
    """
    published = groups.group >= 0
    within = total = 0.0
    for attribute, codes in zip(table.attributes, table.codes, strict=True):
        if attribute.positions is None:
            continue
        number = attribute.positions[codes[groups.tuple]]
        known = np.flatnonzero(published & ~np.isnan(number))
        if not known.size:
            continue
        half, rows = number[known] / 2, groups.count[known]  # a half, so that no difference overflows
        above = half - half.min()
        scaled = above / (above.max() or 1.0)
        overall = _squares(scaled, rows, np.zeros(known.size, dtype=np.int64))
        if overall > 0:
            standardized = int(rows.sum())  # SST of an attribute divided by its standard deviation
            within += standardized * _squares(scaled, rows, groups.group[known]) / overall
            total += standardized
    return within / total if total else None


def _squares(number: FloatArray, rows: IntArray, group: IntArray) -> float:
    """Return the sum over rows of the squared distances from the means of their groups."""
    sums, sizes = np.bincount(group, weights=number * rows), np.bincount(group, weights=rows)
    mean = np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0)
    return float(rows @ (number - mean[group]) ** 2)
