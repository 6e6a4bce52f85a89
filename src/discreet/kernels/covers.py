"""What covers a group of points in local recoding, and what it costs: ranges, nodes of trees, sets of values.

A cover is two whole numbers per attribute. For ranges and trees they are the least and the greatest leaf: the leaves
of a tree are coded so that each node is a run, so that the first and the last leaf tell the lowest node above all. For
sets the first number has a bit for each value, and the second is not used. Covers of two groups are put together
attribute by attribute, and the cost of a group's row is the sum of its covers' rates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel

__all__ = [
    "BITS",
    "RANGE",
    "SET",
    "TABLE",
    "TREE",
    "Points",
    "bounds_of",
    "count_bits",
    "joined_rate",
    "point_rate",
    "rate_of",
]

TABLE, RANGE, TREE, SET = 0, 1, 2, 3
"""Kinds of attributes: few leaves, all rates in a table; positions of numbers; a tree of many leaves; value sets."""
BITS = 64
"""The bits of a set. More values than this share bits, and their sets are priced roughly."""


class Points(NamedTuple):
    """Weighted points to be grouped, and the rates of what may cover them."""

    codes: NDArray[np.int64]
    """(points, m) what each point starts a cover with: a leaf, or for sets one bit."""
    weights: NDArray[np.int64]
    """(points,) rows of each point."""
    kind: NDArray[np.int64]
    """(m,)"""
    leaves: NDArray[np.int64]
    """(m,)"""
    start: NDArray[np.int64]
    """(m,) where the numbers of each attribute begin in ``rate``.

    TABLE: leaves x leaves, by least and greatest leaf. RANGE: a position for each leaf, differences of which are rates
    (not a number for missing values), and the rate of known and missing values together. TREE: levels x leaves, the
    rate of the node above each leaf. SET: by number of bits, from 0 on."""
    rate: NDArray[np.float64]
    node_start: NDArray[np.int64]
    """(m,) where the levels x leaves nodes of a TREE begin in ``node``."""
    node: NDArray[np.int32]
    penalty: float
    """What suppressing one row costs."""


@inner_kernel
def count_bits(mask: int) -> int:
    """The number of values in a set."""
    x = np.uint64(mask)
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]


@inner_kernel
def rate_of(points: Points, i: int, low: int, high: int) -> float:
    """What a row costs in attribute i under a cover."""
    kind, start = points.kind[i], points.start[i]
    if kind == TABLE:
        return points.rate[start + low * points.leaves[i] + high]
    if kind == SET:
        return points.rate[start + count_bits(low)]
    if low == high:
        return 0.0
    if kind == RANGE:
        rate = points.rate[start + high] - points.rate[start + low]
        return rate if rate == rate else points.rate[start + points.leaves[i]]
    leaves, node = points.leaves[i], points.node_start[i]
    while points.node[node + low] != points.node[node + high]:
        node += leaves
        start += leaves
    return points.rate[start + low]


@inner_kernel
def joined_rate(points: Points, first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """What a row costs under the cover of two covers together."""
    total = 0.0
    for i in range(points.kind.size):
        if points.kind[i] == SET:
            total += rate_of(points, i, first[i, 0] | second[i, 0], 0)
        else:
            low, high = min(first[i, 0], second[i, 0]), max(first[i, 1], second[i, 1])
            total += rate_of(points, i, low, high)
    return total


@inner_kernel
def point_rate(points: Points, cover: NDArray[np.int64], j: int) -> float:
    """What a row costs under a cover once point j has joined."""
    total = 0.0
    for i in range(points.kind.size):
        code = points.codes[j, i]
        if points.kind[i] == SET:
            total += rate_of(points, i, cover[i, 0] | code, 0)
        else:
            total += rate_of(points, i, min(cover[i, 0], code), max(cover[i, 1], code))
    return total


@kernel
def bounds_of(
    codes: NDArray[np.int64], members: NDArray[np.int64], first: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
