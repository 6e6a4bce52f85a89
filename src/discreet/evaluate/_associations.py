"""How strongly two columns go together, in the original table and as far as the release still tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from discreet.counts import FloatArray
from discreet.evaluate._cover import Cells

__all__ = ["associations"]

_CELLS = 1 << 24
"""Two texts that take a larger table than this to compare are left out."""


def associations(before: Sequence[Cells], after: Sequence[Cells]) -> pl.DataFrame:
    """Return the association of every two columns, before and after.

    Two numbers or dates: the correlation coefficients of Pearson and of Spearman. Two texts: Cramér's V. A number and
    a text: the correlation ratio. All are 0 where a column does not vary. Each released value counts as if spread
    evenly over what it covers; missing numbers are left out, missing text is a value of its own.
    """
    sides = [[_Column(cells) for cells in side] for side in (before, after)]
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
    """For each row the share of its value that is known, and the mean of the number and of its square there."""

    known: FloatArray
    first: FloatArray
    second: FloatArray


class _Column:
    """A column, and what is found out about it once."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        positions = cells.attribute.domain.positions
        if positions is not None:
            middle = float(np.nanmean(positions)) if (positions == positions).any() else 0.0
            self.numbers = self._moments(positions - middle)  # near 0, so that squares lose no digits
            self.ranks = self._moments(np.where(np.isnan(positions), np.nan, _ranks(cells.marginal)))

    def _moments(self, numbers: FloatArray) -> _Moments:
        cover, places = self.cells.cover, self.cells.places
        known, zero = ~np.isnan(numbers), np.nan_to_num(numbers)
        each = [cover.mean(known.astype(np.float64)), cover.mean(zero), cover.mean(zero**2)]
        return _Moments(*(mean[places] for mean in each))


def _measured(a: _Column, b: _Column) -> dict[str, float | None]:
    if a.cells.numeric and b.cells.numeric:
        return {"pearson": _pearson(a.numbers, b.numbers), "spearman": _pearson(a.ranks, b.ranks)}
    if a.cells.numeric or b.cells.numeric:
        number, text = (a, b) if a.cells.numeric else (b, a)
        return {"correlation ratio": _correlation_ratio(number.numbers, text.cells)}
    return {"cramers v": _cramers_v(a.cells, b.cells)}


def _ranks(marginal: FloatArray) -> FloatArray:
    """Return the mean rank of each leaf, as a share of all rows."""
    return np.cumsum(marginal) - marginal / 2


def _pearson(a: _Moments, b: _Moments) -> float:
    """Return the correlation over what is known of both."""
    n = float(a.known @ b.known)
    if not n:
        return 0.0
    mean_a, mean_b = float(a.first @ b.known) / n, float(b.first @ a.known) / n
    var_a, var_b = float(a.second @ b.known) / n - mean_a**2, float(b.second @ a.known) / n - mean_b**2
    together = float(a.first @ b.first) / n - mean_a * mean_b
    return _ratio(together, var_a, var_b, float(a.second.max()), float(b.second.max()))


def _ratio(together: float, var_a: float, var_b: float, scale_a: float, scale_b: float) -> float:
    """Return the correlation coefficient; 0 where a variance is nothing but what was rounded off."""
    if var_a <= 1e-12 * scale_a or var_b <= 1e-12 * scale_b:
        return 0.0
    return float(np.clip(together / np.sqrt(var_a * var_b), -1.0, 1.0))


def _correlation_ratio(number: _Moments, text: Cells) -> float:
    """Return the root of the share of the number's variance that lies between the values of the text."""
    values = len(text.cover)
    of_value = [np.bincount(text.places, weights=each, minlength=values) for each in (number.known, number.first)]
    count, total = (text.cover.spread(each.astype(np.float64)) for each in of_value)
    n = float(count.sum())
    if not n:
        return 0.0
    mean = float(total.sum()) / n
    variance = float(number.second.sum()) / n - mean**2
    some = count > 0
    between = float((count[some] * (total[some] / count[some] - mean) ** 2).sum()) / n
    return 0.0 if variance <= 1e-12 * float(number.second.max()) else float(np.sqrt(min(between / variance, 1.0)))


def _cramers_v(a: Cells, b: Cells) -> float | None:
    """Return Cramér's V of the table of both; None where that would be too large."""
    wide = max(len(a.cover), a.cover.leaves, a.cover.leaf.size) * max(len(b.cover), b.cover.leaves)
    if wide > _CELLS or a.cover.leaves * b.cover.leaf.size > _CELLS:
        return None
    table = np.bincount(a.places * len(b.cover) + b.places, minlength=len(a.cover) * len(b.cover))
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
