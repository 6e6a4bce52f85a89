"""Best-first branch and bound over boxes of the lattice: which node to evaluate next, and what follows from it.

:func:`choose_node` names a node, the caller evaluates it, :func:`add_result` takes the result in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.lattice.kernels.boxes import (
    add_box,
    cut_box,
    enqueue,
    free_box,
    halve_box,
    index_of,
    pop_box,
    push_box,
    record_steps,
    threshold_of,
    update_bound,
)
from discreet.solve.lattice.kernels.prediction import (
    correct,
    cutoff_of,
    error_at,
    furthest_from_corner,
    learn,
    suggest,
)
from discreet.solve.lattice.kernels.state import DOWN, INFINITE, UP, LatticeSearch

__all__ = [
    "DONE",
    "EVALUATE",
    "GROW",
    "IDLE",
    "add_result",
    "begin_rounds",
    "choose_node",
    "go_deep",
    "lower_bound",
    "open_root",
]

DONE, EVALUATE, GROW, IDLE = 0, 1, 2, 3
"""What :func:`choose_node` says: the proof is complete; evaluate the node; the arrays are full; wait for others."""

_MOST_TRIES = 6
"""How many evaluations in a row one box may ask for."""
_FIRST_STEPS, _MOST_STEPS = 4, 256
"""The first target lies this part of the gap above the bound; each further one at least that."""
_PATIENCE = 64
"""The longest pause, in evaluations, between two attempts to improve the incumbent."""


@inner_kernel
def _taken(search: LatticeSearch, node: NDArray[np.int64]) -> bool:
    """Whether a node is evaluated, or just being evaluated."""
    for s in range(search.explorer.size):
        if search.explorer[s].pending == 1:
            i = 0
            while i < node.size and search.explored[s, i] == node[i]:
                i += 1
            if i == node.size:
                return True
    return index_of(search, node) >= 0


@inner_kernel
def _explore(
    search: LatticeSearch, explorer: int, box: int, threshold: float, node: NDArray[np.int64]
) -> bool:  # node OUT
    """Choose the node whose evaluation is predicted to remove most of the box; say whether there is one left."""
    own, other = search.explorer[explorer], search.trial
    search.correction[UP], search.correction[DOWN] = 0.0, 0.0
    most, chosen = -1.0, np.int64(UP)
    # Where costs add up the lower part of every node is known, and only evaluations above can cut.
    for direction in range(1 if search.facts.separable else 2):
        cutoff = cutoff_of(search, box, threshold, direction)
        reached = other if direction == DOWN else node
        # The evaluated node nearest to the first result corrects the prediction for the second.
        furthest_from_corner(search, box, reached, cutoff, direction)
        correct(search, reached, direction)
        volume = furthest_from_corner(search, box, reached, cutoff, direction)
        if volume > most:
            most, chosen = volume, np.int64(direction)
    if chosen == DOWN:
        for i in range(node.size):
            node[i] = other[i]
    if _taken(search, node):
        # Nothing new was found: try the far corner, then the near one; a box with both evaluated must be halved.
        for corner in range(2):
            for i in range(node.size):
                node[i] = search.corner[box, 0, i] if corner == chosen else search.corner[box, 1, i]
            # Not if it is only being evaluated: a box of this node alone must stay open until that is known.
            if index_of(search, node) < 0:
                break
        else:
            return False
    own.active, own.tries, own.direction = box, 0, chosen
    return True


@inner_kernel
def _follow(search: LatticeSearch, explorer: int, node: NDArray[np.int64]) -> bool:  # node OUT
    """Name the next node for the active box of an explorer, or queue the box again and say that there is none.

    If the last node did not cut the box, a nearer one is tried.
    """
    own = search.explorer[explorer]
    box, direction, e = own.active, own.direction, own.last
    it, result = search.box[box], search.result[e]
    threshold = threshold_of(search)
    own.tries += 1
    if direction == UP:
        cut = max(result.upper, result.removed * it.margin) + it.low
    else:
        cut = result.lower + it.up
    if cut < threshold and own.tries < _MOST_TRIES:
        # The whole error at the last node is carried over: the next one is close to it.
        search.correction[direction] = error_at(search, e, direction)
        furthest_from_corner(search, box, node, cutoff_of(search, box, threshold, direction), direction)
        if not _taken(search, node):
            return True
    own.active = -1
    enqueue(search, box)
    return False


@inner_kernel
def _chain(search: LatticeSearch, steps: int, node: NDArray[np.int64]) -> int:  # node OUT
    """Walk some steps up from the lowest node by the raises that pay best; return how many there are to the top."""
    m, level, limits = node.size, search.level, search.limits
    length = 0
    for i in range(m):
        node[i] = limits[i].lowest
        length += limits[i].highest - limits[i].lowest
    for _ in range(min(steps, length)):
        pick, best = -1, -INFINITE
        for i in range(m):
            if node[i] >= limits[i].highest:
                continue
            # Without known costs attributes rise evenly, as shares of their heights ...
            gain = -(node[i] - limits[i].lowest + 0.5) / (limits[i].highest - limits[i].lowest)
            if search.facts.separable:
                # ... else by entropy lost per cost.
                drop = level[i, node[i]].entropy - level[i, node[i] + 1].entropy
                raised = level[i, node[i] + 1].published - level[i, node[i]].published
                gain = drop / (raised + 1e-9 * (search.facts.worst + 1.0))
            if gain > best:
                pick, best = i, gain
        node[pick] += 1
    return length


@inner_kernel
def open_root(search: LatticeSearch) -> None:
    """Open the box of the whole lattice and get ready to search it."""
    state = search.state
    for i in range(search.draft.size):
        search.draft[i].low, search.draft[i].high = search.limits[i].lowest, search.limits[i].highest
        search.incumbent[i] = search.limits[i].highest
    for s in range(search.explorer.size):
        search.explorer[s].active = -1
    state.wait = 1
    state.chain_low = 0
    state.chain_high = _chain(search, np.int64(0), search.trial)
    add_box(search, 0.0, 0.0, 0.0, 0.0)


@inner_kernel
def _open_again(search: LatticeSearch, target: float) -> None:
    """Begin a round: open the whole lattice again; what was evaluated so far cuts it at once."""
    state, number = search.state, search.box.size
    state.target, state.before = target, state.evaluated
    state.heap, state.stack, state.deep, state.free = 0, 0, 0, number
    for i in range(number):
        search.queue[i].free = number - 1 - i
    for s in range(search.explorer.size):
        search.explorer[s].active = -1
    for i in range(search.draft.size):
        search.draft[i].low, search.draft[i].high = search.limits[i].lowest, search.limits[i].highest
    add_box(search, 0.0, 0.0, 0.0, 0.0)


@inner_kernel
def begin_rounds(search: LatticeSearch) -> None:
    """From now on prove one target after the other, each a little higher, instead of the optimum at once."""
    state = search.state
    state.proven = lower_bound(search)
    state.step = (state.best - state.proven) / _FIRST_STEPS
    _open_again(search, state.proven + state.step)


@inner_kernel
def _next_round(search: LatticeSearch) -> bool:
    """Go on with a higher target once one is proven; say whether there is any."""
    state = search.state
    if state.target >= state.best:
        return False
    state.proven = state.target
    spent = state.evaluated - state.before
    if spent < state.before:
        state.step *= 1.5
    elif spent > 2 * state.before:
        state.step *= 0.7
    # The last round has no target: the incumbent is proven to be the optimum, or a better one found.
    target = state.proven + max(state.step, (state.best - state.proven) / _MOST_STEPS)
    _open_again(search, target if target < state.best else INFINITE)
    return True


@inner_kernel
def _give_up(search: LatticeSearch) -> bool:
    """Try a lower target where a round takes longer than all before; say whether that was done."""
    state = search.state
    if state.target >= state.best or state.evaluated - state.before <= 3 * state.before + 100:
        return False
    state.proven = lower_bound(search)
    step = 0.5 * (state.target - state.proven)
    if step < (state.best - state.proven) / _MOST_STEPS:
        return False
    state.step = step
    _open_again(search, state.proven + step)
    return True


@inner_kernel
def _first_nodes(search: LatticeSearch, node: NDArray[np.int64]) -> bool:  # node OUT
    """The first nodes: top and bottom, then bisection of a chain between them for the edge of feasibility.

    They give a good incumbent and a first fit of the prediction, for log2(length of the chain) evaluations.
    """
    state = search.state
    done = state.evaluated
    if done == 0 or (done == 1 and state.chain_high > 0):
        for i in range(node.size):
            node[i] = search.limits[i].highest if done == 0 else search.limits[i].lowest
        return True
    if done > 2 and state.chain_high - state.chain_low > 1:
        half = (state.chain_low + state.chain_high) // 2
        if search.result[done - 1].removed <= search.facts.limit:
            state.chain_high = half
        else:
            state.chain_low = half
    if state.chain_high - state.chain_low > 1:
        _chain(search, (state.chain_low + state.chain_high) // 2, node)
        return True
    return False


@inner_kernel
def _busy(search: LatticeSearch) -> bool:
    """Whether any explorer has a box, or a node that is being evaluated."""
    busy = False
    for s in range(search.explorer.size):
        busy |= search.explorer[s].active >= 0 or search.explorer[s].pending == 1
    return busy


@inner_kernel
def choose_node(search: LatticeSearch, explorer: int, node: NDArray[np.int64]) -> int:  # node OUT
    """Say what comes next for an explorer: evaluate a node, grow the arrays, wait, or stop as the proof is complete."""
    state, boxes, queue = search.state, search.box, search.queue
    if state.evaluated + search.explorer.size > search.node.shape[0]:
        return GROW
    if _first_nodes(search, node):
        return EVALUATE
    _give_up(search)
    if search.explorer[explorer].active >= 0 and _follow(search, explorer, node):
        return EVALUATE
    # Look for a better incumbent: often after an improvement, ever more rarely while nothing is found.
    state.pause += 1
    if state.pause >= state.wait:
        state.pause = 0
        state.wait = min(2 * state.wait, _PATIENCE)
        if suggest(search, node) < threshold_of(search) and not _taken(search, node):
            return EVALUATE
    while True:
        threshold = threshold_of(search)
        # The heap is ordered by bound: if its first box is ruled out, all are.
        if state.stack == 0 and (state.heap == 0 or boxes[queue[0].heap].bound >= threshold):
            if _busy(search):
                return IDLE
            if not _next_round(search):
                return DONE
            continue
        if state.free < 2 * node.size + 4 + search.explorer.size and state.deep == 0:
            return GROW  # a split opens a box per attribute at most
        # Bounds are updated when a box is taken, not when a node is evaluated: most boxes are never taken.
        box = pop_box(search)
        before = boxes[box].bound
        update_bound(search, box)
        if boxes[box].bound >= threshold:
            state.closed += 1
            free_box(search, box)
        elif state.deep == 0 and state.heap > 0 and before < boxes[box].bound > boxes[queue[0].heap].bound:
            push_box(search, box)  # its bound has risen, and it is not the first any more
        elif cut_box(search, box, threshold):
            free_box(search, box)
        elif _explore(search, explorer, box, threshold, node):
            return EVALUATE
        else:
            halve_box(search, box)
            free_box(search, box)


@inner_kernel
def add_result(
    search: LatticeSearch,
    explorer: int,
    node: NDArray[np.int64],
    removed: float,
    lower: float,
    upper: float,
    cost: float,
) -> None:
    """Take in what the evaluation of a node gave; ``cost`` is infinite where the node itself is not allowed.

    ``removed`` rows are suppressed here and everywhere below; ``lower`` and ``upper`` are the two parts of the bound.
    """
    state = search.state
    e = state.evaluated
    state.evaluated += 1
    search.explorer[explorer].last = e
    for i in range(node.size):
        search.node[e, i] = node[i]
    record_steps(search, node, e)
    result = search.result[e]
    result.lower = lower
    # Nothing below a node that breaks the limit is a release, whatever it would cost.
    result.upper = INFINITE if removed > search.facts.limit else upper
    result.removed = removed
    learn(search, node, removed, lower)
    if cost < state.best:
        state.best = cost
        for i in range(node.size):
            search.incumbent[i] = node[i]
        state.wait = 1


@inner_kernel
def go_deep(search: LatticeSearch) -> None:
    """From now on open new boxes depth first, which needs little memory."""
    search.state.deep = 1


@inner_kernel
def lower_bound(search: LatticeSearch) -> float:
    """The least cost anything not yet ruled out can have, capped by the incumbent."""
    state, boxes, queue = search.state, search.box, search.queue
    bound = state.best
    if state.heap > 0:
        bound = min(bound, boxes[queue[0].heap].bound)
    for s in range(state.stack):
        bound = min(bound, boxes[queue[s].stack].bound)
    # A box is in no queue while it is explored.
    for s in range(search.explorer.size):
        if search.explorer[s].active >= 0:
            bound = min(bound, boxes[search.explorer[s].active].bound)
    # Boxes left to later rounds have bounds of at least the target.
    return max(min(bound, state.target), state.proven)
