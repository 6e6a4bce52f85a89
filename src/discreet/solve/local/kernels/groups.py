"""Groups of shares of points that change: doubly linked lists, updated in O(members) at worst.

A *share* is a number of rows of one point in one group; the rows of a point may be in several groups. Suppressed rows
are in no group. Records of shares and groups that are not in use form free lists, so that nothing is allocated during a
search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.arrays import Ints
from discreet.solve.kernels.covers import SET, Points
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import Records, records
from discreet.solve.kernels.requirements import Requirement, holds
from discreet.solve.local.kernels.group_covers import Covers, GroupCover, cover_nothing, cover_rate, widen

__all__ = [
    "NOBODY",
    "LocalGroups",
    "PointRows",
    "add",
    "keeps",
    "make_groups",
    "move",
    "new_group",
    "split_heavy",
    "wake",
]


class Share:
    """A number of rows of one point in one group."""

    point: int  # -1 if the record is free
    rows: int
    group: int
    next: int  # the next share of the group; the next free record
    previous: int
    twin: int  # the next share of the same point


class GroupRecord:
    """A group."""

    head: int  # the first share; the next free record
    rows: int  # 0 if the record is free
    rate: float  # what each row costs
    visit: int  # the number of the last visit, so that no group is tried twice for one share


class GroupCounters:
    """The state of all groups as numbers."""

    free_share: int  # the head of the free list, -1 if there is none
    free_group: int
    groups: int  # all groups in use are below this
    budget: int  # rows that may still be suppressed
    visits: int


_SPARE_GROUPS = 64
"""Records for so many groups more than there can be in the end."""


class LocalGroups(NamedTuple):
    """The points of a region, their shares and groups. -1 is none."""

    covers: Covers
    penalty: float
    """What suppressing one row costs."""
    share: Records[Share]
    first: Ints
    """(points,) the first share of each point."""
    group: Records[GroupRecord]
    suppressed: Ints
    """(points,) suppressed rows."""
    counters: Records[GroupCounters]
    """One record."""
    active: NDArray[np.bool_]
    """(points,) whether something nearby has changed since the point was last visited."""
    histogram: Ints
    """(cells,) scratch space to check a requirement, all 0 between two checks."""


class PointRows(NamedTuple):
    """Some rows of a point, which join or leave a group."""

    point: int
    rows: int


NOBODY = PointRows(-1, 0)


def make_groups(points: Points, group: Ints, k: int, cells: int) -> LocalGroups:
    """Put each point as a whole into its group; points of group -1 are not in any yet."""
    n, m = points.codes.shape
    shares = n + n // 2 + 16
    used = int(group.max(initial=-1)) + 1
    slots = max(min(int(points.weights.sum()) // max(k, 1), shares), used) + _SPARE_GROUPS
    share, groups = records(Share, shares), records(GroupRecord, slots)
    for name in ("point", "rows", "group", "next", "previous", "twin"):
        share[name] = -1
    share["next"][:-1] = np.arange(1, shares)
    groups["head"] = np.append(np.arange(1, slots), -1)
    g = LocalGroups(
        covers=Covers(points.codes, points.rates, records(GroupCover, (slots, m))),
        penalty=points.penalty,
        share=share,
        first=np.full(n, -1, np.int64),
        group=groups,
        suppressed=np.zeros(n, np.int64),
        counters=records(GroupCounters, 1),
        active=np.ones(n, np.bool_),
        histogram=np.zeros(cells, np.int64),
    )
    _fill(g, points.weights, group, used)
    return g


@kernel
def _fill(g: LocalGroups, weights: Ints, group: Ints, used: int) -> None:  # g OUT
    for _ in range(used):
        new_group(g)
    for j in range(weights.size):
        if group[j] >= 0:
            add(g, j, weights[j], group[j])


@inner_kernel
def new_group(g: LocalGroups) -> int:  # g OUT
    """An empty group; -1 if all records are in use."""
    counters = g.counters[0]
    b = counters.free_group
    if b >= 0:
        group = g.group[b]
        counters.free_group = group.head
        counters.groups = max(counters.groups, b + 1)
        group.head, group.rows, group.rate = -1, 0, 0.0
        for i in range(g.covers.cover.shape[1]):
            cover_nothing(g.covers, b, i)
    return b


@inner_kernel
def add(g: LocalGroups, j: int, rows: int, b: int) -> None:  # g OUT
    """Put rows of a point into a group; there must be a free share, unless the point is in the group already."""
    share, group, covers = g.share, g.group[b], g.covers
    group.rows += rows
    e = g.first[j]
    while e >= 0:
        if share[e].group == b:
            share[e].rows += rows
            return
        e = share[e].twin
    e = g.counters[0].free_share
    new = share[e]
    g.counters[0].free_share = new.next
    new.point, new.rows, new.group = j, rows, b
    new.twin = g.first[j]
    g.first[j] = e
    new.next, new.previous = group.head, -1
    if group.head >= 0:
        share[group.head].previous = e
    group.head = e
    for i in range(covers.cover.shape[1]):
        widen(covers, b, i, covers.codes[j, i])
    group.rate = cover_rate(covers, b)


@inner_kernel
def _remove(g: LocalGroups, e: int) -> None:  # g OUT
    """Take a share out of its group; a group left empty is freed."""
    share, first, counters = g.share, g.first, g.counters[0]
    old = share[e]
    b, j, following, previous, twin = old.group, old.point, old.next, old.previous, old.twin
    group = g.group[b]
    group.rows -= old.rows
    if previous >= 0:
        share[previous].next = following
    else:
        group.head = following
    if following >= 0:
        share[following].previous = previous
    if first[j] == e:
        first[j] = twin
    else:
        f = first[j]
        while share[f].twin != e:
            f = share[f].twin
        share[f].twin = twin
    old.point, old.next = -1, counters.free_share
    counters.free_share = e
    if group.head < 0:
        group.rows, group.head = 0, counters.free_group
        counters.free_group = b
        return
    _shrink(g, b, j)


@inner_kernel
def _shrink(g: LocalGroups, b: int, j: int) -> None:  # g OUT
    """Narrow the cover of group b after member j has left.

    An attribute is scanned again only if the member was at one of the two least or two greatest leaves. It
    need not if all values are alike and at least two members are left, for then the second extremes are what they were.
    """
    share, group, covers = g.share, g.group[b], g.covers
    several = share[group.head].next >= 0
    for i in range(covers.cover.shape[1]):
        code, cover = covers.codes[j, i], covers.cover[b, i]
        if covers.rates.attribute[i].kind != SET and (
            cover.second_low < code < cover.second_high or (several and cover.low == cover.high)
        ):
            continue
        cover_nothing(covers, b, i)
        f = group.head
        while f >= 0:
            widen(covers, b, i, covers.codes[share[f].point, i])
            f = share[f].next
    group.rate = cover_rate(covers, b)


@inner_kernel
def move(g: LocalGroups, e: int, rows: int, b: int) -> None:  # g OUT
    """Move rows of a share into group b; -1 suppresses them."""
    share = g.share[e]
    j = share.point
    if rows < share.rows:
        share.rows -= rows
        g.group[share.group].rows -= rows
    else:
        _remove(g, e)
    if b >= 0:
        add(g, j, rows, b)
    else:
        g.suppressed[j] += rows
        g.counters[0].budget -= rows


@inner_kernel
def split_heavy(g: LocalGroups, b: int, k: int) -> None:  # g OUT
    """Let a share of very many rows be a group by itself, at no cost; the others keep the rows of it that they lack.

    Only for problems in which the number of rows is all that matters.
    """
    share, group = g.share, g.group[b]
    if group.rows < 2 * k or group.rate <= 0.0:
        return
    heavy, e = group.head, group.head
    while e >= 0:
        if share[e].rows > share[heavy].rows:
            heavy = e
        e = share[e].next
    lack = max(k - group.rows + share[heavy].rows, 0)
    if share[heavy].rows < k + lack or g.counters[0].free_share < 0:
        return
    other = new_group(g)
    if other < 0:
        return
    if lack > 0:
        move(g, heavy, lack, other)
    e = group.head
    while e >= 0:
        following = share[e].next
        if e != heavy:
            move(g, e, share[e].rows, other)
        e = following
    wake(g, other)


@inner_kernel
def wake(g: LocalGroups, b: int) -> None:  # g OUT
    """Mark the points of a group as active; -1 is no group."""
    if b < 0:
        return
    e = g.group[b].head
    while e >= 0:
        g.active[g.share[e].point] = True
        e = g.share[e].next


@inner_kernel
def keeps(
    g: LocalGroups, requirement: Requirement, b: int, leaving: PointRows, joining: PointRows
) -> bool:  # g.histogram scratch
    """Whether group b satisfies the requirement after rows of one point have left and rows of another have joined.

    An empty group does. O(1) if only the number of rows matters, else O(members + cells).
    """
    rows = g.group[b].rows - leaving.rows + joining.rows
    if g.histogram.size == 0 or rows == 0:
        return rows == 0 or rows >= requirement.smallest
    if rows < requirement.smallest:
        return False
    # What is not inlined gets only the arrays it needs: all of ``g`` would be copied for each call.
    return _models_hold(g.share, g.histogram, requirement, g.group[b].head, rows, leaving, joining)


@inner_kernel
def _models_hold(
    share: Records[Share],
    histogram: Ints,
    requirement: Requirement,
    head: int,
    rows: int,
    leaving: PointRows,
    joining: PointRows,
) -> bool:  # histogram scratch
    """Whether a group satisfies the models after a change: its rows are counted, and taken out again."""
    once = np.int64(1)
    _tally_group(share, histogram, requirement.values, head, leaving, joining, once)
    fine = holds(requirement, rows, histogram)
    _tally_group(share, histogram, requirement.values, head, leaving, joining, -once)
    return fine


@inner_kernel
def _tally_group(
    share: Records[Share], histogram: Ints, values: Ints, head: int, leaving: PointRows, joining: PointRows, times: int
) -> None:  # histogram OUT
    """Count the rows of a group after the change; -1 times takes them out of the histogram again."""
    e = head
    while e >= 0:
        for column in range(values.shape[1]):
            histogram[values[share[e].point, column]] += times * share[e].rows
        e = share[e].next
    for column in range(values.shape[1]):
        if leaving.point >= 0:
            histogram[values[leaving.point, column]] -= times * leaving.rows
        if joining.point >= 0:
            histogram[values[joining.point, column]] += times * joining.rows
