"""The top-down method of the utility paper: split far points apart, then mend what became too small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.kernels.requirements import Requirement
from discreet.kernels.top_down import Splitting, split_groups
from discreet.problem._checks import whole_number
from discreet.solve._base import SOLVERS, Budget
from discreet.solve._groups import halve, make_groups, mend_groups, random_state, shares_of
from discreet.solve._local_solver import LocalSolver
from discreet.solve._local_task import Shares, Task

__all__ = ["TopDownSolver", "split_points"]

_AT_ONCE = 1 << 19
"""Points looked at between two looks at the clock."""


@SOLVERS.register
@dataclass(frozen=True)
class TopDownSolver(LocalSolver):
    """Splits the table in two and in two again, then mends the groups that do not keep the privacy models.

    A group of more than k rows is split by two seeds: from a random point, a scan finds the one with which it would
    cost most together, another scan the one farthest from that, and so on for at most ``rounds`` scans. The other
    points join, in random order, the seed's group where the total cost grows less. Equal tuples stay together here.
    Afterwards every group with too few rows, the smallest first, either takes the rows it lacks from another group that
    can spare them, or merges with another group, whichever adds least to the cost. A group that has enough rows but
    does not keep another privacy model merges. Where records may be suppressed, a group goes if that is cheaper still.
    What became twice as large as it need be by merging is split again.

    >>> TopDownSolver(rounds=6).text
    'top-down(rounds=6)'
    """

    name: ClassVar[str] = "top-down"

    rounds: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number(self.rounds, "The rounds of top-down", least=1)

    def groups(self, task: Task, requirement: Requirement, budget: Budget) -> Shares:
        """Split as far as it goes, mend, and split what mending made too large."""
        random = random_state(budget)
        point, group = split_points(task, requirement.smallest, self.rounds, random, budget)
        groups = make_groups(task, Shares(point, group, task.points.weights[point]))
        mend_groups(task, requirement, groups, budget)
        halve(task, requirement, groups, self.rounds, random)
        return shares_of(groups)


def split_points(
    task: Task, small: int, rounds: int, random: NDArray[np.uint64], budget: Budget
) -> tuple[IntArray, IntArray]:
    """The points in an order in which near ones are neighbours, and the group of each, of at most ``small`` rows.

    A group may have more rows if all its points are alike, or if the time was over.
    """
    n = task.points.weights.size
    splitting = Splitting(
        point=np.arange(n),
        same=np.arange(n),
        first=np.zeros(n + 2, dtype=np.int64),
        waiting=np.array([1]),
        done=np.zeros(n, dtype=np.int64),
        random=random,
    )
    splitting.first[1] = n
    while splitting.waiting[0] and not budget.exhausted:
        split_groups(task.points, small, rounds, splitting, _AT_ONCE)
    splitting.done[splitting.first[: splitting.waiting[0]]] = 1
    return splitting.point, np.cumsum(splitting.done) - 1
