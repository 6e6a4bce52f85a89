"""What covers cost, for loops that ask millions of times: plain arrays in the place of one tuple of arrays.

``shape`` holds for each attribute its kind, where its rates begin, its leaves and where its nodes begin; see
:class:`~discreet.kernels.covers.Points`. ``cover[b, i]`` holds for group b the least and the greatest leaf and also the
second least and the second greatest, so that the cover without one member is known at once; for sets the bits that
occur, nothing, and the bits that occur twice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.covers import RANGE, SET, TABLE, Points, bits_of

__all__ = ["joined", "left", "pair_rate", "rate_at", "shape_of", "swapped"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Nodes = NDArray[np.int32]


def shape_of(points: Points) -> Ints:
    """Kind, start of rates, leaves and start of nodes of each attribute."""
    return np.stack((points.kind, points.start, points.leaves, points.node_start), axis=1)


@kernel
def rate_at(shape: Ints, rate: Floats, node: Nodes, i: int, low: int, high: int) -> float:
    """What a row costs in attribute i under a cover; for sets, ``low`` has the bits."""
    kind, start, leaves = shape[i, 0], shape[i, 1], shape[i, 2]
    if kind == TABLE:
        return rate[start + low * leaves + high]
    if kind == SET:
        return rate[start + bits_of(low)]
    if low == high:
        return 0.0
    if kind == RANGE:
        found = rate[start + high] - rate[start + low]
        return found if found == found else rate[start + leaves]
    above = shape[i, 3]
    while node[above + low] != node[above + high]:
        above += leaves
        start += leaves
    return rate[start + low]


@kernel
def pair_rate(shape: Ints, rate: Floats, node: Nodes, codes: Ints, j: int, q: int, most: float) -> float:
    """What a row costs if two points are a group; where that is more than ``most``, anything above it."""
    total = 0.0
    for i in range(shape.shape[0]):
        a, b = codes[j, i], codes[q, i]
        if a != b:
            if shape[i, 0] == SET:
                total += rate_at(shape, rate, node, i, a | b, 0)
            else:
                total += rate_at(shape, rate, node, i, min(a, b), max(a, b))
            if total > most:
                break
    return total


@kernel
def joined(shape: Ints, rate: Floats, node: Nodes, codes: Ints, cover: Ints, b: int, j: int) -> float:
    """What a row of group b costs once point j has joined."""
    total = 0.0
    for i in range(shape.shape[0]):
        code, low = codes[j, i], cover[b, i, 0]
        if shape[i, 0] == SET:
            total += rate_at(shape, rate, node, i, low | code, 0)
        else:
            total += rate_at(shape, rate, node, i, min(low, code), max(cover[b, i, 1], code))
    return total


@kernel
def left(shape: Ints, rate: Floats, node: Nodes, codes: Ints, cover: Ints, b: int, j: int) -> float:
    """What a row of group b costs once its member point j has left; there must be others."""
    total = 0.0
    for i in range(shape.shape[0]):
        code, low, high = codes[j, i], cover[b, i, 0], cover[b, i, 1]
        if shape[i, 0] == SET:
            total += rate_at(shape, rate, node, i, cover[b, i, 2] | (low & ~code), 0)
        else:
            low = cover[b, i, 2] if code == low else low
            high = cover[b, i, 3] if code == high else high
            total += rate_at(shape, rate, node, i, low, high)
    return total


@kernel
def swapped(shape: Ints, rate: Floats, node: Nodes, codes: Ints, cover: Ints, b: int, j: int, q: int) -> float:
    """What a row of group b costs once its member point j has left and point q has joined."""
    total = 0.0
    for i in range(shape.shape[0]):
        code, other, low, high = codes[j, i], codes[q, i], cover[b, i, 0], cover[b, i, 1]
        if shape[i, 0] == SET:
            total += rate_at(shape, rate, node, i, cover[b, i, 2] | (low & ~code) | other, 0)
        else:
            low = cover[b, i, 2] if code == low else low
            high = cover[b, i, 3] if code == high else high
            total += rate_at(shape, rate, node, i, min(low, other), max(high, other))
    return total
