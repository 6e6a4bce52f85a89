"""The precaution against minimality attacks: further generalization or suppression at random (section IX-B).

Whoever knows that a release costs least knows that every cheaper one breaks a promise. So a random number of random
steps is added to the optimum, within a limit on what they may cost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.problem import Problem
from discreet.solve._base import PartialSuppression
from discreet.solve._class_arrays import Released
from discreet.solve._recoding import EvaluatedRecoding, Recoder
from discreet.solve.cuts.kernels.state import Marks
from discreet.solve.cuts.tree import CutTree

__all__ = ["Precaution"]

_ROUNDING = 1e-9


@dataclass
class Precaution:
    """Random steps from a cut to a more general one that suppresses more.

    The number of steps is drawn from 1 to ``most``, each as likely, and for each step whether it generalizes or
    suppresses. A step generalizes values of the cut to their parent, all of whose children are in the cut, or
    suppresses a whole class: its records or, if values are hidden, all its sensitive values. Steps are drawn among
    those that cost no more than ``limit`` in all; if there is none of one sort, the other is tried.
    """

    recoder: Recoder
    tree: CutTree
    draw: Random
    most: int
    limit: float
    """What the release may cost."""

    def take(self, mark: Marks, found: EvaluatedRecoding) -> tuple[EvaluatedRecoding, dict[str, Any]]:
        """Return a recoding that is some steps away from the one found, and what was drawn."""
        wanted = self.draw.randint(1, self.most)
        may_suppress = self.recoder.problem.suppression.name != "none"
        sort = [self.draw.random() < 0.5 if may_suppress else True for _ in range(wanted)]
        before = found.cost
        mark, found, generalized = self._generalize(mark, found, sum(sort))
        suppressed = 0
        if may_suppress:
            found, suppressed = self._suppress(found, wanted - generalized)
        if not suppressed:
            mark, found, more = self._generalize(mark, found, wanted - generalized)
            generalized += more
        return found, {
            "steps_drawn": wanted,
            "generalized": generalized,
            "suppressed_classes": suppressed,
            "extra_cost": found.cost - before,
            "most_extra_cost": self.limit - before,
        }

    def _generalize(self, mark: Marks, found: EvaluatedRecoding, steps: int) -> tuple[Marks, EvaluatedRecoding, int]:
        """Generalize values to their parents, as often as asked for and possible."""
        made = 0
        while made < steps:
            parents = self._parents(mark)
            self.draw.shuffle(parents)
            for parent in parents:
                coarser = self.tree.generalized(mark, parent)
                assert coarser is not None
                blocks = self.tree.blocks(coarser)
                tried = self.recoder.evaluate(Released.by_blocks(self.recoder.problem.table, blocks))
                if self._fits(tried.cost):
                    mark, found, made = coarser, tried, made + 1
                    break
            else:
                break
        return mark, found, made

    def _parents(self, mark: Marks) -> list[int]:
        """Return the values all of whose children are in the cut."""
        tree = self.tree.tree
        return [int(v) for v in self.tree.inner if mark[tree.first[v] : tree.end[v]].all()]

    def _suppress(self, found: EvaluatedRecoding, steps: int) -> tuple[EvaluatedRecoding, int]:
        """Suppress whole classes, as many as asked for and possible."""
        if steps == 0:
            return found, 0
        classes = _Classes.of(self.recoder, found)
        chosen: list[int] = []
        cost, rows = found.cost, found.suppressed_rows
        # A class that is cheaper to suppress than to publish may not be suppressed by the problem: no bound covers it.
        order = np.flatnonzero((classes.left > 0) & (classes.more >= 0)).tolist()
        self.draw.shuffle(order)
        for c in order:
            if len(chosen) == steps or len(chosen) == found.classes - 1:  # something must be left
                break
            fits = self._fits(cost + classes.more[c])
            if fits and (classes.hides or rows + classes.left[c] <= self.recoder.problem.limit):
                chosen.append(c)
                cost += classes.more[c]
                rows += 0 if classes.hides else classes.left[c]
        return classes.without(found, chosen), len(chosen)

    def _fits(self, cost: float) -> bool:
        return bool(cost <= self.limit * (1 + _ROUNDING))


@dataclass(frozen=True, eq=False)
class _Classes:
    """The classes of a recoding: what is left of each, and what suppressing that adds to the cost."""

    problem: Problem
    ids: IntArray
    """The class of each tuple."""
    first: IntArray
    """A tuple of each class."""
    left: IntArray
    """Published rows or, if values are hidden, known values that are shown."""
    more: FloatArray
    counts: IntArray
    """(c, v) known values, if values are hidden."""
    hides: bool

    @classmethod
    def of(cls, recoder: Recoder, found: EvaluatedRecoding) -> _Classes:
        problem, cost = recoder.problem, recoder.problem.cost
        released = Released.by_blocks(problem.table, found.blocks)
        grouping = problem.table.group(released.blocks)
        hides, attribute = problem.suppression.hides_values, problem.divided
        left, more, counts = [], [], []
        for _, classes, done in recoder.portions(grouping, released):
            if hides:
                known = classes.sensitive[str(attribute)] if attribute is not None else np.zeros((len(classes), 1))
                left.append(known.sum(axis=1) - done.values)
                more.append((cost.value_penalty(problem.table) or 0.0) * left[-1])
                counts.append(known)
            else:
                left.append(classes.sizes - done.records)
                more.append(cost.suppressed(classes) - recoder.costs(classes, done))
        wide = np.concatenate(counts) if hides else np.zeros((0, 0))
        whole = np.concatenate(left).astype(np.int64)
        return cls(problem, grouping.ids, grouping.first, whole, np.concatenate(more), wide.astype(np.int64), hides)

    def without(self, found: EvaluatedRecoding, chosen: list[int]) -> EvaluatedRecoding:
        """Return the recoding with some classes suppressed as a whole."""
        if not chosen:
            return found
        gone = np.isin(self.ids, chosen)
        cost, rows = found.cost + float(self.more[chosen].sum()), int(self.left[chosen].sum())
        rest = _within(found.inside, ~gone)
        if not self.hides:
            return replace(
                found,
                cost=cost,
                suppressed=found.suppressed | gone,
                inside=rest,
                suppressed_rows=found.suppressed_rows + rows,
                classes=found.classes - len(chosen),
            )
        row, value = np.nonzero(self.counts[chosen])
        example = self.first[chosen][row]
        count = self.counts[chosen][row, value]
        if rest is not None:
            example, value = np.append(rest.example, example), np.append(rest.value, value)
            count = np.append(rest.count, count)
        inside = PartialSuppression(str(self.problem.divided), False, example, value, count)
        return replace(found, cost=cost, inside=inside, suppressed_values=found.suppressed_values + rows)


def _within(inside: PartialSuppression | None, tuples: NDArray[np.bool_]) -> PartialSuppression | None:
    """Return what is suppressed in the classes of some tuples."""
    if inside is None or not tuples[inside.example].any():
        return None
    kept = tuples[inside.example]
    label = None if inside.label is None else inside.label[kept]
    return replace(
        inside, example=inside.example[kept], value=inside.value[kept], count=inside.count[kept], label=label
    )
