"""Local recoding as points to be grouped: what every local solver starts from and ends with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import add_up
from discreet.counts import CodedAttribute, FloatArray, IntArray
from discreet.errors import DataError
from discreet.kernels.covers import BITS, RANGE, SET, TABLE, TREE, Points, bounds_of
from discreet.problem import Classes, Problem
from discreet.problem.costs.certainty import Certainty
from discreet.solve._base import Cover, Groups, Progress, Solution
from discreet.solve._middle import middles
from discreet.solve._requirements import value_of_each
from discreet.solve._squared_error import squared_error

__all__ = [
    "Priced",
    "Shares",
    "Task",
    "finish",
    "groups_ok",
    "make_task",
    "mended",
    "places_of",
    "positions_of",
    "price",
    "row_rates",
]

_TABLE = 512
"""Attributes with at most so many leaves have a table of all rates."""
_DENSE_CELLS = 1 << 25
"""Histograms of groups are made in portions of so many cells."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Which rows go where: ``count[e]`` rows of tuple ``tuple[e]`` of the count table go to group ``group[e]``.

    Groups are numbered from 0 without gaps; group -1 is suppressed. The rows of a tuple may be shared between groups.
    Every row of the table goes somewhere.
    """

    tuple: IntArray
    group: IntArray
    count: IntArray


@dataclass(frozen=True, eq=False)
class Task:
    """A problem of local recoding, and the points in it: point j is tuple j of the count table."""

    problem: Problem
    points: Points

    @property
    def k(self) -> int:
        """No group with fewer rows than this can be ok."""
        return self.problem.smallest_class

    @property
    def show(self) -> str:
        """What a group shows: its ``cover``, or one value in place of its values."""
        return str(getattr(self.problem.schemes[0], "show", "cover"))


def make_task(problem: Problem) -> Task:
    """Turn the tuples of a problem into points, and its cost into rates of covers."""
    table = problem.table
    codes = np.empty((table.tuples, len(table.attributes)), dtype=np.int64)
    kinds, rates = [], [np.zeros(0)]
    nodes: list[IntArray] = [np.zeros(0, dtype=np.int32)]
    starts, node_starts, rate_end, node_end = [], [], 0, 0
    for i, attribute in enumerate(table.attributes):
        order, blocks = _contiguous(attribute)
        kind, rate, node = _rates(problem, i, order, blocks)
        place = np.empty(order.size, dtype=np.int64)
        place[order] = np.arange(order.size)
        codes[:, i] = (np.int64(1) << (place % BITS) if kind == SET else place)[table.codes[i]]
        kinds.append(kind)
        starts.append(rate_end)
        node_starts.append(node_end)
        rates.append(rate)
        nodes.append(node)
        rate_end += rate.size
        node_end += node.size
    points = Points(
        codes=codes,
        weights=table.weights,
        kind=np.array(kinds, dtype=np.int64),
        leaves=np.array([attribute.leaves for attribute in table.attributes], dtype=np.int64),
        start=np.array(starts, dtype=np.int64),
        rate=np.concatenate(rates),
        node_start=np.array(node_starts, dtype=np.int64),
        node=np.concatenate(nodes),
        penalty=problem.cost.suppressed_row(table),  # type: ignore[attr-defined]  # Problem.build sees to it
    )
    return Task(problem, points)


def _contiguous(attribute: CodedAttribute) -> tuple[IntArray, IntArray]:
    """The leaves in an order in which every node is a run, and the levels in that order; without a tree their own."""
    if not attribute.tree:
        return np.arange(attribute.leaves), attribute.ancestors
    order = np.lexsort(attribute.ancestors)  # by root first, by leaf last
    return order, attribute.ancestors[:, order]


def _rates(problem: Problem, i: int, order: IntArray, blocks: IntArray) -> tuple[int, FloatArray, IntArray]:
    """The kind of an attribute and the numbers that tell its rates, and for large trees its nodes."""
    attribute, cost = problem.table.attributes[i], problem.cost
    weight = float(cost.weights.get(attribute.name, 1.0))  # type: ignore[attr-defined]
    leaves, none = attribute.leaves, np.zeros(0, dtype=np.int32)
    certainty = isinstance(cost, Certainty)
    if attribute.positions is not None and not attribute.tree:
        position = positions_of(attribute, weight, by_value=certainty)
        if leaves > _TABLE:
            return RANGE, position, none
        spread = position[None, :-1] - position[:-1, None]
        table = np.where(np.isnan(spread), weight, spread)
        np.fill_diagonal(table, 0.0)
        return TABLE, table.ravel(), none
    if not attribute.tree:
        size = np.arange(BITS + 1) * max(leaves / BITS, 1.0)
        share = size / leaves if certainty else (size - 1) / max(leaves - 1, 1)
        return SET, weight * np.where(np.arange(BITS + 1) <= 1, 0.0, share), none
    if isinstance(cost, Certainty):
        lost = cost.node_spreads(attribute)
    else:
        lost = [(count - 1) / max(leaves - 1, 1) for count in attribute.block_leaves]
    rate = weight * np.stack([each[row] for each, row in zip(lost, blocks, strict=True)])
    if blocks[-1].any():  # a tree without a root: leaves with no node in common lose all
        blocks, rate = np.vstack([blocks, 0 * blocks[-1]]), np.vstack([rate, np.full(leaves, weight)])
    if leaves > _TABLE:
        return TREE, rate.ravel(), blocks.astype(np.int32).ravel()
    table = np.zeros((leaves, leaves))
    for level in range(len(blocks) - 1, -1, -1):
        shared = blocks[level][:, None] == blocks[level][None, :]
        table = np.where(shared, rate[level][:, None], table)
    return TABLE, table.ravel(), none


def places_of(attribute: CodedAttribute, *, by_value: bool) -> FloatArray:
    """Where each leaf stands on a line, not a number if it is missing: at its value, or just in order."""
    places = np.arange(attribute.leaves, dtype=np.float64)
    if attribute.positions is None:
        return places
    return attribute.positions if by_value else np.where(np.isnan(attribute.positions), np.nan, places)


def positions_of(attribute: CodedAttribute, weight: float, *, by_value: bool) -> FloatArray:
    """Numbers whose differences are the rates of ranges; the last is the rate of a range with missing values."""
    place = places_of(attribute, by_value=by_value)
    occurs = place[(attribute.rows > 0) & ~np.isnan(place)]
    with np.errstate(over="ignore"):
        whole = float(np.ptp(occurs)) if by_value and occurs.size else float(max(attribute.leaves - 1, 1))
    if not np.isfinite(whole):
        raise DataError(
            f"The numbers of column '{attribute.name}' are too far apart to compare; divide them by a large number.",
            column=attribute.name,
        )
    return np.append(weight * place / (whole or 1.0), weight)


def finish(
    task: Task,
    shares: Shares,
    lower_bound: float = 0.0,
    stats: dict[str, Any] | None = None,
    trace: Sequence[Progress] = (),
    priced: Priced | None = None,
) -> Solution:
    """Price groups that are ok from the definition, and say what they show.

    ``priced`` is what the groups show and cost, where that is known.
    """
    problem = task.problem
    lost = int(shares.count[shares.group < 0].sum())
    priced = price(task, shares) if priced is None else priced
    cost = priced.cost
    bound = min(lower_bound, cost)
    groups = Groups(shares.tuple, shares.group, shares.count, priced.covers, task.show)
    told = dict(stats or {})
    if task.show != "cover":
        told["covered"] = _covered(priced.classes)
    error = squared_error(problem.table, groups) if task.show == "mean" else None
    if error is not None:
        told["squared_error"] = error
    return Solution(
        status="optimal" if cost <= bound else "feasible",
        cost=cost,
        lower_bound=bound,
        groups=groups,
        suppressed_rows=lost,
        classes=int(shares.group.max(initial=-1)) + 1,
        stats=told,
        trace=tuple(trace),
    )


def _covered(classes: Classes) -> dict[str, float]:
    """How much of its domain the range, node or set behind a shown value covers, by attribute, on average over rows."""
    assert classes.block_leaves is not None
    rows = max(int(classes.sizes.sum()), 1)
    return {
        attribute.name: float(((under - 1) / max(attribute.leaves - 1, 1) * classes.sizes).sum() / rows)
        for attribute, under in zip(classes.table.attributes, classes.block_leaves.T, strict=True)
    }


def mended(task: Task, shares: Shares) -> Shares:
    """Put groups that are not ok together with their neighbours, until all are; what cannot be mended is suppressed.

    Solvers make groups that keep every built-in model. A model of the user's own is only known by its arrays, and
    this is where it is kept. Groups that show the same values are one class to whoever reads them, which matters to
    models for which two good classes may make a bad one.
    """
    group = shares.group.astype(np.int64)
    while (group >= 0).any():
        if not task.problem.union_closed:
            same = _same_shown(task, Shares(shares.tuple, group, shares.count))
            group = np.where(group < 0, -1, same[group])
        now = Shares(shares.tuple, group, shares.count)
        ok = groups_ok(task, now)
        if ok.all():
            return now
        group = np.where(group < 0, -1, _put_together(task, now, ok)[group])
    return Shares(shares.tuple, group, shares.count)


def _same_shown(task: Task, shares: Shares) -> IntArray:
    """Return new numbers for groups, the same for those that show the same."""
    seen: list[NDArray[Any]] = []
    if task.show != "cover":
        groups = Groups(shares.tuple, shares.group, shares.count, (), task.show)
        for attribute, codes in zip(task.problem.table.attributes, task.problem.table.codes, strict=True):
            shown = middles(attribute.positions, codes, groups)
            dates = attribute.positions is not None and not (attribute.positions % 1 > 0).any()  # or whole numbers
            seen.append(np.nan_to_num(np.rint(shown) if dates else shown, nan=np.inf))
        return _numbered(seen)
    random = np.random.default_rng(0)
    for cover in price(task, shares).covers:
        if cover.form == "set":  # a set is told by the sum of random numbers, one for each of its leaves
            drawn = random.integers(1 << 62, size=int(cover.leaves.max()) + 1)
            seen.append(np.add.reduceat(drawn[cover.leaves], cover.first))
        else:
            seen += [cover.first, cover.second]
    return _numbered(seen)


def _numbered(seen: list[NDArray[Any]]) -> IntArray:
    """Number the groups by what is seen of them."""
    number: IntArray = np.unique(np.stack(seen), axis=1, return_inverse=True)[1].reshape(-1)
    return number


def _put_together(task: Task, shares: Shares, ok: NDArray[np.bool_]) -> IntArray:
    """Return new numbers for groups: one not ok joins the next by its lowest values; of several, every other one."""
    classes = price(task, shares).classes
    assert classes.low is not None
    order = np.lexsort(classes.low.T[::-1])
    if order.size == 1:
        return np.full(1, -1)
    place = np.arange(order.size)
    since = place - np.maximum.accumulate(np.where(ok[order], place, -1))  # 1 for the first of several that are not ok
    asks = since % 2 == 1
    joins = np.concatenate([[False], asks[:-1]])
    joins[-1] |= asks[-1]
    run = np.cumsum(~joins) - 1
    number = np.empty_like(run)
    number[order] = run
    return number


def groups_ok(task: Task, shares: Shares) -> NDArray[np.bool_]:
    """Whether each group satisfies every model, by the models' own arrays."""
    problem = task.problem
    size = int(shares.group.max()) + 1
    ok = np.ones(size, dtype=np.bool_)
    names = sorted({str(getattr(model, "attribute", "")) for model in problem.privacy} & set(problem.table.sensitive))
    widest = max((problem.table.sensitive[name].cardinality for name in names), default=1)
    step = max(1, _DENSE_CELLS // widest)
    for begin in range(0, size, step):
        part = np.flatnonzero((shares.group >= begin) & (shares.group < begin + step))
        count = min(step, size - begin)
        place = shares.group[part] - begin
        weights = shares.count[part]
        sizes = add_up(place, weights, count)
        histograms = {}
        for name in names:
            histogram = problem.table.sensitive[name]
            value, width = value_of_each(histogram)[shares.tuple[part]], histogram.cardinality + 1
            cells = np.bincount(place * width + value % width, weights=weights, minlength=count * width)
            histograms[name] = np.rint(cells).astype(np.int64).reshape(count, width)[:, :-1]  # the last is not known
        ok[begin : begin + count] = problem.ok(Classes(problem.table, sizes, sensitive=histograms))
    return ok


def _sorted(shares: Shares) -> tuple[IntArray, IntArray, IntArray]:
    """The shares that are published, sorted by group; the group of each; and where each group begins."""
    kept = np.flatnonzero(shares.group >= 0)
    kept = kept[np.argsort(shares.group[kept], kind="stable")]
    group = shares.group[kept]
    return kept, group, np.flatnonzero(np.diff(group, prepend=-1))


class Priced(NamedTuple):
    """What groups show, and what they and the suppressed rows cost."""

    covers: list[Cover]
    classes: Classes
    cost: float


def price(task: Task, shares: Shares) -> Priced:
    """Find what each group shows of each attribute: the lowest node above its values, their range, or the values.

    The cost is that of the definition. Suppressed rows are in no class.
    """
    table, points = task.problem.table, task.points
    kept, group, first = _sorted(shares)
    low, high = bounds_of(points.codes, shares.tuple[kept].astype(np.int64), first.astype(np.int64))
    under, levels, blocks = (np.zeros(low.shape, dtype=np.int32) for _ in range(3))
    covers = []
    for i, attribute in enumerate(table.attributes):
        if not first.size:
            cover = Cover("node", low[:, i], high[:, i])
        elif attribute.tree:
            levels[:, i], blocks[:, i] = _lowest_nodes(attribute, low[:, i], high[:, i])
            cover = Cover("node", levels[:, i], blocks[:, i])
            under[:, i] = _leaves_under(attribute, cover)
        elif attribute.positions is not None:
            cover = Cover("range", low[:, i].copy(), high[:, i].copy())
            mixed = np.isnan(attribute.positions[cover.second]) & (cover.first < cover.second)
            under[:, i] = np.where(mixed, attribute.leaves, cover.second - cover.first + 1)
        else:
            there = np.zeros(first.size * attribute.leaves, dtype=np.bool_)  # a set has few leaves
            there[group * attribute.leaves + table.codes[i, shares.tuple[kept]]] = True
            cells = np.flatnonzero(there)
            ends = np.cumsum(np.bincount(cells // attribute.leaves, minlength=first.size))
            cover = Cover("set", np.concatenate([[0], ends[:-1]]), ends, cells % attribute.leaves)
            low[:, i], high[:, i] = cover.leaves[cover.first], cover.leaves[cover.second - 1]
            under[:, i] = cover.second - cover.first
        covers.append(cover)
    sizes = np.add.reduceat(shares.count[kept], first).astype(np.int64)
    low, high = low.astype(np.int32), high.astype(np.int32)  # bits of sets gave way to leaves
    classes = Classes(
        table, sizes, low=low, high=high, block_leaves=under, block_levels=levels, blocks=blocks, local=True
    )
    lost = int(shares.count[shares.group < 0].sum())
    cost = float(task.problem.cost.published(classes).sum()) + lost * points.penalty
    return Priced(covers, classes, cost)


def row_rates(task: Task, shares: Shares, priced: Priced) -> FloatArray:
    """Return what a row of each point costs in the cheapest of its groups; infinite where it is in none."""
    rates = np.full(task.points.weights.size, np.inf)
    kept = shares.group >= 0
    each = task.problem.cost.published(priced.classes) / np.maximum(priced.classes.sizes, 1)
    np.minimum.at(rates, shares.tuple[kept], each[shares.group[kept]])
    return rates


def _lowest_nodes(attribute: CodedAttribute, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
    """The level and the block of the lowest node above the leaves of each group; a level too high if there is none.

    Leaves go by their places in an order in which every node is a run.
    """
    level_of = np.full(low.size, attribute.height + 1, dtype=np.int32)
    block_of = np.zeros(low.size, dtype=np.int32)
    _, blocks = _contiguous(attribute)
    for level in range(attribute.height, -1, -1):
        block = blocks[level, low]
        shared = block == blocks[level, high]
        level_of, block_of = np.where(shared, level, level_of), np.where(shared, block, block_of)
    return level_of, block_of


def _leaves_under(attribute: CodedAttribute, cover: Cover) -> IntArray:
    """How many leaves lie under the node each group shows; all of them where there is no node above its values."""
    under = np.full(cover.first.size, attribute.leaves, dtype=np.int32)
    for level, leaves in enumerate(attribute.block_leaves):
        here = np.flatnonzero(cover.first == level)
        under[here] = leaves[cover.second[here]]
    return under
