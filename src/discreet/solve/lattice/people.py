"""Evaluation of lattice nodes where people are counted whose quasi-identifiers vary from row to row.

The people of a class are counted from the list of who has rows with which tuple: counts of a finer node say nothing
about the number of people in the union of its classes. What is suppressed is known tuple by tuple, and costs that add
up over attributes are summed over the suppressed tuples alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, Grouping, IntArray
from discreet.problem import Problem
from discreet.problem.privacy import PrivacyModel
from discreet.runtime.integer_codes import add_up
from discreet.solve._class_arrays import ClassArrays, Gatherer, Released
from discreet.solve._class_bounds import ClassBounds
from discreet.solve._key_sets import KeySetRule
from discreet.solve._key_sets_of_people import KeyClasses, classes_left, classes_of_key_sets, people_left
from discreet.solve._recoding import people_cost
from discreet.solve.lattice.pricing import base_costs, leaf_rates

__all__ = ["NodeEvaluation", "PeopleNodes"]


class _Arrays(Protocol):
    """The arrays of the classes of a node, made when they are first read."""

    @property
    def arrays(self) -> ClassArrays: ...


class NodeEvaluation(NamedTuple):
    """What the evaluation of a node gives; see :class:`discreet.solve.lattice.kernels.state.NodeResult`."""

    removed: float
    lower: float
    upper: float
    cost: float
    """Infinite if the node is not allowed."""
    classes: int
    """The classes that are published."""
    suppressed_rows: int
    suppressed: NDArray[np.bool_]
    """Whether each tuple is suppressed; empty unless requested."""
    suppressed_people: IntArray | None = None
    """Who is suppressed with all rows; None unless requested, and unless the limit is one of people."""


class _Left(NamedTuple):
    """What a node publishes."""

    rows: NDArray[np.int64]
    """Rows left of each tuple."""
    removed: int
    """Rows or people suppressed, whichever the limit counts."""
    alive: NDArray[np.bool_] | None
    """Who is left, where people are suppressed with all their rows."""


class _LeafPrices(NamedTuple):
    """What each row costs, for costs that add up over attributes."""

    base: list[FloatArray]
    """For each attribute (levels,): publishing all rows."""
    price: list[FloatArray]
    """For each attribute (levels, leaves): a published row."""
    penalty: FloatArray
    """(tuples,) a suppressed row."""


class PeopleNodes:
    """Evaluates the nodes of one problem."""

    def __init__(self, problem: Problem, gatherer: Gatherer, bounds: ClassBounds) -> None:
        self.problem, self.gatherer, self.bounds = problem, gatherer, bounds
        assert gatherer.counter is not None
        self.counter = gatherer.counter
        self.certain = [model for model in problem.privacy if model.superset_closed]
        """The models by which a node decides who is suppressed at all nodes below."""
        self.key_sets = KeySetRule(problem) if problem.key_sets else None

    def evaluate(self, node: IntArray, grouping: Grouping, lazy: _Arrays, *, tuples: bool) -> NodeEvaluation:
        """Evaluate a node, given its classes."""
        problem, table = self.problem, self.problem.table
        keys = self._keys(node, grouping)
        left = self._left(grouping, problem.privacy, keys, exact=tuples)
        forced = left if problem.superset_closed else self._left(grouping, self.certain, keys)
        rows = add_up(grouping.tuple_ids, left.rows, grouping.sizes.size)
        if self._leaf_prices is not None:
            lower, upper, total = self._priced(self._leaf_prices, node, left, forced)
        else:
            released = Released.by_levels(table, node)
            lower, upper, total = self._through_arrays(grouping, lazy.arrays, released, left, forced)
        allowed = left.removed <= problem.limit
        if allowed and any(model.of_table for model in problem.privacy):
            sizes = self.counter.sizes(grouping.tuple_ids, slice(0, rows.size), left.alive)
            allowed = problem.holds(sizes[rows > 0])
        return NodeEvaluation(
            removed=float(forced.removed),
            lower=lower,
            upper=upper,
            cost=total if allowed else np.inf,
            classes=int(np.count_nonzero(rows)),
            suppressed_rows=table.n - int(left.rows.sum()),
            suppressed=left.rows == 0 if tuples else np.zeros(0, dtype=np.bool_),
            suppressed_people=None if left.alive is None or not tuples else np.flatnonzero(~left.alive),
        )

    def all_kept(self, node: IntArray, grouping: Grouping) -> bool:
        """Return whether nothing has to be suppressed at a node, given its classes."""
        left = self._left(grouping, self.problem.privacy, self._keys(node, grouping), exact=True)
        return left.removed == 0

    def _keys(self, node: IntArray, grouping: Grouping) -> list[KeyClasses]:
        """Return the classes of each key set."""
        return classes_of_key_sets(self.key_sets, grouping, Released.by_levels(self.problem.table, node))

    def _left(
        self, grouping: Grouping, models: Sequence[PrivacyModel], keys: Sequence[KeyClasses], *, exact: bool = False
    ) -> _Left:
        """Return what is left if only these models and the key sets have to be satisfied."""
        ids, count, step = grouping.tuple_ids, grouping.sizes.size, self.gatherer.at_once
        if self.problem.whole_people:
            alive = people_left(self.counter, ids, count, models, keys, step, exact=exact)
            return _Left(self.counter.rows_left(alive), int(np.count_nonzero(~alive)), alive)
        ok = np.ones(count, dtype=np.bool_)
        for begin in range(0, count if models else 0, step):
            part = slice(begin, min(begin + step, count))
            classes = self.counter.classes(ids, part)
            ok[part] = np.logical_and.reduce([model.ok(classes) for model in models])
        ok = classes_left(self.counter, ids, ok, keys)
        rows = np.where(ok[ids], self.problem.table.weights, 0)
        return _Left(rows, int(grouping.sizes[~ok].sum()), None)

    @cached_property
    def _leaf_prices(self) -> _LeafPrices | None:
        """What each row costs; None if costs do not add up over attributes."""
        table, cost = self.problem.table, self.problem.cost
        separable = cost.separable(table) if cost.additive else None
        if separable is None:
            return None
        rates = leaf_rates(table, separable)
        each = zip(rates, separable.moment, separable.offset, strict=True)
        penalties = zip(separable.penalty, table.codes, strict=True)
        return _LeafPrices(
            base=base_costs(table, separable, rates),
            price=[rate * moment + offset for rate, moment, offset in each],
            penalty=np.sum([penalty[codes] for penalty, codes in penalties], axis=0),
        )

    def _priced(self, prices: _LeafPrices, node: IntArray, left: _Left, forced: _Left) -> tuple[float, float, float]:
        """Return the lower and the upper part and the cost: all rows published, and what suppressed ones cost more."""
        lower = float(sum(base[level] for base, level in zip(prices.base, node, strict=True)))
        upper = extra = self._extra(prices, node, left)
        if forced is not left:
            upper = self._extra(prices, node, forced)
        return lower, upper, lower + extra

    def _extra(self, prices: _LeafPrices, node: IntArray, left: _Left) -> float:
        table = self.problem.table
        if left.removed > self.problem.limit:
            return 0.0  # no release, and neither is any node below
        gone = table.weights - left.rows
        tuples = np.flatnonzero(gone)
        extra = prices.penalty[tuples].copy()
        for price, level, codes in zip(prices.price, node, table.codes, strict=True):
            extra -= price[level][codes[tuples]]
        return float((extra * gone[tuples]).sum())

    def _through_arrays(
        self, grouping: Grouping, arrays: ClassArrays, released: Released, left: _Left, forced: _Left
    ) -> tuple[float, float, float]:
        """Return the same for any cost."""
        problem, cost = self.problem, self.problem.cost
        count = grouping.sizes.size
        whole = self.gatherer.classes(grouping, arrays, released, slice(0, count))
        lower = upper = 0.0
        gone = grouping.sizes - add_up(grouping.tuple_ids, forced.rows, count)
        if cost.superadditive:
            floor = self.bounds.floors(whole)
            lower = float(floor.sum())
            if problem.whole_people:
                upper = float((gone * self.bounds.margins(whole)).sum())
            else:
                upper = float((cost.suppressed(whole) - floor)[gone > 0].sum())
        if not cost.additive:
            rows = add_up(grouping.tuple_ids, left.rows, count)
            total = cost.total(replace(whole, sizes=rows), rows > 0)
            return cost.lower(whole, problem.row_limit), upper, total
        return lower, upper, people_cost(problem, self.gatherer, grouping, released, left.rows)
