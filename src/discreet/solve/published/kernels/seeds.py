"""Splitting in two by seeds (utility paper, 4.2): two shares far from each other attract all others to their side.

What is split are shares: share e is rows[e] rows of point[e]. Their numbers are in an array from ``begin`` to ``end``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.covers import AttributeCover, Points
from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.kernels.random import RandomState, random_bits
from discreet.solve.kernels.records import Records
from discreet.solve.published.kernels.boxed_groups import FAR, cover_point, point_rate, widen

__all__ = ["SeedSplit", "split_by_seeds"]


class SeedSplit(NamedTuple):
    """Shares to be split, and what that needs."""

    point: NDArray[np.int64]
    rows: NDArray[np.int64]
    share: NDArray[np.int64]
    """The numbers of the shares, which are rearranged."""
    rounds: int
    """Scans for seeds, at most."""
    random: RandomState
    cover: Records[AttributeCover]
    """(2, m) the covers of both parts."""


@inner_kernel
def _draw(state: RandomState, below: int) -> int:  # state OUT
    """A random whole number from 0 to below - 1."""
    return int(np.int64(random_bits(state) >> np.uint64(1)) % below)


@inner_kernel
def split_by_seeds(points: Points, split: SeedSplit, begin: int, end: int) -> int:  # split OUT
    """Put shares into two parts and return where the second begins; ``begin`` if all are alike.

    The other shares, in random order, join the seed's part where the total cost grows less.
    """
    point, rows, share, cover = split.point, split.rows, split.share, split.cover
    if not _find_seeds(points, split, begin, end):
        return begin
    for e in range(end - 2, begin + 1, -1):
        other = begin + 1 + _draw(split.random, e - begin)
        share[e], share[other] = share[other], share[e]
    cover_point(points, cover, 0, point[share[begin]])
    cover_point(points, cover, 1, point[share[end - 1]])
    left, right = begin + 1, end - 1
    left_rows, right_rows = rows[share[begin]], rows[share[end - 1]]
    left_cost, right_cost = 0.0, 0.0
    while left < right:
        e = share[left]
        j = point[e]
        left_after = (left_rows + rows[e]) * point_rate(points, cover, 0, j, FAR)
        right_after = (right_rows + rows[e]) * point_rate(points, cover, 1, j, FAR)
        growth = left_after - left_cost - (right_after - right_cost)
        if growth < 0.0 or (growth == 0.0 and left_rows <= right_rows):
            widen(points, cover, 0, j)
            left_rows += rows[e]
            left_cost = left_after
            left += 1
        else:
            widen(points, cover, 1, j)
            right_rows += rows[e]
            right_cost = right_after
            right -= 1
            share[left], share[right] = share[right], e
    return left


@inner_kernel
def _find_seeds(points: Points, split: SeedSplit, begin: int, end: int) -> bool:  # split OUT
    """Move two shares that are far from each other to both ends; return False if all are alike.

    From a random share to the one with which it costs most together, from there to the farthest again, and so on for
    some rounds, while that gets any farther.
    """
    point, share, cover = split.point, split.share, split.cover
    first, second, reached = begin, begin + _draw(split.random, end - begin), 0.0
    for _ in range(split.rounds):
        cover_point(points, cover, 0, point[share[second]])
        far = second
        for e in range(begin, end):
            rate = point_rate(points, cover, 0, point[share[e]], FAR)
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
