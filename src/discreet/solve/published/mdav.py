"""MDAV, the usual method of microaggregation: groups of k around the records that are farthest out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import CodedAttribute, FloatArray, IntArray
from discreet.solve._base import SOLVERS, Budget
from discreet.solve.kernels.records import records
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.base import LocalSolver
from discreet.solve.local.task import LocalGrouping, LocalTask
from discreet.solve.published._boxed_groups import grouping_of, halve, make_groups, mend_groups
from discreet.solve.published.kernels.mdav import GroupsMade, MdavGroups, MdavRecords, MdavValues, RecordsLeft
from discreet.solve.published.kernels.mdav import group_records as group_some
from discreet.solve.published.top_down import split_points

__all__ = ["MdavSolver", "group_records"]

_AT_ONCE = 1 << 23
"""Records visited between two checks of the budget."""
_ROUNDS = 3
"""Scans for seeds, when groups are sorted or split."""


@SOLVERS.register
@dataclass(frozen=True)
class MdavSolver(LocalSolver):
    """Maximum distance to average vector (Domingo-Ferrer and Mateo-Sanz 2002), for columns of any kind.

    As long as there are 3k rows, the record farthest from the average record makes a group with its k - 1 nearest, and
    so does the record farthest from that one. If at least 2k rows are left, one more such group is made, and the rest
    are the last one. k is the fewest rows that the privacy models allow a class. Time grows with the square of the
    number of different records.

    The distance is Euclidean (generic MDAV, Domingo-Ferrer and Torra 2005). Numbers and dates are divided by their
    standard deviation. The distance of other values is the share of all leaves that lie under their lowest common
    node, from 0 for a leaf to 1 for the root; without a hierarchy different values have distance 1. A missing number is
    as far from the others as these are from each other at most. The average has the mean of numbers, and of other
    attributes the value from which the squared distances are least: without a hierarchy the most frequent one. Of the
    cost only the weights matter, which multiply the distances. Of equal distances the first in the order of the values
    counts.

    Groups that break another privacy model are mended as in ``top-down``. The seed does not matter.

    >>> MdavSolver().text
    'mdav'
    """

    name: ClassVar[str] = "mdav"
    examples: ClassVar[tuple[str, ...]] = ("mdav",)
    title: ClassVar[str] = "MDAV"
    summary: ClassVar[str] = "Groups of equal size around the rows farthest out: for microaggregation."
    in_studio: ClassVar[bool] = False

    def groups(self, task: LocalTask, requirement: Requirement, budget: Budget) -> LocalGrouping:
        """Make groups of k rows, and mend those that break the other models."""
        grouping, random = group_records(task, requirement.smallest, budget), np.array([1], dtype=np.uint64)
        order, _ = split_points(task, 1, _ROUNDS, random, budget)
        groups = make_groups(task, _reordered(grouping, order))
        mend_groups(task, requirement, groups, budget)
        halve(task, requirement, groups, _ROUNDS, random)
        return grouping_of(groups)


def group_records(task: LocalTask, k: int, budget: Budget) -> LocalGrouping:
    """Return groups of k to 2k - 1 rows, in the order in which they are made.

    What is left when the time is over is cut into groups in the order of the table.
    """
    values = _values(task)
    records, groups = _records(task, values), _no_groups(task, k)
    left, made = records.left[0], groups.made[0]
    while left.rows and not budget.exhausted:
        group_some(values, records, k, groups, _AT_ONCE)
    rest = _in_order(records.point[: left.records], records.rows[: left.records], k)
    return LocalGrouping(
        np.concatenate([groups.point[: made.shares], rest.tuple]),
        np.concatenate([groups.group[: made.shares], rest.group + made.groups]),
        np.concatenate([groups.rows[: made.shares], rest.count]),
    )


def _in_order(point: IntArray, rows: IntArray, k: int) -> LocalGrouping:
    """Cut points into groups of k rows, in their order; the last one has up to 2k - 1."""
    row = np.repeat(point, rows)
    group = np.minimum(np.arange(row.size) // k, max(row.size // k - 1, 0))
    begins = np.flatnonzero((np.diff(row, prepend=-1) != 0) | (np.diff(group, prepend=-1) != 0))
    return LocalGrouping(row[begins], group[begins], np.diff(begins, append=row.size))


def _reordered(grouping: LocalGrouping, order: IntArray) -> LocalGrouping:
    """Return the same groups in the order of their first points."""
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    begins = np.flatnonzero(np.diff(grouping.group, prepend=-1))
    number = np.empty_like(begins)
    number[np.argsort(rank[grouping.tuple[begins]], kind="stable")] = np.arange(begins.size)
    group = number[grouping.group]
    by_group = np.argsort(group, kind="stable")
    return LocalGrouping(grouping.tuple[by_group], group[by_group], grouping.count[by_group])


def _values(task: LocalTask) -> MdavValues:
    """Return the distances of numbers, and of the values of the other attributes."""
    numbers, others = _kinds(task)
    weights = task.problem.cost.weights  # type: ignore[attr-defined]
    spread = [_spread(task, i, float(weights.get(attribute.name, 1.0))) for i, attribute in numbers]
    nodes = [attribute.ancestors[: attribute.height + 1 if attribute.tree else 1] for _, attribute in others]
    distances = [np.zeros(0)]
    for node, (_, attribute) in zip(nodes, others, strict=True):
        weight = float(weights.get(attribute.name, 1.0))
        under = np.stack([attribute.block_leaves[level][row] for level, row in enumerate(node)])
        distances.append(((weight * (under - 1) / max(attribute.leaves - 1, 1)) ** 2).ravel())
    return MdavValues(
        scale=np.array([scale for scale, _ in spread], dtype=np.float64),
        missing=np.array([far**2 for _, far in spread], dtype=np.float64),
        first=np.cumsum([0, *(attribute.leaves for _, attribute in others)], dtype=np.int64),
        far=np.array([weights.get(attribute.name, 1.0) ** 2 for _, attribute in others], dtype=np.float64),
        levels=np.array([len(node) for node in nodes], dtype=np.int64),
        node_first=np.cumsum([0, *(node.size for node in nodes)], dtype=np.int64)[:-1],
        node=np.concatenate([np.zeros(0), *(node.ravel() for node in nodes)], dtype=np.int32, casting="unsafe"),
        distance=np.concatenate(distances),
    )


def _kinds(task: LocalTask) -> tuple[list[tuple[int, CodedAttribute]], list[tuple[int, CodedAttribute]]]:
    """Return the attributes that are numbers or dates, and the others, each with its index in the table."""
    attributes = list(enumerate(task.problem.table.attributes))
    return (
        [(i, attribute) for i, attribute in attributes if attribute.positions is not None],
        [(i, attribute) for i, attribute in attributes if attribute.positions is None],
    )


def _numbers(task: LocalTask, i: int) -> FloatArray:
    """Return the number of each point, shifted to begin at 0 and divided by a power of 2, which rounds nothing."""
    table = task.problem.table
    positions = table.attributes[i].positions
    assert positions is not None, "an attribute of numbers has positions"
    number = positions[table.codes[i]]
    known = number[~np.isnan(number)]
    small = np.ldexp(number, -1 - int(np.frexp(np.abs(known).max(initial=0.0))[1]))
    return np.asarray(small - np.nanmin(small)) if known.size else number


def _spread(task: LocalTask, i: int, weight: float) -> tuple[float, float]:
    """Return the factor that scales the standard deviation to the weight, and the distance of a missing number."""
    number, rows = _numbers(task, i), task.points.weights
    known = np.flatnonzero(~np.isnan(number))
    if not known.size:
        return 0.0, weight
    number, rows = number[known], rows[known]
    square = (number - np.average(number, weights=rows)) ** 2
    deviation = float(np.sqrt(np.average(square, weights=rows)))
    scale = weight / deviation if deviation > 0 else 0.0
    return scale, max(float(number.max()) * scale, weight)


def _records(task: LocalTask, values: MdavValues) -> MdavRecords:
    """Return all points of a task as records without a group."""
    table, weights = task.problem.table, task.points.weights
    numbers, others = _kinds(task)
    number = np.array([_numbers(task, i) for i, _ in numbers]).reshape(len(numbers), weights.size)
    known = ~np.isnan(number)
    count = [np.zeros(0, dtype=np.int64)]
    for levels, (_, attribute) in zip(values.levels.tolist(), others, strict=True):
        for rows in attribute.block_rows[:levels]:
            count.append(np.append(rows, np.zeros(attribute.leaves - rows.size, dtype=np.int64)))
    left = records(RecordsLeft, 1)
    left["records"], left["rows"] = weights.size, table.n
    return MdavRecords(
        number=number,
        code=np.ascontiguousarray(table.codes[[i for i, _ in others]] + values.first[:-1, None], dtype=np.int32),
        rows=weights.copy(),
        point=np.arange(weights.size),
        left=left,
        total=np.einsum("an,n->a", np.where(known, number, 0.0), weights),
        known=known.astype(np.int64) @ weights,
        count=np.concatenate(count),
    )


def _no_groups(task: LocalTask, k: int) -> MdavGroups:
    """Return space for all groups; each divides at most one point."""
    most = task.points.weights.size + task.problem.table.n // k + 1
    point, rows, group = (np.zeros(most, dtype=np.int64) for _ in range(3))
    return MdavGroups(point, rows, group, records(GroupsMade, 1))
