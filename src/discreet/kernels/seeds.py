"""Splitting in two by seeds (utility paper, 4.2): two shares far from each other draw all others to their side.

What is split are shares: share e is rows[e] rows of point[e]. They stand in an array from ``begin`` to ``end``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel
from discreet.kernels.covers import Points
from discreet.kernels.groups import FAR, box_of_point, point_rate, widen

__all__ = ["draw", "split_by_seeds"]


@inner_kernel
def draw(state: NDArray[np.uint64], below: int) -> int:  # state OUT
    """A random whole number below another (xorshift; the state must not be 0)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return int(np.int64(x >> np.uint64(1)) % below)


@inner_kernel
def split_by_seeds(
    points: Points,
    point: NDArray[np.int64],
    rows: NDArray[np.int64],
    share: NDArray[np.int64],
    begin: int,
    end: int,
    rounds: int,
    random: NDArray[np.uint64],
    box: NDArray[np.int64],
) -> int:  # share, random, box OUT
    """Put shares in two parts and return where the second begins, or ``begin`` if all are alike.

    The other shares, in random order, join the seed's part where the total cost grows less.
    """
    if not _seeds(points, point, share, begin, end, rounds, random, box):
        return begin
    for e in range(end - 2, begin + 1, -1):
        other = begin + 1 + draw(random, e - begin)
        share[e], share[other] = share[other], share[e]
    box_of_point(points, box, 0, point[share[begin]])
    box_of_point(points, box, 1, point[share[end - 1]])
    left, right = begin + 1, end - 1
    left_rows, right_rows = rows[share[begin]], rows[share[end - 1]]
    left_cost, right_cost = 0.0, 0.0
    while left < right:
        e = share[left]
        j = point[e]
        left_after = (left_rows + rows[e]) * point_rate(points, box, 0, j, FAR)
        right_after = (right_rows + rows[e]) * point_rate(points, box, 1, j, FAR)
        growth = left_after - left_cost - (right_after - right_cost)
        if growth < 0.0 or (growth == 0.0 and left_rows <= right_rows):
            widen(points, box, 0, j)
            left_rows += rows[e]
            left_cost = left_after
            left += 1
        else:
            widen(points, box, 1, j)
            right_rows += rows[e]
            right_cost = right_after
            right -= 1
            share[left], share[right] = share[right], e
    return left


@inner_kernel
def _seeds(
    points: Points,
    point: NDArray[np.int64],
    share: NDArray[np.int64],
    begin: int,
    end: int,
    rounds: int,
    random: NDArray[np.uint64],
    box: NDArray[np.int64],
) -> bool:  # share, random, box OUT
    """Move two shares that are far from each other to both ends; not if all are alike.

    From a random share to the one with which it costs most together, from there to the farthest again, and so on for
    some rounds, while that gets any farther.
    """
    first, second, reached = begin, begin + draw(random, end - begin), 0.0
    for _ in range(rounds):
        box_of_point(points, box, 0, point[share[second]])
        far = second
        for e in range(begin, end):
            rate = point_rate(points, box, 0, point[share[e]], FAR)
            if rate > reached:
                far, reached = e, rate
        if far == second:
            break
        first, second = second, far
    if reached <= 0.0:
        return False
    share[begin], share[first] = share[first], share[begin]
    second = first if second == begin else second
    share[end - 1], share[second] = share[second], share[end - 1]
    return True
