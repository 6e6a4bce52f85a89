"""What the solvers of local recoding share: points in, groups out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cache, partial
from typing import ClassVar

import numpy as np

from discreet.errors import NothingFoundError
from discreet.kernels.requirements import Requirement, holds
from discreet.problem import Cost, Problem
from discreet.problem._checks import one_of
from discreet.solve._base import Budget, Progress, ProgressCallback, Solution, Solver
from discreet.solve._local_bound import nearest_bound, price_bound
from discreet.solve._local_last import last_resort, never
from discreet.solve._local_rest import Rest, rest_of, with_the_gone
from discreet.solve._local_task import Priced, Shares, Task, finish, make_task, mended, price, row_rates
from discreet.solve._requirements import make_requirement
from discreet.solve._warm_up import two_rows, warm_up

__all__ = ["LocalSolver", "all_together", "load_kernels"]

_SECONDS, _TUPLES = 1.0, 200_000
"""How long the quick bound may take where the time for the search is over, and of how many tuples it is found then."""


@dataclass(frozen=True)
class LocalSolver(Solver):
    """A solver that puts rows into groups.

    It proves nothing by itself. ``bound`` says what is proven beside it about all groupings: ``nearest``, quick and
    loose, from how far each row is from its nearest neighbours; ``prices``, slow and tight; or ``none``, in Python
    also None.
    """

    schemes: ClassVar[frozenset[str]] = frozenset({"local"})
    suppressions: ClassVar[frozenset[str]] = frozenset({"none", "budget", "class-records"})
    baseline: ClassVar[bool] = True

    bound: str | None = field(default="nearest", kw_only=True)

    def __post_init__(self) -> None:
        one_of("none" if self.bound is None else self.bound, f"The bound of {self.name}", ("nearest", "prices", "none"))

    def takes(self, cost: Cost) -> bool:
        """Return whether the cost says what each released value loses."""
        return not cost.counts_values

    @abstractmethod
    def groups(self, task: Task, requirement: Requirement, budget: Budget) -> Shares:
        """Return groups that keep the requirement; asked only where all rows together keep it."""

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the groups found, and what is proven about all groupings."""
        with budget.paused():
            load_kernels(type(self))
        task, requirement = make_task(problem), make_requirement(problem)
        if all_together(requirement, task):
            shares = self.groups(task, requirement, budget)
        else:
            rest = rest_of(task, budget)
            if rest.problem is None:
                return _nothing(task, rest)
            part = make_task(rest.problem)
            shares = with_the_gone(rest, self.groups(part, make_requirement(rest.problem), budget))
        shares = mended(task, shares)
        if int(shares.count[shares.group < 0].sum()) > problem.limit:
            other = last_resort(
                task, lambda task, budget: self.groups(task, make_requirement(task.problem), budget), budget
            )
            if other is None:
                return Solution("infeasible", np.inf, np.inf)
            shares = other
        priced = price(task, shares)
        found = priced.cost
        trace = [Progress(budget.seconds, found, 0.0, 1)]
        if progress is not None:
            progress(trace[-1])
        try:
            bound = self._bound(task, shares, priced, budget)
        except KeyboardInterrupt:  # the groups are there, and worth releasing without a bound too
            budget.stop.set()
            bound = 0.0
        trace.append(Progress(budget.seconds, found, min(bound, found), 1))
        if progress is not None:
            progress(trace[-1])
        return finish(task, shares, bound, trace=trace, priced=priced)

    def _bound(self, task: Task, shares: Shares, priced: Priced, budget: Budget) -> float:
        """Return what no grouping costs less than; where the time is over, only what is quick."""
        prices = price_bound(task, budget, shares)[0] if self.bound == "prices" else 0.0
        if prices > 0 or self.bound in (None, "none") or (budget.exhausted and task.points.weights.size > _TUPLES):
            return prices
        return nearest_bound(task, Budget(_SECONDS) if budget.exhausted else budget, row_rates(task, shares, priced))


def _nothing(task: Task, rest: Rest) -> Solution:
    """Nothing that keeps the models was found: everything is suppressed, if that is allowed.

    Not even all rows together keep the compiled models, for which two groups that are ok are so together: if no row may
    go, or fewer than these models ask for, there is no release.
    """
    problem = task.problem
    if problem.limit < problem.table.n:
        if problem.limit and rest.at_least <= problem.limit and not never(problem):
            raise NothingFoundError(
                "The search found no release that keeps the promises, and no proof that there is none; "
                "allow more suppression, promise less, or try another solver or scheme."
            )
        proven = len({getattr(model, "attribute", None) for model in problem.privacy} - {None}) == 1
        smallest = rest.at_least if proven and rest.at_least else None
        return Solution("infeasible", np.inf, np.inf, smallest_budget=smallest)
    tuples = np.arange(problem.table.tuples)
    return finish(task, Shares(tuples, np.full(tuples.size, -1), task.points.weights))


@cache
def load_kernels(solver: type[LocalSolver]) -> None:
    """Load the kernels of a solver, or compile them the first time ever, on a table of two rows.

    Each row alone costs nothing, and nothing is left to improve; both together do.
    """
    for privacy in ("k(1)", "k(2)"):
        problem = Problem.build(two_rows(), privacy=privacy, cost="LM", scheme="local")
        warm_up(partial(_solve_quickly, solver, make_task(problem), make_requirement(problem)))


def _solve_quickly(solver: type[LocalSolver], task: Task, requirement: Requirement) -> None:
    """Find groups and a bound of them; once more as if the time was over, when other kernels end the search."""
    over = Budget(seed=1)
    over.stop.set()
    for budget in (Budget(seed=1), over):
        solver().groups(task, requirement, budget)
    nearest_bound(task, Budget())


def all_together(requirement: Requirement, task: Task) -> bool:
    """Whether all rows as one group keep the requirement."""
    histogram = np.zeros(requirement.cells, dtype=np.int64)
    for column in requirement.values.T:
        np.add.at(histogram, column, task.points.weights)
    return bool(holds(requirement, task.problem.table.n, histogram))
