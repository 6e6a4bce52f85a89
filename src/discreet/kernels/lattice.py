"""The compiled search for minimum class sizes: choose a node, group it, price it, tell, and so on in one kernel."""

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
    learn_reduction,
    source_of,
    step_between,
)
from discreet.kernels.search import EVALUATE, choose, tell
from discreet.kernels.state import INFINITE, LIMIT, Search

__all__ = [
    "MINORITY",
    "SEPARABLE",
    "SEPARABLE_SUMS",
    "SQUARES",
    "Prices",
    "add_rows",
    "max_rows",
    "min_rows",
    "run",
]

SEPARABLE, SEPARABLE_SUMS, SQUARES, MINORITY = 0, 1, 2, 3
"""Kinds of cost: rates; rates times sums kept with each class; class size squared; rows off the majority label."""


class Prices(NamedTuple):
    """How a class is priced."""

    kind: int
    smallest: int
    """Classes with fewer rows are suppressed."""
    rate: NDArray[np.float64]
    """All rates one after the other; those of attribute i at level l begin at start[i, l]."""
    start: NDArray[np.int64]
    pack_rate: NDArray[np.float64]
    """Scratch space: what each code of each pack costs at the node at hand."""
    penalty: float
    """What suppressing one row costs (kind SEPARABLE: less the parts of the published cost that do not vary)."""


@kernel
def _pack_rates(lattice: Lattice, prices: Prices, node: NDArray[np.int64]) -> None:
    """Make ready what each code of each pack costs at the node."""
    ancestors, rate, pack_rate = lattice.ancestors, prices.rate, prices.pack_rate
    pack_rate[:] = 0.0
    for p in range(lattice.size.size):
        table = pack_rate[p * CODES : p * CODES + lattice.size[p]]
        for a in range(lattice.first[p], lattice.first[p + 1]):
            i = lattice.member[a]
            row, first, digit = lattice.start[i, node[i]], prices.start[i, node[i]], lattice.digit[a]
            for code in range(table.size):
                table[code] += rate[first + ancestors[row + digit[code]]]


@kernel
def _upper_by_rates(
    size: NDArray[np.int64], packed: NDArray[np.uint64], pack_rate: NDArray[np.float64], smallest: int, penalty: float
) -> tuple[int, float]:
    """Rows in classes that are too small, and what suppressing them adds to their cost, wide attributes aside."""
    removed, upper = 0, 0.0
    for c in range(size.size):
        if size[c] < smallest:
            rates = 0.0
            for p in range(pack_rate.size // CODES):
                byte = (packed[p // 8, c] >> np.uint64(8 * (p % 8))) & np.uint64(CODES - 1)
                rates += pack_rate[p * CODES + np.int64(byte)]
            removed += size[c]
            upper += size[c] * (penalty - rates)
    return removed, upper


@kernel
def _wide_rates(
    size: NDArray[np.int64],
    column: NDArray[np.uint32],
    ancestors: NDArray[np.int32],
    rate: NDArray[np.float64],
    smallest: int,
) -> float:
    """What the rows of classes that are too small cost in one wide attribute if published."""
    total = 0.0
    for c in range(size.size):
        if size[c] < smallest:
            total += size[c] * rate[ancestors[column[c]]]
    return total


@kernel
def _separable_upper(
    lattice: Lattice, lists: ClassLists, prices: Prices, node: NDArray[np.int64], classes: int
) -> tuple[int, float]:
    """Rows in classes that are too small, and what suppressing them costs more than publishing them."""
    begin = lists.used[1]
    end = begin + classes
    size, rep, sums, smallest = (
        lists.size[begin:end],
        lists.rep[begin:end],
        lists.sums[begin:end],
        prices.smallest,
    )
    if prices.kind == SEPARABLE:
        _pack_rates(lattice, prices, node)
        packed = lists.packed[:, begin:end]
        removed, upper = _upper_by_rates(size, packed, prices.pack_rate, smallest, prices.penalty)
        for w in range(lattice.wide.size):
            i = lattice.wide[w]
            ancestors = lattice.ancestors[lattice.start[i, node[i]] :]
            rate = prices.rate[prices.start[i, node[i]] :]
            upper -= _wide_rates(size, lists.wide[w, begin:end], ancestors, rate, smallest)
        return removed, upper
    removed, upper, m = 0, 0.0, node.size
    for c in range(classes):
        if size[c] < smallest:
            removed += size[c]
            upper += sums[c, m]
            for i in range(m):
                block = lattice.ancestors[lattice.start[i, node[i]] + lattice.codes[rep[c], i]]
                upper -= prices.rate[prices.start[i, node[i]] + block] * sums[c, i]
    return removed, upper


@kernel
def _class_parts(lists: ClassLists, prices: Prices, classes: int) -> tuple[int, float, float]:
    """Rows in classes that are too small, and the two parts of the bound, for costs of whole classes."""
    begin, removed, lower, upper = lists.used[1], 0, 0.0, 0.0
    sizes, sums, smallest = lists.size, lists.sums, prices.smallest
    for c in range(begin, begin + classes):
        size = sizes[c]
        published = float(size) * max(size, smallest)
        if prices.kind == MINORITY:
            majority = sums[c, 0]
            for label in range(1, sums.shape[1]):
                majority = max(majority, sums[c, label])
            published = size - majority
        lower += published
        if size < smallest:
            removed += size
            upper += size * prices.penalty - published
    return removed, lower, upper


@kernel
def _price(
    lattice: Lattice, lists: ClassLists, prices: Prices, search: Search, node: NDArray[np.int64], classes: int
) -> None:
    """Price the classes just grouped and tell the search."""
    if prices.kind <= SEPARABLE_SUMS:
        removed, upper = _separable_upper(lattice, lists, prices, node, classes)
        lower = 0.0
        for i in range(node.size):
            lower += search.base[i, node[i]]
    else:
        removed, lower, upper = _class_parts(lists, prices, classes)
    cost = lower + upper if removed <= search.facts[LIMIT] else INFINITE
    tell(search, node, removed, lower, upper, cost)


@kernel
def run(
    lattice: Lattice,
    lists: ClassLists,
    ws: Workspace,
    prices: Prices,
    search: Search,
    node: NDArray[np.int64],
    room: int,
    work: int,
) -> int:
    """Search until done, until the arrays are full, or until about ``work`` class entries were looked at."""
    between = np.zeros_like(node)
    while work > 0:
        step = choose(search, node)
        if step != EVALUATE:
            return step
        source = source_of(lists, node)
        while step_between(lattice, lists, ws, source, node, between):
            work -= lists.count[source]
            classes = group(lattice, lists, ws, source, between)
            learn_reduction(lattice, lists, ws, source, between, classes)
            shorter = keep_list(lists, source, between, classes, room)
            if shorter < 0:
                break
            source = shorter
        work -= lists.count[source] + 2000
        classes = group(lattice, lists, ws, source, node)
        _price(lattice, lists, prices, search, node, classes)
        keep_list(lists, source, node, classes, room)
    return EVALUATE


@kernel
def add_rows(ids: NDArray[np.integer], source: NDArray[np.int64], target: NDArray[np.int64]) -> None:  # target OUT
    """Add each row of source to the row of target that its id names."""
    for j in range(source.shape[0]):
        for a in range(source.shape[1]):
            target[ids[j], a] += source[j, a]


@kernel
def min_rows(ids: NDArray[np.integer], source: NDArray[np.int32], target: NDArray[np.int32]) -> None:  # target OUT
    """Lower each row of target to the rows of source whose id names it."""
    for j in range(source.shape[0]):
        for a in range(source.shape[1]):
            target[ids[j], a] = min(target[ids[j], a], source[j, a])


@kernel
def max_rows(ids: NDArray[np.integer], source: NDArray[np.int32], target: NDArray[np.int32]) -> None:  # target OUT
    """Raise each row of target to the rows of source whose id names it."""
    for j in range(source.shape[0]):
        for a in range(source.shape[1]):
            target[ids[j], a] = max(target[ids[j], a], source[j, a])
