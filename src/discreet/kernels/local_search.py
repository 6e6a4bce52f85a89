"""Local search: moves and swaps of shares between groups, as long as they save something."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.covers import Points
from discreet.kernels.local_groups import FREE_SHARE, GROUPS, Groups, add, joined, left, remove, swapped, take

__all__ = ["dissolve_groups", "move_shares"]

_LEAST = 1e-9
"""Savings below this are rounding."""


@kernel
def _join(points: Points, g: Groups, b: int, j: int, count: int) -> float:
    """What it costs a group to take rows of a point."""
    return (g.size[b] + count) * joined(points, g, b, j) - g.size[b] * g.rate[b]


@kernel
def _leave(points: Points, g: Groups, e: int, count: int) -> float:
    """What it saves a group to lose rows of a share."""
    b = g.group[e]
    if count < g.count[e]:
        return count * g.rate[b]
    if count == g.size[b]:
        return count * g.rate[b]
    return g.size[b] * g.rate[b] - (g.size[b] - count) * left(points, g, b, g.point[e])


@kernel
def _move(points: Points, g: Groups, e: int, count: int, b: int) -> None:
    """Move rows of a share into a group."""
    j = g.point[e]
    if count < g.count[e]:
        take(g, e, count)
    else:
        remove(points, g, e)
    add(points, g, j, count, b)


@kernel
def move_shares(
    points: Points, g: Groups, near: NDArray[np.int32], k: int, mark: NDArray[np.int64], active: NDArray[np.bool_]
) -> float:
    """Go through all shares once; move each to where it saves most, or swap it; return what was saved."""
    saved = 0.0
    n = points.weights.size
    for j in range(n):
        if not active[j]:
            continue
        active[j] = False
        e = g.first[j]
        while e >= 0:
            following = g.twin[e]
            gain = _improve(points, g, near, k, mark, active, e)
            saved += gain
            e = following
            if gain > 0.0:
                active[j] = True
                break
    return saved


@kernel
def _wake(g: Groups, active: NDArray[np.bool_], b: int) -> None:
    e = g.head[b]
    while e >= 0:
        active[g.point[e]] = True
        e = g.next[e]


@kernel
def _improve(
    points: Points,
    g: Groups,
    near: NDArray[np.int32],
    k: int,
    mark: NDArray[np.int64],
    active: NDArray[np.bool_],
    e: int,
) -> float:
    """Make the best move or swap of one share; return what it saves."""
    a, j, count = g.group[e], g.point[e], g.count[e]
    mark[-1] += 1
    stamp = mark[-1]
    mark[a] = stamp
    slack = g.size[a] - k
    whole = count <= slack
    some = count if whole else slack
    can_move = some > 0 and (whole or g.top[FREE_SHARE] >= 0)
    gain_move = _leave(points, g, e, some) if can_move else 0.0
    best, best_group, best_share = _LEAST, -1, -1
    cost_a = g.size[a] * g.rate[a]
    cheapest, cheapest_group = np.inf, -1
    for c in range(near.shape[1]):
        q = near[j, c]
        if q < 0:
            break
        f = g.first[q]
        while f >= 0:
            b = g.group[f]
            f = g.twin[f]
            if mark[b] == stamp:
                continue
            mark[b] = stamp
            if can_move:
                gain = gain_move - _join(points, g, b, j, some)
                if gain > best:
                    best, best_group, best_share = gain, b, -1
            if whole:
                continue
            cost = _join(points, g, b, j, count)
            if cost < cheapest:
                cheapest, cheapest_group = cost, b
            both = cost_a + g.size[b] * g.rate[b]
            h = g.head[b]
            while h >= 0:
                p, rows = g.point[h], g.count[h]
                if p != j and g.size[a] - count + rows >= k and g.size[b] + count - rows >= k:
                    after = (g.size[a] - count + rows) * swapped(points, g, a, j, p)
                    if both - after > best:
                        after += (g.size[b] + count - rows) * swapped(points, g, b, p, j)
                        if both - after > best:
                            best, best_group, best_share = both - after, b, h
                h = g.next[h]
    # a third group gives what the first lacks
    source, give = -1, 0
    if not whole and cheapest_group >= 0 and g.top[FREE_SHARE] >= 0:
        lack = count - slack
        f = g.head[a]
        while f >= 0:
            if f != e:
                p = g.point[f]
                for c in range(near.shape[1]):
                    q = near[p, c]
                    if q < 0:
                        break
                    h = g.first[q]
                    while h >= 0:
                        b = g.group[h]
                        if b != a and b != cheapest_group and q != j and g.size[b] - lack >= k and g.count[h] >= lack:
                            rows = g.count[h] if g.size[b] - g.count[h] >= k else lack
                            after = (g.size[a] - count + rows) * swapped(points, g, a, j, q)
                            gain = cost_a - after - cheapest
                            if gain + g.size[b] * g.rate[b] > best:
                                gain += _leave(points, g, h, rows)
                                if gain > best:
                                    best, source, give = gain, h, rows
                        h = g.twin[h]
            f = g.next[f]
    if source >= 0:
        b = g.group[source]
        _move(points, g, source, give, a)
        _move(points, g, e, count, cheapest_group)
        _wake(g, active, a)
        _wake(g, active, b)
        _wake(g, active, cheapest_group)
        return best
    if best_group < 0:
        return 0.0
    if best_share >= 0:
        p, rows = g.point[best_share], g.count[best_share]
        remove(points, g, best_share)
        add(points, g, p, rows, a)
        remove(points, g, e)
        add(points, g, j, count, best_group)
    else:
        _move(points, g, e, some, best_group)
    _wake(g, active, a)
    _wake(g, active, best_group)
    return best


@kernel
def dissolve_groups(
    points: Points, g: Groups, near: NDArray[np.int32], k: int, mark: NDArray[np.int64], active: NDArray[np.bool_]
) -> float:
    """Send the members of each group wherever they cost least, and keep it so where that saves something."""
    saved = 0.0
    room = 0
    for a in range(g.top[GROUPS]):
        room = max(room, g.size[a])
    members = np.empty(4 * k + 64, np.int64)
    went = np.empty(4 * k + 64, np.int64)
    counts = np.empty(4 * k + 64, np.int64)
    for a in range(g.top[GROUPS]):
        if g.size[a] == 0 or g.rate[a] <= 0.0 or g.size[a] >= 4 * k:
            continue
        cost = g.size[a] * g.rate[a]
        total = 0.0
        used = 0
        e = g.head[a]
        while e >= 0 and total < cost - _LEAST:
            following = g.next[e]
            j, count = g.point[e], g.count[e]
            mark[-1] += 1
            mark[a] = mark[-1]
            best, best_group = np.inf, -1
            for c in range(near.shape[1]):
                q = near[j, c]
                if q < 0:
                    break
                f = g.first[q]
                while f >= 0:
                    b = g.group[f]
                    f = g.twin[f]
                    if mark[b] != mark[-1]:
                        mark[b] = mark[-1]
                        price = _join(points, g, b, j, count)
                        if price < best:
                            best, best_group = price, b
            total += best
            if best_group < 0:
                break
            if total < cost - _LEAST:
                members[used], went[used], counts[used] = j, best_group, count
                used += 1
                if following < 0:
                    # the last one: a is freed
                    _move(points, g, e, count, best_group)
                else:
                    _move(points, g, e, count, best_group)
            e = following
        if total < cost - _LEAST:
            saved += cost - total
            for u in range(used):
                active[members[u]] = True
                _wake(g, active, went[u])
        else:
            for u in range(used - 1, -1, -1):
                e = g.first[members[u]]
                while g.group[e] != went[u]:
                    e = g.twin[e]
                _move(points, g, e, counts[u], a)
    return saved
