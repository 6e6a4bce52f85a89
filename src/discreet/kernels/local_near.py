"""Near points: those that stand close together in one of several orders, and of these the ones cheapest to join."""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.covers import SET
from discreet.kernels.local_rates import Floats, Ints, Nodes, rate_at

__all__ = ["nearest"]


@inner_kernel
def _keep(near: Ints, rates: Floats, j: int, other: int, rate: float) -> None:
    """Put a point into the list of the nearest of point j, unless it is there."""
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
def _apart(shape: Ints, rate: Floats, node: Nodes, codes: Ints, dear: Ints, j: int, q: int, limit: float) -> float:
    """What a row costs if two points are a group; no more than the limit is looked at, the dear attributes first."""
    total = 0.0
    for i in dear:
        low, high = codes[j, i], codes[q, i]
        if low != high:
            if shape[i, 0] == SET:
                low |= high
            elif low > high:
                low, high = high, low
            total += rate_at(shape, rate, node, i, low, high)
            if total >= limit:
                break
    return total


@kernel
def nearest(
    shape: Ints, rate: Floats, node: Nodes, codes: Ints, dear: Ints, orders: Ints, window: int, count: int
) -> Ints:
    """For each point the ``count`` nearest others among those at most ``window`` places away in one of the orders.

    The nearest come first; -1 fills up. ``dear`` has the attributes, those first that cost most.
    """
    n = codes.shape[0]
    near = np.full((n, count), -1, np.int64)
    rates = np.full((n, count), np.inf)
    for o in range(orders.shape[0]):
        for p in range(n):
            j = orders[o, p]
            for q in range(p + 1, min(n, p + window + 1)):
                other = orders[o, q]
                limit = max(rates[j, count - 1], rates[other, count - 1])
                apart = _apart(shape, rate, node, codes, dear, j, other, limit)
                if apart < rates[j, count - 1]:
                    _keep(near, rates, j, other, apart)
                if apart < rates[other, count - 1]:
                    _keep(near, rates, other, j, apart)
    return near
