"""Evaluation of any global recoding, with any privacy models, cost and suppression.

Models, cost and suppression see plain arrays. A solver that tries many recodings makes one :class:`Recoder` and asks it
for costs; :meth:`Recoder.evaluate` gives everything about the recoding it has chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, Grouping, IntArray
from discreet.problem import Classes, Problem
from discreet.problem.suppression import Suppressed
from discreet.problem.suppression.class_records import ClassRecords
from discreet.problem.suppression.suppress_records import SuppressRecords
from discreet.runtime.integer_codes import add_up
from discreet.solve._base import PartialSuppression, Progress, Solution, Status
from discreet.solve._class_arrays import ClassArrays, Gatherer, Released, roll_up
from discreet.solve._class_bounds import ClassBounds
from discreet.solve._key_sets import KeySetRule, with_dropped
from discreet.solve._key_sets_of_people import classes_left, classes_of_key_sets, people_left

__all__ = ["EvaluatedRecoding", "Recoder", "class_costs", "people_cost", "smallest_budget"]


@dataclass(frozen=True, eq=False)
class EvaluatedRecoding:
    """A recoding with its cost and what it suppresses; see :class:`discreet.solve.Solution` for the fields.

    ``cost`` is infinite if the recoding is not allowed: the suppression cannot make every class ok, or it would
    suppress more rows than the limit.
    """

    cost: float
    blocks: tuple[IntArray, ...]
    levels: tuple[int, ...] | None
    suppressed: NDArray[np.bool_]
    inside: PartialSuppression | None
    suppressed_rows: int
    suppressed_values: int
    classes: int
    suppressed_people: IntArray | None = None

    def solution(
        self, status: Status, lower_bound: float, stats: Mapping[str, Any] | None = None, trace: Sequence[Progress] = ()
    ) -> Solution:
        """Return the recoding as a solution with this status and lower bound."""
        return Solution(
            status=status,
            cost=self.cost,
            lower_bound=min(lower_bound, self.cost),
            blocks=self.blocks,
            levels=self.levels,
            suppressed=self.suppressed,
            inside=self.inside,
            suppressed_people=self.suppressed_people,
            suppressed_rows=self.suppressed_rows,
            suppressed_values=self.suppressed_values,
            classes=self.classes,
            stats=stats or {},
            trace=tuple(trace),
        )


class Recoder:
    """Evaluates recodings of one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.gatherer = Gatherer(problem)
        self.key_sets = KeySetRule(problem) if problem.key_sets else None

    def cost(self, released: Released) -> float:
        """Return the cost of a recoding; infinite if it is not allowed."""
        return self.evaluate(released, inside=False).cost

    def evaluate(self, released: Released, *, inside: bool = True) -> EvaluatedRecoding:
        """Return the cost of a recoding and what it suppresses; ``inside=False`` leaves out partial suppression."""
        problem = self.problem
        grouping = self.problem.table.group(released.blocks)
        if problem.whole_people:
            return self._evaluate_people(grouping, released)
        gone = np.zeros(grouping.sizes.size, dtype=np.bool_)
        left = grouping.sizes.astype(np.int64)
        people = left.copy()
        rows, values, feasible, total = 0, 0, True, 0.0
        entries: list[list[IntArray]] = []
        for part, classes, done in self.portions(grouping, released):
            rows, values = rows + int(done.records.sum()), values + int(done.values.sum())
            gone[part] = done.records == classes.sizes
            left[part] -= done.records
            people[part] = classes.judged.sizes
            feasible &= bool(done.feasible.all())
            if problem.cost.additive:
                total += float(self.costs(classes, done).sum())
            if inside and done.removed is not None:
                entries.append(self._partial(grouping.first[part], classes, done, done.removed))
        if not problem.cost.additive:
            total = problem.cost.total(replace(self._without_histograms(grouping, released), sizes=left), ~gone)
        removed = int(people[gone].sum()) if problem.limit_of_people else rows
        return EvaluatedRecoding(
            cost=total if feasible and removed <= problem.limit and problem.holds(people[~gone]) else np.inf,
            blocks=tuple(released.blocks),
            levels=None if released.levels is None else tuple(int(level) for level in released.levels),
            suppressed=gone[grouping.ids],
            inside=self._joined(entries),
            suppressed_rows=rows,
            suppressed_values=values,
            classes=int(np.count_nonzero(~gone)),
            suppressed_people=self._people_of(gone[grouping.ids]),
        )

    def _people_of(self, tuples: NDArray[np.bool_]) -> IntArray | None:
        """Return the people of suppressed tuples, where a budget is one of people with constant quasi-identifiers."""
        people = self.problem.people
        if people is None or not self.problem.limit_of_people:
            return None
        return np.sort(people.members[np.repeat(tuples, people.of_tuples)])

    def _evaluate_people(self, grouping: Grouping, released: Released) -> EvaluatedRecoding:
        """Evaluate a recoding where people are suppressed with all their rows, which may be in several classes."""
        problem, gatherer, counter = self.problem, self.gatherer, self.gatherer.counter
        assert counter is not None
        count, weights = grouping.sizes.size, problem.table.weights
        keys = classes_of_key_sets(self.key_sets, grouping, released)
        alive = people_left(counter, grouping.ids, count, problem.privacy, keys, gatherer.at_once, exact=True)
        left = counter.rows_left(alive)
        kept = add_up(grouping.ids, left, count)
        if problem.cost.additive:
            total = people_cost(problem, gatherer, grouping, released, left)
        else:
            total = problem.cost.total(replace(self._without_histograms(grouping, released), sizes=kept), kept > 0)
        gone = np.flatnonzero(~alive)
        sizes = counter.sizes(grouping.ids, slice(0, count), alive)[kept > 0]
        return EvaluatedRecoding(
            cost=total if gone.size <= problem.limit and problem.holds(sizes) else np.inf,
            blocks=tuple(released.blocks),
            levels=None if released.levels is None else tuple(int(level) for level in released.levels),
            suppressed=left == 0,
            inside=None,
            suppressed_rows=int(weights.sum() - left.sum()),
            suppressed_values=0,
            classes=int(np.count_nonzero(kept)),
            suppressed_people=gone,
        )

    def floor(self, released: Released) -> float:
        """Return a lower bound for the cost of this recoding and of every more general one."""
        problem = self.problem
        classes = self.classes(released)
        if not problem.cost.additive:
            return problem.cost.lower(classes, problem.row_limit)
        return float(ClassBounds(problem).floors(classes).sum())

    def classes(self, released: Released) -> Classes:
        """Return the classes of a recoding, without their histograms."""
        return self._without_histograms(self.problem.table.group(released.blocks), released)

    def portions(self, grouping: Grouping, released: Released) -> Iterator[tuple[slice, Classes, Suppressed]]:
        """Yield the classes in portions, with what is suppressed in them."""
        problem = self.problem
        rolled = roll_up(self.gatherer.tuples, grouping.ids, grouping.sizes.size)
        dropped = None if self.key_sets is None else self._dropped(self.key_sets, grouping, rolled, released)
        for part, classes in self.gatherer.portions(grouping, rolled, released):
            done = problem.suppression.apply(classes, problem.privacy)
            if dropped is not None:
                done = with_dropped(done, classes, dropped[part], by_records=not problem.suppression.hides_values)
            yield part, classes, done

    def _dropped(
        self, rule: KeySetRule, grouping: Grouping, rolled: ClassArrays, released: Released
    ) -> NDArray[np.bool_]:
        """Return which classes go for the key sets alone: by themselves they could stay."""
        problem = self.problem
        ok = np.ones(grouping.sizes.size, dtype=np.bool_)
        for part, classes in self.gatherer.portions(grouping, rolled, released):
            done = problem.suppression.apply(classes, problem.privacy)
            ok[part] = done.feasible & (done.records == 0)
        if self.gatherer.counter is not None:
            keys = classes_of_key_sets(rule, grouping, released)
            return ok & ~classes_left(self.gatherer.counter, grouping.ids, ok, keys)
        return ok & ~rule.stays(rule.shown(grouping, released), grouping.sizes, ok)

    def costs(self, classes: Classes, done: Suppressed) -> FloatArray:
        """Return the cost of each class, including what is suppressed in it."""
        return class_costs(self.problem, classes, done)

    def _without_histograms(self, grouping: Grouping, released: Released) -> Classes:
        arrays = replace(self.gatherer.tuples, histograms=[])
        rolled = roll_up(arrays, grouping.ids, grouping.sizes.size)
        return self.gatherer.classes(grouping, rolled, released, slice(0, grouping.sizes.size))

    def _partial(self, first: IntArray, classes: Classes, done: Suppressed, removed: IntArray) -> list[IntArray]:
        """Return the suppressed records of partly published classes, as columns of :class:`PartialSuppression`."""
        partly = np.flatnonzero((removed > 0).any(axis=1) & (done.records < classes.sizes))
        by_label = by_tuple = None
        if not self.problem.suppression.hides_values:
            by_label = self.problem.cost.labels_removed(classes, str(self.problem.divided), removed)
            by_tuple = self.problem.cost.members_removed(classes, str(self.problem.divided), removed)
        if by_tuple is not None and classes.members is not None:
            members = classes.members
            taken = np.flatnonzero((by_tuple > 0) & np.isin(members.owner, partly))
            return [members.tuples[taken], members.values[taken], by_tuple[taken]]
        counts = (removed if by_label is None else by_label)[partly]
        row, value, *label = np.nonzero(counts)
        return [first[partly[row]], value, counts[counts != 0], *label]

    def _joined(self, entries: list[list[IntArray]]) -> PartialSuppression | None:
        columns = [np.concatenate(column).astype(np.int64) for column in zip(*entries, strict=True)]
        if not columns or not columns[0].size:
            return None
        example, value, count, *label = columns
        records = not self.problem.suppression.hides_values
        by_tuple = records and self.gatherer.member_values is not None
        return PartialSuppression(
            str(self.problem.divided), records, example, value, count, label[0] if label else None, by_tuple
        )


def people_cost(
    problem: Problem, gatherer: Gatherer, grouping: Grouping, released: Released, left: NDArray[np.int64]
) -> float:
    """Return the cost of a recoding by the number of rows left of each tuple, for a cost that adds up."""
    total = 0.0
    for rows, price in ((left, problem.cost.published), (problem.table.weights - left, problem.cost.suppressed)):
        if rows.any():
            total += float(price(gatherer.of_rows(grouping, released, rows)[1]).sum())
    return total


def class_costs(problem: Problem, classes: Classes, done: Suppressed) -> FloatArray:
    """Return the cost of each class, including what is suppressed in it."""
    cost, attribute = problem.cost, problem.divided
    if problem.suppression.hides_values:
        return cost.published(classes) + (cost.value_penalty(problem.table) or 0.0) * done.values
    if attribute is not None and done.removed is not None:
        return np.where(
            done.records == classes.sizes,
            cost.suppressed(classes),
            cost.partly(classes, attribute, done.removed),
        )
    return np.where(done.records > 0, cost.suppressed(classes), cost.published(classes))


def smallest_budget(problem: Problem, top: Released) -> int | None:
    """Return the fewest rows (or people) that any recoding must suppress, given the most general; None if not known.

    If a class that is ok stays so when rows are added, then the rows suppressed in the most general recoding are
    suppressed in all others.
    """
    if problem.suppression.hides_values or not problem.superset_closed:
        return None
    if problem.limit_of_people:
        gone = Recoder(replace(problem, suppression=SuppressRecords(1.0))).evaluate(top).suppressed_people
        return None if gone is None else int(gone.size)
    return Recoder(replace(problem, suppression=ClassRecords())).evaluate(top).suppressed_rows
