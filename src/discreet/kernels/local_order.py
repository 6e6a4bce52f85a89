"""An order of points in which near ones stand together, by splitting again and again where most cost is saved.

A split sends the points with leaves low..high of one attribute to the front. That is the lower part of a range, or one
child of the lowest node above all points, whichever saves most: the rows in front times what the attribute's rate
falls for them, and likewise for the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.covers import RANGE, SET, TABLE
from discreet.kernels.local_rates import Floats, Ints, Nodes, rate_at

__all__ = ["split_order"]

_BINS = 256
"""At most so many places for a cut of one attribute are compared at a time."""
_FEW = 32
"""So few points are sorted; more are counted by leaf."""


@inner_kernel
def _price_cuts(
    shape: Ints, rate: Floats, node: Nodes, i: int, low: Ints, high: Ints, bins: int, price: Floats
) -> float:  # price OUT
    """What a row costs below each cut, above it and right around it; return what it costs without a cut.

    Kinds are written out, for a call each time would take much longer.
    """
    kind, start, leaves = shape[i, 0], shape[i, 1], shape[i, 2]
    least, most = low[0], high[bins - 1]
    if kind == SET:
        for b in range(bins - 1):
            price[0, b] = rate[start + high[b] - least + 1]
            price[1, b] = rate[start + most - low[b + 1] + 1]
            price[2, b] = np.inf
        return rate[start + most - least + 1]
    if kind == TABLE:
        for b in range(bins - 1):
            price[0, b] = rate[start + least * leaves + high[b]]
            price[1, b] = rate[start + low[b + 1] * leaves + most]
            price[2, b] = rate[start + high[b] * leaves + low[b + 1]]
        return rate[start + least * leaves + most]
    if kind == RANGE and rate[start + most] >= rate[start + least]:
        for b in range(bins - 1):
            price[0, b] = rate[start + high[b]] - rate[start + least]
            price[1, b] = rate[start + most] - rate[start + low[b + 1]]
            price[2, b] = rate[start + low[b + 1]] - rate[start + high[b]]
        return rate[start + most] - rate[start + least]
    for b in range(bins - 1):
        price[0, b] = rate_at(shape, rate, node, i, least, high[b])
        price[1, b] = rate_at(shape, rate, node, i, low[b + 1], most)
        price[2, b] = rate_at(shape, rate, node, i, high[b], low[b + 1])
    return rate_at(shape, rate, node, i, least, most)


@inner_kernel
def _best_cut(
    low: Ints, high: Ints, weight: Ints, bins: int, k: int, price: Floats, whole: float
) -> tuple[float, int, int]:
    """The most that can be saved by sending a run of bins to the front, and the leaves of the run.

    Bin b has ``weight[b]`` rows with leaves ``low[b]``..``high[b]``. Both sides are to have k rows.
    """
    total = 0
    for b in range(bins):
        total += weight[b]
    found, first, last = -1.0, low[0], low[0]
    before, child, child_low, child_price = 0, 0, low[0], 0.0
    for b in range(bins - 1):
        before += weight[b]
        child += weight[b]
        if before >= k and total - before >= k:
            gain = total * whole - before * price[0, b] - (total - before) * price[1, b]
            if gain > found:
                found, first, last = gain, low[0], high[b]
        if price[2, b] >= whole - 1e-12:  # a child ends here
            if child >= k and total - child >= k and child * (whole - child_price) > found:
                found, first, last = child * (whole - child_price), child_low, high[b]
            child, child_low, child_price = 0, low[b + 1], 0.0
        else:
            child_price = max(child_price, price[2, b])
    return found, first, last


@inner_kernel
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


@inner_kernel
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
    most_bins = min(_BINS, 2 * (b - a))
    width = (span + most_bins - 1) // most_bins
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
    price = np.empty((3, _BINS))
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
                    whole = _price_cuts(shape, rate, node, i, low, high, bins, price)
                    gain, f, t = _best_cut(low, high, weight, bins, least, price, whole)
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
