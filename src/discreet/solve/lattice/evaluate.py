"""Evaluation of lattice nodes with any privacy models and any cost, through their array interface.

Grouping is compiled and rolls up from earlier nodes; models and costs see plain arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import Grouping, IntArray
from discreet.problem import Classes, Problem
from discreet.solve._class_arrays import ClassArrays, Gatherer, Released, roll_up
from discreet.solve._class_bounds import ClassBounds
from discreet.solve._key_sets import KeySetRule
from discreet.solve._recoding import class_costs
from discreet.solve.kernels.classes import ClassPool, class_ids, group, keep_list, source_of
from discreet.solve.lattice.layout import lay_out
from discreet.solve.lattice.people import NodeEvaluation, PeopleNodes
from discreet.solve.lattice.pool import make_pool, people_shift

__all__ = ["NodeEvaluation", "NodeEvaluator"]


class _JudgedClasses(NamedTuple):
    """Which classes of a node stay if key sets are promised, see :class:`KeySetRule`."""

    stays: NDArray[np.bool_]
    """The largest set of classes that keeps all promises."""
    possible: NDArray[np.bool_]
    """Of all other classes, every row is suppressed at all nodes below too."""


class _LazyArrays:
    """The arrays of the classes of a list, added up from those of its source when they are first read."""

    def __init__(self, source: _LazyArrays, ids: IntArray, count: int) -> None:
        self.source, self.ids, self.count = source, ids, count

    @cached_property
    def arrays(self) -> ClassArrays:
        """The arrays, one row for each class."""
        return roll_up(self.source.arrays, self.ids, self.count)

    def tuple_ids(self, ids: IntArray | None = None) -> IntArray:
        """Return the class of each tuple, or what ``ids`` says of its class; short lists are looked up first."""
        return self.source.tuple_ids(self.ids if ids is None else ids[self.ids])


class _TupleArrays(_LazyArrays):
    """The arrays of the tuples themselves."""

    def __init__(self, arrays: ClassArrays) -> None:
        self.__dict__["arrays"] = arrays

    def tuple_ids(self, ids: IntArray | None = None) -> IntArray:
        """Return what is said of each tuple."""
        assert ids is not None
        return ids


class NodeEvaluator:
    """Evaluates nodes of a problem's lattice with its own models and cost.

    The pool of a search that is over may be handed on, for evaluations with ``tuples``; ``columns`` are sensitive ones
    to gather beside those the models use.
    """

    def __init__(self, problem: Problem, pool: ClassPool | None = None, columns: Iterable[str] = ()) -> None:
        self.problem = problem
        self.table = problem.table
        self.gatherer = Gatherer(problem, columns)
        self.bounds = ClassBounds(problem)
        self.key_sets = KeySetRule(problem) if problem.key_sets else None
        self.whole_classes = problem.divided is None and not problem.suppression.hides_values
        self.pool = pool or make_pool(self.table, lay_out(problem))
        self._arrays: list[_LazyArrays] = [_TupleArrays(self.gatherer.tuples)]
        """Those of each list of the pool."""

    def evaluate(self, node: IntArray, *, tuples: bool = False) -> NodeEvaluation:
        """Evaluate a node; with ``tuples`` also say which tuples are suppressed there."""
        problem, cost = self.problem, self.problem.cost
        if problem.varying:
            grouping, lazy = self._group(node, keep=not tuples)
            return self._by_people.evaluate(node, self._with_tuples(grouping, lazy), lazy, tuples=tuples)
        grouping, arrays = self.group(node, keep=not tuples)
        released = Released.by_levels(self.table, node)
        sizes = grouping.sizes
        ok = np.ones(sizes.size, dtype=np.bool_)
        removed, lower, upper, total, feasible = 0.0, 0.0, 0.0, 0.0, True
        left = sizes.astype(np.int64)
        judged = left.copy()
        by_keys = None if self.key_sets is None else self._judge(self.key_sets, grouping, arrays, released)
        for part, classes in self.gatherer.portions(grouping, arrays, released):
            if self.whole_classes:
                fine = problem.ok(classes)
                must, more = self.bounds.forced_rows(classes, fine), 0.0
                if by_keys is not None:
                    fine = by_keys.stays[part]
                    must = np.where(by_keys.possible[part], must, classes.sizes)
                stays = fine
                left[part][~fine] = 0
                if cost.additive:
                    total += float(cost.published(classes)[fine].sum() + cost.suppressed(classes)[~fine].sum())
            else:
                done = problem.suppression.apply(classes, problem.privacy)
                stays, feasible = done.records < classes.sizes, feasible and bool(done.feasible.all())
                left[part] -= done.records
                must, more = self.bounds.forced_rows(classes), float(self.bounds.forced_cost(classes).sum())
                if by_keys is not None:  # values are hidden, and all rows must stay
                    feasible = feasible and bool(by_keys.stays[part].all())
                    must = np.where(by_keys.possible[part], must, classes.sizes)
                if cost.additive:
                    total += float(class_costs(problem, classes, done).sum())
            ok[part] = stays
            judged[part] = classes.judged.sizes
            removed += float(must.sum())
            upper += more
            if cost.superadditive:
                floor = self.bounds.floors(classes)
                lower += float(floor.sum())
                if self.whole_classes and problem.superset_closed:  # classes that are not ok go, here and below
                    upper += float((cost.suppressed(classes) - floor)[~stays].sum())
                else:
                    upper += float((must * self.bounds.margins(classes)).sum())
        rows = int(sizes.sum() - left.sum())
        gone = int(judged[~ok].sum()) if problem.limit_of_people else rows
        if not cost.additive:
            whole = self.gatherer.classes(grouping, arrays, released, slice(0, sizes.size))
            total = cost.total(replace(whole, sizes=left), ok)
            lower = cost.lower(whole, problem.row_limit)
        return NodeEvaluation(
            removed=removed,
            lower=lower,
            upper=upper,
            cost=total if feasible and gone <= problem.limit and problem.holds(judged[ok]) else np.inf,
            classes=int(ok.sum()),
            suppressed_rows=rows,
            suppressed=~ok[grouping.ids] if tuples else np.zeros(0, dtype=np.bool_),
            suppressed_people=self._people_of(~ok[grouping.ids]) if tuples else None,
        )

    def _people_of(self, tuples: NDArray[np.bool_]) -> IntArray | None:
        """Return the people of suppressed tuples, where the limit is one of people with constant quasi-identifiers."""
        people = self.problem.people
        if people is None or not self.problem.limit_of_people:
            return None
        return np.sort(people.members[np.repeat(tuples, people.of_tuples)])

    @cached_property
    def _by_people(self) -> PeopleNodes:
        return PeopleNodes(self.problem, self.gatherer, self.bounds)

    def _judge(self, rule: KeySetRule, grouping: Grouping, arrays: ClassArrays, released: Released) -> _JudgedClasses:
        """Return which classes stay if key sets are promised, and which may stay in a more specific recoding."""
        stays = np.ones(grouping.sizes.size, dtype=np.bool_)
        possible = stays.copy()
        if self.whole_classes:
            for part, classes in self.gatherer.portions(grouping, arrays, released):
                stays[part] = self.problem.ok(classes)
                for model in rule.bounding:
                    possible[part] &= model.ok(classes)
        shown = rule.shown(grouping, released)
        widths = [leaves.size for leaves in released.block_leaves]
        if self.problem.superset_closed or not self.whole_classes:
            stays = rule.stays(shown, grouping.sizes, stays, widths)
            return _JudgedClasses(stays, stays)
        return _JudgedClasses(
            rule.stays(shown, grouping.sizes, stays, widths), rule.stays(shown, grouping.sizes, possible, widths)
        )

    def all_ok(self, node: IntArray) -> bool:
        """Return whether every class of a node is ok; the arrays are not gathered if a class is too small anyway."""
        grouping, lazy = self._group(node, keep=True)
        grouping = self._with_tuples(grouping, lazy)
        if grouping.sizes.min(initial=self.problem.smallest_class) < self.problem.smallest_class:
            return False
        if self.key_sets is not None and self.problem.people is not None:
            return self._by_people.all_kept(node, grouping)
        released = Released.by_levels(self.table, node) if self.gatherer.counts_people else None
        if self.key_sets is not None:
            blocks = Released.by_levels(self.table, node)
            ok = np.ones(grouping.sizes.size, dtype=np.bool_)
            if not self.key_sets.stays(self.key_sets.shown(grouping, blocks), grouping.sizes, ok).all():
                return False
        portions = self.gatherer.portions(grouping, lazy.arrays, released)
        each = (bool(self.problem.ok(classes).all()) for _, classes in portions)
        if any(model.of_table for model in self.problem.privacy):
            sizes = [classes.judged.sizes for _, classes in self.gatherer.portions(grouping, lazy.arrays, released)]
            if not self.problem.holds(np.concatenate(sizes)):
                return False
        return all(each)

    def group(self, node: IntArray, *, keep: bool = True) -> tuple[Grouping, ClassArrays]:
        """Return the classes of a node and their arrays; with ``keep`` later nodes may roll up from it."""
        grouping, lazy = self._group(node, keep=keep)
        return self._with_tuples(grouping, lazy), lazy.arrays

    def _with_tuples(self, grouping: Grouping, lazy: _LazyArrays) -> Grouping:
        """Return the grouping with the class of each tuple, which people are counted by."""
        return replace(grouping, of_tuples=lazy.tuple_ids()) if self.gatherer.counter is not None else grouping

    def portions(self, node: IntArray) -> tuple[Grouping, Iterator[tuple[slice, Classes]]]:
        """Return the grouping of a node and its classes, in portions where they are many."""
        grouping, arrays = self.group(node)
        return grouping, self.gatherer.portions(grouping, arrays, Released.by_levels(self.table, node))

    def _group(self, node: IntArray, *, keep: bool) -> tuple[Grouping, _LazyArrays]:
        levels, lists = np.asarray(node, dtype=np.int64), self.pool.lists
        keep = keep and self.gatherer.dense
        source = 0
        if keep:
            source = source_of(lists, levels)
        else:
            lists.used.lists, lists.used.entries = 1, self.table.tuples
            del self._arrays[1:]
        entries = int(lists.span[source].count)
        count = group(self.pool, source, levels)
        class_ids(self.pool.scratch, entries, count)
        ids = self.pool.scratch.ids[:entries].copy()
        end = int(lists.used.entries)
        first, sizes = lists.rep[end : end + count].copy(), lists.size[end : end + count].copy()
        if shift := people_shift(self.table):
            sizes &= (1 << shift) - 1
        lazy = _LazyArrays(self._arrays[source], ids, count)
        if keep:
            kept = keep_list(self.pool, source, levels, count, True)
            if kept >= 0:
                del self._arrays[kept:]
                self._arrays.append(lazy)
        return Grouping(ids, first, sizes), lazy
