"""An order of points in which near ones stand together, by splitting again and again where most cost is saved.

A split sends the points with leaves low..high of one attribute to the front. That is the lower part of a range, or one
child of the lowest node above all points, whichever saves most: the rows in front times what the attribute's rate
falls for them, and likewise for the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.covers import SET
from discreet.kernels.local_rates import Floats, Ints, Nodes, rate_at

__all__ = ["split_order"]

_BINS = 256
"""At most so many places for a cut of one attribute are compared at a time."""
_FEW = 32
"""So few points are sorted; more are counted by leaf."""


@kernel
def _between(shape: Ints, rate: Floats, node: Nodes, i: int, low: int, high: int) -> float:
    """What a row costs if an attribute shows everything from leaf low to leaf high."""
    if shape[i, 0] == SET:
        return rate[shape[i, 1] + high - low + 1]
    return rate_at(shape, rate, node, i, low, high)


@kernel
def _best_cut(
    shape: Ints, rate: Floats, node: Nodes, i: int, low: Ints, high: Ints, weight: Ints, bins: int, k: int
) -> tuple[float, int, int]:
    """The most that can be saved by sending a run of bins to the front, and the leaves of the run.

    Bin b has ``weight[b]`` rows with leaves ``low[b]``..``high[b]``. Both sides are to have k rows.
    """
    total = 0
    for b in range(bins):
        total += weight[b]
    least, most = low[0], high[bins - 1]
    whole = _between(shape, rate, node, i, least, most)
    found, first, last = -1.0, 0, 0
    before, child, child_low = 0, 0, least
    for b in range(bins - 1):
        before += weight[b]
        child += weight[b]
        if before >= k and total - before >= k:
            gain = total * whole - before * _between(shape, rate, node, i, least, high[b])
            gain -= (total - before) * _between(shape, rate, node, i, low[b + 1], most)
            if gain > found:
                found, first, last = gain, least, high[b]
        if _between(shape, rate, node, i, high[b], low[b + 1]) >= whole - 1e-12:  # a child ends here
            if child >= k and total - child >= k:
                gain = child * (whole - _between(shape, rate, node, i, child_low, high[b]))
                if gain > found:
                    found, first, last = gain, child_low, high[b]
            child, child_low = 0, low[b + 1]
    return found, first, last


@kernel
def _sort_few(
    leaves: Nodes, weights: Ints, order: Ints, a: int, b: int, i: int, low: Ints, high: Ints, weight: Ints
) -> int:
    """Make a bin of each leaf that occurs in order[a:b], by sorting; return how many."""
    bins = 0
    for p in range(a, b):
        j = order[p]
        leaf = leaves[j, i]
        q = bins
        while q > 0 and low[q - 1] > leaf:
            q -= 1
        if q > 0 and low[q - 1] == leaf:
            weight[q - 1] += weights[j]
            continue
        for r in range(bins, q, -1):
            low[r] = high[r] = low[r - 1]
            weight[r] = weight[r - 1]
        low[q] = high[q] = leaf
        weight[q] = weights[j]
        bins += 1
    return bins


@kernel
def _count_many(
    leaves: Nodes, weights: Ints, order: Ints, a: int, b: int, i: int, low: Ints, high: Ints, weight: Ints
) -> int:
    """Count the rows of order[a:b] by leaf, or by runs of leaves if there are too many; return how many bins."""
    least = most = leaves[order[a], i]
    for p in range(a + 1, b):
        leaf = leaves[order[p], i]
        least, most = min(least, leaf), max(most, leaf)
    if least == most:
        return 1
    span = most - least + 1
    width = (span + _BINS - 1) // _BINS
    bins = (span + width - 1) // width
    for q in range(bins):
        weight[q], low[q], high[q] = 0, span, -1
    for p in range(a, b):
        j = order[p]
        leaf = leaves[j, i] - least
        q = leaf // width if width > 1 else leaf
        weight[q] += weights[j]
        low[q], high[q] = min(low[q], leaf), max(high[q], leaf)
    used = 0
    for q in range(bins):
        if weight[q] > 0:
            weight[used], low[used], high[used] = weight[q], low[q] + least, high[q] + least
            used += 1
    return used


@kernel
def split_order(
    leaves: NDArray[np.int32],
    weights: Ints,
    shape: Ints,
    rate: Floats,
    node: Nodes,
    order: Ints,  # IN OUT
    k: int,
    largest: int,
) -> Ints:
    """Arrange ``order`` by splits until every part has at most ``largest`` points; return where the parts begin."""
    low, high, weight = np.empty(_BINS, np.int64), np.empty(_BINS, np.int64), np.empty(_BINS, np.int64)
    spare = np.empty(order.size, np.int64)
    starts = [0]
    stack = [(0, order.size)]
    while len(stack) > 0:
        a, b = stack.pop()
        best, attribute, first, last = -1.0, -1, 0, 0
        least = k
        while b - a > largest and attribute < 0:
            for i in range(shape.shape[0]):
                if b - a <= _FEW:
                    bins = _sort_few(leaves, weights, order, a, b, i, low, high, weight)
                else:
                    bins = _count_many(leaves, weights, order, a, b, i, low, high, weight)
                if bins > 1:
                    gain, f, t = _best_cut(shape, rate, node, i, low, high, weight, bins, least)
                    if gain > best:
                        best, attribute, first, last = gain, i, f, t
            if least == 1:
                break
            least = 1
        if attribute < 0:
            starts.append(b)
            continue
        front = rest = 0
        for p in range(a, b):
            j = order[p]
            if first <= leaves[j, attribute] <= last:
                order[a + front] = j
                front += 1
            else:
                spare[rest] = j
                rest += 1
        order[a + front : b] = spare[:rest]
        stack.append((a + front, b))
        stack.append((a, a + front))
    return np.array(starts)
