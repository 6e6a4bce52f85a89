"""Prediction of what an evaluation would tell: it orders the search and never decides what is pruned.

Two quantities are predicted by an online regression on the entropies of the attributes: how rare the rows are that are
suppressed at a node and everywhere below (see :func:`rarity`), and the logarithm of its lower part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.boxes import base_of, distance, encode, position
from discreet.kernels.state import (
    EVALUATED,
    INCUMBENT,
    INFINITE,
    LIMIT,
    LOW,
    LOWER,
    MARGIN,
    PER_ROW,
    REMOVED,
    ROWS,
    SEPARABLE,
    UP,
    WORST,
    Search,
)

__all__ = ["climb", "correct", "cutoff_of", "error_at", "from_corner", "learn", "predict", "rarity", "sink", "suggest"]

_REACH = 1.5
"""Over how many steps the error of the prediction at an evaluated node is carried to its neighbours."""
_MEMORY = 0.92
"""How much the regression still believes an observation after the next one."""
_FIRM = 0.01
"""What a row beyond the limit costs in predictions, as a share of the worst cost; less where the limit is large, for
then a row says less about whether the limit is broken."""
_MOST_DOUBT = 10.0
"""The variance of its weights, on average, beyond which it forgets nothing."""


@inner_kernel
def rarity(search: Search, removed: float) -> float:
    """The scale on which removed rows are predicted: minus the root of minus the logarithm of their share.

    Their share falls off like the tail of a normal distribution as attributes lose entropy, so that its logarithm
    bends and this does not.
    """
    return -np.sqrt(max(np.log(search.facts[ROWS] / (removed + 0.5)), 0.0))


@inner_kernel
def predict(search: Search, node: NDArray[np.int64], row: int) -> float:
    """What is expected of a node: row 0 the rarity of its removed rows, row 1 the logarithm of its lower part."""
    weights = search.model[node.size + 1 :]
    value = weights[row, node.size]
    for i in range(node.size):
        value += weights[row, i] * search.entropy[i, node[i]]
    return value


@kernel
def learn(search: Search, node: NDArray[np.int64], removed: float, lower: float) -> None:
    """One step of recursive least squares; no or all rows removed says only that the truth lies beyond."""
    d = node.size + 1
    x, gain = np.empty(d), np.zeros(d)
    for i in range(d - 1):
        x[i] = search.entropy[i, node[i]]
    x[d - 1] = 1.0
    scale = _MEMORY
    for a in range(d):
        for b in range(d):
            gain[a] += search.model[a, b] * x[b]
    for a in range(d):
        scale += x[a] * gain[a]
    error = rarity(search, removed) - predict(search, node, 0)
    if (removed == 0 and error > 0) or (removed >= search.facts[ROWS] and error < 0):
        error = 0.0
    error_lower = np.log(lower + 1.0) - predict(search, node, 1)
    doubt = 0.0
    for a in range(d):
        doubt += search.model[a, a] - gain[a] * gain[a] / scale
    keep = _MEMORY if doubt < _MOST_DOUBT * d else 1.0
    for a in range(d):
        for b in range(d):
            search.model[a, b] = (search.model[a, b] - gain[a] * gain[b] / scale) / keep
        search.model[d, a] += gain[a] / scale * error
        search.model[d + 1, a] += gain[a] / scale * error_lower


@inner_kernel
def _extra(search: Search, base: float) -> float:
    """Roughly what one suppressed row adds to the lower part of a node with this base cost."""
    if search.facts[SEPARABLE]:
        return (search.facts[WORST] - base) / search.facts[ROWS]
    return search.facts[PER_ROW]


@inner_kernel
def cutoff_of(search: Search, box: int, threshold: float, side: int) -> float:
    """What a prediction must reach for a node to rule out all between itself and a corner of the box.

    Side 0: the removed rows of a node above the low corner. Side 1: the lower part of a node below the high corner.
    """
    if side == 1:
        return np.log(max(threshold - search.number[box, UP], 1e-9))
    extra = max(_extra(search, search.number[box, LOW]), search.number[box, MARGIN])
    rows = (threshold - search.number[box, LOW]) / max(extra, 1e-9)
    return rarity(search, max(min(rows, search.facts[LIMIT]), 0.0) + 0.5)


@inner_kernel
def climb(search: Search, box: int, node: NDArray[np.int64], cutoff: float) -> float:
    """Raise a node, in the box and then beyond, while it is predicted to cut all below it; return the volume cut."""
    weights = search.model[node.size + 1 :]
    lo, hi = search.corner[box, 0], search.corner[box, 1]
    m = node.size
    rare = predict(search, node, 0) + search.best[1]
    for inside in (True, False):
        while True:
            pick, best, least = -1, -1.0, 0.0
            for i in range(m):
                level = node[i]
                if level >= (hi[i] if inside else search.levels[1, i]):
                    continue
                drop = weights[0, i] * (search.entropy[i, level] - search.entropy[i, level + 1])
                gain = 1.0 / ((level - lo[i] + 1.5) * (max(drop, 0.0) + 1e-3))
                if gain > best and rare - drop >= cutoff:
                    pick, best, least = i, gain, drop
            if pick < 0:
                break
            node[pick] += 1
            rare -= least
    volume = 1.0
    for i in range(m):
        volume *= min(node[i], hi[i]) - lo[i] + 1.0
    return volume


@inner_kernel
def sink(search: Search, box: int, node: NDArray[np.int64], cutoff: float) -> float:
    """Lower a node, in the box and then beyond, while it is predicted to cut all above it; return the volume cut."""
    weights = search.model[node.size + 1 :]
    lo, hi = search.corner[box, 0], search.corner[box, 1]
    m = node.size
    log_lower = predict(search, node, 1) + search.best[2]
    for inside in (True, False):
        while True:
            pick, best, least = -1, -1.0, 0.0
            for i in range(m):
                level = node[i]
                if level <= (lo[i] if inside else search.levels[0, i]):
                    continue
                drop = -weights[1, i] * (search.entropy[i, level - 1] - search.entropy[i, level])
                gain = 1.0 / ((hi[i] - level + 1.5) * (max(drop, 0.0) + 1e-3))
                if gain > best and log_lower - drop >= cutoff:
                    pick, best, least = i, gain, drop
            if pick < 0:
                break
            node[pick] -= 1
            log_lower -= least
    volume = 1.0
    for i in range(m):
        volume *= hi[i] - max(node[i], lo[i]) + 1.0
    return volume


@inner_kernel
def from_corner(search: Search, box: int, node: NDArray[np.int64], cutoff: float, side: int) -> float:
    """The furthest node from a corner of the box that is predicted to cut all up to that corner; 0 if none is."""
    for i in range(node.size):
        node[i] = search.corner[box, 0, i] if side == 0 else search.corner[box, 1, i]
    if predict(search, node, side) + search.best[1 + side] < cutoff:
        return 0.0
    return climb(search, box, node, cutoff) if side == 0 else sink(search, box, node, cutoff)


@inner_kernel
def error_at(search: Search, which: int, side: int) -> float:
    """How far the prediction is off at an evaluated node."""
    m = search.node.shape[1]
    weights = search.model[m + 1 :]
    value = rarity(search, search.part[which, REMOVED]) if side == 0 else np.log(search.part[which, LOWER] + 1.0)
    for i in range(m):
        value -= weights[side, i] * search.entropy[i, search.node[which, i]]
    return value - weights[side, m]


@inner_kernel
def correct(search: Search, node: NDArray[np.int64], side: int) -> None:
    """Carry the error of the prediction at the nearest evaluated node over to this one."""
    bits = search.bits
    row = encode(search, node, bits.shape[0] - 1)
    nearest, which = np.int64(1 << 30), np.int64(-1)
    for e in range(search.count[EVALUATED]):
        steps = distance(bits, row, e)
        if steps < nearest:
            nearest, which = steps, e
    if which >= 0:
        search.best[1 + side] = error_at(search, which, side) / (1.0 + nearest / _REACH)


@inner_kernel
def _guess(search: Search, rare: float, log_lower: float, base: float, enough: float) -> float:
    """The predicted cost of a node, with a penalty for breaking the limit; roughly, once it exceeds ``enough``."""
    if search.facts[SEPARABLE] and base >= enough:
        return base
    removed = search.facts[ROWS] * np.exp(-(min(rare, 0.0) ** 2))
    lower = base if search.facts[SEPARABLE] else np.exp(min(log_lower, 200.0))
    over = max(removed - 1.0 - search.facts[LIMIT], 0.0)
    firm = _FIRM * search.facts[WORST] / (1.0 + _FIRM * search.facts[LIMIT])
    return lower + max(removed - 0.5, 0.0) * _extra(search, base) + over * firm


@inner_kernel
def suggest(search: Search, node: NDArray[np.int64]) -> float:  # node OUT
    """The unevaluated node of least predicted cost on a descent from the incumbent by changes of one or two levels."""
    w = search.model[node.size + 1 :]
    x = search.vector[0]
    m = node.size
    for i in range(m):
        x[i] = search.vector[INCUMBENT, i]
    found, here = INFINITE, INFINITE
    for _ in range(4 * m):
        rare, log_lower, base = predict(search, x, 0), predict(search, x, 1), base_of(search, x)
        move_i, move_level, move_j, move_step = -1, 0, -1, 0
        for i in range(m):
            kept = x[i]
            for level in range(search.levels[0, i], search.levels[1, i] + 1):
                if level == kept:
                    continue
                change = search.entropy[i, level] - search.entropy[i, kept]
                rare_i, lower_i = rare + w[0, i] * change, log_lower + w[1, i] * change
                base_i = base + search.base[i, level] - search.base[i, kept]
                for j in range(-1, m):
                    if j == i:
                        continue
                    for step in (-1, 1):
                        if j < 0:
                            if step == -1:
                                continue
                            value = _guess(search, rare_i, lower_i, base_i, max(found, here))
                        else:
                            other = x[j] + step
                            if other < search.levels[0, j] or other > search.levels[1, j]:
                                continue
                            change = search.entropy[j, other] - search.entropy[j, x[j]]
                            base_j = base_i + search.base[j, other] - search.base[j, x[j]]
                            rare_j = rare_i + w[0, j] * change
                            value = _guess(search, rare_j, lower_i + w[1, j] * change, base_j, max(found, here))
                        if value < here:
                            here, move_i, move_level, move_j, move_step = value, i, level, j, step
                        if value < found:
                            x[i] = level
                            if j >= 0:
                                x[j] += step
                            if position(search, x) < 0:
                                found = value
                                for a in range(m):
                                    node[a] = x[a]
                            if j >= 0:
                                x[j] -= step
                            x[i] = kept
        if move_i < 0:
            break
        x[move_i] = move_level
        if move_j >= 0:
            x[move_j] += move_step
    return found
