"""Costs and lower bounds of nodes of the Li-Li search, for minimum class sizes: many nodes at a time.

A node is one state per attribute. The partitions of a state lie between a finest and a coarsest one. For DM, a row
whose coarse class is too small is suppressed in all of them, and any other costs at least what it costs in its fine
class, as in Bayardo and Agrawal's k-Optimize, to which section 4.3 refers.

For HDM (section 4.3.1) a row that a node publishes costs at least as much in all nodes below, bottom-up, and a row that
it suppresses may cost nothing there. Of the paper's argument one half sentence and one sentence can be read in the text
at hand, "… pressed by N or not. penalty(N, r2) can be as small as 0"; the case of r1 and the sum itself are lost. With
the two requirements on costs that follow it, this is our reconstruction. Top-down, of which the paper says nothing for
HDM, rows are bounded as for DM.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import kernel

__all__ = ["ClassSlots", "NodeCosts", "StateBlocks", "WeightedTuples", "price_nodes"]

Ints = NDArray[np.integer]
Numbers = NDArray[np.float64]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: multiplying by it spreads keys over the high bits."""


class WeightedTuples(NamedTuple):
    """The tuples, and what is required of their classes."""

    codes: NDArray[np.int32]  # (attributes, tuples)
    weights: NDArray[np.int64]  # (tuples,)
    penalty: NDArray[np.float64]  # (tuples,) cost of one suppressed row
    total: int  # rows
    smallest: int  # size of the smallest valid class
    limit: int  # rows that may be suppressed
    squares: bool  # a published row costs the size of its class


class StateBlocks(NamedTuple):
    """The finest and coarsest partition of each state: blocks of leaves, their number, and row costs by leaf."""

    fine: NDArray[np.int32]  # (states, leaves)
    coarse: NDArray[np.int32]  # (states, leaves)
    fine_blocks: NDArray[np.int64]  # (states,)
    coarse_blocks: NDArray[np.int64]  # (states,)
    fine_cost: NDArray[np.float64]  # (states, leaves), or no leaves with squares
    coarse_cost: NDArray[np.float64]  # (states, leaves), or no leaves with squares


class ClassSlots(NamedTuple):
    """Hash table of classes: a power of two of slots, at least twice as many as tuples, so that probes stay short."""

    key: NDArray[np.int64]  # (slots,) the class in a slot; only written where keys exceed the slots
    size: NDArray[np.int64]  # (slots,) its rows; 0 if unused, which is so between two nodes
    number: NDArray[np.int64]  # (tuples,) the slot of each tuple
    used: NDArray[np.int64]  # (tuples,) the slots in use


class NodeCosts(NamedTuple):
    """Cost of each node's own recoding, lower bound of it and all below, and its number of classes.

    A cost is infinite where the recoding is not allowed, a bound where none is.
    """

    cost: NDArray[np.float64]
    bound: NDArray[np.float64]
    classes: NDArray[np.int64]


@kernel
def price_nodes(
    nodes: Ints,
    between: StateBlocks,
    own_is_fine: bool,
    rows: WeightedTuples,
    fine: ClassSlots,
    coarse: ClassSlots,
    found: NodeCosts,
) -> None:
    """Evaluate nodes: two groupings and two passes over the tuples each.

    IN: nodes (nodes, attributes), states; own_is_fine: whether a node's own partition is its finest (bottom-up)
    OUT: found; fine and coarse are scratch
    """
    for node in range(nodes.shape[0]):
        states = nodes[node]
        fine_count = _group(states, between.fine, between.fine_blocks, rows, fine)
        coarse_count = _group(states, between.coarse, between.coarse_blocks, rows, coarse)
        must_go = _too_small(coarse, coarse_count, rows.smallest)
        goes = _too_small(fine, fine_count, rows.smallest) if own_is_fine else must_go
        if rows.squares:
            found.cost[node] = _squares(fine, fine_count, rows) if own_is_fine else _squares(coarse, coarse_count, rows)
            found.bound[node] = _least_squares(fine, coarse, rows)
        else:
            own_cost = between.fine_cost if own_is_fine else between.coarse_cost
            own = fine if own_is_fine else coarse
            found.cost[node] = _row_costs(states, own_cost, own, rows)
            if own_is_fine:
                found.bound[node] = _published_costs(states, own_cost, own, rows)
            else:
                found.bound[node] = _row_costs(states, between.fine_cost, coarse, rows)
        if goes > rows.limit:
            found.cost[node] = np.inf
        if must_go > rows.limit:
            found.bound[node] = np.inf
        found.classes[node] = fine_count if own_is_fine else coarse_count
        _forget(fine, fine_count)
        _forget(coarse, coarse_count)


@kernel
def _group(states: Ints, blocks: Ints, count: Ints, rows: WeightedTuples, slots: ClassSlots) -> int:
    """Put each tuple in the slot of its class; returns how many slots are in use.

    The key of a class numbers its combination of blocks. Where there is a slot for every key, the key is the slot and
    nothing is hashed.

    OUT: slots.number, slots.size, slots.used
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
def _spread(slots: ClassSlots) -> None:
    """Turn keys into slots, by hashing with linear probing."""
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
def _forget(slots: ClassSlots, count: int) -> None:
    """Empty the slots in use, which is cheaper than all of them."""
    for c in range(count):
        slots.size[slots.used[c]] = 0


@kernel
def _too_small(slots: ClassSlots, count: int, smallest: int) -> int:
    """Return the rows in classes that are too small."""
    gone = 0
    for c in range(count):
        size = slots.size[slots.used[c]]
        if size < smallest:
            gone += size
    return gone


@kernel
def _squares(slots: ClassSlots, count: int, rows: WeightedTuples) -> float:
    """Return the discernibility of a recoding: class sizes squared, or rows times the table if suppressed."""
    total = 0.0
    for c in range(count):
        size = slots.size[slots.used[c]]
        total += float(size) * (size if size >= rows.smallest else rows.total)
    return total


@kernel
def _least_squares(fine: ClassSlots, coarse: ClassSlots, rows: WeightedTuples) -> float:
    """Return the bound: a row costs at least its fine class and the smallest class, or the table if it must go."""
    total = 0.0
    for t in range(rows.weights.size):
        if coarse.size[coarse.number[t]] < rows.smallest:
            least = rows.total
        else:
            least = max(fine.size[fine.number[t]], rows.smallest)
        total += float(rows.weights[t]) * least
    return total


@kernel
def _published_costs(states: Ints, leaf_cost: Numbers, slots: ClassSlots, rows: WeightedTuples) -> float:
    """Return the cost of the rows whose classes are large enough: the bound of HDM, bottom-up (section 4.3.1)."""
    total = 0.0
    for t in range(rows.weights.size):
        if slots.size[slots.number[t]] >= rows.smallest:
            for i in range(states.size):
                total += rows.weights[t] * leaf_cost[states[i], rows.codes[i, t]]
    return total


@kernel
def _row_costs(states: Ints, leaf_cost: Numbers, slots: ClassSlots, rows: WeightedTuples) -> float:
    """Return the cost: a row costs what its leaves do, or the penalty if its class is too small."""
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
