"""Points that found no group: they join the group where they cost least, or groups join them."""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.local_groups import (
    COUNT,
    GROUPS,
    HEAD,
    POINT,
    SIZE,
    Groups,
    add,
    keeps,
    move,
    new_group,
    part_heavy,
)
from discreet.kernels.local_rates import Ints, joined
from discreet.kernels.local_search import cheapest_group
from discreet.kernels.requirements import Requirement

__all__ = ["place_rest"]


@kernel
def place_rest(g: Groups, requirement: Requirement, near: Ints, weights: Ints) -> None:
    """Put every point without a share into a group that still keeps the requirement then.

    Points that no group can take make a group of their own, with which others merge until it keeps the requirement.
    """
    none, zero = np.int64(-1), np.int64(0)
    own = none
    for j in range(weights.size):
        if g.first[j] >= 0 or g.gone[j] > 0:
            continue
        _, b = cheapest_group(
            g.shape, g.rate, g.node, g.codes, g.share, g.first, g.group, g.cover, g.each, g.mark, g.histogram,
            near, requirement, none, j, weights[j],
        )  # fmt: skip
        if b < 0:
            b = _any_group(g, requirement, j, weights[j], own)
        if b < 0:
            if own < 0:
                own = new_group(g)
            b = own
        add(g, j, weights[j], b)
    if own >= 0:
        while not keeps(requirement, g.share, g.group, g.histogram, own, none, zero, none, zero):
            if not _merge_nearest(g, own):
                break
    if requirement.kind.size == 0:
        for b in range(g.top[GROUPS]):
            if g.group[b, SIZE] > 0:
                part_heavy(g, b, requirement.smallest)


@inner_kernel
def _any_group(g: Groups, requirement: Requirement, j: int, count: int, own: int) -> np.int64:
    """The group that rows of a point cost least to join, of all that keep the requirement then; -1 if there is none."""
    none, zero = np.int64(-1), np.int64(0)
    best, found = np.inf, none
    for b in range(g.top[GROUPS]):
        size = g.group[b, SIZE]
        if size > 0 and b != own:
            price = (size + count) * joined(g.shape, g.rate, g.node, g.codes, g.cover, b, j) - size * g.each[b]
            if price < best and keeps(requirement, g.share, g.group, g.histogram, b, none, zero, j, count):
                best, found = price, b
    return found


@inner_kernel
def _merge_nearest(g: Groups, own: int) -> bool:
    """Merge the group that is cheapest to join into another; False if there is none."""
    best, found = np.inf, -1
    j = g.share[g.group[own, HEAD], POINT]
    for b in range(g.top[GROUPS]):
        size = g.group[b, SIZE]
        if size > 0 and b != own:
            price = size * joined(g.shape, g.rate, g.node, g.codes, g.cover, b, j)
            if price < best:
                best, found = price, b
    if found < 0:
        return False
    while g.group[found, SIZE] > 0:
        e = g.group[found, HEAD]
        move(g, e, g.share[e, COUNT], own)
    return True
