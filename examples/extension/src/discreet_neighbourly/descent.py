"""A solver of one's own: go down from the most general values as long as that saves something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.problem import Problem
from discreet.solve import Budget, Progress, ProgressCallback, Recoder, Released, Solution, Solver

__all__ = ["DescentSolver"]


@dataclass(frozen=True)
class DescentSolver(Solver):
    """Steepest descent through the lattice from its top: quick, valid at any moment, and not always the best.

    A heuristic needs a bound too. Here it is what the most specific values would cost at least, which no recoding goes
    below; where the cost reaches it, the release is proven to be the best after all.

    >>> DescentSolver().text
    'descent'
    """

    name: ClassVar[str] = "descent"
    schemes: ClassVar[frozenset[str]] = frozenset({"full-domain"})
    suppressions: ClassVar[frozenset[str]] = frozenset({"none", "budget", "class-records"})

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best level vector on the way down."""
        recoder = Recoder(problem)
        bound = recoder.floor(Released.by_levels(problem.table, problem.lowest))
        node, examined = problem.highest, 1
        best = recoder.evaluate(Released.by_levels(problem.table, node))
        while not budget.exhausted:
            below = [
                (*node[:i], level - 1, *node[i + 1 :]) for i, level in enumerate(node) if level > problem.lowest[i]
            ]
            found = [(recoder.evaluate(Released.by_levels(problem.table, levels)), levels) for levels in below]
            examined += len(found)
            found = [(recoded, levels) for recoded, levels in found if recoded.cost < best.cost]
            if not found:
                break
            best, node = min(found, key=lambda pair: pair[0].cost)
            if progress is not None:
                progress(Progress(budget.seconds, best.cost, bound, examined))
        if not np.isfinite(best.cost):
            return self._give_up(problem)
        status = "optimal" if best.cost <= bound else "feasible"
        return best.solution(status, bound, {"examined": examined})

    def _give_up(self, problem: Problem) -> Solution:
        """Ask a solver that can tell whether there is no release at all."""
        from discreet.solve import solve

        return solve(problem, "lattice")
