"""The base class of solvers for local recoding: points in, groups and a lower bound out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UnsupportedCombinationError
from discreet.problem import Cost, Problem
from discreet.runtime.arguments import one_of
from discreet.solve._base import SOLVERS, Budget, Progress, ProgressCallback, Solution, Solver
from discreet.solve._kernel_loading import two_rows, warm_up
from discreet.solve._requirements import make_requirement
from discreet.solve.kernels.requirements import Requirement, holds
from discreet.solve.local.alternatives import find_alternative
from discreet.solve.local.bounds import NEAREST, nearest_bound, price_bound
from discreet.solve.local.bounds import compile_ahead as compile_bound
from discreet.solve.local.forced_suppression import suppress_all, suppress_forced, with_suppressed
from discreet.solve.local.general import is_compiled, solve_general
from discreet.solve.local.people import solve_people
from discreet.solve.local.pricing import PricedGroups, make_solution, price, row_rates
from discreet.solve.local.repair import repair
from discreet.solve.local.task import LocalGrouping, LocalTask, make_task

__all__ = ["LocalSolver", "bounded_solution", "compile_ahead", "load_kernels", "satisfied_by"]

_SECONDS, _TUPLES = 1.0, 200_000
"""After the time limit the quick bound may take so long, and is found for at most so many tuples."""


@dataclass(frozen=True)
class LocalSolver(Solver):
    """A solver that puts rows into groups.

    It proves nothing by itself. ``bound`` chooses the lower bound over all groupings that goes with the result:
    ``nearest``, quick and loose, from how far each row is from its nearest neighbours; ``prices``, slow and tight; or
    ``none``, in Python also None.
    """

    schemes: ClassVar[frozenset[str]] = frozenset({"local"})
    suppressions: ClassVar[frozenset[str]] = frozenset(
        {"none", "budget", "class-records", "violating-records", "class-values", "violating-values"}
    )
    baseline: ClassVar[bool] = True
    sees_people: ClassVar[bool] = True

    bound: str | None = field(default="nearest", kw_only=True)

    def __post_init__(self) -> None:
        one_of("none" if self.bound is None else self.bound, f"The bound of {self.name}", ("nearest", "prices", "none"))

    def takes(self, cost: Cost) -> bool:
        """Return whether the cost prices each released value."""
        return not cost.counts_values

    def check(self, problem: Problem) -> None:
        """Refuse what is not known of groups of people."""
        if problem.people is None:
            return
        if not is_compiled(problem):
            raise UnsupportedCombinationError(
                f"The cost {problem.cost.name}",
                "local recoding that counts people",
                "choose LM, NCP or precision, without limits on levels",
            )

    @property
    def regroupings(self) -> int:
        """How often groups are regrouped afterwards if the cost or the suppression is not known to kernels."""
        return 0

    def compiled(self, problem: Problem) -> bool:
        """Return whether kernels know the cost, the suppression and the levels, and no key sets are promised."""
        return is_compiled(problem) and not problem.key_sets

    @classmethod
    def own_kernels(cls) -> type[LocalSolver]:
        """Return the solver whose kernels it runs: itself, unless it repeats the search of another."""
        return cls

    @classmethod
    def compile_ahead(cls) -> None:
        """Load the kernels of the search and of its bounds, or compile them the first time ever."""
        load_kernels(cls.own_kernels())
        compile_bound(prices=True)

    @abstractmethod
    def groups(self, task: LocalTask, requirement: Requirement, budget: Budget) -> LocalGrouping:
        """Return groups that satisfy the requirement; called only if all rows as one group do."""

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the groups found, and a lower bound on the cost of all groupings."""
        self.check(problem)
        with budget.paused():
            load_kernels(self.own_kernels())
        if problem.key_sets:
            # These modules import searches of global recodings.
            from discreet.solve.local.key_sets import KeySetSearch, solve_with_key_sets
            from discreet.solve.local.key_sets_of_people import PeopleKeySetSearch

            search = KeySetSearch if problem.people is None else PeopleKeySetSearch
            return solve_with_key_sets(problem, self.solve, budget, progress, search)
        if problem.people is not None:
            nearest = self.bound == "nearest"
            inner = replace(self, bound="none") if nearest else self
            return solve_people(
                problem, lambda smaller: inner.solve(smaller, budget, progress), budget, nearest=nearest
            )
        if not is_compiled(problem):
            return solve_general(problem, self._find, self.regroupings, budget, progress)
        task = make_task(problem)
        found = self._groups_of(task, budget)
        if isinstance(found, Solution):
            return found
        grouping, priced = found, price(task, found)
        return bounded_solution(
            task, grouping, priced, lambda: self._bound(task, grouping, priced, budget), budget, progress
        )

    def _groups_of(self, task: LocalTask, budget: Budget) -> LocalGrouping | Solution:
        """Return groups that satisfy every model, or the solution that there are none or that all is suppressed."""
        problem, requirement = task.problem, make_requirement(task.problem)
        if satisfied_by(requirement, task.points.weights):
            grouping = self.groups(task, requirement, budget)
        else:
            remainder = suppress_forced(task, budget)
            if remainder.problem is None:
                return suppress_all(task, remainder)
            grouping = with_suppressed(remainder, self._search(make_task(remainder.problem), budget))
        grouping = repair(task, grouping)
        if grouping.suppressed > problem.limit:
            other = find_alternative(task, self._search, budget)
            if other is None:
                return Solution("infeasible", np.inf, np.inf)
            grouping = other
        return grouping

    def _find(self, problem: Problem, budget: Budget) -> LocalGrouping | None:
        """Return groups that satisfy every model; None if it is certain that there are none."""
        found = self._groups_of(make_task(problem), budget)
        if isinstance(found, LocalGrouping):
            return found
        groups = found.groups
        return None if groups is None else LocalGrouping(groups.tuple, groups.group, groups.count)

    def _search(self, task: LocalTask, budget: Budget) -> LocalGrouping:
        return self.groups(task, make_requirement(task.problem), budget)

    def _bound(self, task: LocalTask, grouping: LocalGrouping, priced: PricedGroups, budget: Budget) -> float:
        """Return a lower bound; after the time limit only a quick one."""
        prices = price_bound(task, budget, grouping)[0] if self.bound == "prices" else 0.0
        if prices > 0 or self.bound in (None, "none") or (budget.exhausted and task.points.weights.size > _TUPLES):
            return prices
        return nearest_bound(task, Budget(_SECONDS) if budget.exhausted else budget, row_rates(task, grouping, priced))


def bounded_solution(
    task: LocalTask,
    grouping: LocalGrouping,
    priced: PricedGroups,
    bound: Callable[[], float],
    budget: Budget,
    progress: ProgressCallback | None,
) -> Solution:
    """Return the solution of groups that were found, once their lower bound is computed; after Ctrl-C that is 0."""
    trace: list[Progress] = []

    def note(lower_bound: float) -> None:
        trace.append(Progress(budget.seconds, priced.cost, lower_bound, 1))
        if progress is not None:
            progress(trace[-1])

    note(0.0)
    try:
        proven = bound()
    except KeyboardInterrupt:  # the groups are found, and worth releasing without a bound
        budget.stop.set()
        proven = 0.0
    note(min(proven, priced.cost))
    return make_solution(task, grouping, proven, trace, priced)


@cache
def load_kernels(solver: type[LocalSolver]) -> None:
    """Load the kernels of a solver, or compile them the first time ever, on a table of two rows.

    With k = 1 nothing is left to improve, with k = 2 something is.
    """
    compile_bound(prices=False)
    warm_up(f"{solver.name} search", partial(_solve_two_rows, solver), uses=[NEAREST])


def compile_ahead() -> None:
    """Compile the kernels of every solver of local recoding."""
    for solver in SOLVERS.members().values():
        if issubclass(solver, LocalSolver):
            load_kernels(solver.own_kernels())


def _solve_two_rows(solver: type[LocalSolver]) -> None:
    """Find groups and a bound; then once more as if the time was over, when other kernels end the search."""
    over = Budget(seed=1)
    over.stop.set()
    for privacy in ("k(1)", "k(2)"):
        task = make_task(Problem.build(two_rows(), privacy=privacy, cost="LM", scheme="local"))
        for budget in (Budget(seed=1), over):
            solver().groups(task, make_requirement(task.problem), budget)
        nearest_bound(task, Budget())


def satisfied_by(requirement: Requirement, weights: NDArray[np.int64]) -> bool:
    """Return whether all points, of so many rows each, satisfy the requirement as one group."""
    histogram = np.zeros(requirement.cells, dtype=np.int64)
    for column in requirement.values.T:
        np.add.at(histogram, column, weights)
    return bool(holds(requirement, int(weights.sum()), histogram))
