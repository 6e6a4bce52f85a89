"""Best-first branch and bound over boxes of a lattice of level vectors: which node to evaluate next, and what follows.

:func:`choose` names a node, the caller evaluates it, :func:`tell` takes the result in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.boxes import (
    add_box,
    cut,
    encode,
    enqueue,
    halve,
    pop,
    position,
    push,
    refresh,
    release,
    threshold_of,
)
from discreet.kernels.forecast import climb, correct, cutoff_of, error_at, from_corner, learn, sink, suggest
from discreet.kernels.state import (
    ACTIVE,
    BOUND,
    CHAIN_HIGH,
    CHAIN_LOW,
    CLOSED,
    DEEP,
    EVALUATED,
    FREE,
    HEAP,
    HEAPED,
    HIT,
    INCUMBENT,
    INFINITE,
    LIMIT,
    LOW,
    LOWER,
    MARGIN,
    NODE,
    PAUSE,
    REMOVED,
    SEPARABLE,
    SIDE,
    STACK,
    STACKED,
    TRIES,
    UP,
    UPPER,
    WAIT,
    WORST,
    Search,
)

__all__ = ["DONE", "EVALUATE", "GROW", "choose", "go_deep", "lower_bound", "open_root", "tell"]

DONE, EVALUATE, GROW = 0, 1, 2
"""What :func:`choose` says: the proof is complete; evaluate the node; the arrays are full."""

_FOLLOW = 6
"""How many evaluations in a row one box may ask for."""
_PATIENCE = 64
"""The longest pause, in evaluations, between two attempts to improve the incumbent."""


@inner_kernel
def _explore(search: Search, box: int, threshold: float, node: NDArray[np.int64]) -> bool:  # node OUT
    """Choose the node whose evaluation is predicted to remove most of the box; say whether there is one left."""
    count = search.count
    up, down = search.vector[2], search.vector[3]
    search.best[1], search.best[2] = 0.0, 0.0
    most, side = -1.0, np.int64(0)
    for way in range(1 if search.facts[SEPARABLE] else 2):
        cutoff = cutoff_of(search, box, threshold, way)
        reached = down if way == 1 else up
        from_corner(search, box, reached, cutoff, way)
        correct(search, reached, way)
        volume = from_corner(search, box, reached, cutoff, way)
        if volume > most:
            most, side = volume, np.int64(way)
    for i in range(node.size):
        node[i] = down[i] if side == 1 else up[i]
    if position(search, node) >= 0:
        for corner in range(2):
            for i in range(node.size):
                node[i] = search.corner[box, 0, i] if corner == side else search.corner[box, 1, i]
            if position(search, node) < 0:
                break
        else:
            return False
    count[ACTIVE], count[TRIES], count[SIDE], count[HIT] = box, 0, side, 0
    return True


@inner_kernel
def _follow(search: Search, node: NDArray[np.int64]) -> bool:  # node OUT
    """After an evaluation asked for by a box: go on in the same direction, or back, or let go of the box."""
    count = search.count
    box, side, e = count[ACTIVE], count[SIDE], count[NODE]
    threshold = threshold_of(search)
    count[TRIES] += 1
    go_on = count[TRIES] < _FOLLOW
    if go_on:
        search.best[1 + side] = error_at(search, e, side)
        cutoff = cutoff_of(search, box, threshold, side)
        if side == 0:
            upper = max(search.part[e, UPPER], search.part[e, REMOVED] * search.number[box, MARGIN])
            cut = upper + search.number[box, LOW]
        else:
            cut = search.part[e, LOWER] + search.number[box, UP]
        if cut >= threshold:
            count[HIT] = 1
            outside = False
            for i in range(node.size):
                node[i] = search.node[e, i]
                outside |= (node[i] < search.corner[box, 0, i]) if side == 0 else (node[i] > search.corner[box, 1, i])
            if outside:
                go_on = False
            elif side == 0:
                climb(search, box, node, cutoff)
            else:
                sink(search, box, node, cutoff)
        elif count[HIT] == 1:
            go_on = False
        else:
            from_corner(search, box, node, cutoff, side)
    if go_on and position(search, node) < 0:
        return True
    count[ACTIVE] = -1
    enqueue(search, box)
    return False


@inner_kernel
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
            if search.facts[SEPARABLE]:
                drop = search.entropy[i, node[i]] - search.entropy[i, node[i] + 1]
                gain = drop / (
                    search.base[i, node[i] + 1] - search.base[i, node[i]] + 1e-9 * (search.facts[WORST] + 1.0)
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
    search.count[ACTIVE] = -1
    search.count[WAIT] = 1
    search.count[CHAIN_LOW] = 0
    search.count[CHAIN_HIGH] = _chain(search, np.int64(0), search.vector[3])
    add_box(search, lo, hi, 0.0, 0.0, 0.0)


@inner_kernel
def _warm_up(search: Search, node: NDArray[np.int64]) -> bool:  # node OUT
    """The first nodes: top and bottom, then halving a chain between them until the edge of feasibility is found."""
    count = search.count
    done = count[EVALUATED]
    if done == 0 or (done == 1 and count[CHAIN_HIGH] > 0):
        for i in range(node.size):
            node[i] = search.levels[1, i] if done == 0 else search.levels[0, i]
        return True
    if done > 2 and count[CHAIN_HIGH] - count[CHAIN_LOW] > 1:
        middle = (count[CHAIN_LOW] + count[CHAIN_HIGH]) // 2
        if search.part[done - 1, REMOVED] <= search.facts[LIMIT]:
            count[CHAIN_HIGH] = middle
        else:
            count[CHAIN_LOW] = middle
    if count[CHAIN_HIGH] - count[CHAIN_LOW] > 1:
        _chain(search, (count[CHAIN_LOW] + count[CHAIN_HIGH]) // 2, node)
        return True
    return False


@kernel
def choose(search: Search, node: NDArray[np.int64]) -> int:  # node OUT
    """Say what comes next: evaluate a node, grow the arrays, or stop because the proof is complete."""
    count = search.count
    m = node.size
    if count[EVALUATED] >= search.node.shape[0]:
        return GROW
    if _warm_up(search, node):
        return EVALUATE
    if count[ACTIVE] >= 0 and _follow(search, node):
        return EVALUATE
    count[PAUSE] += 1
    if count[PAUSE] >= count[WAIT]:
        count[PAUSE] = 0
        count[WAIT] = min(2 * count[WAIT], _PATIENCE)
        if suggest(search, node) < threshold_of(search):
            return EVALUATE
    while count[STACK] + count[HEAP] > 0:
        threshold = threshold_of(search)
        if count[STACK] == 0 and search.number[search.link[HEAPED, 0], BOUND] >= threshold:
            break
        if count[FREE] < 2 * m + 4 and count[DEEP] == 0:
            return GROW
        box = pop(search)
        before = search.number[box, BOUND]
        refresh(search, box)
        if search.number[box, BOUND] >= threshold:
            count[CLOSED] += 1
            release(search, box)
        elif (
            count[DEEP] == 0
            and count[HEAP] > 0
            and before < search.number[box, BOUND] > search.number[search.link[HEAPED, 0], BOUND]
        ):
            push(search, box)
        elif cut(search, box, threshold):
            release(search, box)
        elif _explore(search, box, threshold, node):
            return EVALUATE
        else:
            halve(search, box)
            release(search, box)
    return DONE


@kernel
def tell(search: Search, node: NDArray[np.int64], removed: float, lower: float, upper: float, cost: float) -> None:
    """Take in what the evaluation of a node gave; ``cost`` is infinite where the node itself is not allowed.

    ``removed`` rows are suppressed here and everywhere below; ``lower`` and ``upper`` are the two parts of the bound.
    """
    count = search.count
    e = count[EVALUATED]
    count[EVALUATED] += 1
    count[NODE] = e
    for i in range(node.size):
        search.node[e, i] = node[i]
    encode(search, node, e)
    search.part[e, LOWER] = lower
    search.part[e, UPPER] = INFINITE if removed > search.facts[LIMIT] else upper
    search.part[e, REMOVED] = removed
    learn(search, node, removed, lower)
    if cost < search.best[0]:
        search.best[0] = cost
        for i in range(node.size):
            search.vector[INCUMBENT, i] = node[i]
        count[WAIT] = 1


@kernel
def go_deep(search: Search) -> None:
    """From now on open new boxes depth first, which needs little memory."""
    search.count[DEEP] = 1


@kernel
def lower_bound(search: Search) -> float:
    """The least cost anything not yet ruled out can have, capped by the incumbent."""
    count = search.count
    bound = search.best[0]
    if count[HEAP] > 0:
        bound = min(bound, search.number[search.link[HEAPED, 0], BOUND])
    for s in range(count[STACK]):
        bound = min(bound, search.number[search.link[STACKED, s], BOUND])
    if count[ACTIVE] >= 0:
        bound = min(bound, search.number[count[ACTIVE], BOUND])
    return bound
