"""Groups that merge and give rows to each other, and the search for the group nearest to one.

A group is a chain of shares, and a share is a point with some of its rows. Groups are in an order in which neighbours
are alike. Over that order is a binary tree of boxes: box 1 is the root, the children of box x are 2x and 2x + 1, and
box ``leaves + g`` is group g. A box covers everything under it, or more: it grows when a group does and never shrinks.
The least that a group costs together with anything in a box leaves most of the tree unvisited.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.covers import SET, AttributeCover, Points, rate_of
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import Records, layout
from discreet.solve.kernels.requirements import Requirement, clear, holds, tally

__all__ = [
    "DEPTH",
    "FAR",
    "NONE",
    "TAKEN",
    "BoxedGroups",
    "TakenRows",
    "build_boxes",
    "cover_point",
    "gather",
    "joined_rate",
    "keeps",
    "least_rate",
    "merge",
    "nearest_group",
    "nearest_union",
    "point_rate",
    "share_with",
    "suppress",
    "take_back",
    "update_boxes",
    "widen",
]

NONE = -1
"""The end of a chain; the first share of a group that no longer exists."""
DEPTH = 64
"""More than the boxes that wait in a search."""
FAR = 1e300
"""A limit that is no limit."""


class TakenRows:
    """Rows of a share that go to another group."""

    share: int
    rows: int


TAKEN = layout(TakenRows)


class BoxedGroups(NamedTuple):
    """The groups, their shares, and the boxes over them."""

    point: NDArray[np.int64]
    """(shares,) the point of each share, its rows, and the next share of its group."""
    rows: NDArray[np.int64]
    next: NDArray[np.int64]
    head: NDArray[np.int64]
    """(groups,) the first and the last share of each group."""
    tail: NDArray[np.int64]
    size: NDArray[np.int64]
    """(groups,) rows; 0 if the group no longer exists, and minus the rows if it is suppressed."""
    rate: NDArray[np.float64]
    """(groups,) what a row costs."""
    box: Records[AttributeCover]
    """(2 * leaves, m) covers, those of the groups at the leaves."""
    least: NDArray[np.int64]
    """(2 * leaves,) no group in the box has fewer rows."""
    dearest: NDArray[np.float64]
    """(2 * leaves,) no row in the box costs more."""
    used: NDArray[np.int64]
    """(1,) how many shares are in use."""


@inner_kernel
def cover_point(points: Points, box: Records[AttributeCover], x: int, j: int) -> None:  # box OUT
    """Let box x cover point j alone."""
    for i in range(box.shape[1]):
        box[x, i].low = box[x, i].high = points.codes[j, i]


@inner_kernel
def widen(points: Points, box: Records[AttributeCover], x: int, j: int) -> None:  # box OUT
    """Let box x cover point j too."""
    for i in range(box.shape[1]):
        code, cover = points.codes[j, i], box[x, i]
        if points.rates.attribute[i].kind == SET:
            cover.low |= code
        else:
            cover.low, cover.high = min(cover.low, code), max(cover.high, code)


@inner_kernel
def _join(points: Points, box: Records[AttributeCover], x: int, y: int) -> None:  # box OUT
    """Let box x cover box y too."""
    for i in range(box.shape[1]):
        cover, other = box[x, i], box[y, i]
        if points.rates.attribute[i].kind == SET:
            cover.low |= other.low
        else:
            cover.low, cover.high = min(cover.low, other.low), max(cover.high, other.high)


@inner_kernel
def _copy(box: Records[AttributeCover], x: int, y: int) -> None:  # box OUT
    """Let box x cover what box y covers."""
    for i in range(box.shape[1]):
        box[x, i].low, box[x, i].high = box[y, i].low, box[y, i].high


@inner_kernel
def joined_rate(points: Points, box: Records[AttributeCover], x: int, y: int, limit: float) -> float:
    """Return the cost of a row under boxes x and y together; adding up stops at the limit."""
    total = 0.0
    for i in range(box.shape[1]):
        cover, other = box[x, i], box[y, i]
        if points.rates.attribute[i].kind == SET:
            total += rate_of(points.rates, i, cover.low | other.low, 0)
        else:
            total += rate_of(points.rates, i, min(cover.low, other.low), max(cover.high, other.high))
        if total >= limit:
            break
    return total


@inner_kernel
def point_rate(points: Points, box: Records[AttributeCover], x: int, j: int, limit: float) -> float:
    """Return the cost of a row under box x with point j; adding up stops at the limit."""
    total = 0.0
    for i in range(box.shape[1]):
        code, cover = points.codes[j, i], box[x, i]
        if points.rates.attribute[i].kind == SET:
            total += rate_of(points.rates, i, cover.low | code, 0)
        else:
            total += rate_of(points.rates, i, min(cover.low, code), max(cover.high, code))
        if total >= limit:
            break
    return total


@inner_kernel
def least_rate(points: Points, box: Records[AttributeCover], x: int, y: int, limit: float) -> float:
    """The least a row costs under box x with anything in box y; adding up stops at the limit.

    Of a set one value must join, unless the boxes share one; any will do, since rates depend on the number of values.
    """
    total = 0.0
    for i in range(box.shape[1]):
        low, high, other = box[x, i].low, box[x, i].high, box[y, i]
        if points.rates.attribute[i].kind == SET:
            mask = other.low
            total += rate_of(points.rates, i, low if low & mask else low | (mask & -mask), 0)
        elif other.low > high:
            total += rate_of(points.rates, i, low, other.low)
        elif other.high < low:
            total += rate_of(points.rates, i, other.high, high)
        else:
            total += rate_of(points.rates, i, low, high)
        if total >= limit:
            break
    return total


@inner_kernel
def gather(points: Points, groups: BoxedGroups, g: int) -> None:  # groups OUT
    """Find the cover and the rate of a group from its shares."""
    x = groups.box.shape[0] // 2 + g
    e = groups.head[g]
    cover_point(points, groups.box, x, groups.point[e])
    while e != NONE:
        widen(points, groups.box, x, groups.point[e])
        e = groups.next[e]
    groups.rate[g] = joined_rate(points, groups.box, x, x, FAR)


@kernel
def build_boxes(points: Points, groups: BoxedGroups) -> None:  # groups OUT
    """Find the covers of all groups, and the boxes over them."""
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
def update_boxes(points: Points, groups: BoxedGroups, g: int) -> None:  # groups OUT
    """Let the boxes above a group that has changed cover it again; O(m log groups)."""
    leaf = groups.box.shape[0] // 2 + g
    groups.least[leaf], groups.dearest[leaf] = groups.size[g], groups.rate[g]
    x = leaf // 2
    while x > 0:
        _join(points, groups.box, x, leaf)
        groups.least[x] = min(groups.least[x], groups.size[g])
        groups.dearest[x] = max(groups.dearest[x], groups.rate[g])
        x //= 2


@inner_kernel
def merge(points: Points, groups: BoxedGroups, g: int, h: int) -> None:  # groups OUT
    """Merge group h into group g."""
    leaves = groups.box.shape[0] // 2
    _join(points, groups.box, leaves + g, leaves + h)
    groups.rate[g] = joined_rate(points, groups.box, leaves + g, leaves + g, FAR)
    groups.next[groups.tail[g]] = groups.head[h]
    groups.tail[g] = groups.tail[h]
    groups.size[g] += groups.size[h]
    groups.size[h] = 0
    groups.head[h] = NONE
    groups.least[leaves + h] = 0
    update_boxes(points, groups, g)


@inner_kernel
def share_with(
    points: Points, groups: BoxedGroups, g: int, h: int, taken: Records[TakenRows], count: int
) -> None:  # groups OUT
    """Move the rows of the first ``count`` records of ``taken`` from group h to group g.

    A share that moves as a whole is marked by negative rows until the chain of h is relinked in one pass.
    """
    for c in range(count):
        e, rows = taken[c].share, taken[c].rows
        groups.size[g] += rows
        groups.size[h] -= rows
        if rows == groups.rows[e]:
            groups.rows[e] = -rows
            continue
        groups.rows[e] -= rows
        new = groups.used[0]
        groups.used[0] += 1
        groups.point[new], groups.rows[new] = groups.point[e], rows
        _append(groups, g, new)
    before, e = NONE, groups.head[h]
    while e != NONE:
        following = groups.next[e]
        if groups.rows[e] > 0:
            before = e
        else:
            if before == NONE:
                groups.head[h] = following
            else:
                groups.next[before] = following
            groups.rows[e] = -groups.rows[e]
            _append(groups, g, e)
        e = following
    groups.tail[h] = before
    for part in (g, h):
        gather(points, groups, part)
        update_boxes(points, groups, part)


@inner_kernel
def _append(groups: BoxedGroups, g: int, e: int) -> None:  # groups OUT
    groups.next[groups.tail[g]] = e
    groups.tail[g] = e
    groups.next[e] = NONE


@inner_kernel
def suppress(groups: BoxedGroups, g: int) -> None:  # groups OUT
    """Take a group out of the search."""
    groups.least[groups.box.shape[0] // 2 + g] = 0
    groups.size[g] = -groups.size[g]


@inner_kernel
def take_back(points: Points, groups: BoxedGroups, g: int) -> None:  # groups OUT
    """Merge all suppressed groups into group g."""
    for h in range(groups.size.size):
        if groups.size[h] < 0:
            groups.size[h] = -groups.size[h]
            merge(points, groups, g, h)


@inner_kernel
def keeps(requirement: Requirement, groups: BoxedGroups, g: int, histogram: NDArray[np.int64]) -> bool:
    """Whether a group satisfies the requirement; the histogram is scratch space."""
    if groups.size[g] < requirement.smallest or requirement.cells == 0:
        return groups.size[g] >= requirement.smallest
    clear(histogram)
    e = groups.head[g]
    while e != NONE:
        tally(requirement, groups.point[e], groups.rows[e], histogram)
        e = groups.next[e]
    return holds(requirement, groups.size[g], histogram)


@inner_kernel
def nearest_group(points: Points, groups: BoxedGroups, g: int, stack: NDArray[np.int64]) -> tuple[int, float, int]:
    """The group with which group g costs least more after merging, that cost, and how many boxes were visited.

    NONE if there is no other group. The stack is scratch space of DEPTH numbers. Boxes are visited from the leaf of g
    upwards, so that a good neighbour is found early.

    Merged with s rows of rate d, all get a rate r >= d, and the cost grows by (size + s) r - size own - s d. That is
    below ``best`` only if r < (best + size own + s d) / (size + s), which is a mean of a term without s and of d, so
    that it is largest at the least s or not above the greatest d; and only if r < own + best / size. A box whose least
    rate is above both limits is skipped.
    """
    leaves = groups.box.shape[0] // 2
    mine, own, size = leaves + g, groups.rate[g], groups.size[g]
    best, found, visited = FAR, NONE, 0
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
            visited += 1
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
            if least_rate(points, groups.box, mine, x, limit) < limit:
                stack[waiting], stack[waiting + 1] = 2 * x + 1, 2 * x
                waiting += 2
    return found, best, visited


@inner_kernel
def nearest_union(points: Points, groups: BoxedGroups, g: int, stack: NDArray[np.int64]) -> tuple[int, int]:
    """The group with which group g has the lowest rate together, however large it is, and how many boxes were visited.

    This is the rule as the utility paper words it. Otherwise the same as :func:`nearest_group`.
    """
    leaves = groups.box.shape[0] // 2
    mine, up = leaves + g, leaves + g
    best, found, visited = FAR, NONE, 0
    while up > 1:
        waiting = 1
        stack[0] = up ^ 1
        up //= 2
        while waiting > 0:
            waiting -= 1
            x = stack[waiting]
            if groups.least[x] == 0:
                continue
            visited += 1
            if x >= leaves:
                rate = joined_rate(points, groups.box, mine, x, best)
                if rate < best:
                    best, found = rate, x - leaves
            elif least_rate(points, groups.box, mine, x, best) < best:
                stack[waiting], stack[waiting + 1] = 2 * x + 1, 2 * x
                waiting += 2
    return found, visited
