"""Groups of shares of points that change: linked lists, covers that know what stays when one member leaves.

A share is a number of rows of one point in one group. A group's cover holds for each attribute the least and the
greatest leaf and also the second least and the second greatest, so that the cover without one member is known at once.
For sets the first number has the bits that occur and the third the bits that occur twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.covers import RANGE, SET, TABLE, Points, _bits as bits, rate_of

__all__ = ["Groups", "add", "joined", "left", "make_groups", "new_group", "remove", "swapped", "take"]

FREE_SHARE, FREE_GROUP, GROUPS = 0, 1, 2
_NONE_LOW, _NONE_HIGH = np.int64(1) << 60, np.int64(-1)


class Groups(NamedTuple):
    """Shares, and the groups they are in. -1 is none."""

    point: NDArray[np.int32]
    """(shares,) the point of each share; -1 for a share that is free."""
    count: NDArray[np.int64]
    group: NDArray[np.int32]
    next: NDArray[np.int32]
    """(shares,) the next share in the group; for a free share the next free one."""
    prev: NDArray[np.int32]
    twin: NDArray[np.int32]
    """(shares,) the next share of the same point."""
    first: NDArray[np.int32]
    """(points,) the first share of each point."""
    head: NDArray[np.int32]
    """(groups,) the first share in the group; for a free group -2 - the next free one."""
    size: NDArray[np.int64]
    """(groups,) rows; 0 for a free group."""
    cover: NDArray[np.int64]
    """(groups, m, 4)"""
    rate: NDArray[np.float64]
    """(groups,) what a row costs."""
    top: NDArray[np.int64]
    """The first free share, the first free group, and the number of group slots ever used."""


@kernel
def make_groups(points: Points, group: NDArray[np.int64], k: int) -> Groups:
    """Put each point as a whole into its group."""
    n, m = points.weights.size, points.kind.size
    rows = 0
    for j in range(n):
        rows += points.weights[j]
    shares = n + n // 2 + 16
    slots = max(min(rows // max(k, 1), shares), group.max() + 1) + 1
    g = Groups(
        np.full(shares, -1, np.int32),
        np.zeros(shares, np.int64),
        np.full(shares, -1, np.int32),
        np.full(shares, -1, np.int32),
        np.full(shares, -1, np.int32),
        np.full(shares, -1, np.int32),
        np.full(n, -1, np.int32),
        np.full(slots, -1, np.int32),
        np.zeros(slots, np.int64),
        np.empty((slots, m, 4), np.int64),
        np.zeros(slots),
        np.zeros(3, np.int64),
    )
    for e in range(shares):
        g.next[e] = e + 1 if e + 1 < shares else -1
    for b in range(slots):
        g.head[b] = -2 - (b + 1) if b + 1 < slots else -1
    used = group.max() + 1
    for b in range(used):
        new_group(points, g)
    for j in range(n):
        add(points, g, j, points.weights[j], group[j])
    return g


@kernel
def new_group(points: Points, g: Groups) -> int:
    """An empty group, or -1 if there is no room."""
    b = g.top[FREE_GROUP]
    if b < 0:
        return -1
    g.top[FREE_GROUP] = -2 - g.head[b] if g.head[b] < -1 else -1
    g.head[b], g.size[b], g.rate[b] = -1, 0, 0.0
    g.top[GROUPS] = max(g.top[GROUPS], b + 1)
    for i in range(points.kind.size):
        _nothing(points, g, b, i)
    return b


@kernel
def _nothing(points: Points, g: Groups, b: int, i: int) -> None:
    """Make the cover of no member."""
    is_set = points.kind[i] == SET
    g.cover[b, i, 0] = g.cover[b, i, 2] = 0 if is_set else _NONE_LOW
    g.cover[b, i, 1] = g.cover[b, i, 3] = 0 if is_set else _NONE_HIGH


@kernel
def _widen(points: Points, g: Groups, b: int, i: int, code: int) -> None:
    cover = g.cover[b, i]
    if points.kind[i] == SET:
        cover[2] |= cover[0] & code
        cover[0] |= code
        return
    if code <= cover[0]:
        cover[2] = cover[0]
        cover[0] = code
    elif code < cover[2]:
        cover[2] = code
    if code >= cover[1]:
        cover[3] = cover[1]
        cover[1] = code
    elif code > cover[3]:
        cover[3] = code


@kernel
def _price(points: Points, g: Groups, b: int) -> None:
    total = 0.0
    for i in range(points.kind.size):
        total += rate_of(points, i, g.cover[b, i, 0], g.cover[b, i, 1])
    g.rate[b] = total


@kernel
def add(points: Points, g: Groups, j: int, count: int, b: int) -> int:
    """Put rows of a point into a group; return their share."""
    e = g.first[j]
    while e >= 0:
        if g.group[e] == b:
            g.count[e] += count
            g.size[b] += count
            return e
        e = g.twin[e]
    e = g.top[FREE_SHARE]
    g.top[FREE_SHARE] = g.next[e]
    g.point[e], g.count[e], g.group[e] = j, count, b
    g.twin[e] = g.first[j]
    g.first[j] = e
    g.next[e], g.prev[e] = g.head[b], -1
    if g.head[b] >= 0:
        g.prev[g.head[b]] = e
    g.head[b] = e
    g.size[b] += count
    for i in range(points.kind.size):
        _widen(points, g, b, i, points.codes[j, i])
    _price(points, g, b)
    return e


@kernel
def take(g: Groups, e: int, count: int) -> None:
    """Take some, but not all, of the rows of a share out of its group."""
    g.count[e] -= count
    g.size[g.group[e]] -= count


@kernel
def remove(points: Points, g: Groups, e: int) -> None:
    """Take a share out of its group. An emptied group is freed."""
    b, j = g.group[e], g.point[e]
    g.size[b] -= g.count[e]
    if g.prev[e] >= 0:
        g.next[g.prev[e]] = g.next[e]
    else:
        g.head[b] = g.next[e]
    if g.next[e] >= 0:
        g.prev[g.next[e]] = g.prev[e]
    if g.first[j] == e:
        g.first[j] = g.twin[e]
    else:
        f = g.first[j]
        while g.twin[f] != e:
            f = g.twin[f]
        g.twin[f] = g.twin[e]
    g.point[e] = -1
    g.next[e] = g.top[FREE_SHARE]
    g.top[FREE_SHARE] = e
    if g.head[b] < 0:
        g.size[b] = 0
        g.head[b] = -2 - g.top[FREE_GROUP] if g.top[FREE_GROUP] >= 0 else -1
        g.top[FREE_GROUP] = b
        return
    for i in range(points.kind.size):
        code = points.codes[j, i]
        cover = g.cover[b, i]
        if points.kind[i] != SET and cover[2] < code < cover[3]:
            continue
        _nothing(points, g, b, i)
        f = g.head[b]
        while f >= 0:
            _widen(points, g, b, i, points.codes[g.point[f], i])
            f = g.next[f]
    _price(points, g, b)


@kernel
def rate_at(shape: NDArray[np.int64], rate: NDArray[np.float64], node: NDArray[np.int32], i: int, low: int, high: int) -> float:
    """What a row costs in attribute i under a cover that is no set."""
    start, leaves = shape[i, 1], shape[i, 2]
    if shape[i, 0] == TABLE:
        return rate[start + low * leaves + high]
    if low == high:
        return 0.0
    if shape[i, 0] == RANGE:
        found = rate[start + high] - rate[start + low]
        return found if found == found else rate[start + leaves]
    above = shape[i, 3]
    while node[above + low] != node[above + high]:
        above += leaves
        start += leaves
    return rate[start + low]


@kernel
def joined(
    shape: NDArray[np.int64],
    rate: NDArray[np.float64],
    node: NDArray[np.int32],
    codes: NDArray[np.int64],
    cover: NDArray[np.int64],
    b: int,
    j: int,
) -> float:
    """What a row of group b costs once point j has joined."""
    total = 0.0
    for i in range(shape.shape[0]):
        code = codes[j, i]
        if shape[i, 0] == SET:
            total += rate[shape[i, 1] + bits(cover[b, i, 0] | code)]
        else:
            total += rate_at(shape, rate, node, i, min(cover[b, i, 0], code), max(cover[b, i, 1], code))
    return total


@kernel
def left(
    shape: NDArray[np.int64],
    rate: NDArray[np.float64],
    node: NDArray[np.int32],
    codes: NDArray[np.int64],
    cover: NDArray[np.int64],
    b: int,
    j: int,
) -> float:
    """What a row of group b costs once its member point j has left; there are others."""
    total = 0.0
    for i in range(shape.shape[0]):
        code = codes[j, i]
        if shape[i, 0] == SET:
            total += rate[shape[i, 1] + bits(cover[b, i, 2] | (cover[b, i, 0] & ~code))]
        else:
            low = cover[b, i, 2] if code == cover[b, i, 0] else cover[b, i, 0]
            high = cover[b, i, 3] if code == cover[b, i, 1] else cover[b, i, 1]
            total += rate_at(shape, rate, node, i, low, high)
    return total


@kernel
def swapped(
    shape: NDArray[np.int64],
    rate: NDArray[np.float64],
    node: NDArray[np.int32],
    codes: NDArray[np.int64],
    cover: NDArray[np.int64],
    b: int,
    j: int,
    q: int,
) -> float:
    """What a row of group b costs once its member point j has left and point q has joined."""
    total = 0.0
    for i in range(shape.shape[0]):
        code, other = codes[j, i], codes[q, i]
        if shape[i, 0] == SET:
            total += rate[shape[i, 1] + bits(cover[b, i, 2] | (cover[b, i, 0] & ~code) | other)]
        else:
            low = cover[b, i, 2] if code == cover[b, i, 0] else cover[b, i, 0]
            high = cover[b, i, 3] if code == cover[b, i, 1] else cover[b, i, 1]
            total += rate_at(shape, rate, node, i, min(low, other), max(high, other))
    return total
