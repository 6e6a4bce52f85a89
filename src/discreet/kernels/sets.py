"""Partitions of a few items into any sets: the cheapest, and all that cost less than a limit.

A set of items is a number whose bits are the items. ``cost[s]`` is infinite for sets that are not allowed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.blocks import RECORD

__all__ = ["cheapest_sets", "least_shares", "list_partitions", "read_sets", "write_set_script"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDING = 1e-12


@kernel
def write_set_script(sets: Ints, items: int, script: Ints) -> int:
    """Write a script that asks for each set in turn; returns its length."""
    length, now = 0, 0
    for s in sets:
        for i in range(items):
            if (now ^ s) >> i & 1:
                script[length] = i + 1 if s >> i & 1 else -(i + 1)
                length += 1
        now = s
        script[length] = RECORD
        length += 1
    for i in range(items):
        if now >> i & 1:
            script[length] = -(i + 1)
            length += 1
    return length


@kernel
def least_shares(items: int, weights: Floats, sets: Ints, cost: Floats, by_set: bool) -> Floats:
    """Divide the cost of each set among its items by their weights, and return the least share of each item.

    ``cost`` is that of the sets in turn, or with ``by_set`` of all sets there are.
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
    items: int,
    weights: Floats,
    sets: Ints,
    starts: Ints,
    cost: Floats,
    room: float,
    spent: Floats,
    best: Floats,
    whole: Floats,
) -> float:
    """Find the cheapest partition of all items, and the cheapest with each set; returns what the former costs.

    ``sets`` are those allowed by their highest item, ``starts`` where those of each item begin. Sets are taken away one
    after the other, each time one with the highest item that is left: ``spent`` is the least that leads to what is left
    by then, infinite for what is never left, ``best`` the least that what is left costs, and ``whole[x]`` the cost of
    the cheapest partition with ``sets[x]``. What costs ``room`` or more may be taken to cost infinitely much: that is
    foreseen by dividing the cost of each set among its items by their weights, and taking the least share of each.
    """
    everything = (1 << items) - 1
    for left in range(everything + 1):
        spent[left] = np.inf
        best[left] = np.inf
    for x in range(sets.size):
        whole[x] = np.inf
    share = least_shares(items, weights, sets, cost, True)
    highest = np.zeros(everything + 1, dtype=np.int8)
    ahead = np.zeros(everything + 1)
    for left in range(1, everything + 1):
        highest[left] = highest[left >> 1] + 1 if left > 1 else 0
        ahead[left] = ahead[left ^ (1 << highest[left])] + share[highest[left]]
    room += _ROUNDING * abs(room)
    best[0] = 0.0
    if ahead[everything] >= room:
        return np.inf
    kept = np.empty(sets.size, dtype=np.int64)  # places of the sets that may be part of something cheap enough
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
def read_sets(items: int, sets: Ints, starts: Ints, cost: Floats, best: Floats, block: Ints) -> None:
    """Give each item the number of its block in the cheapest partition."""
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
def list_partitions(
    items: int,
    sets: Ints,
    starts: Ints,
    cost: Floats,
    gone: Floats,
    best: Floats,
    fewest: Floats,
    below: float,
    limit: float,
    blocks: Ints,
    costs: Floats,
) -> int:
    """List the partitions that cost less than ``below`` and suppress no more than the limit.

    Returns their number, or -1 if there is no room for them all.
    """
    found = 0
    place = np.zeros(items + 1, dtype=np.int64)
    left = np.zeros(items + 2, dtype=np.int64)
    highest = np.zeros(items + 1, dtype=np.int64)
    spent = np.zeros(items + 2)
    lost = np.zeros(items + 2)
    left[0] = (1 << items) - 1
    depth = 0
    highest[0] = items - 1
    place[0] = starts[items - 1]
    while depth >= 0:
        item = highest[depth]
        x = place[depth]
        if x == starts[item + 1]:
            depth -= 1
            continue
        place[depth] += 1
        chosen = sets[x]
        if chosen & ~left[depth]:
            continue
        rest = left[depth] ^ chosen
        now, rows = spent[depth] + cost[chosen], lost[depth] + gone[chosen]
        if now + best[rest] >= below or rows + fewest[rest] > limit:
            continue
        if rest:
            depth += 1
            left[depth], spent[depth], lost[depth] = rest, now, rows
            item = items - 1
            while not rest >> item & 1:
                item -= 1
            highest[depth] = item
            place[depth] = starts[item]
            continue
        if found == costs.size:
            return -1
        costs[found] = now
        for d in range(depth + 1):
            member = sets[place[d] - 1]
            for i in range(items):
                if member >> i & 1:
                    blocks[found, i] = d
        found += 1
    return found
