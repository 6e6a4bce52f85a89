"""How strongly columns are associated, in the original table and in the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from discreet.counts import FloatArray
from discreet.evaluate.utility.covered_column import CoveredColumn

__all__ = ["associations"]

_CELLS = 1 << 24
"""Pairs of texts that need a larger contingency table are left out."""


def associations(before: Sequence[CoveredColumn], after: Sequence[CoveredColumn]) -> pl.DataFrame:
    """Return the association of every two columns, before and after.

    Two numbers or dates: the correlation coefficients of Pearson and Spearman. Two texts: Cramér's V. A number and a
    text: the correlation ratio. All are 0 if a column is constant. Each released value is spread evenly over what it
    covers; missing numbers are left out, missing text is a value of its own.
    """
    sides = [[_MomentColumn(column) for column in side] for side in (before, after)]
    found = []
    for i, j in combinations(range(len(before)), 2):
        measures = [_measured(side[i], side[j]) for side in sides]
        for measure, number in measures[0].items():
            other = measures[1].get(measure)
            if number is not None and other is not None:
                found.append((before[i].name, before[j].name, measure, number, other, abs(number - other)))
    columns = dict.fromkeys(("first", "second", "measure"), pl.String)
    numbers = dict.fromkeys(("original", "released", "difference"), pl.Float64)
    return pl.DataFrame(found, schema={**columns, **numbers}, orient="row")


@dataclass(frozen=True, eq=False)
class _Moments:
    """For each row the share of its value that is not missing, and the means of the number and of its square."""

    known: FloatArray
    first: FloatArray
    second: FloatArray


class _MomentColumn:
    """A column with the moments of its numbers and ranks, computed once."""

    def __init__(self, column: CoveredColumn) -> None:
        self.column = column
        positions = column.attribute.domain.positions
        if positions is not None:
            centre = float(np.nanmean(positions)) if (positions == positions).any() else 0.0
            self.numbers = self._moments(positions - centre)  # centred, so that squares lose no digits
            self.ranks = self._moments(np.where(np.isnan(positions), np.nan, _ranks(column.marginal)))

    def _moments(self, numbers: FloatArray) -> _Moments:
        cover, codes = self.column.cover, self.column.codes
        known, zero = ~np.isnan(numbers), np.nan_to_num(numbers)
        each = [cover.mean(known.astype(np.float64)), cover.mean(zero), cover.mean(zero**2)]
        return _Moments(*(mean[codes] for mean in each))


def _measured(a: _MomentColumn, b: _MomentColumn) -> dict[str, float | None]:
    if a.column.numeric and b.column.numeric:
        return {"pearson": _pearson(a.numbers, b.numbers), "spearman": _pearson(a.ranks, b.ranks)}
    if a.column.numeric or b.column.numeric:
        number, text = (a, b) if a.column.numeric else (b, a)
        return {"correlation ratio": _correlation_ratio(number.numbers, text.column)}
    return {"cramers v": _cramers_v(a.column, b.column)}


def _ranks(marginal: FloatArray) -> FloatArray:
    """Return the mean rank of each leaf, relative to the number of rows."""
    return np.cumsum(marginal) - marginal / 2


def _pearson(a: _Moments, b: _Moments) -> float:
    """Return the correlation over the rows where both are known."""
    n = float(a.known @ b.known)
    if not n:
        return 0.0
    mean_a, mean_b = float(a.first @ b.known) / n, float(b.first @ a.known) / n
    var_a, var_b = float(a.second @ b.known) / n - mean_a**2, float(b.second @ a.known) / n - mean_b**2
    covariance = float(a.first @ b.first) / n - mean_a * mean_b
    return _ratio(covariance, var_a, var_b, float(a.second.max()), float(b.second.max()))


def _ratio(covariance: float, var_a: float, var_b: float, scale_a: float, scale_b: float) -> float:
    """Return the correlation coefficient; 0 if a variance is a mere rounding error."""
    if var_a <= 1e-12 * scale_a or var_b <= 1e-12 * scale_b:
        return 0.0
    return float(np.clip(covariance / np.sqrt(var_a * var_b), -1.0, 1.0))


def _correlation_ratio(number: _Moments, text: CoveredColumn) -> float:
    """Return the square root of the share of the number's variance that lies between the values of the text."""
    values = len(text.cover)
    of_value = [np.bincount(text.codes, weights=each, minlength=values) for each in (number.known, number.first)]
    count, total = (text.cover.spread(each.astype(np.float64)) for each in of_value)
    n = float(count.sum())
    if not n:
        return 0.0
    mean = float(total.sum()) / n
    variance = float(number.second.sum()) / n - mean**2
    there = count > 0
    between = float((count[there] * (total[there] / count[there] - mean) ** 2).sum()) / n
    return 0.0 if variance <= 1e-12 * float(number.second.max()) else float(np.sqrt(min(between / variance, 1.0)))


def _cramers_v(a: CoveredColumn, b: CoveredColumn) -> float | None:
    """Return Cramér's V; None if the contingency table would be too large."""
    wide = max(len(a.cover), a.cover.leaves, a.cover.leaf.size) * max(len(b.cover), b.cover.leaves)
    if wide > _CELLS or a.cover.leaves * b.cover.leaf.size > _CELLS:
        return None
    table = np.bincount(a.codes * len(b.cover) + b.codes, minlength=len(a.cover) * len(b.cover))
    shared = np.zeros((a.cover.leaves, len(b.cover)))
    np.add.at(shared, a.cover.leaf, table.reshape(len(a.cover), -1)[a.cover.owner] * a.cover.share[:, np.newaxis])
    both = np.zeros((b.cover.leaves, a.cover.leaves))
    np.add.at(both, b.cover.leaf, shared.T[b.cover.owner] * b.cover.share[:, np.newaxis])
    both = both[both.sum(axis=1) > 0][:, both.sum(axis=0) > 0]
    least = min(both.shape) - 1
    if least < 1:
        return 0.0
    n = both.sum()
    expected = np.outer(both.sum(axis=1), both.sum(axis=0)) / n
    return float(np.sqrt(min(((both - expected) ** 2 / expected).sum() / (n * least), 1.0)))
