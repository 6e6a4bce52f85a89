"""Open boxes of the lattice: all level vectors between two corners, ordered by what their nodes must cost at least.

What an evaluated node tells about other nodes comes in two parts that add up. Its *lower* part bounds the cost of every
node above it: generalizing never makes published rows cheaper. Its *upper* part is what its suppressed rows cost more
than that, and bounds every node below it: those rows stay suppressed. A box is done when the lower part of a node below
its low corner and the upper part of a node above its high corner add up to the best cost known, or when a node above it
breaks the suppression limit (its upper part is then infinite).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel
from discreet.kernels.state import (
    BOUND,
    CLOSED,
    CUT_ABOVE,
    CUT_BELOW,
    DEEP,
    EVALUATED,
    FREE,
    FREED,
    HALVED,
    HEAP,
    HEAPED,
    INFINITE,
    LOW,
    LOWER,
    MARGIN,
    REMOVED,
    SEEN,
    SEPARABLE,
    STACK,
    STACKED,
    TOLERANCE,
    UP,
    UPPER,
    Search,
)

__all__ = [
    "add_box",
    "base_of",
    "cut",
    "distance",
    "encode",
    "enqueue",
    "halve",
    "pop",
    "position",
    "push",
    "refresh",
    "release",
    "threshold_of",
]


@inner_kernel
def push(search: Search, box: int) -> None:
    """Put a box on the heap."""
    heap, bound, count = search.link[HEAPED], search.number, search.count
    i = count[HEAP]
    count[HEAP] += 1
    heap[i] = box
    while i > 0:
        parent = (i - 1) // 2
        if bound[heap[parent], BOUND] <= bound[heap[i], BOUND]:
            break
        heap[parent], heap[i] = heap[i], heap[parent]
        i = parent


@inner_kernel
def pop(search: Search) -> int:
    """Take the last box off the stack, or else the one with the least bound off the heap."""
    heap, bound, count = search.link[HEAPED], search.number, search.count
    if count[STACK] > 0:
        count[STACK] -= 1
        return search.link[STACKED, count[STACK]]
    top = heap[0]
    count[HEAP] -= 1
    size = count[HEAP]
    heap[0] = heap[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and bound[heap[child + 1], BOUND] < bound[heap[child], BOUND]:
            child += 1
        if bound[heap[i], BOUND] <= bound[heap[child], BOUND]:
            break
        heap[child], heap[i] = heap[i], heap[child]
        i = child
    return top


@inner_kernel
def release(search: Search, box: int) -> None:
    """Forget a box and free its place."""
    search.link[FREED, search.count[FREE]] = box
    search.count[FREE] += 1


@inner_kernel
def enqueue(search: Search, box: int) -> None:
    """Open a box: by bound, or depth first where memory runs short."""
    if search.count[DEEP] == 1:
        search.link[STACKED, search.count[STACK]] = box
        search.count[STACK] += 1
    else:
        push(search, box)


@inner_kernel
def threshold_of(search: Search) -> float:
    """Bounds at or above this cannot lead to anything better than the incumbent."""
    best = search.best[0]
    return best - TOLERANCE * abs(best) if best < INFINITE else INFINITE


@inner_kernel
def base_of(search: Search, node: NDArray[np.int64]) -> float:
    """What publishing all rows at a node costs, where costs add up over attributes."""
    total = 0.0
    for i in range(node.size):
        total += search.base[i, node[i]]
    return total


@inner_kernel
def encode(search: Search, node: NDArray[np.int64], row: int) -> int:
    """Write a node into a row of ``search.bits`` as the set of steps up to it from the lowest one; return the row."""
    bits, levels = search.bits, search.levels
    for w in range(bits.shape[1]):
        bits[row, w] = np.uint64(0)
    place = 0
    for i in range(node.size):
        for step in range(place, place + node[i] - levels[0, i]):
            bits[row, step >> 6] |= np.uint64(1) << np.uint64(step & 63)
        place += levels[1, i] - levels[0, i]
    return row


@inner_kernel
def _within(bits: NDArray[np.uint64], inner: int, outer: int) -> bool:
    """Whether one set of steps lies within another, given by their rows: whether one node is at or below the other."""
    outside = np.uint64(0)
    for w in range(bits.shape[1]):
        outside |= bits[inner, w] & ~bits[outer, w]
    return outside == 0


@inner_kernel
def distance(bits: NDArray[np.uint64], first: int, second: int) -> int:
    """How many steps two nodes, given by their rows, are apart."""
    total = 0
    for w in range(bits.shape[1]):
        x = bits[first, w] ^ bits[second, w]
        x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
        x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        total += np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
    return total


@inner_kernel
def position(search: Search, node: NDArray[np.int64]) -> int:
    """Where the node is among the evaluated ones, or -1."""
    bits = search.bits
    row = encode(search, node, bits.shape[0] - 1)
    for e in range(search.count[EVALUATED]):
        w = 0
        while w < bits.shape[1] and bits[e, w] == bits[row, w]:
            w += 1
        if w == bits.shape[1]:
            return e
    return -1


@inner_kernel
def refresh(search: Search, box: int) -> None:
    """Bring the bound of a box up to date with what was evaluated since."""
    bits, part = search.bits, search.part
    lo = encode(search, search.corner[box, 0], bits.shape[0] - 2)
    hi = encode(search, search.corner[box, 1], bits.shape[0] - 3)
    low, up, margin = search.number[box, LOW], search.number[box, UP], search.number[box, MARGIN]
    last = search.count[EVALUATED]
    exact = search.facts[SEPARABLE] == 1
    for e in range(search.link[SEEN, box], last):
        upper = max(part[e, UPPER], part[e, REMOVED] * margin)
        if upper > up and _within(bits, hi, e):
            up = upper
        if not exact and part[e, LOWER] > low and _within(bits, e, lo):
            low = part[e, LOWER]
    search.link[SEEN, box] = last
    search.number[box, LOW], search.number[box, UP] = low, up
    search.number[box, BOUND] = max(search.number[box, BOUND], low + up)


@inner_kernel
def add_box(search: Search, lo: NDArray[np.int64], hi: NDArray[np.int64], low: float, up: float, bound: float) -> None:
    """Open a box unless it is ruled out already; its high corner is pulled in as far as the base costs allow."""
    count = search.count
    count[FREE] -= 1
    box = search.link[FREED, count[FREE]]
    for i in range(lo.size):
        search.corner[box, 0, i] = lo[i]
        search.corner[box, 1, i] = hi[i]
    search.number[box, LOW], search.number[box, UP], search.number[box, BOUND], search.link[SEEN, box] = (
        low,
        up,
        bound,
        0,
    )
    threshold = threshold_of(search)
    if search.facts[SEPARABLE]:
        base = base_of(search, lo)
        search.number[box, LOW] = base
        for i in range(lo.size):
            fixed = base - search.base[i, lo[i]] + up
            while search.corner[box, 1, i] > lo[i] and fixed + search.base[i, search.corner[box, 1, i]] >= threshold:
                search.corner[box, 1, i] -= 1
    search.number[box, MARGIN] = 0.0
    for i in range(lo.size):
        search.number[box, MARGIN] += search.margin[i, search.corner[box, 1, i]]
    refresh(search, box)
    if search.number[box, BOUND] >= threshold:
        count[CLOSED] += 1
        release(search, box)
    else:
        enqueue(search, box)


@inner_kernel
def _split(search: Search, box: int, corner: NDArray[np.int64], below: bool) -> None:
    """Take away the part of a box below (or above) a corner, and open what remains as disjoint boxes.

    The pieces are cut off attribute by attribute; the one that raises the bound most goes first and is the largest.
    """
    m = corner.size
    lo, hi = search.vector[0], search.vector[1]
    for i in range(m):
        lo[i], hi[i] = search.corner[box, 0, i], search.corner[box, 1, i]
    low, up, bound = search.number[box, LOW], search.number[box, UP], search.number[box, BOUND]
    done = search.vector[3]
    for i in range(m):
        done[i] = 0
    for _ in range(m):
        pick, best = -1, -INFINITE
        for i in range(m):
            if done[i] == 1:
                continue
            if below and hi[i] > corner[i]:
                if search.facts[SEPARABLE]:
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
        done[pick] = 1
        if below:
            kept = lo[pick]
            lo[pick] = corner[pick] + 1
            add_box(search, lo, hi, low, up, bound)
            lo[pick], hi[pick] = kept, corner[pick]
        else:
            kept = hi[pick]
            hi[pick] = corner[pick] - 1
            add_box(search, lo, hi, low, up, bound)
            hi[pick], lo[pick] = kept, corner[pick]


@inner_kernel
def cut(search: Search, box: int, threshold: float) -> bool:
    """Split a box by the evaluated node that rules out most of it; say whether there was one."""
    lo, hi = search.corner[box, 0], search.corner[box, 1]
    bits, part, nodes, margins = search.bits, search.part, search.node, search.margin
    low_bits = encode(search, lo, bits.shape[0] - 2)
    high_bits = encode(search, hi, bits.shape[0] - 3)
    m = lo.size
    most, which, below = 0.0, np.int64(-1), np.bool_(True)
    needed, most_margin = threshold - search.number[box, LOW], 0.0
    enough = threshold - search.number[box, UP]
    for i in range(m):
        most_margin += margins[i, lo[i]]
    exact = search.facts[SEPARABLE] == 1
    for e in range(search.count[EVALUATED] - 1, -1, -1):
        upper, removed = part[e, UPPER], part[e, REMOVED]
        if (upper >= needed or removed * most_margin >= needed) and _within(bits, low_bits, e):
            volume, margin = 1.0, 0.0
            for i in range(m):
                level = min(nodes[e, i], hi[i])
                volume *= level - lo[i] + 1
                margin += margins[i, level]
            if volume > most and (upper >= needed or removed * margin >= needed):
                most, which, below = volume, e, np.bool_(True)
        if not exact and part[e, LOWER] >= enough and _within(bits, e, high_bits):
            volume = 1.0
            for i in range(m):
                volume *= hi[i] - max(nodes[e, i], lo[i]) + 1
            if volume > most:
                most, which, below = volume, e, np.bool_(False)
    if which < 0:
        return False
    corner = search.vector[2]
    for i in range(m):
        node_i = search.node[which, i]
        corner[i] = min(node_i, hi[i]) if below else max(node_i, lo[i])
    search.count[CUT_BELOW if below else CUT_ABOVE] += 1
    _split(search, box, corner, below)
    return True


@inner_kernel
def halve(search: Search, box: int) -> None:
    """Split a box in the middle of its longest side; a box of one node is simply done."""
    lo, hi = search.vector[0], search.vector[1]
    side, length = 0, 0
    for i in range(lo.size):
        lo[i], hi[i] = search.corner[box, 0, i], search.corner[box, 1, i]
        if hi[i] - lo[i] > length:
            side, length = i, hi[i] - lo[i]
    if length == 0:
        return
    search.count[HALVED] += 1
    last = hi[side]
    hi[side] = (lo[side] + last) // 2
    add_box(search, lo, hi, search.number[box, LOW], search.number[box, UP], search.number[box, BOUND])
    lo[side], hi[side] = hi[side] + 1, last
    add_box(search, lo, hi, search.number[box, LOW], search.number[box, UP], search.number[box, BOUND])
