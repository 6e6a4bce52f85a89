"""Released values and costs of groups, from the definition of the cost; and the solution made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet.counts import CodedAttribute, FloatArray, IntArray
from discreet.problem import Classes
from discreet.solve._base import GroupCovers, LocalRecoding, Progress, Solution
from discreet.solve.kernels.covers import extremes
from discreet.solve.local.microaggregation import squared_error
from discreet.solve.local.task import LocalGrouping, LocalTask, tree_order

__all__ = ["PricedGroups", "make_solution", "price", "row_rates"]


class PricedGroups(NamedTuple):
    """Released values of groups, and the cost of them and of the suppressed rows."""

    covers: list[GroupCovers]
    classes: Classes
    cost: float


def price(task: LocalTask, grouping: LocalGrouping) -> PricedGroups:
    """Find what each group shows of each attribute: the lowest node above its values, their range, or their set.

    The cost is that of the definition. Suppressed rows are in no class.
    """
    table, points = task.problem.table, task.points
    kept, group, first = _sorted(grouping)
    low, high = extremes(points.codes, grouping.tuple[kept].astype(np.int64), first.astype(np.int64))
    under, sets, levels, blocks = (np.zeros(low.shape, dtype=np.int32) for _ in range(4))
    covers = []
    for i, attribute in enumerate(table.attributes):
        if not first.size:
            cover = GroupCovers("node", low[:, i], high[:, i])
        elif attribute.tree:
            levels[:, i], blocks[:, i] = _lowest_nodes(attribute, low[:, i], high[:, i])
            cover = GroupCovers("node", levels[:, i], blocks[:, i])
            under[:, i] = _leaves_under(attribute, cover)
        elif attribute.positions is not None:
            low[:, i], high[:, i] = attribute.rounded(low[:, i], high[:, i])
            rounded = attribute.grid is not None
            cover = GroupCovers("range", low[:, i].copy(), high[:, i].copy(), rounded=rounded)
            mixed = np.isnan(attribute.positions[cover.second]) & (cover.first < cover.second)
            under[:, i] = np.where(mixed, attribute.leaves, cover.second - cover.first + 1)
        else:
            occurs = np.zeros(first.size * attribute.leaves, dtype=np.bool_)  # a set has few leaves
            occurs[group * attribute.leaves + table.codes[i, grouping.tuple[kept]]] = True
            cells = np.flatnonzero(occurs)
            ends = np.cumsum(np.bincount(cells // attribute.leaves, minlength=first.size))
            cover = GroupCovers("set", np.concatenate([[0], ends[:-1]]), ends, cells % attribute.leaves)
            low[:, i], high[:, i] = cover.leaves[cover.first], cover.leaves[cover.second - 1]
            under[:, i] = sets[:, i] = cover.second - cover.first
        covers.append(cover)
    sizes = np.add.reduceat(grouping.count[kept], first).astype(np.int64)
    low, high = low.astype(np.int32), high.astype(np.int32)  # leaves, now also for sets
    classes = Classes(
        table,
        sizes,
        low=low,
        high=high,
        set_sizes=sets,
        block_leaves=under,
        block_levels=levels,
        blocks=blocks,
        local=True,
    )
    cost = float(task.problem.cost.published(classes).sum()) + grouping.suppressed * points.penalty
    return PricedGroups(covers, classes, cost)


def _sorted(grouping: LocalGrouping) -> tuple[IntArray, IntArray, IntArray]:
    """Return the published entries sorted by group, the group of each, and where each group begins."""
    kept = np.flatnonzero(grouping.group >= 0)
    kept = kept[np.argsort(grouping.group[kept], kind="stable")]
    group = grouping.group[kept]
    return kept, group, np.flatnonzero(np.diff(group, prepend=-1))


def _lowest_nodes(attribute: CodedAttribute, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
    """Return the level and the block of the lowest node above each two leaves; one level too many if there is none.

    Leaves are numbered as in :func:`tree_order`.
    """
    level_of = np.full(low.size, attribute.height + 1, dtype=np.int32)
    block_of = np.zeros(low.size, dtype=np.int32)
    _, blocks = tree_order(attribute)
    for level in range(attribute.height, -1, -1):
        block = blocks[level, low]
        shared = block == blocks[level, high]
        level_of, block_of = np.where(shared, level, level_of), np.where(shared, block, block_of)
    return level_of, block_of


def _leaves_under(attribute: CodedAttribute, cover: GroupCovers) -> IntArray:
    """Return how many leaves lie under the node each group shows; all of them if there is no such node."""
    under = np.full(cover.first.size, attribute.leaves, dtype=np.int32)
    for level, leaves in enumerate(attribute.block_leaves):
        here = np.flatnonzero(cover.first == level)
        under[here] = leaves[cover.second[here]]
    return under


def row_rates(task: LocalTask, grouping: LocalGrouping, priced: PricedGroups) -> FloatArray:
    """Return what a row of each point costs in the cheapest of its groups; infinite if it is in none."""
    rates = np.full(task.points.weights.size, np.inf)
    kept = grouping.group >= 0
    each = task.problem.cost.published(priced.classes) / np.maximum(priced.classes.sizes, 1)
    np.minimum.at(rates, grouping.tuple[kept], each[grouping.group[kept]])
    return rates


def make_solution(
    task: LocalTask,
    grouping: LocalGrouping,
    lower_bound: float = 0.0,
    trace: Sequence[Progress] = (),
    priced: PricedGroups | None = None,
) -> Solution:
    """Return a grouping as a solution; ``priced`` is what :func:`price` returned, if it was called already."""
    priced = price(task, grouping) if priced is None else priced
    groups = LocalRecoding(grouping.tuple, grouping.group, grouping.count, priced.covers, task.show)
    stats: dict[str, Any] = {}
    if task.show != "cover":
        stats["covered"] = _covered(priced.classes)
    error = squared_error(task.problem.table, groups) if task.show == "mean" else None
    if error is not None:
        stats["squared_error"] = error
    bound = min(lower_bound, priced.cost)
    return Solution(
        status="optimal" if priced.cost <= bound else "feasible",
        cost=priced.cost,
        lower_bound=bound,
        groups=groups,
        suppressed_rows=grouping.suppressed,
        classes=int(grouping.group.max(initial=-1)) + 1,
        stats=stats,
        trace=tuple(trace),
    )


def _covered(classes: Classes) -> dict[str, float]:
    """Return the share of each attribute's domain that the covers behind the shown values span, averaged over rows."""
    assert classes.block_leaves is not None
    rows = max(int(classes.sizes.sum()), 1)
    return {
        attribute.name: float(((under - 1) / max(attribute.leaves - 1, 1) * classes.sizes).sum() / rows)
        for attribute, under in zip(classes.table.attributes, classes.block_leaves.T, strict=True)
    }
