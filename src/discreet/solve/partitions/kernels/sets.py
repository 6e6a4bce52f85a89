"""Partitions of a few items into sets: the cheapest, and all that cost less than a limit.

A set of items is a number whose bits are the items. To visit every partition once, sets are removed from what is left
one after the other, always one that holds the highest item left. With n items there are 2^n states of what is left, so
this is for up to 16 items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import kernel
from discreet.solve.partitions.kernels.blocks import RECORD

__all__ = ["SetPrices", "cheapest_sets", "join_sets", "least_shares", "list_partitions", "read_sets", "write_set_walk"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDING = 1e-12


class SetPrices(NamedTuple):
    """The allowed sets of one attribute's items, and what they cost and suppress."""

    sets: Ints
    """Sorted, hence by highest item."""
    starts: Ints
    """(items + 1,) where the sets with each highest item begin."""
    cost: Floats
    """(2^items,) by set; only those of allowed sets are read, as are those of ``gone``."""
    gone: Floats
    """(2^items,) rows suppressed, by set."""
    best: Floats
    """(2^items,) least cost of a partition of what is left."""
    fewest: Floats
    """(2^items,) fewest rows suppressed by a partition of what is left."""


@kernel
def write_set_walk(sets: Ints, items: int, steps: Ints) -> int:
    """Write a walk that asks for each set in turn; returns its length.

    OUT: steps
    """
    length, now = 0, 0
    for s in sets:
        for i in range(items):
            if (now ^ s) >> i & 1:
                steps[length] = i + 1 if s >> i & 1 else -(i + 1)
                length += 1
        now = s
        steps[length] = RECORD
        length += 1
    for i in range(items):
        if now >> i & 1:
            steps[length] = -(i + 1)
            length += 1
    return length


@kernel
def least_shares(items: int, weights: Floats, sets: Ints, cost: Floats, by_set: bool) -> Floats:
    """Divide the cost of each set among its items by weight, and return the least share of each item.

    The shares of a partition's items add up to its cost, so the least shares add up to a lower bound.

    IN: cost in the order of ``sets`` or, with ``by_set``, indexed by set
    """
    share = np.full(items, np.inf)
    for x in range(sets.size):
        price = cost[sets[x]] if by_set else cost[x]
        heavy = 0.0
        for i in range(items):
            if sets[x] >> i & 1:
                heavy += weights[i]
        for i in range(items):
            if sets[x] >> i & 1:
                share[i] = min(share[i], price * (weights[i] / heavy))
    return share


@kernel
def cheapest_sets(
    items: int, weights: Floats, sets: Ints, starts: Ints, cost: Floats, room: float, best: Floats, whole: Floats
) -> float:
    """Find the cheapest partition, and the cheapest one with each set; returns the cost of the former.

    A dynamic program over what is left: forwards for the least cost that leads to it (``spent``), backwards for the
    least cost of a partition of it (``best``). Costs of ``room`` or more may come out as infinite: states that cannot
    stay below it, by the least shares of what is left, are skipped, and so are sets that cannot be in such a partition.

    OUT: best[left]; whole[x], the cost of the cheapest partition with sets[x]
    """
    everything = (1 << items) - 1
    spent = np.full(everything + 1, np.inf)
    for left in range(everything + 1):
        best[left] = np.inf
    for x in range(sets.size):
        whole[x] = np.inf
    share = least_shares(items, weights, sets, cost, True)
    highest = np.zeros(everything + 1, dtype=np.int8)
    ahead = np.zeros(everything + 1)  # lower bound of any partition of what is left
    for left in range(1, everything + 1):
        highest[left] = highest[left >> 1] + 1 if left > 1 else 0
        ahead[left] = ahead[left ^ (1 << highest[left])] + share[highest[left]]
    room += _ROUNDING * abs(room)
    best[0] = 0.0
    if ahead[everything] >= room:
        return np.inf
    kept = np.empty(sets.size, dtype=np.int64)  # indices of sets that may be part of something cheap enough
    begin = np.zeros(items + 1, dtype=np.int64)
    count = 0
    for item in range(items):
        begin[item] = count
        for x in range(starts[item], starts[item + 1]):
            if cost[sets[x]] + ahead[everything ^ sets[x]] < room:
                kept[count] = x
                count += 1
    begin[items] = count
    spent[everything] = 0.0
    for left in range(everything, 0, -1):
        now = spent[left]
        if now + ahead[left] >= room:
            spent[left] = np.inf
            continue
        for y in range(begin[highest[left]], begin[highest[left] + 1]):
            part = sets[kept[y]]
            if part & ~left == 0:
                spent[left ^ part] = min(spent[left ^ part], now + cost[part])
    for left in range(1, everything + 1):
        if spent[left] == np.inf:
            continue
        now, least = spent[left], np.inf
        for y in range(begin[highest[left]], begin[highest[left] + 1]):
            part = sets[kept[y]]
            if part & ~left == 0:
                value = cost[part] + best[left ^ part]
                least = min(least, value)
                whole[kept[y]] = min(whole[kept[y]], now + value)
        best[left] = least
    return float(best[everything])


@kernel
def join_sets(sets: Ints, whole: Floats, least: Floats) -> None:
    """Find the cheapest partition in which two items share a set.

    IN: whole[x], the cost of the cheapest partition with sets[x]
    OUT: least (items, items), infinite before
    """
    items = least.shape[0]
    for x in range(sets.size):
        for i in range(items):
            if sets[x] >> i & 1:
                for j in range(items):
                    if sets[x] >> j & 1:
                        least[i, j] = min(least[i, j], whole[x])


@kernel
def read_sets(items: int, sets: Ints, starts: Ints, cost: Floats, best: Floats, block: Ints) -> None:
    """Give each item the number of its block in the cheapest partition.

    OUT: block
    """
    left, number = (1 << items) - 1, 0
    while left:
        item = items - 1
        while not left >> item & 1:
            item -= 1
        least, chosen = np.inf, left
        for x in range(starts[item], starts[item + 1]):
            if sets[x] & ~left == 0 and cost[sets[x]] + best[left ^ sets[x]] < least:
                least, chosen = cost[sets[x]] + best[left ^ sets[x]], sets[x]
        for i in range(items):
            if chosen >> i & 1:
                block[i] = number
        number += 1
        left ^= chosen


@kernel
def list_partitions(items: int, prices: SetPrices, below: float, limit: float, blocks: Ints, costs: Floats) -> int:
    """List the partitions that cost less than ``below`` and suppress at most ``limit`` rows.

    Depth first, with ``best`` and ``fewest`` of what is left as exact lower bounds: no dead ends by cost alone. Returns
    their number, or -1 if there is no room for all.

    OUT: blocks (partitions, items); costs
    """
    sets, starts = prices.sets, prices.starts
    found = 0
    index = np.zeros(items + 1, dtype=np.int64)  # at each depth: the set to try next,
    left = np.zeros(items + 2, dtype=np.int64)  # the items left,
    highest = np.zeros(items + 1, dtype=np.int64)  # the highest of them,
    spent = np.zeros(items + 2)  # the cost
    lost = np.zeros(items + 2)  # and the suppressed rows so far
    left[0] = (1 << items) - 1
    depth = 0
    highest[0] = items - 1
    index[0] = starts[items - 1]
    while depth >= 0:
        item = highest[depth]
        x = index[depth]
        if x == starts[item + 1]:
            depth -= 1
            continue
        index[depth] += 1
        chosen = sets[x]
        if chosen & ~left[depth]:
            continue
        rest = left[depth] ^ chosen
        now, rows = spent[depth] + prices.cost[chosen], lost[depth] + prices.gone[chosen]
        if now + prices.best[rest] >= below or rows + prices.fewest[rest] > limit:
            continue
        if rest:
            depth += 1
            left[depth], spent[depth], lost[depth] = rest, now, rows
            item = items - 1
            while not rest >> item & 1:
                item -= 1
            highest[depth] = item
            index[depth] = starts[item]
            continue
        if found == costs.size:
            return -1
        costs[found] = now
        for d in range(depth + 1):
            member = sets[index[d] - 1]
            for i in range(items):
                if member >> i & 1:
                    blocks[found, i] = d
        found += 1
    return found
