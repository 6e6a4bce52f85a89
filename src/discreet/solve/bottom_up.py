"""The bottom-up method of the utility paper: small groups join their nearest, large ones are split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import IntArray
from discreet.kernels.bottom_up import merge_once
from discreet.kernels.requirements import Requirement
from discreet.solve._base import SOLVERS, Budget
from discreet.solve._groups import halve, make_groups, mend_groups, random_state, shares_of
from discreet.solve._local_solver import LocalSolver
from discreet.solve._local_task import Shares, Task
from discreet.solve.top_down import split_points

__all__ = ["BottomUpSolver"]

_AT_ONCE = 1 << 20
"""Groups looked at between two looks at the clock."""
_ROUNDS = 3
"""Scans for seeds."""


@SOLVERS.register
@dataclass(frozen=True)
class BottomUpSolver(LocalSolver):
    """Begins with a group for each tuple, and lets groups that do not keep the privacy models join others.

    In each round every group that does not keep the models merges with the one with which the total cost grows least,
    and groups that have become twice as large as they need be are split by seeds. A tuple with that many rows has
    several groups from the start.

    >>> BottomUpSolver().text
    'bottom-up'
    """

    name: ClassVar[str] = "bottom-up"

    def groups(self, task: Task, requirement: Requirement, budget: Budget) -> Shares:
        """Merge and split until all groups keep the models, or until the time is over."""
        random = random_state(budget)
        point, _ = split_points(task, 1, _ROUNDS, random, budget)  # only an order in which near ones are neighbours
        shares, merged = _one_each(task, point, requirement.smallest), True
        while merged:
            groups = make_groups(task, shares)
            before, done = np.count_nonzero(groups.size), 0
            order = np.argsort(groups.size, kind="stable")
            while done < order.size and not budget.exhausted:
                done = merge_once(task.points, requirement, groups, order, done, _AT_ONCE)
            if budget.exhausted:
                mend_groups(task, requirement, groups, budget)
            merged = bool(np.count_nonzero(groups.size) < before) and not budget.exhausted
            shares = shares_of(groups, halve(task, requirement, groups, _ROUNDS, random))
        return shares


def _one_each(task: Task, point: IntArray, smallest: int) -> Shares:
    """A group for each point, or several of at least the smallest size for one with twice as many rows."""
    rows = task.points.weights[point]
    parts = np.maximum(rows // smallest, 1)
    place = np.repeat(np.arange(point.size), parts)
    last = np.cumsum(parts) - 1
    count = np.where(parts == 1, rows, smallest)[place]
    count[last] += rows - np.where(parts == 1, rows, smallest) * parts
    return Shares(point[place], np.arange(place.size), count)
