"""The compiled search for the front of k against a cost: choose a node, group it, price it, tell, and so on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.classes import (
    CODES,
    ClassLists,
    Lattice,
    Workspace,
    group,
    keep_list,
    learn_levels,
    learn_reduction,
    source_of,
    step_between,
)
from discreet.kernels.front_choice import Guess, choose, learn
from discreet.kernels.fronts import EVALUATED_NODES, FRONT, Fronts, levels_of, tell
from discreet.kernels.lattice import MINORITY, SEPARABLE, SEPARABLE_SUMS, Prices, pack_rates

__all__ = ["Tally", "evaluate_classes", "evaluate_node", "search_front"]


class Tally(NamedTuple):
    """Scratch space for the class sizes of one node, and what came of them."""

    rows: NDArray[np.int64]
    """(n + 1,) rows in classes of each size; all zero between nodes."""
    size: NDArray[np.int64]
    """(n + 1,) the sizes that occur, rising."""
    profile: NDArray[np.float64]
    """(n + 1, 2) sizes that are suppressed, and what suppressing classes up to that size costs more."""
    worse: NDArray[np.float64]
    """(grid,) rows in classes smaller than each value of the grid."""
    result: NDArray[np.float64]
    """k, loss, what publishing all rows costs, rows suppressed, classes published."""
    base: NDArray[np.float64]
    """(m, levels) what each attribute costs over all rows, where costs add up over attributes."""


K, LOSS, TOTAL, LOST, CLASSES = range(5)


@kernel
def _sizes(size: NDArray[np.int64], tally: Tally) -> int:
    """List the class sizes that occur and the rows that have each; return how many there are."""
    found = 0
    for c in range(size.size):
        s = size[c]
        tally.size[found] = s
        found += tally.rows[s] == 0
        tally.rows[s] += s
    tally.size[:found].sort()
    return found


@kernel
def _split(sizes: int, limit: int, grid: NDArray[np.float64], tally: Tally) -> int:
    """Suppress from the smallest size up as far as the limit allows; return how many sizes go."""
    rows, gone, at = 0, 0, 0
    tally.result[LOST] = 0.0
    for g in range(grid.size):
        tally.worse[g] = 0.0
    for s in range(sizes):
        size = tally.size[s]
        while at < grid.size and grid[at] <= size:
            tally.worse[at] = rows
            at += 1
        rows += tally.rows[size]
        if rows <= limit and s < sizes - 1:
            gone = s + 1
            tally.result[LOST] = rows
    while at < grid.size:
        tally.worse[at] = rows
        at += 1
    tally.result[K] = tally.size[gone]
    return gone


@kernel
def _class_total(lists: ClassLists, prices: Prices, begin: int, end: int) -> float:
    """What publishing all classes costs, where they are priced as a whole."""
    total = 0.0
    for c in range(begin, end):
        size = lists.size[c]
        if prices.kind == MINORITY:
            total += size - _majority(lists.sums[c])
        else:
            total += float(size) * size
    return total


@kernel
def _majority(labels: NDArray[np.float64]) -> float:
    most = labels[0]
    for label in range(1, labels.size):
        most = max(most, labels[label])
    return most


@kernel
def _rate(lattice: Lattice, lists: ClassLists, prices: Prices, node: NDArray[np.int64], c: int) -> float:
    """What publishing class c costs, where costs add up over attributes (kind SEPARABLE: less what does not vary)."""
    size = lists.size[c]
    total = 0.0
    if prices.kind == SEPARABLE:
        for p in range(lattice.size.size):
            word = lists.packed[p // 8, c] >> np.uint64(8 * (p % 8))
            total += prices.pack_rate[p * CODES + np.int64(word & np.uint64(CODES - 1))]
        for w in range(lattice.wide.size):
            i = lattice.wide[w]
            total += prices.rate[lattice.start[i, node[i]] + np.int64(lists.wide[w, c])]
        return total * size
    m = node.size
    for i in range(m):
        total += prices.rate[lattice.start[i, node[i]] + lattice.codes[i, lists.rep[c]]] * lists.sums[c, i]
    return total - lists.sums[c, m]


@kernel
def evaluate_classes(
    lattice: Lattice,
    lists: ClassLists,
    prices: Prices,
    tally: Tally,
    limit: int,
    grid: NDArray[np.float64],
    node: NDArray[np.int64],
    classes: int,
) -> int:
    """Price the classes just grouped under the budget rule, into the tally; return the length of the profile."""
    begin = lists.used[1]
    end = begin + classes
    sizes = _sizes(lists.size[begin:end], tally)
    gone = _split(sizes, limit, grid, tally)
    k, result = tally.result[K], tally.result
    for s in range(sizes):
        tally.rows[tally.size[s]] = 0
    for s in range(gone):
        tally.profile[s, 0], tally.profile[s, 1] = tally.size[s], 0.0
    if prices.kind == SEPARABLE and gone > 0:
        pack_rates(lattice, prices, node)
    result[CLASSES] = 0
    for c in range(begin, end):
        size = lists.size[c]
        if size >= k:
            result[CLASSES] += 1
            continue
        extra = size * prices.penalty
        if prices.kind <= SEPARABLE_SUMS:
            extra -= _rate(lattice, lists, prices, node, c)
        elif prices.kind == MINORITY:
            extra -= size - _majority(lists.sums[c])
        else:
            extra -= float(size) * size
        place = np.searchsorted(tally.size[:gone], size)
        tally.profile[place, 1] += extra
    for s in range(1, gone):
        tally.profile[s, 1] += tally.profile[s - 1, 1]
    if prices.kind <= SEPARABLE_SUMS:
        result[TOTAL] = 0.0
        for i in range(node.size):
            result[TOTAL] += tally.base[i, node[i]]
    else:
        result[TOTAL] = _class_total(lists, prices, begin, end)
    result[LOSS] = result[TOTAL] + (tally.profile[gone - 1, 1] if gone > 0 else 0.0)
    return gone


@kernel
def evaluate_node(
    lattice: Lattice,
    lists: ClassLists,
    ws: Workspace,
    prices: Prices,
    tally: Tally,
    limit: int,
    grid: NDArray[np.float64],
    node: NDArray[np.int64],
) -> int:
    """Group a node by rolling up from an earlier one, and price it; return the length of its profile."""
    between = np.zeros_like(node)
    room = lattice.codes.shape[1]
    source = source_of(lists, node)
    while step_between(lattice, lists, ws, source, node, between):
        classes = group(lattice, lists, ws, source, between)
        learn_reduction(lattice, lists, ws, source, between, classes)
        shorter = keep_list(lists, source, between, classes, room)
        if shorter < 0:
            break
        source = shorter
    classes = group(lattice, lists, ws, source, node)
    length = evaluate_classes(lattice, lists, prices, tally, limit, grid, node, classes)
    keep_list(lists, source, node, classes, room)
    learn_levels(ws, node)
    return length


@kernel
def search_front(
    lattice: Lattice,
    lists: ClassLists,
    ws: Workspace,
    prices: Prices,
    tally: Tally,
    limit: int,
    fronts: Fronts,
    guess: Guess,
    lowest: NDArray[np.int64],
    evaluations: int,
) -> int:
    """Evaluate up to so many nodes; return 0 when none is open any more, 1 to be called again, 2 when out of room."""
    node = np.zeros(lowest.size, dtype=np.int64)
    for _ in range(evaluations):
        e = fronts.count[EVALUATED_NODES]
        if (
            e + 1 > fronts.node.size
            or fronts.first[e] + limit + 2 > fronts.profile.shape[0]
            or fronts.count[FRONT] + 2 > fronts.front.shape[0]
        ):
            return 2
        number = choose(fronts, guess)
        if number < 0:
            return 0
        levels_of(fronts, number, node)
        for i in range(node.size):
            node[i] += lowest[i]
        length = evaluate_node(lattice, lists, ws, prices, tally, limit, guess.grid, node)
        result = tally.result
        tell(fronts, number, result[K], result[LOSS], result[TOTAL], result[LOST], tally.profile[:length])
        learn(fronts, guess, tally.worse)
    return 1
