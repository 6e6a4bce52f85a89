"""Bottom-up merging (utility paper, 4.1): every group that is too small joins its nearest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.covers import Points
from discreet.solve.kernels.jit import kernel
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.published.kernels.boxed_groups import (
    DEPTH,
    NONE,
    BoxedGroups,
    keeps,
    merge,
    nearest_group,
    nearest_union,
)

__all__ = ["merge_once"]


@kernel
def merge_once(
    points: Points,
    requirement: Requirement,
    groups: BoxedGroups,
    order: NDArray[np.int64],
    begin: int,
    most: int,
    by_union: bool,
) -> int:  # groups OUT
    """Let the groups of ``order[begin:]`` that do not satisfy the requirement each join their nearest.

    Nearest is the group with which the total cost grows least, or ``by_union`` with which the rate is lowest.
    Stop after ``most`` boxes have been visited, and return where it ended.
    """
    histogram, stack = np.empty(requirement.cells, dtype=np.int64), np.empty(DEPTH, dtype=np.int64)
    visited = 0
    for position in range(begin, order.size):
        g = order[position]
        if groups.size[g] > 0 and not keeps(requirement, groups, g, histogram):
            if by_union:
                neighbour, boxes = nearest_union(points, groups, g, stack)
            else:
                neighbour, _, boxes = nearest_group(points, groups, g, stack)
            visited += boxes
            if neighbour != NONE:
                merge(points, groups, g, neighbour)
        if visited >= most:
            return position + 1
    return order.size
