"""The solver for cell suppression: local search in strict classes, an integer program where hidden cells match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd, lcm
from typing import ClassVar

import numpy as np

from discreet.counts import IntArray
from discreet.problem import Classes, Problem
from discreet.problem.costs.loss import Loss
from discreet.solve._base import (
    SOLVERS,
    Budget,
    GroupCovers,
    LocalRecoding,
    Progress,
    ProgressCallback,
    Solution,
    nothing_found,
)
from discreet.solve.cells.cover import require_scipy
from discreet.solve.cells.matching import CellTable, Hidden
from discreet.solve.cells.search import CellSearch
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.base import LocalSolver
from discreet.solve.local.pricing import PricedGroups, price
from discreet.solve.local.solver import LocalSearchSolver
from discreet.solve.local.task import LocalGrouping, LocalTask

__all__ = ["CellsSolver"]

_FEW = 2048
"""Tables of at most so many tuples are searched several times, from different seeds: it takes no time."""
_TRIES = 6
_PRICED = 100_000
"""Tables of more tuples get the quick bound."""
_ROUNDED = 1e-6
"""Costs this close are equal."""
_FINEST = 1000
"""The largest denominator of a weight by which bounds are rounded."""


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
        """Raise an error if the solver of the integer program is not installed, or if people cannot be counted."""
        super().check(problem)
        if any(model.counts_matches for model in problem.privacy):
            require_scipy()

    def compiled(self, problem: Problem) -> bool:
        """Return whether kernels or HiGHS search the problem throughout."""
        return any(model.counts_matches for model in problem.privacy) or super().compiled(problem)

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the release found, and a lower bound on the cost of all others."""
        if any(model.counts_matches for model in problem.privacy):
            return _solve_matches(problem, budget, progress)
        solution = super().solve(problem, budget, progress)
        if solution.groups is None:
            return solution
        stats = {**solution.stats, "hidden_cells": _hidden_cells(solution.groups)}
        return replace(_rounded_up(problem, solution), stats=stats)

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

    def _bound(self, task: LocalTask, grouping: LocalGrouping, priced: PricedGroups, budget: Budget) -> float:
        """Return the bound by prices, or on large tables the quick one."""
        large = task.points.weights.size > _PRICED
        quick = replace(self, bound="nearest") if large and self.bound == "prices" else self
        return LocalSearchSolver._bound(quick, task, grouping, priced, budget)

    def _further(self, task: LocalTask, requirement: Requirement, budget: Budget) -> Iterator[LocalGrouping]:
        """Yield the groups of further searches, which draw other random numbers."""
        random = budget.random()
        for _ in range(_TRIES):
            if budget.exhausted:
                return
            again = Budget(budget.time_limit, budget.stop, budget.started, random.getrandbits(62), budget.threads)
            yield super().groups(task, requirement, again)


def _hidden_cells(groups: LocalRecoding) -> int:
    """Return how many cells of released rows are hidden."""
    kept = groups.group >= 0
    group, rows = groups.group[kept], groups.count[kept]
    return sum(int(rows[cover.first[group] > 0].sum()) for cover in groups.covers)


def _rounded_up(problem: Problem, solution: Solution) -> Solution:
    """Return a solution with its bound rounded up to the next cost there can be: all are multiples of a unit."""
    unit = _unit(problem)
    if unit is None:
        return solution
    bound = min(float(np.ceil(solution.lower_bound / unit - _ROUNDED)) * unit, solution.cost)
    if not bound > solution.lower_bound:
        return solution
    status = "optimal" if bound >= solution.cost - _ROUNDED and solution.status == "feasible" else solution.status
    return replace(solution, lower_bound=solution.cost if status == "optimal" else bound, status=status)


def _unit(problem: Problem) -> float | None:
    """Return what all costs are multiples of: a hidden cell costs the weight of its column, a record all of them.

    None if weights have so many digits that it is not known, if nothing costs anything, or if the cost is not LM.
    """
    if not isinstance(problem.cost, Loss):
        return None
    weights = [float(problem.cost.weights.get(name, 1.0)) for name in problem.table.names]
    parts = [Fraction(weight).limit_denominator(_FINEST) for weight in weights]
    if any(float(part) != weight for part, weight in zip(parts, weights, strict=True)):
        return None
    finest = lcm(*(part.denominator for part in parts))
    return gcd(*(int(part * finest) for part in parts)) / finest or None


def _solve_matches(problem: Problem, budget: Budget, progress: ProgressCallback | None) -> Solution:
    """Solve a problem in which a hidden cell is equal to every value."""
    table = problem.table
    codes, member = np.unique(table.codes.T, axis=0, return_inverse=True)
    member = member.reshape(-1)
    rows = np.bincount(member, table.weights, codes.shape[0]).astype(np.int64)
    cost = problem.cost
    assert isinstance(cost, Loss)
    varies = np.flatnonzero((codes != codes[:1]).any(axis=0))  # hiding a column with one value helps nobody
    prices = np.array([float(cost.weights.get(table.names[i], 1.0)) for i in varies])
    k = max(int(getattr(model, "k", 1)) for model in problem.privacy)
    trace: list[Progress] = []

    def report(cost: float, bound: float, programs: int) -> None:
        trace.append(Progress(budget.seconds, cost, bound, programs))
        if progress is not None:
            progress(trace[-1])

    most = problem.schemes[0].most_hidden
    search = CellSearch(CellTable(codes[:, varies], rows, prices, k, most), budget, report)
    try:
        search.run()
    except KeyboardInterrupt:  # the best release so far is worth releasing
        if budget.stop.is_set():
            raise
        budget.stop.set()
    if search.best is None:
        if search.infeasible:
            return Solution("infeasible", np.inf, np.inf)
        raise nothing_found(budget)
    recoding, classes = _recoding(problem, member, varies, search.best)
    exact = float(cost.published(classes).sum())
    bound = exact if search.solved else min(search.bound, exact)
    return Solution(
        status="optimal" if search.solved else "feasible",
        cost=exact,
        lower_bound=bound,
        groups=recoding,
        classes=len(classes),
        stats={"examined": search.programs, "hidden_cells": _hidden_cells(recoding), "demands": search.demands},
        trace=tuple(trace),
    )


def _recoding(problem: Problem, member: IntArray, columns: IntArray, hidden: Hidden) -> tuple[LocalRecoding, Classes]:
    """Return which rows show what, as groups of rows that show the same.

    ``member`` is the distinct tuple of each tuple, ``columns`` are those that sets of cells are about.
    """
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
    stars = np.zeros((len(table.attributes), masks.size), dtype=np.bool_)
    stars[columns] = masks[None, :] >> np.arange(columns.size)[:, None] & 1
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
