"""Groups of shares of points that change: linked lists, and covers that know what stays when one member leaves.

A share is a number of rows of one point in one group; the rows of a point may be in several groups. Rows that are
suppressed are in none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.covers import SET
from discreet.kernels.local_rates import Floats, Ints, Nodes, rate_at
from discreet.kernels.requirements import Requirement, holds

__all__ = [
    "COUNT",
    "FREE_SHARE",
    "GROUP",
    "GROUPS",
    "HEAD",
    "NEXT",
    "POINT",
    "SIZE",
    "SPARE",
    "TWIN",
    "Groups",
    "add",
    "keeps",
    "make_groups",
    "move",
    "new_group",
    "part_heavy",
    "wake",
]

POINT, COUNT, GROUP, NEXT, PREV, TWIN = 0, 1, 2, 3, 4, 5
"""Columns of a share: its point, its rows, its group, the next and the previous in the group, the point's next."""
HEAD, SIZE = 0, 1
"""Columns of a group: its first share and its rows."""
FREE_SHARE, FREE_GROUP, GROUPS, SPARE = 0, 1, 2, 3
"""What ``top`` holds: a free share, a free group, the group slots ever used, rows that may still be suppressed."""
_NONE_LOW, _NONE_HIGH = 1 << 60, -1
_MORE = 64
"""Room for so many groups more than there can be in the end."""


class Groups(NamedTuple):
    """Points, their shares and groups. -1 is none."""

    codes: Ints
    shape: Ints
    rate: Floats
    node: Nodes
    penalty: float
    share: Ints
    """(shares, 6); the point of a free share is -1, and its next is the next free one."""
    first: Ints
    """(points,) the first share of each point."""
    group: Ints
    """(groups, 2); the size of a free group is 0, and its head is the next free one."""
    cover: Ints
    """(groups, m, 4)"""
    each: Floats
    """(groups,) what each row costs."""
    gone: Ints
    """(points,) rows that are suppressed."""
    top: Ints
    mark: Ints
    """(groups + 1,) when each group was last looked at; the last is the time."""
    active: NDArray[np.bool_]
    """(points,) whether something near has changed since the point was looked at."""
    histogram: Ints
    """(cells,) room to check a requirement, all 0."""


def make_groups(
    codes: Ints, weights: Ints, shape: Ints, rate: Floats, node: Nodes, penalty: float, group: Ints, k: int, cells: int
) -> Groups:
    """Put each point as a whole into its group; with group -1 it is in none yet."""
    n, m = codes.shape
    shares = n + n // 2 + 16
    used = int(group.max(initial=-1)) + 1
    slots = max(min(int(weights.sum()) // max(k, 1), shares), used) + _MORE
    share, head = np.full((shares, 6), -1, np.int64), np.zeros((slots, 2), np.int64)
    share[:-1, NEXT] = np.arange(1, shares)
    head[:-1, HEAD], head[-1, HEAD] = np.arange(1, slots), -1
    g = Groups(
        codes, shape, rate, node, penalty, share, np.full(n, -1, np.int64), head, np.empty((slots, m, 4), np.int64),
        np.zeros(slots), np.zeros(n, np.int64), np.zeros(4, np.int64), np.zeros(slots + 1, np.int64),
        np.ones(n, np.bool_), np.zeros(cells, np.int64),
    )  # fmt: skip
    _fill(g, weights, group, used)
    return g


@kernel
def _fill(g: Groups, weights: Ints, group: Ints, used: int) -> None:
    for _ in range(used):
        new_group(g)
    for j in range(weights.size):
        if group[j] >= 0:
            add(g, j, weights[j], group[j])


@inner_kernel
def new_group(g: Groups) -> int:
    """An empty group, or -1 if there is no room."""
    b = g.top[FREE_GROUP]
    if b >= 0:
        g.top[FREE_GROUP] = g.group[b, HEAD]
        g.top[GROUPS] = max(g.top[GROUPS], b + 1)
        g.group[b, HEAD], g.group[b, SIZE], g.each[b] = -1, 0, 0.0
        for i in range(g.shape.shape[0]):
            _cover_none(g.cover, b, i, g.shape[i, 0] == SET)
    return b


@inner_kernel
def _cover_none(cover: Ints, b: int, i: int, is_set: bool) -> None:
    cover[b, i, 0] = cover[b, i, 2] = 0 if is_set else _NONE_LOW
    cover[b, i, 1] = cover[b, i, 3] = 0 if is_set else _NONE_HIGH


@inner_kernel
def _widen(cover: Ints, b: int, i: int, code: int, is_set: bool) -> None:
    if is_set:
        cover[b, i, 2] |= cover[b, i, 0] & code
        cover[b, i, 0] |= code
        return
    if code <= cover[b, i, 0]:
        cover[b, i, 2] = cover[b, i, 0]
        cover[b, i, 0] = code
    elif code < cover[b, i, 2]:
        cover[b, i, 2] = code
    if code >= cover[b, i, 1]:
        cover[b, i, 3] = cover[b, i, 1]
        cover[b, i, 1] = code
    elif code > cover[b, i, 3]:
        cover[b, i, 3] = code


@inner_kernel
def _price(shape: Ints, rate: Floats, node: Nodes, cover: Ints, b: int) -> float:
    total = 0.0
    for i in range(shape.shape[0]):
        total += rate_at(shape, rate, node, i, cover[b, i, 0], cover[b, i, 1])
    return total


@inner_kernel
def add(g: Groups, j: int, count: int, b: int) -> None:
    """Put rows of a point into a group. There must be a free share, or one of the point in the group."""
    share, group, cover, codes, shape = g.share, g.group, g.cover, g.codes, g.shape
    group[b, SIZE] += count
    e = g.first[j]
    while e >= 0:
        if share[e, GROUP] == b:
            share[e, COUNT] += count
            return
        e = share[e, TWIN]
    e = g.top[FREE_SHARE]
    g.top[FREE_SHARE] = share[e, NEXT]
    share[e, POINT], share[e, COUNT], share[e, GROUP] = j, count, b
    share[e, TWIN] = g.first[j]
    g.first[j] = e
    share[e, NEXT], share[e, PREV] = group[b, HEAD], -1
    if group[b, HEAD] >= 0:
        share[group[b, HEAD], PREV] = e
    group[b, HEAD] = e
    for i in range(shape.shape[0]):
        _widen(cover, b, i, codes[j, i], shape[i, 0] == SET)
    g.each[b] = _price(shape, g.rate, g.node, cover, b)


@inner_kernel
def _remove(g: Groups, e: int) -> None:
    """Take a share out of its group. An emptied group is freed."""
    share, group, cover, codes, shape, first = g.share, g.group, g.cover, g.codes, g.shape, g.first
    b, j, following, previous = share[e, GROUP], share[e, POINT], share[e, NEXT], share[e, PREV]
    group[b, SIZE] -= share[e, COUNT]
    if previous >= 0:
        share[previous, NEXT] = following
    else:
        group[b, HEAD] = following
    if following >= 0:
        share[following, PREV] = previous
    if first[j] == e:
        first[j] = share[e, TWIN]
    else:
        f = first[j]
        while share[f, TWIN] != e:
            f = share[f, TWIN]
        share[f, TWIN] = share[e, TWIN]
    share[e, POINT], share[e, NEXT] = -1, g.top[FREE_SHARE]
    g.top[FREE_SHARE] = e
    if group[b, HEAD] < 0:
        group[b, SIZE], group[b, HEAD] = 0, g.top[FREE_GROUP]
        g.top[FREE_GROUP] = b
        return
    several = share[group[b, HEAD], NEXT] >= 0
    for i in range(shape.shape[0]):
        code, is_set = codes[j, i], shape[i, 0] == SET
        if not is_set and (cover[b, i, 2] < code < cover[b, i, 3] or (several and cover[b, i, 0] == cover[b, i, 1])):
            continue
        _cover_none(cover, b, i, is_set)
        f = group[b, HEAD]
        while f >= 0:
            _widen(cover, b, i, codes[share[f, POINT], i], is_set)
            f = share[f, NEXT]
    g.each[b] = _price(shape, g.rate, g.node, cover, b)


@inner_kernel
def move(g: Groups, e: int, count: int, b: int) -> None:
    """Move rows of a share into group b, or with -1 suppress them."""
    j = g.share[e, POINT]
    if count < g.share[e, COUNT]:
        g.share[e, COUNT] -= count
        g.group[g.share[e, GROUP], SIZE] -= count
    else:
        _remove(g, e)
    if b >= 0:
        add(g, j, count, b)
    else:
        g.gone[j] += count
        g.top[SPARE] -= count


@inner_kernel
def part_heavy(g: Groups, b: int, k: int) -> None:
    """Let a share of very many rows be a group by itself; the others keep what they need of it to be k rows.

    That is for groups of which only the number of rows matters.
    """
    share, group = g.share, g.group
    if group[b, SIZE] < 2 * k or g.each[b] <= 0.0:
        return
    heavy, e = group[b, HEAD], group[b, HEAD]
    while e >= 0:
        if share[e, COUNT] > share[heavy, COUNT]:
            heavy = e
        e = share[e, NEXT]
    lack = max(k - group[b, SIZE] + share[heavy, COUNT], 0)
    if share[heavy, COUNT] < k + lack or g.top[FREE_SHARE] < 0:
        return
    other = new_group(g)
    if other < 0:
        return
    if lack > 0:
        move(g, heavy, lack, other)
    e = group[b, HEAD]
    while e >= 0:
        following = share[e, NEXT]
        if e != heavy:
            move(g, e, share[e, COUNT], other)
        e = following
    wake(g, other)


@inner_kernel
def wake(g: Groups, b: int) -> None:
    """Let the points of a group be looked at again."""
    if b < 0:
        return
    share, active = g.share, g.active
    e = g.group[b, HEAD]
    while e >= 0:
        active[share[e, POINT]] = True
        e = share[e, NEXT]


@inner_kernel
def _tally(share: Ints, values: Ints, histogram: Ints, e: int, times: int) -> None:
    """Count the rows of a share and of all that follow it."""
    while e >= 0:
        for column in range(values.shape[1]):
            histogram[values[share[e, POINT], column]] += times * share[e, COUNT]
        e = share[e, NEXT]


@inner_kernel
def keeps(
    requirement: Requirement,
    share: Ints,
    group: Ints,
    histogram: Ints,
    b: int,
    out: int,
    out_rows: int,
    into: int,
    in_rows: int,
) -> bool:
    """Whether a group keeps the requirement once rows of a point left and rows of another came; -1 is none."""
    size = group[b, SIZE] - out_rows + in_rows
    if histogram.size == 0 or size == 0:
        return size == 0 or size >= requirement.smallest
    values, once = requirement.values, np.int64(1)
    _tally(share, values, histogram, group[b, HEAD], once)
    for column in range(values.shape[1]):
        if out >= 0:
            histogram[values[out, column]] -= out_rows
        if into >= 0:
            histogram[values[into, column]] += in_rows
    fine = holds(requirement, size, histogram)
    _tally(share, values, histogram, group[b, HEAD], -once)
    for column in range(values.shape[1]):
        if out >= 0:
            histogram[values[out, column]] += out_rows
        if into >= 0:
            histogram[values[into, column]] -= in_rows
    return fine
