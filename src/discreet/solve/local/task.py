"""Input and result of a local solver: a problem as weighted points, and a grouping of their rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.counts import CodedAttribute, FloatArray, IntArray
from discreet.errors import DataError
from discreet.problem import Problem
from discreet.problem.costs.certainty import Certainty
from discreet.problem.costs.precision import Precision
from discreet.solve.kernels.covers import BITS, RANGE, SET, TABLE, TREE, Points, RatedAttribute, Rates
from discreet.solve.kernels.records import records

__all__ = ["LocalGrouping", "LocalTask", "line_positions", "make_task", "range_rates", "tree_order", "watched_columns"]

_TABLE_LEAVES = 512
"""Attributes with at most so many leaves have a table of all rates."""


@dataclass(frozen=True, eq=False)
class LocalGrouping:
    """Which rows are in which group: ``count[e]`` rows of tuple ``tuple[e]`` of the count table are in ``group[e]``.

    Groups are numbered from 0 without gaps; group -1 is suppressed. The rows of a tuple may be in several groups. Every
    row of the table is counted once.
    """

    tuple: IntArray
    group: IntArray
    count: IntArray

    @property
    def suppressed(self) -> int:
        """The number of suppressed rows."""
        return int(self.count[self.group < 0].sum())


@dataclass(frozen=True, eq=False)
class LocalTask:
    """A problem of local recoding and its points: point j is tuple j of the count table."""

    problem: Problem
    points: Points

    @property
    def k(self) -> int:
        """The fewest rows a group may have."""
        return self.problem.smallest_class

    @property
    def show(self) -> str:
        """The released value of a group: its ``cover``, or one value in place of its values."""
        return self.problem.schemes[0].shows


def watched_columns(problem: Problem) -> list[str]:
    """Return the sensitive columns that some privacy model looks at."""
    return sorted({str(getattr(model, "attribute", "")) for model in problem.privacy} & set(problem.table.sensitive))


def make_task(problem: Problem) -> LocalTask:
    """Turn the tuples of a problem into points, and its cost into rates of covers."""
    table = problem.table
    m = len(table.attributes)
    codes, attributes = np.empty((table.tuples, m), dtype=np.int64), records(RatedAttribute, m)
    rates: list[FloatArray] = [np.zeros(0)]
    nodes: list[IntArray] = [np.zeros(0, dtype=np.int32)]
    rate_end = node_end = 0
    for i, attribute in enumerate(table.attributes):
        order, blocks = tree_order(attribute)
        kind, rate, node = _rates(problem, i, blocks)
        code = np.empty(order.size, dtype=np.int64)
        code[order] = np.arange(order.size)
        codes[:, i] = (np.int64(1) << (code % BITS) if kind == SET else code)[table.codes[i]]
        attributes[i] = (kind, rate_end, attribute.leaves, node_end)
        rates.append(rate)
        nodes.append(node)
        rate_end += rate.size
        node_end += node.size
    points = Points(
        codes=codes,
        weights=table.weights,
        rates=Rates(attributes, np.concatenate(rates), np.concatenate(nodes)),
        penalty=problem.cost.suppressed_row(table),  # type: ignore[attr-defined]  # Problem.build sees to it
    )
    return LocalTask(problem, points)


def tree_order(attribute: CodedAttribute) -> tuple[IntArray, IntArray]:
    """Return the leaves in an order in which every node is a run, and the ancestors in that order."""
    if not attribute.tree:
        return np.arange(attribute.leaves), attribute.ancestors
    order = np.lexsort(attribute.ancestors)  # by root first, by leaf last
    return order, attribute.ancestors[:, order]


def _rates(problem: Problem, i: int, blocks: IntArray) -> tuple[int, FloatArray, IntArray]:
    """Return the kind of an attribute, its numbers in ``Rates.rate``, and for large trees those in ``Rates.node``."""
    attribute, cost = problem.table.attributes[i], problem.cost
    weight = float(cost.weights.get(attribute.name, 1.0))  # type: ignore[attr-defined]
    leaves, none = attribute.leaves, np.zeros(0, dtype=np.int32)
    certainty = isinstance(cost, Certainty)
    if attribute.positions is not None and not attribute.tree:
        position = range_rates(attribute, weight, by_value=certainty)
        if leaves > _TABLE_LEAVES:
            return RANGE, position, none
        each = np.arange(leaves)
        low, high = attribute.rounded(each[:, None], each[None, :])
        spread = position[high] - position[low]
        table = np.where(np.isnan(spread), weight, spread)
        np.fill_diagonal(table, 0.0)
        return TABLE, table.ravel(), none
    if not attribute.tree:
        size = np.arange(BITS + 1) * max(leaves / BITS, 1.0)
        share = size / leaves if certainty else (size - 1) / max(leaves - 1, 1)
        return SET, weight * np.where(np.arange(BITS + 1) <= 1, 0.0, share), none
    if isinstance(cost, Certainty):
        lost = cost.node_spreads(attribute)
    elif isinstance(cost, Precision):
        weight, lost = 1.0, list(cost.separable(problem.table).rate[i])
    else:
        lost = [(count - 1) / max(leaves - 1, 1) for count in attribute.block_leaves]
    rate = weight * np.stack([each[row] for each, row in zip(lost, blocks, strict=True)])
    if blocks[-1].any():  # a tree without a root: leaves with no common node lose everything
        blocks, rate = np.vstack([blocks, 0 * blocks[-1]]), np.vstack([rate, np.full(leaves, weight)])
    if leaves > _TABLE_LEAVES:
        return TREE, rate.ravel(), blocks.astype(np.int32).ravel()
    table = np.zeros((leaves, leaves))
    for level in range(len(blocks) - 1, -1, -1):
        shared = blocks[level][:, None] == blocks[level][None, :]
        table = np.where(shared, rate[level][:, None], table)
    return TABLE, table.ravel(), none


def line_positions(attribute: CodedAttribute, *, by_value: bool) -> FloatArray:
    """Return the position of each leaf on a line, its value or its rank; NaN if it is a missing value."""
    ranks = np.arange(attribute.leaves, dtype=np.float64)
    if attribute.positions is None:
        return ranks
    return attribute.positions if by_value else np.where(np.isnan(attribute.positions), np.nan, ranks)


def range_rates(attribute: CodedAttribute, weight: float, *, by_value: bool) -> FloatArray:
    """Return numbers whose differences are the rates of ranges; the last is the rate of a range with missing values."""
    position = line_positions(attribute, by_value=by_value)
    occurs = position[(attribute.rows > 0) & ~np.isnan(position)]
    with np.errstate(over="ignore"):
        whole = float(np.ptp(occurs)) if by_value and occurs.size else float(max(attribute.leaves - 1, 1))
    if not np.isfinite(whole):
        raise DataError(
            f"The numbers of column '{attribute.name}' are too far apart to compare; divide them by a large number.",
            column=attribute.name,
        )
    return np.append(weight * position / (whole or 1.0), weight)
