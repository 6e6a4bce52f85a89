"""What covers cost, for loops that ask millions of times: plain arrays in the place of one tuple of arrays.

``shape`` holds for each attribute its kind, where its rates begin, its leaves and where its nodes begin; see
:class:`~discreet.kernels.covers.Points`. ``cover[b, i]`` holds for group b the least and the greatest leaf and also the
second least and the second greatest, so that the cover without one member is known at once; for sets the bits that
occur, nothing, and the bits that occur twice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel
from discreet.kernels.covers import RANGE, SET, TABLE, Points, count_bits

__all__ = [
    "joined",
    "left",
    "price_of_move",
    "price_of_swap",
    "rate_at",
    "shape_of",
    "swapped",
    "swapped_at_best",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Nodes = NDArray[np.int32]


def shape_of(points: Points) -> Ints:
    """Kind, start of rates, leaves and start of nodes of each attribute."""
    return np.stack((points.kind, points.start, points.leaves, points.node_start), axis=1)


@inner_kernel
def rate_at(shape: Ints, rate: Floats, node: Nodes, i: int, low: int, high: int) -> float:
    """What a row costs in attribute i under a cover; for sets, ``low`` has the bits."""
    kind, start, leaves, above = shape[i, 0], shape[i, 1], shape[i, 2], shape[i, 3]
    if kind == TABLE:
        return rate[start + low * leaves + high]
    if kind == SET:
        return rate[start + count_bits(low)]
    if low == high:
        return 0.0
    if kind == RANGE:
        found = rate[start + high] - rate[start + low]
        return found if found == found else rate[start + leaves]
    while node[above + low] != node[above + high]:
        above += leaves
        start += leaves
    return rate[start + low]


@inner_kernel
def joined(shape: Ints, rate: Floats, node: Nodes, codes: Ints, cover: Ints, b: int, j: int) -> float:
    """What a row of group b costs once point j has joined."""
    total = 0.0
    for i in range(shape.shape[0]):
        code = codes[j, i]
        low, high = min(cover[b, i, 0], code), max(cover[b, i, 1], code)
        if shape[i, 0] == SET:
            low = cover[b, i, 0] | code
        total += rate_at(shape, rate, node, i, low, high)
    return total


@inner_kernel
def left(shape: Ints, rate: Floats, node: Nodes, codes: Ints, cover: Ints, b: int, j: int) -> float:
    """What a row of group b costs once its member point j has left; there must be others."""
    total = 0.0
    for i in range(shape.shape[0]):
        code = codes[j, i]
        low = cover[b, i, 2] if code == cover[b, i, 0] else cover[b, i, 0]
        high = cover[b, i, 3] if code == cover[b, i, 1] else cover[b, i, 1]
        if shape[i, 0] == SET:
            low = cover[b, i, 2] | (cover[b, i, 0] & ~code)
        total += rate_at(shape, rate, node, i, low, high)
    return total


@inner_kernel
def swapped(shape: Ints, rate: Floats, node: Nodes, codes: Ints, cover: Ints, b: int, j: int, q: int) -> float:
    """What a row of group b costs once its member point j has left and point q has joined."""
    total = 0.0
    for i in range(shape.shape[0]):
        code, other = codes[j, i], codes[q, i]
        low = min(other, cover[b, i, 2] if code == cover[b, i, 0] else cover[b, i, 0])
        high = max(other, cover[b, i, 3] if code == cover[b, i, 1] else cover[b, i, 1])
        if shape[i, 0] == SET:
            low = cover[b, i, 2] | (cover[b, i, 0] & ~code) | other
        total += rate_at(shape, rate, node, i, low, high)
    return total


@inner_kernel
def swapped_at_best(shape: Ints, rate: Floats, node: Nodes, codes: Ints, cover: Ints, b: int, j: int) -> float:
    """What a row of group b costs at least once some member has left and point j has joined."""
    total = 0.0
    for i in range(shape.shape[0]):
        code = codes[j, i]
        low, high = min(cover[b, i, 2], code), max(cover[b, i, 3], code)
        if shape[i, 0] == SET:
            low = cover[b, i, 2] | code
        total += rate_at(shape, rate, node, i, low, high)
    return total


@inner_kernel
def price_of_move(
    shape: Ints,
    rate: Floats,
    node: Nodes,
    codes: Ints,
    cover: Ints,
    a: int,
    b: int,
    j: int,
    rows_a: int,
    rows_b: int,
    limit: float,
) -> float:
    """What groups a and b of so many rows cost once point j has left a for b; from the limit on no more is added up."""
    total = 0.0
    for i in range(shape.shape[0]):
        code, is_set = codes[j, i], shape[i, 0] == SET
        low = cover[a, i, 2] if code == cover[a, i, 0] else cover[a, i, 0]
        high = cover[a, i, 3] if code == cover[a, i, 1] else cover[a, i, 1]
        if is_set:
            low = cover[a, i, 2] | (cover[a, i, 0] & ~code)
        total += rows_a * rate_at(shape, rate, node, i, low, high)
        low, high = min(cover[b, i, 0], code), max(cover[b, i, 1], code)
        if is_set:
            low = cover[b, i, 0] | code
        total += rows_b * rate_at(shape, rate, node, i, low, high)
        if total >= limit:
            break
    return total


@inner_kernel
def price_of_swap(
    shape: Ints,
    rate: Floats,
    node: Nodes,
    codes: Ints,
    cover: Ints,
    a: int,
    b: int,
    j: int,
    q: int,
    rows_a: int,
    rows_b: int,
    limit: float,
) -> float:
    """What groups a and b of so many rows cost once point j of a and point q of b have changed places.

    From the limit on no more is added up.
    """
    total = 0.0
    for i in range(shape.shape[0]):
        code, other, is_set = codes[j, i], codes[q, i], shape[i, 0] == SET
        low = min(other, cover[a, i, 2] if code == cover[a, i, 0] else cover[a, i, 0])
        high = max(other, cover[a, i, 3] if code == cover[a, i, 1] else cover[a, i, 1])
        if is_set:
            low = cover[a, i, 2] | (cover[a, i, 0] & ~code) | other
        total += rows_a * rate_at(shape, rate, node, i, low, high)
        low = min(code, cover[b, i, 2] if other == cover[b, i, 0] else cover[b, i, 0])
        high = max(code, cover[b, i, 3] if other == cover[b, i, 1] else cover[b, i, 1])
        if is_set:
            low = cover[b, i, 2] | (cover[b, i, 0] & ~other) | code
        total += rows_b * rate_at(shape, rate, node, i, low, high)
        if total >= limit:
            break
    return total
