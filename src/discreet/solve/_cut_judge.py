"""The verdict on cells and parts of a search over cuts, with any models and any cost through their array interface."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import add_up
from discreet.kernels.cut_moves import tuples_of
from discreet.kernels.cut_state import (
    ALONE,
    CELLS,
    COST,
    DEAD,
    DEPTH,
    GONE,
    HIGH,
    LOW,
    MARGIN,
    NEED,
    SIZE,
    SLOTS,
    WRONG,
)
from discreet.problem import Classes, Problem
from discreet.problem.suppression import Suppressed
from discreet.solve._cut_set_up import CutState
from discreet.solve._recoded import Recoder

__all__ = ["Judge"]

_MOST_COUNTS = 1 << 24
"""Histograms of no more counts than this are looked at together."""


class Judge:
    """Looks at what the search has made since it was last asked."""

    def __init__(self, problem: Problem, state: CutState) -> None:
        self.problem = problem
        self.recoder = Recoder(problem)
        self.per_row = problem.cost.separable(problem.table) is not None
        self.leaves = state.cut_tree.leaves
        self.rows = state.cut_tree.rows
        self.tuples = np.empty(problem.table.tuples, dtype=np.int32)
        self.owner = np.empty(problem.table.tuples, dtype=np.int32)
        self.portion = max(1, _MOST_COUNTS // self.recoder.gatherer.widest)

    def first(self, state: CutState) -> None:
        """Look at all cells and parts there are before the search."""
        count = state.search.count
        self._cells(state, 0, int(count[CELLS]))
        self._parts(state, 0, int(count[SLOTS]))

    def latest(self, state: CutState) -> None:
        """Look at the cells and parts the last step made."""
        count = state.search.count
        before = state.search.frame[count[DEPTH] - 1]
        self._cells(state, int(before[CELLS]), int(count[CELLS]))
        self._parts(state, int(before[SLOTS]), int(count[SLOTS]))

    def _cells(self, state: CutState, begin: int, end: int) -> None:
        for low in range(begin, end, self.portion):
            self._price(state, low, min(low + self.portion, end))

    def _parts(self, state: CutState, begin: int, end: int) -> None:
        for low in range(begin, end, self.portion):
            self._judge(state, low, min(low + self.portion, end))

    def _price(self, state: CutState, begin: int, end: int) -> None:
        problem, cost = self.problem, self.problem.cost
        classes = self._classes(state, begin, end, parts=False)
        number = state.cells.number[begin:end]
        hides = problem.suppression.hides_values
        divided = problem.divided is not None and not hides
        published, suppressed = cost.published(classes), cost.suppressed(classes)
        low = np.zeros(end - begin)
        if cost.superadditive and (not divided or cost.removal_never_pays):
            low = cost.floor(classes, 1 if hides else problem.smallest_class)
        done = problem.suppression.apply(classes, problem.privacy)
        alone = np.where(done.feasible, self.recoder.costs(classes, done), np.inf)
        number[:, LOW] = low
        number[:, ALONE] = np.where(_untouched(done), published, alone) if cost.superadditive else low
        number[:, HIGH] = low + self.recoder.value_penalty * number[:, SIZE] if hides else np.maximum(suppressed, low)
        number[:, MARGIN] = np.maximum(suppressed - low, 0.0) / number[:, SIZE] if divided and self.per_row else 0.0

    def _judge(self, state: CutState, begin: int, end: int) -> None:
        problem = self.problem
        classes = self._classes(state, begin, end, parts=True)
        number = state.parts.number[begin:end]
        done = problem.suppression.apply(classes, problem.privacy)
        must = np.maximum(problem.fewest_removed(classes), int(problem.union_closed))
        number[:, COST] = self.recoder.costs(classes, done)
        number[:, GONE] = done.records
        number[:, WRONG] = ~done.feasible
        number[:, DEAD] = ~done.feasible & problem.union_closed
        number[:, NEED] = np.where(_untouched(done), 0, must)

    def _classes(self, state: CutState, begin: int, end: int, *, parts: bool) -> Classes:
        """Gather some cells or parts as classes."""
        found = int(
            tuples_of(begin, end, parts, state.cells, state.parts.span, state.search.perm, self.tuples, self.owner)
        )
        tuples, owner = self.tuples[:found], self.owner[:found]
        code = (state.parts.code if parts else state.cells.code)[begin:end]
        gatherer, table, needs = self.recoder.gatherer, self.problem.table, self.problem.cost.needs
        sizes = add_up(owner, table.weights[tuples], end - begin)
        return gatherer.as_classes(
            sizes,
            gatherer.added_up(tuples, owner, end - begin),
            self.leaves[code] if "block_leaves" in needs else None,
            self.rows[code] if "block_rows" in needs else None,
        )


def _untouched(done: Suppressed) -> NDArray[np.bool_]:
    """Whether each class is ok: nothing of it is suppressed, and nothing would have to be."""
    return np.asarray(done.feasible & (done.records == 0) & (done.values == 0))
