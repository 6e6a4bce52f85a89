"""A lower bound from pairs of rows, for tables of many attributes, with its proof.

With many attributes there are too many boxes to walk over, and a row costs far more in a group than together with any
one other row. What a group costs is tied to *all* its pairs instead:

**Pairs.** Let d_i(r, s) be the rate of the cover of rows r and s in attribute i, and c_i the largest number such that
for any k rows the rate of their cover is at least c_i times the mean of d_i over their pairs. (For a range, the k rows
of the worst case are half at one end and half at the other, so c_i = k (k - 1) / 2 / floor(k² / 4): 5/3 for k = 5.) The
same holds for more rows: the mean over all pairs is the mean over subsets of k rows, whose covers are no wider. So with
d = Σ c_i d_i, a group G of g ≥ k rows costs

    g · rate(G)  ≥  g · mean of d over the pairs of G  =  Σ over r in G of the mean of d(r, s) over the others s in G.

**Potentials.** Any u(s) may be added to each d(r, s) and u(r) taken off: over a group that cancels out. The mean over
the others in G is at least that over the k - 1 other rows of the table with the least d(r, s) + u(s). Hence prices

    p(r) = the mean of the k - 1 least d(r, s) + u(s) over all rows s ≠ r, less u(r)

sum to no more than any grouping costs, whatever u is. High potentials keep rows in the middle from being the neighbour
of everybody, low ones make rows far out count for those who must join them. (This is the dual of a linear program:
choose k - 1 others for every row, such that every row is chosen k - 1 times.) They are found by subgradients on near
pairs; then all pairs are compared, which is the proof.
"""

from __future__ import annotations

from itertools import pairwise
from math import comb

import numpy as np

from discreet.solve._base import Budget
from discreet.solve._parallel import in_parallel
from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.covers import SET
from discreet.solve.local.kernels.nearest import CellPoints, build_boxes
from discreet.solve.local.kernels.pair_prices import (
    BLOCK,
    NearPairs,
    PairLists,
    PairPoints,
    both_ways,
    cheapest_pairs,
    listed_prices,
    raise_potentials,
)
from discreet.solve.local.task import LocalTask

__all__ = ["pair_factor", "pair_prices"]

_SCALE = float(1 << 28)
"""What all attributes cost together, at most, in whole units."""
_BUNDLE = 600
"""A bundle of attributes has at most so many combinations of cells."""
_MORE = 16
"""Lists are so much longer than they have to be."""
_STEPS = 150
"""Subgradients between two comparisons of all pairs."""
_FIRST_STEP, _LAST_STEP = 0.08, 0.004
"""The change of a potential, as a share of the mean price."""
_PASSES = 2
"""Comparisons of all pairs: without potentials, and with those found from what was near."""
_AT_ONCE = 256
"""Points compared with all others between two checks of the budget."""
_ALL_PAIRS = 4e10
"""With more pairs of points it takes too long."""


def pair_prices(task: LocalTask, cells: CellPoints, budget: Budget) -> Floats | None:
    """Return a price of each point that no grouping can beat; None without time, or if there are too many pairs."""
    n, k = cells.weights.size, task.k
    if k < 2 or n < 2 or int(cells.weights.sum()) < k or float(n) ** 2 > _ALL_PAIRS:
        return None
    factors = [pair_factor(task, cells, i) for i in range(cells.cells.size)]
    highest = sum(factor * float(table.max()) for factor, table in zip(factors, _tables(cells), strict=True))
    if highest <= 0.0:
        return None
    order = build_boxes(cells).order.astype(np.int64)
    points = _pair_points(cells, factors, order, _SCALE / highest)
    best, potential = None, np.zeros(n, dtype=np.int64)
    length = k - 1 + _MORE
    known: list[PairLists] = []
    for number in range(_PASSES):
        lists = PairLists(np.empty((n, length), dtype=np.int32), np.empty((n, length), dtype=np.int32))
        prices = _compare(points, potential, k - 1, lists, budget)
        if prices is None:
            break
        if best is None or float((points.weights * prices).sum()) > float((points.weights * best).sum()):
            best = prices
        if number < _PASSES - 1:
            known.append(lists)
            pairs = both_ways(PairLists(*(np.concatenate(each, axis=1) for each in zip(*known, strict=True))))
            potential = _ascend(points.weights, pairs, potential, prices, k - 1)
    if best is None:
        return None
    found = np.empty(n)
    found[order] = best * (highest / _SCALE)
    return found


def pair_factor(task: LocalTask, cells: CellPoints, i: int) -> float:
    """Return c such that k rows cost at least c times the mean over their pairs in attribute i."""
    k, table = task.k, _tables(cells)[i]
    attribute = task.points.rates.attribute[i]
    if attribute.kind == SET:  # t values cost at least t / 2 times what two values cost
        return min((comb(k, 2) * t / 2 / _most_pairs(k, t) for t in range(2, k + 1)), default=1.0)
    return _factor(table, 0, len(table) - 1, k)[1] if table.any() else 1.0


def _most_pairs(k: int, parts: int) -> int:
    """Return how many pairs of k rows at most have different values if there are so many values (Turán).

    >>> _most_pairs(5, 2), _most_pairs(5, 3)
    (6, 8)
    """
    small, large = divmod(k, parts)
    return comb(k, 2) - large * comb(small + 1, 2) - (parts - large) * comb(small, 2)


def _factor(table: Floats, low: int, high: int, k: int) -> tuple[Floats, float]:
    """Return the most that the pairs of j = 0..k rows in a run of cells can sum to, and the least factor in it.

    Runs in which rates add up, or more, as those of ranges do: floor(j² / 4) times the rate of the run. (The pairs with
    the least and the greatest cell sum to at most j - 1 times that; so do the others in turn with j - 2 rows.) Runs of
    which any two parts cost as much as the whole, as the children of a node: the best way to deal out the rows. Else
    all pairs as much as the whole.
    """
    rows = np.arange(k + 1)
    whole = float(table[low, high])
    if whole <= 0.0:
        return np.zeros(k + 1), np.inf
    if _adds_up(table[low : high + 1, low : high + 1]):
        sums = np.asarray(rows**2 // 4, dtype=np.float64) * whole
        return sums, comb(k, 2) * whole / float(sums[k])
    gaps = table[np.arange(low, high), np.arange(low + 1, high + 1)]
    cuts = np.flatnonzero(gaps >= whole * (1 - 1e-12))
    if not cuts.size:
        sums = np.asarray(rows * (rows - 1) / 2, dtype=np.float64) * whole
        return sums, 1.0
    starts, ends = np.append(low, low + cuts + 1), np.append(low + cuts, high)
    sums, least = np.zeros(1), np.inf
    for a, b in zip(starts, ends, strict=True):
        own, factor = _factor(table, int(a), int(b), k)
        least = min(least, factor)
        # ``sums[j]`` so far, plus those of the next part, plus the pairs between both
        joined = np.full(min(sums.size + k, k + 1), -np.inf)
        for j, value in enumerate(sums):
            more = rows[: joined.size - j]
            joined[j:] = np.maximum(joined[j:], value + own[more] + j * more * whole)
        sums = joined
    return sums, min(least, comb(k, 2) * whole / float(sums[k]))


def _adds_up(table: Floats) -> bool:
    """Return whether the rate of a run is never less than the sum of the rates of its parts."""
    size = len(table)
    upper = np.triu(table)
    for middle in range(1, size - 1):
        if (
            upper[:middle, middle, None] + upper[None, middle, middle + 1 :] > upper[:middle, middle + 1 :] + 1e-12
        ).any():
            return False
    return True


def _tables(cells: CellPoints) -> list[Floats]:
    sizes = cells.cells.tolist()
    return [
        cells.rate[a : a + size**2].reshape(size, size) for a, size in zip(cells.start.tolist(), sizes, strict=True)
    ]


def _pair_points(cells: CellPoints, factors: list[float], order: Ints, scale: float) -> PairPoints:
    """Lay out the points in an order, the dearest attributes first, with rates in whole units."""
    codes, tables = cells.codes[order], _tables(cells)
    spread = [
        factor * float(table[codes[:, i], np.roll(codes[:, i], codes.shape[0] // 2 + 1)].mean())
        for i, (factor, table) in enumerate(zip(factors, tables, strict=True))
    ]
    dear = np.argsort(-np.array(spread), kind="stable")
    codes = np.ascontiguousarray(codes[:, dear])
    tables = [np.floor(tables[i] * factors[i] * scale * (1 - 1e-12)).astype(np.int32) for i in dear]
    sizes = np.array([len(table) for table in tables], dtype=np.int64)
    first = [0]
    for i in range(1, sizes.size):
        if np.prod(sizes[first[-1] : i + 1]) > _BUNDLE:
            first.append(i)
    first.append(sizes.size)
    bundled = np.zeros((codes.shape[0], len(first) - 1), dtype=np.int16)
    numbers = []
    for b, (begin, end) in enumerate(pairwise(first)):
        for i in range(end - 1, begin - 1, -1):
            bundled[:, b] = bundled[:, b] * sizes[i] + codes[:, i]
        numbers.append(int(np.prod(sizes[begin:end])))
    starts = np.arange(0, codes.shape[0], BLOCK)
    return PairPoints(
        weights=cells.weights[order],
        codes=codes,
        cells=sizes,
        start=np.cumsum(sizes**2) - sizes**2,
        rate=np.concatenate([table.ravel() for table in tables]),
        bundled=bundled,
        bundle_first=np.array(first, dtype=np.int64),
        bundle_start=np.cumsum([0, *numbers], dtype=np.int64),
        low=np.minimum.reduceat(codes, starts, axis=0),
        high=np.maximum.reduceat(codes, starts, axis=0),
    )


def _compare(points: PairPoints, potential: Ints, others: int, lists: PairLists, budget: Budget) -> Floats | None:
    """Compare all points with all; return their prices in whole units, None if the time was over before."""
    n = points.weights.size
    prices, lowest = np.zeros(n), np.minimum.reduceat(potential, np.arange(0, n, BLOCK))

    def portion(begin: int) -> None:
        if not budget.exhausted:
            cheapest_pairs(points, potential, lowest, others, begin, min(begin + _AT_ONCE, n), lists, prices)

    in_parallel(portion, range(0, n, _AT_ONCE), budget)
    return None if budget.exhausted else prices


def _ascend(weights: Ints, pairs: NearPairs, potential: Ints, prices: Floats, others: int) -> Ints:
    """Return better potentials, as far as near pairs can tell."""
    chosen = np.zeros(weights.size)
    now, best, highest = potential.copy(), potential, -np.inf
    mean = float((weights * np.abs(prices)).sum()) / float(weights.sum())
    for number in range(_STEPS):
        value = listed_prices(weights, pairs, now, others, chosen)
        if value > highest:
            best, highest = now.copy(), value
        step = mean * _FIRST_STEP * (_LAST_STEP / _FIRST_STEP) ** (number / _STEPS)
        raise_potentials(chosen, step, int(_SCALE), now)
    return best
