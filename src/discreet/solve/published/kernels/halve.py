"""Splitting groups of at least twice the rows they need in two that both satisfy the requirement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.covers import ATTRIBUTE_COVER, Points
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.random import RandomState
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.published.kernels.boxed_groups import (
    FAR,
    NONE,
    TAKEN,
    BoxedGroups,
    gather,
    keeps,
    merge,
    share_with,
    update_boxes,
)
from discreet.solve.published.kernels.mend import plan_rows
from discreet.solve.published.kernels.seeds import SeedSplit, split_by_seeds

__all__ = ["halve_groups"]


@kernel
def halve_groups(
    points: Points,
    requirement: Requirement,
    groups: BoxedGroups,
    parent: NDArray[np.int64],
    rounds: int,
    random: RandomState,
) -> None:  # groups, parent, random OUT
    """Split groups by seeds as long as both parts satisfy the requirement; a part may take rows it lacks of the other.

    A new group takes the number of one that no longer exists; ``parent`` says near which group it belongs, for each
    group at first itself.
    """
    cover = np.empty((2, points.rates.attribute.size), ATTRIBUTE_COVER)
    plan = np.empty(requirement.smallest, TAKEN)
    histogram = np.empty(requirement.cells, dtype=np.int64)
    share = np.empty(groups.point.size, dtype=np.int64)
    split = SeedSplit(groups.point, groups.rows, share, rounds, random, cover)
    waiting = np.empty(groups.size.size, dtype=np.int64)
    left, h = 0, 0
    for g in range(groups.size.size):
        if groups.size[g] > 0:
            waiting[left] = g
            left += 1
    while left > 0:
        g = waiting[left - 1]
        while h < groups.size.size and groups.head[h] != NONE:
            h += 1
        if h == groups.size.size:
            return
        if groups.size[g] < 2 * requirement.smallest or not _split(points, groups, g, h, split):
            left -= 1
            continue
        small, large = (g, h) if groups.size[g] < groups.size[h] else (h, g)
        need = requirement.smallest - groups.size[small]
        if need > 0:
            count, _ = plan_rows(points, groups, small, large, need, FAR, cover, plan)
            share_with(points, groups, small, large, plan, count)
        if keeps(requirement, groups, g, histogram) and keeps(requirement, groups, h, histogram):
            parent[h] = parent[g]
            waiting[left] = h
            left += 1
        else:
            merge(points, groups, g, h)
            left -= 1


@inner_kernel
def _split(points: Points, groups: BoxedGroups, g: int, h: int, split: SeedSplit) -> bool:  # groups, split OUT
    """Split group g by seeds into groups g and h; return False if all its points are alike."""
    share, count, e = split.share, 0, groups.head[g]
    while e != NONE:
        share[count] = e
        count += 1
        e = groups.next[e]
    second = split_by_seeds(points, split, 0, count)
    if second == 0:
        return False
    _chain(groups, g, share, 0, second)
    _chain(groups, h, share, second, count)
    for part in (g, h):
        gather(points, groups, part)
        update_boxes(points, groups, part)
    return True


@inner_kernel
def _chain(groups: BoxedGroups, g: int, share: NDArray[np.int64], begin: int, end: int) -> None:  # groups OUT
    """Let a group consist of some shares and no others."""
    groups.size[g] = 0
    for c in range(begin, end):
        groups.size[g] += groups.rows[share[c]]
        groups.next[share[c]] = share[c + 1] if c + 1 < end else NONE
    groups.head[g], groups.tail[g] = share[begin], share[end - 1]
