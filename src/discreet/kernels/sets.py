"""Partitions of a few items into any sets: the cheapest, and all that cost less than a limit.

A set of items is a number whose bits are the items. ``cost[s]`` is infinite for sets that are not allowed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.blocks import RECORD

__all__ = ["cheapest_sets", "list_partitions", "read_sets", "write_set_script"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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
def cheapest_sets(items: int, sets: Ints, starts: Ints, cost: Floats, best: Floats) -> float:
    """Find the cheapest partition of every set of items; returns that of all items.

    ``sets`` are those allowed by their lowest item, ``starts`` where those of each item begin.
    """
    best[0] = 0.0
    everything = (1 << items) - 1
    many = sets.size * (everything + 1) > 3 * items * 3**items // 2
    for whole in range(1, everything + 1):
        least = np.inf
        lowest = whole & -whole
        if many:
            rest = whole ^ lowest
            part = rest
            while True:
                value = cost[part | lowest] + best[rest ^ part]
                least = min(least, value)
                if part == 0:
                    break
                part = (part - 1) & rest
        else:
            item = 0
            while lowest >> item > 1:
                item += 1
            for x in range(starts[item], starts[item + 1]):
                if sets[x] & ~whole == 0:
                    least = min(least, cost[sets[x]] + best[whole ^ sets[x]])
        best[whole] = least
    return float(best[everything])


@kernel
def read_sets(items: int, sets: Ints, starts: Ints, cost: Floats, best: Floats, block: Ints) -> None:
    """Give each item the number of its block in the cheapest partition."""
    left, number = (1 << items) - 1, 0
    while left:
        item = 0
        while not left >> item & 1:
            item += 1
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
    above: float,
    below: float,
    limit: float,
    blocks: Ints,
    costs: Floats,
) -> int:
    """List the partitions that cost at least ``above`` and less than ``below`` and suppress no more than the limit.

    Returns their number, or -1 if there is no room for them all.
    """
    found = 0
    place = np.zeros(items + 1, dtype=np.int64)
    left = np.zeros(items + 2, dtype=np.int64)
    lowest = np.zeros(items + 1, dtype=np.int64)
    spent = np.zeros(items + 2)
    lost = np.zeros(items + 2)
    left[0] = (1 << items) - 1
    depth = 0
    place[0] = starts[0]
    while depth >= 0:
        item = lowest[depth]
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
            item = 0
            while not rest >> item & 1:
                item += 1
            lowest[depth] = item
            place[depth] = starts[item]
            continue
        if now < above:
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
