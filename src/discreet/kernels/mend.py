"""Groups that do not keep the requirement take rows of another, or merge with the nearest (utility paper, 4.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.covers import Points
from discreet.kernels.groups import (
    DEPTH,
    GONE,
    Groups,
    keeps,
    merge,
    nearest_group,
    point_rate,
    reach,
    share_with,
    suppress,
    take_back,
    widen,
)
from discreet.kernels.requirements import Requirement, clear, holds, tally

__all__ = ["mend", "mend_in_order", "plan_rows"]


class Scratch(NamedTuple):
    """Scratch space of the search for rows."""

    stack: NDArray[np.int64]
    trial: NDArray[np.int64]
    """(1, m, 2) the cover of a group with what it takes."""
    plan: NDArray[np.int64]
    taken: NDArray[np.int64]
    """(rows, 2) shares to take and the rows of each: those of the giver at hand, and of the best one."""
    histogram: NDArray[np.int64]
    """(2, cells)"""


@kernel
def mend(
    points: Points,
    requirement: Requirement,
    groups: Groups,
    order: NDArray[np.int64],
    begin: int,
    spare: NDArray[np.int64],
    most: int,
) -> int:  # groups, spare OUT
    """Mend the groups of ``order`` from ``begin`` on, until ``most`` groups have been looked at; return where it ended.

    ``spare[0]`` rows may be suppressed: a group is, if its rows cost less so than by what they do to other groups.
    """
    scratch = Scratch(
        stack=np.empty(DEPTH, dtype=np.int64),
        trial=np.empty((1, points.kind.size, 2), dtype=np.int64),
        plan=np.empty((requirement.smallest, 2), dtype=np.int64),
        taken=np.empty((requirement.smallest, 2), dtype=np.int64),
        histogram=np.empty((2, requirement.cells), dtype=np.int64),
    )
    looked_at = 0
    for place in range(begin, order.size):
        g = order[place]
        while groups.size[g] > 0 and not keeps(requirement, groups, g, scratch.histogram[0]):
            neighbour, cost, looked = nearest_group(points, groups, g, scratch.stack)
            looked_at += looked
            giver, count, cost, looked = _nearest_rows(points, requirement, groups, g, cost, scratch)
            looked_at += looked
            size = groups.size[g]
            if size <= spare[0] and cost > size * (points.penalty - groups.rate[g]):
                spare[0] -= size
                suppress(groups, g)
            elif giver != GONE:
                share_with(points, groups, g, giver, scratch.taken, count)
            elif neighbour != GONE:
                merge(points, groups, g, neighbour)
            else:
                take_back(points, groups, g)
                break
        if looked_at >= most:
            return place + 1
    return order.size


@kernel
def mend_in_order(points: Points, requirement: Requirement, groups: Groups) -> None:  # groups OUT
    """Mend what is left without any search: each group that does not keep the requirement merges with the next."""
    histogram = np.zeros(requirement.cells, dtype=np.int64)
    last = GONE
    for g in range(groups.size.size):
        if groups.size[g] <= 0:
            continue
        if last != GONE and not keeps(requirement, groups, last, histogram):
            merge(points, groups, g, last)
        last = g
    for g in range(groups.size.size):
        if groups.size[last] > 0 and keeps(requirement, groups, last, histogram):
            return
        if groups.size[g] > 0 and g != last:
            merge(points, groups, last, g)
    take_back(points, groups, last)


@inner_kernel
def _nearest_rows(
    points: Points,
    requirement: Requirement,
    groups: Groups,
    g: int,
    best: float,
    scratch: Scratch,
) -> tuple[int, int, float, int]:  # scratch OUT
    """The group that can best give the rows that group g lacks, if that adds less than ``best`` to the cost of g.

    Returns that group (GONE if there is none), the number of shares in ``scratch.taken``, what it adds, and how many
    groups were looked at. What the giver gains is left out, as in the paper.
    """
    leaves = groups.box.shape[0] // 2
    mine, before = leaves + g, groups.size[g] * groups.rate[g]
    need = requirement.smallest - groups.size[g]
    found, count, looked_at = GONE, 0, 0
    if need <= 0:
        return found, count, best, looked_at
    up = mine
    while up > 1:
        waiting = 1
        scratch.stack[0] = up ^ 1
        up //= 2
        while waiting > 0:
            waiting -= 1
            x = scratch.stack[waiting]
            if groups.least[x] == 0 or (x >= leaves and groups.least[x] < requirement.smallest + need):
                continue
            looked_at += 1
            limit = (best + before) / requirement.smallest
            if reach(points, groups.box, mine, x, limit) >= limit:
                continue
            if x < leaves:
                scratch.stack[waiting], scratch.stack[waiting + 1] = 2 * x + 1, 2 * x
                waiting += 2
                continue
            shares, rate = plan_rows(points, groups, g, x - leaves, need, limit, scratch.trial, scratch.plan)
            if shares > 0 and _both_keep(requirement, groups, g, x - leaves, scratch, shares):
                best, found, count = requirement.smallest * rate - before, x - leaves, shares
                for c in range(shares):
                    scratch.taken[c, 0], scratch.taken[c, 1] = scratch.plan[c, 0], scratch.plan[c, 1]
    return found, count, best, looked_at


@inner_kernel
def plan_rows(
    points: Points,
    groups: Groups,
    g: int,
    giver: int,
    need: int,
    limit: float,
    trial: NDArray[np.int64],
    plan: NDArray[np.int64],
) -> tuple[int, float]:  # trial, plan OUT
    """Take the rows a group lacks of one giver, always the nearest next; 0 shares if a row costs ``limit`` or more."""
    mine = groups.box.shape[0] // 2 + g
    for i in range(points.kind.size):
        trial[0, i, 0], trial[0, i, 1] = groups.box[mine, i, 0], groups.box[mine, i, 1]
    count, rate = 0, 0.0
    while need > 0:
        nearest, rate = GONE, limit
        e = groups.head[giver]
        while e != GONE:
            if groups.rows[e] > 0:
                costs = point_rate(points, trial, 0, groups.point[e], rate)
                if costs < rate:
                    nearest, rate = e, costs
            e = groups.next[e]
        if nearest == GONE:
            break
        widen(points, trial, 0, groups.point[nearest])
        plan[count, 0], plan[count, 1] = nearest, min(need, groups.rows[nearest])
        need -= plan[count, 1]
        groups.rows[nearest] = -groups.rows[nearest]  # taken, for now
        count += 1
    for c in range(count):
        groups.rows[plan[c, 0]] = -groups.rows[plan[c, 0]]
    return (count if need <= 0 else 0), rate


@inner_kernel
def _both_keep(
    requirement: Requirement,
    groups: Groups,
    g: int,
    giver: int,
    scratch: Scratch,
    count: int,
) -> bool:  # scratch OUT
    """Whether a group with what it takes, and the giver without it, keep the requirement; their sizes do."""
    if requirement.cells == 0:
        return True
    histogram, plan = scratch.histogram, scratch.plan
    clear(histogram[0])
    clear(histogram[1])
    sizes = (groups.size[g], groups.size[giver])
    for side in range(2):
        e = groups.head[g if side == 0 else giver]
        while e != GONE:
            tally(requirement, groups.point[e], groups.rows[e], histogram[side])
            e = groups.next[e]
    moved = 0
    for c in range(count):
        point, rows = groups.point[plan[c, 0]], plan[c, 1]
        moved += rows
        tally(requirement, point, rows, histogram[0])
        tally(requirement, point, -rows, histogram[1])
    return holds(requirement, sizes[0] + moved, histogram[0]) and holds(requirement, sizes[1] - moved, histogram[1])
