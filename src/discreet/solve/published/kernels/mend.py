"""Groups that do not satisfy the requirement take rows of another, or merge with the nearest (utility paper, 4.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.covers import ATTRIBUTE_COVER, AttributeCover, Points
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import Records
from discreet.solve.kernels.requirements import Requirement, clear, holds, tally
from discreet.solve.published.kernels.boxed_groups import (
    DEPTH,
    NONE,
    TAKEN,
    BoxedGroups,
    TakenRows,
    keeps,
    least_rate,
    merge,
    nearest_group,
    point_rate,
    share_with,
    suppress,
    take_back,
    widen,
)

__all__ = ["mend", "mend_in_order", "plan_rows"]


class _MendScratch(NamedTuple):
    """Scratch space of the search for rows."""

    stack: NDArray[np.int64]
    trial: Records[AttributeCover]
    """(1, m) the cover of a group with what it takes."""
    plan: Records[TakenRows]
    """(rows,) of the giver at hand, and of the best one."""
    taken: Records[TakenRows]
    histogram: NDArray[np.int64]
    """(2, cells)"""


@kernel
def mend(
    points: Points,
    requirement: Requirement,
    groups: BoxedGroups,
    order: NDArray[np.int64],
    begin: int,
    budget: NDArray[np.int64],
    most: int,
) -> int:  # groups, budget OUT
    """Mend the groups of ``order[begin:]`` until ``most`` boxes have been visited; return where it ended.

    ``budget[0]`` rows may be suppressed: a group is, if that costs less than what its rows add to other groups.
    """
    scratch = _MendScratch(
        stack=np.empty(DEPTH, dtype=np.int64),
        trial=np.empty((1, points.rates.attribute.size), ATTRIBUTE_COVER),
        plan=np.empty(requirement.smallest, TAKEN),
        taken=np.empty(requirement.smallest, TAKEN),
        histogram=np.empty((2, requirement.cells), dtype=np.int64),
    )
    visited = 0
    for position in range(begin, order.size):
        g = order[position]
        while groups.size[g] > 0 and not keeps(requirement, groups, g, scratch.histogram[0]):
            neighbour, cost, boxes = nearest_group(points, groups, g, scratch.stack)
            visited += boxes
            giver, count, cost, boxes = _nearest_rows(points, requirement, groups, g, cost, scratch)
            visited += boxes
            size = groups.size[g]
            if size <= budget[0] and cost > size * (points.penalty - groups.rate[g]):
                budget[0] -= size
                suppress(groups, g)
            elif giver != NONE:
                share_with(points, groups, g, giver, scratch.taken, count)
            elif neighbour != NONE:
                merge(points, groups, g, neighbour)
            else:
                take_back(points, groups, g)
                break
        if visited >= most:
            return position + 1
    return order.size


@kernel
def mend_in_order(points: Points, requirement: Requirement, groups: BoxedGroups) -> None:  # groups OUT
    """Mend what is left without any search: each group that does not satisfy the requirement merges with the next."""
    histogram = np.zeros(requirement.cells, dtype=np.int64)
    last = NONE
    for g in range(groups.size.size):
        if groups.size[g] <= 0:
            continue
        if last != NONE and not keeps(requirement, groups, last, histogram):
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
    groups: BoxedGroups,
    g: int,
    best: float,
    scratch: _MendScratch,
) -> tuple[int, int, float, int]:  # scratch OUT
    """The group that can best give the rows that group g lacks, if that adds less than ``best`` to the cost of g.

    Returns that group (NONE if there is none), the number of records in ``scratch.taken``, what it adds, and how many
    boxes were visited. What the giver saves is not counted, and the giver must have more than 2k - |G| rows, of which
    it keeps more than k, both as in the paper.
    """
    leaves = groups.box.shape[0] // 2
    mine, before = leaves + g, groups.size[g] * groups.rate[g]
    need = requirement.smallest - groups.size[g]
    found, count, visited = NONE, 0, 0
    if need <= 0:
        return found, count, best, visited
    up = mine
    while up > 1:
        waiting = 1
        scratch.stack[0] = up ^ 1
        up //= 2
        while waiting > 0:
            waiting -= 1
            x = scratch.stack[waiting]
            if groups.least[x] == 0 or (x >= leaves and groups.least[x] <= requirement.smallest + need):
                continue
            visited += 1
            limit = (best + before) / requirement.smallest
            if least_rate(points, groups.box, mine, x, limit) >= limit:
                continue
            if x < leaves:
                scratch.stack[waiting], scratch.stack[waiting + 1] = 2 * x + 1, 2 * x
                waiting += 2
                continue
            shares, rate = plan_rows(points, groups, g, x - leaves, need, limit, scratch.trial, scratch.plan)
            if shares > 0 and _both_keep(requirement, groups, g, x - leaves, scratch, shares):
                best, found, count = requirement.smallest * rate - before, x - leaves, shares
                for c in range(shares):
                    scratch.taken[c].share, scratch.taken[c].rows = scratch.plan[c].share, scratch.plan[c].rows
    return found, count, best, visited


@inner_kernel
def plan_rows(
    points: Points,
    groups: BoxedGroups,
    g: int,
    giver: int,
    need: int,
    limit: float,
    trial: Records[AttributeCover],
    plan: Records[TakenRows],
) -> tuple[int, float]:  # trial, plan OUT
    """Take the rows a group lacks from one giver, always the nearest next.

    Returns the number of records in ``plan``, 0 if a row would cost ``limit`` or more, and the rate. Shares that are
    taken already are marked by negative rows until the end.
    """
    mine = groups.box.shape[0] // 2 + g
    for i in range(trial.shape[1]):
        trial[0, i].low, trial[0, i].high = groups.box[mine, i].low, groups.box[mine, i].high
    count, rate = 0, 0.0
    while need > 0:
        nearest, rate = NONE, limit
        e = groups.head[giver]
        while e != NONE:
            if groups.rows[e] > 0:
                costs = point_rate(points, trial, 0, groups.point[e], rate)
                if costs < rate:
                    nearest, rate = e, costs
            e = groups.next[e]
        if nearest == NONE:
            break
        widen(points, trial, 0, groups.point[nearest])
        plan[count].share, plan[count].rows = nearest, min(need, groups.rows[nearest])
        need -= plan[count].rows
        groups.rows[nearest] = -groups.rows[nearest]
        count += 1
    for c in range(count):
        groups.rows[plan[c].share] = -groups.rows[plan[c].share]
    return (count if need <= 0 else 0), rate


@inner_kernel
def _both_keep(
    requirement: Requirement, groups: BoxedGroups, g: int, giver: int, scratch: _MendScratch, count: int
) -> bool:  # scratch OUT
    """Whether a group with what it takes and the giver without it satisfy the requirement; their sizes do."""
    if requirement.cells == 0:
        return True
    histogram, plan = scratch.histogram, scratch.plan
    clear(histogram[0])
    clear(histogram[1])
    for side in range(2):
        e = groups.head[g if side == 0 else giver]
        while e != NONE:
            tally(requirement, groups.point[e], groups.rows[e], histogram[side])
            e = groups.next[e]
    moved = 0
    for c in range(count):
        point, rows = groups.point[plan[c].share], plan[c].rows
        moved += rows
        tally(requirement, point, rows, histogram[0])
        tally(requirement, point, -rows, histogram[1])
    return holds(requirement, groups.size[g] + moved, histogram[0]) and holds(
        requirement, groups.size[giver] - moved, histogram[1]
    )
