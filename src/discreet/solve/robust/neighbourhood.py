"""Recodings near a given one, found step by step."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

import numpy as np

from discreet.counts import CodedAttribute, IntArray
from discreet.problem import Problem
from discreet.runtime.integer_codes import by_appearance
from discreet.solve._base import Budget, Solution
from discreet.solve._class_arrays import Released, node_levels
from discreet.solve._recoding import EvaluatedRecoding, Recoder

__all__ = ["Neighbourhood"]

_WORK = 20_000_000
"""About the most tuples to group in all."""
_FEWEST, _MOST = 60, 1_500
"""Evaluations, whatever the size of the table."""
_ENOUGH = 200
"""Recodings that are collected at most."""
_ROUNDING = 1e-9

Levels = tuple[IntArray, ...]
"""For each attribute, the hierarchy level that each leaf is lifted to."""


class Neighbourhood:
    """Recodings of a problem that cost no more than a limit, reached from the best one through any that are valid."""

    def __init__(self, problem: Problem, best: Solution, limit: float) -> None:
        self.problem = problem
        self.recoder = Recoder(problem)
        self.limit = limit * (1 + _ROUNDING)
        self.by_levels = all(scheme.name == "full-domain" for scheme in problem.schemes)
        self.start: Levels = tuple(
            np.full(attribute.leaves, best.levels[i])
            if best.levels is not None and self.problem.schemes[i].name == "full-domain"
            else _levels_of(attribute, best.blocks[i], full=problem.schemes[i].name == "full-domain")
            for i, attribute in enumerate(problem.table.attributes)
        )

    def collect(self, budget: Budget) -> list[EvaluatedRecoding]:
        """Return the recodings found, the first one included: the cheapest is explored first.

        The order of exploration and its end do not depend on time, unless there is a time limit.
        """
        seen = {_exactly(self.start)}
        first = self._evaluate(self.start)
        found = {self._key(self.start): first}
        queue: list[tuple[float, int, Levels]] = [(first.cost, 0, self.start)]
        left = min(_MOST, max(_FEWEST, _WORK // max(self.problem.table.tuples, 1)))
        while queue:
            _, _, levels = heapq.heappop(queue)
            for near in self._steps(levels):
                if _exactly(near) in seen:
                    continue
                seen.add(_exactly(near))
                tried = self._evaluate(near)
                left -= 1
                if np.isfinite(tried.cost):
                    heapq.heappush(queue, (tried.cost, len(seen), near))
                if tried.cost <= self.limit:
                    key = self._key(near)
                    found[key] = min(found.get(key, tried), tried, key=lambda each: each.cost)
                if left <= 0 or len(found) >= _ENOUGH or (budget.exhausted and len(seen) > _FEWEST):
                    return list(found.values())
        return list(found.values())

    def _steps(self, levels: Levels) -> Iterator[Levels]:
        """Yield the recodings that are one step coarser or finer in one attribute."""
        problem = self.problem
        for i, attribute in enumerate(problem.table.attributes):
            low, high, own = problem.lowest[i], problem.highest[i], levels[i]
            if problem.schemes[i].name == "full-domain":
                moved = [np.full(own.size, level) for level in (own[0] - 1, own[0] + 1) if low <= level <= high]
            else:
                moved = [*_coarser(attribute, own, high), *_finer(attribute, own, low)]
            for each in moved:
                yield (*levels[:i], each, *levels[i + 1 :])

    def _evaluate(self, levels: Levels) -> EvaluatedRecoding:
        table = self.problem.table
        if self.by_levels:
            return self.recoder.evaluate(Released.by_levels(table, [int(each[0]) for each in levels]))
        return self.recoder.evaluate(Released.by_blocks(table, self._blocks(levels)))

    def _blocks(self, levels: Levels) -> list[IntArray]:
        return [
            by_appearance(attribute.ancestors[own, np.arange(own.size)] + own * attribute.leaves)
            for attribute, own in zip(self.problem.table.attributes, levels, strict=True)
        ]

    def _key(self, levels: Levels) -> bytes:
        """Return what distinguishes recodings: the blocks of the leaves that occur."""
        each = zip(self.problem.table.attributes, self._blocks(levels), strict=True)
        return b"|".join(by_appearance(blocks[attribute.rows > 0]).tobytes() for attribute, blocks in each)


def _exactly(levels: Levels) -> bytes:
    return b"|".join(each.astype(np.int64).tobytes() for each in levels)


def _levels_of(attribute: CodedAttribute, blocks: IntArray, *, full: bool) -> IntArray:
    """Return the level of each leaf in a cut; with ``full`` the lowest that all leaves can have together."""
    number, first, own = np.unique(blocks, return_index=True, return_inverse=True)
    sizes = np.bincount(own.reshape(-1), minlength=number.size)
    level = node_levels(attribute, first, sizes)[own.reshape(-1)]
    return np.full(attribute.leaves, level.max()) if full else level


def _nodes(attribute: CodedAttribute, levels: IntArray) -> IntArray:
    """Return a number for the node of each leaf."""
    return attribute.ancestors[levels, np.arange(levels.size)].astype(np.int64) + levels * attribute.leaves


def _coarser(attribute: CodedAttribute, levels: IntArray, high: int) -> Iterator[IntArray]:
    """Yield the cuts in which all nodes below one parent are replaced by it."""
    parents: set[tuple[int, int]] = set()
    for leaf in _first_leaves(_nodes(attribute, levels)):
        size = np.count_nonzero(attribute.ancestors[levels[leaf]] == attribute.ancestors[levels[leaf], leaf])
        for level in range(int(levels[leaf]) + 1, high + 1):
            block = int(attribute.ancestors[level, leaf])
            under = attribute.ancestors[level] == block
            if np.count_nonzero(under) > size:
                if (level, block) not in parents:
                    parents.add((level, block))
                    yield np.where(under, level, levels)
                break


def _finer(attribute: CodedAttribute, levels: IntArray, low: int) -> Iterator[IntArray]:
    """Yield the cuts in which one node is replaced by its children."""
    for leaf in _first_leaves(_nodes(attribute, levels)):
        under = attribute.ancestors[levels[leaf]] == attribute.ancestors[levels[leaf], leaf]
        for level in range(int(levels[leaf]) - 1, low - 1, -1):
            if np.unique(attribute.ancestors[level][under]).size > 1:
                yield np.where(under, level, levels)
                break


def _first_leaves(nodes: IntArray) -> Sequence[int]:
    return np.sort(np.unique(nodes, return_index=True)[1]).tolist()  # type: ignore[no-any-return]
