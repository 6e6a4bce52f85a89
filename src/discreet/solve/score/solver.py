"""The highest score of all nodes, proven: the yardstick of the user-oriented mechanism."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from discreet.problem import Cost, Problem
from discreet.runtime.arguments import number
from discreet.solve._base import SOLVERS, Budget, ProgressCallback, Solution, Solver
from discreet.solve._class_arrays import Released
from discreet.solve._recoding import Recoder
from discreet.solve.lattice.solver import LatticeSolver
from discreet.solve.published.user_oriented import best_of_all, search
from discreet.solve.score.score_table import Node, ScoredLattice

__all__ = ["OptimalScoreSolver"]


@SOLVERS.register
@dataclass(frozen=True)
class OptimalScoreSolver(Solver):
    """Finds the level vector of the highest score and proves it.

    Of nodes with the same score it returns one that cannot be made more specific: levels are lowered in the order of
    the priorities as long as the privacy models hold and the score does not fall. Without a time limit it gives up the
    proof after ``patience`` seconds. Stopped early, it returns its incumbent or what the solver ``user-oriented``
    finds, whichever is better, with a proven gap.

    >>> OptimalScoreSolver(patience=10).text
    'optimal-score(patience=10)'
    """

    name: ClassVar[str] = "optimal-score"
    examples: ClassVar[tuple[str, ...]] = ("optimal-score", "optimal-score(patience=10)")
    title: ClassVar[str] = "Optimal score"
    summary: ClassVar[str] = "The highest score with a proof, for the cost score."
    reason: ClassVar[str] = "It is made for this cost, and proves that no table has a higher score."
    in_studio: ClassVar[bool] = False
    schemes: ClassVar[frozenset[str]] = frozenset({"full-domain"})
    suppressions: ClassVar[frozenset[str]] = frozenset({"none", "budget", "class-records", "pre-sampling"})
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
        nodes = ScoredLattice(problem)
        if not nodes.check(problem.highest):
            return LatticeSolver().solve(problem, budget, progress)
        solution, alone = best_of_all(nodes, budget, progress)
        best: Node = solution.levels or alone
        if solution.status != "optimal":
            found = search(nodes, 0, True, Budget(self.patience, budget.stop))
            others = [alone] if found is None else [alone, found.node]
            best = max(best, *others, key=nodes.score)
        return _with_levels(problem, solution, _most_specific(nodes, best))


def _most_specific(nodes: ScoredLattice, node: Node) -> Node:
    """Lower levels, highest priority first, while the privacy models hold; a lower level never has a lower score."""
    if nodes.problem.limit:
        return node
    for i in reversed(nodes.by_priority):
        finer = nodes.finer(node, i)
        while finer is not None and nodes.check(finer):
            node, finer = finer, nodes.finer(finer, i)
    return node


def _with_levels(problem: Problem, solution: Solution, levels: Node) -> Solution:
    """Return the solution with other levels, if they are no worse."""
    if levels == solution.levels:
        return solution
    other = Recoder(problem).evaluate(Released.by_levels(problem.table, levels))
    if other.cost > solution.cost:
        return solution
    status = "optimal" if other.cost <= solution.lower_bound else solution.status
    return other.solution(status, solution.lower_bound, solution.stats, solution.trace)
