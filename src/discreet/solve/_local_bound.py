"""What no grouping of the rows can cost less than: bounds for local recoding, with their proofs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.kernels.covers import BITS, RANGE, SET, TABLE, Points
from discreet.kernels.local_bounds import Cells, build_boxes, nearest_rates
from discreet.problem.costs.certainty import Certainty
from discreet.solve._base import Budget
from discreet.solve._local_task import Task

__all__ = ["nearest_bound"]

_MARGIN = 1e-9
"""Bounds are lowered by this share, so that rounding cannot make them wrong."""
_AT_A_TIME = 2000
"""Points between two looks at the clock."""
_VISITS = 2000
"""How many boxes the search for the neighbours of one point may look into at most..."""
_ALL_VISITS = 40_000_000
"""... and the searches for those of all points, but for 32 each."""
_CELLS = 256
"""Numbers and large trees are looked at in so many cells."""


def nearest_bound(task: Task, budget: Budget) -> float:
    """Return a bound from how far each row's nearest neighbours are.

    A row's group holds at least k - 1 other rows, one of which is no nearer than its k-th nearest row, itself counted.
    The group's cover covers both, and costs the row no less than the cover of these two alone. Covers of single
    values cost nothing, so rows that occur k times add nothing. A row that is suppressed costs more than any cover.
    Whatever else the models ask of a group only makes fewer groups valid, and the bound stays one.

    It is one search per distinct row. In large tables a search ends early, with a lower rate that is sure; if the time
    is over, rows not looked at count 0.
    """
    cells, _ = make_cells(task)
    boxes = build_boxes(cells)
    cells = cells._replace(codes=cells.codes[boxes.order], weights=cells.weights[boxes.order])
    rates = np.zeros(cells.weights.size)
    visits = min(max(_ALL_VISITS // max(rates.size, 1), 32), _VISITS)
    for begin in range(0, rates.size, _AT_A_TIME):
        if budget.exhausted:
            break
        nearest_rates(cells, boxes, task.k, visits, begin, min(begin + _AT_A_TIME, rates.size), rates)
    return float(cells.weights @ np.minimum(rates, task.points.penalty)) * (1 - _MARGIN)


def make_cells(task: Task) -> tuple[Cells, IntArray]:
    """Return distinct points with few cells per attribute, whose rates no true rate is below; and the one of each point.

    Ranges and trees of many values are coarsened: what is in one cell costs nothing together. A set costs at least as
    much as two values do.
    """
    points = task.points
    each = [_coarsened(task, i) for i in range(points.kind.size)]
    key: NDArray[np.int64] = np.zeros(points.weights.size, dtype=np.int64)
    span = 1
    for code, table in each:
        if span * len(table) >= 2**62:
            found, key = np.unique(key, return_inverse=True)
            span = found.size
        key = key * len(table) + code
        span *= len(table)
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    sizes = np.array([len(table) for _, table in each], dtype=np.int64)
    return Cells(
        codes=np.stack([code[first].astype(np.int16) for code, _ in each], axis=1),
        weights=np.rint(np.bincount(of, weights=points.weights)).astype(np.int64),
        cells=sizes,
        start=np.cumsum(sizes**2) - sizes**2,
        rate=np.concatenate([table.ravel() for _, table in each]),
    ), of


def _coarsened(task: Task, i: int) -> tuple[IntArray, FloatArray]:
    """Return the cell of each point in attribute i and the symmetric rates of each two cells."""
    points = task.points
    code, kind, leaves, start = points.codes[:, i], points.kind[i], int(points.leaves[i]), points.start[i]
    if kind == TABLE:
        table = points.rate[start : start + leaves**2].reshape(leaves, leaves)
        return code, np.triu(table) + np.triu(table, 1).T
    if kind == SET:
        cell = np.log2(code.astype(np.uint64).astype(np.float64)).astype(np.int64)
        return cell, _two_values(task, i) * (1 - np.eye(int(cell.max(initial=0)) + 1))
    return _coarse_range(points, i) if kind == RANGE else _coarse_tree(points, i)


def _two_values(task: Task, i: int) -> float:
    """Return what a set of two values costs, which where sets share bits is less than the points say."""
    points, leaves = task.points, int(task.points.leaves[i])
    if leaves <= BITS:
        return float(points.rate[points.start[i] + 2])
    share = 2 / leaves if isinstance(task.problem.cost, Certainty) else 1 / (leaves - 1)
    return float(points.rate[points.start[i] + BITS]) * share


def _coarse_range(points: Points, i: int) -> tuple[IntArray, FloatArray]:
    """Put numbers into cells of about as many points each; two cells cost what lies between them."""
    leaves, start = int(points.leaves[i]), points.start[i]
    place, mixed = points.rate[start : start + leaves], points.rate[start + leaves]
    known = np.isfinite(place)
    occurs = np.bincount(points.codes[:, i], minlength=leaves)
    share = np.cumsum(occurs * known) - occurs * known
    cell = share * _CELLS // max(int((occurs * known).sum()), 1)
    cell = np.where(known, np.minimum(cell, _CELLS - 1), _CELLS)
    _, first, cell = np.unique(cell, return_index=True, return_inverse=True)
    last = np.append(first[1:], leaves) - 1
    table = np.triu(place[first][None, :] - place[last][:, None], 1)
    table = np.where(np.isfinite(table), np.maximum(table, 0.0), mixed)
    table = np.triu(table, 1)
    return cell[points.codes[:, i]], table + table.T


def _coarse_tree(points: Points, i: int) -> tuple[IntArray, FloatArray]:
    """Look at a tree from the lowest level on which it has few nodes."""
    leaves, start = int(points.leaves[i]), points.start[i]
    levels = (int(np.append(points.start, points.rate.size)[i + 1]) - start) // leaves
    rate = points.rate[start : start + levels * leaves].reshape(levels, leaves)
    node = points.node[points.node_start[i] :][: levels * leaves].reshape(levels, leaves)
    begins = np.diff(node, axis=1, prepend=-1) != 0
    level = next(level for level in range(levels) if begins[level].sum() <= 2 * _CELLS or level == levels - 1)
    first = np.flatnonzero(begins[level])
    table = np.zeros((first.size, first.size))
    for above in range(levels - 1, level, -1):
        shared = node[above, first][:, None] == node[above, first][None, :]
        table = np.where(shared, rate[above, first][:, None], table)
    np.fill_diagonal(table, 0.0)
    return np.cumsum(begins[level])[points.codes[:, i]] - 1, table
