"""Regrouping: the members of a few nearby groups are sorted anew and cut anew, if that is cheaper."""

from __future__ import annotations

import numpy as np

from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.random import RandomState, random_below
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.kernels.cut import CutTable, cut_order
from discreet.solve.local.kernels.groups import LocalGroups, move, new_group, wake

__all__ = ["regroup"]

_GROUPS = 6
"""At most so many groups are regrouped together."""


@kernel
def regroup(
    g: LocalGroups, requirement: Requirement, near: Ints, spread: Floats, begin: int, end: int, state: RandomState
) -> float:  # g, state OUT
    """Regroup each group from begin to end with some nearby ones; return what was saved.

    The order is by attributes, those with the widest spread first, shuffled a little each time: another order has
    another best cut. Each costs O(shares x run length x m) for the cut.
    """
    m, most = spread.size, 24 * requirement.smallest + 64
    shares, order, rows = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    table = CutTable(np.empty(most + 1), np.empty(most + 1, np.int64), g.histogram)
    key, saved = np.empty(m), 0.0
    for a in range(begin, min(end, g.counters[0].groups)):
        if g.group[a].rows == 0 or g.group[a].rate <= 0.0:
            continue
        count, groups = _gather(g, near, a, state, shares)
        if groups < 2:
            continue
        for i in range(m):
            key[i] = -spread[i] * (1.0 + np.float64(random_below(state, 1000)) / 250.0)
        cost, last = 0.0, np.int64(-1)
        for p in range(count):  # shares come group by group
            b = g.share[shares[p]].group
            if b != last:
                cost += g.group[b].rows * g.group[b].rate
                last = b
        _sort(g, shares, count, np.argsort(key))
        for p in range(count):
            order[p], rows[p] = g.share[shares[p]].point, g.share[shares[p]].rows
        cut_order(g.covers.codes, g.covers.rates, requirement, order[:count], rows[:count], table)
        if table.best[count] < cost - 1e-9:
            saved += cost - table.best[count]
            _apply(g, shares, table.begin, count)
    return saved


@kernel
def _gather(
    g: LocalGroups, near: Ints, a: int, state: RandomState, shares: Ints
) -> tuple[int, int]:  # shares, state OUT
    """Write the shares of a group and of some nearby ones; return how many shares and groups."""
    chosen = np.empty(_GROUPS, np.int64)
    count, groups, wanted = 0, 0, 2 + random_below(state, _GROUPS - 1)
    chosen[0] = a
    for _ in range(4 * _GROUPS):
        if groups < wanted and (groups == 0 or chosen[groups] >= 0):
            e, begun = g.group[chosen[groups]].head, count
            while e >= 0 and count < shares.size:
                shares[count] = e
                count += 1
                e = g.share[e].next
            if e >= 0:
                return begun, groups
            groups += 1
        if groups == wanted:
            break
        q = near[g.share[shares[random_below(state, count)]].point, random_below(state, near.shape[1])]
        chosen[groups] = -1
        if q >= 0 and g.first[q] >= 0:
            b, known = g.share[g.first[q]].group, False
            for c in range(groups):
                known |= chosen[c] == b
            if not known:
                chosen[groups] = b
    return count, groups


@inner_kernel
def _sort(g: LocalGroups, shares: Ints, count: int, attributes: Ints) -> None:  # shares IN OUT
    """Sort shares by their codes, the first attribute first (by insertion: they are few)."""
    codes = g.covers.codes
    for p in range(1, count):
        e, q = shares[p], p
        j = g.share[e].point
        while q > 0:
            other, before = g.share[shares[q - 1]].point, False
            for i in attributes:
                if codes[j, i] != codes[other, i]:
                    before = codes[j, i] < codes[other, i]
                    break
            if not before:
                break
            shares[q] = shares[q - 1]
            q -= 1
        shares[q] = e


@inner_kernel
def _apply(g: LocalGroups, shares: Ints, start: Ints, count: int) -> None:  # g OUT
    """Make a group of each run of a cut."""
    end = count
    while end > 0:
        b = new_group(g)
        for p in range(start[end], end):
            move(g, shares[p], g.share[shares[p]].rows, b)
        wake(g, b)
        end = start[end]
