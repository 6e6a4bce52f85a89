"""Open boxes of the lattice: all nodes between two corners, ordered by what their nodes must cost at least.

What an evaluated node says about other nodes comes in two parts that add up. Its *lower* part bounds the cost of every
node above it: generalizing never makes published rows cheaper. Its *upper* part is what its suppressed rows cost more
than that, and bounds every node below it: those rows stay suppressed. A box is done when the lower part of a node below
its low corner and the upper part of a node above its high corner add up to the cost of the incumbent, or when a node
above it breaks the suppression limit (its upper part is then infinite).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.lattice.kernels.state import DOWN, INFINITE, TOLERANCE, UP, LatticeSearch

__all__ = [
    "SCRATCH_ROWS",
    "add_box",
    "base_of",
    "cut_box",
    "distance",
    "encode",
    "encode_probe",
    "enqueue",
    "free_box",
    "halve_box",
    "index_of",
    "pop_box",
    "push_box",
    "record_steps",
    "threshold_of",
    "update_bound",
]

SCRATCH_ROWS = 1
"""Rows at the end of ``search.steps`` that belong to no evaluated node."""


@inner_kernel
def push_box(search: LatticeSearch, box: int) -> None:
    """Put a box on the heap."""
    queue, boxes, state = search.queue, search.box, search.state
    i = state.heap
    state.heap += 1
    queue[i].heap = box
    while i > 0:
        parent = (i - 1) // 2
        if boxes[queue[parent].heap].bound <= boxes[queue[i].heap].bound:
            break
        queue[parent].heap, queue[i].heap = queue[i].heap, queue[parent].heap
        i = parent


@inner_kernel
def pop_box(search: LatticeSearch) -> int:
    """Take the last box off the stack, or else the one with the least bound off the heap."""
    queue, boxes, state = search.queue, search.box, search.state
    # Depth first, newest box first; boxes that were on the heap before wait until the stack is empty.
    if state.stack > 0:
        state.stack -= 1
        return queue[state.stack].stack
    top = queue[0].heap
    state.heap -= 1
    size = state.heap
    queue[0].heap = queue[size].heap
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and boxes[queue[child + 1].heap].bound < boxes[queue[child].heap].bound:
            child += 1
        if boxes[queue[i].heap].bound <= boxes[queue[child].heap].bound:
            break
        queue[child].heap, queue[i].heap = queue[i].heap, queue[child].heap
        i = child
    return top


@inner_kernel
def free_box(search: LatticeSearch, box: int) -> None:
    """Let another box have the number of this one."""
    search.queue[search.state.free].free = box
    search.state.free += 1


@inner_kernel
def enqueue(search: LatticeSearch, box: int) -> None:
    """Open a box: by bound, or depth first where memory runs short."""
    if search.state.deep == 1:
        search.queue[search.state.stack].stack = box
        search.state.stack += 1
    else:
        push_box(search, box)


@inner_kernel
def threshold_of(search: LatticeSearch) -> float:
    """Boxes whose bounds reach this are closed: nothing better than the incumbent, or nothing below the target."""
    # Without the tolerance, equal costs that were added up in another order would never be ruled out.
    best = search.state.best
    return min(best - TOLERANCE * abs(best) if best < INFINITE else INFINITE, search.state.target)


@inner_kernel
def base_of(search: LatticeSearch, node: NDArray[np.int64]) -> float:
    """What publishing all rows at a node costs, where costs add up over attributes."""
    total = 0.0
    for i in range(node.size):
        total += search.level[i, node[i]].published
    return total


@inner_kernel
def encode(search: LatticeSearch, node: NDArray[np.int64], row: int) -> int:
    """Write a node into a row of ``search.steps`` as the set of steps up to it from the lowest one; return the row.

    Attribute i has one bit per level above its lowest, and sets as many as it was raised by. So node a is at or below
    node b if a's set is a subset of b's, which is one operation per 64 steps instead of a comparison per attribute.
    """
    steps, limits = search.steps, search.limits
    for w in range(steps.shape[1]):
        steps[row, w] = np.uint64(0)
    first = 0
    for i in range(node.size):
        for step in range(first, first + node[i] - limits[i].lowest):
            steps[row, step >> 6] |= np.uint64(1) << np.uint64(step & 63)
        first += limits[i].highest - limits[i].lowest
    return row


@inner_kernel
def encode_probe(search: LatticeSearch, node: NDArray[np.int64]) -> int:
    """Encode a node that is to be compared with the evaluated ones; return its row."""
    return encode(search, node, search.steps.shape[0] - SCRATCH_ROWS)


@inner_kernel
def record_steps(search: LatticeSearch, node: NDArray[np.int64], e: int) -> None:
    """Write evaluated node e into ``search.steps``, and into its transpose ``search.raised``."""
    encode(search, node, e)
    limits, first, bit = search.limits, 0, np.uint64(1) << np.uint64(e & 63)
    for i in range(node.size):
        for step in range(first, first + node[i] - limits[i].lowest):
            search.raised[e >> 6, step] |= bit
        first += limits[i].highest - limits[i].lowest


@inner_kernel
def _steps_up_to(search: LatticeSearch, node: NDArray[np.signedinteger], steps: NDArray[np.int64]) -> int:  # steps OUT
    """List the last step up to a node in each attribute: nodes at or above it have them all. Return how many."""
    limits, first, found = search.limits, 0, 0
    for i in range(node.size):
        if node[i] > limits[i].lowest:
            steps[found] = first + node[i] - limits[i].lowest - 1
            found += 1
        first += limits[i].highest - limits[i].lowest
    return found


@inner_kernel
def _steps_beyond(search: LatticeSearch, node: NDArray[np.signedinteger], steps: NDArray[np.int64]) -> int:  # steps OUT
    """List the first step beyond a node in each attribute: nodes at or below it have none. Return how many."""
    limits, first, found = search.limits, 0, 0
    for i in range(node.size):
        if node[i] < limits[i].highest:
            steps[found] = first + node[i] - limits[i].lowest
            found += 1
        first += limits[i].highest - limits[i].lowest
    return found


@inner_kernel
def _with_all(raised: NDArray[np.uint64], steps: NDArray[np.int64], number: int, nodes: np.uint64) -> np.uint64:
    """Those of 64 nodes, a bit each, that have all of some steps."""
    for s in range(number):
        nodes &= raised[steps[s]]
        if nodes == 0:
            break
    return nodes


@inner_kernel
def _with_none(raised: NDArray[np.uint64], steps: NDArray[np.int64], number: int, nodes: np.uint64) -> np.uint64:
    """Those of 64 nodes, a bit each, that have none of some steps."""
    for s in range(number):
        nodes &= ~raised[steps[s]]
        if nodes == 0:
            break
    return nodes


@inner_kernel
def _evaluated_of(word: int, first: int, end: int) -> np.uint64:
    """The nodes ``first .. end-1`` among the 64 of a word, a bit each."""
    nodes = ~np.uint64(0)
    if first > 64 * word:
        nodes <<= np.uint64(first - 64 * word)
    if end < 64 * word + 64:
        nodes &= (np.uint64(1) << np.uint64(end - 64 * word)) - np.uint64(1)
    return nodes


@inner_kernel
def _ones(x: np.uint64) -> int:
    """The number of bits set, counted in pairs, nibbles and bytes (Warren, Hacker's Delight, section 5-1)."""
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    found = 0
    found += np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
    return found


@inner_kernel
def _lowest_bit(x: np.uint64) -> int:
    """The position of the lowest bit set."""
    return _ones((x & (~x + np.uint64(1))) - np.uint64(1))


@inner_kernel
def distance(steps: NDArray[np.uint64], first: int, second: int) -> int:
    """The number of steps between two nodes, given by their rows: the bits in which they differ."""
    total = 0
    for w in range(steps.shape[1]):
        total += _ones(steps[first, w] ^ steps[second, w])
    return total


@inner_kernel
def index_of(search: LatticeSearch, node: NDArray[np.int64]) -> int:
    """The index of a node among the evaluated ones, or -1."""
    has, lacks = search.chosen[0], search.chosen[1]
    up, beyond = _steps_up_to(search, node, has), _steps_beyond(search, node, lacks)
    last = search.state.evaluated
    for word in range((last + 63) >> 6):
        raised = search.raised[word]
        nodes = _with_all(raised, has, up, _evaluated_of(word, 0, last))
        if nodes != 0:
            nodes = _with_none(raised, lacks, beyond, nodes)
            if nodes != 0:
                return 64 * word + _lowest_bit(nodes)
    return -1


@inner_kernel
def update_bound(search: LatticeSearch, box: int) -> None:
    """Raise the bound of a box by the nodes evaluated since it was last updated."""
    # Only nodes evaluated since the last update are read: what older ones say is in the bound already.
    result, it = search.result, search.box[box]
    has, lacks = search.chosen[0], search.chosen[1]
    exact = search.facts.separable == 1
    up_to = _steps_up_to(search, search.corner[box, 1], has)
    beyond = 0 if exact else _steps_beyond(search, search.corner[box, 0], lacks)
    low, up, removed = it.low, it.up, it.removed
    last = search.state.evaluated
    for word in range(it.seen >> 6, (last + 63) >> 6):
        raised, some = search.raised[word], _evaluated_of(word, it.seen, last)
        above = _with_all(raised, has, up_to, some)
        while above != 0:
            e = 64 * word + _lowest_bit(above)
            above &= above - np.uint64(1)
            up = max(up, result[e].upper)
            removed = max(removed, result[e].removed)
        below = np.uint64(0) if exact else _with_none(raised, lacks, beyond, some)
        while below != 0:
            e = 64 * word + _lowest_bit(below)
            below &= below - np.uint64(1)
            low = max(low, result[e].lower)
    it.seen = last
    it.low, it.up, it.removed = low, up, removed
    # Removed rows cost at least the margin each, which may be more than what they cost at the node that removes them.
    # The bound of the box this one was part of holds too, and may be greater than the sum.
    it.bound = max(it.bound, low + max(up, removed * it.margin))


@inner_kernel
def add_box(search: LatticeSearch, low: float, up: float, removed: float, bound: float) -> None:
    """Open the drafted box unless it is ruled out already; the bounds are those of the box it was part of.

    Where costs add up over attributes its high corner is pulled in first: attribute i cannot be at a level whose cost,
    with all others at their lowest, reaches the threshold.
    """
    state, draft = search.state, search.draft
    state.free -= 1
    box = search.queue[state.free].free
    it, high_corner = search.box[box], search.corner[box, 1]
    for i in range(draft.size):
        search.corner[box, 0, i] = draft[i].low
        high_corner[i] = draft[i].high
    # seen = 0: the corners are new, so that every evaluated node may raise the bound again.
    it.low, it.up, it.removed, it.bound, it.seen = low, up, removed, bound, 0
    threshold = threshold_of(search)
    if search.facts.separable:
        base = 0.0
        for i in range(draft.size):
            base += search.level[i, draft[i].low].published
        it.low = base
        for i in range(draft.size):
            # What the box costs at least beside attribute i.
            fixed = base - search.level[i, draft[i].low].published + up
            while high_corner[i] > draft[i].low and fixed + search.level[i, high_corner[i]].published >= threshold:
                high_corner[i] -= 1
    # All rows cost at least what they do at the low corner, and what a suppressed row costs more is measured there. If
    # rows may get cheaper further up, it is measured at the high corner: margins fall with the level.
    it.margin = 0.0
    for i in range(draft.size):
        corner = draft[i].low if search.facts.rising else high_corner[i]
        it.margin += search.level[i, corner].margin
    update_bound(search, box)
    if it.bound >= threshold:
        state.closed += 1
        free_box(search, box)
    else:
        enqueue(search, box)


@inner_kernel
def _draft_box(search: LatticeSearch, box: int) -> None:
    """Start the draft as a copy of a box."""
    for i in range(search.draft.size):
        search.draft[i].low, search.draft[i].high = search.corner[box, 0, i], search.corner[box, 1, i]
        search.draft[i].taken = 0


@inner_kernel
def _split_gain(search: LatticeSearch, i: int, below: bool) -> float:
    """How much splitting the draft off in attribute i raises its bound, roughly; minus infinity if it cannot be."""
    draft = search.draft[i]
    if draft.taken == 1:
        return -INFINITE
    if below and draft.high > draft.corner:
        if search.facts.separable:
            return search.level[i, draft.corner + 1].published - search.level[i, draft.low].published
        step = search.level[i, draft.corner + 1].entropy - search.level[i, draft.low].entropy
        return search.weights[DOWN, i] * step
    if not below and draft.low < draft.corner:
        step = search.level[i, draft.corner - 1].entropy - search.level[i, draft.high].entropy
        return search.weights[UP, i] * step
    return -INFINITE


@inner_kernel
def _split(search: LatticeSearch, box: int, below: bool) -> None:
    """Take away the part of a box below (or above) the drafted corner, and open what remains as disjoint boxes.

    The pieces are cut off attribute by attribute: the part of the box beyond the corner in that attribute, while the
    rest goes on without it. The piece with the greatest gain goes first and is the largest.
    """
    draft, it = search.draft, search.box[box]
    low, up, removed, bound = it.low, it.up, it.removed, it.bound
    for _ in range(draft.size):
        pick, best = -1, -INFINITE
        for i in range(draft.size):
            gain = _split_gain(search, i, below)
            if gain > best:
                pick, best = i, gain
        # No attribute is beyond the corner any more: the rest of the draft lies within the part ruled out.
        if pick < 0:
            break
        part = draft[pick]
        part.taken = 1
        if below:
            # The piece above the corner in this attribute becomes a box; the draft keeps the piece at or below it.
            kept = part.low
            part.low = part.corner + 1
            add_box(search, low, up, removed, bound)
            part.low, part.high = kept, part.corner
        else:
            kept = part.high
            part.high = part.corner - 1
            add_box(search, low, up, removed, bound)
            part.high, part.low = kept, part.corner


@inner_kernel
def cut_box(search: LatticeSearch, box: int, threshold: float) -> bool:
    """Split a box by the evaluated node that rules out most of it; say whether there was one.

    A node e at or above the low corner rules out all nodes of the box at or below it, if its upper part and the lower
    part of the box reach the threshold; a node at or below the high corner rules out all at or above it, if
    its lower part and the upper part of the box do.
    """
    low, high = search.corner[box, 0], search.corner[box, 1]
    result, nodes, level = search.result, search.node, search.level
    has, lacks = search.chosen[0], search.chosen[1]
    m = low.size
    most, which, below = 0.0, np.int64(-1), np.bool_(True)
    # What an upper part, or a lower part, must reach to rule out a node of the box.
    needed, most_margin = threshold - search.box[box].low, 0.0
    enough = threshold - search.box[box].up
    for i in range(m):
        most_margin += level[i, low[i]].margin
    # Where published costs add up the box knows its own lower part exactly.
    exact, rising = search.facts.separable == 1, search.facts.rising == 1
    up_to = _steps_up_to(search, low, has)
    beyond = 0 if exact else _steps_beyond(search, high, lacks)
    last = search.state.evaluated
    for word in range((last + 63) >> 6):
        raised, some = search.raised[word], _evaluated_of(word, 0, last)
        above = _with_all(raised, has, up_to, some)
        under = np.uint64(0) if exact else _with_none(raised, lacks, beyond, some)
        while under != 0:
            e = 64 * word + _lowest_bit(under)
            under &= under - np.uint64(1)
            if result[e].lower >= enough:
                volume = 1.0
                for i in range(m):
                    volume *= high[i] - max(nodes[e, i], low[i]) + 1
                if volume >= most:
                    most, which, below = volume, e, np.bool_(False)
        while above != 0:
            e = 64 * word + _lowest_bit(above)
            above &= above - np.uint64(1)
            # The cheap test comes first: with the margin of the low corner, which is the greatest in the box.
            upper, removed = result[e].upper, result[e].removed
            if upper >= needed or removed * most_margin >= needed:
                volume, margin = 1.0, 0.0
                for i in range(m):
                    reach = min(nodes[e, i], high[i])
                    volume *= reach - low[i] + 1
                    # All nodes that would be cut are at or below ``reach``; see :func:`add_box`.
                    margin += level[i, low[i] if rising else reach].margin
                if volume >= most and (upper >= needed or removed * margin >= needed):
                    most, which, below = volume, e, np.bool_(True)
    if which < 0:
        return False
    _draft_box(search, box)
    for i in range(m):
        level_i = search.node[which, i]
        search.draft[i].corner = min(level_i, high[i]) if below else max(level_i, low[i])
    if below:
        search.state.cut_below += 1
    else:
        search.state.cut_above += 1
    _split(search, box, below)
    return True


@inner_kernel
def halve_box(search: LatticeSearch, box: int) -> None:
    """Split a box in the middle of its longest side; a box of one node is simply done."""
    _draft_box(search, box)
    longest, length = 0, 0
    for i in range(search.draft.size):
        if search.draft[i].high - search.draft[i].low > length:
            longest, length = i, search.draft[i].high - search.draft[i].low
    if length == 0:
        return
    search.state.halved += 1
    it, side = search.box[box], search.draft[longest]
    low, up, removed, bound = it.low, it.up, it.removed, it.bound
    last = side.high
    side.high = (side.low + last) // 2
    add_box(search, low, up, removed, bound)
    side.low, side.high = side.high + 1, last
    add_box(search, low, up, removed, bound)
