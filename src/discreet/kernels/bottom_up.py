"""Merging bottom-up (utility paper, 4.1): every group that is too small joins its nearest, and large ones are split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.covers import Points
from discreet.kernels.groups import DEPTH, GONE, Groups, keeps, merge, nearest_group
from discreet.kernels.requirements import Requirement

__all__ = ["merge_once"]


@kernel
def merge_once(
    points: Points, requirement: Requirement, groups: Groups, order: NDArray[np.int64], begin: int, most: int
) -> int:  # groups OUT
    """Let the groups of ``order`` from ``begin`` on that do not keep the requirement each join their nearest.

    Stop after ``most`` groups have been looked at, and return where it ended.
    """
    histogram, stack = np.empty(requirement.cells, dtype=np.int64), np.empty(DEPTH, dtype=np.int64)
    looked_at = 0
    for place in range(begin, order.size):
        g = order[place]
        if groups.size[g] > 0 and not keeps(requirement, groups, g, histogram):
            neighbour, _, looked = nearest_group(points, groups, g, stack)
            looked_at += looked
            if neighbour != GONE:
                merge(points, groups, g, neighbour)
        if looked_at >= most:
            return place + 1
    return order.size
