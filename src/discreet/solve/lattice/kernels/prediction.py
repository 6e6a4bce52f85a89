"""Prediction of what an evaluation would give: it orders the search and never decides what is pruned.

Two quantities are predicted by an online regression on the entropies of the attributes: how rare the rows are that are
suppressed at a node and everywhere below (see :func:`rarity`; direction UP), and the logarithm of its lower part
(direction DOWN).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.lattice.kernels.boxes import base_of, distance, encode_probe, index_of
from discreet.solve.lattice.kernels.state import DOWN, INFINITE, UP, LatticeSearch

__all__ = [
    "correct",
    "cutoff_of",
    "error_at",
    "furthest_from_corner",
    "learn",
    "predict",
    "rarity",
    "suggest",
]

_REACH = 1.5
"""Over how many steps the error of the prediction at an evaluated node is carried to its neighbours."""
_MEMORY = 0.92
"""Forgetting factor of the regression: the weight of an observation relative to the next one."""
_FIRM = 0.01
"""What a row beyond the limit costs in predictions, as a share of the worst cost; less where the limit is large, for
then a row says less about whether the limit is broken."""
_MOST_DOUBT = 10.0
"""The mean variance of the weights beyond which nothing is forgotten: observations that are all alike would otherwise
let the variance in the other directions grow without bound."""


@inner_kernel
def rarity(search: LatticeSearch, removed: float) -> float:
    """The scale on which removed rows are predicted: -sqrt(-log(removed / rows)).

    The share of removed rows falls off like the tail of a normal distribution, exp(-x²), as attributes lose entropy.
    Its logarithm bends, and this is nearly linear.
    """
    return -np.sqrt(max(np.log(search.facts.rows / (removed + 0.5)), 0.0))


@inner_kernel
def predict(search: LatticeSearch, node: NDArray[np.int64], direction: int) -> float:
    """What is expected of a node: UP the rarity of its removed rows, DOWN the logarithm of its lower part."""
    weights = search.weights
    value = weights[direction, node.size]
    for i in range(node.size):
        value += weights[direction, i] * search.level[i, node[i]].entropy
    return value


@inner_kernel
def learn(search: LatticeSearch, node: NDArray[np.int64], removed: float, lower: float) -> None:
    """One step of recursive least squares with forgetting, O(m²), for both predictions at once.

    Where no row or every row is removed the true rarity lies beyond the end of the scale, so that an error in that
    direction is none.
    """
    d = node.size + 1
    covariance, weights, each = search.covariance, search.weights, search.regressor
    for i in range(d - 1):
        each[i].x = search.level[i, node[i]].entropy
    each[d - 1].x = 1.0
    # gain = C x, scale = λ + x'C x, then C ← (C - gain gain' / scale) / λ and w ← w + gain · error / scale.
    scale = _MEMORY
    for a in range(d):
        each[a].gain = 0.0
        for b in range(d):
            each[a].gain += covariance[a, b] * each[b].x
    for a in range(d):
        scale += each[a].x * each[a].gain
    error = rarity(search, removed) - predict(search, node, UP)
    if (removed == 0 and error > 0) or (removed >= search.facts.rows and error < 0):
        error = 0.0
    error_lower = np.log(lower + 1.0) - predict(search, node, DOWN)
    # The trace of the covariance after this step; see _MOST_DOUBT.
    doubt = 0.0
    for a in range(d):
        doubt += covariance[a, a] - each[a].gain * each[a].gain / scale
    keep = _MEMORY if doubt < _MOST_DOUBT * d else 1.0
    for a in range(d):
        for b in range(d):
            covariance[a, b] = (covariance[a, b] - each[a].gain * each[b].gain / scale) / keep
        weights[UP, a] += each[a].gain / scale * error
        weights[DOWN, a] += each[a].gain / scale * error_lower


@inner_kernel
def _extra_per_row(search: LatticeSearch, base: float) -> float:
    """Roughly what one suppressed row adds to the lower part of a node with this base cost."""
    facts = search.facts
    if facts.separable:
        return (facts.worst - base) / facts.rows
    return facts.per_row


@inner_kernel
def cutoff_of(search: LatticeSearch, box: int, threshold: float, direction: int) -> float:
    """What the prediction of a node must reach for it to rule out all between itself and a corner of the box.

    UP: the rarity of the rows removed at a node above the low corner. DOWN: the logarithm of the lower part of a node
    below the high corner.
    """
    it = search.box[box]
    if direction == DOWN:
        return np.log(max(threshold - it.up, 1e-9))
    # How many rows must be removed so that their extra cost lifts the lower part of the box to the threshold.
    extra = max(_extra_per_row(search, it.low), it.margin)
    rows = (threshold - it.low) / max(extra, 1e-9)
    return rarity(search, max(min(rows, search.facts.limit), 0.0) + 0.5)


@inner_kernel
def _advance(
    search: LatticeSearch, box: int, node: NDArray[np.int64], cutoff: float, direction: int
) -> float:  # node OUT
    """Raise (UP) or lower (DOWN) a node, in the box and then beyond, while it is predicted to cut all it has passed.

    Greedy: the step that enlarges the volume most for what it takes from the prediction comes first. Return the volume
    of the box that would be cut.
    """
    level, limits, weights = search.level, search.limits, search.weights
    low, high = search.corner[box, 0], search.corner[box, 1]
    step = 1 if direction == UP else -1
    predicted = predict(search, node, direction) + search.correction[direction]
    # Volume counts only in the box; beyond it, a node that still cuts is taken because it also cuts other boxes.
    for within in (True, False):
        while True:
            pick, best, least = -1, -1.0, 0.0
            for i in range(node.size):
                here = node[i]
                if direction == UP:
                    end = high[i] if within else limits[i].highest
                    passed = here - low[i]
                else:
                    end = low[i] if within else limits[i].lowest
                    passed = high[i] - here
                if step * (end - here) <= 0:
                    continue
                drop = weights[direction, i] * (level[i, here].entropy - level[i, here + step].entropy)
                # Passing one more level multiplies the volume by about 1 + 1 / (passed + 1.5).
                gain = 1.0 / ((passed + 1.5) * (max(drop, 0.0) + 1e-3))
                if gain > best and predicted - drop >= cutoff:
                    pick, best, least = i, gain, drop
            if pick < 0:
                break
            node[pick] += step
            predicted -= least
    volume = 1.0
    for i in range(node.size):
        if direction == UP:
            volume *= min(node[i], high[i]) - low[i] + 1.0
        else:
            volume *= high[i] - max(node[i], low[i]) + 1.0
    return volume


@inner_kernel
def furthest_from_corner(
    search: LatticeSearch, box: int, node: NDArray[np.int64], cutoff: float, direction: int
) -> float:  # node OUT
    """The furthest node from a corner of the box that is predicted to cut all up to that corner; 0 if none is."""
    for i in range(node.size):
        node[i] = search.corner[box, 0, i] if direction == UP else search.corner[box, 1, i]
    if predict(search, node, direction) + search.correction[direction] < cutoff:
        return 0.0
    return _advance(search, box, node, cutoff, direction)


@inner_kernel
def error_at(search: LatticeSearch, which: int, direction: int) -> float:
    """How far the prediction is off at an evaluated node."""
    m = search.node.shape[1]
    weights, result = search.weights, search.result[which]
    value = rarity(search, result.removed) if direction == UP else np.log(result.lower + 1.0)
    for i in range(m):
        value -= weights[direction, i] * search.level[i, search.node[which, i]].entropy
    return value - weights[direction, m]


@inner_kernel
def correct(search: LatticeSearch, node: NDArray[np.int64], direction: int) -> None:
    """Carry the error of the prediction at the nearest evaluated node over to this one, the less the further away."""
    row = encode_probe(search, node)
    nearest, which = np.int64(1 << 30), np.int64(-1)
    for e in range(search.state.evaluated):
        steps = distance(search.steps, row, e)
        if steps < nearest:
            nearest, which = steps, e
    if which >= 0:
        search.correction[direction] = error_at(search, which, direction) / (1.0 + nearest / _REACH)


@inner_kernel
def _predicted_cost(search: LatticeSearch, rare: float, log_lower: float, base: float, enough: float) -> float:
    """The predicted cost of a node, with a penalty for breaking the limit; roughly, once it exceeds ``enough``."""
    facts = search.facts
    if facts.separable and base >= enough:
        return base
    removed = facts.rows * np.exp(-(min(rare, 0.0) ** 2))  # the inverse of rarity
    lower = base if facts.separable else np.exp(min(log_lower, 200.0))
    over = max(removed - 1.0 - facts.limit, 0.0)
    firm = _FIRM * facts.worst / (1.0 + _FIRM * facts.limit)
    return lower + max(removed - 0.5, 0.0) * _extra_per_row(search, base) + over * firm


@inner_kernel
def suggest(search: LatticeSearch, node: NDArray[np.int64]) -> float:  # node OUT
    """The unevaluated node of least predicted cost on a descent from the incumbent; return that cost.

    A step changes one attribute to any level and, at most, a second one by a single level. Predictions are linear in
    the entropies, so that a neighbour is priced in O(1) from the current node.
    """
    level, limits, weights, current = search.level, search.limits, search.weights, search.trial
    m = node.size
    for i in range(m):
        current[i] = search.incumbent[i]
    found, here = INFINITE, INFINITE
    for _ in range(4 * m):
        rare, log_lower = predict(search, current, UP), predict(search, current, DOWN)
        base = base_of(search, current)
        move_i, move_level, move_j, move_step = -1, 0, -1, 0
        for i in range(m):
            kept = current[i]
            for new in range(limits[i].lowest, limits[i].highest + 1):
                if new == kept:
                    continue
                change = level[i, new].entropy - level[i, kept].entropy
                rare_i, lower_i = rare + weights[UP, i] * change, log_lower + weights[DOWN, i] * change
                base_i = base + level[i, new].published - level[i, kept].published
                for j in range(-1, m):  # -1 is no second change
                    if j == i:
                        continue
                    for step in (-1, 1):
                        if j < 0:
                            if step == -1:
                                continue
                            value = _predicted_cost(search, rare_i, lower_i, base_i, max(found, here))
                        else:
                            other = current[j] + step
                            if other < limits[j].lowest or other > limits[j].highest:
                                continue
                            change = level[j, other].entropy - level[j, current[j]].entropy
                            base_j = base_i + level[j, other].published - level[j, current[j]].published
                            rare_j, lower_j = rare_i + weights[UP, j] * change, lower_i + weights[DOWN, j] * change
                            value = _predicted_cost(search, rare_j, lower_j, base_j, max(found, here))
                        if value < here:
                            here, move_i, move_level, move_j, move_step = value, i, new, j, step
                        # index_of scans all evaluated nodes: only nodes that would be taken are worth it.
                        if value < found:
                            current[i] = new
                            if j >= 0:
                                current[j] += step
                            if index_of(search, current) < 0:
                                found = value
                                for a in range(m):
                                    node[a] = current[a]
                            if j >= 0:
                                current[j] -= step
                            current[i] = kept
        # A local optimum of the prediction.
        if move_i < 0:
            break
        current[move_i] = move_level
        if move_j >= 0:
            current[move_j] += move_step
    return found
