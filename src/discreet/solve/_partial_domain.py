"""Partial-domain de-generalization: each class of a full-domain recoding is made more specific by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, FloatArray, IntArray, compact
from discreet.problem import Problem
from discreet.solve._base import Cover, Groups, Progress, Solution
from discreet.solve._gather import Gatherer
from discreet.solve._score import Node, Scored, as_score

__all__ = ["degeneralized"]


@dataclass(frozen=True, eq=False)
class _Segments:
    """Groups of tuples that show the same: the tuples group by group, where each group begins, and its levels."""

    tuples: IntArray
    first: IntArray
    levels: IntArray

    @property
    def owner(self) -> IntArray:
        """The group of each tuple."""
        return np.repeat(np.arange(self.first.size), np.diff(self.first, append=self.tuples.size))

    def some(self, groups: NDArray[np.bool_]) -> _Segments:
        """Return some of the groups."""
        length = np.diff(self.first, append=self.tuples.size)[groups]
        return _Segments(self.tuples[groups[self.owner]], np.cumsum(length) - length, self.levels[groups])


def degeneralized(problem: Problem, node: Node, stats: dict[str, Any], trace: list[Progress]) -> Solution:
    """Return the local recoding that a full-domain one becomes when each of its classes is taken down by itself.

    Again and again a class takes the one attribute a level down that gives its own rows the highest score, of those
    with which every part of it still keeps the promises, and its parts go on as classes of their own. As classes only
    ever show values below those they showed, no value is lost from sight and the score of the table never falls.
    """
    nodes, gatherer = Scored(problem), Gatherer(problem)
    segments, suppressed = _classes(problem, gatherer, node)
    finished = []
    while segments.first.size:
        chosen = _best_attributes(nodes, gatherer, segments)
        finished.append(segments.some(chosen < 0))
        segments = _split(problem, segments.some(chosen >= 0), chosen[chosen >= 0])
    return _solution(problem, finished, suppressed, stats, trace)


def _classes(problem: Problem, gatherer: Gatherer, node: Node) -> tuple[_Segments, IntArray]:
    """Return the classes of a node that are ok, and the tuples of the others."""
    grouping = problem.table.group([a.ancestors[n] for a, n in zip(problem.table.attributes, node, strict=True)])
    order = np.argsort(grouping.ids, kind="stable")
    first = np.searchsorted(grouping.ids[order], np.arange(grouping.sizes.size))
    whole = _Segments(order, first, np.tile(np.array(node), (first.size, 1)))
    ok = _ok(problem, gatherer, order, grouping.ids[order], first.size)
    return whole.some(ok), order[~ok[grouping.ids[order]]]


def _ok(problem: Problem, gatherer: Gatherer, tuples: IntArray, owner: IntArray, count: int) -> NDArray[np.bool_]:
    """Whether each of some classes is ok, given the tuples of all and which class each belongs to."""
    sizes = np.rint(np.bincount(owner, weights=problem.table.weights[tuples], minlength=count)).astype(np.int64)
    return problem.ok(gatherer.as_classes(sizes, gatherer.added_up(tuples, owner, count), None, None))


def _below(attribute: CodedAttribute, leaves: IntArray, levels: IntArray) -> IntArray:
    """Return the block of each leaf one level below another."""
    return np.asarray(attribute.ancestors[levels - 1, leaves], dtype=np.int64)


def _best_attributes(nodes: Scored, gatherer: Gatherer, segments: _Segments) -> IntArray:
    """Return for each group the attribute to take a level down, or -1 if there is none."""
    problem, owner = nodes.problem, segments.owner
    chosen = np.full(segments.first.size, -1)
    highest = np.full(segments.first.size, -np.inf)
    for i in reversed(nodes.by_priority):
        open_ = segments.levels[:, i] > problem.lowest[i]
        if not open_.any():
            continue
        inside = open_[owner]
        tuples, group = segments.tuples[inside], owner[inside]
        attribute = problem.table.attributes[i]
        block = _below(attribute, problem.table.codes[i, tuples], segments.levels[group, i])
        part, count = compact(group * attribute.leaves + block, segments.first.size * attribute.leaves)
        of_part = np.zeros(count, dtype=np.int64)
        of_part[part] = group
        score = _own_scores(nodes, i, np.bincount(of_part, minlength=open_.size))
        better = open_ & (score > highest)
        better &= _all_ok(problem, gatherer, tuples, part, of_part, better)
        chosen[better], highest[better] = i, score[better]
    return chosen


def _all_ok(
    problem: Problem,
    gatherer: Gatherer,
    tuples: IntArray,
    part: IntArray,
    of_part: IntArray,
    asked: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Whether all parts of each group that is asked about are ok; a group that stays whole is."""
    sizes = np.bincount(part, weights=problem.table.weights[tuples])
    fine = asked.copy()
    fine[of_part[sizes < problem.smallest_class]] = False
    open_ = fine & (np.bincount(of_part, minlength=asked.size) > 1)
    looked = open_[of_part]
    if looked.any():
        kept, place = looked[part], np.cumsum(looked) - 1
        ok = _ok(problem, gatherer, tuples[kept], place[part[kept]], int(looked.sum()))
        fine[of_part[looked][~ok]] = False
    return fine


def _own_scores(nodes: Scored, i: int, parts: IntArray) -> FloatArray:
    """Return the score of each group's own rows, if one attribute shows so many values in it and all others one."""
    counts, place = np.unique(parts, return_inverse=True)
    shown = np.ones((counts.size, len(nodes.shown)))
    shown[:, i] = counts
    return np.array([nodes.cost.of(nodes.table, row) for row in shown])[place.reshape(-1)]


def _split(problem: Problem, segments: _Segments, chosen: IntArray) -> _Segments:
    """Take one attribute of each group a level down; its parts are groups of their own."""
    owner, table = segments.owner, problem.table
    block = np.zeros(segments.tuples.size, dtype=np.int64)
    for i, attribute in enumerate(table.attributes):
        here = np.flatnonzero(chosen[owner] == i)
        block[here] = _below(attribute, table.codes[i, segments.tuples[here]], segments.levels[owner[here], i])
    width = int(block.max(initial=0)) + 1
    part, count = compact(owner * width + block, max(segments.first.size, 1) * width) if block.size else (block, 0)
    order = np.argsort(part, kind="stable")
    first = np.searchsorted(part[order], np.arange(count))
    group = owner[order[first]]
    levels = segments.levels[group].copy()
    levels[np.arange(count), chosen[group]] -= 1
    return _Segments(segments.tuples[order], first, levels)


def _solution(
    problem: Problem, finished: list[_Segments], suppressed: IntArray, stats: dict[str, Any], trace: list[Progress]
) -> Solution:
    """Put the groups together, and say what they cost."""
    table, cost = problem.table, as_score(problem)
    counts = np.cumsum([0, *(segments.first.size for segments in finished)])
    tuples = np.concatenate([*(segments.tuples for segments in finished), suppressed])
    owner = [segments.owner + begin for segments, begin in zip(finished, counts, strict=False)]
    group = np.concatenate([*owner, np.full(suppressed.size, -1)]).astype(np.int64)
    levels = np.concatenate([segments.levels for segments in finished])
    example = tuples[np.searchsorted(np.concatenate(owner), np.arange(counts[-1]))] if counts[-1] else tuples[:0]
    covers, shown = [], []
    for i, attribute in enumerate(table.attributes):
        level, leaf = levels[:, i].astype(np.int64), table.codes[i, example]
        covers.append(Cover("node", level, attribute.ancestors[level, leaf].astype(np.int64)))
        shown.append(_distinct(attribute, level, leaf))
    total = cost.lost(table, shown)
    gone = int(table.weights[suppressed].sum())
    score = {"score": cost.of(table, shown), "score_at_most": None}
    last = replace(trace[-1], best=total)
    return Solution(
        status="optimal" if total == 0 else "feasible",
        cost=total,
        lower_bound=0.0,
        groups=Groups(tuples, group, table.weights[tuples], covers),
        suppressed_rows=gone,
        classes=int(counts[-1]),
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
