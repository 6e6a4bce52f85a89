"""Best-first branch and bound over boxes of a lattice of level vectors.

A box is all level vectors between two corners. What an evaluated node tells about other nodes comes in two parts that
add up. Its *lower* part bounds the cost of every node above it: generalizing never makes published rows cheaper. Its *upper* part
is what its suppressed rows cost more than that, and bounds every node below it: those rows stay suppressed. A box is
done when the lower part of a node below its low corner and the upper part of a node above its high corner add up to the
best cost known, or when a node above it breaks the suppression limit (its upper part is then infinite).

Which node to evaluate next is a matter of prediction only: an online regression of the logarithms of suppressed rows and
of the lower part on the entropies of the attributes. It orders the search and never decides what is pruned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel

__all__ = [
    "COUNTERS",
    "DONE",
    "EVALUATE",
    "GROW",
    "Boxes",
    "Control",
    "Evaluated",
    "Landscape",
    "Search",
    "choose",
    "go_deep",
    "lower_bound",
    "open_root",
    "tell",
]

DONE, EVALUATE, GROW = 0, 1, 2
"""What :func:`choose` says: the proof is complete; evaluate the node; the arrays are full."""

INFINITE = 1e300
TOLERANCE = 1e-9
"""Costs closer than this, relatively, count as equal."""

_REACH = 3.0
"""Over how many steps the error of the prediction at an evaluated node is carried to its neighbours."""
_MEMORY = 0.98
"""How much the regression still believes an observation after the next one."""
_FOLLOW = 6
"""How many evaluations in a row one box may ask for."""
_PATIENCE = 16
"""The longest pause, in evaluations, between two attempts to improve the incumbent."""


class Landscape(NamedTuple):
    """What is known before anything is evaluated."""

    base: NDArray[np.float64]
    """(m, levels) what attribute i at level l costs over all rows, where costs add up over attributes; else zeros."""
    entropy: NDArray[np.float64]
    """(m, levels)"""
    lowest: NDArray[np.int64]
    highest: NDArray[np.int64]
    separable: bool
    """Whether ``base`` is the exact lower part of every node."""
    limit: float
    """How many rows may be suppressed."""
    rows: float
    worst: float
    """The cost of suppressing every row."""
    per_row: float
    """What suppressing one row adds to the cost, roughly; used for prediction only, where ``base`` is zero."""


class Evaluated(NamedTuple):
    """The nodes evaluated so far."""

    node: NDArray[np.int16]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    removed: NDArray[np.float64]
    """Rows that are suppressed at the node and at every node below."""


class Boxes(NamedTuple):
    """Open boxes: a heap by bound, and a stack used instead once memory runs short."""

    lo: NDArray[np.int16]
    hi: NDArray[np.int16]
    bound: NDArray[np.float64]
    low: NDArray[np.float64]
    up: NDArray[np.float64]
    seen: NDArray[np.int64]
    heap: NDArray[np.int64]
    stack: NDArray[np.int64]
    free: NDArray[np.int64]


class Control(NamedTuple):
    """Counters, the incumbent, the regression and scratch space."""

    count: NDArray[np.int64]
    """By the names in COUNTERS."""
    best: NDArray[np.float64]
    """[0] cost of the incumbent, [1] and [2] corrections of the two predictions for the box at hand."""
    incumbent: NDArray[np.int64]
    covariance: NDArray[np.float64]
    weights: NDArray[np.float64]
    """(2, m + 1) regression of log removed rows and of log lower part."""
    scratch: NDArray[np.int64]
    """(6, m)"""


class Search(NamedTuple):
    """Everything the search works on."""

    landscape: Landscape
    evaluated: Evaluated
    boxes: Boxes
    control: Control


COUNTERS = (
    "evaluated",
    "heap",
    "stack",
    "free",
    "active",
    "tries",
    "side",
    "hit",
    "node",
    "wait",
    "pause",
    "deep",
    "closed",
    "cut_below",
    "cut_above",
    "halved",
    "chain_low",
    "chain_high",
)
"""Names of the positions in Control.count."""
_EVALUATED, _HEAP, _STACK, _FREE, _ACTIVE, _TRIES, _SIDE, _HIT, _NODE, _WAIT, _PAUSE, _DEEP = range(12)
_CLOSED, _CUT_BELOW, _CUT_ABOVE, _HALVED, _CHAIN_LOW, _CHAIN_HIGH = range(12, 18)


@kernel
def _push(boxes: Boxes, count: NDArray[np.int64], box: int) -> None:
    heap = boxes.heap
    i = count[_HEAP]
    count[_HEAP] += 1
    heap[i] = box
    while i > 0:
        parent = (i - 1) // 2
        if boxes.bound[heap[parent]] <= boxes.bound[heap[i]]:
            break
        heap[parent], heap[i] = heap[i], heap[parent]
        i = parent


@kernel
def _pop(boxes: Boxes, count: NDArray[np.int64]) -> int:
    if count[_STACK] > 0:
        count[_STACK] -= 1
        return boxes.stack[count[_STACK]]
    heap = boxes.heap
    top = heap[0]
    count[_HEAP] -= 1
    size = count[_HEAP]
    heap[0] = heap[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and boxes.bound[heap[child + 1]] < boxes.bound[heap[child]]:
            child += 1
        if boxes.bound[heap[i]] <= boxes.bound[heap[child]]:
            break
        heap[child], heap[i] = heap[i], heap[child]
        i = child
    return top


@kernel
def _release(boxes: Boxes, count: NDArray[np.int64], box: int) -> None:
    boxes.free[count[_FREE]] = box
    count[_FREE] += 1


@kernel
def _enqueue(boxes: Boxes, count: NDArray[np.int64], box: int) -> None:
    """Open a box: by bound, or depth first where memory runs short."""
    if count[_DEEP] == 1:
        boxes.stack[count[_STACK]] = box
        count[_STACK] += 1
    else:
        _push(boxes, count, box)


@kernel
def _threshold(search: Search) -> float:
    """Bounds at or above this cannot lead to anything better than the incumbent."""
    best = search.control.best[0]
    return best - TOLERANCE * max(1.0, abs(best)) if best < INFINITE else INFINITE


@kernel
def _base(landscape: Landscape, node: NDArray[np.int64]) -> float:
    total = 0.0
    for i in range(node.size):
        total += landscape.base[i, node[i]]
    return total


@kernel
def _predict(search: Search, node: NDArray[np.int64], row: int) -> float:
    weights = search.control.weights
    value = weights[row, node.size]
    for i in range(node.size):
        value += weights[row, i] * search.landscape.entropy[i, node[i]]
    return value


@kernel
def _learn(search: Search, node: NDArray[np.int64], removed: float, lower: float) -> None:
    """One step of recursive least squares; no or all rows removed says only that the truth lies beyond."""
    landscape, control = search.landscape, search.control
    d = node.size + 1
    x, gain = np.empty(d), np.zeros(d)
    for i in range(d - 1):
        x[i] = landscape.entropy[i, node[i]]
    x[d - 1] = 1.0
    scale = _MEMORY
    for a in range(d):
        for b in range(d):
            gain[a] += control.covariance[a, b] * x[b]
    for a in range(d):
        scale += x[a] * gain[a]
    error = np.log(removed + 0.5) - _predict(search, node, 0)
    if (removed == 0 and error > 0) or (removed >= landscape.rows and error < 0):
        error = 0.0
    error_lower = np.log(lower + 1.0) - _predict(search, node, 1)
    for a in range(d):
        for b in range(d):
            control.covariance[a, b] = (control.covariance[a, b] - gain[a] * gain[b] / scale) / _MEMORY
        control.weights[0, a] += gain[a] / scale * error
        control.weights[1, a] += gain[a] / scale * error_lower


@kernel
def _extra(landscape: Landscape, base: float) -> float:
    """Roughly what one suppressed row adds to the lower part of a node with this base cost."""
    if landscape.separable:
        return (landscape.worst - base) / landscape.rows
    return landscape.per_row


@kernel
def _cutoff(search: Search, box: int, threshold: float, side: int) -> float:
    """The logarithm a prediction must reach for a node to rule out all between itself and a corner of the box.

    Side 0: the removed rows of a node above the low corner. Side 1: the lower part of a node below the high corner.
    """
    landscape, boxes = search.landscape, search.boxes
    if side == 1:
        return np.log(max(threshold - boxes.up[box], 1e-9))
    rows = (threshold - boxes.low[box]) / max(_extra(landscape, boxes.low[box]), 1e-9)
    return np.log(max(min(rows, landscape.limit), 0.0) + 1.0)


@kernel
def _position(search: Search, node: NDArray[np.int64]) -> int:
    """Where the node is among the evaluated ones, or -1."""
    evaluated = search.evaluated
    for e in range(search.control.count[_EVALUATED]):
        same = True
        for i in range(node.size):
            if evaluated.node[e, i] != node[i]:
                same = False
                break
        if same:
            return e
    return -1


@kernel
def _refresh(search: Search, box: int) -> None:
    """Bring the bound of a box up to date with what was evaluated since."""
    boxes, evaluated, landscape = search.boxes, search.evaluated, search.landscape
    lo, hi = boxes.lo[box], boxes.hi[box]
    last = search.control.count[_EVALUATED]
    for e in range(boxes.seen[box], last):
        if evaluated.upper[e] > boxes.up[box]:
            above = True
            for i in range(lo.size):
                if evaluated.node[e, i] < hi[i]:
                    above = False
                    break
            if above:
                boxes.up[box] = evaluated.upper[e]
        if not landscape.separable and evaluated.lower[e] > boxes.low[box]:
            below = True
            for i in range(lo.size):
                if evaluated.node[e, i] > lo[i]:
                    below = False
                    break
            if below:
                boxes.low[box] = evaluated.lower[e]
    boxes.seen[box] = last
    boxes.bound[box] = max(boxes.bound[box], boxes.low[box] + boxes.up[box])


@kernel
def _add(search: Search, lo: NDArray[np.int64], hi: NDArray[np.int64], low: float, up: float, bound: float) -> None:
    """Open a box unless it is ruled out already; its high corner is pulled in as far as the base costs allow."""
    boxes, landscape, count = search.boxes, search.landscape, search.control.count
    count[_FREE] -= 1
    box = boxes.free[count[_FREE]]
    for i in range(lo.size):
        boxes.lo[box, i] = lo[i]
        boxes.hi[box, i] = hi[i]
    boxes.low[box], boxes.up[box], boxes.bound[box], boxes.seen[box] = low, up, bound, 0
    threshold = _threshold(search)
    if landscape.separable:
        base = _base(landscape, lo)
        boxes.low[box] = base
        for i in range(lo.size):
            fixed = base - landscape.base[i, lo[i]] + up
            while boxes.hi[box, i] > lo[i] and fixed + landscape.base[i, boxes.hi[box, i]] >= threshold:
                boxes.hi[box, i] -= 1
    _refresh(search, box)
    if boxes.bound[box] >= threshold:
        count[_CLOSED] += 1
        _release(boxes, count, box)
    else:
        _enqueue(boxes, count, box)


@kernel
def _split(search: Search, box: int, corner: NDArray[np.int64], below: bool) -> None:
    """Take away the part of a box below (or above) a corner, and open what remains as disjoint boxes.

    The pieces are cut off attribute by attribute; the one that raises the bound most goes first and is the largest.
    """
    boxes, landscape, control = search.boxes, search.landscape, search.control
    m = corner.size
    lo, hi = control.scratch[0], control.scratch[1]
    for i in range(m):
        lo[i], hi[i] = boxes.lo[box, i], boxes.hi[box, i]
    low, up, bound = boxes.low[box], boxes.up[box], boxes.bound[box]
    done = np.zeros(m, np.bool_)
    for _ in range(m):
        pick, best = -1, -INFINITE
        for i in range(m):
            if done[i]:
                continue
            if below and hi[i] > corner[i]:
                if landscape.separable:
                    gain = landscape.base[i, corner[i] + 1] - landscape.base[i, lo[i]]
                else:
                    step = landscape.entropy[i, corner[i] + 1] - landscape.entropy[i, lo[i]]
                    gain = control.weights[1, i] * step
            elif not below and lo[i] < corner[i]:
                step = landscape.entropy[i, corner[i] - 1] - landscape.entropy[i, hi[i]]
                gain = control.weights[0, i] * step
            else:
                continue
            if gain > best:
                pick, best = i, gain
        if pick < 0:
            break
        done[pick] = True
        if below:
            kept = lo[pick]
            lo[pick] = corner[pick] + 1
            _add(search, lo, hi, low, up, bound)
            lo[pick], hi[pick] = kept, corner[pick]
        else:
            kept = hi[pick]
            hi[pick] = corner[pick] - 1
            _add(search, lo, hi, low, up, bound)
            hi[pick], lo[pick] = kept, corner[pick]


@kernel
def _cut(search: Search, box: int, threshold: float) -> bool:
    """Split a box by the evaluated node that rules out most of it; say whether there was one."""
    boxes, evaluated, control = search.boxes, search.evaluated, search.control
    lo, hi = boxes.lo[box], boxes.hi[box]
    m = lo.size
    most, which, below = 0.0, -1, True
    for e in range(control.count[_EVALUATED] - 1, -1, -1):
        node = evaluated.node[e]
        if evaluated.upper[e] + boxes.low[box] >= threshold:
            volume = 1.0
            for i in range(m):
                if node[i] < lo[i]:
                    volume = 0.0
                    break
                volume *= min(node[i], hi[i]) - lo[i] + 1
            if volume > most:
                most, which, below = volume, e, True
        if evaluated.lower[e] + boxes.up[box] >= threshold and not search.landscape.separable:
            volume = 1.0
            for i in range(m):
                if node[i] > hi[i]:
                    volume = 0.0
                    break
                volume *= hi[i] - max(node[i], lo[i]) + 1
            if volume > most:
                most, which, below = volume, e, False
    if which < 0:
        return False
    corner = control.scratch[2]
    for i in range(m):
        node_i = evaluated.node[which, i]
        corner[i] = min(node_i, hi[i]) if below else max(node_i, lo[i])
    control.count[_CUT_BELOW if below else _CUT_ABOVE] += 1
    _split(search, box, corner, below)
    return True


@kernel
def _halve(search: Search, box: int) -> None:
    """Split a box in the middle of its longest side; a box of one node is simply done."""
    boxes, control = search.boxes, search.control
    lo, hi = control.scratch[0], control.scratch[1]
    side, length = 0, 0
    for i in range(lo.size):
        lo[i], hi[i] = boxes.lo[box, i], boxes.hi[box, i]
        if hi[i] - lo[i] > length:
            side, length = i, hi[i] - lo[i]
    if length == 0:
        return
    control.count[_HALVED] += 1
    last = hi[side]
    hi[side] = (lo[side] + last) // 2
    _add(search, lo, hi, boxes.low[box], boxes.up[box], boxes.bound[box])
    lo[side], hi[side] = hi[side] + 1, last
    _add(search, lo, hi, boxes.low[box], boxes.up[box], boxes.bound[box])


@kernel
def _climb(search: Search, box: int, node: NDArray[np.int64], cutoff: float) -> float:
    """Raise a node, first within the box and then beyond, while it is predicted to cut all below it; return the volume cut."""
    landscape, weights = search.landscape, search.control.weights
    lo, hi = search.boxes.lo[box], search.boxes.hi[box]
    m = node.size
    log_removed = _predict(search, node, 0) + search.control.best[1]
    for inside in (True, False):
        while True:
            pick, best, least = -1, -1.0, 0.0
            for i in range(m):
                level = node[i]
                if level >= (hi[i] if inside else landscape.highest[i]):
                    continue
                drop = weights[0, i] * (landscape.entropy[i, level] - landscape.entropy[i, level + 1])
                gain = 1.0 / ((level - lo[i] + 1.5) * (max(drop, 0.0) + 1e-3))
                if gain > best and log_removed - drop >= cutoff:
                    pick, best, least = i, gain, drop
            if pick < 0:
                break
            node[pick] += 1
            log_removed -= least
    volume = 1.0
    for i in range(m):
        volume *= min(node[i], hi[i]) - lo[i] + 1.0
    return volume


@kernel
def _sink(search: Search, box: int, node: NDArray[np.int64], cutoff: float) -> float:
    """Lower a node, first within the box and then beyond, while it is predicted to cut all above it; return the volume cut."""
    landscape, weights = search.landscape, search.control.weights
    lo, hi = search.boxes.lo[box], search.boxes.hi[box]
    m = node.size
    log_lower = _predict(search, node, 1) + search.control.best[2]
    for inside in (True, False):
        while True:
            pick, best, least = -1, -1.0, 0.0
            for i in range(m):
                level = node[i]
                if level <= (lo[i] if inside else landscape.lowest[i]):
                    continue
                drop = -weights[1, i] * (landscape.entropy[i, level - 1] - landscape.entropy[i, level])
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


@kernel
def _from_corner(search: Search, box: int, node: NDArray[np.int64], cutoff: float, side: int) -> float:
    """The furthest node from a corner of the box that is predicted to cut all up to that corner; 0 if none is."""
    boxes = search.boxes
    for i in range(node.size):
        node[i] = boxes.lo[box, i] if side == 0 else boxes.hi[box, i]
    if _predict(search, node, side) + search.control.best[1 + side] < cutoff:
        return 0.0
    return _climb(search, box, node, cutoff) if side == 0 else _sink(search, box, node, cutoff)


@kernel
def _correct(search: Search, node: NDArray[np.int64], side: int) -> None:
    """Carry the error of the prediction at the nearest evaluated node over to this one."""
    evaluated, control = search.evaluated, search.control
    nearest, which = INFINITE, -1
    for e in range(control.count[_EVALUATED]):
        distance = 0.0
        for i in range(node.size):
            distance += abs(evaluated.node[e, i] - node[i])
            if distance >= nearest:
                break
        if distance < nearest:
            nearest, which = distance, e
    if which >= 0:
        control.best[1 + side] = _error(search, which, side) / (1.0 + nearest / _REACH)


@kernel
def _error(search: Search, which: int, side: int) -> float:
    evaluated, weights = search.evaluated, search.control.weights
    m = evaluated.node.shape[1]
    value = np.log(evaluated.removed[which] + 0.5) if side == 0 else np.log(evaluated.lower[which] + 1.0)
    for i in range(m):
        value -= weights[side, i] * search.landscape.entropy[i, evaluated.node[which, i]]
    return value - weights[side, m]


@kernel
def _explore(search: Search, box: int, threshold: float, node: NDArray[np.int64]) -> bool:  # node OUT
    """Choose the node whose evaluation is predicted to remove most of the box; say whether there is one left."""
    boxes, control = search.boxes, search.control
    count = control.count
    up, down = control.scratch[2], control.scratch[3]
    control.best[1], control.best[2] = 0.0, 0.0
    cutoff = _cutoff(search, box, threshold, 0)
    _from_corner(search, box, up, cutoff, 0)
    _correct(search, up, 0)
    below = _from_corner(search, box, up, cutoff, 0)
    above = 0.0
    if not search.landscape.separable:
        cutoff = _cutoff(search, box, threshold, 1)
        _from_corner(search, box, down, cutoff, 1)
        _correct(search, down, 1)
        above = _from_corner(search, box, down, cutoff, 1)
    side = 1 if above > below else 0
    for i in range(node.size):
        node[i] = down[i] if side == 1 else up[i]
    if _position(search, node) >= 0:
        for corner in range(2):
            for i in range(node.size):
                node[i] = boxes.lo[box, i] if corner == side else boxes.hi[box, i]
            if _position(search, node) < 0:
                break
        else:
            return False
    count[_ACTIVE], count[_TRIES], count[_SIDE], count[_HIT] = box, 0, side, 0
    return True


@kernel
def _follow(search: Search, node: NDArray[np.int64]) -> bool:  # node OUT
    """After an evaluation asked for by a box: go on in the same direction, or back, or let go of the box."""
    evaluated, boxes, control = search.evaluated, search.boxes, search.control
    count = control.count
    box, side, e = count[_ACTIVE], count[_SIDE], count[_NODE]
    threshold = _threshold(search)
    count[_TRIES] += 1
    go_on = count[_TRIES] < _FOLLOW
    if go_on:
        control.best[1 + side] = _error(search, e, side)
        cutoff = _cutoff(search, box, threshold, side)
        cut = evaluated.upper[e] + boxes.low[box] if side == 0 else evaluated.lower[e] + boxes.up[box]
        if cut >= threshold:
            count[_HIT] = 1
            outside = False
            for i in range(node.size):
                node[i] = evaluated.node[e, i]
                outside |= (node[i] < boxes.lo[box, i]) if side == 0 else (node[i] > boxes.hi[box, i])
            if outside:
                go_on = False
            elif side == 0:
                _climb(search, box, node, cutoff)
            else:
                _sink(search, box, node, cutoff)
        elif count[_HIT] == 1:
            go_on = False
        else:
            _from_corner(search, box, node, cutoff, side)
    if go_on and _position(search, node) < 0:
        return True
    count[_ACTIVE] = -1
    _enqueue(boxes, count, box)
    return False


@kernel
def _guess(landscape: Landscape, log_removed: float, log_lower: float, base: float, enough: float) -> float:
    """The predicted cost of a node, with a penalty for breaking the limit; roughly, once it is clear it exceeds ``enough``."""
    if landscape.separable and base >= enough:
        return base
    removed = np.exp(min(log_removed, 60.0))
    lower = base if landscape.separable else np.exp(min(log_lower, 200.0))
    over = max(removed - 1.0 - landscape.limit, 0.0)
    return lower + max(removed - 0.5, 0.0) * _extra(landscape, base) + 10.0 * over * landscape.worst / landscape.rows


@kernel
def _suggest(search: Search, node: NDArray[np.int64]) -> float:  # node OUT
    """The unevaluated node of least predicted cost met on a descent from the incumbent over changes of one or two levels."""
    landscape, control = search.landscape, search.control
    w = control.weights
    x = control.scratch[0]
    m = node.size
    for i in range(m):
        x[i] = control.incumbent[i]
    found, here = INFINITE, INFINITE
    for _ in range(4 * m):
        log_removed, log_lower, base = _predict(search, x, 0), _predict(search, x, 1), _base(landscape, x)
        move_i, move_level, move_j, move_step = -1, 0, -1, 0
        for i in range(m):
            kept = x[i]
            for level in range(landscape.lowest[i], landscape.highest[i] + 1):
                if level == kept:
                    continue
                change = landscape.entropy[i, level] - landscape.entropy[i, kept]
                removed_i, lower_i = log_removed + w[0, i] * change, log_lower + w[1, i] * change
                base_i = base + landscape.base[i, level] - landscape.base[i, kept]
                for j in range(-1, m):
                    if j == i:
                        continue
                    for step in (-1, 1):
                        if j < 0:
                            if step == -1:
                                continue
                            value = _guess(landscape, removed_i, lower_i, base_i, max(found, here))
                        else:
                            other = x[j] + step
                            if other < landscape.lowest[j] or other > landscape.highest[j]:
                                continue
                            change = landscape.entropy[j, other] - landscape.entropy[j, x[j]]
                            base_j = base_i + landscape.base[j, other] - landscape.base[j, x[j]]
                            log_j = removed_i + w[0, j] * change
                            value = _guess(landscape, log_j, lower_i + w[1, j] * change, base_j, max(found, here))
                        if value < here:
                            here, move_i, move_level, move_j, move_step = value, i, level, j, step
                        if value < found:
                            x[i] = level
                            if j >= 0:
                                x[j] += step
                            if _position(search, x) < 0:
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


@kernel
def _chain(search: Search, steps: int, node: NDArray[np.int64]) -> int:  # node OUT
    """Walk up from the lowest node by the raises that pay best; write the node after some steps, return how many there are."""
    landscape = search.landscape
    m = node.size
    length = 0
    for i in range(m):
        node[i] = landscape.lowest[i]
        length += landscape.highest[i] - landscape.lowest[i]
    for _ in range(min(steps, length)):
        pick, best = -1, -INFINITE
        for i in range(m):
            if node[i] >= landscape.highest[i]:
                continue
            span = landscape.highest[i] - landscape.lowest[i]
            gain = -(node[i] - landscape.lowest[i] + 0.5) / span
            if landscape.separable:
                drop = landscape.entropy[i, node[i]] - landscape.entropy[i, node[i] + 1]
                gain = drop / (landscape.base[i, node[i] + 1] - landscape.base[i, node[i]] + 1e-9 * landscape.worst)
            if gain > best:
                pick, best = i, gain
        node[pick] += 1
    return length


@kernel
def open_root(search: Search) -> None:
    """Open the box of the whole lattice and get ready to search it."""
    landscape, control = search.landscape, search.control
    lo, hi = control.scratch[4], control.scratch[5]
    for i in range(lo.size):
        lo[i], hi[i] = landscape.lowest[i], landscape.highest[i]
        control.incumbent[i] = hi[i]
    control.count[_ACTIVE] = -1
    control.count[_WAIT] = 1
    control.count[_CHAIN_LOW] = 0
    control.count[_CHAIN_HIGH] = _chain(search, 0, control.scratch[3])
    _add(search, lo, hi, 0.0, 0.0, 0.0)


@kernel
def _warm_up(search: Search, node: NDArray[np.int64]) -> bool:  # node OUT
    """The first nodes: top and bottom, then halving a chain between them until the edge of feasibility is found."""
    landscape, evaluated, count = search.landscape, search.evaluated, search.control.count
    done = count[_EVALUATED]
    if done == 0 or (done == 1 and count[_CHAIN_HIGH] > 0):
        for i in range(node.size):
            node[i] = landscape.highest[i] if done == 0 else landscape.lowest[i]
        return True
    if done > 2 and count[_CHAIN_HIGH] - count[_CHAIN_LOW] > 1:
        middle = (count[_CHAIN_LOW] + count[_CHAIN_HIGH]) // 2
        if evaluated.removed[done - 1] <= landscape.limit:
            count[_CHAIN_HIGH] = middle
        else:
            count[_CHAIN_LOW] = middle
    if count[_CHAIN_HIGH] - count[_CHAIN_LOW] > 1:
        _chain(search, (count[_CHAIN_LOW] + count[_CHAIN_HIGH]) // 2, node)
        return True
    return False


@kernel
def choose(search: Search, node: NDArray[np.int64]) -> int:  # node OUT
    """Say what comes next: evaluate a node, grow the arrays, or stop because the proof is complete."""
    boxes, control = search.boxes, search.control
    count = control.count
    m = node.size
    if count[_EVALUATED] >= search.evaluated.lower.size:
        return GROW
    if _warm_up(search, node):
        return EVALUATE
    if count[_ACTIVE] >= 0 and _follow(search, node):
        return EVALUATE
    count[_PAUSE] += 1
    if count[_PAUSE] >= count[_WAIT]:
        count[_PAUSE] = 0
        count[_WAIT] = min(2 * count[_WAIT], _PATIENCE)
        if _suggest(search, node) < _threshold(search):
            return EVALUATE
    while count[_STACK] + count[_HEAP] > 0:
        threshold = _threshold(search)
        if count[_STACK] == 0 and boxes.bound[boxes.heap[0]] >= threshold:
            break
        if count[_FREE] < 2 * m + 4 and count[_DEEP] == 0:
            return GROW
        box = _pop(boxes, count)
        before = boxes.bound[box]
        _refresh(search, box)
        if boxes.bound[box] >= threshold:
            count[_CLOSED] += 1
            _release(boxes, count, box)
        elif count[_DEEP] == 0 and count[_HEAP] > 0 and before < boxes.bound[box] > boxes.bound[boxes.heap[0]]:
            _push(boxes, count, box)
        elif _cut(search, box, threshold):
            _release(boxes, count, box)
        elif _explore(search, box, threshold, node):
            return EVALUATE
        else:
            _halve(search, box)
            _release(boxes, count, box)
    return DONE


@kernel
def tell(search: Search, node: NDArray[np.int64], removed: float, lower: float, upper: float, cost: float) -> None:
    """Take in what the evaluation of a node gave; ``cost`` is infinite where the node itself is not allowed.

    ``removed`` rows are suppressed here and everywhere below; ``lower`` and ``upper`` are the two parts of the bound.
    """
    landscape, evaluated, control = search.landscape, search.evaluated, search.control
    count = control.count
    e = count[_EVALUATED]
    count[_EVALUATED] += 1
    count[_NODE] = e
    for i in range(node.size):
        evaluated.node[e, i] = node[i]
    evaluated.lower[e] = lower
    evaluated.upper[e] = INFINITE if removed > landscape.limit else upper
    evaluated.removed[e] = removed
    _learn(search, node, removed, lower)
    if cost < control.best[0]:
        control.best[0] = cost
        for i in range(node.size):
            control.incumbent[i] = node[i]
        count[_WAIT] = 1


@kernel
def go_deep(search: Search) -> None:
    """From now on open new boxes depth first, which needs little memory."""
    search.control.count[_DEEP] = 1


@kernel
def lower_bound(search: Search) -> float:
    """The least cost anything not yet ruled out can have, capped by the incumbent."""
    boxes, count = search.boxes, search.control.count
    bound = search.control.best[0]
    if count[_HEAP] > 0:
        bound = min(bound, boxes.bound[boxes.heap[0]])
    for s in range(count[_STACK]):
        bound = min(bound, boxes.bound[boxes.stack[s]])
    if count[_ACTIVE] >= 0:
        bound = min(bound, boxes.bound[count[_ACTIVE]])
    return bound
