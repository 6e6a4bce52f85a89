"""What nodes of a search over partitions cost and bound, for minimum class sizes: many nodes at a time.

A node is one state for each attribute. Each state has two partitions of the attribute's leaves: the finest and the
coarsest that the partitions of the state lie between. A row in a coarse class that is too small is suppressed in all
of them; any other costs at least what it costs in its fine class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel

__all__ = ["Between", "Rows", "Slots", "price_nodes"]

Ints = NDArray[np.integer]
Numbers = NDArray[np.float64]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Rows(NamedTuple):
    """The tuples, and what one row of each costs suppressed; ``squares`` if a published row costs its class size."""

    codes: NDArray[np.int32]  # (attributes, tuples)
    weights: NDArray[np.int64]  # (tuples,)
    penalty: NDArray[np.float64]  # (tuples,)
    total: int
    smallest: int
    limit: int
    squares: bool


class Between(NamedTuple):
    """The states of all attributes: the block of each leaf, how many blocks, and what a row with the leaf costs."""

    fine: NDArray[np.int32]  # (states, leaves)
    coarse: NDArray[np.int32]  # (states, leaves)
    fine_blocks: NDArray[np.int64]  # (states,)
    coarse_blocks: NDArray[np.int64]  # (states,)
    fine_cost: NDArray[np.float64]  # (states, leaves), or no leaves with squares
    coarse_cost: NDArray[np.float64]  # (states, leaves), or no leaves with squares


class Slots(NamedTuple):
    """Room to find classes in, one slot for each: a power of two, at least twice the tuples.

    ``size`` counts the rows in each slot, 0 in those not in use; ``used`` lists those in use, ``number[t]`` is the slot
    of tuple ``t``, and ``key`` tells classes apart that hash alike.
    """

    key: NDArray[np.int64]
    size: NDArray[np.int64]
    number: NDArray[np.int64]
    used: NDArray[np.int64]


@kernel
def price_nodes(
    nodes: Ints,
    between: Between,
    own_is_fine: bool,
    rows: Rows,
    fine: Slots,
    coarse: Slots,
    cost: Numbers,
    bound: Numbers,
    classes: Ints,
) -> None:
    """Say what each node costs itself, bounds all its partitions by, and how many classes it has.

    IN: nodes (n, attributes), states; own_is_fine: whether a node's own partition is the finest
    OUT: cost, bound (both infinite where too many rows would go), classes
    """
    for node in range(nodes.shape[0]):
        states = nodes[node]
        fine_count = _group(states, between.fine, between.fine_blocks, rows, fine)
        coarse_count = _group(states, between.coarse, between.coarse_blocks, rows, coarse)
        must_go = _too_small(coarse, coarse_count, rows.smallest)
        goes = _too_small(fine, fine_count, rows.smallest) if own_is_fine else must_go
        if rows.squares:
            cost[node] = _squares(fine, fine_count, rows) if own_is_fine else _squares(coarse, coarse_count, rows)
            bound[node] = _least_squares(fine, coarse, rows)
        else:
            own_cost = between.fine_cost if own_is_fine else between.coarse_cost
            own = fine if own_is_fine else coarse
            cost[node] = _row_costs(states, own_cost, own, rows)
            bound[node] = _row_costs(states, between.fine_cost, coarse, rows)
        if goes > rows.limit:
            cost[node] = np.inf
        if must_go > rows.limit:
            bound[node] = np.inf
        classes[node] = fine_count if own_is_fine else coarse_count
        _forget(fine, fine_count)
        _forget(coarse, coarse_count)


@kernel
def _group(states: Ints, blocks: Ints, count: Ints, rows: Rows, slots: Slots) -> int:
    """Put each tuple in the slot of its class; return how many are in use.

    Keys number the combinations of blocks. Where there is a slot for each, a class has that of its key.
    """
    number, room = slots.number, slots.size.size
    number[:] = 0
    span = 1.0
    for i in range(states.size):
        block, codes, factor = blocks[states[i]], rows.codes[i], count[states[i]]
        if factor > 1:
            span *= factor
            for t in range(number.size):
                number[t] = number[t] * factor + block[codes[t]]
    if span > room:
        _spread(slots)
    found = 0
    for t in range(number.size):
        slot = number[t]
        if slots.size[slot] == 0:
            slots.used[found] = slot
            found += 1
        slots.size[slot] += rows.weights[t]
    return found


@kernel
def _spread(slots: Slots) -> None:
    """Turn keys into slots, by hashing."""
    room = slots.key.size
    shift = np.uint64(64)
    size = room
    while size > 1:
        shift -= np.uint64(1)
        size >>= 1
    slots.key[:] = -1
    for t in range(slots.number.size):
        key = slots.number[t]
        slot = np.int64((np.uint64(key) * _SPREAD) >> shift)
        while slots.key[slot] >= 0 and slots.key[slot] != key:
            slot = (slot + 1) & (room - 1)
        slots.key[slot] = key
        slots.number[t] = slot


@kernel
def _forget(slots: Slots, count: int) -> None:
    for c in range(count):
        slots.size[slots.used[c]] = 0


@kernel
def _too_small(slots: Slots, count: int, smallest: int) -> int:
    """The rows in classes that are too small."""
    gone = 0
    for c in range(count):
        size = slots.size[slots.used[c]]
        if size < smallest:
            gone += size
    return gone


@kernel
def _squares(slots: Slots, count: int, rows: Rows) -> float:
    total = 0.0
    for c in range(count):
        size = slots.size[slots.used[c]]
        total += float(size) * (size if size >= rows.smallest else rows.total)
    return total


@kernel
def _least_squares(fine: Slots, coarse: Slots, rows: Rows) -> float:
    """Each row costs at least the size of its fine class and the least size, or that of the table if it must go."""
    total = 0.0
    for t in range(rows.weights.size):
        if coarse.size[coarse.number[t]] < rows.smallest:
            least = rows.total
        else:
            least = max(fine.size[fine.number[t]], rows.smallest)
        total += float(rows.weights[t]) * least
    return total


@kernel
def _row_costs(states: Ints, leaf_cost: Numbers, slots: Slots, rows: Rows) -> float:
    """Each row costs what its leaves do, or the penalty if its class is too small."""
    total = 0.0
    for t in range(rows.weights.size):
        if slots.size[slots.number[t]] < rows.smallest:
            each = rows.penalty[t]
        else:
            each = 0.0
            for i in range(states.size):
                each += leaf_cost[states[i], rows.codes[i, t]]
        total += rows.weights[t] * each
    return total
