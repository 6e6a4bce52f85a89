"""Mondrian: groups cut in two again and again, along the widest attribute that can be cut, at the median.

The groups that are still to be cut lie one after the other on a stack of shares: a share is a point and how many of its
rows are in the group. Only the last group is looked at, so it may grow when a relaxed cut shares a point between both
sides, and no memory is needed beyond one such stack and the groups that are done.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.requirements import Requirement, holds, tally

__all__ = ["Cutting", "Space", "cut_groups"]


class Space(NamedTuple):
    """The points in a space that is cut: attributes are ordered, or trees."""

    codes: NDArray[np.int32]
    """(m, points) leaf codes; the order of an ordered attribute is that of its codes."""
    weights: NDArray[np.int64]
    """(points,) rows of each point."""
    levels: NDArray[np.int64]
    """(m,) levels of a tree; 0 if the attribute is ordered."""
    leaves: NDArray[np.int64]
    """(m,)"""
    start: NDArray[np.int64]
    """(m,) where the attribute's numbers begin in ``place``.

    Ordered: the position of each leaf, differences of which are widths (not a number for missing values), and the width
    of known and missing values together. Tree: levels x leaves, the width of the node above each leaf, and the width of
    leaves that have no node in common."""
    place: NDArray[np.float64]
    node_start: NDArray[np.int64]
    """(m,) where the levels x leaves nodes of a tree begin in ``node``."""
    node: NDArray[np.int32]


class Cutting(NamedTuple):
    """What is still to be cut, and what is done: ``done[0]`` shares in ``done[1]`` groups. ``open[0]`` groups wait."""

    point: NDArray[np.int64]
    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    """Where each waiting group begins in ``point`` and ``rows``, and where the last one ends."""
    open: NDArray[np.int64]
    done_point: NDArray[np.int64]
    done_rows: NDArray[np.int64]
    done_group: NDArray[np.int64]
    done: NDArray[np.int64]


@kernel
def cut_groups(space: Space, requirement: Requirement, relaxed: bool, cutting: Cutting, most: int) -> None:
    """Cut waiting groups until none is left or ``most`` shares have been looked at."""  # cutting OUT
    m = space.codes.shape[0]
    width = np.empty(m)
    level = np.empty(m, dtype=np.int64)
    looked_at = 0
    while cutting.open[0] > 0 and looked_at < most:
        last = cutting.open[0] - 1
        begin, end = cutting.first[last], cutting.first[last + 1]
        cut = False
        if cutting.rows[begin:end].sum() >= 2 * requirement.smallest:
            for i in range(m):
                width[i], level[i] = _width(space, i, cutting.point[begin:end])
            for _ in range(m):
                i = np.argmax(width)
                if width[i] < 0.0:
                    break
                width[i] = -1.0
                looked_at += end - begin
                cut = _cut(space, requirement, relaxed, cutting, i, level[i])
                if cut:
                    break
        looked_at += end - begin
        if not cut:
            _finish(cutting)


@inner_kernel
def _width(space: Space, i: int, point: NDArray[np.int64]) -> tuple[float, int]:
    """How far a group spreads in an attribute, -1 if not at all; and for trees the highest level it spreads over."""
    code = space.codes[i]
    place = space.place[space.start[i] :]
    leaves, levels = space.leaves[i], space.levels[i]
    if levels == 0:
        low, high = code[point[0]], code[point[0]]
        for j in point:
            low, high = min(low, code[j]), max(high, code[j])
        width = place[high] - place[low]
        if width != width:
            width = place[leaves]
        return (width if low < high else -1.0), 0
    node = space.node[space.node_start[i] :]
    for level in range(levels - 1, -1, -1):
        above = node[level * leaves + code[point[0]]]
        for j in point:
            if node[level * leaves + code[j]] != above:
                shared = (level + 1) * leaves + code[point[0]]
                return place[shared if level < levels - 1 else levels * leaves], level
    return -1.0, 0


@kernel
def _cut(space: Space, requirement: Requirement, relaxed: bool, cutting: Cutting, i: int, level: int) -> bool:
    """Cut the last group along an attribute, if both sides keep the requirement."""
    last = cutting.open[0] - 1
    begin, end = cutting.first[last], cutting.first[last + 1]
    size = end - begin
    key = np.empty(size, dtype=np.int64)
    point, rows = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    tree = space.levels[i] > 0
    for e in range(size):
        code = space.codes[i, cutting.point[begin + e]]
        key[e] = space.node[space.node_start[i] + level * space.leaves[i] + code] if tree else code
    order = np.argsort(key, kind="mergesort")
    total = 0
    for e in range(size):
        point[e], rows[e] = cutting.point[begin + order[e]], cutting.rows[begin + order[e]]
        total += rows[e]
    left, shared = 0, 0
    if tree:
        first, after = _middle_run(key, order, rows, total)
        _rotate(point, rows, first, after)
        left = after - first
    elif relaxed:
        left, shared = _half(rows, total)
    else:
        left = _nearest_boundary(key, order, rows, total)
    if not _both_hold(requirement, point, rows, left, shared):
        return False
    middle = begin + left
    for e in range(left):
        cutting.point[begin + e], cutting.rows[begin + e] = point[e], rows[e]
    if shared > 0:
        cutting.point[middle], cutting.rows[middle] = point[left], shared
        rows[left] -= shared
        middle += 1
    for e in range(left, size):
        cutting.point[middle + e - left], cutting.rows[middle + e - left] = point[e], rows[e]
    cutting.first[last + 1], cutting.first[last + 2] = middle, middle + size - left
    cutting.open[0] += 1
    return True


@inner_kernel
def _nearest_boundary(key: NDArray[np.int64], order: NDArray[np.int64], rows: NDArray[np.int64], total: int) -> int:
    """The number of shares left of the boundary between two values that is nearest the median."""
    best, nearest, below = 0, total + 1, 0
    for e in range(order.size - 1):
        below += rows[e]
        if key[order[e]] < key[order[e + 1]] and abs(2 * below - total) < nearest:
            nearest = abs(2 * below - total)
            best = e + 1
    return best


@inner_kernel
def _half(rows: NDArray[np.int64], total: int) -> tuple[int, int]:
    """The number of shares in the first half of the rows, and the rows of the next one that are in it too."""
    below, half = 0, total // 2
    for e in range(rows.size):
        if below + rows[e] > half:
            return e, half - below
        below += rows[e]
    return rows.size, 0


@inner_kernel
def _middle_run(
    key: NDArray[np.int64], order: NDArray[np.int64], rows: NDArray[np.int64], total: int
) -> tuple[int, int]:
    """Where the run of equal keys begins and ends that holds most nearly half of the rows."""
    first, after, nearest = 0, 0, total + 1
    begin, inside = 0, 0
    for e in range(order.size):
        inside += rows[e]
        if e + 1 == order.size or key[order[e + 1]] != key[order[e]]:
            if abs(2 * inside - total) < nearest:
                nearest = abs(2 * inside - total)
                first, after = begin, e + 1
            begin, inside = e + 1, 0
    return first, after


@inner_kernel
def _rotate(point: NDArray[np.int64], rows: NDArray[np.int64], first: int, after: int) -> None:  # point, rows OUT
    """Bring the shares from ``first`` to ``after`` to the front, and what was there into their places."""
    for e in range(min(first, after - first)):
        other = max(first, after - first) + e
        point[e], point[other] = point[other], point[e]
        rows[e], rows[other] = rows[other], rows[e]


@kernel
def _both_hold(
    requirement: Requirement, point: NDArray[np.int64], rows: NDArray[np.int64], left: int, shared: int
) -> bool:
    """Whether the first shares, with some rows of the next, and the others keep the requirement."""
    size, other = shared, -shared
    for e in range(rows.size):
        if e < left:
            size += rows[e]
        else:
            other += rows[e]
    if min(size, other) < requirement.smallest:
        return False
    if requirement.cells == 0:
        return True
    histogram = np.zeros((2, requirement.cells), dtype=np.int64)
    for e in range(rows.size):
        tally(requirement, point[e], rows[e], histogram[0 if e < left else 1])
    if shared > 0:
        tally(requirement, point[left], shared, histogram[0])
        tally(requirement, point[left], -shared, histogram[1])
    return holds(requirement, size, histogram[0]) and holds(requirement, other, histogram[1])


@inner_kernel
def _finish(cutting: Cutting) -> None:
    """Put the last group to those that are done."""
    last = cutting.open[0] - 1
    done = cutting.done[0]
    for e in range(cutting.first[last], cutting.first[last + 1]):
        cutting.done_point[done] = cutting.point[e]
        cutting.done_rows[done] = cutting.rows[e]
        cutting.done_group[done] = cutting.done[1]
        done += 1
    cutting.done[0] = done
    cutting.done[1] += 1
    cutting.open[0] -= 1
