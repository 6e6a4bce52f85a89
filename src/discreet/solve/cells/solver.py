"""The solver for cell suppression: local search in strict classes, an integer program where hidden cells match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from discreet.counts import IntArray
from discreet.errors import UnsupportedCombinationError
from discreet.problem import Classes, Problem
from discreet.problem.costs.loss import Loss
from discreet.solve._base import SOLVERS, Budget, GroupCovers, LocalRecoding, Progress, ProgressCallback, Solution
from discreet.solve.cells.cover import require_scipy
from discreet.solve.cells.matching import CellTable, Hidden
from discreet.solve.cells.search import CellSearch
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.base import LocalSolver
from discreet.solve.local.pricing import price
from discreet.solve.local.solver import LocalSearchSolver
from discreet.solve.local.task import LocalGrouping, LocalTask

__all__ = ["CellsSolver"]

_FEW = 2048
"""Tables of at most so many tuples are searched several times, from different seeds: it takes no time."""
_TRIES = 12
_PRICED = 20_000
"""Tables of more tuples get the quick bound by default."""
_ROUNDED = 1e-6
"""Costs this close are equal."""


@SOLVERS.register
@dataclass(frozen=True)
class CellsSolver(LocalSearchSolver):
    """Finds the fewest cells to hide, with a lower bound on how few they can be.

    In strict classes it is the search of ``local``, repeated on small tables, with the bound by prices. Where a hidden
    cell is equal to every value, an integer program is solved for the rows that lack matches, a few at a time, until
    nobody lacks any; on most tables that proves the optimum. It needs scipy: ``pip install 'discreet[cells]'``.

    >>> CellsSolver().text
    'cells'
    """

    name: ClassVar[str] = "cells"
    examples: ClassVar[tuple[str, ...]] = ("cells", "cells(effort=high)")
    title: ClassVar[str] = "Fewest hidden cells"
    summary: ClassVar[str] = "Hides as few single values as it can, and proves how few they can be at least."
    reason: ClassVar[str] = (
        "Single values are hidden and all others stay as they are; a proven bound says how few they can be at least."
    )
    rank: ClassVar[int] = 45
    schemes: ClassVar[frozenset[str]] = frozenset({"cells"})

    bound: str | None = field(default="prices", kw_only=True)

    @classmethod
    def own_kernels(cls) -> type[LocalSolver]:
        """Return the local search, which this repeats."""
        return LocalSearchSolver

    def check(self, problem: Problem) -> None:
        """Refuse costs that the integer program does not know, and limits that it does not keep."""
        model = next((model for model in problem.privacy if model.counts_matches), None)
        if model is None:
            return
        what = f"The privacy model {model.shown}"
        if not isinstance(problem.cost, Loss):
            raise UnsupportedCombinationError(
                what, f"the cost {problem.cost.name}", "only hidden cells are counted; choose LM"
            )
        limited = [
            attribute.name
            for attribute, low, high in zip(problem.table.attributes, problem.lowest, problem.highest, strict=True)
            if low or high < attribute.height
        ]
        if limited:
            raise UnsupportedCombinationError(
                what, f"a limit on the levels of '{limited[0]}'", "give the column a large weight instead"
            )
        if problem.table.people is not None:
            raise UnsupportedCombinationError(what, "promises that count people", "leave person and household out")
        require_scipy()

    def compiled(self, problem: Problem) -> bool:
        """Return whether kernels or HiGHS search the problem throughout."""
        return any(model.counts_matches for model in problem.privacy) or super().compiled(problem)

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the release found, and a lower bound on the cost of all others."""
        if any(model.counts_matches for model in problem.privacy):
            return _solve_matches(problem, budget, progress)
        solution = super().solve(problem, budget, progress)
        return _rounded_up(problem, solution)

    def groups(self, task: LocalTask, requirement: Requirement, budget: Budget) -> LocalGrouping:
        """Return the best groups of several searches, if the table is small."""
        best = super().groups(task, requirement, budget)
        if task.points.weights.size > _FEW or self.effort == "low":
            return best
        cost = price(task, best).cost
        for other in self._further(task, requirement, budget):
            found = price(task, other).cost
            if found < cost - _ROUNDED:
                best, cost = other, found
        return best

    def _further(self, task: LocalTask, requirement: Requirement, budget: Budget) -> Iterator[LocalGrouping]:
        """Yield the groups of further searches, which draw other random numbers."""
        random = budget.random()
        for _ in range(_TRIES):
            if budget.exhausted:
                return
            again = Budget(budget.time_limit, budget.stop, budget.started, random.getrandbits(62), budget.threads)
            yield super().groups(task, requirement, again)


def _rounded_up(problem: Problem, solution: Solution) -> Solution:
    """Return a solution with its bound rounded up: with whole weights, hidden cells and records cost whole numbers."""
    if not isinstance(problem.cost, Loss) or any(weight % 1 for weight in problem.cost.weights.values()):
        return solution
    bound = min(float(np.ceil(solution.lower_bound - _ROUNDED)), solution.cost)
    if not bound > solution.lower_bound:
        return solution
    status = "optimal" if bound >= solution.cost and solution.status == "feasible" else solution.status
    return replace(solution, lower_bound=bound, status=status)


def _solve_matches(problem: Problem, budget: Budget, progress: ProgressCallback | None) -> Solution:
    """Solve a problem in which a hidden cell is equal to every value."""
    table = problem.table
    codes, member = np.unique(table.codes.T, axis=0, return_inverse=True)
    member = member.reshape(-1)
    rows = np.bincount(member, table.weights, codes.shape[0]).astype(np.int64)
    cost = problem.cost
    assert isinstance(cost, Loss)
    prices = np.array([float(cost.weights.get(name, 1.0)) for name in table.names])
    k = max(int(getattr(model, "k", 1)) for model in problem.privacy)
    trace: list[Progress] = []

    def report(cost: float, bound: float, programs: int) -> None:
        trace.append(Progress(budget.seconds, cost, bound, programs))
        if progress is not None:
            progress(trace[-1])

    search = CellSearch(CellTable(codes, rows, prices, k), budget, report)
    try:
        search.run()
    except KeyboardInterrupt:  # the best release so far is worth releasing
        if budget.stop.is_set():
            raise
        budget.stop.set()
    found = _recoding(problem, member, search.best)
    exact = float(cost.published(found[1]).sum())
    bound = exact if search.solved else min(search.bound, exact)
    return Solution(
        status="optimal" if search.solved else "feasible",
        cost=exact,
        lower_bound=bound,
        groups=found[0],
        classes=len(found[1]),
        stats={"examined": search.programs, "demands": search.demands},
        trace=tuple(trace),
    )


def _recoding(problem: Problem, member: IntArray, hidden: Hidden) -> tuple[LocalRecoding, Classes]:
    """Return which rows show what, as groups of rows that show the same; ``member`` is the distinct tuple of each."""
    table = problem.table
    left = table.weights.astype(np.int64).copy()
    entries: list[tuple[int, int, int]] = []
    tuples_of: dict[int, list[int]] = {}
    for j in np.flatnonzero(np.isin(member, [t for t, _ in hidden])).tolist():
        tuples_of.setdefault(int(member[j]), []).append(j)
    for (t, cells), number in sorted(hidden.items()):
        for j in tuples_of[t]:
            taken = int(min(left[j], number))
            if taken:
                entries.append((j, cells, taken))
            left[j] -= taken
            number -= taken
    whole = np.flatnonzero(left)
    own, mask, count = np.array(entries, dtype=np.int64).reshape(-1, 3).T
    tuples = np.concatenate([whole, own])
    masks = np.concatenate([np.zeros(whole.size, dtype=np.int64), mask])
    counts = np.concatenate([left[whole], count])
    stars = (masks[None, :] >> np.arange(len(table.attributes))[:, None] & 1).astype(np.bool_)
    shown = np.where(stars, -1, table.codes[:, tuples])
    patterns, group = np.unique(shown.T, axis=0, return_inverse=True)
    levels = (patterns < 0).astype(np.int32)
    blocks = np.maximum(patterns, 0).astype(np.int32)
    leaves = np.array([attribute.leaves for attribute in table.attributes])
    sizes = np.bincount(group.reshape(-1), counts, patterns.shape[0]).astype(np.int64)
    classes = Classes(
        table, sizes, blocks=blocks, block_leaves=np.where(levels > 0, leaves, 1), block_levels=levels, local=True
    )
    covers = [GroupCovers("node", level, block) for level, block in zip(levels.T, blocks.T, strict=True)]
    return LocalRecoding(tuples, group.reshape(-1), counts, covers), classes
