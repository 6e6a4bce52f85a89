"""Partial-domain de-generalization: each class of a full-domain recoding is specialized by itself."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from discreet.counts import CodedAttribute, IntArray
from discreet.problem import Problem
from discreet.solve._base import Budget, GroupCovers, LocalRecoding, Progress, Solution
from discreet.solve._kernel_loading import two_rows, warm_up
from discreet.solve._requirements import TupleValues, make_counted_requirement
from discreet.solve.kernels.records import records
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.published._segments import Segments, classes_of, step_down
from discreet.solve.published.kernels.partial_domain import Descent, DescentCount, DescentTable, Span, descend_groups
from discreet.solve.score.score_table import Node, ScoredLattice, as_score

__all__ = ["compile_ahead", "degeneralized"]

_AT_ONCE = 1 << 22
"""Values read between two checks of the clock."""


def degeneralized(
    nodes: ScoredLattice, node: Node, stats: dict[str, Any], trace: list[Progress], budget: Budget
) -> Solution:
    """Return the local recoding that results if each class of a full-domain recoding is specialized by itself.

    A class is released at the lowest nodes that cover its rows. Repeatedly, the attribute is specialized that gives its
    rows the highest score, among those with which every part of the class is valid; the parts go on as classes of their
    own. Released values only ever become more specific, so the score is never below that of the full-domain recoding.
    """
    with budget.paused():
        compile_ahead()
    segments, suppressed = classes_of(nodes, node)
    requirement, cells = make_counted_requirement(nodes.problem)
    if requirement.complete:
        segments = _compiled(nodes, segments, requirement, cells, budget)
    else:
        segments = step_down(nodes, segments, budget)
    return _solution(nodes.problem, segments, suppressed, stats, trace)


@cache
def compile_ahead() -> None:
    """Load the kernels, or compile them the first time ever."""
    warm_up("specialization of classes", _specialize_two_rows)


def _specialize_two_rows() -> None:
    problem = Problem.build(two_rows(), privacy="k(1)", cost="score", scheme="local")
    nodes = ScoredLattice(problem)
    segments = classes_of(nodes, (1,))[0]
    _compiled(nodes, segments, *make_counted_requirement(problem), Budget())


def _compiled(
    nodes: ScoredLattice, segments: Segments, requirement: Requirement, cells: TupleValues, budget: Budget
) -> Segments:
    """Specialize all groups; those waiting when time runs out stay as they are."""
    table, descent = _descent_table(nodes, cells), _descent(nodes, segments)
    count = descent.count[0]
    while count.waiting and not budget.exhausted:
        descend_groups(table, requirement, descent, _AT_ONCE)
    waiting, done = int(count.waiting), int(count.done)
    first = np.concatenate([descent.done_span["begin"][:done], descent.span["begin"][:waiting]])
    levels = np.concatenate([descent.done_levels[:done], descent.levels[:waiting]])
    order = np.argsort(first)
    return Segments(descent.tuples, first[order], levels[order].astype(np.int64))


def _descent_table(nodes: ScoredLattice, cells: TupleValues) -> DescentTable:
    table, lattice = nodes.table, nodes.evaluator.pool.lattice
    scores = [nodes.own_scores(i, np.arange(_widest(attribute) + 1)) for i, attribute in enumerate(table.attributes)]
    return DescentTable(
        codes=np.ascontiguousarray(lattice.codes.T),
        weights=np.ascontiguousarray(table.weights, dtype=np.int64),
        ancestors=lattice.ancestors,
        start=np.ascontiguousarray(lattice.level["start"]),
        lowest=np.ascontiguousarray(lattice.limits["lowest"]),
        order=np.array(nodes.by_priority[::-1], dtype=np.int64),
        score=np.concatenate(scores),
        score_start=np.cumsum([0, *(each.size for each in scores)], dtype=np.int64),
        offset=cells.offset,
        cell=cells.cell,
        rows=cells.rows,
    )


def _widest(attribute: CodedAttribute) -> int:
    """Return the largest number of children of a node."""
    most = 1
    for below, above in zip(attribute.ancestors[:-1], attribute.ancestors[1:], strict=True):
        first = np.unique(below, return_index=True)[1]
        most = max(most, int(np.bincount(above[first]).max()))
    return most


def _descent(nodes: ScoredLattice, segments: Segments) -> Descent:
    tuples, m = segments.tuples.size, len(nodes.table.attributes)
    groups = segments.first.size

    def room(*shape: int, kind: Any = np.int64) -> Any:
        return np.empty(shape, dtype=kind)

    descent = Descent(
        tuples=segments.tuples.astype(np.int64),
        span=records(Span, tuples),
        levels=room(tuples, m, kind=np.int16),
        done_span=records(Span, tuples),
        done_levels=room(tuples, m, kind=np.int16),
        count=records(DescentCount, 1),
        part=room(tuples),
        moved=room(tuples),
        size=room(tuples),
        block=room(tuples),
        known=np.full(max((a.leaves for a in nodes.table.attributes), default=0), -1),
    )
    descent.span["begin"][:groups], descent.span["end"][:groups] = segments.first, segments.ends
    descent.count[0].waiting = groups
    descent.levels[:groups] = segments.levels
    return descent


def _solution(
    problem: Problem, segments: Segments, suppressed: IntArray, stats: dict[str, Any], trace: list[Progress]
) -> Solution:
    """Return the groups with their released values, and their cost."""
    table, cost = problem.table, as_score(problem)
    tuples = np.concatenate([segments.tuples, suppressed])
    group = np.concatenate([segments.owner, np.full(suppressed.size, -1)]).astype(np.int64)
    example = segments.tuples[segments.first]
    covers, shown = [], []
    for i, attribute in enumerate(table.attributes):
        level, leaf = segments.levels[:, i], table.codes[i, example]
        covers.append(GroupCovers("node", level, attribute.ancestors[level, leaf].astype(np.int64)))
        shown.append(_distinct(attribute, level, leaf))
    total = cost.lost(table, shown)
    score = {"score": cost.of(table, shown), "score_at_most": None}
    last = replace(trace[-1], best=total)
    return Solution(
        status="optimal" if total == 0 else "feasible",
        cost=total,
        lower_bound=0.0,
        groups=LocalRecoding(tuples, group, table.weights[tuples], covers),
        suppressed_rows=int(table.weights[suppressed].sum()),
        classes=int(segments.first.size),
        stats={**stats, **score},
        trace=(*trace, last),
    )


def _distinct(attribute: CodedAttribute, level: IntArray, leaf: IntArray) -> int:
    """Return how many different nodes are released; a node repeated on a higher level is counted once."""
    level = level.copy()
    if attribute.repeats is not None:
        for high in range(attribute.height, 0, -1):
            here = level == high
            level[here] -= attribute.repeats[high][attribute.ancestors[high, leaf[here]]]
    return int(np.unique(level * attribute.leaves + attribute.ancestors[level, leaf]).size)
