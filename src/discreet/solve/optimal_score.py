"""The best score of all: the lattice searched to the end, so that the user-oriented mechanism has its yardstick."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from discreet.problem import Cost, Problem
from discreet.problem._checks import number
from discreet.solve._base import SOLVERS, Budget, ProgressCallback, Solution, Solver
from discreet.solve._gather import Released
from discreet.solve._recoded import Recoder
from discreet.solve._score import Node, Scored
from discreet.solve.lattice import LatticeSolver
from discreet.solve.user_oriented import best_of_all, search

__all__ = ["OptimalScoreSolver"]


@SOLVERS.register
@dataclass(frozen=True)
class OptimalScoreSolver(Solver):
    """Finds the level vector of the highest score and proves it.

    Of those that are equally good it takes one that can be made no more specific: levels go down in the order of the
    priorities as long as the promises hold and the score does not fall. Without a time limit it gives up the proof
    after ``patience`` seconds; stopped before the end, it returns the better of what it found and of what the solver
    ``user-oriented`` finds, with the proven distance from the best.

    >>> OptimalScoreSolver(patience=10).text
    'optimal-score(patience=10)'
    """

    name: ClassVar[str] = "optimal-score"
    schemes: ClassVar[frozenset[str]] = frozenset({"full-domain"})
    suppressions: ClassVar[frozenset[str]] = LatticeSolver.suppressions
    exact: ClassVar[bool] = True
    special: ClassVar[bool] = True
    sees_table: ClassVar[bool] = True

    patience: float = 60.0

    def __post_init__(self) -> None:
        number(self.patience, "The patience of optimal-score", above=0)

    def takes(self, cost: Cost) -> bool:
        """Return whether the cost is a score."""
        return cost.counts_values

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best level vector found and what is proven about it."""
        if budget.time_limit is None:
            budget = replace(budget, time_limit=budget.seconds + self.patience)
        nodes = Scored(problem)
        if not nodes.check(problem.highest):
            return LatticeSolver().solve(problem, budget, progress)
        solution, alone = best_of_all(nodes, budget, progress)
        best: Node = solution.levels or alone
        if solution.status != "optimal":
            found = search(nodes, 0, True, Budget(self.patience, budget.stop))
            others = [alone] if found is None else [alone, found.node]
            best = max(best, *others, key=nodes.score)
        return _with_levels(problem, solution, _most_specific(nodes, best))


def _most_specific(nodes: Scored, node: Node) -> Node:
    """Lower levels, those of the highest priority first, while the promises hold and the score does not fall."""
    if nodes.problem.limit:
        return node
    for i in reversed(nodes.by_priority):
        finer = nodes.finer(node, i)
        while finer is not None and nodes.check(finer):
            node, finer = finer, nodes.finer(finer, i)
    return node


def _with_levels(problem: Problem, solution: Solution, levels: Node) -> Solution:
    """Return the solution with other levels, which are at least as good."""
    if levels == solution.levels:
        return solution
    other = Recoder(problem).evaluate(Released.by_levels(problem.table, levels))
    if other.cost > solution.cost:
        return solution
    status = "optimal" if other.cost <= solution.lower_bound else solution.status
    return other.solution(status, solution.lower_bound, solution.stats, solution.trace)
