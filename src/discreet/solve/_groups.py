"""Groups of points in the form kernels merge and mend, and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.kernels.groups import GONE, Groups, build_boxes
from discreet.kernels.mend import mend, mend_in_order
from discreet.kernels.requirements import Requirement
from discreet.solve._base import Budget
from discreet.solve._local_task import Shares, Task

__all__ = ["make_groups", "mend_groups", "random_state", "shares_of"]

_AT_ONCE = 1 << 20
"""Groups looked at between two looks at the clock."""


def random_state(budget: Budget) -> NDArray[np.uint64]:
    """The state of a kernel's random numbers."""
    return np.array([budget.random().getrandbits(63)], dtype=np.uint64)


def make_groups(task: Task, point: IntArray, first: IntArray) -> Groups:
    """Groups of whole points: group g has the points from first[g] to first[g + 1]; neighbours should be alike."""
    points, n = task.points, point.size
    count, rows = first.size - 1, points.weights[point]
    leaves = 1 << max(count - 1, 0).bit_length()
    # Whenever a group takes rows, it needs at most one share for each row it lacks.
    most = n + task.k * count
    size = np.add.reduceat(rows, first[:-1])
    spare = int(np.maximum(task.k - size, 0).sum())
    most = n + spare
    link = np.arange(1, most + 1)
    link[first[1:] - 1] = GONE
    groups = Groups(
        point=np.concatenate([point, np.zeros(spare, dtype=np.int64)]),
        rows=np.concatenate([rows, np.zeros(spare, dtype=np.int64)]),
        next=link,
        head=first[:-1].copy(),
        tail=first[1:] - 1,
        size=size,
        rate=np.zeros(count),
        box=np.zeros((2 * leaves, points.kind.size, 2), dtype=np.int64),
        least=np.zeros(2 * leaves, dtype=np.int64),
        dearest=np.zeros(2 * leaves),
        used=np.array([n]),
    )
    build_boxes(points, groups)
    return groups


def mend_groups(task: Task, requirement: Requirement, groups: Groups, budget: Budget) -> None:
    """Let all groups keep the requirement, the smallest first; when the time is over, without searching."""
    order, spare, done = np.argsort(groups.size, kind="stable"), np.array([task.problem.limit]), 0
    while done < order.size:
        if budget.exhausted:
            mend_in_order(task.points, requirement, groups)
            break
        done = mend(task.points, requirement, groups, order, done, spare, _AT_ONCE)


def shares_of(groups: Groups) -> Shares:
    """The groups as shares, in their order; suppressed ones as group -1."""
    there = np.flatnonzero(groups.head != GONE)
    number = np.where(groups.size[there] > 0, np.cumsum(groups.size[there] > 0) - 1, -1)
    share, group = groups.head[there], number
    found_share, found_group = [share], [group]
    while share.size:
        share = groups.next[share]
        share, group = share[share != GONE], group[share != GONE]
        found_share.append(share)
        found_group.append(group)
    share, group = np.concatenate(found_share), np.concatenate(found_group)
    order = np.argsort(group, kind="stable")
    share = share[order]
    return Shares(groups.point[share], group[order], groups.rows[share])
