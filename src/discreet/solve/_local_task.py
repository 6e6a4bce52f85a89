"""Local recoding as points to be grouped: what every local solver starts from and ends with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.counts import CodedAttribute, FloatArray, IntArray
from discreet.errors import UnsupportedCombinationError
from discreet.kernels.covers import BITS, RANGE, SET, TABLE, TREE, Points
from discreet.problem import Classes, Problem
from discreet.problem.costs.certainty import Certainty
from discreet.problem.costs.loss import Loss

__all__ = ["Shares", "Task", "classes_of", "make_task", "total_cost"]

_TABLE = 512
"""Attributes with at most so many leaves have a table of all rates."""


class Shares(NamedTuple):
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


def make_task(problem: Problem) -> Task:
    """Turn the tuples of a problem into points, and its cost into rates of covers."""
    table = problem.table
    if not isinstance(problem.cost, Certainty | Loss):
        raise UnsupportedCombinationError(
            f"The cost {problem.cost.name}", "the scheme local", "choose NCP or LM, which say what each value loses"
        )
    codes, kinds, rates, nodes = [], [], [np.zeros(0)], [np.zeros(0, dtype=np.int32)]
    starts, node_starts, rate_end, node_end = [], [], 0, 0
    for i, attribute in enumerate(table.attributes):
        order, blocks = _contiguous(attribute, by_number=isinstance(problem.cost, Certainty))
        kind, rate, node = _rates(problem, i, order, blocks)
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        code = place[table.codes[i]]
        codes.append(np.int64(1) << (code % BITS) if kind == SET else code)
        kinds.append(kind)
        starts.append(rate_end)
        node_starts.append(node_end)
        rates.append(rate)
        nodes.append(node)
        rate_end += rate.size
        node_end += node.size
    points = Points(
        codes=np.ascontiguousarray(np.array(codes, dtype=np.int64).T),
        weights=table.weights,
        kind=np.array(kinds, dtype=np.int64),
        leaves=np.array([attribute.leaves for attribute in table.attributes], dtype=np.int64),
        start=np.array(starts, dtype=np.int64),
        rate=np.concatenate(rates),
        node_start=np.array(node_starts, dtype=np.int64),
        node=np.concatenate(nodes),
        penalty=problem.cost.suppressed_row(table),
    )
    return Task(problem, points)


def _contiguous(attribute: CodedAttribute, *, by_number: bool = False) -> tuple[IntArray, IntArray]:
    """The leaves in an order in which every node is a run, and the levels in that order.

    Without a tree, and for numbers where only their range counts, the order is their own.
    """
    if not attribute.tree or (by_number and attribute.positions is not None):
        return np.arange(attribute.leaves), attribute.ancestors
    order = np.lexsort(attribute.ancestors)  # by root first, by leaf last
    return order, attribute.ancestors[:, order]


def _rates(problem: Problem, i: int, order: IntArray, blocks: IntArray) -> tuple[int, FloatArray, IntArray]:
    """The kind of an attribute and the numbers that tell its rates, and for large trees its nodes."""
    attribute, cost = problem.table.attributes[i], problem.cost
    weight = float(cost.weights.get(attribute.name, 1.0))  # type: ignore[attr-defined]
    leaves, none = attribute.leaves, np.zeros(0, dtype=np.int32)
    certainty = isinstance(cost, Certainty)
    if attribute.positions is not None and (certainty or not attribute.tree):
        position = _positions(attribute, weight, certainty)
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
    under = np.stack([count[row] for count, row in zip(attribute.block_leaves, blocks, strict=True)])
    if blocks[-1].any():  # a tree without a root: leaves with no node in common lose all
        blocks, under = np.vstack([blocks, 0 * blocks[-1]]), np.vstack([under, np.full(leaves, leaves)])
    share = under / leaves if certainty else (under - 1) / max(leaves - 1, 1)
    rate = weight * np.where(under == 1, 0.0, share)
    if leaves > _TABLE:
        return TREE, rate.ravel(), blocks.astype(np.int32).ravel()
    table = np.zeros((leaves, leaves))
    for level in range(len(blocks) - 1, -1, -1):
        shared = blocks[level][:, None] == blocks[level][None, :]
        table = np.where(shared, rate[level][:, None], table)
    return TABLE, table.ravel(), none


def _positions(attribute: CodedAttribute, weight: float, certainty: bool) -> FloatArray:
    """Numbers whose differences are the rates of ranges; the last is the rate of a range with missing values."""
    assert attribute.positions is not None
    missing = np.isnan(attribute.positions)
    place = (
        attribute.positions if certainty else np.where(missing, np.nan, np.arange(attribute.leaves, dtype=np.float64))
    )
    occurs = place[(attribute.rows > 0) & ~missing] if certainty else place[~missing]
    whole = float(np.ptp(occurs)) if certainty and occurs.size else float(max(attribute.leaves - 1, 1))
    return np.append(weight * place / (whole or 1.0), weight)


def classes_of(task: Task, shares: Shares) -> Classes:
    """The groups as classes, with everything the cost looks at; suppressed rows are not in them."""
    table = task.problem.table
    kept = np.flatnonzero(shares.group >= 0)
    kept = kept[np.argsort(shares.group[kept], kind="stable")]
    group, member = shares.group[kept], shares.tuple[kept]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.add.reduceat(shares.count[kept], first) if kept.size else np.zeros(0, dtype=np.int64)
    low, high, under = (np.zeros((first.size, len(table.attributes)), dtype=np.int64) for _ in range(3))
    for i, attribute in enumerate(table.attributes):
        code = table.codes[i, member].astype(np.int64)
        low[:, i], high[:, i] = np.minimum.reduceat(code, first), np.maximum.reduceat(code, first)
        under[:, i] = _leaves_covered(attribute, group, code, first, low[:, i], high[:, i])
    return Classes(table, sizes.astype(np.int64), low=low, high=high, block_leaves=under)


def _leaves_covered(
    attribute: CodedAttribute, group: IntArray, code: IntArray, first: IntArray, low: IntArray, high: IntArray
) -> IntArray:
    """How many leaves lie under what each group shows: a node, a range or a set."""
    if attribute.tree:
        under = np.full(first.size, attribute.leaves, dtype=np.int64)
        for level in range(attribute.height, -1, -1):
            block = attribute.ancestors[level, code]
            least, most = np.minimum.reduceat(block, first), np.maximum.reduceat(block, first)
            under = np.where(least == most, attribute.block_leaves[level][least], under)
        return under
    if attribute.positions is not None:
        mixed = np.isnan(attribute.positions[high]) & (low < high)
        return np.where(mixed, attribute.leaves, high - low + 1)
    distinct = np.unique(group * attribute.leaves + code) // attribute.leaves
    return np.bincount(distinct, minlength=first.size)


def total_cost(task: Task, shares: Shares) -> float:
    """What the groups and the suppressed rows cost, from the definition."""
    classes, cost = classes_of(task, shares), task.problem.cost
    lost = int(shares.count[shares.group < 0].sum())
    return float(cost.published(classes).sum()) + lost * task.points.penalty
