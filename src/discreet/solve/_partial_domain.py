"""Partial-domain de-generalization: each class of a full-domain recoding is made more specific by itself."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from discreet.counts import CodedAttribute, IntArray
from discreet.kernels.partial_domain import Descent, Ground, go_down
from discreet.kernels.requirements import Requirement
from discreet.problem import Problem
from discreet.solve._base import Budget, Cover, Groups, Progress, Solution
from discreet.solve._requirements import Cells, make_counted_requirement
from discreet.solve._score import Node, Scored, as_score
from discreet.solve._segments import Segments, classes_of, step_down
from discreet.solve._warm_up import two_rows, warm_up

__all__ = ["degeneralized", "prepare"]

_AT_ONCE = 1 << 22
"""Values looked at between two looks at the clock."""


def degeneralized(nodes: Scored, node: Node, stats: dict[str, Any], trace: list[Progress], budget: Budget) -> Solution:
    """Return the local recoding that a full-domain one becomes when each of its classes is taken down by itself.

    A class shows the lowest nodes that cover its rows. Again and again it takes the one attribute a level down that
    gives its own rows the highest score, of those with which every part of it still keeps the promises, and its parts
    go on as classes of their own. As classes only ever show values below those they showed, no value is lost from
    sight, and the score of the table is never below that of the full-domain recoding.
    """
    with budget.paused():
        prepare()
    segments, suppressed = classes_of(nodes, node)
    requirement, cells = make_counted_requirement(nodes.problem)
    if requirement.complete:
        segments = _compiled(nodes, segments, requirement, cells, budget)
    else:
        segments = step_down(nodes, segments, budget)
    return _solution(nodes.problem, segments, suppressed, stats, trace)


@cache
def prepare() -> None:
    """Load the kernels, or compile them the first time ever."""
    problem = Problem.build(two_rows(), privacy="k(1)", cost="score", scheme="local")
    nodes = Scored(problem)
    together = classes_of(nodes, (1,))[0]
    warm_up(lambda: _compiled(nodes, together, *make_counted_requirement(problem), Budget()))


def _compiled(nodes: Scored, segments: Segments, requirement: Requirement, cells: Cells, budget: Budget) -> Segments:
    """Take all groups down; those that wait when the time is over stay as they are."""
    ground, descent = _ground(nodes, cells), _descent(nodes, segments)
    while descent.number[0] and not budget.exhausted:
        go_down(ground, requirement, descent, _AT_ONCE)
    waiting, done = descent.number
    first = np.concatenate([descent.done_first[:done, 0], descent.first[:waiting, 0]])
    levels = np.concatenate([descent.done_levels[:done], descent.levels[:waiting]])
    order = np.argsort(first)
    return Segments(descent.tuples, first[order], levels[order].astype(np.int64))


def _ground(nodes: Scored, cells: Cells) -> Ground:
    table, lattice = nodes.table, nodes.evaluator.lattice
    scores = [nodes.own_scores(i, np.arange(_widest(attribute) + 1)) for i, attribute in enumerate(table.attributes)]
    return Ground(
        codes=np.ascontiguousarray(lattice.codes.T),
        weights=np.ascontiguousarray(table.weights, dtype=np.int64),
        ancestors=lattice.ancestors,
        start=lattice.start,
        lowest=lattice.lowest,
        order=np.array(nodes.by_priority[::-1], dtype=np.int64),
        score=np.concatenate(scores),
        score_start=np.cumsum([0, *(each.size for each in scores)], dtype=np.int64),
        offset=cells.offset,
        cell=cells.cell,
        rows=cells.rows,
    )


def _widest(attribute: CodedAttribute) -> int:
    """Return the most parts a node has on the level below it."""
    most = 1
    for below, above in zip(attribute.ancestors[:-1], attribute.ancestors[1:], strict=True):
        first = np.unique(below, return_index=True)[1]
        most = max(most, int(np.bincount(above[first]).max()))
    return most


def _descent(nodes: Scored, segments: Segments) -> Descent:
    tuples, m = segments.tuples.size, len(nodes.table.attributes)
    groups = segments.first.size

    def room(*shape: int, kind: Any = np.int64) -> Any:
        return np.empty(shape, dtype=kind)

    descent = Descent(
        tuples=segments.tuples.astype(np.int64),
        first=room(tuples, 2),
        levels=room(tuples, m, kind=np.int16),
        done_first=room(tuples, 2),
        done_levels=room(tuples, m, kind=np.int16),
        number=np.array([groups, 0]),
        part=room(tuples),
        moved=room(tuples),
        size=room(tuples),
        block=room(tuples),
        known=np.full(max((a.leaves for a in nodes.table.attributes), default=0), -1),
    )
    descent.first[:groups, 0] = segments.first
    descent.first[:groups, 1] = segments.ends
    descent.levels[:groups] = segments.levels
    return descent


def _solution(
    problem: Problem, segments: Segments, suppressed: IntArray, stats: dict[str, Any], trace: list[Progress]
) -> Solution:
    """Say what each group shows, and what all of them cost."""
    table, cost = problem.table, as_score(problem)
    tuples = np.concatenate([segments.tuples, suppressed])
    group = np.concatenate([segments.owner, np.full(suppressed.size, -1)]).astype(np.int64)
    example = segments.tuples[segments.first]
    covers, shown = [], []
    for i, attribute in enumerate(table.attributes):
        level, leaf = segments.levels[:, i], table.codes[i, example]
        covers.append(Cover("node", level, attribute.ancestors[level, leaf].astype(np.int64)))
        shown.append(_distinct(attribute, level, leaf))
    total = cost.lost(table, shown)
    score = {"score": cost.of(table, shown), "score_at_most": None}
    last = replace(trace[-1], best=total)
    return Solution(
        status="optimal" if total == 0 else "feasible",
        cost=total,
        lower_bound=0.0,
        groups=Groups(tuples, group, table.weights[tuples], covers),
        suppressed_rows=int(table.weights[suppressed].sum()),
        classes=int(segments.first.size),
        stats={**stats, **score},
        trace=(*trace, last),
    )


def _distinct(attribute: CodedAttribute, level: IntArray, leaf: IntArray) -> int:
    """Return how many different nodes are shown; one carried up from below is the one below."""
    level = level.copy()
    if attribute.repeats is not None:
        for high in range(attribute.height, 0, -1):
            here = level == high
            level[here] -= attribute.repeats[high][attribute.ancestors[high, leaf[here]]]
    return int(np.unique(level * attribute.leaves + attribute.ancestors[level, leaf]).size)
