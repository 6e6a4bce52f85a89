"""The exact front of privacy against loss over the lattice of level vectors, with as few evaluations as possible."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod

import numpy as np

from discreet.counts import IntArray
from discreet.problem import Axis, Problem
from discreet.problem.axes.k import K
from discreet.solve._base import Budget
from discreet.solve._kernel_loading import two_rows, warm_up
from discreet.solve._people import load_people_kernels
from discreet.solve.front.evaluate import CompiledFrontEvaluator, FrontEvaluator, has_compiled_front
from discreet.solve.front.found import FoundFront, FoundPoint, FrontCallback, FrontProgress
from discreet.solve.front.kernels.prediction import FrontPredictor, choose_node, learn
from discreet.solve.front.kernels.run import DONE, FULL, MORE, run_front
from discreet.solve.front.kernels.state import OPEN, FrontSearch, add_node, slack
from discreet.solve.front.set_up import (
    grid_of_classes,
    grid_of_sizes,
    grow,
    is_large,
    known_totals,
    make_predictor,
    make_search,
    space_of,
)

__all__ = ["FoundFront", "FoundPoint", "FrontCallback", "FrontProgress", "compile_ahead", "exact_front"]

_AT_ONCE = 64
"""Nodes evaluated between two checks of the clock."""


def exact_front(
    problem: Problem, axes: Sequence[Axis], budget: Budget, progress: FrontCallback | None = None
) -> FoundFront:
    """Find all points no other node is better than, for one axis; stopped early, say which of them are proven.

    Over a lattice too large to list the front of k is an approximate one.
    """
    if is_large(problem) and type(axes[0]) is K:
        from discreet.solve.front.large import approximate_front

        return approximate_front(problem, axes[0], budget, progress)
    with budget.paused():
        _load_kernels(compiled=has_compiled_front(problem, axes))
        if problem.people is not None:
            load_people_kernels()
    return _exact_front(problem, axes[0], budget, progress)


def _exact_front(problem: Problem, axis: Axis, budget: Budget, progress: FrontCallback | None = None) -> FoundFront:
    lowest, span = space_of(problem)
    plain = FrontEvaluator(problem, [axis])
    grid = grid_of_sizes(problem.table.n) if type(axis) is K else grid_of_classes(plain, lowest, span)
    totals = known_totals(problem)
    search = make_search(problem, axis, span, totals)
    predictor = make_predictor(problem, axis, span, grid, totals_known=totals is not None)
    compiled = CompiledFrontEvaluator(problem, grid) if has_compiled_front(problem, [axis]) else None
    plain.grid = grid
    outcome = MORE
    while outcome != DONE:
        try:
            if compiled is not None:
                outcome = run_front(compiled.pool, compiled.prices, compiled.tally, search, predictor, _AT_ONCE)
            else:
                outcome, search = _plain_steps(search, predictor, plain, lowest)
            if outcome == FULL:
                search = grow(search, problem.limit)
            if progress is not None:
                counters = search.counters
                left, points = int(counters.open), int(counters.points)
                progress(FrontProgress(budget.seconds, int(counters.evaluated), left, points))
        except KeyboardInterrupt:
            budget.stop.set()
        if outcome != DONE and budget.exhausted and search.counters.evaluated:
            break
    return _proven_points(search, plain, lowest, complete=outcome == DONE)


@cache
def _load_kernels(compiled: bool) -> None:
    """Load the kernels, or compile them the first time ever, on a table of two rows."""

    def solve_two_rows() -> None:
        problem = Problem.build(two_rows(), privacy="k(1)", cost="LM" if compiled else "NCP")
        _exact_front(problem, K(), Budget())

    warm_up("front search" if compiled else "front search through arrays", solve_two_rows)


def compile_ahead() -> None:
    """Compile every kernel now rather than at the first search; later calls, and later processes, find them ready."""
    _load_kernels(compiled=True)
    _load_kernels(compiled=False)


def _plain_steps(
    search: FrontSearch, predictor: FrontPredictor, evaluator: FrontEvaluator, lowest: IntArray
) -> tuple[int, FrontSearch]:
    """Evaluate some nodes through arrays."""
    for _ in range(_AT_ONCE // 8):
        number = int(choose_node(search, predictor))
        if number < 0:
            return DONE, search
        found = evaluator.evaluate(_levels(search, number) + lowest)
        search = grow(search, len(found.profile))
        add_node(search, number, found.outcome, found.profile)
        learn(search, predictor, found.worse)
    return MORE, search


def _levels(search: FrontSearch, number: int) -> IntArray:
    """Return the levels of a node, counted from the lowest allowed ones."""
    return np.array(np.unravel_index(number, tuple(search.attribute["levels"].tolist())), dtype=np.int64)


def _proven_points(search: FrontSearch, evaluator: FrontEvaluator, lowest: IntArray, *, complete: bool) -> FoundFront:
    """Evaluate the points afresh, through the plain arrays, and state what is proven about them."""
    counters = search.counters
    evaluated = search.evaluated[: counters.evaluated]
    left = np.flatnonzero(search.status == OPEN)
    most, low = search.bound["most"][left], search.bound["low"][left]
    points = []
    for f in reversed(range(counters.points)):
        point = search.point[f]
        node = _levels(search, search.evaluated[point.index].number) + lowest
        found = evaluator.evaluate(node)
        margin = slack(search.facts, point.loss)
        alike = (evaluated["value"] == point.value) & (np.abs(evaluated["loss"] - point.loss) <= margin)
        rivals = (most >= point.value) & (low <= point.loss + margin)
        rivals &= (most > point.value) | (low < point.loss - margin)
        points.append(
            FoundPoint(
                values=found.values,
                loss=found.loss,
                levels=tuple(node.tolist()),
                suppressed=found.lost,
                classes=found.classes,
                also=int(alike.sum()) - 1,
                proven=not rivals.any(),
            )
        )
    return FoundFront(
        points=tuple(points),
        space=prod(search.attribute["levels"].tolist()),
        examined=int(counters.evaluated),
        complete=complete,
        cloud=np.stack([evaluated["value"], evaluated["loss"]], axis=1),
        stats={"open": int(counters.open), "suppressed": evaluated["lost"].copy()},
    )
