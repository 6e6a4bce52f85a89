"""Simulated annealing of groups: random moves and swaps between near groups, ever less often to the worse."""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import kernel
from discreet.kernels.local_groups import COUNT, GROUP, HEAD, NEXT, POINT, SIZE, Groups, keeps, move
from discreet.kernels.local_random import State, random_bits
from discreet.kernels.local_rates import Ints, joined, left, swapped
from discreet.kernels.requirements import Requirement

__all__ = ["anneal"]

_WALK = np.uint64(15)
"""A member of a group is drawn from at most so many and one, the first."""


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
    saved, temperature = 0.0, hot
    cooling = (cold / hot) ** (1024.0 / max(steps, 1))
    for step in range(steps):
        if step & 1023 == 0:
            temperature *= cooling
        x = random_bits(state)
        j = np.int64((x >> np.uint64(16)) % np.uint64(near.shape[0]))
        q = near[j, np.int64((x & np.uint64(0xFFFF)) % np.uint64(near.shape[1]))]
        if q < 0 or first[j] < 0 or first[q] < 0:
            continue
        e = first[j]
        a, b = share[e, GROUP], share[first[q], GROUP]
        if a == b:
            continue
        x = random_bits(state)
        bar = -temperature * np.log(np.float64(x >> np.uint64(11)) / 9007199254740992.0 + 1e-300)
        count, size_a, size_b = share[e, COUNT], group[a, SIZE], group[b, SIZE]
        both = size_a * each[a] + size_b * each[b]
        if size_a - count >= k:
            loss = (size_a - count) * left(shape, rate, node, codes, cover, a, j) - both
            if loss >= bar:
                continue
            loss += (size_b + count) * joined(shape, rate, node, codes, cover, b, j)
            if (
                loss < bar
                and keeps(requirement, share, group, histogram, a, j, count, none, zero)
                and keeps(requirement, share, group, histogram, b, none, zero, j, count)
            ):
                saved -= loss
                move(g, e, count, b)
            continue
        h = group[b, HEAD]
        for _ in range(x & _WALK):
            h = share[h, NEXT]
            if h < 0:
                h = group[b, HEAD]
        p, rows = share[h, POINT], share[h, COUNT]
        if p == j or size_a - count + rows < k or size_b + count - rows < k or (size_a == count and size_b == rows):
            continue
        loss = (size_a - count + rows) * swapped(shape, rate, node, codes, cover, a, j, p) - both
        if loss >= bar:
            continue
        loss += (size_b + count - rows) * swapped(shape, rate, node, codes, cover, b, p, j)
        if (
            loss < bar
            and keeps(requirement, share, group, histogram, a, j, count, p, rows)
            and keeps(requirement, share, group, histogram, b, p, rows, j, count)
        ):
            saved -= loss
            if rows < size_b:
                move(g, h, rows, a)
                move(g, e, count, b)
            else:  # no group may be empty in between
                move(g, e, count, b)
                move(g, h, rows, a)
    return saved
