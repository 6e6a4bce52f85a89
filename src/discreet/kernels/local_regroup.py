"""Regrouping: the members of a few near groups are put in another order and cut anew, if that is cheaper."""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.local_cut import cut_order
from discreet.kernels.local_groups import COUNT, GROUP, GROUPS, HEAD, NEXT, POINT, SIZE, Groups, move, new_group, wake
from discreet.kernels.local_random import State, random_below
from discreet.kernels.local_rates import Floats, Ints
from discreet.kernels.requirements import Requirement

__all__ = ["regroup"]

_GROUPS = 6
"""At most so many groups are regrouped together."""


@kernel
def _gather(
    share: Ints, first: Ints, group: Ints, near: Ints, a: int, most: int, state: State, place: Ints
) -> tuple[int, int]:
    """Write the shares of a group and of some near ones; return how many shares and groups."""
    chosen = np.empty(_GROUPS, np.int64)
    count, groups, wanted = 0, 0, 2 + random_below(state, _GROUPS - 1)
    chosen[0] = a
    for _ in range(4 * _GROUPS):
        if groups < wanted and (groups == 0 or chosen[groups] >= 0):
            e, begun = group[chosen[groups], HEAD], count
            while e >= 0 and count < most:
                place[count] = e
                count += 1
                e = share[e, NEXT]
            if e >= 0:
                return begun, groups
            groups += 1
        if groups == wanted:
            break
        q = near[share[place[random_below(state, count)], POINT], random_below(state, near.shape[1])]
        chosen[groups] = -1
        if q >= 0 and first[q] >= 0:
            b, known = share[first[q], GROUP], False
            for c in range(groups):
                known |= chosen[c] == b
            if not known:
                chosen[groups] = b
    return count, groups


@inner_kernel
def _sort(codes: Ints, share: Ints, place: Ints, count: int, attributes: Ints) -> None:  # place IN OUT
    """Sort shares by their codes, the first attribute first."""
    for p in range(1, count):
        e, q = place[p], p
        j = share[e, POINT]
        while q > 0:
            other, before = share[place[q - 1], POINT], False
            for i in attributes:
                if codes[j, i] != codes[other, i]:
                    before = codes[j, i] < codes[other, i]
                    break
            if not before:
                break
            place[q] = place[q - 1]
            q -= 1
        place[q] = e


@kernel
def regroup(
    g: Groups, requirement: Requirement, near: Ints, spread: Floats, begin: int, end: int, state: State
) -> float:
    """Regroup each group from begin to end with some near ones; return what was saved."""
    m, most = g.shape.shape[0], 24 * requirement.smallest + 64
    place, order, rows = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    best, start = np.empty(most + 1), np.empty(most + 1, np.int64)
    attributes, key = np.empty(m, np.int64), np.empty(m)
    saved = 0.0
    share, group, each, codes, first = g.share, g.group, g.each, g.codes, g.first
    for a in range(begin, min(end, g.top[GROUPS])):
        if group[a, SIZE] == 0 or each[a] <= 0.0:
            continue
        count, groups = _gather(share, first, group, near, a, most, state, place)
        if groups < 2:
            continue
        for i in range(m):
            key[i] = -spread[i] * (1.0 + np.float64(random_below(state, 1000)) / 250.0)
        attributes[:] = np.argsort(key)
        cost, last = 0.0, np.int64(-1)
        for p in range(count):
            b = share[place[p], GROUP]
            if b != last:
                cost += group[b, SIZE] * each[b]
                last = b
        _sort(codes, share, place, count, attributes)
        for p in range(count):
            order[p], rows[p] = share[place[p], POINT], share[place[p], COUNT]
        cut_order(codes, g.shape, g.rate, g.node, requirement, order[:count], rows[:count], g.histogram, best, start)
        if best[count] < cost - 1e-9:
            saved += cost - best[count]
            _apply(g, place, start, count)
    return saved


@inner_kernel
def _apply(g: Groups, place: Ints, start: Ints, count: int) -> None:
    """Make a group of each run."""
    end = count
    while end > 0:
        b = new_group(g)
        for p in range(start[end], end):
            move(g, place[p], g.share[place[p], COUNT], b)
        wake(g, b)
        end = start[end]
