"""Optimal generalization by any scheme: a search over the partitions of all attributes, from below and from above."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, ClassVar

import numpy as np

from discreet.counts import CodedAttribute, CountTable
from discreet.kernels._numba import forget_compiled
from discreet.problem import Problem
from discreet.problem._checks import one_of
from discreet.solve._base import SOLVERS, Budget, ProgressCallback, Solution, Solver, nothing_found
from discreet.solve._gather import Released
from discreet.solve._partition_search import PartitionSearch
from discreet.solve._recoded import Recoder, smallest_budget
from discreet.solve.lattice import DAMAGED

__all__ = ["PartitionsSolver", "prepare"]

_ROUNDING = 1e-11


@SOLVERS.register
@dataclass(frozen=True)
class PartitionsSolver(Solver):
    """Finds the partitions of all attributes that cost least together and proves it, for any mix of global schemes.

    >>> PartitionsSolver(direction="bottom-up").text
    'partitions(direction=bottom-up)'
    """

    name: ClassVar[str] = "partitions"
    schemes: ClassVar[frozenset[str]] = frozenset(
        {"full-domain", "subtree", "ordered", "guided-ordered", "set", "guided-set"}
    )
    suppressions: ClassVar[frozenset[str]] = frozenset({"none", "budget", "class-records"})
    exact: ClassVar[bool] = True

    direction: str = "auto"

    def __post_init__(self) -> None:
        one_of(self.direction, "The direction of partitions", ("auto", "bottom-up", "top-down"))

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best partitions found and what is proven about them."""
        with budget.paused():
            prepare()
        search = PartitionSearch(problem, budget, progress)
        complete = search.go()
        stats = {**_space(problem), **search.stats()}
        if search.best_blocks is None:
            if not complete:
                raise nothing_found(budget)
            return _infeasible(problem, stats)
        recoded = Recoder(problem).evaluate(_released(problem, search.best_blocks))
        if complete:
            return recoded.solution("optimal", recoded.cost, stats, search.trace)
        return recoded.solution("feasible", search.least - _ROUNDING * abs(search.least), stats, search.trace)


def _space(problem: Problem) -> dict[str, Any]:
    """How many combinations of partitions there are."""
    each = list(zip(problem.schemes, problem.table.attributes, strict=True))
    return {
        "space": prod(scheme.count(attribute) for scheme, attribute in each),
        "formal_space": prod(scheme.formal_count(attribute) for scheme, attribute in each),
    }


def _released(problem: Problem, blocks: tuple[Any, ...]) -> Released:
    """Return the recoding, by levels where all attributes are full-domain."""
    if all(scheme.name == "full-domain" for scheme in problem.schemes):
        levels = [
            next(level for level in range(low, high + 1) if (attribute.ancestors[level] == own).all())
            for attribute, own, low, high in zip(
                problem.table.attributes, blocks, problem.lowest, problem.highest, strict=True
            )
        ]
        return Released.by_levels(problem.table, levels)
    return Released.by_blocks(problem.table, blocks)


def _infeasible(problem: Problem, stats: dict[str, Any]) -> Solution:
    """Say that nothing is valid, and how many rows would have to go."""
    search = PartitionSearch(problem, Budget(), None)
    general = [choice.leaf_blocks(choice.most_general()) for choice in search.root]
    fewest = smallest_budget(problem, Released.by_blocks(problem.table, general))
    return Solution("infeasible", np.inf, np.inf, smallest_budget=fewest, stats=stats)


@cache
def prepare() -> None:
    """Load the kernels, or compile them the first time ever, on a table of two rows."""
    try:
        _solve_two_rows()
    except DAMAGED:
        forget_compiled()
        _solve_two_rows()


def _solve_two_rows() -> None:
    leaf = CodedAttribute("a", np.array([[0, 1], [0, 0]], dtype=np.int32), np.array([1, 1]))
    two = CountTable((leaf,), np.array([[0, 1]], dtype=np.int32), np.array([1, 1]))
    for scheme in ("ordered", "set"):
        PartitionSearch(Problem.build(two, privacy="k(2)", scheme=scheme), Budget(), None).go()
