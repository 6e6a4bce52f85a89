"""Splitting groups that have at least twice the rows they need in two that both keep the requirement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.covers import Points
from discreet.kernels.groups import FAR, GONE, Groups, changed, gather, keeps, merge, share_with
from discreet.kernels.mend import plan_rows
from discreet.kernels.requirements import Requirement
from discreet.kernels.seeds import split_by_seeds

__all__ = ["halve_groups"]


@kernel
def halve_groups(
    points: Points,
    requirement: Requirement,
    groups: Groups,
    parent: NDArray[np.int64],
    rounds: int,
    random: NDArray[np.uint64],
) -> None:  # groups, parent, random OUT
    """Split groups by seeds for as long as both parts keep the requirement; a part may take rows it lacks of the other.

    A new group goes where one is no more; ``parent`` says near which group it belongs, for each group at first itself.
    """
    box = np.empty((2, points.kind.size, 2), dtype=np.int64)
    plan = np.empty((requirement.smallest, 2), dtype=np.int64)
    histogram = np.empty(requirement.cells, dtype=np.int64)
    share = np.empty(groups.point.size, dtype=np.int64)
    waiting = np.empty(groups.size.size, dtype=np.int64)
    left, h = 0, 0
    for g in range(groups.size.size):
        if groups.size[g] > 0:
            waiting[left] = g
            left += 1
    while left > 0:
        g = waiting[left - 1]
        while h < groups.size.size and groups.head[h] != GONE:
            h += 1
        if h == groups.size.size:
            return
        if groups.size[g] < 2 * requirement.smallest or not _split(points, groups, g, h, rounds, random, share, box):
            left -= 1
            continue
        small, large = (g, h) if groups.size[g] < groups.size[h] else (h, g)
        need = requirement.smallest - groups.size[small]
        if need > 0:
            count, _ = plan_rows(points, groups, small, large, need, FAR, box, plan)
            share_with(points, groups, small, large, plan, count)
        if keeps(requirement, groups, g, histogram) and keeps(requirement, groups, h, histogram):
            parent[h] = parent[g]
            waiting[left] = h
            left += 1
        else:
            merge(points, groups, g, h)
            left -= 1


@inner_kernel
def _split(
    points: Points,
    groups: Groups,
    g: int,
    h: int,
    rounds: int,
    random: NDArray[np.uint64],
    share: NDArray[np.int64],
    box: NDArray[np.int64],
) -> bool:  # groups, random, share, box OUT
    """Split group g by seeds into groups g and h; not if all its points are alike."""
    count, e = 0, groups.head[g]
    while e != GONE:
        share[count] = e
        count += 1
        e = groups.next[e]
    middle = split_by_seeds(points, groups.point, groups.rows, share, 0, count, rounds, random, box)
    if middle == 0:
        return False
    _chain(groups, g, share, 0, middle)
    _chain(groups, h, share, middle, count)
    for part in (g, h):
        gather(points, groups, part)
        changed(points, groups, part)
    return True


@inner_kernel
def _chain(groups: Groups, g: int, share: NDArray[np.int64], begin: int, end: int) -> None:  # groups OUT
    """Let a group have some shares and no others."""
    groups.size[g] = 0
    for c in range(begin, end):
        groups.size[g] += groups.rows[share[c]]
        groups.next[share[c]] = share[c + 1] if c + 1 < end else GONE
    groups.head[g], groups.tail[g] = share[begin], share[end - 1]
