"""Simulated annealing over the partitions of all attributes at once, for a good incumbent.

Every tuple has a hash: the exclusive or of one random key per attribute and block. A move changes the blocks of one
attribute, or of two, and updates all hashes in one pass over contiguous memory per attribute. Classes are counted in a
table with open addressing. Two classes with the same hash only mislead the search: what it returns is evaluated anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.random import RandomState, random_below, random_bits
from discreet.solve.partitions.kernels.blocks import SQUARES

__all__ = ["AnnealedAttributes", "AnnealedBlocks", "AnnealedRules", "AnnealedTuples", "Cooling", "anneal_partitions"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]

_UNIT = 1.0 / (1 << 53)


class AnnealedAttributes(NamedTuple):
    """What a block of each attribute costs."""

    movable: Ints
    """The attributes to move; the others keep their blocks."""
    count: Ints
    """(attributes,) items of each."""
    runs: NDArray[np.bool_]
    """(attributes,) whether blocks are runs of items."""
    start: Ints
    """(attributes,) where the rates of each begin."""
    rate: Floats
    """Flat. A run from item i to j of n has the rate at i * n + j, a set that at the sum of its measures; NaN is not
    allowed."""
    measure: Ints
    """(attributes, items)"""
    moment: Floats
    """(attributes, items) cost per unit of rate, and ..."""
    offset: Floats
    """... what is added to it; both 0 where the cost is no sum over attributes."""


class AnnealedTuples(NamedTuple):
    """The distinct tuples."""

    codes: NDArray[np.int32]
    """(attributes, tuples) items."""
    rows: Floats
    penalty: Floats
    """Cost of the tuple's rows if suppressed."""


class AnnealedRules(NamedTuple):
    """What a release must keep, and how its classes are priced."""

    kind: int
    smallest: float
    """The size of the smallest valid class."""
    limit: float
    """The most rows that may be suppressed."""


class Cooling(NamedTuple):
    """One portion of a run."""

    evaluations: int
    hot: float
    """The temperature at the start, and ..."""
    cold: float
    """... at the end."""
    dear: float
    """How many times its cost a row counts that is suppressed beyond the limit."""


class AnnealedBlocks(NamedTuple):
    """The block of each item, (attributes, items)."""

    now: Ints
    best: Ints


@inner_kernel
def _uniform(state: RandomState) -> float:
    """A random number from 0 up to 1."""
    return float(random_bits(state) >> np.uint64(11)) * _UNIT


@inner_kernel
def _move_gap(block: Ints, count: int, state: RandomState) -> None:
    """Cut or close a gap between two items, or shift a cut by one item; blocks stay numbered in order."""
    last = block[count - 1]
    if last > 0 and random_bits(state) >> np.uint64(63) == 0:
        cut = 1 + random_below(state, int(last))
        i = 0
        while block[i] < cut:
            i += 1
        if random_bits(state) >> np.uint64(63) == 0:
            if i + 1 < count and block[i + 1] == cut:
                block[i] -= 1
                return
        elif i > 1 and block[i - 2] == cut - 1:
            block[i - 1] += 1
            return
    gap = 1 + random_below(state, count - 1)
    change = -1 if block[gap] != block[gap - 1] else 1
    for i in range(gap, count):
        block[i] += change


@inner_kernel
def _move_item(block: Ints, count: int, sums: Ints, state: RandomState) -> None:
    """Move an item into the block of another one, or into one of its own.

    IN/OUT: sums, scratch
    """
    item, other = random_below(state, count), random_below(state, count)
    if random_below(state, 5) > 0:
        block[item] = block[other]
        return
    for i in range(count):
        sums[i] = 0
    for i in range(count):
        sums[block[i]] += 1
    if sums[block[item]] > 1:
        free = 0
        while sums[free] > 0:
            free += 1
        block[item] = free


@inner_kernel
def _price_items(attributes: AnnealedAttributes, a: int, block: Ints, sums: Ints, cost: Floats) -> bool:
    """Find what a row of each item costs for one attribute; returns whether all blocks are allowed.

    OUT: sums, by block; cost, by item
    """
    count = attributes.count[a]
    if attributes.runs[a]:
        first = 0
        for i in range(count):
            if block[i] != block[first]:
                first = i
            sums[block[i]] = first * count + i
    else:
        for i in range(count):
            sums[i] = 0
        for i in range(count):
            sums[block[i]] += attributes.measure[a, i]
    for i in range(count):
        rate = attributes.rate[attributes.start[a] + sums[block[i]]]
        if np.isnan(rate):
            return False
        cost[i] = rate * attributes.moment[a, i] + attributes.offset[a, i]
    return True


@inner_kernel
def _shift(codes: NDArray[np.int32], change: Hashes, dearer: Floats, hashes: Hashes, published: Floats) -> None:
    """Update the hash of each tuple, and what its row costs published, for one attribute.

    IN: change, dearer, by item
    """
    for j in range(codes.size):
        i = codes[j]
        hashes[j] ^= change[i]
        published[j] += dearer[i]


@inner_kernel
def _count_classes(hashes: Hashes, rows: Floats, key: Hashes, total: Floats, slot: NDArray[np.int32]) -> None:
    """Count the rows of each class.

    OUT: slot of each tuple; total rows by slot; key is scratch
    """
    mask = np.uint64(total.size - 1)
    for h in range(total.size):
        total[h] = 0.0
    for j in range(hashes.size):
        own = hashes[j]
        h = (own >> np.uint64(20)) & mask
        while total[h] > 0.0 and key[h] != own:
            h = (h + np.uint64(1)) & mask
        key[h] = own
        total[h] += rows[j]
        slot[j] = np.int32(h)


@kernel
def anneal_partitions(
    rules: AnnealedRules,
    attributes: AnnealedAttributes,
    tuples: AnnealedTuples,
    cooling: Cooling,
    state: RandomState,
    best: float,
    blocks: AnnealedBlocks,
) -> float:
    """Move blocks at random at a falling temperature; returns the least cost that keeps the limit.

    Rows suppressed beyond the limit are allowed on the way, at a price.

    IN: best, the cost of the best so far
    IN/OUT: blocks, where the portion starts and ends, and the best so far
    """
    kind, smallest, limit = rules.kind, rules.smallest, rules.limit
    now = blocks.now
    codes, rows, penalty = tuples.codes, tuples.rows, tuples.penalty
    m, most = now.shape
    n = rows.size
    keys = np.empty((m, most), dtype=np.uint64)
    for a in range(m):
        for b in range(most):
            keys[a, b] = random_bits(state)
    size = 64
    while size < 2 * n:
        size *= 2
    key, total, slot = np.zeros(size, dtype=np.uint64), np.zeros(size), np.zeros(n, dtype=np.int32)
    hashes, hashes_then = np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.uint64)
    published, published_then = np.zeros(n), np.zeros(n)
    cost_now = np.zeros((m, most))
    sums, change, dearer = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.uint64), np.zeros(most)
    for a in range(m):
        _price_items(attributes, a, now[a], sums, cost_now[a])
        for i in range(attributes.count[a]):
            change[i] = keys[a, now[a, i]]
        _shift(codes[a], change, cost_now[a], hashes, published)
    then, cost_then = now.copy(), cost_now.copy()
    current, gone_now, beyond = np.inf, 0.0, cooling.dear * penalty.sum() / rows.sum()
    moved = np.full(2, -1, dtype=np.int64)
    for step in range(cooling.evaluations + 1):
        temperature = cooling.hot * (cooling.cold / cooling.hot) ** (step / cooling.evaluations)
        hashes_then[:] = hashes
        published_then[:] = published
        moved[:] = -1
        valid = True
        for x in range(0 if step == 0 else 1 + int(random_bits(state) >> np.uint64(63))):
            a = attributes.movable[random_below(state, attributes.movable.size)]
            if x == 1 and a == moved[0]:
                continue
            moved[x] = a
            if attributes.runs[a]:
                _move_gap(then[a], attributes.count[a], state)
            else:
                _move_item(then[a], attributes.count[a], sums, state)
            valid = valid and _price_items(attributes, a, then[a], sums, cost_then[a])
            if valid:
                for i in range(attributes.count[a]):
                    change[i] = keys[a, now[a, i]] ^ keys[a, then[a, i]]
                    dearer[i] = cost_then[a, i] - cost_now[a, i]
                _shift(codes[a], change, dearer, hashes_then, published_then)
        cost, gone = np.inf, 0.0
        if valid:
            _count_classes(hashes_then, rows, key, total, slot)
            cost = 0.0
            for j in range(n):
                count = total[slot[j]]
                if count < smallest:
                    cost += penalty[j]
                    gone += rows[j]
                else:
                    cost += rows[j] * (count if kind == SQUARES else published_then[j])
            if gone <= limit and cost < best:
                best = cost
                blocks.best[:] = then
        worse = cost - current + beyond * (max(gone - limit, 0.0) - max(gone_now - limit, 0.0))
        if valid and (step == 0 or worse <= 0.0 or _uniform(state) < np.exp(-worse / temperature)):
            current, gone_now = cost, gone
            hashes, hashes_then = hashes_then, hashes
            published, published_then = published_then, published
            for a in moved:
                if a >= 0:
                    now[a], cost_now[a] = then[a], cost_then[a]
        else:
            for a in moved:
                if a >= 0:
                    then[a], cost_then[a] = now[a], cost_now[a]
    return best
