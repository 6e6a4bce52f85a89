"""The compiled search for minimum class sizes: choose a node, group it, price it, tell, and so on in one kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.classes import (
    CODES,
    PACKS,
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
    "pack_rates",
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
    """The rate of the block of each leaf, level by level, in the order of Lattice.ancestors."""
    pack_rate: NDArray[np.float64]
    """Scratch space: (packs, CODES), flat: what each code of each pack costs at the node at hand."""
    penalty: float
    """What suppressing one row costs (kind SEPARABLE: less the parts of the published cost that do not vary)."""


@kernel
def pack_rates(lattice: Lattice, prices: Prices, node: NDArray[np.int64]) -> None:
    """Make ready what each code of each pack costs at the node."""
    prices.pack_rate[:] = 0.0
    for p in range(lattice.size.size):
        table = prices.pack_rate[p * CODES : p * CODES + lattice.size[p]]
        for a in range(lattice.first[p], lattice.first[p + 1]):
            i = lattice.member[a]
            rate, digit = prices.rate[lattice.start[i, node[i]] :], lattice.digit[a]
            for code in range(table.size):
                table[code] += rate[digit[code]]


@kernel
def _pick_small(size: NDArray[np.int64], smallest: int, small: NDArray[np.int32]) -> tuple[int, int]:  # small OUT
    """List the classes that are too small; return their number and their rows."""
    found, rows = 0, 0
    for c in range(size.size):
        short = size[c] < smallest
        small[found] = c
        found += short
        rows += size[c] * short
    return found, rows


@kernel
def _packed_rates(
    size: NDArray[np.int64], small: NDArray[np.int32], words: NDArray[np.uint64], table: NDArray[np.float64], shift: int
) -> float:
    """What publishing the small classes would cost in the four packs whose bytes begin at ``shift``."""
    first, second, third, fourth = table[:CODES], table[CODES:], table[2 * CODES :], table[3 * CODES :]
    byte, total = np.uint64(CODES - 1), 0.0
    for s in range(small.size):
        c = small[s]
        word = words[c] >> np.uint64(shift)
        total += size[c] * (
            first[word & byte]
            + second[(word >> np.uint64(8)) & byte]
            + third[(word >> np.uint64(16)) & byte]
            + fourth[(word >> np.uint64(24)) & byte]
        )
    return total


@kernel
def _wide_rates(
    size: NDArray[np.int64], small: NDArray[np.int32], codes: NDArray[np.uint32], rate: NDArray[np.float64]
) -> float:
    """What publishing the small classes would cost in one wide attribute."""
    total = 0.0
    for s in range(small.size):
        total += size[small[s]] * rate[codes[small[s]]]
    return total


@kernel
def _separable_upper(
    lattice: Lattice,
    lists: ClassLists,
    ws: Workspace,
    prices: Prices,
    node: NDArray[np.int64],
    classes: int,
    limit: float,
) -> tuple[int, float]:
    """Rows in classes that are too small, and what suppressing them costs more than publishing them.

    Where there are more of them than the limit allows nobody asks for the latter.
    """
    begin = lists.used[1]
    end = begin + classes
    size = lists.size[begin:end]
    found, removed = _pick_small(size, prices.smallest, ws.small)
    if removed == 0 or removed > limit:
        return removed, 0.0
    small = ws.small[:found]
    upper = removed * prices.penalty
    if prices.kind == SEPARABLE:
        pack_rates(lattice, prices, node)
        for four in range(0, lattice.size.size, PACKS):
            table, words = prices.pack_rate[four * CODES :], lists.packed[four // 8, begin:end]
            upper -= _packed_rates(size, small, words, table, 8 * (four % 8))
        for w in range(lattice.wide.size):
            rate = prices.rate[lattice.start[lattice.wide[w], node[lattice.wide[w]]] :]
            upper -= _wide_rates(size, small, lists.wide[w, begin:end], rate)
        return removed, upper
    m = node.size
    for s in range(found):
        c = begin + small[s]
        upper += lists.sums[c, m]
        for i in range(m):
            upper -= prices.rate[lattice.start[i, node[i]] + lattice.codes[i, lists.rep[c]]] * lists.sums[c, i]
    return removed, upper


@kernel
def _square_parts(size: NDArray[np.int64], smallest: int, penalty: float) -> tuple[int, float, float]:
    """Rows in classes that are too small, and the two parts of the bound, for squares of class sizes."""
    removed, lower, upper = 0, 0.0, 0.0
    for c in range(size.size):
        short = size[c] < smallest
        published = float(size[c]) * max(size[c], smallest)
        lower += published
        removed += size[c] * short
        upper += (size[c] * penalty - published) * short
    return removed, lower, upper


@kernel
def _minority_parts(
    size: NDArray[np.int64], labels: NDArray[np.float64], smallest: int, penalty: float
) -> tuple[int, float, float]:
    """Rows in classes that are too small, and the two parts of the bound, for rows off the majority label."""
    removed, lower, upper = 0, 0.0, 0.0
    for c in range(size.size):
        majority = labels[c, 0]
        for label in range(1, labels.shape[1]):
            majority = max(majority, labels[c, label])
        published = size[c] - majority
        lower += published
        if size[c] < smallest:
            removed += size[c]
            upper += size[c] * penalty - published
    return removed, lower, upper


@kernel
def _price(
    lattice: Lattice,
    lists: ClassLists,
    ws: Workspace,
    prices: Prices,
    search: Search,
    node: NDArray[np.int64],
    classes: int,
) -> None:
    """Price the classes just grouped and tell the search."""
    limit, begin = search.facts[LIMIT], lists.used[1]
    size = lists.size[begin : begin + classes]
    if prices.kind <= SEPARABLE_SUMS:
        removed, upper = _separable_upper(lattice, lists, ws, prices, node, classes, limit)
        lower = 0.0
        for i in range(node.size):
            lower += search.base[i, node[i]]
    elif prices.kind == MINORITY:
        removed, lower, upper = _minority_parts(size, lists.sums[begin:], prices.smallest, prices.penalty)
    else:
        removed, lower, upper = _square_parts(size, prices.smallest, prices.penalty)
    cost = lower + upper if removed <= limit else INFINITE
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
        _price(lattice, lists, ws, prices, search, node, classes)
        keep_list(lists, source, node, classes, room)
        learn_levels(ws, node)
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
