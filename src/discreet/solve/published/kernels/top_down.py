"""Top-down splitting (utility paper, 4.2): the whole table is split by seeds, and every part again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.covers import ATTRIBUTE_COVER, Points
from discreet.solve.kernels.jit import kernel
from discreet.solve.kernels.random import RandomState
from discreet.solve.published.kernels.seeds import SeedSplit, split_by_seeds

__all__ = ["Splitting", "split_groups"]


class Splitting(NamedTuple):
    """The points, group by group: first the groups that wait to be split, then those that are done."""

    point: NDArray[np.int64]
    same: NDArray[np.int64]
    """(points,) 0, 1, 2, ...: point j is the point of share j."""
    first: NDArray[np.int64]
    """Where each waiting group begins, and where the last one ends."""
    waiting: NDArray[np.int64]
    """(1,) how many groups wait."""
    begins: NDArray[np.int64]
    """(points,) 1 where a group that is done begins."""
    random: RandomState


@kernel
def split_groups(points: Points, small: int, rounds: int, splitting: Splitting, most: int) -> None:  # splitting OUT
    """Split waiting groups of more than ``small`` rows until none waits or ``most`` points have been visited."""
    point, first, weights, waiting = splitting.point, splitting.first, points.weights, splitting.waiting
    cover = np.empty((2, points.rates.attribute.size), ATTRIBUTE_COVER)
    split = SeedSplit(splitting.same, weights, point, rounds, splitting.random, cover)
    visited = 0
    while waiting[0] > 0 and visited < most:
        last = waiting[0] - 1
        begin, end = first[last], first[last + 1]
        visited += end - begin
        rows = 0
        for e in range(begin, end):
            rows += weights[point[e]]
        second = begin
        if rows > small:
            second = split_by_seeds(points, split, begin, end)
        if second > begin:
            first[last + 1], first[last + 2] = second, end
            waiting[0] += 1
        else:
            splitting.begins[begin] = 1
            waiting[0] -= 1
