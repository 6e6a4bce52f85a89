"""The best cutting of points in a given order into groups of neighbours, by dynamic programming."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.covers import SET, Points, cover_point, rate_of

__all__ = ["cut_order"]


@kernel
def cut_order(points: Points, order: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The group of each place of the order; groups are runs of at least k rows, numbered from 0.

    A run that could be cut in two runs of k rows need not be looked at, for cutting it costs nothing.
    """
    n, m = order.size, points.kind.size
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    begin = np.zeros(n + 1, np.int64)
    cover, rates = np.empty((m, 2), np.int64), np.empty(m)
    for end in range(1, n + 1):
        cover_point(points, order[end - 1], cover)
        rates[:] = 0.0
        rate, size, spare, first = 0.0, 0, 0, end
        while first > 0 and spare < k:
            first -= 1
            j = order[first]
            for i in range(m):
                code = points.codes[j, i]
                if points.kind[i] == SET:
                    if cover[i, 0] | code == cover[i, 0]:
                        continue
                    cover[i, 0] |= code
                elif code < cover[i, 0]:
                    cover[i, 0] = code
                elif code > cover[i, 1]:
                    cover[i, 1] = code
                else:
                    continue
                now = rate_of(points, i, cover[i, 0], cover[i, 1])
                rate += now - rates[i]
                rates[i] = now
            if size >= k:
                spare += points.weights[j]
            size += points.weights[j]
            if size >= k and best[first] + size * rate < best[end]:
                best[end] = best[first] + size * rate
                begin[end] = first
            if size * rate >= best[end]:
                break
    group = np.empty(n, np.int64)
    end, number = n, 0
    while end > 0:
        group[begin[end] : end] = number
        number += 1
        end = begin[end]
    for p in range(n):
        group[p] = number - 1 - group[p]
    return group
