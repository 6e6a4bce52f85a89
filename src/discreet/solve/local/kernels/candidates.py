"""Candidates of each point: nearby points, whose groups local search tries.

Points that are close in one of several sort orders are compared, and the ones cheapest to be grouped with are kept. So
it takes O(orders x points x window x m), where all pairs would take O(points squared).
"""

from __future__ import annotations

import numpy as np

from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.covers import SET, Rates, rate_of
from discreet.solve.kernels.jit import inner_kernel, kernel

__all__ = ["find_candidates"]


@inner_kernel
def _keep(near: Ints, rates: Floats, j: int, other: int, rate: float) -> None:  # near, rates OUT
    """Insert a point into the sorted candidates of point j, unless it is there."""
    count = near.shape[1]
    for c in range(count):
        if near[j, c] == other:
            return
    c = count - 1
    while c > 0 and rates[j, c - 1] > rate:
        rates[j, c], near[j, c] = rates[j, c - 1], near[j, c - 1]
        c -= 1
    rates[j, c], near[j, c] = rate, other


@inner_kernel
def _rate_together(codes: Ints, rates: Rates, attributes: Ints, j: int, q: int, limit: float) -> float:
    """What a row costs if two points form a group; adding up stops at the limit."""
    total = 0.0
    for i in attributes:
        low, high = codes[j, i], codes[q, i]
        if low != high:
            if rates.attribute[i].kind == SET:
                low |= high
            elif low > high:
                low, high = high, low
            total += rate_of(rates, i, low, high)
            if total >= limit:
                break
    return total


@kernel
def find_candidates(codes: Ints, rates: Rates, attributes: Ints, orders: Ints, window: int, count: int) -> Ints:
    """For each point the ``count`` cheapest others among those at most ``window`` positions away in one of the orders.

    The cheapest come first; -1 fills up. ``attributes`` come in order of cost, the dearest first, so that a pair that
    is too dear is refused early.
    """
    n = codes.shape[0]
    near = np.full((n, count), -1, np.int64)
    found = np.full((n, count), np.inf)
    for o in range(orders.shape[0]):
        for p in range(n):
            j = orders[o, p]
            for q in range(p + 1, min(n, p + window + 1)):
                other = orders[o, q]
                limit = max(found[j, count - 1], found[other, count - 1])
                rate = _rate_together(codes, rates, attributes, j, other, limit)
                if rate < found[j, count - 1]:
                    _keep(near, found, j, other, rate)
                if rate < found[other, count - 1]:
                    _keep(near, found, other, j, rate)
    return near
