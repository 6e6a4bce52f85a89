"""Splitting top-down (utility paper, 4.2): the whole table by seeds, and every part again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.covers import Points
from discreet.kernels.seeds import split_by_seeds

__all__ = ["Splitting", "split_groups"]


class Splitting(NamedTuple):
    """The points, group after group: first the groups that wait to be split, then those that are done."""

    point: NDArray[np.int64]
    same: NDArray[np.int64]
    """(points,) 0, 1, 2, …: point j as a share of itself."""
    first: NDArray[np.int64]
    """Where each waiting group begins, and where the last one ends."""
    waiting: NDArray[np.int64]
    """waiting[0] groups wait."""
    done: NDArray[np.int64]
    """(points,) 1 where a group that is done begins."""
    random: NDArray[np.uint64]
    """The state of the random numbers."""


@kernel
def split_groups(points: Points, small: int, rounds: int, splitting: Splitting, most: int) -> None:  # splitting OUT
    """Split waiting groups of more than ``small`` rows until none waits or ``most`` points have been looked at."""
    box = np.empty((2, points.kind.size, 2), dtype=np.int64)
    point, same, first, weights = splitting.point, splitting.same, splitting.first, points.weights
    looked_at = 0
    while splitting.waiting[0] > 0 and looked_at < most:
        last = splitting.waiting[0] - 1
        begin, end = first[last], first[last + 1]
        looked_at += end - begin
        rows = 0
        for e in range(begin, end):
            rows += weights[point[e]]
        middle = begin
        if rows > small:
            middle = split_by_seeds(points, same, weights, point, begin, end, rounds, splitting.random, box)
        if middle > begin:
            first[last + 1], first[last + 2] = middle, end
            splitting.waiting[0] += 1
        else:
            splitting.done[begin] = 1
            splitting.waiting[0] -= 1
