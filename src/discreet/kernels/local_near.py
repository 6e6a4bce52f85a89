"""Near points: those that stand close together in one of several orders, and of these the ones cheapest to join."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.covers import SET, Points, rate_of

__all__ = ["nearest"]


@kernel
def _pair_rate(points: Points, j: int, q: int, most: float) -> float:
    """What a row costs if two points are a group; anything above ``most`` will do if it is more than that."""
    total = 0.0
    for i in range(points.kind.size):
        a, b = points.codes[j, i], points.codes[q, i]
        if a != b:
            if points.kind[i] == SET:
                total += rate_of(points, i, a | b, 0)
            else:
                total += rate_of(points, i, min(a, b), max(a, b))
            if total > most:
                break
    return total


@kernel
def nearest(points: Points, orders: NDArray[np.int32], window: int, count: int) -> NDArray[np.int32]:
    """For each point the ``count`` nearest others among those at most ``window`` places away in one of the orders.

    The nearest come first; -1 fills up.
    """
    n = points.weights.size
    near = np.full((n, count), -1, np.int32)
    rates = np.full((n, count), np.inf)
    for o in range(orders.shape[0]):
        order = orders[o]
        for p in range(n):
            j = order[p]
            for q in range(max(0, p - window), min(n, p + window + 1)):
                other = order[q]
                if q == p:
                    continue
                rate = _pair_rate(points, j, other, rates[j, count - 1])
                if rate >= rates[j, count - 1]:
                    continue
                known = False
                for c in range(count):
                    if near[j, c] == other:
                        known = True
                        break
                if known:
                    continue
                c = count - 1
                while c > 0 and rates[j, c - 1] > rate:
                    rates[j, c], near[j, c] = rates[j, c - 1], near[j, c - 1]
                    c -= 1
                rates[j, c], near[j, c] = rate, other
    return near
