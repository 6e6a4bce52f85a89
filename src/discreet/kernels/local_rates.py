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
def _with(is_set: bool, low: int, high: int, code: int) -> tuple[int, int]:
    """A cover of one attribute once a value has joined."""
    if is_set:
        return low | code, high
    return min(low, code), max(high, code)


@inner_kernel
def _without(is_set: bool, cover: Ints, b: int, i: int, code: int) -> tuple[int, int]:
    """The cover of group b in attribute i once a member with that value has left."""
    low, high, low_left, high_left = cover[b, i, 0], cover[b, i, 1], cover[b, i, 2], cover[b, i, 3]
    if is_set:
        return low_left | (low & ~code), high
    return (low_left if code == low else low), (high_left if code == high else high)


@inner_kernel
def joined(shape: Ints, rate: Floats, node: Nodes, codes: Ints, cover: Ints, b: int, j: int) -> float:
    """What a row of group b costs once point j has joined."""
    total = 0.0
    for i in range(shape.shape[0]):
        low, high = _with(shape[i, 0] == SET, cover[b, i, 0], cover[b, i, 1], codes[j, i])
        total += rate_at(shape, rate, node, i, low, high)
    return total


@inner_kernel
def left(shape: Ints, rate: Floats, node: Nodes, codes: Ints, cover: Ints, b: int, j: int) -> float:
    """What a row of group b costs once its member point j has left; there must be others."""
    total = 0.0
    for i in range(shape.shape[0]):
        low, high = _without(shape[i, 0] == SET, cover, b, i, codes[j, i])
        total += rate_at(shape, rate, node, i, low, high)
    return total


@inner_kernel
def swapped(shape: Ints, rate: Floats, node: Nodes, codes: Ints, cover: Ints, b: int, j: int, q: int) -> float:
    """What a row of group b costs once its member point j has left and point q has joined."""
    total = 0.0
    for i in range(shape.shape[0]):
        is_set = shape[i, 0] == SET
        low, high = _without(is_set, cover, b, i, codes[j, i])
        low, high = _with(is_set, low, high, codes[q, i])
        total += rate_at(shape, rate, node, i, low, high)
    return total


@inner_kernel
def swapped_at_best(shape: Ints, rate: Floats, node: Nodes, codes: Ints, cover: Ints, b: int, j: int) -> float:
    """What a row of group b costs at least once some member has left and point j has joined."""
    total = 0.0
    for i in range(shape.shape[0]):
        low, high = _with(shape[i, 0] == SET, cover[b, i, 2], cover[b, i, 3], codes[j, i])
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
        low, high = _without(is_set, cover, a, i, code)
        total += rows_a * rate_at(shape, rate, node, i, low, high)
        low, high = _with(is_set, cover[b, i, 0], cover[b, i, 1], code)
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
        low, high = _without(is_set, cover, a, i, code)
        low, high = _with(is_set, low, high, other)
        total += rows_a * rate_at(shape, rate, node, i, low, high)
        low, high = _without(is_set, cover, b, i, other)
        low, high = _with(is_set, low, high, code)
        total += rows_b * rate_at(shape, rate, node, i, low, high)
        if total >= limit:
            break
    return total
