"""Partial-domain de-generalization in numpy, with any privacy model: one step of every group per round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, IntArray
from discreet.problem import Problem
from discreet.runtime.integer_codes import add_up, compact
from discreet.solve._base import Budget
from discreet.solve._class_arrays import Gatherer
from discreet.solve.score.score_table import Node, ScoredLattice

__all__ = ["Segments", "classes_of", "step_down"]


@dataclass(frozen=True, eq=False)
class Segments:
    """Groups of tuples with equal released values: the tuples by group, where each group begins, and its levels."""

    tuples: IntArray
    first: IntArray
    levels: IntArray

    @property
    def ends(self) -> IntArray:
        """Where each group ends."""
        return np.append(self.first[1:], self.tuples.size)

    @property
    def owner(self) -> IntArray:
        """The group of each tuple."""
        return np.repeat(np.arange(self.first.size), self.ends - self.first)

    def some(self, groups: NDArray[np.bool_]) -> Segments:
        """Return some of the groups."""
        length = (self.ends - self.first)[groups]
        return Segments(self.tuples[groups[self.owner]], np.cumsum(length) - length, self.levels[groups])

    @classmethod
    def joined(cls, parts: list[Segments]) -> Segments:
        """Put groups one after the other."""
        begin = np.cumsum([0, *(part.tuples.size for part in parts)])
        return cls(
            np.concatenate([part.tuples for part in parts]),
            np.concatenate([part.first + start for part, start in zip(parts, begin, strict=False)]),
            np.concatenate([part.levels for part in parts]),
        )


def classes_of(nodes: ScoredLattice, node: Node) -> tuple[Segments, IntArray]:
    """Return the valid classes of a node, and the tuples of the others."""
    problem = nodes.problem
    grouping = problem.table.group([a.ancestors[n] for a, n in zip(problem.table.attributes, node, strict=True)])
    order = np.argsort(grouping.ids, kind="stable")
    first = np.searchsorted(grouping.ids[order], np.arange(grouping.sizes.size))
    whole = Segments(order, first, np.tile(np.array(node), (first.size, 1)))
    ok = _ok(problem, nodes.evaluator.gatherer, order, grouping.ids[order], first.size)
    return whole.some(ok), order[~ok[grouping.ids[order]]]


def step_down(nodes: ScoredLattice, segments: Segments, budget: Budget) -> Segments:
    """Specialize all groups, one step of each per round; groups still open when time runs out stay as they are."""
    gatherer = nodes.evaluator.gatherer
    finished = []
    segments = _settled(nodes.problem, segments)
    while segments.first.size and not budget.exhausted:
        chosen = _best_attributes(nodes, gatherer, segments)
        finished.append(segments.some(chosen < 0))
        segments = _settled(nodes.problem, _split(nodes.problem, segments.some(chosen >= 0), chosen[chosen >= 0]))
    return Segments.joined([*finished, segments])


def _ok(problem: Problem, gatherer: Gatherer, tuples: IntArray, owner: IntArray, count: int) -> NDArray[np.bool_]:
    """Whether each class is valid, given all tuples and the class of each."""
    sizes = add_up(owner, problem.table.weights[tuples], count)
    return problem.ok(gatherer.as_classes(sizes, gatherer.added_up(tuples, owner, count), None, None))


def _below(attribute: CodedAttribute, leaves: IntArray, levels: IntArray) -> IntArray:
    """Return the block of each leaf one level lower."""
    return np.asarray(attribute.ancestors[levels - 1, leaves], dtype=np.int64)


def _settled(problem: Problem, segments: Segments) -> Segments:
    """Lower the levels of each group as far as all its tuples agree."""
    levels, owner = segments.levels.copy(), segments.owner
    for i, attribute in enumerate(problem.table.attributes):
        leaves, level = problem.table.codes[i, segments.tuples], levels[:, i]
        open_ = level > problem.lowest[i]
        while open_.any():
            block = _below(attribute, leaves, np.maximum(level, 1)[owner])
            differs = np.bincount(owner, weights=block != block[segments.first][owner], minlength=level.size) > 0
            open_ &= ~differs
            level[open_] -= 1
            open_ &= level > problem.lowest[i]
    return Segments(segments.tuples, segments.first, levels)


def _best_attributes(nodes: ScoredLattice, gatherer: Gatherer, segments: Segments) -> IntArray:
    """Return the attribute to specialize in each group, -1 if there is none."""
    problem, owner = nodes.problem, segments.owner
    chosen = np.full(segments.first.size, -1)
    highest = np.full(segments.first.size, -np.inf)
    for i in reversed(nodes.by_priority):
        open_ = segments.levels[:, i] > problem.lowest[i]
        if not open_.any():
            continue
        tried = open_[owner]
        tuples, group = segments.tuples[tried], owner[tried]
        attribute = problem.table.attributes[i]
        block = _below(attribute, problem.table.codes[i, tuples], segments.levels[group, i])
        part, count = compact(group * attribute.leaves + block, segments.first.size * attribute.leaves)
        of_part = np.zeros(count, dtype=np.int64)
        of_part[part] = group
        score = nodes.own_scores(i, np.bincount(of_part, minlength=open_.size))
        better = open_ & (score > highest)
        better[of_part[~_ok(problem, gatherer, tuples, part, count)]] = False
        chosen[better], highest[better] = i, score[better]
    return chosen


def _split(problem: Problem, segments: Segments, chosen: IntArray) -> Segments:
    """Specialize one attribute of each group; its parts become groups of their own."""
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
    return Segments(segments.tuples[order], first, levels)
