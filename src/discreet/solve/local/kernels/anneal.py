"""Simulated annealing of groups: random changes between nearby groups, ever less often for the worse.

A step draws a point and a group near it. If its own group can spare the point, it moves there. If not, the step tries
an *ejection chain*: the point still leaves while a third group, which can spare one, gives a point in its place.
Otherwise it tries a swap with a member of the other group. Points are drawn from one neighbourhood for a while, so that
what is read stays in the cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.solve.kernels.arrays import Ints
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.random import RandomState, random_below, random_bits
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.kernels.group_covers import joined, left, price_of_exchange, swapped
from discreet.solve.local.kernels.groups import NOBODY, LocalGroups, PointRows, keeps, move

__all__ = ["anneal"]

_STAY, _WIDE = 1024, 256
"""Steps in one neighbourhood, and its points."""
_WALK = 16
"""A member of a group is drawn from at most so many."""
_TEN_BITS = np.uint64(0x3FF)


class _Chain(NamedTuple):
    """An ejection chain: ``share`` leaves its group for ``target``, and ``rows`` rows of ``giver`` take its place."""

    share: int
    target: int
    giver: int
    rows: int


@kernel
def anneal(
    g: LocalGroups,
    requirement: Requirement,
    near: Ints,
    steps: int,
    hot: float,
    cold: float,
    state: RandomState,
) -> float:  # g, state OUT
    """Take so many steps while the temperature falls from hot to cold; return what was saved, negative if lost.

    One random number serves for all draws of a step: its bits are divided among them. A change that costs d more is
    accepted with probability exp(-d / temperature); that is, if d is below -temperature * log(u), for which a table of
    1024 values of u does. So a price is only added up until it reaches that bar.
    """
    k, share, first, group = requirement.smallest, g.share, g.first, g.group
    n, span = near.shape[0], min(k, _WALK)
    wide = min(n, _WIDE)
    saved, temperature, begin = 0.0, hot, np.int64(0)
    cooling = (cold / hot) ** (_STAY / max(steps, 1))
    bars = -np.log((np.arange(1024) + 0.5) / 1024)
    for step in range(steps):
        if step % _STAY == 0:
            temperature *= cooling
            begin = random_below(state, n)
        x = random_bits(state)
        j = begin + _draw(x >> np.uint64(48), 16, wide)
        if j >= n:
            j -= n
        e = first[j]
        if e < 0:
            continue
        # The other group: that of another share of the point itself, or of a point near it.
        f, q = share[e].twin, _some_near(near, j, x >> np.uint64(38))
        if f >= 0 and x & np.uint64(1):
            e, f = f, e
        if f < 0 or x & np.uint64(2):
            f = first[q] if q >= 0 else np.int64(-1)
        if f < 0 or share[f].group == share[e].group:
            continue
        a, b, rows = share[e].group, share[f].group, share[e].rows
        slack, bar = group[a].rows - k, temperature * bars[np.int64((x >> np.uint64(28)) & _TEN_BITS)]
        if slack > 0 and x & np.uint64(12) == 0:  # one in four: be the giver of a chain instead
            h = _further(g, f, _draw(x >> np.uint64(16), 12, span))
            q = _some_near(near, share[h].point, random_bits(state))
            if q >= 0 and first[q] >= 0:
                chain = _Chain(h, share[first[q]].group, e, min(rows, slack))
                if _fits(g, k, chain):
                    saved += _try_chain(g, requirement, chain, bar)
            continue
        if slack >= rows:
            saved += _try_move(g, requirement, e, b, bar)
            continue
        if group[a].rate <= 0.0:
            continue
        y = random_bits(state)
        h = _further(g, e, 1 + _draw(y >> np.uint64(16), 12, span))
        q = _some_near(near, share[h].point, y)
        if q >= 0 and first[q] >= 0:
            h, lack = first[q], rows - slack
            spare = share[h].rows if group[share[h].group].rows - share[h].rows >= k else lack
            chain = _Chain(e, b, h, spare)
            if _fits(g, k, chain):
                saved += _try_chain(g, requirement, chain, bar)
                continue
        saved += _try_swap(g, requirement, e, _further(g, f, _draw(x >> np.uint64(16), 12, span)), bar)
    return saved


@inner_kernel
def _draw(bits: np.uint64, count: int, n: int) -> np.int64:
    """A number from 0 to n - 1, from so many random bits (multiply and shift; biased by at most n / 2**count)."""
    return np.int64(((bits & np.uint64((1 << count) - 1)) * np.uint64(n)) >> np.uint64(count))


@inner_kernel
def _some_near(near: Ints, j: int, bits: np.uint64) -> np.int64:
    """A candidate of point j by ten random bits, more often a nearer one (the cube of a uniform number); -1 is none."""
    x = bits & _TEN_BITS
    x = (x * x * x) >> np.uint64(20)
    return near[j, np.int64((x * np.uint64(near.shape[1])) >> np.uint64(10))]


@inner_kernel
def _further(g: LocalGroups, e: int, steps: int) -> int:
    """The share so many steps after a share in its group, round and round."""
    for _ in range(steps):
        following = g.share[e].next
        e = following if following >= 0 else g.group[g.share[e].group].head
    return e


@inner_kernel
def _try_move(g: LocalGroups, requirement: Requirement, e: int, b: int, bar: float) -> float:  # g OUT
    """Move share e to group b if that costs less than ``bar`` more; return what is saved."""
    a, j, rows = g.share[e].group, g.share[e].point, g.share[e].rows
    rows_a, rows_b = g.group[a].rows, g.group[b].rows
    before = rows_a * g.group[a].rate + rows_b * g.group[b].rate
    limit = before + bar
    price = price_of_exchange(g.covers, a, b, j, np.int64(-1), rows_a - rows, rows_b + rows, limit)
    if (
        price < limit
        and keeps(g, requirement, a, PointRows(j, rows), NOBODY)
        and keeps(g, requirement, b, NOBODY, PointRows(j, rows))
    ):
        move(g, e, rows, b)
        return before - price
    return 0.0


@inner_kernel
def _try_swap(g: LocalGroups, requirement: Requirement, e: int, h: int, bar: float) -> float:  # g OUT
    """Swap shares e and h of two groups if that costs less than ``bar`` more; return what is saved."""
    k, a, b = requirement.smallest, g.share[e].group, g.share[h].group
    leaving, joining = PointRows(g.share[e].point, g.share[e].rows), PointRows(g.share[h].point, g.share[h].rows)
    rows_a, rows_b = g.group[a].rows, g.group[b].rows
    before = rows_a * g.group[a].rate + rows_b * g.group[b].rate
    limit = before + bar
    alone = rows_a == leaving.rows and rows_b == joining.rows
    rows_a, rows_b = rows_a - leaving.rows + joining.rows, rows_b + leaving.rows - joining.rows
    if leaving.point == joining.point or rows_a < k or rows_b < k or alone:
        return 0.0
    price = price_of_exchange(g.covers, a, b, leaving.point, joining.point, rows_a, rows_b, limit)
    if price >= limit or not (
        keeps(g, requirement, a, leaving, joining) and keeps(g, requirement, b, joining, leaving)
    ):
        return 0.0
    if rows_b > leaving.rows:
        move(g, h, joining.rows, a)
        move(g, e, leaving.rows, b)
    else:  # group b would be empty in between, and be freed
        move(g, e, leaving.rows, b)
        move(g, h, joining.rows, a)
    return before - price


@inner_kernel
def _fits(g: LocalGroups, k: int, chain: _Chain) -> bool:
    """Whether a chain goes through three groups, leaves each at least k rows, and may save something."""
    share, giver = g.share[chain.share], g.share[chain.giver]
    a, b, c = share.group, chain.target, giver.group
    return (
        a != b
        and b != c
        and c != a
        and giver.point != share.point
        and chain.rows <= giver.rows
        and g.group[c].rows - chain.rows >= k
        and g.group[a].rows - share.rows + chain.rows >= k
        and g.group[a].rate > 0.0
    )


@inner_kernel
def _try_chain(g: LocalGroups, requirement: Requirement, chain: _Chain, bar: float) -> float:  # g OUT
    """Make the changes of a chain if they cost less than ``bar`` more; return what is saved."""
    covers, share, giver, some = g.covers, g.share[chain.share], g.share[chain.giver], chain.rows
    a, b, c = share.group, chain.target, giver.group
    j, rows, q = share.point, share.rows, giver.point
    if some < giver.rows and g.counters[0].free_share < 0:
        return 0.0
    rows_a, rows_b, rows_c = g.group[a].rows, g.group[b].rows, g.group[c].rows
    before = rows_a * g.group[a].rate + rows_b * g.group[b].rate + rows_c * g.group[c].rate
    price = (rows_c - some) * (g.group[c].rate if some < giver.rows else left(covers, c, q))
    if price < before + bar:
        price += (rows_a - rows + some) * swapped(covers, a, j, q)
    if price < before + bar:
        price += (rows_b + rows) * joined(covers, b, j)
    if (
        price >= before + bar
        or not keeps(g, requirement, c, PointRows(q, some), NOBODY)
        or not keeps(g, requirement, a, PointRows(j, rows), PointRows(q, some))
        or not keeps(g, requirement, b, NOBODY, PointRows(j, rows))
    ):
        return 0.0
    move(g, chain.giver, some, a)
    move(g, chain.share, rows, b)
    return before - price
