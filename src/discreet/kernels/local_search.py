"""Local search: shares of points move, swap and make way between groups, as long as that saves something."""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.local_groups import (
    COUNT,
    FREE_SHARE,
    GROUP,
    GROUPS,
    HEAD,
    NEXT,
    POINT,
    SIZE,
    SPARE,
    TWIN,
    Groups,
    add,
    keeps,
    move,
    part_heavy,
    wake,
)
from discreet.kernels.local_rates import Floats, Ints, Nodes, joined, left, swapped, swapped_at_best
from discreet.kernels.requirements import Requirement

__all__ = ["cheapest_group", "dissolve_groups", "move_shares"]

_LEAST = 1e-9
"""Savings below this are rounding."""
_MOVE, _SWAP, _REPLACE = 0, 1, 2


@kernel
def move_shares(g: Groups, requirement: Requirement, near: Ints, begin: int, end: int) -> float:
    """Look at the active points from begin to end once, and make the best change for each; return what was saved."""
    saved = 0.0
    for j in range(begin, end):
        if not g.active[j]:
            continue
        g.active[j] = False
        e = g.first[j]
        while e >= 0:
            gain, kind, b, other, rows = _best_change(
                g.shape, g.rate, g.node, g.codes, g.share, g.first, g.group, g.cover, g.each, g.mark, g.histogram,
                g.penalty, g.top[SPARE], g.top[FREE_SHARE] >= 0, near, requirement, e,
            )  # fmt: skip
            if gain > 0.0:
                saved += gain
                g.active[j] = True
                _change(g, kind, e, b, other, rows)
                if b >= 0 and requirement.kind.size == 0:
                    part_heavy(g, b, requirement.smallest)
                break
            e = g.share[e, TWIN]
    return saved


@inner_kernel
def _change(g: Groups, kind: int, e: int, b: int, other: int, rows: int) -> None:
    a = g.share[e, GROUP]
    if kind == _MOVE:
        move(g, e, rows, b)
    else:
        third = g.share[other, GROUP]
        if rows < g.group[third, SIZE]:
            move(g, other, rows, a)
            move(g, e, g.share[e, COUNT], b)
        else:  # no group may be empty in between
            move(g, e, g.share[e, COUNT], b)
            move(g, other, rows, a)
        if third != b:
            wake(g, third)
    wake(g, a)
    wake(g, b)


@inner_kernel
def _best_change(
    shape: Ints,
    rate: Floats,
    node: Nodes,
    codes: Ints,
    share: Ints,
    first: Ints,
    group: Ints,
    cover: Ints,
    each: Floats,
    mark: Ints,
    histogram: Ints,
    penalty: float,
    spare: int,
    room: bool,
    near: Ints,
    requirement: Requirement,
    e: int,
) -> tuple[float, int, np.int64 | int, np.int64, np.int64]:
    """The best that can be done with one share, and what it saves: kind, the group it goes to, other share, rows.

    It moves to a near group, which may be one tuple of very many rows that lends some; or swaps places with a member of
    it; or goes to the group where it costs least while a share of a third group that can spare it takes its place.
    """
    k, none, zero = requirement.smallest, np.int64(-1), np.int64(0)
    lending = requirement.kind.size == 0
    a, j, count = share[e, GROUP], share[e, POINT], share[e, COUNT]
    mark[-1] += 1
    stamp = mark[-1]
    mark[a] = stamp
    size_a = group[a, SIZE]
    slack, cost_a = size_a - k, size_a * each[a]
    whole = count <= slack and keeps(requirement, share, group, histogram, a, j, count, none, zero)
    some = count if whole else min(slack, count)
    if not whole and some > 0 and (not room or not keeps(requirement, share, group, histogram, a, j, some, none, zero)):
        some = 0
    without = left(shape, rate, node, codes, cover, a, j) if size_a > count else 0.0
    freed = cost_a - (size_a - count) * without if whole else some * each[a]
    # Unless the group shrinks without it, the others will find any swap with it that saves something.
    swaps = not whole and without < each[a]
    if some == 0 and not swaps:
        return 0.0, -1, none, none, zero
    best, kind, best_group, best_share, best_rows = _LEAST, -1, none, none, zero
    cheapest, there = np.inf, -2
    if some > 0 and some <= spare and freed - some * penalty > best:
        best, kind, best_group, best_rows = freed - some * penalty, _MOVE, -1, some
    if count <= spare:
        cheapest, there = count * penalty, -1
    for c in range(-1, near.shape[1]):
        q = near[j, c] if c >= 0 else j
        if q < 0:
            break
        f = first[q]
        while f >= 0:
            b = share[f, GROUP]
            f = share[f, TWIN]
            if mark[b] == stamp:
                continue
            mark[b] = stamp
            with_j = joined(shape, rate, node, codes, cover, b, j)
            size_b = group[b, SIZE]
            cost_b = size_b * each[b]
            if some > 0:
                gain = freed - (size_b + some) * with_j + cost_b
                if lending and each[b] <= 0.0 and some < k and size_b + some >= 2 * k:
                    gain = freed - k * with_j
                if gain > best and keeps(requirement, share, group, histogram, b, none, zero, j, some):
                    best, kind, best_group, best_rows = gain, _MOVE, b, some
            if not swaps:
                continue
            cost = (size_b + count) * with_j - cost_b
            if cost < cheapest and keeps(requirement, share, group, histogram, b, none, zero, j, count):
                cheapest, there = cost, b
            both = cost_a + cost_b
            if both - k * (without + swapped_at_best(shape, rate, node, codes, cover, b, j)) <= best:
                continue
            h = group[b, HEAD]
            while h >= 0:
                p, rows = share[h, POINT], share[h, COUNT]
                if p != j and slack + rows >= count and size_b + count - rows >= k:
                    after = (size_a - count + rows) * swapped(shape, rate, node, codes, cover, a, j, p)
                    if both - after > best:
                        after += (size_b + count - rows) * swapped(shape, rate, node, codes, cover, b, p, j)
                        if (
                            both - after > best
                            and keeps(requirement, share, group, histogram, a, j, count, p, rows)
                            and keeps(requirement, share, group, histogram, b, p, rows, j, count)
                        ):
                            best, kind, best_group, best_share, best_rows = both - after, _SWAP, b, h, rows
                h = share[h, NEXT]
    if not swaps or there < -1 or not room or size_a == count:
        return (best, kind, best_group, best_share, best_rows) if kind >= 0 else (0.0, -1, -1, none, zero)
    lack = max(count - slack, 1)
    f = group[a, HEAD]
    while f >= 0:
        p = share[f, POINT]
        f = share[f, NEXT]
        if p == j:
            continue
        for c in range(-1, near.shape[1]):
            q = near[p, c] if c >= 0 else p
            if q < 0:
                break
            h = first[q]
            while h >= 0:
                b, rows = share[h, GROUP], share[h, COUNT]
                size_b = group[b, SIZE]
                if size_b - lack >= k and b != a and b != there and rows >= lack and q != j:
                    rows = rows if size_b - rows >= k else lack
                    after = (size_a - count + rows) * swapped(shape, rate, node, codes, cover, a, j, q)
                    gain = cost_a - after - cheapest
                    if gain + size_b * each[b] > best:
                        if rows < share[h, COUNT]:
                            gain += rows * each[b]
                        else:
                            gain += size_b * each[b] - (size_b - rows) * left(shape, rate, node, codes, cover, b, q)
                        if (
                            gain > best
                            and keeps(requirement, share, group, histogram, a, j, count, q, rows)
                            and keeps(requirement, share, group, histogram, b, q, rows, none, zero)
                        ):
                            best, kind, best_group, best_share, best_rows = gain, _REPLACE, there, h, rows
                h = share[h, TWIN]
    return (best, kind, best_group, best_share, best_rows) if kind >= 0 else (0.0, -1, -1, none, zero)


@inner_kernel
def cheapest_group(
    shape: Ints,
    rate: Floats,
    node: Nodes,
    codes: Ints,
    share: Ints,
    first: Ints,
    group: Ints,
    cover: Ints,
    each: Floats,
    mark: Ints,
    histogram: Ints,
    near: Ints,
    requirement: Requirement,
    a: int,
    j: int,
    count: int,
) -> tuple[float, np.int64]:
    """The near group other than a that rows of point j cost least to join, and what they cost there."""
    none, zero = np.int64(-1), np.int64(0)
    mark[-1] += 1
    stamp = mark[-1]
    mark[a] = stamp
    best, best_group = np.inf, none
    for c in range(-1, near.shape[1]):
        q = near[j, c] if c >= 0 else j
        if q < 0:
            break
        f = first[q]
        while f >= 0:
            b = share[f, GROUP]
            f = share[f, TWIN]
            if mark[b] != stamp:
                mark[b] = stamp
                size = group[b, SIZE]
                price = (size + count) * joined(shape, rate, node, codes, cover, b, j) - size * each[b]
                if price < best and keeps(requirement, share, group, histogram, b, none, zero, j, count):
                    best, best_group = price, b
    return best, best_group


@kernel
def dissolve_groups(g: Groups, requirement: Requirement, near: Ints, begin: int, end: int) -> float:
    """Send the members of each group from begin to end where they cost least, if that saves something; return what."""
    saved = 0.0
    room = 4 * requirement.smallest + 64
    went = np.empty((room, 3), np.int64)
    for a in range(begin, min(end, g.top[GROUPS])):
        size = g.group[a, SIZE]
        if g.each[a] <= 0.0 or size == 0 or size > room:
            continue
        cost, total, moved = size * g.each[a], 0.0, 0
        e = g.group[a, HEAD]
        while e >= 0:
            following, j, count = g.share[e, NEXT], g.share[e, POINT], g.share[e, COUNT]
            price, b = cheapest_group(
                g.shape, g.rate, g.node, g.codes, g.share, g.first, g.group, g.cover, g.each, g.mark, g.histogram,
                near, requirement, a, j, count,
            )  # fmt: skip
            if count <= g.top[SPARE] and count * g.penalty < price:
                price, b = count * g.penalty, -1
            total += price
            if total >= cost - _LEAST:
                break
            went[moved] = j, b, count
            moved += 1
            move(g, e, count, b)
            e = following
        if total < cost - _LEAST:
            saved += cost - total
            for u in range(moved):
                wake(g, went[u, 1])
        else:
            _bring_back(g, went, moved, a)
    return saved


@inner_kernel
def _bring_back(g: Groups, went: Ints, moved: int, a: int) -> None:
    for u in range(moved - 1, -1, -1):
        j, b, count = went[u]
        if b < 0:
            g.gone[j] -= count
            g.top[SPARE] += count
            add(g, j, count, a)
            continue
        e = g.first[j]
        while g.share[e, GROUP] != b:
            e = g.share[e, TWIN]
        move(g, e, count, a)
