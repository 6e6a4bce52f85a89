"""An order of points in which near ones stand together, by splitting again and again where most cost is saved.

A split sends the points with leaves low..high of one attribute to the front. That is the lower part of a range, or one
child of the lowest node above all points, whichever saves most: the rows in front times what the attribute's rate
falls for them, and likewise for the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.covers import SET, Points, rate_of

__all__ = ["leaf_of", "split_order"]

_BINS = 256
"""At most so many places for a cut of one attribute are compared at a time."""


@kernel
def leaf_of(points: Points, j: int, i: int) -> int:
    """The leaf of point j in attribute i, or for sets the number of its bit."""
    code = points.codes[j, i]
    if points.kind[i] != SET:
        return code
    bit = 0
    while code > 1 or code < 0:
        code = (code >> 1) & 0x7FFFFFFFFFFFFFFF
        bit += 1
    return bit


@kernel
def _range_rate(points: Points, i: int, low: int, high: int) -> float:
    """What a row costs if an attribute shows everything from leaf low to leaf high."""
    if points.kind[i] == SET:
        return points.rate[points.start[i] + high - low + 1]
    return rate_of(points, i, low, high)


@kernel
def _best_cut(
    points: Points, i: int, low: NDArray[np.int64], high: NDArray[np.int64], weight: NDArray[np.int64], bins: int, k: int
) -> tuple[float, int, int]:
    """The most that can be saved by sending a run of bins to the front, and the leaves of the run.

    Bin b has ``weight[b]`` rows with leaves ``low[b]``..``high[b]``. Both sides are to have k rows.
    """
    total = 0
    for b in range(bins):
        total += weight[b]
    whole = _range_rate(points, i, low[0], high[bins - 1])
    found, first, last = -1.0, 0, 0
    before, child, child_low = 0, 0, low[0]
    children = 0
    for b in range(bins):
        before += weight[b]
        child += weight[b]
        end = b == bins - 1
        if not end and before >= k and total - before >= k:
            gain = total * whole - before * _range_rate(points, i, low[0], high[b])
            gain -= (total - before) * _range_rate(points, i, low[b + 1], high[bins - 1])
            if gain > found:
                found, first, last = gain, low[0], high[b]
        if end or _range_rate(points, i, high[b], low[b + 1]) >= whole - 1e-12:  # a child ends here
            if child >= k and total - child >= k and children > 0 and not end:
                gain = child * (whole - _range_rate(points, i, child_low, high[b]))
                if gain > found:
                    found, first, last = gain, child_low, high[b]
            if not end:
                child, child_low = 0, low[b + 1]
                children += 1
    if points.kind[i] == SET:
        return found, first, last
    return found, first, last


@kernel
def _fill_bins(
    points: Points,
    order: NDArray[np.int64],
    a: int,
    b: int,
    i: int,
    low: NDArray[np.int64],  # OUT
    high: NDArray[np.int64],  # OUT
    weight: NDArray[np.int64],  # OUT
) -> int:
    """Count the rows of order[a:b] by leaf, or by runs of leaves if there are too many; return how many bins."""
    least = most = leaf_of(points, order[a], i)
    for p in range(a + 1, b):
        leaf = leaf_of(points, order[p], i)
        least, most = min(least, leaf), max(most, leaf)
    if least == most:
        return 1
    span = most - least + 1
    if b - a <= 32 and span > 2 * (b - a):
        bins = 0
        for p in range(a, b):
            leaf, rows = leaf_of(points, order[p], i), points.weights[order[p]]
            q = bins
            while q > 0 and low[q - 1] > leaf:
                q -= 1
            if q > 0 and low[q - 1] == leaf:
                weight[q - 1] += rows
                continue
            for r in range(bins, q, -1):
                low[r], weight[r] = low[r - 1], weight[r - 1]
            low[q], weight[q] = leaf, rows
            bins += 1
        for q in range(bins):
            high[q] = low[q]
        return bins
    width = (span + _BINS - 1) // _BINS
    bins = (span + width - 1) // width
    for q in range(bins):
        weight[q], low[q], high[q] = 0, span, -1
    for p in range(a, b):
        leaf = leaf_of(points, order[p], i) - least
        q = leaf // width if width > 1 else leaf
        weight[q] += points.weights[order[p]]
        low[q], high[q] = min(low[q], leaf), max(high[q], leaf)
    used = 0
    for q in range(bins):
        if weight[q] > 0:
            weight[used], low[used], high[used] = weight[q], low[q] + least, high[q] + least
            used += 1
    return used


@kernel
def split_order(points: Points, order: NDArray[np.int64], k: int, largest: int) -> NDArray[np.int64]:  # order IN OUT
    """Arrange ``order`` by splits until every part has at most ``largest`` points; return where the parts begin."""
    n = order.size
    low, high, weight = np.empty(_BINS, np.int64), np.empty(_BINS, np.int64), np.empty(_BINS, np.int64)
    spare = np.empty(n, np.int64)
    starts = [0]
    stack = [(0, n)]
    while len(stack) > 0:
        a, b = stack.pop()
        best, attribute, first, last = -1.0, -1, 0, 0
        if b - a > largest:
            least = k
            while attribute < 0:
                for i in range(points.kind.size):
                    bins = _fill_bins(points, order, a, b, i, low, high, weight)
                    if bins > 1:
                        gain, f, l = _best_cut(points, i, low, high, weight, bins, least)
                        if gain > best:
                            best, attribute, first, last = gain, i, f, l
                if least == 1:
                    break
                least = 1
        if attribute < 0:
            starts.append(b)
            continue
        front = rest = 0
        for p in range(a, b):
            j = order[p]
            leaf = leaf_of(points, j, attribute)
            if first <= leaf <= last:
                order[a + front] = j
                front += 1
            else:
                spare[rest] = j
                rest += 1
        order[a + front : b] = spare[:rest]
        stack.append((a + front, b))
        stack.append((a, a + front))
    return np.array(starts)
