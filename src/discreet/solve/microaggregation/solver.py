"""The solver for microaggregation: groups of rows around their means, with the least squared error."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import ClassVar, get_args

import numpy as np

from discreet.counts import CountTable, IntArray
from discreet.problem import Cost, Problem
from discreet.problem.costs.loss import Loss
from discreet.problem.costs.squared_error import SquaredError
from discreet.runtime.arguments import one_of
from discreet.solve._base import SOLVERS, Budget, ProgressCallback, Solution
from discreet.solve._kernel_loading import warm_up
from discreet.solve._requirements import make_requirement
from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.base import LocalSolver, bounded_solution, load_kernels
from discreet.solve.local.pricing import price
from discreet.solve.local.solver import Effort, LocalSearchSolver
from discreet.solve.local.task import LocalGrouping, LocalTask, make_task
from discreet.solve.microaggregation.bounds import BOUND, few_rows, squared_error_bound
from discreet.solve.microaggregation.bounds import compile_ahead as compile_bound
from discreet.solve.microaggregation.kernels.tree import NearRows
from discreet.solve.microaggregation.rows import coordinates, group_errors
from discreet.solve.microaggregation.search import (
    AnnealingPlan,
    RowProblem,
    improve_groups,
    near_rows,
    start_groups,
    tree_groups,
    univariate_groups,
)

__all__ = ["MicroaggregationSolver", "compile_ahead"]

_SECONDS = 1.0
"""After the time limit the bound may take so long."""
_HEAVY = 4
"""Of a point with more than so many times k rows, most stay in a group of their own."""


@SOLVERS.register
@dataclass(frozen=True)
class MicroaggregationSolver(LocalSolver):
    """Puts rows into groups of least squared error, for the cost SSE.

    It starts from MDAV, V-MDAV and the best cut of a space-filling order, of many rows from MDAV by a tree, and anneals
    moves and swaps between near rows; groups are dissolved and made anew on the way. For a single number and k alone,
    the cut of its order is optimal, and proven to be. Where other models matter, the groups to start from are those of
    the solver ``local``, and every change keeps to the models. Rows are suppressed only if the models leave no choice.

    ``effort`` says how much work goes into each row: ``low``, ``default`` or ``high``. ``bound`` is ``prices``, tight;
    ``nearest``, quick and loose, or ``none``.

    >>> MicroaggregationSolver(effort="high").text
    'microaggregation(effort=high)'
    """

    name: ClassVar[str] = "microaggregation"
    examples: ClassVar[tuple[str, ...]] = ("microaggregation", "microaggregation(effort=high)")
    title: ClassVar[str] = "Microaggregation"
    summary: ClassVar[str] = "Groups around their means with the least squared error, and a bound; for the cost SSE."
    reason: ClassVar[str] = "It is made for this cost, and proves how far from the best the result can be at most."
    in_studio: ClassVar[bool] = False
    suppressions: ClassVar[frozenset[str]] = frozenset({"none", "budget", "class-records"})
    baseline: ClassVar[bool] = False
    special: ClassVar[bool] = True

    effort: Effort = "default"
    bound: str | None = field(default="prices", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.effort, "The effort of microaggregation", get_args(Effort))

    def takes(self, cost: Cost) -> bool:
        """Return whether the cost is the squared error."""
        return isinstance(cost, SquaredError)

    def compiled(self, problem: Problem) -> bool:
        """Return True: the search is compiled."""
        return True

    @classmethod
    def compile_ahead(cls) -> None:
        """Load the kernels of the search, or compile them the first time ever."""
        compile_ahead()

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the groups found, and a lower bound on the squared error of all groupings."""
        cost = problem.cost
        assert isinstance(cost, SquaredError), "choose_solver sees to it"
        with budget.paused():
            load_kernels(LocalSearchSolver)
            _load()
        task = make_task(replace(problem, cost=Loss(weights=cost.weights)))
        search = _SquaredErrorSearch(self.effort, cost)
        found = search._groups_of(task, budget)
        if isinstance(found, Solution):
            if found.groups is None:
                return found
            found = LocalGrouping(found.groups.tuple, found.groups.group, found.groups.count)
        priced = price(task, found)._replace(cost=squared_error_of(problem.table, cost, found))
        near = search.near.get(id(problem.table))
        return bounded_solution(
            task, found, priced, lambda: self._lower_bound(problem, cost, priced.cost, budget, near), budget, progress
        )

    def groups(self, task: LocalTask, requirement: Requirement, budget: Budget) -> LocalGrouping:
        """Return groups by unweighted squared error."""
        return _SquaredErrorSearch(self.effort).groups(task, requirement, budget)

    def _lower_bound(
        self, problem: Problem, cost: SquaredError, found: float, budget: Budget, near: NearRows | None
    ) -> float:
        """Return a lower bound; that of a search that is exact is the cost it found."""
        k = max(problem.smallest_class, 1)
        x = coordinates(problem.table, cost)
        by_size = make_requirement(problem).model.size == 0 and make_requirement(problem).complete
        if by_size and not problem.limit and (x.shape[1] == 1 or problem.table.n < 2 * k):
            return found
        if self.bound in (None, "none"):
            return 0.0
        left = Budget(_SECONDS, stop=budget.stop, threads=budget.threads) if budget.exhausted else budget
        return squared_error_bound(problem, cost, k, left, tight=self.bound == "prices", near=near)


def squared_error_of(table: CountTable, cost: SquaredError, grouping: LocalGrouping) -> float:
    """Return what a grouping costs: the errors of its groups and, of suppressed rows, the distance from the mean."""
    x = coordinates(table, cost)[grouping.tuple]
    there = np.flatnonzero(grouping.group >= 0)
    gone = np.flatnonzero(grouping.group < 0)
    errors = group_errors(x[there], grouping.group[there].astype(np.int64), grouping.count[there].astype(np.int64))
    return float(errors.sum()) + float(grouping.count[gone] @ (x[gone] ** 2).sum(axis=1))


@dataclass(frozen=True)
class _SquaredErrorSearch(LocalSearchSolver):
    """Local recoding by squared error: what models force is done as in ``local``, the groups are found here."""

    cost: SquaredError = field(default_factory=SquaredError)
    near: dict[int, NearRows] = field(default_factory=dict, compare=False)
    """The nearest rows of each, by the identity of the table, if all rows differ: the bound needs those of points."""

    def _find_groups(self, task: LocalTask, requirement: Requirement, budget: Budget) -> LocalGrouping:
        """Group by squared error; with a budget that is used up, without search."""
        table, k = task.problem.table, max(requirement.smallest, 1)
        x = coordinates(table, self.cost)
        by_size = requirement.model.size == 0
        if by_size:
            searched, fixed = _without_heavy(table.weights, k)
            point = np.repeat(np.arange(table.tuples), searched)
            rows = np.ascontiguousarray(x[point])
            group = self._by_size(table, point, rows, requirement._replace(smallest=k), budget)
            return _as_grouping(point, group, fixed)
        start = LocalSearchSolver(effort="low" if self.effort == "low" else "default").groups(task, requirement, budget)
        kept = np.flatnonzero(start.group >= 0)
        point = np.repeat(start.tuple[kept], start.count[kept])
        group = np.repeat(start.group[kept], start.count[kept]).astype(np.int64)
        rows = np.ascontiguousarray(x[point])
        plan = AnnealingPlan.make(point.size, k, self.effort)
        group = improve_groups(RowProblem(rows, point, requirement), group, plan, budget, near_rows(rows, plan, budget))
        fixed = np.zeros(table.tuples, dtype=np.int64)
        np.add.at(fixed, start.tuple[start.group < 0], start.count[start.group < 0])
        found = _as_grouping(point, group, np.zeros_like(fixed))
        gone = np.flatnonzero(fixed)
        return LocalGrouping(
            np.concatenate([found.tuple, gone]),
            np.concatenate([found.group, np.full(gone.size, -1)]),
            np.concatenate([found.count, fixed[gone]]),
        )

    def _by_size(self, table: CountTable, point: Ints, x: Floats, requirement: Requirement, budget: Budget) -> Ints:
        k = requirement.smallest
        if k == 1:
            return np.arange(point.size)
        if x.shape[1] == 1:
            return univariate_groups(x, k)
        plan = AnnealingPlan.make(point.size, k, self.effort)
        group = start_groups(x, k, plan, budget)
        near = near_rows(x, plan, budget)
        if bool((table.weights == 1).all()) and not budget.exhausted:  # each row is another point
            self.near[id(table)] = near
        return improve_groups(RowProblem(x, point, requirement), group, plan, budget, near)


def _without_heavy(weights: IntArray, k: int) -> tuple[Ints, Ints]:
    """Return how many rows of each point are searched, and how many stay in a group of their own, which is free.

    In an optimum a group that mixes rows of the point with others has at most k - 1 of them: one more could leave for
    a group of its equals. If there is one coordinate, at most two groups mix, so that 3k rows leave k + 2 for a group
    of their own, and the optimum is the same.
    """
    heavy = weights > _HEAVY * k
    fixed = np.where(heavy, weights - 3 * k, 0).astype(np.int64)
    return weights - fixed, fixed


def _as_grouping(point: Ints, group: Ints, fixed: Ints) -> LocalGrouping:
    """Return rows in groups as points in groups; ``fixed`` rows of each point are a group more."""
    tuples = int(point.max(initial=-1)) + 1
    cells, count = np.unique(group * tuples + point, return_counts=True)
    number = np.unique(cells // tuples, return_inverse=True)[1].reshape(-1)
    own = np.flatnonzero(fixed)
    return LocalGrouping(
        np.concatenate([cells % tuples, own]),
        np.concatenate([number, np.arange(own.size) + int(number.max(initial=-1)) + 1]),
        np.concatenate([count, fixed[own]]),
    )


@cache
def _load() -> None:
    compile_bound()
    warm_up("microaggregation search", _solve_few_rows, uses=[BOUND])


def compile_ahead() -> None:
    """Compile the kernels of the search and of its bounds."""
    load_kernels(LocalSearchSolver)
    _load()


def _solve_few_rows() -> None:
    """Search for groups of a few rows, by one number and by two; then once more as if the time was over."""
    over = Budget(seed=1)
    over.stop.set()
    for problem in few_rows():
        task, requirement = make_task(replace(problem, cost=Loss())), make_requirement(problem)
        tree_groups(coordinates(problem.table, SquaredError()), 2)
        for budget in (Budget(seed=1), over):
            _SquaredErrorSearch("low").groups(task, requirement, budget)
