"""Points with few cells per attribute, and lower bounds on the rates of their covers: what both bounds look at."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.problem.costs.certainty import Certainty
from discreet.runtime.integer_codes import add_up, first_of, numbered
from discreet.solve.kernels.covers import BITS, RANGE, SET, TABLE, Points
from discreet.solve.local.kernels.nearest import CellPoints
from discreet.solve.local.task import LocalTask

__all__ = ["coarsen", "count_runs", "free_growth", "make_cells", "merge_equal"]

_CELLS = 256
"""Numbers and large trees are coarsened to so many cells."""


def make_cells(task: LocalTask) -> CellPoints:
    """Return the points with few cells per attribute; some may be equal now.

    Ranges and trees of many values are coarsened: what is in one cell costs nothing together. A set is priced as if it
    had two values.
    """
    points = task.points
    return _cell_points([_attribute(task, i) for i in range(points.rates.attribute.size)], points.weights)


def merge_equal(cells: CellPoints) -> tuple[CellPoints, IntArray]:
    """Return distinct points, and which of them each point is."""
    of, count = numbered(cells.weights.size, zip(cells.codes.T, cells.cells.tolist(), strict=True))
    return cells._replace(codes=cells.codes[first_of(of, count)], weights=add_up(of, cells.weights, count)), of


def _cell_points(each: Sequence[tuple[IntArray, FloatArray]], weights: NDArray[np.int64]) -> CellPoints:
    sizes = np.array([len(table) for _, table in each], dtype=np.int64)
    return CellPoints(
        codes=np.stack([code.astype(np.int16) for code, _ in each], axis=1),
        weights=weights,
        cells=sizes,
        start=np.cumsum(sizes**2) - sizes**2,
        rate=np.concatenate([table.ravel() for _, table in each]),
    )


def _attribute(task: LocalTask, i: int) -> tuple[IntArray, FloatArray]:
    """Return the cell of each point in attribute i, and the symmetric rates of any two cells."""
    points, attribute = task.points, task.points.rates.attribute[i]
    code, leaves, start = points.codes[:, i], int(attribute.leaves), int(attribute.start)
    if attribute.kind == TABLE:
        table = points.rates.rate[start : start + leaves**2].reshape(leaves, leaves)
        return code, np.triu(table) + np.triu(table, 1).T
    if attribute.kind == SET:
        cell = np.log2(code.astype(np.uint64).astype(np.float64)).astype(np.int64)
        return cell, _two_values(task, i) * (1 - np.eye(int(cell.max(initial=0)) + 1))
    return _range(points, i) if attribute.kind == RANGE else _tree(points, i)


def _two_values(task: LocalTask, i: int) -> float:
    """Return what a set of two values costs; if values share bits that is less than the rates say."""
    rates, attribute = task.points.rates, task.points.rates.attribute[i]
    leaves, start = int(attribute.leaves), int(attribute.start)
    if leaves <= BITS:
        return float(rates.rate[start + 2])
    share = 2 / leaves if isinstance(task.problem.cost, Certainty) else 1 / (leaves - 1)
    return float(rates.rate[start + BITS]) * share


def _range(points: Points, i: int) -> tuple[IntArray, FloatArray]:
    """Put numbers into cells of about as many points each; two cells cost what lies between them."""
    leaves, start = int(points.rates.attribute[i].leaves), int(points.rates.attribute[i].start)
    position, mixed = points.rates.rate[start : start + leaves], points.rates.rate[start + leaves]
    known = np.isfinite(position)
    cell = np.where(known, _even_runs(np.bincount(points.codes[:, i], minlength=leaves) * known, _CELLS), _CELLS)
    _, first, cell = np.unique(cell, return_index=True, return_inverse=True)
    last = np.append(first[1:], leaves) - 1
    table = position[first][None, :] - position[last][:, None]
    table = np.triu(np.where(np.isfinite(table), np.maximum(table, 0.0), mixed), 1)
    return cell[points.codes[:, i]], table + table.T


def _even_runs(counts: IntArray, parts: int) -> IntArray:
    """Cut a sequence of items into runs of about equal counts.

    >>> _even_runs(np.array([1, 1, 1, 5, 0, 1]), 3)
    array([0, 0, 0, 1, 2, 2])
    """
    before = np.cumsum(counts) - counts
    return np.asarray(np.minimum(before * parts // max(int(counts.sum()), 1), parts - 1))


def _tree(points: Points, i: int) -> tuple[IntArray, FloatArray]:
    """Make a cell of each node on the lowest level of a tree on which there are few."""
    rates, attribute = points.rates, points.rates.attribute[i]
    leaves, start = int(attribute.leaves), int(attribute.start)
    levels = (int(np.append(rates.attribute["start"], rates.rate.size)[i + 1]) - start) // leaves
    rate = rates.rate[start : start + levels * leaves].reshape(levels, leaves)
    node = rates.node[attribute.node_start :][: levels * leaves].reshape(levels, leaves)
    begins = np.diff(node, axis=1, prepend=-1) != 0
    level = next(level for level in range(levels) if begins[level].sum() <= 2 * _CELLS or level == levels - 1)
    first = np.flatnonzero(begins[level])
    table = np.zeros((first.size, first.size))
    for above in range(levels - 1, level, -1):
        shared = node[above, first][:, None] == node[above, first][None, :]
        table = np.where(shared, rate[above, first][:, None], table)
    np.fill_diagonal(table, 0.0)
    return np.cumsum(begins[level])[points.codes[:, i]] - 1, table


def _tables(cells: CellPoints) -> list[FloatArray]:
    ends = np.append(cells.start, cells.rate.size)
    return [cells.rate[a:b].reshape(size, size) for (a, b), size in zip(pairwise(ends), cells.cells, strict=True)]


def coarsen(cells: CellPoints, most: int) -> CellPoints:
    """Return the points with at most so many cells in attributes in which any run of cells is a cover of its own.

    Two new cells cost what the nearest two old cells in them do, so no rate grows.
    """
    each = []
    for i, table in enumerate(_tables(cells)):
        code: IntArray = cells.codes[:, i]
        if len(table) > most and count_runs(cells, i) > 3 * len(table):
            part = _even_runs(np.bincount(code, minlength=len(table)), most)
            _, first, part = np.unique(part, return_index=True, return_inverse=True)
            last = np.append(first[1:], len(table)) - 1
            table = np.triu(table[last][:, first], 1)
            code, table = part[code], table + table.T
        each.append((code, table))
    return _cell_points(each, cells.weights)


def count_runs(cells: CellPoints, i: int) -> int:
    """Return how many runs of cells that occur cannot grow at no cost: the nodes of a tree, or all ranges."""
    occurs = np.unique(cells.codes[:, i])
    table = _tables(cells)[i][np.ix_(occurs, occurs)]
    further = np.pad(table, ((1, 0), (0, 1)), constant_values=np.inf)
    longest = (further[1:, 1:] > table) & (further[:-1, :-1] > table)
    return int(np.triu(longest).sum())


def free_growth(cells: CellPoints) -> NDArray[np.int16]:
    """Return for each two cells, laid out as the rates, the last cell the second may grow to at no cost."""
    each = []
    for table in _tables(cells):
        size = len(table)
        last = np.full((size, size), size - 1, dtype=np.int16)
        for b in range(size - 2, -1, -1):
            last[:, b] = np.where(table[:, b + 1] <= table[:, b], last[:, b + 1], b)
        each.append(last.ravel())
    return np.concatenate(each)
