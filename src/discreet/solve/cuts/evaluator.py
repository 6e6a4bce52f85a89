"""Evaluation of cells and parts through the array interface of privacy models, costs and suppression kinds.

The kernels know k-anonymity, distinct l-diversity, thresholds and a few costs. With anything else they stop after each
step, and :class:`ClassEvaluator` fills in the numbers of the new cells and parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.problem import Classes, Problem
from discreet.problem.privacy import PrivacyModel
from discreet.problem.suppression import Suppressed
from discreet.runtime.integer_codes import add_up
from discreet.solve._class_arrays import Released
from discreet.solve._class_bounds import ClassBounds
from discreet.solve._recoding import Recoder, people_cost
from discreet.solve.cuts.kernels.moves import list_tuples
from discreet.solve.cuts.kernels.state import SPECIALIZED
from discreet.solve.cuts.layout import CutState

__all__ = ["ClassEvaluator"]

_MOST_COUNTS = 1 << 24
"""Histograms evaluated at once have at most this many counts."""


class ClassEvaluator:
    """Evaluates what the search has put on its stacks."""

    def __init__(self, problem: Problem, state: CutState) -> None:
        self.problem = problem
        self.recoder = Recoder(problem)
        self.bounds = ClassBounds(problem)
        self.per_row = problem.cost.separable(problem.table) is not None
        self.leaves = state.cut_tree.leaves
        self.rows = state.cut_tree.rows
        self.levels = state.cut_tree.levels
        self.tuples = np.empty(problem.table.tuples, dtype=np.int32)
        self.owner = np.empty(problem.table.tuples, dtype=np.int32)
        self.portion = max(1, _MOST_COUNTS // self.recoder.gatherer.widest)

    def evaluate_all(self, state: CutState) -> None:
        """Evaluate the cells and parts there are before the first step."""
        now = state.now
        self._evaluate_cells(state, 0, int(now["cells"]))
        self._evaluate_parts(state, 0, int(now["parts"]))
        if not state.arrays.rules.summed:
            self._evaluate_cut(state)

    def evaluate_new(self, state: CutState) -> None:
        """Evaluate the cells and parts of the last step."""
        now = state.now
        before: Any = state.arrays.stacks.frame[now["depth"] - 1]
        self._evaluate_cells(state, int(before["cells"]), int(now["cells"]))
        self._evaluate_parts(state, int(before["parts"]), int(now["parts"]))
        if not state.arrays.rules.summed and before["decision"] == SPECIALIZED:
            self._evaluate_cut(state)

    def _evaluate_cut(self, state: CutState) -> None:
        """Evaluate the most general cut as a whole: people are suppressed with all their rows, in whatever class.

        Where models hold for any superset, those suppressed here are so in every cut that can still be reached. The
        bounds of parts know of the rows in classes that are not ok, so the rest of their rows is a surplus.
        """
        problem, gatherer, total = self.problem, self.recoder.gatherer, state.total
        counter, certain = gatherer.counter, [model for model in problem.privacy if model.superset_closed]
        assert counter is not None
        released = Released.by_blocks(problem.table, state.cut_tree.blocks(state.arrays.stacks.mark))
        grouping = problem.table.group(released.blocks)
        count = grouping.sizes.size
        alive = counter.suppress(grouping.ids, count, problem.privacy, gatherer.at_once)
        left = counter.rows_left(alive)
        allowed = np.count_nonzero(~alive) <= problem.limit
        cost = people_cost(problem, gatherer, grouping, released, left) if allowed else np.inf
        total["exact"], total["surplus"] = cost - state.shift, 0.0
        if not problem.superset_closed:
            alive = counter.suppress(grouping.ids, count, certain, gatherer.at_once)
            left = counter.rows_left(alive)
        if np.count_nonzero(~alive) > problem.limit:
            total["surplus"] = np.inf
        elif not alive.all() and problem.cost.superadditive:
            classes = self.recoder.classes(released)
            gone = grouping.sizes - add_up(grouping.ids, left, count)
            gone[self._failing(grouping.ids, count, certain)] = 0
            total["surplus"] = float((gone * self.bounds.margins(classes)).sum())

    def _failing(self, ids: IntArray, count: int, models: Sequence[PrivacyModel]) -> NDArray[np.bool_]:
        """Return which classes break one of the models, before anybody is suppressed."""
        gatherer, failing = self.recoder.gatherer, np.zeros(count, dtype=np.bool_)
        assert gatherer.counter is not None
        for begin in range(0, count, gatherer.at_once):
            part = slice(begin, min(begin + gatherer.at_once, count))
            classes = gatherer.counter.classes(ids, part)
            failing[part] = ~np.logical_and.reduce([model.ok(classes) for model in models])
        return failing

    def _evaluate_cells(self, state: CutState, begin: int, end: int) -> None:
        problem, cost, hides = self.problem, self.problem.cost, self.bounds.hides
        for first in range(begin, end, self.portion):
            last = min(first + self.portion, end)
            classes = self._classes(state, first, last, of_parts=False)
            cell: Any = state.arrays.cells.record[first:last]
            published, suppressed = cost.published(classes), cost.suppressed(classes)
            floor = self.bounds.floors(classes)
            done = problem.suppression.apply(classes, problem.privacy)
            alone = np.where(done.feasible, self.recoder.costs(classes, done), np.inf)
            cell["floor"] = floor
            exact = floor if problem.whole_people else published
            cell["alone"] = np.where(_untouched(done), exact, alone) if cost.superadditive else floor
            penalty = self.bounds.value_penalty * cell["rows"]
            cell["suppressed"] = floor + penalty if hides else np.maximum(suppressed, floor)
            divided = self.bounds.divided and self.per_row
            cell["margin"] = np.maximum(suppressed - floor, 0.0) / cell["rows"] if divided else 0.0

    def _evaluate_parts(self, state: CutState, begin: int, end: int) -> None:
        problem = self.problem
        for first in range(begin, end, self.portion):
            last = min(first + self.portion, end)
            classes = self._classes(state, first, last, of_parts=True)
            part: Any = state.arrays.parts.record[first:last]
            done = problem.suppression.apply(classes, problem.privacy)
            must_go = np.maximum(problem.fewest_removed(classes), int(problem.union_closed))
            part["cost"] = self.recoder.costs(classes, done)
            part["gone"] = done.records
            if problem.limit_of_people and not problem.varying:
                part["gone"] = np.where(done.records > 0, classes.judged.sizes, 0)
            elif problem.superset_closed:
                must_go = classes.sizes
            part["wrong"] = ~done.feasible
            part["dead"] = ~done.feasible & problem.union_closed
            part["need"] = np.where(_untouched(done), 0, must_go)

    def _classes(self, state: CutState, begin: int, end: int, *, of_parts: bool) -> Classes:
        """Gather cells or parts as equivalence classes."""
        arrays = state.arrays
        found = int(list_tuples(arrays, begin, end, of_parts, self.tuples, self.owner))
        tuples, owner = self.tuples[:found], self.owner[:found]
        code = (arrays.parts.code if of_parts else arrays.cells.code)[begin:end]
        gatherer, table, needs = self.recoder.gatherer, self.problem.table, self.problem.cost.needs
        sizes = add_up(owner, table.weights[tuples], end - begin)
        classes = gatherer.as_classes(
            sizes,
            gatherer.added_up(tuples, owner, end - begin),
            self.leaves[code] if "block_leaves" in needs else None,
            self.rows[code] if "block_rows" in needs else None,
            self.levels[code] if "block_levels" in needs else None,
        )
        return gatherer.with_people(classes, tuples, owner)


def _untouched(done: Suppressed) -> NDArray[np.bool_]:
    """Whether each class is published as it is."""
    return np.asarray(done.feasible & (done.records == 0) & (done.values == 0))
