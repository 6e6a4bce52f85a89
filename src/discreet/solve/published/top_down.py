"""The top-down method of the utility paper (4.2): separate far points, then mend groups that became too small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import IntArray
from discreet.runtime.arguments import whole_number
from discreet.solve._base import SOLVERS, Budget
from discreet.solve.kernels.random import RandomState
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.base import LocalSolver
from discreet.solve.local.task import LocalGrouping, LocalTask
from discreet.solve.published._boxed_groups import grouping_of, halve, make_groups, mend_groups, random_state
from discreet.solve.published.kernels.top_down import Splitting, split_groups

__all__ = ["TopDownSolver", "split_points"]

_AT_ONCE = 1 << 19
"""Points visited between two checks of the budget."""


@SOLVERS.register
@dataclass(frozen=True)
class TopDownSolver(LocalSolver):
    """Splits the table in two and in two again, then mends the groups that break the privacy models.

    A group of more than k rows is split by two seeds: from a random point, a scan finds the one with which it would
    cost most together, another scan the one farthest from that, and so on for at most ``rounds`` scans. The other
    points join, in random order, the seed's group where the total cost grows less. Equal tuples are not separated here.
    Afterwards every group with too few rows, the smallest first, either takes the rows it lacks from another group that
    can spare them, or merges with another group, whichever adds least to the cost. A group that has enough rows but
    breaks another privacy model merges. If records may be suppressed, a group is if that is cheaper still. Groups that
    became twice as large as needed by merging are split again.

    >>> TopDownSolver(rounds=6).text
    'top-down(rounds=6)'
    """

    name: ClassVar[str] = "top-down"
    examples: ClassVar[tuple[str, ...]] = ("top-down", "top-down(rounds=6)")
    title: ClassVar[str] = "Top-down"
    summary: ClassVar[str] = "Splits far rows again and again: quick, for comparison."
    in_studio: ClassVar[bool] = False

    rounds: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number(self.rounds, "The rounds of top-down", least=1)

    def groups(self, task: LocalTask, requirement: Requirement, budget: Budget) -> LocalGrouping:
        """Split as far as possible, mend, and split what mending made too large."""
        random = random_state(budget)
        point, group = split_points(task, requirement.smallest, self.rounds, random, budget)
        groups = make_groups(task, LocalGrouping(point, group, task.points.weights[point]))
        mend_groups(task, requirement, groups, budget)
        halve(task, requirement, groups, self.rounds, random)
        return grouping_of(groups)


def split_points(
    task: LocalTask, small: int, rounds: int, random: RandomState, budget: Budget
) -> tuple[IntArray, IntArray]:
    """Return the points sorted so that near ones are neighbours, and the group of each, of at most ``small`` rows.

    A group may have more rows if all its points are alike, or if the time was over.
    """
    n = task.points.weights.size
    splitting = Splitting(
        point=np.arange(n),
        same=np.arange(n),
        first=np.zeros(n + 2, dtype=np.int64),
        waiting=np.array([1]),
        begins=np.zeros(n, dtype=np.int64),
        random=random,
    )
    splitting.first[1] = n
    while splitting.waiting[0] and not budget.exhausted:
        split_groups(task.points, small, rounds, splitting, _AT_ONCE)
    splitting.begins[splitting.first[: splitting.waiting[0]]] = 1
    return splitting.point, np.cumsum(splitting.begins) - 1
