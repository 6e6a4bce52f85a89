"""The bottom-up method of the utility paper (4.1): small groups join their nearest, large ones are split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import IntArray
from discreet.runtime.arguments import one_of
from discreet.solve._base import SOLVERS, Budget
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.base import LocalSolver
from discreet.solve.local.task import LocalGrouping, LocalTask
from discreet.solve.published._boxed_groups import grouping_of, halve, make_groups, mend_groups, random_state
from discreet.solve.published.kernels.bottom_up import merge_once
from discreet.solve.published.top_down import split_points

__all__ = ["BottomUpSolver"]

_AT_ONCE = 1 << 20
"""Boxes visited between two checks of the budget."""
_ROUNDS = 3
"""Scans for seeds."""


@SOLVERS.register
@dataclass(frozen=True)
class BottomUpSolver(LocalSolver):
    """Begins with a group for each tuple, and merges groups that break the privacy models with others.

    In each round every group that breaks a model merges with the one with which the total cost grows least, and groups
    that became twice as large as needed are split by seeds. A tuple with that many rows has several groups from the
    start. With ``merge="union"`` a group merges with the one with which a row costs least, which is how the paper words
    it. That ignores how many rows of the other group pay for it, and loses more.

    >>> BottomUpSolver().text, BottomUpSolver(merge="union").text
    ('bottom-up', 'bottom-up(merge=union)')
    """

    name: ClassVar[str] = "bottom-up"
    examples: ClassVar[tuple[str, ...]] = ("bottom-up", "bottom-up(merge=union)")
    title: ClassVar[str] = "Bottom-up"
    summary: ClassVar[str] = "Joins near rows again and again: for comparison."
    in_studio: ClassVar[bool] = False

    merge: str = "growth"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.merge, "merge of bottom-up", ("growth", "union"))

    def groups(self, task: LocalTask, requirement: Requirement, budget: Budget) -> LocalGrouping:
        """Merge and split until all groups satisfy the models, or until the time is over."""
        random = random_state(budget)
        point, _ = split_points(task, 1, _ROUNDS, random, budget)  # only for an order in which near ones are neighbours
        grouping, merged = _one_each(task, point, requirement.smallest), True
        while merged:
            groups = make_groups(task, grouping)
            before, done = np.count_nonzero(groups.size), 0
            order = np.argsort(groups.size, kind="stable")
            while done < order.size and not budget.exhausted:
                done = merge_once(task.points, requirement, groups, order, done, _AT_ONCE, self.merge == "union")
            if budget.exhausted:
                mend_groups(task, requirement, groups, budget)
            merged = bool(np.count_nonzero(groups.size) < before) and not budget.exhausted
            grouping = grouping_of(groups, halve(task, requirement, groups, _ROUNDS, random))
        return grouping


def _one_each(task: LocalTask, point: IntArray, smallest: int) -> LocalGrouping:
    """Return a group for each point; several of at least the smallest size for one with twice as many rows."""
    rows = task.points.weights[point]
    parts = np.maximum(rows // smallest, 1)
    position = np.repeat(np.arange(point.size), parts)
    last = np.cumsum(parts) - 1
    count = np.where(parts == 1, rows, smallest)[position]
    count[last] += rows - np.where(parts == 1, rows, smallest) * parts
    return LocalGrouping(point[position], np.arange(position.size), count)
