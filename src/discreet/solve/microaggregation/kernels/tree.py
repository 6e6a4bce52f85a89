"""A k-d tree of rows: an order in which near rows are neighbours, regions, and the nearest rows of each row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.random import RandomState, random_bits

__all__ = ["NearRows", "RowTree", "fill_tree", "nearest_rows"]


class RowTree(NamedTuple):
    """A balanced binary tree; the children of node v are 2v + 1 and 2v + 2, and the last level are the leaves."""

    order: Ints
    """The rows, leaf by leaf."""
    begin: Ints
    """The rows of node v are ``order[begin[v]:end[v]]``."""
    end: Ints
    low: Floats
    """(nodes, m) the least coordinates of the rows of each node, and ..."""
    high: Floats
    """... the greatest."""


@kernel
def fill_tree(x: Floats, tree: RowTree, jitter: float, state: RandomState) -> None:  # tree, state OUT
    """Split the rows by the coordinate of the largest spread, at the median, level by level.

    With ``jitter`` above 0 both are varied at random, so that two trees have different borders.
    """
    nodes, inner = tree.begin.size, tree.begin.size // 2
    for i in range(tree.order.size):
        tree.order[i] = i
    tree.begin[0], tree.end[0] = 0, tree.order.size
    for v in range(nodes):
        _measure(x, tree, v)
        begin, end = tree.begin[v], tree.end[v]
        if v >= inner:
            continue
        widest, split = -1.0, 0
        for i in range(x.shape[1]):
            spread = tree.high[v, i] - tree.low[v, i]
            if jitter > 0.0:
                spread *= 1.0 + jitter * _uniform(state)
            if spread > widest:
                widest, split = spread, i
        middle = (begin + end) // 2
        if jitter > 0.0:
            middle += np.int64((end - begin) * jitter * (_uniform(state) - 0.5) / 4)
        if end - begin > 1:
            _select(x, tree.order, begin, end, middle, split)
        tree.begin[2 * v + 1], tree.end[2 * v + 1] = begin, middle
        tree.begin[2 * v + 2], tree.end[2 * v + 2] = middle, end


@inner_kernel
def _uniform(state: RandomState) -> float:  # state OUT
    return np.int64(random_bits(state) >> np.uint64(12)) / 4503599627370496.0


@inner_kernel
def _measure(x: Floats, tree: RowTree, v: int) -> None:  # tree OUT
    for i in range(x.shape[1]):
        tree.low[v, i], tree.high[v, i] = np.inf, -np.inf
    for position in range(tree.begin[v], tree.end[v]):
        row = tree.order[position]
        for i in range(x.shape[1]):
            tree.low[v, i] = min(tree.low[v, i], x[row, i])
            tree.high[v, i] = max(tree.high[v, i], x[row, i])


@inner_kernel
def _select(x: Floats, order: Ints, begin: int, end: int, middle: int, i: int) -> None:  # order OUT
    """Hoare's selection: afterwards no row before ``middle`` has a greater coordinate i than one behind it."""
    left, right = begin, end - 1
    while left < right:
        pivot = x[order[(left + right) // 2], i]
        a, b = left, right
        while a <= b:
            while x[order[a], i] < pivot:
                a += 1
            while x[order[b], i] > pivot:
                b -= 1
            if a <= b:
                order[a], order[b] = order[b], order[a]
                a += 1
                b -= 1
        if middle <= b:
            right = b
        elif middle >= a:
            left = a
        else:
            return


class NearRows(NamedTuple):
    """The nearest other rows of each row."""

    row: Ints
    """(n, r) nearest first; -1 if there are fewer."""
    away: Floats
    """(n, r) their squared distances, infinite if there are fewer."""
    beyond: Floats
    """(n,) no row that is not listed is nearer than this."""


@kernel
def nearest_rows(x: Floats, tree: RowTree, begin: int, end: int, visits: int, found: NearRows) -> None:  # found OUT
    """Find the nearest other rows of the rows at ``order[begin:end]``, in at most so many leaves of the tree.

    The tree is searched depth first, the nearer child first; a node whose box is not nearer than the farthest row
    found is left out. A search that ends early lists rows that are near, and the least distance of a box it did not
    look into is how far the others are away.
    """
    wanted, m, inner = found.row.shape[1], x.shape[1], tree.begin.size // 2
    stack, least = np.zeros(128, dtype=np.int64), np.zeros(128)
    for position in range(begin, end):
        row = tree.order[position]
        near, away, visited = found.row[row], found.away[row], 0
        beyond = np.inf
        for r in range(wanted):
            near[r], away[r] = -1, np.inf
        depth = 1
        stack[0], least[0] = 0, 0.0
        while depth:
            depth -= 1
            v = stack[depth]
            if least[depth] >= away[wanted - 1]:
                continue
            if visited == visits:
                beyond = min(beyond, least[depth])
                continue
            if v >= inner:
                visited += 1
                for other in range(tree.begin[v], tree.end[v]):
                    candidate = tree.order[other]
                    if candidate == row:
                        continue
                    most = away[wanted - 1]
                    distance = 0.0
                    for i in range(m):
                        distance += (x[row, i] - x[candidate, i]) ** 2
                        if distance >= most:
                            break
                    if distance < most:
                        _insert(near, away, candidate, distance)
                continue
            one, two = 2 * v + 1, 2 * v + 2
            to_one, to_two = _box_distance(x, tree, row, one), _box_distance(x, tree, row, two)
            if to_one < to_two:
                one, two, to_one, to_two = two, one, to_two, to_one
            stack[depth], least[depth] = one, to_one
            stack[depth + 1], least[depth + 1] = two, to_two
            depth += 2
        found.beyond[row] = min(beyond, away[wanted - 1])


@inner_kernel
def _box_distance(x: Floats, tree: RowTree, row: int, v: int) -> float:
    """The squared distance of a row from the box of a node; infinite if the node is empty."""
    distance = 0.0
    for i in range(x.shape[1]):
        below, above = tree.low[v, i] - x[row, i], x[row, i] - tree.high[v, i]
        outside = max(below, above, 0.0)
        distance += outside * outside
    return distance


@inner_kernel
def _insert(near: Ints, away: Floats, candidate: int, distance: float) -> None:  # near, away OUT
    """Insert a row into a list sorted by distance; the last one falls out."""
    r = near.size - 1
    while r > 0 and away[r - 1] > distance:
        near[r], away[r] = near[r - 1], away[r - 1]
        r -= 1
    near[r], away[r] = candidate, distance
