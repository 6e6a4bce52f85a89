"""The points of local recoding with few cells per attribute, and rates that no true rate is below."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import add_up, first_of, numbered
from discreet.counts import FloatArray, IntArray
from discreet.kernels.covers import BITS, RANGE, SET, TABLE, Points
from discreet.kernels.local_bounds import Cells
from discreet.problem.costs.certainty import Certainty
from discreet.solve._local_task import Task

__all__ = ["coarsen", "make_cells", "merge", "reach", "runs"]

_CELLS = 256
"""Numbers and large trees are looked at in so many cells."""


def make_cells(task: Task) -> Cells:
    """Return the points with few cells per attribute, some of which may now be the same.

    Ranges and trees of many values are coarsened: what is in one cell costs nothing together. A set costs at least as
    much as two values do.
    """
    points = task.points
    return _put_together([_attribute(task, i) for i in range(points.kind.size)], points.weights)


def merge(cells: Cells) -> tuple[Cells, IntArray]:
    """Return distinct points, and which of them each point is."""
    of, count = numbered(cells.weights.size, zip(cells.codes.T, cells.cells.tolist(), strict=True))
    return cells._replace(codes=cells.codes[first_of(of, count)], weights=add_up(of, cells.weights, count)), of


def _put_together(each: Sequence[tuple[IntArray, FloatArray]], weights: NDArray[np.int64]) -> Cells:
    sizes = np.array([len(table) for _, table in each], dtype=np.int64)
    return Cells(
        codes=np.stack([code.astype(np.int16) for code, _ in each], axis=1),
        weights=weights,
        cells=sizes,
        start=np.cumsum(sizes**2) - sizes**2,
        rate=np.concatenate([table.ravel() for _, table in each]),
    )


def _attribute(task: Task, i: int) -> tuple[IntArray, FloatArray]:
    """Return the cell of each point in attribute i, and the symmetric rates of each two cells."""
    points = task.points
    code, kind, leaves, start = points.codes[:, i], points.kind[i], int(points.leaves[i]), points.start[i]
    if kind == TABLE:
        table = points.rate[start : start + leaves**2].reshape(leaves, leaves)
        return code, np.triu(table) + np.triu(table, 1).T
    if kind == SET:
        cell = np.log2(code.astype(np.uint64).astype(np.float64)).astype(np.int64)
        return cell, _two_values(task, i) * (1 - np.eye(int(cell.max(initial=0)) + 1))
    return _range(points, i) if kind == RANGE else _tree(points, i)


def _two_values(task: Task, i: int) -> float:
    """Return what a set of two values costs, which where sets share bits is less than the points say."""
    points, leaves = task.points, int(task.points.leaves[i])
    if leaves <= BITS:
        return float(points.rate[points.start[i] + 2])
    share = 2 / leaves if isinstance(task.problem.cost, Certainty) else 1 / (leaves - 1)
    return float(points.rate[points.start[i] + BITS]) * share


def _range(points: Points, i: int) -> tuple[IntArray, FloatArray]:
    """Put numbers into cells of about as many points each; two cells cost what lies between them."""
    leaves, start = int(points.leaves[i]), points.start[i]
    place, mixed = points.rate[start : start + leaves], points.rate[start + leaves]
    known = np.isfinite(place)
    cell = np.where(known, _shares(np.bincount(points.codes[:, i], minlength=leaves) * known, _CELLS), _CELLS)
    _, first, cell = np.unique(cell, return_index=True, return_inverse=True)
    last = np.append(first[1:], leaves) - 1
    table = place[first][None, :] - place[last][:, None]
    table = np.triu(np.where(np.isfinite(table), np.maximum(table, 0.0), mixed), 1)
    return cell[points.codes[:, i]], table + table.T


def _shares(counts: IntArray, parts: int) -> IntArray:
    """Cut a sequence of items into runs of about as many counts each.

    >>> _shares(np.array([1, 1, 1, 5, 0, 1]), 3)
    array([0, 0, 0, 1, 2, 2])
    """
    before = np.cumsum(counts) - counts
    return np.asarray(np.minimum(before * parts // max(int(counts.sum()), 1), parts - 1))


def _tree(points: Points, i: int) -> tuple[IntArray, FloatArray]:
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


def _tables(cells: Cells) -> list[FloatArray]:
    ends = np.append(cells.start, cells.rate.size)
    return [cells.rate[a:b].reshape(size, size) for (a, b), size in zip(pairwise(ends), cells.cells, strict=True)]


def coarsen(cells: Cells, most: int) -> Cells:
    """Return the points with at most so many cells in attributes of which any run of cells is a cover of its own.

    Two of the new cells cost what covers the two old cells in them that are nearest, so no rate grows.
    """
    each = []
    for i, table in enumerate(_tables(cells)):
        code: IntArray = cells.codes[:, i]
        if len(table) > most and runs(cells, i) > 3 * len(table):
            part = _shares(np.bincount(code, minlength=len(table)), most)
            _, first, part = np.unique(part, return_index=True, return_inverse=True)
            last = np.append(first[1:], len(table)) - 1
            table = np.triu(table[last][:, first], 1)
            code, table = part[code], table + table.T
        each.append((code, table))
    return _put_together(each, cells.weights)


def runs(cells: Cells, i: int) -> int:
    """Return how many runs of the cells that occur cannot be made longer at no cost: nodes of a tree, or all ranges."""
    occurs = np.unique(cells.codes[:, i])
    table = _tables(cells)[i][np.ix_(occurs, occurs)]
    further = np.pad(table, ((1, 0), (0, 1)), constant_values=np.inf)
    longest = (further[1:, 1:] > table) & (further[:-1, :-1] > table)
    return int(np.triu(longest).sum())


def reach(cells: Cells) -> NDArray[np.int16]:
    """Return for each two cells, laid out as the rates, the last cell the second may grow to at no cost."""
    each = []
    for table in _tables(cells):
        size = len(table)
        last = np.full((size, size), size - 1, dtype=np.int16)
        for b in range(size - 2, -1, -1):
            last[:, b] = np.where(table[:, b + 1] <= table[:, b], last[:, b + 1], b)
        each.append(last.ravel())
    return np.concatenate(each)
