"""Groups that merge and give rows to each other, and the search for the group nearest to one.

A group is a chain of shares, and a share a point with some of its rows. Groups stand in an order in which neighbours
are alike, and over that order stands a binary tree of boxes: box 1 is the root, the children of box x are 2x and
2x + 1, and box ``leaves + g`` is group g. A box covers everything under it, or more: it grows when a group does, and
never shrinks. What a group and anything in a box cost together at least leaves most of the tree unvisited.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.covers import SET, Points, rate_of
from discreet.kernels.requirements import Requirement, clear, holds, tally

__all__ = [
    "DEPTH",
    "FAR",
    "GONE",
    "Groups",
    "box_of_point",
    "build_boxes",
    "changed",
    "gather",
    "joined_rate",
    "keeps",
    "merge",
    "nearest_group",
    "point_rate",
    "reach",
    "share_with",
    "suppress",
    "take_back",
    "widen",
]

GONE = -1
"""What ends a chain; the first share of a group that is no more."""
DEPTH = 64
"""More than the boxes that wait in a search."""
FAR = 1e300
"""A limit that is no limit."""


class Groups(NamedTuple):
    """The groups, their shares, and the boxes over them."""

    point: NDArray[np.int64]
    rows: NDArray[np.int64]
    next: NDArray[np.int64]
    """The next share of the group."""
    head: NDArray[np.int64]
    tail: NDArray[np.int64]
    """The first and the last share of each group."""
    size: NDArray[np.int64]
    """Rows of each group; 0 if it is no more, and the rows as a negative number if it is suppressed."""
    rate: NDArray[np.float64]
    """What a row of each group costs."""
    box: NDArray[np.int64]
    """(2 * leaves, m, 2) covers; those of the groups are at their leaves."""
    least: NDArray[np.int64]
    """(2 * leaves,) no group in the box has fewer rows."""
    dearest: NDArray[np.float64]
    """(2 * leaves,) no row in the box costs more."""
    used: NDArray[np.int64]
    """used[0] shares are in use."""


@inner_kernel
def box_of_point(points: Points, box: NDArray[np.int64], x: int, j: int) -> None:  # box OUT
    """Let box x cover point j alone."""
    for i in range(points.kind.size):
        box[x, i, 0] = box[x, i, 1] = points.codes[j, i]


@inner_kernel
def widen(points: Points, box: NDArray[np.int64], x: int, j: int) -> None:  # box OUT
    """Let box x cover point j too."""
    for i in range(points.kind.size):
        code = points.codes[j, i]
        if points.kind[i] == SET:
            box[x, i, 0] |= code
        else:
            box[x, i, 0] = min(box[x, i, 0], code)
            box[x, i, 1] = max(box[x, i, 1], code)


@inner_kernel
def _join(points: Points, box: NDArray[np.int64], x: int, y: int) -> None:  # box OUT
    """Let box x cover box y too."""
    for i in range(points.kind.size):
        if points.kind[i] == SET:
            box[x, i, 0] |= box[y, i, 0]
        else:
            box[x, i, 0] = min(box[x, i, 0], box[y, i, 0])
            box[x, i, 1] = max(box[x, i, 1], box[y, i, 1])


@inner_kernel
def _copy(box: NDArray[np.int64], x: int, y: int) -> None:  # box OUT
    """Let box x cover what box y covers."""
    for i in range(box.shape[1]):
        box[x, i, 0], box[x, i, 1] = box[y, i, 0], box[y, i, 1]


@inner_kernel
def joined_rate(points: Points, box: NDArray[np.int64], x: int, y: int, limit: float) -> float:
    """What a row costs under boxes x and y together, or if that is not below the limit, any number not below it."""
    total = 0.0
    for i in range(points.kind.size):
        if points.kind[i] == SET:
            total += rate_of(points, i, box[x, i, 0] | box[y, i, 0], 0)
        else:
            low, high = min(box[x, i, 0], box[y, i, 0]), max(box[x, i, 1], box[y, i, 1])
            total += rate_of(points, i, low, high)
        if total >= limit:
            break
    return total


@inner_kernel
def point_rate(points: Points, box: NDArray[np.int64], x: int, j: int, limit: float) -> float:
    """What a row costs under box x with point j, or if that is not below the limit, any number not below it."""
    total = 0.0
    for i in range(points.kind.size):
        code = points.codes[j, i]
        if points.kind[i] == SET:
            total += rate_of(points, i, box[x, i, 0] | code, 0)
        else:
            total += rate_of(points, i, min(box[x, i, 0], code), max(box[x, i, 1], code))
        if total >= limit:
            break
    return total


@inner_kernel
def reach(points: Points, box: NDArray[np.int64], x: int, y: int, limit: float) -> float:
    """The least a row costs under box x with anything in box y; if not below the limit, any number not below it."""
    total = 0.0
    for i in range(points.kind.size):
        low, high = box[x, i, 0], box[x, i, 1]
        if points.kind[i] == SET:
            other = box[y, i, 0]
            total += rate_of(points, i, low if low & other else low | (other & -other), 0)
        elif box[y, i, 0] > high:
            total += rate_of(points, i, low, box[y, i, 0])
        elif box[y, i, 1] < low:
            total += rate_of(points, i, box[y, i, 1], high)
        else:
            total += rate_of(points, i, low, high)
        if total >= limit:
            break
    return total


@inner_kernel
def gather(points: Points, groups: Groups, g: int) -> None:  # groups OUT
    """Make the cover and the rate of a group from its shares."""
    x = groups.box.shape[0] // 2 + g
    e = groups.head[g]
    box_of_point(points, groups.box, x, groups.point[e])
    while e != GONE:
        widen(points, groups.box, x, groups.point[e])
        e = groups.next[e]
    groups.rate[g] = joined_rate(points, groups.box, x, x, FAR)


@kernel
def build_boxes(points: Points, groups: Groups) -> None:  # groups OUT
    """Make the covers of all groups, and the boxes over them."""
    leaves = groups.box.shape[0] // 2
    groups.least[:] = 0
    for g in range(groups.size.size):
        if groups.size[g] > 0:
            gather(points, groups, g)
            groups.least[leaves + g] = groups.size[g]
            groups.dearest[leaves + g] = groups.rate[g]
    for x in range(leaves - 1, 0, -1):
        for y in (2 * x, 2 * x + 1):
            if groups.least[y] == 0:
                continue
            if groups.least[x] == 0:
                _copy(groups.box, x, y)
                groups.least[x], groups.dearest[x] = groups.least[y], groups.dearest[y]
            else:
                _join(points, groups.box, x, y)
                groups.least[x] = min(groups.least[x], groups.least[y])
                groups.dearest[x] = max(groups.dearest[x], groups.dearest[y])


@inner_kernel
def changed(points: Points, groups: Groups, g: int) -> None:  # groups OUT
    """Let the boxes above a group that has changed cover it again."""
    leaf = groups.box.shape[0] // 2 + g
    groups.least[leaf], groups.dearest[leaf] = groups.size[g], groups.rate[g]
    x = leaf // 2
    while x > 0:
        _join(points, groups.box, x, leaf)
        groups.least[x] = min(groups.least[x], groups.size[g])
        groups.dearest[x] = max(groups.dearest[x], groups.rate[g])
        x //= 2


@inner_kernel
def merge(points: Points, groups: Groups, g: int, h: int) -> None:  # groups OUT
    """Let group h go over into group g."""
    leaves = groups.box.shape[0] // 2
    _join(points, groups.box, leaves + g, leaves + h)
    groups.rate[g] = joined_rate(points, groups.box, leaves + g, leaves + g, FAR)
    groups.next[groups.tail[g]] = groups.head[h]
    groups.tail[g] = groups.tail[h]
    groups.size[g] += groups.size[h]
    groups.size[h] = 0
    groups.head[h] = GONE
    groups.least[leaves + h] = 0
    changed(points, groups, g)


@inner_kernel
def share_with(points: Points, groups: Groups, g: int, h: int, taken: NDArray[np.int64], count: int) -> None:
    """Let group g have some rows of group h: of ``count`` shares, taken[c, 0], the number of rows in taken[c, 1]."""
    for c in range(count):  # groups OUT
        e, rows = taken[c, 0], taken[c, 1]
        groups.size[g] += rows
        groups.size[h] -= rows
        if rows == groups.rows[e]:
            groups.rows[e] = -rows  # the share itself goes over
            continue
        groups.rows[e] -= rows
        new = groups.used[0]
        groups.used[0] += 1
        groups.point[new], groups.rows[new] = groups.point[e], rows
        _append(groups, g, new)
    before, e = GONE, groups.head[h]
    while e != GONE:
        following = groups.next[e]
        if groups.rows[e] > 0:
            before = e
        else:
            if before == GONE:
                groups.head[h] = following
            else:
                groups.next[before] = following
            groups.rows[e] = -groups.rows[e]
            _append(groups, g, e)
        e = following
    groups.tail[h] = before
    for part in (g, h):
        gather(points, groups, part)
        changed(points, groups, part)


@inner_kernel
def _append(groups: Groups, g: int, e: int) -> None:  # groups OUT
    groups.next[groups.tail[g]] = e
    groups.tail[g] = e
    groups.next[e] = GONE


@inner_kernel
def suppress(groups: Groups, g: int) -> None:  # groups OUT
    """Take a group out of the search."""
    groups.least[groups.box.shape[0] // 2 + g] = 0
    groups.size[g] = -groups.size[g]


@inner_kernel
def take_back(points: Points, groups: Groups, g: int) -> None:  # groups OUT
    """Let all suppressed groups go over into group g."""
    for h in range(groups.size.size):
        if groups.size[h] < 0:
            groups.size[h] = -groups.size[h]
            merge(points, groups, g, h)


@inner_kernel
def keeps(requirement: Requirement, groups: Groups, g: int, histogram: NDArray[np.int64]) -> bool:
    """Whether a group keeps the requirement; the histogram is scratch space."""
    if groups.size[g] < requirement.smallest or requirement.cells == 0:
        return groups.size[g] >= requirement.smallest
    clear(histogram)
    e = groups.head[g]
    while e != GONE:
        tally(requirement, groups.point[e], groups.rows[e], histogram)
        e = groups.next[e]
    return holds(requirement, groups.size[g], histogram)


@inner_kernel
def nearest_group(points: Points, groups: Groups, g: int, stack: NDArray[np.int64]) -> tuple[int, float, int]:
    """The group with which group g has the least further cost if they merge, that cost, and how many were looked at.

    GONE if there is no other group. The stack is scratch space of DEPTH numbers.
    """
    leaves = groups.box.shape[0] // 2
    mine, own, size = leaves + g, groups.rate[g], groups.size[g]
    best, found, looked_at = FAR, GONE, 0
    up = mine
    while up > 1:
        waiting = 1
        stack[0] = up ^ 1
        up //= 2
        while waiting > 0:
            waiting -= 1
            x = stack[waiting]
            least, dearest = groups.least[x], groups.dearest[x]
            if least == 0:
                continue
            looked_at += 1
            if x >= leaves:
                # Both sizes times the rate together, less what both cost before.
                before = size * own + least * dearest
                limit = (best + before) / (size + least)
                rate = joined_rate(points, groups.box, mine, x, limit)
                if rate < limit:
                    best, found = (size + least) * rate - before, x - leaves
                continue
            limit = max(dearest, (best + size * own + least * dearest) / (size + least))
            limit = min(limit, own + best / size)
            if reach(points, groups.box, mine, x, limit) < limit:
                stack[waiting], stack[waiting + 1] = 2 * x + 1, 2 * x
                waiting += 2
    return found, best, looked_at
