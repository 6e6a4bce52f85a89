"""Local search: shares move, swap and replace each other, and groups dissolve, as long as that saves cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.solve.kernels.arrays import Ints
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import layout
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.kernels.group_covers import joined, left, swapped, swapped_at_best
from discreet.solve.local.kernels.groups import (
    NOBODY,
    LocalGroups,
    PointRows,
    add,
    keeps,
    move,
    split_heavy,
    wake,
)

__all__ = ["cheapest_group", "dissolve_groups", "move_shares"]

_LEAST = 1e-9
"""Savings below this are rounding."""
_NONE, _MOVE, _EXCHANGE = -1, 0, 1
"""Kinds of changes: nothing; rows of a share move; another share takes the place of a share that moves."""
_NOWHERE, _SUPPRESSED = -2, -1
"""Instead of a group: there is none to go to, or the rows are suppressed."""


class _WentRows:
    """Rows of a point that went to another group."""

    point: int
    group: int
    rows: int


_WENT = layout(_WentRows)


class _Change(NamedTuple):
    """The best change found so far for a share."""

    saved: float
    kind: int
    target: int
    """The group the share goes to; -1 suppresses it."""
    other: int
    """The share that takes its place."""
    rows: int
    """Rows that move: of the share itself, or of the other one."""


class _Mover(NamedTuple):
    """A share that looks for a better group, and what its own group would save."""

    share: int
    point: int
    rows: int
    group: int
    group_rows: int
    group_cost: float
    without: float
    """What a row of its group costs without it."""
    some: int
    """How many of its rows its group can spare; all of them if it can."""
    freed: float
    """What the group saves if it gives these up."""
    swaps: bool
    """Whether to look for exchanges."""


class _Destination(NamedTuple):
    """The group where a share as a whole adds least, and what it adds there."""

    group: int
    cost: float


@kernel
def move_shares(g: LocalGroups, requirement: Requirement, near: Ints, begin: int, end: int) -> float:  # g OUT
    """Visit the active points from begin to end once, and make the best change for each; return what was saved."""
    saved = 0.0
    for j in range(begin, end):
        if not g.active[j]:
            continue
        g.active[j] = False
        e = g.first[j]
        while e >= 0:
            change = _best_change(g, requirement, near, e)
            if change.kind != _NONE:
                saved += change.saved
                g.active[j] = True
                _apply(g, e, change)
                if change.target >= 0 and requirement.model.size == 0:
                    split_heavy(g, change.target, requirement.smallest)
                break
            e = g.share[e].twin
    return saved


@inner_kernel
def _apply(g: LocalGroups, e: int, change: _Change) -> None:  # g OUT
    a = g.share[e].group
    if change.kind == _MOVE:
        move(g, e, change.rows, change.target)
    else:
        third = g.share[change.other].group
        if change.rows < g.group[third].rows:
            move(g, change.other, change.rows, a)
            move(g, e, g.share[e].rows, change.target)
        else:  # the third group would be empty in between, and be freed
            move(g, e, g.share[e].rows, change.target)
            move(g, change.other, change.rows, a)
        if third != change.target:
            wake(g, third)
    wake(g, a)
    wake(g, change.target)


@inner_kernel
def _best_change(g: LocalGroups, requirement: Requirement, near: Ints, e: int) -> _Change:  # g.histogram scratch
    """The best that can be done with one share.

    It moves to a nearby group; or swaps with a member of it; or goes to the group where it adds least while a share of
    a third group, which can spare it, takes its place. O(candidates x members x m).
    """
    nothing = _Change(0.0, _NONE, -1, -1, 0)
    mover = _mover(g, requirement, e)
    if mover.some == 0 and not mover.swaps:
        return nothing
    best, destination = _best_nearby(g, requirement, near, mover)
    has_room = g.counters[0].free_share >= 0
    if mover.swaps and destination.group != _NOWHERE and has_room and mover.group_rows > mover.rows:
        best = _best_replacement(g, requirement, near, mover, destination, best)
    return best if best.kind != _NONE else nothing


@inner_kernel
def _mover(g: LocalGroups, requirement: Requirement, e: int) -> _Mover:  # g.histogram scratch
    share = g.share[e]
    a, j, count = share.group, share.point, share.rows
    rows, rate = g.group[a].rows, g.group[a].rate
    slack, cost = rows - requirement.smallest, rows * rate
    whole = count <= slack and keeps(g, requirement, a, PointRows(j, count), NOBODY)
    some = count if whole else min(slack, count)
    if not whole and some > 0:
        has_room = g.counters[0].free_share >= 0
        if not has_room or not keeps(g, requirement, a, PointRows(j, some), NOBODY):
            some = np.int64(0)
    without = left(g.covers, a, j) if rows > count else 0.0
    freed = cost - (rows - count) * without if whole else some * rate
    # If the group does not shrink without it, the other share of a swap that saves something will find that swap.
    swaps = not whole and without < rate
    return _Mover(e, j, count, a, rows, cost, without, some, freed, swaps)


@inner_kernel
def _best_nearby(
    g: LocalGroups, requirement: Requirement, near: Ints, mover: _Mover
) -> tuple[_Change, _Destination]:  # g.histogram scratch
    """The best move to a nearby group or swap with a member of one; and the group where the share adds least."""
    share, first, covers, k = g.share, g.first, g.covers, requirement.smallest
    j, count, some = mover.point, mover.rows, mover.some
    lending = requirement.model.size == 0
    visit = _new_visit(g, mover.group)
    best, destination = _Change(_LEAST, _NONE, -1, -1, 0), _Destination(_NOWHERE, np.inf)
    budget = g.counters[0].budget
    if some > 0 and some <= budget and mover.freed - some * g.penalty > best.saved:
        best = _Change(mover.freed - some * g.penalty, _MOVE, _SUPPRESSED, -1, some)
    if count <= budget:
        destination = _Destination(_SUPPRESSED, count * g.penalty)
    for c in range(-1, near.shape[1]):
        q = near[j, c] if c >= 0 else j
        if q < 0:
            break
        f = first[q]
        while f >= 0:
            b = share[f].group
            f = share[f].twin
            group = g.group[b]
            if group.visit == visit:
                continue
            group.visit = visit
            with_j = joined(covers, b, j)
            cost = group.rows * group.rate
            if some > 0:
                saved = mover.freed - (group.rows + some) * with_j + cost
                if lending and group.rate <= 0.0 and some < k and group.rows + some >= 2 * k:
                    saved = mover.freed - k * with_j  # split_heavy will let all but k rows go free
                if saved > best.saved and keeps(g, requirement, b, NOBODY, PointRows(j, some)):
                    best = _Change(saved, _MOVE, b, -1, some)
            if not mover.swaps:
                continue
            added = (group.rows + count) * with_j - cost
            if added < destination.cost and keeps(g, requirement, b, NOBODY, PointRows(j, count)):
                destination = _Destination(b, added)
            # Both groups have at least k rows after a swap: what they cost then at least is a test for all members.
            both = mover.group_cost + cost
            if both - k * (mover.without + swapped_at_best(covers, b, j)) > best.saved:
                best = _best_swap(g, requirement, mover, b, best)
    return best, destination


@inner_kernel
def _best_swap(
    g: LocalGroups, requirement: Requirement, mover: _Mover, b: int, best: _Change
) -> _Change:  # g.histogram scratch
    """The best swap with a member of group b, if it is better than what is known."""
    share, covers, k = g.share, g.covers, requirement.smallest
    a, j, count, rows_a, rows_b = mover.group, mover.point, mover.rows, mover.group_rows, g.group[b].rows
    both = mover.group_cost + rows_b * g.group[b].rate
    h = g.group[b].head
    while h >= 0:
        p, rows = share[h].point, share[h].rows
        if p != j and rows_a - count + rows >= k and rows_b + count - rows >= k:
            after = (rows_a - count + rows) * swapped(covers, a, j, p)
            if both - after > best.saved:
                after += (rows_b + count - rows) * swapped(covers, b, p, j)
                if (
                    both - after > best.saved
                    and keeps(g, requirement, a, PointRows(j, count), PointRows(p, rows))
                    and keeps(g, requirement, b, PointRows(p, rows), PointRows(j, count))
                ):
                    best = _Change(both - after, _EXCHANGE, b, h, rows)
        h = share[h].next
    return best


@inner_kernel
def _best_replacement(
    g: LocalGroups, requirement: Requirement, near: Ints, mover: _Mover, destination: _Destination, best: _Change
) -> _Change:  # g.histogram scratch
    """The best share of a third group, near a fellow member, that takes the place of a share that leaves for good."""
    share, covers, k = g.share, g.covers, requirement.smallest
    a, j, count, rows_a = mover.group, mover.point, mover.rows, mover.group_rows
    lack = max(count - (rows_a - k), 1)
    f = g.group[a].head
    while f >= 0:
        p = share[f].point
        f = share[f].next
        if p == j:
            continue
        for c in range(-1, near.shape[1]):
            q = near[p, c] if c >= 0 else p
            if q < 0:
                break
            h = g.first[q]
            while h >= 0:
                b, rows = share[h].group, share[h].rows
                rows_b, rate_b = g.group[b].rows, g.group[b].rate
                if rows_b - lack >= k and b != a and b != destination.group and rows >= lack and q != j:
                    rows = rows if rows_b - rows >= k else lack
                    after = (rows_a - count + rows) * swapped(covers, a, j, q)
                    saved = mover.group_cost - after - destination.cost
                    if saved + rows_b * rate_b > best.saved:
                        if rows < share[h].rows:
                            saved += rows * rate_b
                        else:
                            saved += rows_b * rate_b - (rows_b - rows) * left(covers, b, q)
                        if (
                            saved > best.saved
                            and keeps(g, requirement, a, PointRows(j, count), PointRows(q, rows))
                            and keeps(g, requirement, b, PointRows(q, rows), NOBODY)
                        ):
                            best = _Change(saved, _EXCHANGE, destination.group, h, rows)
                h = share[h].twin
    return best


@inner_kernel
def _new_visit(g: LocalGroups, a: int) -> int:  # g OUT
    """The number of a new visit, during which group a is not tried; -1 is none."""
    g.counters[0].visits += 1
    if a >= 0:
        g.group[a].visit = g.counters[0].visits
    return g.counters[0].visits


@inner_kernel
def cheapest_group(
    g: LocalGroups, requirement: Requirement, near: Ints, a: int, joining: PointRows
) -> tuple[float, np.int64]:  # g.histogram scratch
    """Return the least cost that rows of a point add to a nearby group other than a, and that group, -1 if none."""
    j, rows, visit = joining.point, joining.rows, _new_visit(g, a)
    best, best_group = np.inf, np.int64(-1)
    for c in range(-1, near.shape[1]):
        q = near[j, c] if c >= 0 else j
        if q < 0:
            break
        f = g.first[q]
        while f >= 0:
            b = g.share[f].group
            f = g.share[f].twin
            group = g.group[b]
            if group.visit != visit:
                group.visit = visit
                added = (group.rows + rows) * joined(g.covers, b, j) - group.rows * group.rate
                if added < best and keeps(g, requirement, b, NOBODY, joining):
                    best, best_group = added, b
    return best, best_group


@kernel
def dissolve_groups(g: LocalGroups, requirement: Requirement, near: Ints, begin: int, end: int) -> float:  # g OUT
    """Send the members of each group from begin to end where they add least, if that saves cost; return what it saves.

    Members leave one by one, since each changes what the next one finds; if it does not pay they all come back.
    """
    saved = 0.0
    most = 4 * requirement.smallest + 64
    went = np.empty(most, _WENT)
    for a in range(begin, min(end, g.counters[0].groups)):
        rows = g.group[a].rows
        if g.group[a].rate <= 0.0 or rows == 0 or rows > most:
            continue
        cost, total, moved = rows * g.group[a].rate, 0.0, 0
        e = g.group[a].head
        while e >= 0:
            following, j, count = g.share[e].next, g.share[e].point, g.share[e].rows
            price, b = cheapest_group(g, requirement, near, a, PointRows(j, count))
            if count <= g.counters[0].budget and count * g.penalty < price:
                price, b = count * g.penalty, _SUPPRESSED
            total += price
            if total >= cost - _LEAST:
                break
            went[moved].point, went[moved].group, went[moved].rows = j, b, count
            moved += 1
            move(g, e, count, b)
            e = following
        if total < cost - _LEAST:
            saved += cost - total
            for u in range(moved):
                wake(g, went[u].group)
        else:
            for u in range(moved - 1, -1, -1):
                _bring_back(g, went[u].point, went[u].rows, went[u].group, a)
    return saved


@inner_kernel
def _bring_back(g: LocalGroups, j: int, rows: int, b: int, a: int) -> None:  # g OUT
    """Move rows of point j from group b, or from those suppressed, back to group a."""
    if b < 0:
        g.suppressed[j] -= rows
        g.counters[0].budget += rows
        add(g, j, rows, a)
        return
    e = g.first[j]
    while g.share[e].group != b:
        e = g.share[e].twin
    move(g, e, rows, a)
