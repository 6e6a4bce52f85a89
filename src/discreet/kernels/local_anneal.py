"""Simulated annealing of groups: random moves between near groups, ever less often to the worse.

A step draws a point and a group near it. If its own group can spare it, the point moves there. If not, it may still
go where a third group that can spare a point near one of its fellows gives that one in its place; or it swaps places
with a member of the other group. Points are drawn from one neighbourhood for a while, so that what is read is at hand.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.local_groups import (
    COUNT,
    FREE_SHARE,
    GROUP,
    HEAD,
    NEXT,
    POINT,
    SIZE,
    TWIN,
    Groups,
    keeps,
    move,
)
from discreet.kernels.local_random import State, random_below, random_bits
from discreet.kernels.local_rates import Floats, Ints, joined, left, price_of_move, price_of_swap, swapped
from discreet.kernels.requirements import Requirement

__all__ = ["anneal"]

_STAY, _WIDE = 1024, 256
"""Steps in one neighbourhood, and its points."""
_WALK = 16
"""A member of a group is drawn from at most so many."""
_TEN_BITS = np.uint64(0x3FF)


@kernel
def anneal(
    g: Groups,
    requirement: Requirement,
    near: Ints,
    steps: int,
    hot: float,
    cold: float,
    state: State,
) -> float:
    """Take so many steps while the temperature goes from hot to cold; return what was saved, less than 0 if lost."""
    k, none, zero = requirement.smallest, np.int64(-1), np.int64(0)
    shape, rate, node, codes, share, first = g.shape, g.rate, g.node, g.codes, g.share, g.first
    group, cover, each, histogram = g.group, g.cover, g.each, g.histogram
    n, span = near.shape[0], min(k, _WALK)
    wide = min(n, _WIDE)
    saved, temperature, begin = 0.0, hot, zero
    cooling = (cold / hot) ** (_STAY / max(steps, 1))
    bars = -np.log((np.arange(1024) + 0.5) / 1024)
    for step in range(steps):
        if step % _STAY == 0:
            temperature *= cooling
            begin = random_below(state, n)
        x = random_bits(state)
        j = begin + _part(x >> np.uint64(48), 16, wide)
        if j >= n:
            j -= n
        e = first[j]
        if e < 0:
            continue
        f, q = share[e, TWIN], _some_near(near, j, x >> np.uint64(38))
        if f >= 0 and x & np.uint64(1):
            e, f = f, e
        if f < 0 or x & np.uint64(2):
            f = first[q] if q >= 0 else none
        if f < 0 or share[f, GROUP] == share[e, GROUP]:
            continue
        a, b, count = share[e, GROUP], share[f, GROUP], share[e, COUNT]
        size_a, size_b = group[a, SIZE], group[b, SIZE]
        slack, bar = size_a - k, temperature * bars[np.int64((x >> np.uint64(28)) & _TEN_BITS)]
        if slack > 0 and x & np.uint64(12) == 0:  # one in four
            h = _further(share, group, f, _part(x >> np.uint64(16), 12, span))
            q = _some_near(near, share[h, POINT], random_bits(state))
            if q >= 0 and first[q] >= 0:
                some, b = min(count, slack), share[first[q], GROUP]
                if _fits(share, group, each, k, e, some, h, b):
                    saved += _chain(g, requirement, e, some, h, b, bar)
            continue
        both = size_a * each[a] + size_b * each[b]
        limit = both + bar
        if slack >= count:
            size_a, size_b = size_a - count, size_b + count
            price = price_of_move(shape, rate, node, codes, cover, a, b, j, size_a, size_b, limit)
            if (
                price < limit
                and keeps(requirement, share, group, histogram, a, j, count, none, zero)
                and keeps(requirement, share, group, histogram, b, none, zero, j, count)
            ):
                saved += both - price
                move(g, e, count, b)
            continue
        if each[a] <= 0.0:
            continue
        y = random_bits(state)
        h = _further(share, group, e, 1 + _part(y >> np.uint64(16), 12, span))
        q = _some_near(near, share[h, POINT], y)
        if q >= 0 and first[q] >= 0:
            h, lack = first[q], count - slack
            rows = share[h, COUNT]
            some = rows if group[share[h, GROUP], SIZE] - rows >= k else lack
            if _fits(share, group, each, k, h, some, e, b):
                saved += _chain(g, requirement, h, some, e, b, bar)
                continue
        h = _further(share, group, f, _part(x >> np.uint64(16), 12, span))
        p, rows = share[h, POINT], share[h, COUNT]
        if p == j or size_a - count + rows < k or size_b + count - rows < k or (size_a == count and size_b == rows):
            continue
        size_a, size_b = size_a - count + rows, size_b + count - rows
        price = price_of_swap(shape, rate, node, codes, cover, a, b, j, p, size_a, size_b, limit)
        if (
            price < limit
            and keeps(requirement, share, group, histogram, a, j, count, p, rows)
            and keeps(requirement, share, group, histogram, b, p, rows, j, count)
        ):
            saved += both - price
            if size_b > count:
                move(g, h, rows, a)
                move(g, e, count, b)
            else:  # no group may be empty in between
                move(g, e, count, b)
                move(g, h, rows, a)
    return saved


@inner_kernel
def _part(bits: np.uint64, count: int, n: int) -> np.int64:
    """A number from 0 to n - 1, from so many random bits."""
    return np.int64(((bits & np.uint64((1 << count) - 1)) * np.uint64(n)) >> np.uint64(count))


@inner_kernel
def _some_near(near: Ints, j: int, bits: np.uint64) -> np.int64:
    """A point near point j by ten random bits, more often a nearer one; -1 is none."""
    x = bits & _TEN_BITS
    x = (x * x * x) >> np.uint64(20)
    return near[j, np.int64((x * np.uint64(near.shape[1])) >> np.uint64(10))]


@inner_kernel
def _further(share: Ints, group: Ints, e: int, places: int) -> int:
    """The share so many places after a share in its group, round and round."""
    for _ in range(places):
        following = share[e, NEXT]
        e = following if following >= 0 else group[share[e, GROUP], HEAD]
    return e


@inner_kernel
def _fits(share: Ints, group: Ints, each: Floats, k: int, h: int, some: int, e: int, b: int) -> bool:
    """Whether share e can go to group b while some rows of share h take its place, and that may save something."""
    a, c = share[e, GROUP], share[h, GROUP]
    return (
        a != b
        and b != c
        and c != a
        and share[h, POINT] != share[e, POINT]
        and some <= share[h, COUNT]
        and group[c, SIZE] - some >= k
        and group[a, SIZE] - share[e, COUNT] + some >= k
        and each[a] > 0.0
    )


@inner_kernel
def _chain(g: Groups, requirement: Requirement, h: int, some: int, e: int, b: int, bar: float) -> float:
    """Let share e go to group b while some rows of share h take its place, if not too dear; return what is saved."""
    share, group, cover, each, histogram = g.share, g.group, g.cover, g.each, g.histogram
    none, zero = np.int64(-1), np.int64(0)
    a, j, count = share[e, GROUP], share[e, POINT], share[e, COUNT]
    c, q, rows = share[h, GROUP], share[h, POINT], share[h, COUNT]
    if some < rows and g.top[FREE_SHARE] < 0:
        return 0.0
    before = group[a, SIZE] * each[a] + group[b, SIZE] * each[b] + group[c, SIZE] * each[c]
    without = each[c] if some < rows else left(g.shape, g.rate, g.node, g.codes, cover, c, q)
    price = (group[c, SIZE] - some) * without
    if price < before + bar:
        swap = swapped(g.shape, g.rate, g.node, g.codes, cover, a, j, q)
        price += (group[a, SIZE] - count + some) * swap
    if price < before + bar:
        price += (group[b, SIZE] + count) * joined(g.shape, g.rate, g.node, g.codes, cover, b, j)
    if (
        price >= before + bar
        or not keeps(requirement, share, group, histogram, c, q, some, none, zero)
        or not keeps(requirement, share, group, histogram, a, j, count, q, some)
        or not keeps(requirement, share, group, histogram, b, none, zero, j, count)
    ):
        return 0.0
    move(g, h, some, a)
    move(g, e, count, b)
    return before - price
