"""Best-first branch and bound over boxes of a lattice of level vectors.

A box is all level vectors between two corners. What an evaluated node tells about other nodes comes in two parts that
add up. Its *lower* part bounds the cost of every node above it: generalizing never makes published rows cheaper. Its
*upper* part is what its suppressed rows cost more than that, and bounds every node below it: those rows stay
suppressed. A box is done when the lower part of a node below its low corner and the upper part of a node above its
high corner add up to the best cost known, or when a node above it breaks the suppression limit (its upper part is then
infinite).

Which node to evaluate next is a matter of prediction only: an online regression of the logarithms of suppressed rows
and of the lower part on the entropies of the attributes. It orders the search and never decides what is pruned.
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
    "FACTS",
    "GROW",
    "INCUMBENT",
    "INFINITE",
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


class Search(NamedTuple):
    """Everything the search works on. Few arrays, because kernels take longer to compile the more they are given.

    Constants beside this class name the columns.
    """

    base: NDArray[np.float64]
    """(m, levels) what attribute i at level l costs over all rows, where costs add up over attributes; else zeros."""
    entropy: NDArray[np.float64]
    """(m, levels)"""
    margin: NDArray[np.float64]
    """(m, levels) what suppressing any row adds at least in attribute i at level l or below, where costs add up."""
    levels: NDArray[np.int64]
    """(2, m) lowest and highest level."""
    facts: NDArray[np.float64]
    """By the names in FACTS."""
    node: NDArray[np.int16]
    """(evaluated, m) the nodes evaluated so far."""
    bits: NDArray[np.uint64]
    """(evaluated + 4, words) the same nodes as sets of steps taken up the lattice, so that comparing is one operation.
    The last four rows are scratch space."""
    part: NDArray[np.float64]
    """(evaluated, 3) their lower part, upper part, and the rows suppressed there and at every node below."""
    corner: NDArray[np.int16]
    """(boxes, 2, m) low and high corner of each box."""
    number: NDArray[np.float64]
    """(boxes, 4) bound, the lower and upper part it is made of, and what suppressing a row adds at least."""
    link: NDArray[np.int64]
    """(4, boxes) how many evaluated nodes each box has seen; the heap by bound; the stack; the free places."""
    count: NDArray[np.int64]
    """By the names in COUNTERS."""
    best: NDArray[np.float64]
    """Cost of the incumbent, and corrections of the two predictions for the box at hand."""
    vector: NDArray[np.int64]
    """(7, m) the incumbent, and scratch space."""
    model: NDArray[np.float64]
    """(m + 3, m + 1) the regression: covariance, then the weights for log removed rows and for log lower part."""


FACTS = ("separable", "limit", "rows", "worst", "per_row")
"""Whether ``base`` is the exact lower part of every node; how many rows may be suppressed; how many there are; the cost
of suppressing them all; what suppressing one adds to the cost, roughly (for prediction, where ``base`` is zero)."""
_SEPARABLE, _LIMIT, _ROWS, _WORST, _PER_ROW = range(5)
_LOWER, _UPPER, _REMOVED = range(3)
_BOUND, _LOW, _UP, _MARGIN = range(4)
_SEEN, _HEAPED, _STACKED, _FREED = range(4)
INCUMBENT = 6

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
def _push(search: Search, box: int) -> None:
    heap, bound, count = search.link[_HEAPED], search.number, search.count
    i = count[_HEAP]
    count[_HEAP] += 1
    heap[i] = box
    while i > 0:
        parent = (i - 1) // 2
        if bound[heap[parent], _BOUND] <= bound[heap[i], _BOUND]:
            break
        heap[parent], heap[i] = heap[i], heap[parent]
        i = parent


@kernel
def _pop(search: Search) -> int:
    heap, bound, count = search.link[_HEAPED], search.number, search.count
    if count[_STACK] > 0:
        count[_STACK] -= 1
        return search.link[_STACKED, count[_STACK]]
    top = heap[0]
    count[_HEAP] -= 1
    size = count[_HEAP]
    heap[0] = heap[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and bound[heap[child + 1], _BOUND] < bound[heap[child], _BOUND]:
            child += 1
        if bound[heap[i], _BOUND] <= bound[heap[child], _BOUND]:
            break
        heap[child], heap[i] = heap[i], heap[child]
        i = child
    return top


@kernel
def _release(search: Search, box: int) -> None:
    search.link[_FREED, search.count[_FREE]] = box
    search.count[_FREE] += 1


@kernel
def _enqueue(search: Search, box: int) -> None:
    """Open a box: by bound, or depth first where memory runs short."""
    if search.count[_DEEP] == 1:
        search.link[_STACKED, search.count[_STACK]] = box
        search.count[_STACK] += 1
    else:
        _push(search, box)


@kernel
def _threshold(search: Search) -> float:
    """Bounds at or above this cannot lead to anything better than the incumbent."""
    best = search.best[0]
    return best - TOLERANCE * max(1.0, abs(best)) if best < INFINITE else INFINITE


@kernel
def _base(search: Search, node: NDArray[np.int64]) -> float:
    total = 0.0
    for i in range(node.size):
        total += search.base[i, node[i]]
    return total


@kernel
def _predict(search: Search, node: NDArray[np.int64], row: int) -> float:
    weights = search.model[node.size + 1 :]
    value = weights[row, node.size]
    for i in range(node.size):
        value += weights[row, i] * search.entropy[i, node[i]]
    return value


@kernel
def _learn(search: Search, node: NDArray[np.int64], removed: float, lower: float) -> None:
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
    error = np.log(removed + 0.5) - _predict(search, node, 0)
    if (removed == 0 and error > 0) or (removed >= search.facts[_ROWS] and error < 0):
        error = 0.0
    error_lower = np.log(lower + 1.0) - _predict(search, node, 1)
    for a in range(d):
        for b in range(d):
            search.model[a, b] = (search.model[a, b] - gain[a] * gain[b] / scale) / _MEMORY
        search.model[d, a] += gain[a] / scale * error
        search.model[d + 1, a] += gain[a] / scale * error_lower


@kernel
def _extra(search: Search, base: float) -> float:
    """Roughly what one suppressed row adds to the lower part of a node with this base cost."""
    if search.facts[_SEPARABLE]:
        return (search.facts[_WORST] - base) / search.facts[_ROWS]
    return search.facts[_PER_ROW]


@kernel
def _cutoff(search: Search, box: int, threshold: float, side: int) -> float:
    """The logarithm a prediction must reach for a node to rule out all between itself and a corner of the box.

    Side 0: the removed rows of a node above the low corner. Side 1: the lower part of a node below the high corner.
    """
    if side == 1:
        return np.log(max(threshold - search.number[box, _UP], 1e-9))
    extra = max(_extra(search, search.number[box, _LOW]), search.number[box, _MARGIN])
    rows = (threshold - search.number[box, _LOW]) / max(extra, 1e-9)
    return np.log(max(min(rows, search.facts[_LIMIT]), 0.0) + 1.0)


@kernel
def _encode(search: Search, node: NDArray[np.int64], bits: NDArray[np.uint64]) -> None:  # bits OUT
    """Write a node as the set of steps that lead up to it from the lowest one."""
    bits[:] = np.uint64(0)
    place = 0
    for i in range(node.size):
        for level in range(search.levels[0, i], search.levels[1, i]):
            if level < node[i]:
                bits[place >> 6] |= np.uint64(1) << np.uint64(place & 63)
            place += 1


@kernel
def _within(inner: NDArray[np.uint64], outer: NDArray[np.uint64]) -> bool:
    """Whether one set of steps lies within another: whether one node is at or below the other."""
    for w in range(inner.size):
        if inner[w] & ~outer[w]:
            return False
    return True


@kernel
def _distance(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> int:
    """How many steps two nodes are apart."""
    total = 0
    for w in range(first.size):
        rest = first[w] ^ second[w]
        while rest:
            rest &= rest - np.uint64(1)
            total += 1
    return total


@kernel
def _position(search: Search, node: NDArray[np.int64]) -> int:
    """Where the node is among the evaluated ones, or -1."""
    bits = search.bits[-1]
    _encode(search, node, bits)
    for e in range(search.count[_EVALUATED]):
        same = True
        for w in range(bits.size):
            same &= search.bits[e, w] == bits[w]
        if same:
            return e
    return -1


@kernel
def _refresh(search: Search, box: int) -> None:
    """Bring the bound of a box up to date with what was evaluated since."""
    lo, hi = search.bits[-2], search.bits[-3]
    _encode(search, search.corner[box, 0], lo)
    _encode(search, search.corner[box, 1], hi)
    low, up, margin = search.number[box, _LOW], search.number[box, _UP], search.number[box, _MARGIN]
    last = search.count[_EVALUATED]
    exact = search.facts[_SEPARABLE] == 1
    for e in range(search.link[_SEEN, box], last):
        upper = max(search.part[e, _UPPER], search.part[e, _REMOVED] * margin)
        if upper > up and _within(hi, search.bits[e]):
            up = upper
        if not exact and search.part[e, _LOWER] > low and _within(search.bits[e], lo):
            low = search.part[e, _LOWER]
    search.link[_SEEN, box] = last
    search.number[box, _LOW], search.number[box, _UP] = low, up
    search.number[box, _BOUND] = max(search.number[box, _BOUND], low + up)


@kernel
def _add(search: Search, lo: NDArray[np.int64], hi: NDArray[np.int64], low: float, up: float, bound: float) -> None:
    """Open a box unless it is ruled out already; its high corner is pulled in as far as the base costs allow."""
    count = search.count
    count[_FREE] -= 1
    box = search.link[_FREED, count[_FREE]]
    for i in range(lo.size):
        search.corner[box, 0, i] = lo[i]
        search.corner[box, 1, i] = hi[i]
    search.number[box, _LOW], search.number[box, _UP], search.number[box, _BOUND], search.link[_SEEN, box] = (
        low,
        up,
        bound,
        0,
    )
    threshold = _threshold(search)
    if search.facts[_SEPARABLE]:
        base = _base(search, lo)
        search.number[box, _LOW] = base
        for i in range(lo.size):
            fixed = base - search.base[i, lo[i]] + up
            while search.corner[box, 1, i] > lo[i] and fixed + search.base[i, search.corner[box, 1, i]] >= threshold:
                search.corner[box, 1, i] -= 1
    search.number[box, _MARGIN] = 0.0
    for i in range(lo.size):
        search.number[box, _MARGIN] += search.margin[i, search.corner[box, 1, i]]
    _refresh(search, box)
    if search.number[box, _BOUND] >= threshold:
        count[_CLOSED] += 1
        _release(search, box)
    else:
        _enqueue(search, box)


@kernel
def _split(search: Search, box: int, corner: NDArray[np.int64], below: bool) -> None:
    """Take away the part of a box below (or above) a corner, and open what remains as disjoint boxes.

    The pieces are cut off attribute by attribute; the one that raises the bound most goes first and is the largest.
    """
    m = corner.size
    lo, hi = search.vector[0], search.vector[1]
    for i in range(m):
        lo[i], hi[i] = search.corner[box, 0, i], search.corner[box, 1, i]
    low, up, bound = search.number[box, _LOW], search.number[box, _UP], search.number[box, _BOUND]
    done = np.zeros(m, np.bool_)
    for _ in range(m):
        pick, best = -1, -INFINITE
        for i in range(m):
            if done[i]:
                continue
            if below and hi[i] > corner[i]:
                if search.facts[_SEPARABLE]:
                    gain = search.base[i, corner[i] + 1] - search.base[i, lo[i]]
                else:
                    step = search.entropy[i, corner[i] + 1] - search.entropy[i, lo[i]]
                    gain = search.model[m + 2, i] * step
            elif not below and lo[i] < corner[i]:
                step = search.entropy[i, corner[i] - 1] - search.entropy[i, hi[i]]
                gain = search.model[m + 1, i] * step
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
    lo, hi = search.corner[box, 0], search.corner[box, 1]
    low_bits, high_bits = search.bits[-2], search.bits[-3]
    _encode(search, lo, low_bits)
    _encode(search, hi, high_bits)
    m = lo.size
    most, which, below = 0.0, np.int64(-1), np.bool_(True)
    needed, most_margin = threshold - search.number[box, _LOW], 0.0
    for i in range(m):
        most_margin += search.margin[i, lo[i]]
    exact = search.facts[_SEPARABLE] == 1
    for e in range(search.count[_EVALUATED] - 1, -1, -1):
        node = search.node[e]
        upper, removed = search.part[e, _UPPER], search.part[e, _REMOVED]
        if (upper >= needed or removed * most_margin >= needed) and _within(low_bits, search.bits[e]):
            volume, margin = 1.0, 0.0
            for i in range(m):
                level = min(node[i], hi[i])
                volume *= level - lo[i] + 1
                margin += search.margin[i, level]
            if volume > most and (upper >= needed or removed * margin >= needed):
                most, which, below = volume, e, np.bool_(True)
        cuts_above = not exact and search.part[e, _LOWER] + search.number[box, _UP] >= threshold
        if cuts_above and _within(search.bits[e], high_bits):
            volume = 1.0
            for i in range(m):
                volume *= hi[i] - max(node[i], lo[i]) + 1
            if volume > most:
                most, which, below = volume, e, np.bool_(False)
    if which < 0:
        return False
    corner = search.vector[2]
    for i in range(m):
        node_i = search.node[which, i]
        corner[i] = min(node_i, hi[i]) if below else max(node_i, lo[i])
    search.count[_CUT_BELOW if below else _CUT_ABOVE] += 1
    _split(search, box, corner, below)
    return True


@kernel
def _halve(search: Search, box: int) -> None:
    """Split a box in the middle of its longest side; a box of one node is simply done."""
    lo, hi = search.vector[0], search.vector[1]
    side, length = 0, 0
    for i in range(lo.size):
        lo[i], hi[i] = search.corner[box, 0, i], search.corner[box, 1, i]
        if hi[i] - lo[i] > length:
            side, length = i, hi[i] - lo[i]
    if length == 0:
        return
    search.count[_HALVED] += 1
    last = hi[side]
    hi[side] = (lo[side] + last) // 2
    _add(search, lo, hi, search.number[box, _LOW], search.number[box, _UP], search.number[box, _BOUND])
    lo[side], hi[side] = hi[side] + 1, last
    _add(search, lo, hi, search.number[box, _LOW], search.number[box, _UP], search.number[box, _BOUND])


@kernel
def _climb(search: Search, box: int, node: NDArray[np.int64], cutoff: float) -> float:
    """Raise a node, in the box and then beyond, while it is predicted to cut all below it; return the volume cut."""
    weights = search.model[node.size + 1 :]
    lo, hi = search.corner[box, 0], search.corner[box, 1]
    m = node.size
    log_removed = _predict(search, node, 0) + search.best[1]
    for inside in (True, False):
        while True:
            pick, best, least = -1, -1.0, 0.0
            for i in range(m):
                level = node[i]
                if level >= (hi[i] if inside else search.levels[1, i]):
                    continue
                drop = weights[0, i] * (search.entropy[i, level] - search.entropy[i, level + 1])
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
    """Lower a node, in the box and then beyond, while it is predicted to cut all above it; return the volume cut."""
    weights = search.model[node.size + 1 :]
    lo, hi = search.corner[box, 0], search.corner[box, 1]
    m = node.size
    log_lower = _predict(search, node, 1) + search.best[2]
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


@kernel
def _from_corner(search: Search, box: int, node: NDArray[np.int64], cutoff: float, side: int) -> float:
    """The furthest node from a corner of the box that is predicted to cut all up to that corner; 0 if none is."""
    for i in range(node.size):
        node[i] = search.corner[box, 0, i] if side == 0 else search.corner[box, 1, i]
    if _predict(search, node, side) + search.best[1 + side] < cutoff:
        return 0.0
    return _climb(search, box, node, cutoff) if side == 0 else _sink(search, box, node, cutoff)


@kernel
def _correct(search: Search, node: NDArray[np.int64], side: int) -> None:
    """Carry the error of the prediction at the nearest evaluated node over to this one."""
    bits = search.bits[-1]
    _encode(search, node, bits)
    nearest, which = np.int64(1 << 30), np.int64(-1)
    for e in range(search.count[_EVALUATED]):
        distance = _distance(bits, search.bits[e])
        if distance < nearest:
            nearest, which = distance, e
    if which >= 0:
        search.best[1 + side] = _error(search, which, side) / (1.0 + nearest / _REACH)


@kernel
def _error(search: Search, which: int, side: int) -> float:
    m = search.node.shape[1]
    weights = search.model[m + 1 :]
    value = np.log(search.part[which, _REMOVED] + 0.5) if side == 0 else np.log(search.part[which, _LOWER] + 1.0)
    for i in range(m):
        value -= weights[side, i] * search.entropy[i, search.node[which, i]]
    return value - weights[side, m]


@kernel
def _explore(search: Search, box: int, threshold: float, node: NDArray[np.int64]) -> bool:  # node OUT
    """Choose the node whose evaluation is predicted to remove most of the box; say whether there is one left."""
    count = search.count
    up, down = search.vector[2], search.vector[3]
    search.best[1], search.best[2] = 0.0, 0.0
    volume = np.zeros(2)
    for side in range(1 if search.facts[_SEPARABLE] else 2):
        cutoff = _cutoff(search, box, threshold, side)
        reached = down if side == 1 else up
        _from_corner(search, box, reached, cutoff, side)
        _correct(search, reached, side)
        volume[side] = _from_corner(search, box, reached, cutoff, side)
    side = np.int64(volume[1] > volume[0])
    for i in range(node.size):
        node[i] = down[i] if side == 1 else up[i]
    if _position(search, node) >= 0:
        for corner in range(2):
            for i in range(node.size):
                node[i] = search.corner[box, 0, i] if corner == side else search.corner[box, 1, i]
            if _position(search, node) < 0:
                break
        else:
            return False
    count[_ACTIVE], count[_TRIES], count[_SIDE], count[_HIT] = box, 0, side, 0
    return True


@kernel
def _follow(search: Search, node: NDArray[np.int64]) -> bool:  # node OUT
    """After an evaluation asked for by a box: go on in the same direction, or back, or let go of the box."""
    count = search.count
    box, side, e = count[_ACTIVE], count[_SIDE], count[_NODE]
    threshold = _threshold(search)
    count[_TRIES] += 1
    go_on = count[_TRIES] < _FOLLOW
    if go_on:
        search.best[1 + side] = _error(search, e, side)
        cutoff = _cutoff(search, box, threshold, side)
        if side == 0:
            upper = max(search.part[e, _UPPER], search.part[e, _REMOVED] * search.number[box, _MARGIN])
            cut = upper + search.number[box, _LOW]
        else:
            cut = search.part[e, _LOWER] + search.number[box, _UP]
        if cut >= threshold:
            count[_HIT] = 1
            outside = False
            for i in range(node.size):
                node[i] = search.node[e, i]
                outside |= (node[i] < search.corner[box, 0, i]) if side == 0 else (node[i] > search.corner[box, 1, i])
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
    _enqueue(search, box)
    return False


@kernel
def _guess(search: Search, log_removed: float, log_lower: float, base: float, enough: float) -> float:
    """The predicted cost of a node, with a penalty for breaking the limit; roughly, once it exceeds ``enough``."""
    if search.facts[_SEPARABLE] and base >= enough:
        return base
    removed = np.exp(min(log_removed, 60.0))
    lower = base if search.facts[_SEPARABLE] else np.exp(min(log_lower, 200.0))
    over = max(removed - 1.0 - search.facts[_LIMIT], 0.0)
    return (
        lower
        + max(removed - 0.5, 0.0) * _extra(search, base)
        + 10.0 * over * search.facts[_WORST] / search.facts[_ROWS]
    )


@kernel
def _suggest(search: Search, node: NDArray[np.int64]) -> float:  # node OUT
    """The unevaluated node of least predicted cost on a descent from the incumbent by changes of one or two levels."""
    w = search.model[node.size + 1 :]
    x = search.vector[0]
    m = node.size
    for i in range(m):
        x[i] = search.vector[INCUMBENT, i]
    found, here = INFINITE, INFINITE
    for _ in range(4 * m):
        log_removed, log_lower, base = _predict(search, x, 0), _predict(search, x, 1), _base(search, x)
        move_i, move_level, move_j, move_step = -1, 0, -1, 0
        for i in range(m):
            kept = x[i]
            for level in range(search.levels[0, i], search.levels[1, i] + 1):
                if level == kept:
                    continue
                change = search.entropy[i, level] - search.entropy[i, kept]
                removed_i, lower_i = log_removed + w[0, i] * change, log_lower + w[1, i] * change
                base_i = base + search.base[i, level] - search.base[i, kept]
                for j in range(-1, m):
                    if j == i:
                        continue
                    for step in (-1, 1):
                        if j < 0:
                            if step == -1:
                                continue
                            value = _guess(search, removed_i, lower_i, base_i, max(found, here))
                        else:
                            other = x[j] + step
                            if other < search.levels[0, j] or other > search.levels[1, j]:
                                continue
                            change = search.entropy[j, other] - search.entropy[j, x[j]]
                            base_j = base_i + search.base[j, other] - search.base[j, x[j]]
                            log_j = removed_i + w[0, j] * change
                            value = _guess(search, log_j, lower_i + w[1, j] * change, base_j, max(found, here))
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
    """Walk some steps up from the lowest node by the raises that pay best; return how many there are to the top."""
    m = node.size
    length = 0
    for i in range(m):
        node[i] = search.levels[0, i]
        length += search.levels[1, i] - search.levels[0, i]
    for _ in range(min(steps, length)):
        pick, best = -1, -INFINITE
        for i in range(m):
            if node[i] >= search.levels[1, i]:
                continue
            span = search.levels[1, i] - search.levels[0, i]
            gain = -(node[i] - search.levels[0, i] + 0.5) / span
            if search.facts[_SEPARABLE]:
                drop = search.entropy[i, node[i]] - search.entropy[i, node[i] + 1]
                gain = drop / (
                    search.base[i, node[i] + 1] - search.base[i, node[i]] + 1e-9 * (search.facts[_WORST] + 1.0)
                )
            if gain > best:
                pick, best = i, gain
        node[pick] += 1
    return length


@kernel
def open_root(search: Search) -> None:
    """Open the box of the whole lattice and get ready to search it."""
    lo, hi = search.vector[4], search.vector[5]
    for i in range(lo.size):
        lo[i], hi[i] = search.levels[0, i], search.levels[1, i]
        search.vector[INCUMBENT, i] = hi[i]
    search.count[_ACTIVE] = -1
    search.count[_WAIT] = 1
    search.count[_CHAIN_LOW] = 0
    search.count[_CHAIN_HIGH] = _chain(search, np.int64(0), search.vector[3])
    _add(search, lo, hi, 0.0, 0.0, 0.0)


@kernel
def _warm_up(search: Search, node: NDArray[np.int64]) -> bool:  # node OUT
    """The first nodes: top and bottom, then halving a chain between them until the edge of feasibility is found."""
    count = search.count
    done = count[_EVALUATED]
    if done == 0 or (done == 1 and count[_CHAIN_HIGH] > 0):
        for i in range(node.size):
            node[i] = search.levels[1, i] if done == 0 else search.levels[0, i]
        return True
    if done > 2 and count[_CHAIN_HIGH] - count[_CHAIN_LOW] > 1:
        middle = (count[_CHAIN_LOW] + count[_CHAIN_HIGH]) // 2
        if search.part[done - 1, _REMOVED] <= search.facts[_LIMIT]:
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
    count = search.count
    m = node.size
    if count[_EVALUATED] >= search.node.shape[0]:
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
        if count[_STACK] == 0 and search.number[search.link[_HEAPED, 0], _BOUND] >= threshold:
            break
        if count[_FREE] < 2 * m + 4 and count[_DEEP] == 0:
            return GROW
        box = _pop(search)
        before = search.number[box, _BOUND]
        _refresh(search, box)
        if search.number[box, _BOUND] >= threshold:
            count[_CLOSED] += 1
            _release(search, box)
        elif (
            count[_DEEP] == 0
            and count[_HEAP] > 0
            and before < search.number[box, _BOUND] > search.number[search.link[_HEAPED, 0], _BOUND]
        ):
            _push(search, box)
        elif _cut(search, box, threshold):
            _release(search, box)
        elif _explore(search, box, threshold, node):
            return EVALUATE
        else:
            _halve(search, box)
            _release(search, box)
    return DONE


@kernel
def tell(search: Search, node: NDArray[np.int64], removed: float, lower: float, upper: float, cost: float) -> None:
    """Take in what the evaluation of a node gave; ``cost`` is infinite where the node itself is not allowed.

    ``removed`` rows are suppressed here and everywhere below; ``lower`` and ``upper`` are the two parts of the bound.
    """
    count = search.count
    e = count[_EVALUATED]
    count[_EVALUATED] += 1
    count[_NODE] = e
    for i in range(node.size):
        search.node[e, i] = node[i]
    _encode(search, node, search.bits[e])
    search.part[e, _LOWER] = lower
    search.part[e, _UPPER] = INFINITE if removed > search.facts[_LIMIT] else upper
    search.part[e, _REMOVED] = removed
    _learn(search, node, removed, lower)
    if cost < search.best[0]:
        search.best[0] = cost
        for i in range(node.size):
            search.vector[INCUMBENT, i] = node[i]
        count[_WAIT] = 1


@kernel
def go_deep(search: Search) -> None:
    """From now on open new boxes depth first, which needs little memory."""
    search.count[_DEEP] = 1


@kernel
def lower_bound(search: Search) -> float:
    """The least cost anything not yet ruled out can have, capped by the incumbent."""
    count = search.count
    bound = search.best[0]
    if count[_HEAP] > 0:
        bound = min(bound, search.number[search.link[_HEAPED, 0], _BOUND])
    for s in range(count[_STACK]):
        bound = min(bound, search.number[search.link[_STACKED, s], _BOUND])
    if count[_ACTIVE] >= 0:
        bound = min(bound, search.number[count[_ACTIVE], _BOUND])
    return bound
