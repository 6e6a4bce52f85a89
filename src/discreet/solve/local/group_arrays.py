"""Groups of rows as the arrays that privacy models and costs see, whatever these need.

Kernels know groups by rates. Here groups are equivalence classes with everything in :class:`Classes`, so that any cost
and any model can be asked about them; and :meth:`GroupArrays.rate` says nothing that a cost does not say itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, FloatArray, IntArray
from discreet.problem import Classes, Problem
from discreet.problem.classes import leaf_columns
from discreet.runtime.integer_codes import add_up
from discreet.solve._base import GroupCovers
from discreet.solve._requirements import value_of_each
from discreet.solve.local.task import tree_order, watched_columns

__all__ = ["CoveredGroups", "GroupArrays", "value_column"]

_DENSE_CELLS = 1 << 25
"""Sets of values are found in portions of so many cells."""


class CoveredGroups(NamedTuple):
    """Groups as classes, and what each shows of each attribute."""

    classes: Classes
    covers: list[GroupCovers]


class _CoveredColumn(NamedTuple):
    """One attribute of some groups."""

    cover: GroupCovers
    low: IntArray
    high: IntArray
    leaves: IntArray
    rows: IntArray
    levels: IntArray
    blocks: IntArray


class GroupArrays:
    """Makes the classes of groups of a problem, with every array that its cost, its models and its suppression need.

    Rows are given by the tuples they have, sorted by group; ``first`` is where each group begins, and no group is
    empty. Covers are at least as general as the lowest levels of the problem.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        table, cost = problem.table, problem.cost
        self.columns = [
            _Column(attribute, low) for attribute, low in zip(table.attributes, problem.lowest, strict=True)
        ]
        self.codes = np.stack([c.position[codes] for c, codes in zip(self.columns, table.codes, strict=True)], axis=1)
        """(tuples, m) codes by which every node of a tree is a run."""
        names = watched_columns(problem)
        self.values = {name: value_column(problem, name) for name in names}
        self.labels: IntArray | None = None
        if table.labels is not None and "labels" in cost.needs:
            self.labels = value_of_each(table.labels)
        self.moments: FloatArray | None = None
        self.offsets: FloatArray | None = None
        if "moments" in cost.needs:
            self.moments, self.offsets = self._sums("leaf_moment"), self._sums("leaf_offset")

    def _sums(self, numbers: str) -> FloatArray:
        table = self.problem.table
        each = [getattr(self.problem.cost, numbers)(attribute, table) for attribute in table.attributes]
        return np.concatenate(
            [leaf_columns(of_leaf, codes) for of_leaf, codes in zip(each, table.codes, strict=True)], axis=1
        )

    def cover(self, tuples: IntArray, first: IntArray, count: IntArray | None = None) -> CoveredGroups:
        """Return groups as classes; the rows from ``first[g]`` on are in group g, ``count`` of each tuple or one."""
        table = self.problem.table
        count = np.ones(tuples.size, dtype=np.int64) if count is None else count.astype(np.int64)
        groups = first.size
        group = np.repeat(np.arange(groups), np.diff(np.append(first, tuples.size)))
        low = np.minimum.reduceat(self.codes[tuples], first, axis=0)
        high = np.maximum.reduceat(self.codes[tuples], first, axis=0)
        found = [
            column.cover(low[:, i], high[:, i], group, table.codes[i, tuples]) for i, column in enumerate(self.columns)
        ]
        moments, offsets = (
            None if sums is None else np.add.reduceat(sums[tuples] * count[:, np.newaxis], first, axis=0)
            for sums in (self.moments, self.offsets)
        )
        classes = Classes(
            table,
            np.add.reduceat(count, first).astype(np.int64),
            sensitive={
                name: _histogram(group, value[tuples], count, groups, table.sensitive[name].cardinality)
                for name, value in self.values.items()
            },
            labels=None
            if self.labels is None or table.labels is None
            else _histogram(group, self.labels[tuples], count, groups, table.labels.cardinality),
            blocks=np.stack([each.blocks for each in found], axis=1),
            block_leaves=np.stack([each.leaves for each in found], axis=1),
            block_rows=np.stack([each.rows for each in found], axis=1),
            block_levels=np.stack([each.levels for each in found], axis=1),
            low=np.stack([each.low for each in found], axis=1),
            high=np.stack([each.high for each in found], axis=1),
            set_sizes=np.stack([each.leaves * (each.cover.form == "set") for each in found], axis=1),
            moments=moments,
            offsets=offsets,
            local=True,
        )
        return CoveredGroups(classes, [each.cover for each in found])


class _Column:
    """One attribute: finds what covers the values of groups."""

    def __init__(self, attribute: CodedAttribute, lowest: int) -> None:
        self.attribute, self.lowest = attribute, lowest
        order, self.nodes = tree_order(attribute)
        self.position = np.empty(order.size, dtype=np.int64)
        self.position[order] = np.arange(order.size)
        self.before = np.concatenate([[0], np.cumsum(attribute.rows)])
        """Rows of all leaves before each, of attributes without a hierarchy."""

    def cover(self, low: IntArray, high: IntArray, group: IntArray, leaf: IntArray) -> _CoveredColumn:
        """Return what covers the leaves of each group, between the least and the greatest code."""
        if self.attribute.tree:
            return self._node(low, high)
        if self.attribute.positions is not None:
            return self._range(low, high)
        return self._set(low.size, group, leaf)

    def _node(self, low: IntArray, high: IntArray) -> _CoveredColumn:
        attribute = self.attribute
        levels = np.full(low.size, attribute.height + 1, dtype=np.int64)
        blocks = np.zeros(low.size, dtype=np.int64)
        leaves = np.full(low.size, attribute.leaves, dtype=np.int64)
        rows = np.full(low.size, int(attribute.rows.sum()), dtype=np.int64)
        open_ = np.arange(low.size)
        for level in range(self.lowest, attribute.height + 1):
            block = self.nodes[level, low[open_]]
            same = block == self.nodes[level, high[open_]]
            here, block = open_[same], block[same]
            levels[here], blocks[here] = level, block
            leaves[here], rows[here] = attribute.block_leaves[level][block], attribute.block_rows[level][block]
            open_ = open_[~same]
            if not open_.size:
                break
        return _CoveredColumn(GroupCovers("node", levels, blocks), low, high, leaves, rows, levels, blocks)

    def _range(self, low: IntArray, high: IntArray) -> _CoveredColumn:
        attribute = self.attribute
        assert attribute.positions is not None
        low, high = attribute.rounded(low, high)
        mixed = np.isnan(attribute.positions[high]) & (low < high)
        leaves = np.where(mixed, attribute.leaves, high - low + 1)
        rows = np.where(mixed, self.before[-1], self.before[high + 1] - self.before[low])
        none = np.zeros(low.size, dtype=np.int64)
        first = np.where(mixed, 0, low)  # ranges with missing values all show the root
        cover = GroupCovers("range", first, high, rounded=attribute.grid is not None)
        return _CoveredColumn(cover, low, high, leaves, rows, none, none)

    def _set(self, groups: int, group: IntArray, leaf: IntArray) -> _CoveredColumn:
        size = self.attribute.leaves
        cells = _distinct_cells(group, leaf, groups, size)
        ends = np.cumsum(np.bincount(cells // size, minlength=groups))
        cover = GroupCovers("set", np.concatenate([[0], ends[:-1]]), ends, cells % size)
        rows = add_up(cells // size, self.attribute.rows[cells % size], groups)
        low, high = cover.leaves[cover.first], cover.leaves[cover.second - 1]
        none = np.zeros(groups, dtype=np.int64)
        return _CoveredColumn(cover, low, high, cover.second - cover.first, rows, none, none)


def _distinct_cells(group: IntArray, leaf: IntArray, groups: int, leaves: int) -> IntArray:
    """Return group * leaves + leaf of all pairs that occur, sorted; ``group`` is sorted."""
    step = max(1, _DENSE_CELLS // leaves)
    found = []
    for begin in range(0, groups, step):
        a, b = np.searchsorted(group, [begin, begin + step])
        occurs = np.zeros(min(step, groups - begin) * leaves, dtype=np.bool_)
        occurs[(group[a:b] - begin) * leaves + leaf[a:b]] = True
        found.append(np.flatnonzero(occurs) + begin * leaves)
    return np.concatenate(found)


def _histogram(group: IntArray, value: IntArray, count: IntArray, groups: int, width: int) -> NDArray[np.int64]:
    """Return how often each value occurs in each group; value -1 is unknown and in no column."""
    known = value >= 0
    cells = np.bincount(group[known] * width + value[known], weights=count[known], minlength=groups * width)
    return np.rint(cells).astype(np.int64).reshape(groups, width)


def value_column(problem: Problem, name: str) -> NDArray[np.int64]:
    """Return the value of a sensitive column in each tuple; -1 if it is unknown."""
    return value_of_each(problem.table.sensitive[name])
