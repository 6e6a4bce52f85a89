"""The front of k against loss over a lattice too large to list: one search after the other, k rising.

A node of value v or more suppresses all classes smaller than v, and perhaps more. So its loss is at least the optimum
of the problem of v-anonymity, and at least the lower bound of a search for that. A point is proven if the bound for its
k reaches its loss, and that for the next k exceeds it.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, prod

import numpy as np

from discreet.problem import Axis, Problem
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.solve._base import Budget
from discreet.solve.front.evaluate import FrontEvaluation, FrontEvaluator
from discreet.solve.front.found import FoundFront, FoundPoint, FrontCallback, FrontProgress
from discreet.solve.front.set_up import equal_losses
from discreet.solve.lattice.solver import LatticeSolver

__all__ = ["approximate_front"]

_FINE = 10
"""Up to this k every value is searched for ..."""
_COARSE = 1.5
"""... and beyond it k grows by this factor at least."""
_SECONDS = 60.0
"""How long all searches may take together if there is no time limit."""


def approximate_front(
    problem: Problem, axis: Axis, budget: Budget, progress: FrontCallback | None = None
) -> FoundFront:
    """Return points that are good, and which of them are proven; the time is shared among the values of k."""
    ends = budget.seconds + _SECONDS if budget.time_limit is None else budget.time_limit
    evaluator = FrontEvaluator(problem, [axis])
    seen: dict[tuple[int, ...], FrontEvaluation] = {}
    bounds: list[tuple[int, float]] = []
    steps = _steps(problem.table.n)
    absolute, relative = equal_losses(problem)
    while steps:
        k = steps.pop(0)
        left = max(ends - budget.seconds, 0.0)
        own = Budget(max(left / (len(steps) + 1), 0.01), budget.stop, seed=budget.seed, threads=budget.threads)
        solution = LatticeSolver().solve(replace(problem, privacy=(KAnonymity(k),)), own)
        if solution.levels is None:
            break
        bounds.append((k, solution.lower_bound))
        if solution.levels not in seen:
            seen[solution.levels] = evaluator.evaluate(np.array(solution.levels, dtype=np.int64))
        found = seen[solution.levels]
        # Where nothing more is suppressed for the value it has, the same node is the best for all k up to that.
        if found.loss <= solution.cost + absolute + relative * abs(solution.cost):
            steps = [other for other in steps if other > found.values[0]]
        if progress is not None:
            progress(FrontProgress(budget.seconds, len(seen), len(steps), len(_best_of(problem, seen))))
        if budget.stop.is_set():
            break
    points = [_point(problem, levels, seen[levels], bounds) for levels in _best_of(problem, seen)]
    kept = [found for found in seen.values() if np.isfinite(found.loss)]
    space = prod(high - low + 1 for low, high in zip(problem.lowest, problem.highest, strict=True))
    return FoundFront(
        points=tuple(points),
        space=space,
        examined=len(seen),
        complete=False,
        cloud=np.array([[found.values[0], found.loss] for found in kept]).reshape(-1, 2),
        stats={
            "open": space - len(seen),
            "suppressed": np.array([found.lost for found in kept], dtype=np.float64),
        },
    )


def _steps(n: int) -> list[int]:
    """Return the values of k to search for."""
    steps = list(range(1, min(_FINE, n) + 1))
    while ceil(steps[-1] * _COARSE) <= n:
        steps.append(ceil(steps[-1] * _COARSE))
    return steps


def _best_of(problem: Problem, seen: dict[tuple[int, ...], FrontEvaluation]) -> list[tuple[int, ...]]:
    """Return the nodes that no other one is better than, by falling value; of equals the first."""
    absolute, relative = equal_losses(problem)
    order = sorted(seen, key=lambda levels: (-seen[levels].values[0], seen[levels].loss, levels))
    best: list[tuple[int, ...]] = []
    for levels in order:
        loss = seen[levels].loss
        least = seen[best[-1]].loss if best else np.inf
        if np.isfinite(loss) and loss < least - (0.0 if np.isinf(least) else absolute + relative * abs(least)):
            best.append(levels)
    return best


def _point(
    problem: Problem, levels: tuple[int, ...], found: FrontEvaluation, bounds: list[tuple[int, float]]
) -> FoundPoint:
    """Return a point, and whether it is proven; bounds only hold if suppressing costs no less than publishing."""
    absolute, relative = equal_losses(problem)
    margin, value = absolute + relative * abs(found.loss), found.values[0]
    here = max((bound for k, bound in bounds if k <= value), default=-np.inf)
    above = max((bound for k, bound in bounds if value < k <= value + 1), default=-np.inf)
    reached = problem.cost.superadditive and here >= found.loss - margin
    return FoundPoint(
        values=found.values,
        loss=found.loss,
        levels=levels,
        suppressed=found.lost,
        classes=found.classes,
        also=0,
        proven=reached and (above > found.loss + margin or value >= problem.table.n),
    )
