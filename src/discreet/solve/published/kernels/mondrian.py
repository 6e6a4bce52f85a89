"""Mondrian: groups are cut in two again and again, along the widest attribute that can be cut, at the median.

The groups still to be cut are one after the other on a stack of shares: a share is a point and how many of its rows are
in the group. Only the last group is cut, so it may grow when a relaxed cut divides a point between both sides, and no
memory is needed beyond one such stack and the groups that are done.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import Records
from discreet.solve.kernels.requirements import Requirement, holds, tally

__all__ = ["CutCounters", "Cutting", "MondrianSpace", "cut_groups"]


class CutCounters:
    """Groups that wait to be cut, and the shares and groups that are done."""

    waiting: int
    done_shares: int
    done_groups: int


class MondrianSpace(NamedTuple):
    """The points in the space that is cut: attributes are ordered, or trees."""

    codes: NDArray[np.int32]
    """(m, points) leaf codes; an ordered attribute is in the order of its codes."""
    levels: NDArray[np.int64]
    """(m,) levels of a tree; 0 if the attribute is ordered."""
    leaves: NDArray[np.int64]
    """(m,)"""
    start: NDArray[np.int64]
    """(m,) where the attribute's numbers begin in ``width``.

    Ordered: the position of each leaf, differences of which are widths (NaN for missing values), then the width of
    known and missing values together. Tree: levels x leaves, the width of the node above each leaf, then the width of
    leaves that have no common node."""
    width: NDArray[np.float64]
    node_start: NDArray[np.int64]
    """(m,) where the levels x leaves nodes of a tree begin in ``node``."""
    node: NDArray[np.int32]


class Cutting(NamedTuple):
    """The groups that wait to be cut, and those that are done."""

    point: NDArray[np.int64]
    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    """Where each waiting group begins in ``point`` and ``rows``, and where the last one ends."""
    done_point: NDArray[np.int64]
    done_rows: NDArray[np.int64]
    done_group: NDArray[np.int64]
    counters: Records[CutCounters]
    """One record."""


@kernel
def cut_groups(
    space: MondrianSpace, requirement: Requirement, relaxed: bool, cutting: Cutting, most: int
) -> None:  # cutting OUT
    """Cut waiting groups until none is left or ``most`` shares have been visited; O(shares x m) for each level."""
    m = space.codes.shape[0]
    width = np.empty(m)
    level = np.empty(m, dtype=np.int64)
    visited = 0
    while cutting.counters[0].waiting > 0 and visited < most:
        last = cutting.counters[0].waiting - 1
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
                visited += end - begin
                cut = _cut(space, requirement, relaxed, cutting, i, level[i])
                if cut:
                    break
        visited += end - begin
        if not cut:
            _finish(cutting)


@inner_kernel
def _width(space: MondrianSpace, i: int, point: NDArray[np.int64]) -> tuple[float, int]:
    """The width of a group in an attribute, -1 if all values are alike; for trees also the highest level to cut at."""
    code = space.codes[i]
    widths = space.width[space.start[i] :]
    leaves, levels = space.leaves[i], space.levels[i]
    if levels == 0:
        low, high = code[point[0]], code[point[0]]
        for j in point:
            low, high = min(low, code[j]), max(high, code[j])
        width = widths[high] - widths[low]
        if width != width:  # NaN: some values are missing
            width = widths[leaves]
        return (width if low < high else -1.0), 0
    node = space.node[space.node_start[i] :]
    for level in range(levels - 1, -1, -1):
        above = node[level * leaves + code[point[0]]]
        for j in point:
            if node[level * leaves + code[j]] != above:
                shared = (level + 1) * leaves + code[point[0]]
                return widths[shared if level < levels - 1 else levels * leaves], level
    return -1.0, 0


@kernel
def _cut(space: MondrianSpace, requirement: Requirement, relaxed: bool, cutting: Cutting, i: int, level: int) -> bool:
    """Cut the last group along an attribute, if both sides satisfy the requirement."""  # cutting OUT
    last = cutting.counters[0].waiting - 1
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
    left, shared = 0, 0  # shares left of the cut, and rows of the next one that are so too
    if tree:
        first, after = _most_even_run(key, order, rows, total)
        _rotate(point, rows, first, after)
        left = after - first
    elif relaxed:
        left, shared = _half(rows, total)
    else:
        left = _nearest_boundary(key, order, rows, total)
    if not _both_hold(requirement, point, rows, left, shared):
        return False
    second = begin + left
    for e in range(left):
        cutting.point[begin + e], cutting.rows[begin + e] = point[e], rows[e]
    if shared > 0:
        cutting.point[second], cutting.rows[second] = point[left], shared
        rows[left] -= shared
        second += 1
    for e in range(left, size):
        cutting.point[second + e - left], cutting.rows[second + e - left] = point[e], rows[e]
    cutting.first[last + 1], cutting.first[last + 2] = second, second + size - left
    cutting.counters[0].waiting += 1
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
def _most_even_run(
    key: NDArray[np.int64], order: NDArray[np.int64], rows: NDArray[np.int64], total: int
) -> tuple[int, int]:
    """Where the run of equal keys that holds most nearly half of the rows begins and ends."""
    first, after, nearest = 0, 0, total + 1
    begin, held = 0, 0
    for e in range(order.size):
        held += rows[e]
        if e + 1 == order.size or key[order[e + 1]] != key[order[e]]:
            if abs(2 * held - total) < nearest:
                nearest = abs(2 * held - total)
                first, after = begin, e + 1
            begin, held = e + 1, 0
    return first, after


@inner_kernel
def _rotate(point: NDArray[np.int64], rows: NDArray[np.int64], first: int, after: int) -> None:  # point, rows OUT
    """Exchange the shares ``first:after`` with those at the front."""
    for e in range(min(first, after - first)):
        other = max(first, after - first) + e
        point[e], point[other] = point[other], point[e]
        rows[e], rows[other] = rows[other], rows[e]


@kernel
def _both_hold(
    requirement: Requirement, point: NDArray[np.int64], rows: NDArray[np.int64], left: int, shared: int
) -> bool:
    """Whether the first ``left`` shares, with ``shared`` rows of the next, and the others satisfy the requirement."""
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
def _finish(cutting: Cutting) -> None:  # cutting OUT
    """Move the last group to those that are done."""
    counters = cutting.counters[0]
    last, done = counters.waiting - 1, counters.done_shares
    for e in range(cutting.first[last], cutting.first[last + 1]):
        cutting.done_point[done] = cutting.point[e]
        cutting.done_rows[done] = cutting.rows[e]
        cutting.done_group[done] = counters.done_groups
        done += 1
    counters.done_shares = done
    counters.done_groups += 1
    counters.waiting -= 1
