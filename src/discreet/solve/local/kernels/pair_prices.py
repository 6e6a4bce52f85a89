"""Row prices from pairs of rows: for every point the rows that are cheapest beside it, all points compared.

Everything is in whole numbers, so that sums are exact: rates are rounded down, and potentials are whole anyway.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.jit import inner_kernel, kernel

__all__ = [
    "BLOCK",
    "NearPairs",
    "PairLists",
    "PairPoints",
    "both_ways",
    "cheapest_pairs",
    "listed_prices",
    "raise_potentials",
]

BLOCK = 64
"""So many neighbouring points are skipped together if none of them can be cheap enough."""


class PairPoints(NamedTuple):
    """Points in an order in which near ones are neighbours, and what two of them cost together.

    Attributes of few cells are put together to *bundles*, so that a point is compared by few numbers.
    """

    weights: Ints
    """(points,) rows of each point."""
    codes: NDArray[np.int16]
    """(points, m) the cell in each attribute."""
    cells: Ints
    """(m,) how many cells each attribute has, and where its cells x cells rates begin in ``rate``."""
    start: Ints
    rate: NDArray[np.int32]
    bundled: NDArray[np.int16]
    """(points, bundles) the cells of each bundle as one number."""
    bundle_first: Ints
    """(bundles + 1,) the first attribute of each bundle."""
    bundle_start: Ints
    """(bundles + 1,) where the numbers of each bundle begin in a table of all."""
    low: NDArray[np.int16]
    """(blocks, m) the least cell, and the greatest, of each ``BLOCK`` points."""
    high: NDArray[np.int16]


class PairLists(NamedTuple):
    """For each point those cheapest beside it, (points, length) each; the point itself stands for its copies."""

    point: NDArray[np.int32]
    """-1 fills up."""
    rate: NDArray[np.int32]
    """What both cost together, without potentials."""


class NearPairs(NamedTuple):
    """Pairs of near points: those of point r at ``first[r]:first[r + 1]``, some of them twice."""

    first: Ints
    point: NDArray[np.int32]
    rate: NDArray[np.int32]


@inner_kernel
def _fill_table(points: PairPoints, r: int, table: NDArray[np.int32]) -> None:  # table OUT
    """Write what point r costs together with each number of each bundle; the first attribute counts fastest."""
    for b in range(points.bundle_first.size - 1):
        begin, size = points.bundle_start[b], 1
        table[begin] = 0
        for i in range(points.bundle_first[b], points.bundle_first[b + 1]):
            row = points.start[i] + points.cells[i] * np.int64(points.codes[r, i])
            for cell in range(points.cells[i] - 1, -1, -1):
                rate = points.rate[row + cell]
                for x in range(size):
                    table[begin + cell * size + x] = table[begin + x] + rate
            size *= points.cells[i]


@inner_kernel
def _block_rate(points: PairPoints, r: int, block: int) -> int:
    """What point r costs at least together with any point of a block."""
    total = 0
    for i in range(points.cells.size):
        cell = min(max(points.codes[r, i], points.low[block, i]), points.high[block, i])
        total += points.rate[points.start[i] + points.cells[i] * np.int64(points.codes[r, i]) + cell]
    return total


class _Cheapest(NamedTuple):
    """The cheapest points so far beside one point, with their potentials, and the rows of each; the cheapest first."""

    point: NDArray[np.int32]
    value: Ints
    rows: Ints


@inner_kernel
def _insert(cheapest: _Cheapest, found: int, s: int, value: int, rows: int) -> int:  # cheapest OUT
    """Put a point where it belongs, at the expense of the last if there is no room; return how many there are."""
    length = cheapest.point.size
    p = min(found, length - 1)
    while p > 0 and cheapest.value[p - 1] > value:
        cheapest.point[p], cheapest.value[p] = cheapest.point[p - 1], cheapest.value[p - 1]
        cheapest.rows[p] = cheapest.rows[p - 1]
        p -= 1
    cheapest.point[p], cheapest.value[p], cheapest.rows[p] = s, value, rows
    return min(found + 1, length)


@inner_kernel
def _mean(cheapest: _Cheapest, found: int, others: int) -> float:
    """The mean of the cheapest ``others`` rows."""
    total, left = 0, others
    for p in range(found):
        rows = min(cheapest.rows[p], left)
        total += rows * cheapest.value[p]
        left -= rows
        if left == 0:
            break
    return total / others


@kernel
def cheapest_pairs(
    points: PairPoints,
    potential: Ints,
    lowest: Ints,  # (blocks,) the lowest potential of each block
    others: int,
    begin: int,
    end: int,
    lists: PairLists,
    prices: Floats,
) -> None:  # lists, prices OUT
    """Compare the points from begin to end with all points; write their lists, and their prices in whole units.

    The price of a row is the mean of rate and potential over the ``others`` rows that are cheapest beside it, less its
    own potential. The lists are long enough to hold that many rows.
    """
    n, bundles, length = points.weights.size, points.bundled.shape[1], lists.point.shape[1]
    table = np.empty(points.bundle_start[bundles], np.int32)
    offset, half = points.bundle_start, bundles // 2
    cheapest = _Cheapest(np.empty(length, np.int32), np.empty(length, np.int64), np.empty(length, np.int64))
    blocks = points.low.shape[0]
    for r in range(begin, end):
        _fill_table(points, r, table)
        found, most, home = 0, np.int64(1) << 60, r // BLOCK
        if points.weights[r] > 1:
            found = _insert(cheapest, found, r, potential[r], points.weights[r] - 1)
        for turn in range(-1, blocks):
            block = home if turn < 0 else turn
            if turn == home or (turn >= 0 and lowest[block] + _block_rate(points, r, block) >= most):
                continue
            for s in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
                value = potential[s]
                for b in range(half):
                    value += table[offset[b] + points.bundled[s, b]]
                if value >= most:
                    continue
                for b in range(half, bundles):
                    value += table[offset[b] + points.bundled[s, b]]
                if value < most and s != r:
                    found = _insert(cheapest, found, s, value, points.weights[s])
                    if found == length:
                        most = cheapest.value[length - 1]
        prices[r] = _mean(cheapest, found, others) - potential[r]
        for p in range(length):
            if p < found:
                s = cheapest.point[p]
                lists.point[r, p], lists.rate[r, p] = s, cheapest.value[p] - potential[s]
            else:
                lists.point[r, p] = -1


@kernel
def both_ways(lists: PairLists) -> NearPairs:
    """The pairs of all lists, each beside both of its points, so that a row far out is beside those near it."""
    n, length = lists.point.shape
    first = np.zeros(n + 1, np.int64)
    for r in range(n):
        for p in range(length):
            s = lists.point[r, p]
            if s >= 0:
                first[r + 1] += 1
                first[s + 1] += s != r
    for r in range(n):
        first[r + 1] += first[r]
    at = first[:n].copy()
    point, rate = np.empty(first[n], np.int32), np.empty(first[n], np.int32)
    for r in range(n):
        for p in range(length):
            s = lists.point[r, p]
            if s >= 0:
                point[at[r]], rate[at[r]] = s, lists.rate[r, p]
                at[r] += 1
                if s != r:
                    point[at[s]], rate[at[s]] = r, lists.rate[r, p]
                    at[s] += 1
    return NearPairs(first, point, rate)


@kernel
def listed_prices(weights: Ints, pairs: NearPairs, potential: Ints, others: int, chosen: Floats) -> float:  # chosen OUT
    """The sum of all prices if there were no pairs but these, and how often each row would be chosen."""
    n = weights.size
    cheapest = _Cheapest(np.empty(others, np.int32), np.empty(others, np.int64), np.empty(others, np.int64))
    total = 0.0
    chosen[:] = 0.0
    for r in range(n):
        found, most = 0, np.int64(1) << 60
        for p in range(pairs.first[r], pairs.first[r + 1]):
            s = pairs.point[p]
            value = potential[s] + np.int64(pairs.rate[p])
            if value >= most:
                continue
            known = False
            for x in range(found):
                known |= cheapest.point[x] == s
            if not known:
                found = _insert(cheapest, found, s, value, weights[s] - (1 if s == r else 0))
                if found == others:
                    most = cheapest.value[others - 1]
        left = others
        for p in range(found):
            rows = min(cheapest.rows[p], left)
            chosen[cheapest.point[p]] += weights[r] * rows / others / weights[cheapest.point[p]]
            total += weights[r] * rows * cheapest.value[p] / others
            left -= rows
            if left == 0:
                break
        total -= weights[r] * np.float64(potential[r])
    return total


@kernel
def raise_potentials(chosen: Floats, step: float, most: int, potential: Ints) -> None:  # potential IN OUT
    """Raise the potentials of rows chosen more than once, and lower those of rows chosen less."""
    for s in range(chosen.size):
        change = step * (min(chosen[s], 4.0) - 1.0)
        potential[s] = min(max(potential[s] + np.int64(np.rint(change)), -most), most)
