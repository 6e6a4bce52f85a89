"""Random choice among equally good sets of hidden values, for suppression kinds that keep them ambiguous.

A search decides such ties in some fixed order, which everybody may know who sees the release. So the kind draws again
once the search is over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from discreet.counts import Histogram, IntArray
from discreet.problem import Classes, Problem
from discreet.runtime.integer_codes import add_up
from discreet.solve._base import LocalRecoding, PartialSuppression, Solution
from discreet.solve._requirements import value_of_each

__all__ = ["redraw_hidden"]

_MOST_COUNTS = 1 << 22
"""Classes times values looked at at once."""


def redraw_hidden(problem: Problem, solution: Solution, random: Callable[[], Random]) -> Solution:
    """Return the solution with other values hidden that cost the same, drawn at random, if the kind has such ties."""
    if problem.suppression.keeps_ambiguous and problem.divided is not None:
        draw = _Draw(problem, random)
        if solution.inside is not None and not solution.inside.records:
            return replace(solution, inside=draw.inside(solution.inside, solution.blocks))
        if solution.groups is not None and solution.groups.hidden is not None:
            return replace(solution, groups=draw.groups(solution.groups, solution.groups.hidden))
    return solution


class _Draw:
    """Draws for the classes of one problem; the source of random numbers is opened once it is needed."""

    def __init__(self, problem: Problem, random: Callable[[], Random]) -> None:
        self.problem = problem
        self.histogram: Histogram = problem.table.sensitive[str(problem.divided)]
        self._open = random
        self._source: Random | None = None

    def random(self) -> Random:
        self._source = self._source or self._open()
        return self._source

    def hidden(self, counts: IntArray, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the values to hide, (c, v), given how often each occurs and those hidden so far."""
        problem = self.problem
        classes = Classes(problem.table, counts.sum(axis=1), sensitive={self.histogram.name: counts})
        return problem.suppression.redrawn(classes, problem.privacy, hidden, self.random)

    def inside(self, inside: PartialSuppression, blocks: tuple[IntArray, ...]) -> PartialSuppression:
        """Draw for the classes of a global recoding."""
        table, histogram, width = self.problem.table, self.histogram, self.histogram.cardinality
        ids = table.group(blocks).ids
        numbers, owner = np.unique(ids[inside.example], return_inverse=True)
        first = np.zeros(numbers.size, dtype=np.int64)
        first[owner] = inside.example
        place = np.full(int(ids.max()) + 1, -1, dtype=np.int64)
        place[numbers] = np.arange(numbers.size)
        row = np.repeat(place[ids], np.diff(histogram.offsets))
        found: list[tuple[IntArray, IntArray, IntArray]] = []
        step = max(1, _MOST_COUNTS // width)
        for begin in range(0, numbers.size, step):
            size = min(step, numbers.size - begin)
            here = (row >= begin) & (row < begin + size)
            cells = (row[here] - begin) * width + histogram.values[here]
            counts = add_up(cells, histogram.counts[here], size * width).reshape(size, width)
            hidden = np.zeros((size, width), dtype=np.bool_)
            entry = (owner >= begin) & (owner < begin + size)
            hidden[owner[entry] - begin, inside.value[entry]] = True
            c, v = np.nonzero(self.hidden(counts, hidden) & (counts > 0))
            found.append((first[begin + c], v, counts[c, v]))
        example, value, count = (np.concatenate(column).astype(np.int64) for column in zip(*found, strict=True))
        return replace(inside, example=example, value=value, count=count)

    def groups(self, groups: LocalRecoding, hidden: NDArray[np.bool_]) -> LocalRecoding:
        """Draw for the groups of a local recoding."""
        width = self.histogram.cardinality
        value = value_of_each(self.histogram)[groups.tuple]
        there = np.flatnonzero((groups.group >= 0) & (value >= 0))
        concerned, owner = np.unique(groups.group[there], return_inverse=True)
        new = hidden.copy()
        step = max(1, _MOST_COUNTS // width)
        for begin in range(0, concerned.size, step):
            size = min(step, concerned.size - begin)
            some = (owner >= begin) & (owner < begin + size)
            entry, row = there[some], owner[some] - begin
            counts = add_up(row * width + value[entry], groups.count[entry], size * width).reshape(size, width)
            before = np.zeros((size, width), dtype=np.bool_)
            before[row[hidden[entry]], value[entry][hidden[entry]]] = True
            new[entry] = self.hidden(counts, before)[row, value[entry]]
        return replace(groups, hidden=new)
