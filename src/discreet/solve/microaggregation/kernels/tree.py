"""A k-d tree of rows: an order in which near rows are neighbours, regions, and the nearest rows of each row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.random import RandomState, random_bits

__all__ = ["NearRows", "RowTree", "fill_tree", "nearest_rows", "outside_in_groups"]


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
def nearest_rows(
    points: Floats, tree: RowTree, first: int, last: int, visits: int, found: NearRows
) -> None:  # found OUT
    """Find the nearest other rows of the rows in leaves ``first`` to ``last`` - 1, in at most so many leaves for each.

    ``points`` has the coordinates in the order of the tree, so that a leaf is read in one run. The rows of a leaf are
    searched together: their own leaf, then its sibling, that of its parent and so on, depth first. A node whose box is
    not nearer than the farthest row found is left out. A search that ends early lists rows that are near, and the least
    distance of a box it did not look into is how far the others are away.
    """
    inner, wide = tree.begin.size // 2, found.row.shape[1]
    stack = np.zeros(128, dtype=np.int64)
    for leaf in range(first + inner, last + inner):
        if tree.begin[leaf] == tree.end[leaf]:
            continue
        for position in range(tree.begin[leaf], tree.end[leaf]):
            row = tree.order[position]
            found.beyond[row] = np.inf
            for r in range(wide):
                found.row[row, r], found.away[row, r] = -1, np.inf
        farthest, visited = _scan_leaf(points, tree, leaf, leaf, found), 1
        depth = _push_siblings(leaf, stack)
        while depth:
            depth -= 1
            v = stack[depth]
            if _between(tree, leaf, v) >= farthest or not _reaches(points, tree, leaf, v, found):
                continue
            if visited >= visits:
                for position in range(tree.begin[leaf], tree.end[leaf]):
                    row = tree.order[position]
                    found.beyond[row] = min(found.beyond[row], box_distance(points, position, tree, v))
            elif v >= inner:
                farthest = _scan_leaf(points, tree, leaf, v, found)
                visited += 1
            else:
                one, two = _between(tree, leaf, 2 * v + 1), _between(tree, leaf, 2 * v + 2)
                depth = _push_children(v, one <= two, stack, depth)
        for position in range(tree.begin[leaf], tree.end[leaf]):
            row = tree.order[position]
            found.beyond[row] = min(found.beyond[row], found.away[row, wide - 1])


@inner_kernel
def _reaches(points: Floats, tree: RowTree, leaf: int, v: int, found: NearRows) -> bool:
    """Whether the box of a node is nearer to any row of a leaf than the last row found for it."""
    last = found.away.shape[1] - 1
    for position in range(tree.begin[leaf], tree.end[leaf]):
        if box_distance(points, position, tree, v) < found.away[tree.order[position], last]:
            return True
    return False


@inner_kernel
def _scan_leaf(points: Floats, tree: RowTree, leaf: int, v: int, found: NearRows) -> float:  # found OUT
    """Compare the rows of a leaf with those of leaf v; return the greatest distance of a last row found."""
    wide, m, most = found.row.shape[1], points.shape[1], 0.0
    for position in range(tree.begin[leaf], tree.end[leaf]):
        near, away = found.row[tree.order[position]], found.away[tree.order[position]]
        if box_distance(points, position, tree, v) < away[wide - 1]:
            for other in range(tree.begin[v], tree.end[v]):
                distance = 0.0
                for i in range(m):
                    distance += (points[position, i] - points[other, i]) ** 2
                if distance < away[wide - 1] and other != position:
                    insert_row(near, away, tree.order[other], distance)
        most = max(most, away[wide - 1])
    return most


@inner_kernel
def _push_siblings(leaf: int, stack: Ints) -> int:  # stack OUT
    """Put the siblings of a leaf and of its ancestors on an empty stack, that of the leaf on top; return its height."""
    levels, v = 0, leaf
    while v > 0:
        levels += 1
        v = (v - 1) // 2
    v = leaf
    for level in range(levels):
        stack[levels - 1 - level] = v + 1 if v % 2 == 1 else v - 1
        v = (v - 1) // 2
    return levels


@inner_kernel
def _push_children(v: int, left: bool, stack: Ints, depth: int) -> int:  # stack OUT
    """Put the children of a node on the stack, the left one on top if it is to be the first; return its height."""
    stack[depth], stack[depth + 1] = (2 * v + 2, 2 * v + 1) if left else (2 * v + 1, 2 * v + 2)
    return depth + 2


@inner_kernel
def _between(tree: RowTree, u: int, v: int) -> float:
    """The squared distance between the boxes of two nodes; infinite if one of them is empty."""
    distance = 0.0
    for i in range(tree.low.shape[1]):
        outside = max(tree.low[u, i] - tree.high[v, i], tree.low[v, i] - tree.high[u, i], 0.0)
        distance += outside * outside
    return distance


@inner_kernel
def box_distance(points: Floats, position: int, tree: RowTree, v: int) -> float:
    """The squared distance of a point from the box of a node; infinite if the node is empty."""
    distance = 0.0
    for i in range(points.shape[1]):
        outside = max(tree.low[v, i] - points[position, i], points[position, i] - tree.high[v, i], 0.0)
        distance += outside * outside
    return distance


@inner_kernel
def insert_row(near: Ints, away: Floats, candidate: int, distance: float) -> None:  # near, away OUT
    """Insert a row into a list sorted by distance; the last one falls out."""
    r = near.size - 1
    while r > 0 and away[r - 1] > distance:
        near[r], away[r] = near[r - 1], away[r - 1]
        r -= 1
    near[r], away[r] = candidate, distance


@kernel
def outside_in_groups(points: Floats, tree: RowTree, far: Ints, k: int, visits: int, group: Ints) -> int:
    # points, tree, group OUT
    """Group rows as MDAV does, by a tree: the row farthest out that is left, and the k - 1 nearest that are left.

    The rows come in the order ``far``, of their distance from the mean of all rows, not of those that are left (Laszlo
    and Mukherjee 2005). Rows that have a group leave the tree: ``left[v]`` are the rows of node v that are left, in a
    leaf the first ones. So a group takes O(log n) or so; after so many leaves the nearest rows found will do. The last
    group has k to 2k - 1 rows. Return the number of groups.
    """
    n, m, inner = far.size, points.shape[1], tree.begin.size // 2
    left, leaf_of, place = tree.end - tree.begin, np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for v in range(inner, tree.begin.size):
        for position in range(tree.begin[v], tree.end[v]):
            leaf_of[tree.order[position]], place[tree.order[position]] = v, position
    near, away = np.zeros(k, dtype=np.int64), np.zeros(k)
    stack = np.zeros(128, dtype=np.int64)
    group[:] = -1
    groups, count = 0, n
    for index in range(n):
        seed = far[index]
        if group[seed] >= 0:
            continue
        if count < 2 * k:
            group[seed] = groups
            continue
        away[:] = np.inf
        near[0], away[0] = seed, -1.0  # whatever equals it
        depth, visited = _push_siblings(leaf_of[seed], stack), 0
        stack[depth] = leaf_of[seed]
        depth += 1
        while depth:
            depth -= 1
            v = stack[depth]
            if left[v] == 0 or (visited >= visits and away[k - 1] < np.inf):
                continue
            if box_distance(points, place[seed], tree, v) >= away[k - 1]:
                continue
            if v < inner:
                one = box_distance(points, place[seed], tree, 2 * v + 1)
                two = box_distance(points, place[seed], tree, 2 * v + 2)
                depth = _push_children(v, one <= two, stack, depth)
                continue
            visited += 1
            for other in range(tree.begin[v], tree.begin[v] + left[v]):
                distance = 0.0
                for i in range(m):
                    distance += (points[place[seed], i] - points[other, i]) ** 2
                if distance < away[k - 1] and other != place[seed]:
                    insert_row(near, away, tree.order[other], distance)
        for r in range(k):
            group[near[r]] = groups
            _leave(points, tree, leaf_of[near[r]], near[r], left, place)
        groups += 1
        count -= k
    return groups + 1


@inner_kernel
def _leave(points: Floats, tree: RowTree, leaf: int, row: int, left: Ints, place: Ints) -> None:
    # points, tree, left, place OUT
    """Take a row out of its leaf: the last one that is left there changes places with it."""
    here, last = place[row], tree.begin[leaf] + left[leaf] - 1
    other = tree.order[last]
    tree.order[here], tree.order[last] = other, row
    place[other], place[row] = here, last
    for i in range(points.shape[1]):
        points[here, i], points[last, i] = points[last, i], points[here, i]
    v = leaf
    while v > 0:
        left[v] -= 1
        v = (v - 1) // 2
    left[0] -= 1
