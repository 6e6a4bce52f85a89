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
def _move(points: Points, g: Groups, e: int, count: int, b: int) -> None:
    """Move rows of a share into a group."""
    j = g.point[e]
    if count < g.count[e]:
        take(g, e, count)
    else:
        remove(points, g, e)
    add(points, g, j, count, b)


@kernel
def shape_of(points: Points) -> NDArray[np.int64]:
    """Kind, start of rates, leaves and start of nodes of each attribute, in one array."""
    return np.stack((points.kind, points.start, points.leaves, points.node_start), axis=1)


@kernel
def move_shares(
    points: Points, g: Groups, shape: NDArray[np.int64], near: NDArray[np.int32], k: int, mark: NDArray[np.int64], active: NDArray[np.bool_]
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
            gain, kind, e2, b, count, e3 = _best_move(
                shape, points.rate, points.node, points.codes,
                g.point, g.count, g.group, g.next, g.twin, g.first, g.head, g.size, g.cover, g.rate, g.top[FREE_SHARE] >= 0,
                near, k, mark, e,
            )
            if gain > 0.0:
                a = g.group[e]
                saved += gain
                active[j] = True
                if kind == 1:  # swap
                    c, p = g.count[e], g.point[e2]
                    rows = g.count[e2]
                    remove(points, g, e2)
                    add(points, g, p, rows, a)
                    remove(points, g, e)
                    add(points, g, j, c, b)
                elif kind == 0:
                    _move(points, g, e, count, b)
                else:
                    third = g.group[e2]
                    _move(points, g, e2, count, a)
                    _move(points, g, e, g.count[e], b)
                    _wake(g, active, third)
                _wake(g, active, a)
                _wake(g, active, b)
                break
            e = following
    return saved


@kernel
def _wake(g: Groups, active: NDArray[np.bool_], b: int) -> None:
    e = g.head[b]
    while e >= 0:
        active[g.point[e]] = True
        e = g.next[e]


@kernel
def _best_move(
    shape, rate, node, codes,
    point, count_of, group, nxt, twin, first, head, size, cover, rate_of_group, room,
    near, k, mark, e,
):
    """The best move or swap of one share."""
    a, j, count = group[e], point[e], count_of[e]
    mark[-1] += 1
    stamp = mark[-1]
    mark[a] = stamp
    slack = size[a] - k
    whole = count <= slack
    some = count if whole else slack
    can_move = some > 0 and (whole or room)
    cost_a = size[a] * rate_of_group[a]
    if whole:
        gain_move = cost_a - (size[a] - count) * left(shape, rate, node, codes, cover, a, j)
    else:
        gain_move = some * rate_of_group[a]
    best, kind, best_group, best_share, best_count = _LEAST, -1, -1, -1, 0
    cheapest, cheapest_group = np.inf, -1
    for c in range(near.shape[1]):
        q = near[j, c]
        if q < 0:
            break
        f = first[q]
        while f >= 0:
            b = group[f]
            f = twin[f]
            if mark[b] == stamp:
                continue
            mark[b] = stamp
            with_j = joined(shape, rate, node, codes, cover, b, j)
            cost_b = size[b] * rate_of_group[b]
            if can_move:
                gain = gain_move - (size[b] + some) * with_j + cost_b
                if gain > best:
                    best, kind, best_group, best_count = gain, 0, b, some
            if whole:
                continue
            cost = (size[b] + count) * with_j - cost_b
            if cost < cheapest:
                cheapest, cheapest_group = cost, b
            both = cost_a + cost_b
            h = head[b]
            while h >= 0:
                p, rows = point[h], count_of[h]
                if p != j and size[a] - count + rows >= k and size[b] + count - rows >= k:
                    after = (size[a] - count + rows) * swapped(shape, rate, node, codes, cover, a, j, p)
                    if both - after > best:
                        after += (size[b] + count - rows) * swapped(shape, rate, node, codes, cover, b, p, j)
                        if both - after > best:
                            best, kind, best_group, best_share = both - after, 1, b, h
                h = nxt[h]
    if not whole and cheapest_group >= 0 and room:
        lack = count - slack
        f = head[a]
        while f >= 0:
            if f != e:
                p = point[f]
                for c in range(near.shape[1]):
                    q = near[p, c]
                    if q < 0:
                        break
                    h = first[q]
                    while h >= 0:
                        b = group[h]
                        if b != a and b != cheapest_group and q != j and size[b] - lack >= k and count_of[h] >= lack:
                            rows = count_of[h] if size[b] - count_of[h] >= k else lack
                            after = (size[a] - count + rows) * swapped(shape, rate, node, codes, cover, a, j, q)
                            gain = cost_a - after - cheapest
                            cost_b = size[b] * rate_of_group[b]
                            if gain + cost_b > best:
                                if rows < count_of[h]:
                                    gain += rows * rate_of_group[b]
                                else:
                                    gain += cost_b - (size[b] - rows) * left(shape, rate, node, codes, cover, b, q)
                                if gain > best:
                                    best, kind, best_group, best_share, best_count = gain, 2, cheapest_group, h, rows
                        h = twin[h]
            f = nxt[f]
    if kind < 0:
        best = 0.0
    return best, kind, best_share, best_group, best_count, 0


@kernel
def dissolve_groups(
    points: Points, g: Groups, shape: NDArray[np.int64], near: NDArray[np.int32], k: int, mark: NDArray[np.int64], active: NDArray[np.bool_]
) -> float:
    """Send the members of each group wherever they cost least, and keep it so where that saves something."""
    saved = 0.0
    members = np.empty(4 * k + 64, np.int64)
    went = np.empty(4 * k + 64, np.int64)
    counts = np.empty(4 * k + 64, np.int64)
    rate, node, codes = points.rate, points.node, points.codes
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
            best, best_group = _cheapest(shape, rate, node, codes, g.group, g.twin, g.first, g.size, g.cover, g.rate, near, mark, a, j, count)
            total += best
            if best_group < 0:
                break
            if total < cost - _LEAST:
                members[used], went[used], counts[used] = j, best_group, count
                used += 1
                _move(points, g, e, count, best_group)
            e = following
        if total < cost - _LEAST:
            saved += cost - total
            for u in range(used):
                _wake(g, active, went[u])
        else:
            for u in range(used - 1, -1, -1):
                e = g.first[members[u]]
                while g.group[e] != went[u]:
                    e = g.twin[e]
                _move(points, g, e, counts[u], a)
    return saved


@kernel
def _cheapest(shape, rate, node, codes, group, twin, first, size, cover, rate_of_group, near, mark, a, j, count):
    mark[-1] += 1
    stamp = mark[-1]
    mark[a] = stamp
    best, best_group = np.inf, -1
    for c in range(near.shape[1]):
        q = near[j, c]
        if q < 0:
            break
        f = first[q]
        while f >= 0:
            b = group[f]
            f = twin[f]
            if mark[b] != stamp:
                mark[b] = stamp
                price = (size[b] + count) * joined(shape, rate, node, codes, cover, b, j) - size[b] * rate_of_group[b]
                if price < best:
                    best, best_group = price, b
    return best, best_group
