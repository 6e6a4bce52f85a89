"""Groups by layers: the finest recoding first, then ever coarser ones, each over the points that have no group yet.

A layer takes one level of every attribute: it is a node of the generalization lattice. Layers come in order of what a
row costs in them on average. In each, every class that satisfies the requirement is taken out for good.

A class is identified by the sum, modulo 2**64, of random numbers: one for each block of the level of each attribute.
From one layer to the next only the terms of attributes that changed are exchanged, in O(points left). Two classes of n
points have the same sum with probability below n**2 / 2**65; they would be taken for one, and the models checked for
both together, so that nothing but cost is at stake.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.arrays import Floats, Ints, Nodes
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import Records, layout
from discreet.solve.kernels.requirements import Requirement, holds, tally

__all__ = ["Levels", "layer_groups"]


class _Layer:
    """A recoding of the lattice that was not visited yet."""

    cost: float
    largest: int  # no class has more rows than this, as far as is known; at most k


_LAYER = layout(_Layer)


class Levels(NamedTuple):
    """The levels of all attributes, one attribute after the other."""

    leaves: Nodes
    """(points, m) the leaf of each point, or the position of its number."""
    first: Ints
    """(m + 1,) where the levels of each attribute begin."""
    price: Floats
    """(levels,) what a row costs there."""
    number: NDArray[np.uint64]
    """(levels, leaves) the random number of the block above each leaf."""
    joins: Ints
    """(levels,) at most so many blocks of the level below are in one block."""
    bits: Ints
    """(m,) how many bits a leaf takes."""


class _Ungrouped(NamedTuple):
    """The points without a group; of each array the first ``left`` entries count."""

    point: Ints
    key: NDArray[np.uint64]
    """The sum that identifies the class of the point in the layer at hand."""
    slot: Ints
    """Where the class is in the hash table."""
    next: Ints
    """The previous point of the same class, while models are checked."""


class _ClassTable(NamedTuple):
    """A hash table of classes, with open addressing; the capacity is a power of 2."""

    key: NDArray[np.uint64]
    rows: Ints
    """0 if the slot is free; ~group once the class has become a group."""
    last: Ints
    """The last point of the class, while models are checked."""


@inner_kernel
def _push(heap: Ints, count: int, layer: Records[_Layer], new: int) -> None:  # heap OUT
    """Add a layer to a binary heap, the cheapest on top."""
    p = count
    heap[p] = new
    while p > 0:
        parent = (p - 1) >> 1
        if layer[heap[parent]].cost <= layer[heap[p]].cost:
            break
        heap[parent], heap[p] = heap[p], heap[parent]
        p = parent


@inner_kernel
def _pop(heap: Ints, count: int, layer: Records[_Layer]) -> int:  # heap OUT
    """Take the cheapest layer from the heap."""
    top = heap[0]
    heap[0] = heap[count - 1]
    p, count = 0, count - 1
    while True:
        child = 2 * p + 1
        if child >= count:
            break
        if child + 1 < count and layer[heap[child + 1]].cost < layer[heap[child]].cost:
            child += 1
        if layer[heap[p]].cost <= layer[heap[child]].cost:
            break
        heap[p], heap[child] = heap[child], heap[p]
        p = child
    return top


@inner_kernel
def _rekey(levels: Levels, ungrouped: _Ungrouped, left: int, i: int, old: int, new: int) -> None:  # ungrouped OUT
    """Exchange the term of attribute i in the keys."""
    point, key, leaves, number = ungrouped.point, ungrouped.key, levels.leaves, levels.number
    old, new = levels.first[i] + old, levels.first[i] + new
    for p in range(left):
        key[p] += number[new, leaves[point[p], i]] - number[old, leaves[point[p], i]]


@inner_kernel
def _count_classes(
    weights: Ints, ungrouped: _Ungrouped, left: int, table: _ClassTable, bits: int
) -> int:  # ungrouped, table OUT
    """Count the rows of each class in a hash table of 2**bits slots; return the most rows of a class."""
    point, key, slots, mask = ungrouped.point, ungrouped.key, ungrouped.slot, np.uint64((1 << bits) - 1)
    table_key, table_rows = table.key, table.rows
    table_rows[: 1 << bits] = 0
    most = 0
    for p in range(left):
        mine = key[p]
        slot = np.int64((mine ^ (mine >> np.uint64(29))) & mask)
        while table_rows[slot] != 0 and table_key[slot] != mine:
            slot = np.int64(np.uint64(slot + 1) & mask)
        table_key[slot] = mine
        table_rows[slot] += weights[point[p]]
        slots[p] = slot
        most = max(most, table_rows[slot])
    return most


@inner_kernel
def _refuse(
    requirement: Requirement,
    weights: Ints,
    ungrouped: _Ungrouped,
    left: int,
    table: _ClassTable,
    histogram: Ints,  # scratch space, all 0
) -> None:  # ungrouped.next, table OUT
    """Set the rows of classes that do not satisfy the models to 0."""
    point, slots, link = ungrouped.point, ungrouped.slot, ungrouped.next
    for p in range(left):
        table.last[slots[p]] = -1
    for p in range(left):
        link[p] = table.last[slots[p]]
        table.last[slots[p]] = p
    for p in range(left):
        slot = slots[p]
        if table.last[slot] != p or table.rows[slot] < requirement.smallest:
            continue
        q = p
        while q >= 0:
            tally(requirement, point[q], weights[point[q]], histogram)
            q = link[q]
        if not holds(requirement, table.rows[slot], histogram):
            table.rows[slot] = 0
        q = p
        while q >= 0:
            tally(requirement, point[q], -weights[point[q]], histogram)
            q = link[q]


@inner_kernel
def _take_groups(
    ungrouped: _Ungrouped, left: int, table: _ClassTable, k: int, groups: int, group: Ints
) -> tuple[int, int]:  # ungrouped, table, group OUT
    """Make a group of each class of at least k rows; return how many points are left and how many groups there are."""
    point, key, slots, rows, kept = ungrouped.point, ungrouped.key, ungrouped.slot, table.rows, 0
    for p in range(left):
        slot = slots[p]
        if rows[slot] >= k:
            rows[slot] = ~groups
            groups += 1
        if rows[slot] < 0:
            group[point[p]] = ~rows[slot]
        else:
            point[kept], key[kept] = point[p], key[p]
            kept += 1
    return kept, groups


@kernel
def layer_groups(
    levels: Levels, weights: Ints, requirement: Requirement, visits: int, first_visits: int
) -> tuple[Ints, int]:
    """The group of each point, -1 for those left over, and the number of groups.

    At most ``visits`` points are visited in all layers together. It ends early after a quarter of them without a new
    group, and after ``first_visits`` without any. Every layer is reached from exactly one other: a child raises the
    last attribute that was raised, or one after it. A layer cannot have a class of k rows, and is not visited, if the
    largest class of its parent times the blocks that are joined has fewer.
    """
    (n, m), k, first = levels.leaves.shape, requirement.smallest, levels.first
    models, histogram = requirement.model.size > 0, np.zeros(requirement.cells, np.int64)
    group = np.full(n, -1, np.int64)
    ungrouped = _Ungrouped(
        np.arange(n), np.zeros(n, np.uint64), np.empty(n, np.int64), np.empty(n if models else 0, np.int64)
    )
    for i in range(m):
        for p in range(n):
            ungrouped.key[p] += levels.number[first[i], levels.leaves[p, i]]
    bits = 4
    while (1 << bits) < 2 * n:
        bits += 1
    table = _ClassTable(
        np.zeros(1 << bits, np.uint64), np.zeros(1 << bits, np.int64), np.empty(1 << bits if models else 0, np.int64)
    )
    room = 1024
    level, layer, heap = np.zeros((room, m), np.int8), np.zeros(room, _LAYER), np.empty(room, np.int64)
    now = np.zeros(m, np.int64)
    for i in range(m):
        layer[0].cost += levels.price[first[i]]
    layer[0].largest = k
    layers, heaped = np.int64(1), np.int64(1)
    heap[0] = 0
    left, groups, patience = n, 0, visits // 4
    idle = min(patience, first_visits)
    while heaped > 0 and visits > 0 and idle > 0 and left > 0:
        node = _pop(heap, heaped, layer)
        heaped -= 1
        if layer[node].largest >= k:
            visits -= left
            idle -= left
            while (1 << bits) > 4 * left and bits > 4:
                bits -= 1
            for i in range(m):
                if level[node, i] != now[i]:
                    _rekey(levels, ungrouped, left, i, now[i], np.int64(level[node, i]))
                    now[i] = level[node, i]
            most = _count_classes(weights, ungrouped, left, table, bits)
            if most >= k:
                if models:
                    _refuse(requirement, weights, ungrouped, left, table, histogram)
                kept, groups = _take_groups(ungrouped, left, table, k, groups, group)
                idle = patience if kept < left else idle
                left = kept
                most = k if models else k - 1
            layer[node].largest = most
        last = 0
        for i in range(m):
            if level[node, i] > 0:
                last = i
        for i in range(last, m):
            up = first[i] + level[node, i] + 1
            if up < first[i + 1]:
                if layers == room:
                    level = np.concatenate((level, np.zeros((room, m), np.int8)))
                    layer = np.concatenate((layer, np.zeros(room, _LAYER)))
                    heap = np.concatenate((heap, np.empty(room, np.int64)))
                    room *= 2
                level[layers] = level[node]
                level[layers, i] += 1
                layer[layers].cost = layer[node].cost + levels.price[up] - levels.price[up - 1]
                layer[layers].largest = min(layer[node].largest * levels.joins[up], k)
                _push(heap, heaped, layer, layers)
                heaped += 1
                layers += 1
    return group, groups
