"""Covers of groups in local recoding, and what a row costs under them: ranges, nodes of trees, sets of values.

A cover is two whole numbers per attribute. For ranges and trees they are the least and the greatest leaf code: the
leaves of a tree are coded so that every node is a run of codes, hence the two outermost leaves determine the lowest
node above all of them. For sets the first number is a bit mask of the values, and the second is not used. The cover of
a union is found attribute by attribute, and a row costs the sum of the rates of its cover (the normalized certainty
penalty of the utility paper, section 3, or LM).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.solve.kernels.arrays import Floats, Ints, Nodes
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import Records, layout

__all__ = [
    "ATTRIBUTE_COVER",
    "BITS",
    "RANGE",
    "SET",
    "TABLE",
    "TREE",
    "AttributeCover",
    "Points",
    "RatedAttribute",
    "Rates",
    "count_bits",
    "extremes",
    "rate_of",
]

TABLE, RANGE, TREE, SET = 0, 1, 2, 3
"""Kinds of attributes: few leaves, all rates in a table; positions of numbers; a tree of many leaves; value sets."""
BITS = 64
"""Bits of a set. If there are more values, some share a bit, and the price of their sets is approximate."""


class RatedAttribute:
    """An attribute, and where its numbers begin in ``Rates.rate`` and its levels in ``Rates.node``."""

    kind: int
    start: int
    leaves: int
    node_start: int


class AttributeCover:
    """The cover of one attribute: the least and the greatest leaf; for sets ``low`` is the bit mask."""

    low: int
    high: int


ATTRIBUTE_COVER = layout(AttributeCover)


class Rates(NamedTuple):
    """Costs of a row under a cover, by attribute."""

    attribute: Records[RatedAttribute]
    """(m,)"""
    rate: Floats
    """The numbers of all attributes, one after the other.

    TABLE: leaves x leaves, by least and greatest leaf. RANGE: a position for each leaf, differences of which are rates
    (NaN for missing values), then the rate of a range that holds both known and missing values. TREE: levels x leaves,
    the rate of the node above each leaf. SET: by number of values, from 0 on."""
    node: Nodes
    """For each TREE levels x leaves: the node above each leaf."""


class Points(NamedTuple):
    """Weighted points to be grouped."""

    codes: Ints
    """(points, m) the leaf code of each point; for sets a mask with one bit."""
    weights: Ints
    """(points,) rows of each point."""
    rates: Rates
    penalty: float
    """What suppressing one row costs."""


@inner_kernel
def count_bits(mask: int) -> int:
    """The number of values in a set, by adding up neighbouring bits, then pairs, then nibbles."""
    x = np.uint64(mask)
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]


@inner_kernel
def rate_of(rates: Rates, i: int, low: int, high: int) -> float:
    """Return the cost of a row in attribute i under a cover; for sets, ``low`` is the mask.

    O(1), but for large trees, where it climbs to the lowest common node.
    """
    attribute, rate = rates.attribute[i], rates.rate
    kind, start, leaves = attribute.kind, attribute.start, attribute.leaves
    if kind == TABLE:
        return rate[start + low * leaves + high]
    if kind == SET:
        return rate[start + count_bits(low)]
    if low == high:
        return 0.0
    if kind == RANGE:
        found = rate[start + high] - rate[start + low]
        return found if found == found else rate[start + leaves]  # NaN: some values are missing
    above = attribute.node_start
    while rates.node[above + low] != rates.node[above + high]:
        above += leaves
        start += leaves
    return rate[start + low]


@kernel
def extremes(codes: Ints, members: Ints, first: Ints) -> tuple[Ints, Ints]:
    """The least and the greatest code of each group in each attribute; group g has the members from ``first[g]`` on."""
    m = codes.shape[1]
    low, high = np.empty((first.size, m), np.int64), np.empty((first.size, m), np.int64)
    for g in range(first.size):
        end = first[g + 1] if g + 1 < first.size else members.size
        low[g], high[g] = codes[members[first[g]]], codes[members[first[g]]]
        for p in range(first[g] + 1, end):
            for i in range(m):
                low[g, i], high[g, i] = min(low[g, i], codes[members[p], i]), max(high[g, i], codes[members[p], i])
    return low, high
