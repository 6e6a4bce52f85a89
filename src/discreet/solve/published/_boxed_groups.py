"""Groupings in the form that kernels merge, mend and split, and back."""

from __future__ import annotations

import numpy as np

from discreet.counts import IntArray
from discreet.solve._base import Budget
from discreet.solve.kernels.covers import AttributeCover
from discreet.solve.kernels.random import RandomState
from discreet.solve.kernels.records import records
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.task import LocalGrouping, LocalTask
from discreet.solve.published.kernels.boxed_groups import NONE, BoxedGroups, build_boxes
from discreet.solve.published.kernels.halve import halve_groups
from discreet.solve.published.kernels.mend import mend, mend_in_order

__all__ = ["grouping_of", "halve", "make_groups", "mend_groups", "random_state"]

_AT_ONCE = 1 << 20
"""Boxes visited between two checks of the budget."""


def random_state(budget: Budget) -> RandomState:
    """Return the state of a kernel's random numbers, which is not 0."""
    return np.array([budget.random().getrandbits(63) + 1], dtype=np.uint64)


def make_groups(task: LocalTask, grouping: LocalGrouping) -> BoxedGroups:
    """Return the groups of a grouping sorted by group; searches are fast if neighbouring groups are alike."""
    first = np.flatnonzero(np.diff(grouping.group, prepend=-1, append=-1))
    m, n, found = task.points.codes.shape[1], grouping.tuple.size, first.size - 1
    # Splitting may make more groups than there are now, but none of fewer rows than a group needs.
    count = max(found, min(task.problem.table.n // task.k, 2 * n))
    none = np.full(count - found, NONE)
    leaves = 1 << max(count - 1, 0).bit_length()
    # Taking rows divides at most one share, and a group takes rows at most once when mended and twice when halved.
    spare = np.zeros(3 * count, dtype=np.int64)
    link = np.arange(1, n + spare.size + 1)
    link[first[1:] - 1] = NONE
    groups = BoxedGroups(
        point=np.concatenate([grouping.tuple, spare]),
        rows=np.concatenate([grouping.count, spare]),
        next=link,
        head=np.concatenate([first[:-1], none]),
        tail=np.concatenate([first[1:] - 1, none]),
        size=np.concatenate([np.add.reduceat(grouping.count, first[:-1]), 0 * none]),
        rate=np.zeros(count),
        box=records(AttributeCover, (2 * leaves, m)),
        least=np.zeros(2 * leaves, dtype=np.int64),
        dearest=np.zeros(2 * leaves),
        used=np.array([n]),
    )
    build_boxes(task.points, groups)
    return groups


def mend_groups(task: LocalTask, requirement: Requirement, groups: BoxedGroups, budget: Budget) -> None:
    """Make all groups satisfy the requirement, the smallest first; when the time is over, without searching."""
    order, allowed, done = np.argsort(groups.size, kind="stable"), np.array([task.problem.limit]), 0
    while done < order.size:
        if budget.exhausted:
            mend_in_order(task.points, requirement, groups)
            break
        done = mend(task.points, requirement, groups, order, done, allowed, _AT_ONCE)


def halve(task: LocalTask, requirement: Requirement, groups: BoxedGroups, rounds: int, random: RandomState) -> IntArray:
    """Split groups that are twice as large as needed; return near which group each belongs."""
    parent = np.arange(groups.size.size)
    halve_groups(task.points, requirement, groups, parent, rounds, random)
    return parent


def grouping_of(groups: BoxedGroups, parent: IntArray | None = None) -> LocalGrouping:
    """Return the grouping sorted by group, in their order or that of their parents; suppressed groups become -1."""
    existing = np.flatnonzero(groups.head != NONE)
    if parent is not None:
        existing = existing[np.argsort(parent[existing], kind="stable")]
    kept = groups.size[existing] > 0
    share, group = groups.head[existing], np.where(kept, np.cumsum(kept) - 1, -1)
    shares, numbers = [share], [group]
    while share.size:  # all chains at once, a link at a time
        share = groups.next[share]
        share, group = share[share != NONE], group[share != NONE]
        shares.append(share)
        numbers.append(group)
    share, group = np.concatenate(shares), np.concatenate(numbers)
    point = groups.point[share]
    order = np.lexsort((point, group))
    point, group, rows = point[order], group[order], groups.rows[share[order]]
    begins = np.flatnonzero((np.diff(group, prepend=-2) != 0) | (np.diff(point, prepend=-1) != 0))
    return LocalGrouping(point[begins], group[begins], np.add.reduceat(rows, begins))
