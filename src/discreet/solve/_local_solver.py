"""What the solvers of local recoding share: points in, groups out."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from discreet.kernels.requirements import Requirement, holds
from discreet.problem import Problem
from discreet.solve._base import Budget, Progress, ProgressCallback, Solution, Solver
from discreet.solve._local_task import Shares, Task, classes_of, make_task, total_cost
from discreet.solve._requirements import make_requirement

__all__ = ["LocalSolver", "all_together"]


class LocalSolver(Solver):
    """A solver that puts rows into groups. It proves nothing about what it finds."""

    schemes: ClassVar[frozenset[str]] = frozenset({"local"})
    suppressions: ClassVar[frozenset[str]] = frozenset({"none", "budget", "class-records"})
    baseline: ClassVar[bool] = True

    @abstractmethod
    def groups(self, task: Task, requirement: Requirement, budget: Budget) -> Shares:
        """Return groups that keep the requirement; asked only where all rows together keep it."""

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the groups found; if not even all rows together keep models closed under unions, nothing does."""
        task, requirement = make_task(problem), make_requirement(problem)
        if not all_together(requirement, task):
            return Solution("infeasible", np.inf, np.inf)
        shares = self.groups(task, requirement, budget)
        cost, suppressed = total_cost(task, shares), int(shares.count[shares.group < 0].sum())
        if progress is not None:
            progress(Progress(budget.seconds, cost, 0.0, 1))
        classes = len(classes_of(task, shares))
        return Solution("feasible", cost, 0.0, suppressed_rows=suppressed, classes=classes, stats={"shares": shares})


def all_together(requirement: Requirement, task: Task) -> bool:
    """Whether all rows as one group keep the requirement."""
    histogram = np.zeros(requirement.cells, dtype=np.int64)
    for column in requirement.values.T:
        np.add.at(histogram, column, task.points.weights)
    return bool(holds(requirement, task.problem.table.n, histogram))
