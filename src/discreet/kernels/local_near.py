"""Near points: those that stand close together in one of several orders, and of these the ones cheapest to join."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.local_rates import Floats, Ints, Nodes, pair_rate

__all__ = ["nearest"]


@inner_kernel
def _keep(near: Ints, rates: NDArray[np.float32], j: int, other: int, rate: float) -> None:
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


@kernel
def nearest(shape: Ints, rate: Floats, node: Nodes, codes: Ints, orders: Ints, window: int, count: int) -> Ints:
    """For each point the ``count`` nearest others among those at most ``window`` places away in one of the orders.

    The nearest come first; -1 fills up.
    """
    n = codes.shape[0]
    near = np.full((n, count), -1, np.int64)
    rates = np.full((n, count), np.inf, np.float32)
    for o in range(orders.shape[0]):
        for p in range(n):
            j = orders[o, p]
            for q in range(p + 1, min(n, p + window + 1)):
                other = orders[o, q]
                apart = np.float32(pair_rate(shape, rate, node, codes, j, other))
                if apart < rates[j, count - 1]:
                    _keep(near, rates, j, other, apart)
                if apart < rates[other, count - 1]:
                    _keep(near, rates, other, j, apart)
    return near
