"""Looking at lattice nodes for a front: the privacy values and the loss of each, under the budget rule.

With at most η rows to suppress, classes go from the worst up, all classes that are equally bad together; the node has
the worst value that stays. Where every point has to keep promises (the privacy models of the problem), the classes that
break one go first, and the others by what is left of η; a node is no point if those are more than η rows or all there
are, or if what stays breaks a promise about the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.kernels.front_run import Tally, evaluate_node
from discreet.problem import Axis, Problem
from discreet.problem.axes.k import K
from discreet.problem.costs import Cost
from discreet.solve._evaluate import NodeEvaluator, lay_out, make_lists, make_workspace
from discreet.solve._gather import Released
from discreet.solve._prices import has_compiled_form, leaf_rates, make_prices

__all__ = ["CompiledLooks", "Look", "PlainLooks", "base_costs", "has_compiled_looks"]


class Look(NamedTuple):
    """What one node has: see :mod:`discreet.kernels.fronts`."""

    values: tuple[float, ...]
    """One for each axis; more is better. Minus infinity on all where the node cannot keep the promises ..."""
    loss: float
    """... and infinite there."""
    total: float
    """What publishing all rows costs, or anything no node above can go below."""
    lost: int
    """Rows suppressed."""
    classes: int
    """Classes published; -1 where that was not counted."""
    profile: FloatArray
    worse: FloatArray
    """Rows in classes worse than each value of the grid."""
    most: tuple[float, ...] = ()
    """For each axis what no node below can go above; only known where there are several axes, or promises."""


def has_compiled_looks(problem: Problem, axes: Sequence[Axis]) -> bool:
    """Whether the front is one of k against a cost with a compiled form."""
    compiled = has_compiled_form(problem, problem.cost.separable(problem.table))
    return compiled and len(axes) == 1 and type(axes[0]) is K


def base_costs(problem: Problem) -> list[FloatArray] | None:
    """For each attribute and level what it costs over all rows, where costs add up over attributes."""
    separable = problem.cost.separable(problem.table)
    if separable is None:
        return None
    rates = leaf_rates(problem.table, separable)
    each = zip(rates, separable.moment, separable.offset, problem.table.attributes, strict=True)
    return [((rate * moment + offset) * a.rows).sum(axis=1) for rate, moment, offset, a in each]


class CompiledLooks:
    """Looks at k and a cost with a compiled form."""

    def __init__(self, problem: Problem, grid: FloatArray) -> None:
        self.problem, self.grid = problem, grid
        separable = problem.cost.separable(problem.table)
        self.lattice = lay_out(problem)
        self.prices, sums = make_prices(problem, self.lattice, separable, leaf_rates(problem.table, separable))
        self.lists, self.ws = make_lists(problem.table, self.lattice, sums), make_workspace(self.lattice)
        base = np.zeros(self.lattice.start.shape)
        for i, levels in enumerate(base_costs(problem) or ()):
            base[i, : levels.size] = levels
        n = problem.table.n
        self.tally = Tally(
            rows=np.zeros(n + 1, dtype=np.int64),
            size=np.zeros(n + 1, dtype=np.int64),
            profile=np.zeros((min(n, problem.limit) + 1, 2)),
            worse=np.zeros(grid.size),
            result=np.zeros(5),
            base=base,
        )

    def look(self, node: IntArray) -> Look:
        """Evaluate one node."""
        levels = np.asarray(node, dtype=np.int64)
        length = evaluate_node(
            self.lattice, self.lists, self.ws, self.prices, self.tally, self.problem.limit, self.grid, levels
        )
        k, loss, total, lost, classes = self.tally.result.tolist()
        profile, worse = self.tally.profile[:length].copy(), self.tally.worse.copy()
        return Look((k,), loss, total, int(lost), int(classes), profile, worse)


class PlainLooks:
    """Looks at any axes, promises and any cost, through their arrays."""

    def __init__(self, problem: Problem, axes: Sequence[Axis], grid: FloatArray | None = None) -> None:
        self.problem, self.axes = problem, axes
        columns = [column for axis in axes for column in axis.columns]
        self.evaluator = NodeEvaluator(problem, lay_out(problem), columns=columns)
        self.grid = np.zeros(0) if grid is None else grid
        self.promises = any(model.text != "k(1)" for model in problem.privacy)
        """Whether there is anything to keep beside the axes."""

    def look(self, node: IntArray) -> Look:
        """Evaluate one node."""
        problem, cost = self.problem, self.problem.cost
        grouping, rolled = self.evaluator._group(np.asarray(node, dtype=np.int64), keep=True)
        released = Released.by_levels(problem.table, node)
        values: list[list[FloatArray]] = [[] for _ in self.axes]
        published, suppressed, floor, fine, must = [], [], [], [], 0
        gatherer = self.evaluator.gatherer
        for _, classes in gatherer.portions(grouping, rolled, released):
            for axis, numbers in zip(self.axes, values, strict=True):
                numbers.append(axis.values(classes))
            if self.promises:
                fine.append(problem.ok(classes))
                must += int(self.evaluator._must_remove(classes, fine[-1]).sum())
            if cost.additive:
                published.append(cost.published(classes))
            suppressed.append(cost.suppressed(classes))
            if cost.superadditive:
                plain = cost.additive and type(cost).floor is Cost.floor
                floor.append(published[-1] if plain else cost.floor(classes, 1))
        sizes = np.asarray(grouping.sizes, dtype=np.float64)
        first = np.concatenate(values[0])
        ok = np.concatenate(fine) if fine else np.ones(sizes.size, dtype=np.bool_)
        kept, lost = _stays(first, sizes, ok, problem.limit)
        point = bool(kept.any()) and (not self.promises or problem.holds(grouping.sizes[kept]))
        gone = np.concatenate(suppressed)
        loss = np.inf
        if cost.additive:
            loss = float(np.concatenate(published)[kept].sum() + gone[~kept].sum())
        else:
            whole = gatherer.classes(grouping, rolled, released, slice(0, sizes.size))
            if point:
                loss = cost.total(whole, kept)
        total, profile = -np.inf, np.zeros((0, 2))
        if cost.superadditive:
            cheapest = np.concatenate(floor)
            total = float(cheapest.sum())
            if self.axes[0].superset_closed and not self.axes[0].of_table:
                profile = _profile(first[~kept], (gone - cheapest)[~kept])
        elif not cost.additive:
            total = cost.lower(whole, problem.limit)
        each = [np.concatenate(numbers) for numbers in values]
        reached = (-np.inf,) * len(self.axes)
        if point:
            reached = tuple(axis.of(numbers[kept], sizes[kept]) for axis, numbers in zip(self.axes, each, strict=True))
        most: tuple[float, ...] = ()
        if must > problem.limit:
            most = (-np.inf,) * len(self.axes)  # no node below can keep the promises either
        elif len(self.axes) > 1 or self.promises:
            most = tuple(
                _most_below(axis, numbers, sizes, problem.limit) for axis, numbers in zip(self.axes, each, strict=True)
            )
        return Look(
            reached,
            loss if point else np.inf,
            total,
            lost,
            int(kept.sum()),
            profile,
            self._worse(first, sizes),
            most,
        )

    def smallest_kept(self, node: IntArray) -> int:
        """Return the rows of the smallest class that a node publishes."""
        grouping, rolled = self.evaluator._group(np.asarray(node, dtype=np.int64), keep=True)
        portions = self.evaluator.gatherer.portions(grouping, rolled, Released.by_levels(self.problem.table, node))
        each = [(self.axes[0].values(classes), self.problem.ok(classes)) for _, classes in portions]
        first, ok = (np.concatenate(parts) for parts in zip(*each, strict=True))
        kept, _ = _stays(first, np.asarray(grouping.sizes, dtype=np.float64), ok, self.problem.limit)
        return int(grouping.sizes[kept].min())

    def _worse(self, values: FloatArray, sizes: FloatArray) -> FloatArray:
        """Rows in classes worse than each value of the grid."""
        if self.grid.size == 0:
            return self.grid
        order = np.argsort(values)
        rows = np.concatenate([[0.0], np.cumsum(sizes[order])])
        return np.asarray(rows[np.searchsorted(values[order], self.grid, side="left")])

    def class_values(self, node: IntArray) -> FloatArray:
        """Return what every class of a node has on the first axis."""
        grouping, rolled = self.evaluator._group(np.asarray(node, dtype=np.int64), keep=True)
        portions = self.evaluator.gatherer.portions(grouping, rolled, Released.by_levels(self.problem.table, node))
        return np.concatenate([self.axes[0].values(classes) for _, classes in portions])


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


def _most_below(axis: Axis, values: FloatArray, sizes: FloatArray, limit: int) -> float:
    """What no node below can reach more of, whichever rows it suppresses.

    A node below that reaches c suppresses all rows of the classes worse than c where more rows never make a class
    worse; and at least one row of each such class where the union of two classes is never worse than both.
    """
    if axis.of_table:
        return axis.of(values, sizes) if axis.union_closed and limit == 0 else np.inf
    if axis.superset_closed:
        return _budget_rule(values, sizes, limit)[0]
    if axis.union_closed and values.size > limit:
        return float(np.partition(values, limit)[limit])
    return np.inf


def _profile(values: FloatArray, extra: FloatArray) -> FloatArray:
    """For each value that occurs, what suppressing all classes up to it costs more than publishing them."""
    distinct, place = np.unique(values, return_inverse=True)
    return np.stack([distinct, np.cumsum(np.bincount(place, weights=extra, minlength=distinct.size))], axis=1)
