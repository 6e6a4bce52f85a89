"""Groups of points in the form kernels merge, mend and split, and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.kernels.groups import GONE, Groups, build_boxes
from discreet.kernels.halve import halve_groups
from discreet.kernels.mend import mend, mend_in_order
from discreet.kernels.requirements import Requirement
from discreet.solve._base import Budget
from discreet.solve._local_task import Shares, Task

__all__ = ["halve", "make_groups", "mend_groups", "random_state", "shares_of"]

_AT_ONCE = 1 << 20
"""Groups looked at between two looks at the clock."""


def random_state(budget: Budget) -> NDArray[np.uint64]:
    """The state of a kernel's random numbers, which is not 0."""
    return np.array([budget.random().getrandbits(63) + 1], dtype=np.uint64)


def make_groups(task: Task, shares: Shares) -> Groups:
    """Groups from shares that stand group by group; neighbours should be alike, which is what makes searches fast."""
    first = np.flatnonzero(np.diff(shares.group, prepend=-1, append=-1))
    m, n, found = task.points.kind.size, shares.tuple.size, first.size - 1
    # Splitting may make more groups than there are now, but none of fewer rows than one needs.
    count = max(found, min(task.problem.table.n // task.k, 2 * n))
    none = np.full(count - found, GONE)
    leaves = 1 << max(count - 1, 0).bit_length()
    # Taking rows divides at most one share, and a group takes rows at most once when mended and twice when halved.
    spare = np.zeros(3 * count, dtype=np.int64)
    link = np.arange(1, n + spare.size + 1)
    link[first[1:] - 1] = GONE
    groups = Groups(
        point=np.concatenate([shares.tuple, spare]),
        rows=np.concatenate([shares.count, spare]),
        next=link,
        head=np.concatenate([first[:-1], none]),
        tail=np.concatenate([first[1:] - 1, none]),
        size=np.concatenate([np.add.reduceat(shares.count, first[:-1]), 0 * none]),
        rate=np.zeros(count),
        box=np.zeros((2 * leaves, m, 2), dtype=np.int64),
        least=np.zeros(2 * leaves, dtype=np.int64),
        dearest=np.zeros(2 * leaves),
        used=np.array([n]),
    )
    build_boxes(task.points, groups)
    return groups


def mend_groups(task: Task, requirement: Requirement, groups: Groups, budget: Budget) -> None:
    """Let all groups keep the requirement, the smallest first; when the time is over, without searching."""
    order, spare, done = np.argsort(groups.size, kind="stable"), np.array([task.problem.limit]), 0
    while done < order.size:
        if budget.exhausted:
            mend_in_order(task.points, requirement, groups)
            break
        done = mend(task.points, requirement, groups, order, done, spare, _AT_ONCE)


def halve(task: Task, requirement: Requirement, groups: Groups, rounds: int, random: NDArray[np.uint64]) -> IntArray:
    """Split groups that are twice as large as they need be; return near which group each belongs."""
    parent = np.arange(groups.size.size)
    halve_groups(task.points, requirement, groups, parent, rounds, random)
    return parent


def shares_of(groups: Groups, parent: IntArray | None = None) -> Shares:
    """The groups as shares, group by group in their order or in that of their parents; suppressed ones as group -1."""
    there = np.flatnonzero(groups.head != GONE)
    if parent is not None:
        there = there[np.argsort(parent[there], kind="stable")]
    kept = groups.size[there] > 0
    share, group = groups.head[there], np.where(kept, np.cumsum(kept) - 1, -1)
    shares, numbers = [share], [group]
    while share.size:
        share = groups.next[share]
        share, group = share[share != GONE], group[share != GONE]
        shares.append(share)
        numbers.append(group)
    share, group = np.concatenate(shares), np.concatenate(numbers)
    point = groups.point[share]
    order = np.lexsort((point, group))
    point, group, rows = point[order], group[order], groups.rows[share[order]]
    begins = np.flatnonzero((np.diff(group, prepend=-2) != 0) | (np.diff(point, prepend=-1) != 0))
    return Shares(point[begins], group[begins], np.add.reduceat(rows, begins))
