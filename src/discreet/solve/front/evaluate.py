"""Evaluation of lattice nodes for a front: the privacy values and the loss of each, under the budget rule.

With at most η rows to suppress, classes go from the worst up, all classes that are equally bad together; the node has
the worst value that stays. Where every point has to keep promises (the privacy models of the problem), the classes that
break one go first, and the others by what is left of η; a node is no point if those are more than η rows or all there
are, or if what stays breaks a promise about the whole table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.problem import Axis, Classes, Problem
from discreet.problem.axes.k import K
from discreet.problem.costs import Cost
from discreet.solve._class_arrays import ClassArrays, Released
from discreet.solve.front.kernels.run import SizeTally, evaluate_node
from discreet.solve.front.kernels.state import NodeOutcome, ProfileEntry
from discreet.solve.front.people import PeopleOfNode, check_axes
from discreet.solve.kernels.records import Records, extended, record, records
from discreet.solve.lattice.evaluate import NodeEvaluator
from discreet.solve.lattice.layout import lay_out
from discreet.solve.lattice.pool import make_pool
from discreet.solve.lattice.pricing import base_costs, has_compiled_form, leaf_rates, make_prices

__all__ = ["CompiledFrontEvaluator", "FrontEvaluation", "FrontEvaluator", "has_compiled_front", "published_costs"]


class FrontEvaluation(NamedTuple):
    """The result of evaluating a node; see :mod:`discreet.solve.front.kernels.state`."""

    values: tuple[float, ...]
    """One for each axis; more is better. Minus infinity on all where the node cannot keep the promises ..."""
    loss: float
    """... and infinite there."""
    total: float
    """What publishing all rows costs, or anything no node above can go below."""
    lost: int
    """Rows suppressed."""
    classes: int
    """Classes published."""
    profile: Records[ProfileEntry]
    worse: FloatArray
    """Rows in classes worse than each value of the grid."""
    most: tuple[float, ...] = ()
    """For each axis what no node below can exceed; only known where there are several axes, or promises."""

    @property
    def outcome(self) -> NodeOutcome:
        """The same for kernels."""
        return record(
            NodeOutcome,
            value=self.values[0],
            loss=self.loss,
            total=self.total,
            lost=self.lost,
            classes=self.classes,
        )


def has_compiled_front(problem: Problem, axes: Sequence[Axis]) -> bool:
    """Return whether the front is one of k against a cost with a compiled form."""
    compiled = has_compiled_form(problem, problem.cost.separable(problem.table))
    return compiled and len(axes) == 1 and type(axes[0]) is K


def published_costs(problem: Problem) -> list[FloatArray] | None:
    """Return for each attribute what each level costs over all rows; None if costs do not add up over attributes."""
    separable = problem.cost.separable(problem.table)
    if separable is None:
        return None
    return base_costs(problem.table, separable, leaf_rates(problem.table, separable))


class CompiledFrontEvaluator:
    """Evaluates k and a cost with a compiled form."""

    def __init__(self, problem: Problem, grid: FloatArray) -> None:
        table, separable = problem.table, problem.cost.separable(problem.table)
        lattice = lay_out(problem)
        self.prices, sums = make_prices(problem, lattice, separable, leaf_rates(table, separable))
        self.pool = make_pool(table, lattice, sums)
        published = np.zeros(lattice.level.shape)
        for i, levels in enumerate(published_costs(problem) or ()):
            published[i, : levels.size] = levels
        self.tally = SizeTally(
            limit=problem.limit,
            grid=grid,
            published=published,
            rows=np.zeros(table.n + 1, dtype=np.int64),
            size=np.zeros(table.n + 1, dtype=np.int64),
            profile=records(ProfileEntry, min(table.n, problem.limit) + 1),
            worse=np.zeros(grid.size),
            outcome=record(NodeOutcome),
        )

    def evaluate(self, node: IntArray) -> FrontEvaluation:
        """Evaluate one node."""
        tally, outcome = self.tally, self.tally.outcome
        length = evaluate_node(self.pool, self.prices, tally, np.asarray(node, dtype=np.int64))
        return FrontEvaluation(
            values=(float(outcome.value),),
            loss=float(outcome.loss),
            total=float(outcome.total),
            lost=int(outcome.lost),
            classes=int(outcome.classes),
            profile=extended(tally.profile[:length], 0),
            worse=tally.worse.copy(),
        )


@dataclass(frozen=True, eq=False)
class _NodeClasses:
    """The classes of a node, class by class."""

    sizes: FloatArray
    """What the limit counts: rows, or people."""
    judged: IntArray
    """What promises and axes count: people, if they count people."""
    values: list[FloatArray]
    """One array for each axis."""
    ok: NDArray[np.bool_]
    """Whether the class keeps the promises."""
    published: FloatArray
    suppressed: FloatArray
    """What the class costs, published and suppressed."""
    floor: FloatArray
    """What its rows cost at least at this node and every node above."""
    must_go: int
    """Rows, or people, that are suppressed at least, here and below, to keep the promises."""


class FrontEvaluator:
    """Evaluates any axes, promises and any cost, through their arrays."""

    def __init__(self, problem: Problem, axes: Sequence[Axis], grid: FloatArray | None = None) -> None:
        self.problem, self.axes = problem, axes
        if problem.whole_people:
            check_axes(axes)
        columns = [column for axis in axes for column in axis.columns]
        self.evaluator = NodeEvaluator(problem, columns=columns)
        self.grid = np.zeros(0) if grid is None else grid
        self.promises = any(model.text != "k(1)" for model in problem.privacy)
        """Whether there is anything to keep beside the axes."""

    def evaluate(self, node: IntArray) -> FrontEvaluation:
        """Evaluate one node."""
        problem, cost = self.problem, self.problem.cost
        grouping, arrays = self.evaluator.group(node)
        released = Released.by_levels(problem.table, node)
        gatherer = self.evaluator.gatherer
        if problem.whole_people:
            return self._of_people(PeopleOfNode(problem, gatherer, self.evaluator.bounds, grouping), arrays, released)
        found = self._classes(gatherer.portions(grouping, arrays, released), grouping.sizes)
        kept, lost = _stays(found.values[0], found.sizes, found.ok, problem.limit)
        point = bool(kept.any()) and (not self.promises or problem.holds(found.judged[kept]))
        loss, total = np.inf, -np.inf
        profile = records(ProfileEntry, 0)
        if cost.additive:
            loss = float(found.published[kept].sum() + found.suppressed[~kept].sum())
        else:
            whole = gatherer.classes(grouping, arrays, released, slice(0, found.sizes.size))
            if point:
                loss = cost.total(whole, kept)
        if cost.superadditive:
            total = float(found.floor.sum())
            if self.axes[0].superset_closed and not self.axes[0].of_table:
                profile = _profile(found.values[0][~kept], (found.suppressed - found.floor)[~kept])
        elif not cost.additive:
            total = cost.lower(whole, problem.row_limit)
        return FrontEvaluation(
            self._reached(found, kept) if point else (-np.inf,) * len(self.axes),
            loss if point else np.inf,
            total,
            lost,
            int(kept.sum()),
            profile,
            self._worse(found.values[0], found.sizes),
            self._most_below(found),
        )

    def _of_people(self, people: PeopleOfNode, arrays: ClassArrays, released: Released) -> FrontEvaluation:
        """Evaluate a node where people are suppressed with all their rows."""
        models = self.problem.privacy if self.promises else ()
        found = people.evaluate(models, arrays, released)
        point = found.k > 0
        profile = records(ProfileEntry, len(found.profile))
        for entry, (value, extra) in enumerate(found.profile):
            profile[entry].value, profile[entry].extra = value, extra
        return FrontEvaluation(
            (float(found.k) if point else -np.inf,),
            found.loss if point else np.inf,
            found.total,
            found.lost,
            found.classes,
            profile,
            self._worse(found.sizes, found.sizes),
            (np.inf if found.possible else -np.inf,) if self.promises else (),
        )

    def _classes(self, portions: Iterable[tuple[slice, Classes]], sizes: IntArray) -> _NodeClasses:
        """Evaluate the axes, the promises and the cost for each class, in one pass over the portions."""
        problem, cost, none = self.problem, self.problem.cost, np.zeros(0)
        values: list[list[FloatArray]] = [[] for _ in self.axes]
        published, suppressed, floor, ok, must_go = [none], [none], [none], [np.zeros(0, dtype=np.bool_)], 0
        plain = cost.additive and type(cost).floor is Cost.floor
        judged = [np.zeros(0, dtype=np.int64)]
        for _, classes in portions:
            judged.append(classes.judged.sizes)
            for axis, numbers in zip(self.axes, values, strict=True):
                numbers.append(axis.values(classes.judged))
            if self.promises:
                ok.append(problem.ok(classes))
                must_go += int(self.evaluator.bounds.forced_rows(classes, ok[-1]).sum())
            else:
                ok.append(np.ones(len(classes), dtype=np.bool_))
            if cost.additive:
                published.append(cost.published(classes))
            suppressed.append(cost.suppressed(classes))
            if cost.superadditive:
                floor.append(published[-1] if plain else cost.floor(classes, 1))
        people = np.concatenate(judged)
        return _NodeClasses(
            sizes=np.asarray(people if problem.limit_of_people else sizes, dtype=np.float64),
            judged=people,
            values=[np.concatenate(numbers) for numbers in values],
            ok=np.concatenate(ok),
            published=np.concatenate(published),
            suppressed=np.concatenate(suppressed),
            floor=np.concatenate(floor),
            must_go=must_go,
        )

    def _reached(self, found: _NodeClasses, kept: NDArray[np.bool_]) -> tuple[float, ...]:
        """Return the value of the node on each axis."""
        each = zip(self.axes, found.values, strict=True)
        return tuple(axis.of(values[kept], found.judged[kept].astype(np.float64)) for axis, values in each)

    def _most_below(self, found: _NodeClasses) -> tuple[float, ...]:
        """Return for each axis what no node below can exceed; empty if the search does not need it."""
        if found.must_go > self.problem.limit:
            return (-np.inf,) * len(self.axes)  # no node below can keep the promises either
        if len(self.axes) == 1 and not self.promises:
            return ()
        each = zip(self.axes, found.values, strict=True)
        limit, varying = self.problem.limit, self.problem.varying
        return tuple(
            np.inf if varying and not axis.superset_closed else _most_below(axis, values, found, limit)
            for axis, values in each
        )

    def smallest_kept(self, node: IntArray) -> int:
        """Return the rows, or people, of the smallest class that a node publishes."""
        if self.problem.whole_people:
            return int(self.evaluate(node).values[0])
        grouping, portions = self.evaluator.portions(node)
        found = self._classes(portions, grouping.sizes)
        ok = found.ok if self.promises else np.ones(found.judged.size, dtype=np.bool_)
        kept, _ = _stays(found.values[0], found.sizes, ok, self.problem.limit)
        return int(found.judged[kept].min())

    def class_values(self, node: IntArray) -> FloatArray:
        """Return the value of every class of a node on the first axis."""
        _, portions = self.evaluator.portions(node)
        return np.concatenate([self.axes[0].values(classes.judged) for _, classes in portions])

    def _worse(self, values: FloatArray, sizes: FloatArray) -> FloatArray:
        """Rows in classes worse than each value of the grid."""
        if self.grid.size == 0:
            return self.grid
        order = np.argsort(values)
        rows = np.concatenate([[0.0], np.cumsum(sizes[order])])
        return np.asarray(rows[np.searchsorted(values[order], self.grid, side="left")])


def _stays(values: FloatArray, sizes: FloatArray, ok: NDArray[np.bool_], limit: int) -> tuple[NDArray[np.bool_], int]:
    """Which classes stay, and the rows that go: those that are not ok first, then from the worst up.

    Nothing stays if too many rows are not ok.
    """
    broken = int(sizes[~ok].sum())
    if broken > limit or not ok.any():
        return np.zeros_like(ok), int(sizes.sum())
    least, lost = _budget_rule(values[ok], sizes[ok], limit - broken)
    return ok & (values >= least), broken + lost


def _budget_rule(values: FloatArray, sizes: FloatArray, limit: int) -> tuple[float, int]:
    """The least value that stays, and the rows that go; something always stays."""
    order = np.argsort(values)
    rows = np.cumsum(sizes[order])
    stays = min(int(np.searchsorted(rows, limit, side="right")), values.size - 1)
    least = values[order[stays]]
    gone = int(np.searchsorted(values[order], least, side="left"))
    return float(least), int(rows[gone - 1]) if gone else 0


def _most_below(axis: Axis, values: FloatArray, found: _NodeClasses, limit: int) -> float:
    """What no node below can exceed, whichever rows it suppresses.

    A node below that reaches c suppresses all rows of the classes worse than c where more rows never make a class
    worse; and at least one row of each such class where the union of two classes is never worse than both.
    """
    if axis.of_table:
        return axis.of(values, found.judged.astype(np.float64)) if axis.union_closed and limit == 0 else np.inf
    if axis.superset_closed:
        return _budget_rule(values, found.sizes, limit)[0]
    if axis.union_closed and values.size > limit:
        return float(np.partition(values, limit)[limit])
    return np.inf


def _profile(values: FloatArray, extra: FloatArray) -> Records[ProfileEntry]:
    """For each value that occurs, what suppressing all classes up to it costs more than publishing them."""
    distinct, index = np.unique(values, return_inverse=True)
    profile = records(ProfileEntry, distinct.size)
    profile["value"][:] = distinct
    profile["extra"][:] = np.cumsum(np.bincount(index, weights=extra, minlength=distinct.size))
    return profile
