"""Rows as points in space: the standardized coordinates of the tuples of a table, and trees of rows."""

from __future__ import annotations

import numpy as np

from discreet.counts import CountTable
from discreet.problem.classes import leaf_columns
from discreet.problem.costs.squared_error import SquaredError
from discreet.solve._base import Budget
from discreet.solve._parallel import in_parallel
from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.random import RandomState
from discreet.solve.microaggregation.kernels.tree import NearRows, RowTree, fill_tree, nearest_rows

__all__ = ["coordinates", "find_near", "group_errors", "make_tree"]

_LEAF = 16
"""Rows of a leaf of a tree in which near rows are searched, at most."""
_AT_A_TIME = 256
"""Leaves whose rows are searched between two checks of the budget."""
_EVERY_LEAF = 1 << 62


def coordinates(table: CountTable, cost: SquaredError) -> Floats:
    """Return the coordinates of each tuple in which the table varies, (tuples, m); there is at least one."""
    columns = [
        leaf_columns(cost.leaf_moment(attribute, table), codes)
        for attribute, codes in zip(table.attributes, table.codes, strict=True)
    ]
    every = np.concatenate([np.zeros((table.tuples, 1)), *columns], axis=1)
    varying = np.flatnonzero(np.ptp(every, axis=0) > 0)
    return np.ascontiguousarray(every[:, varying if varying.size else [0]])


def group_errors(x: Floats, group: Ints, rows: Ints) -> Floats:
    """Return the squared error of each group, given the group and the number of rows of each point."""
    sizes = np.bincount(group, weights=rows)
    errors = np.zeros(sizes.size)
    for column in x.T:
        mean = np.bincount(group, weights=rows * column) / np.maximum(sizes, 1)
        errors += np.bincount(group, weights=rows * (column - mean[group]) ** 2)
    return errors


def make_tree(x: Floats, leaf: int = _LEAF, jitter: float = 0.0, state: RandomState | None = None) -> RowTree:
    """Return a tree of rows whose leaves have at most so many of them, or a few more with jitter."""
    n, m = x.shape
    depth = max(int(np.ceil(np.log2(n / leaf))), 0)
    nodes = 2 ** (depth + 1) - 1
    tree = RowTree(
        order=np.zeros(n, dtype=np.int64),
        begin=np.zeros(nodes, dtype=np.int64),
        end=np.zeros(nodes, dtype=np.int64),
        low=np.zeros((nodes, m)),
        high=np.zeros((nodes, m)),
    )
    fill_tree(x, tree, jitter, np.ones(1, dtype=np.uint64) if state is None else state)
    return tree


def find_near(x: Floats, count: int, budget: Budget | None = None, visits: int = _EVERY_LEAF) -> NearRows:
    """Return so many nearest other rows of each row, in parallel if a budget is given.

    Rows that were not searched when the budget is exhausted have none, and others may be as near as they like.
    ``visits`` limits the leaves that are searched for the rows of each.
    """
    n, wide = x.shape[0], max(min(count, x.shape[0] - 1), 0)
    if wide == 0:
        return NearRows(np.zeros((n, 0), dtype=np.int64), np.zeros((n, 0)), np.full(n, np.inf))
    tree = make_tree(x)
    points, leaves = x[tree.order], tree.begin.size - tree.begin.size // 2
    found = NearRows(np.full((n, wide), -1, dtype=np.int64), np.full((n, wide), np.inf), np.zeros(n))
    if budget is None:
        nearest_rows(points, tree, 0, leaves, visits, found)
        return found

    def portion(first: int) -> None:
        if not budget.exhausted:
            nearest_rows(points, tree, first, min(first + _AT_A_TIME, leaves), visits, found)

    in_parallel(portion, range(0, leaves, _AT_A_TIME), budget)
    return found
