"""A front over schemes whose recodings are too many to list: one exact search after the other, k rising.

The optimum for some k has a smallest class of k' ≥ k rows, or people, so that the next search asks for k' + 1. Lower
bounds carry over from search to search: with a larger k nothing can be cheaper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.problem import Problem
from discreet.solve._base import Budget, Solution
from discreet.solve._choose import choose_solver
from discreet.solve._people import PeopleCounter
from discreet.solve.front.set_up import equal_losses

__all__ = ["Solved", "front_by_solves"]

_FINE = 20
"""Up to this k no value is left out."""
_COARSE = 1.15
"""Beyond, k grows by this factor at least."""


@dataclass(frozen=True, eq=False)
class Solved:
    """One point: its smallest class, the problem that was solved, the recoding, and a lower bound for this k."""

    k: int
    problem: Problem
    solution: Solution
    lower_bound: float


def front_by_solves(
    problem_for: Callable[[int], Problem], n: int, budget: Budget, progress: Callable[[int, int], None] | None = None
) -> tuple[list[Solved], bool]:
    """Return the points found, by rising k, and whether no k was left out and every search was complete.

    ``progress`` is called with the number of points and the k reached.
    """
    found: list[Solved] = []
    complete, k, bound = True, 1, 0.0
    while k <= n:
        problem = problem_for(k)
        solution = choose_solver(problem).solve(problem, budget)
        if solution.status == "infeasible":
            break
        bound = max(bound, solution.lower_bound)
        complete &= solution.status == "optimal"
        reached = _smallest_class(problem, solution)
        if reached == 0:  # everything is suppressed
            break
        absolute, relative = equal_losses(problem)
        while found and found[-1].solution.cost >= solution.cost - absolute - relative * abs(solution.cost):
            found.pop()
        found.append(Solved(reached, problem, solution, min(bound, solution.cost)))
        if progress is not None:
            progress(len(found), reached)
        if budget.exhausted:
            return found, reached >= n and complete
        k = reached + 1
        if k > _FINE:
            farther = int(np.ceil(reached * _COARSE))
            complete &= farther <= k or k > n
            k = max(k, min(farther, n))
    return found, complete


def _smallest_class(problem: Problem, solution: Solution) -> int:
    grouping = problem.table.group(solution.blocks)
    kept = np.zeros(grouping.sizes.size, dtype=np.bool_)
    kept[grouping.ids[~solution.suppressed] if solution.suppressed.size else grouping.ids] = True
    sizes = grouping.sizes
    if problem.people is not None:
        alive = np.ones(problem.people.count, dtype=np.bool_)
        if solution.suppressed_people is not None:
            alive[solution.suppressed_people] = False
        sizes = PeopleCounter(problem.table, problem.people).sizes(grouping.ids, slice(0, kept.size), alive)
    return int(sizes[kept].min(initial=problem.table.n)) if kept.any() else 0
