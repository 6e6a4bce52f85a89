"""What equivalence classes cost, published or suppressed, for the costs that have a compiled form.

Four forms cover them:

- ``SEPARABLE``: a class costs its rows times the sum over the attributes of the rate of its block (LM, precision, HDM,
  entropy). What does not vary with the node is left out here and added by the caller.
- ``SEPARABLE_SUMS``: the same, but each attribute's rate is multiplied with a sum kept with the class instead of with
  its rows; a last sum is added (costs that weigh rows or values differently).
- ``SQUARES``: the square of the class size (DM).
- ``MINORITY``: the rows that do not have the most frequent class label (CM).

The *extra* of a class is what suppressing it costs more than publishing it. Both the lattice search and the front
search need it: the one summed over all classes that are too small, the other for each class by size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.classes import CODES, PACKS, ClassPool, Lattice
from discreet.solve.kernels.jit import inner_kernel

__all__ = [
    "MINORITY",
    "SEPARABLE",
    "SEPARABLE_SUMS",
    "SQUARES",
    "ClassPrices",
    "SizeUnits",
    "class_extra",
    "majority",
    "minority_parts",
    "published_whole",
    "separable_extra",
    "square_parts",
    "tabulate_rates",
]

SEPARABLE, SEPARABLE_SUMS, SQUARES, MINORITY = 0, 1, 2, 3
"""Forms of cost; those up to SEPARABLE_SUMS add up over attributes."""


class SizeUnits(NamedTuple):
    """The units packed into the size of a class: its rows, or its rows and its people.

    If people are counted whose rows all have the same tuple, both add up. Then a size is rows + people · 2^shift, so
    that grouping adds up both at once; requirements read the people, and costs the rows.
    """

    people: int
    """``size >> people`` is what requirements are about; 0 if that is the rows."""
    rows: int
    """``size & rows`` are the rows."""
    limit: int
    """``(size >> limit) & limit_mask`` is what the limit on suppression counts."""
    limit_mask: int


class ClassPrices(NamedTuple):
    """How a class is priced."""

    form: int
    smallest: int
    """Classes with fewer rows, or people, are suppressed."""
    rate: NDArray[np.float64]
    """The rate of the block of each leaf, level by level, in the order of ``Lattice.ancestors``."""
    pack_rate: NDArray[np.float64]
    """Scratch space: (packs, CODES), flat: the rate of each code of each pack at the current node."""
    penalty: float
    """The cost of suppressing one row (SEPARABLE: less the parts of the published cost that do not vary)."""
    units: SizeUnits


@inner_kernel
def tabulate_rates(lattice: Lattice, prices: ClassPrices, node: NDArray[np.int64]) -> None:
    """Write the rate of each code of each pack at the node to ``prices.pack_rate``."""
    prices.pack_rate[:] = 0.0
    for p in range(lattice.pack.size):
        pack = lattice.pack[p]
        table = prices.pack_rate[p * CODES : p * CODES + pack.codes]
        for a in range(pack.first, pack.end):
            i = lattice.member[a]
            rate, digit = prices.rate[lattice.level[i, node[i]].start :], lattice.digit[a]
            for code in range(table.size):
                table[code] += rate[digit[code]]


@inner_kernel
def majority(labels: NDArray[np.float64]) -> float:
    """The rows of the most frequent label."""
    most = labels[0]
    for label in range(1, labels.size):
        most = max(most, labels[label])
    return most


@inner_kernel
def _pick_small(
    size: NDArray[np.int64], smallest: int, units: SizeUnits, small: NDArray[np.int32]
) -> tuple[int, int]:  # small OUT
    """List the classes that are too small; return their number and the sum of their sizes."""
    found, total, shift = 0, 0, units.people
    for c in range(size.size):
        # Written always and counted if it is small: a branch here would be mispredicted often.
        short = (size[c] >> shift) < smallest
        small[found] = c
        found += short
        total += size[c] * short
    return found, total


@inner_kernel
def _packed_rates(
    size: NDArray[np.int64],
    rows: int,
    small: NDArray[np.int32],
    words: NDArray[np.uint64],
    table: NDArray[np.float64],
    shift: int,
) -> float:
    """What publishing the small classes would cost in the four packs whose bytes begin at ``shift``."""
    # Four independent look-ups for each class, whose latencies overlap; one pack at a time waits for each.
    first, second, third, fourth = table[:CODES], table[CODES:], table[2 * CODES :], table[3 * CODES :]
    byte, total = np.uint64(CODES - 1), 0.0
    for s in range(small.size):
        c = small[s]
        word = words[c] >> np.uint64(shift)
        total += (size[c] & rows) * (
            first[word & byte]
            + second[(word >> np.uint64(8)) & byte]
            + third[(word >> np.uint64(16)) & byte]
            + fourth[(word >> np.uint64(24)) & byte]
        )
    return total


@inner_kernel
def _wide_rates(
    size: NDArray[np.int64], rows: int, small: NDArray[np.int32], codes: NDArray[np.uint32], rate: NDArray[np.float64]
) -> float:
    """What publishing the small classes would cost in one wide attribute."""
    total = 0.0
    for s in range(small.size):
        total += (size[small[s]] & rows) * rate[codes[small[s]]]
    return total


@inner_kernel
def separable_extra(
    pool: ClassPool, prices: ClassPrices, node: NDArray[np.int64], classes: int, limit: float
) -> tuple[int, float]:
    """What the limit counts of the classes just grouped that are too small, and the extra of suppressing them.

    The extra is not computed where more rows would go than the limit allows: such a node is no release, and rules out
    all nodes below it whatever they cost. The outer loop is over attributes, the inner one over classes, so
    that a table of rates stays in the cache.
    """
    lattice, lists = pool.lattice, pool.lists
    begin = lists.used.entries
    end = begin + classes
    size = lists.size[begin:end]
    units = prices.units
    found, total = _pick_small(size, prices.smallest, units, pool.scratch.small)
    removed = (total >> units.limit) & units.limit_mask
    if removed == 0 or removed > limit:
        return removed, 0.0
    small = pool.scratch.small[:found]
    extra = (total & units.rows) * prices.penalty
    if prices.form == SEPARABLE:
        tabulate_rates(lattice, prices, node)
        # Empty packs at the end have tables of zeros, so that four can always be added.
        for four in range(0, lattice.pack.size, PACKS):
            table, words = prices.pack_rate[four * CODES :], lists.packed[four // 8, begin:end]
            extra -= _packed_rates(size, units.rows, small, words, table, 8 * (four % 8))
        for w in range(lattice.wide.size):
            rate = prices.rate[lattice.level[lattice.wide[w], node[lattice.wide[w]]].start :]
            extra -= _wide_rates(size, units.rows, small, lists.wide[w, begin:end], rate)
        return removed, extra
    m = node.size
    for s in range(found):
        c = begin + small[s]
        extra += lists.sums[c, m]
        for i in range(m):
            extra -= prices.rate[lattice.level[i, node[i]].start + lattice.codes[i, lists.rep[c]]] * lists.sums[c, i]
    return removed, extra


@inner_kernel
def square_parts(size: NDArray[np.int64], prices: ClassPrices) -> tuple[int, float, float]:
    """What the limit counts of the classes that are too small, the least cost of publishing all, and the extra.

    For SQUARES. A class of s < k rows is charged s · k instead of s²: its rows can only be published in a class of k or
    more, and the more so if these must be of k people.
    """
    smallest, penalty, units = prices.smallest, prices.penalty, prices.units
    removed, lower, extra = 0, 0.0, 0.0
    for c in range(size.size):
        short = (size[c] >> units.people) < smallest
        rows = size[c] & units.rows
        published = float(rows) * max(rows, smallest)
        lower += published
        # A factor of 0 or 1 instead of a branch, which would be mispredicted often.
        removed += size[c] * short
        extra += (rows * penalty - published) * short
    return (removed >> units.limit) & units.limit_mask, lower, extra


@inner_kernel
def minority_parts(
    size: NDArray[np.int64], labels: NDArray[np.float64], prices: ClassPrices
) -> tuple[int, float, float]:
    """The same as :func:`square_parts` for MINORITY."""
    smallest, penalty, units = prices.smallest, prices.penalty, prices.units
    removed, lower, extra = 0, 0.0, 0.0
    for c in range(size.size):
        rows = size[c] & units.rows
        published = rows - majority(labels[c])
        lower += published
        if (size[c] >> units.people) < smallest:
            removed += size[c]
            extra += rows * penalty - published
    return (removed >> units.limit) & units.limit_mask, lower, extra


@inner_kernel
def _separable_cost(pool: ClassPool, prices: ClassPrices, node: NDArray[np.int64], c: int) -> float:
    """What publishing the class at entry c costs; call :func:`tabulate_rates` first if the form is SEPARABLE."""
    lattice, lists = pool.lattice, pool.lists
    total = 0.0
    if prices.form == SEPARABLE:
        for p in range(lattice.pack.size):
            word = lists.packed[p // 8, c] >> np.uint64(8 * (p % 8))
            total += prices.pack_rate[p * CODES + np.int64(word & np.uint64(CODES - 1))]
        for w in range(lattice.wide.size):
            i = lattice.wide[w]
            total += prices.rate[lattice.level[i, node[i]].start + np.int64(lists.wide[w, c])]
        return total * (lists.size[c] & prices.units.rows)
    m = node.size
    for i in range(m):
        total += prices.rate[lattice.level[i, node[i]].start + lattice.codes[i, lists.rep[c]]] * lists.sums[c, i]
    return total - lists.sums[c, m]


@inner_kernel
def class_extra(pool: ClassPool, prices: ClassPrices, node: NDArray[np.int64], c: int) -> float:
    """What suppressing the class at entry c of the pool costs more than publishing it."""
    size = pool.lists.size[c] & prices.units.rows
    extra = size * prices.penalty
    if prices.form <= SEPARABLE_SUMS:
        extra -= _separable_cost(pool, prices, node, c)
    elif prices.form == MINORITY:
        extra -= size - majority(pool.lists.sums[c])
    else:
        extra -= float(size) * size
    return extra


@inner_kernel
def published_whole(pool: ClassPool, prices: ClassPrices, begin: int, end: int) -> float:
    """What publishing all classes of some entries costs, for forms that do not add up over attributes."""
    lists, total = pool.lists, 0.0
    for c in range(begin, end):
        size = lists.size[c] & prices.units.rows
        if prices.form == MINORITY:
            total += size - majority(lists.sums[c])
        else:
            total += float(size) * size
    return total
