"""The exact front of privacy against loss over a lattice of level vectors: what evaluated nodes say about the others.

Every node has a privacy *value* (its k, say) and a loss. What an evaluated node tells is kept for every other node:

- ``low``: what publishing all rows costs at a node below it. Generalizing never makes published rows cheaper, so the
  loss is at least that.
- ``due``: the loss from which on the node cannot matter. A node above it has some value v, so the node itself has at
  most v. Were it to reach a value κ ≤ v, then all rows in classes worse than κ above it would be suppressed here too,
  which costs so and so much extra; ``due`` is the largest loss, less that extra, that the front so far has for any κ.

A node whose ``low`` reaches its ``due`` is worse than the front, whatever it turns out to be. The others are open.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel

__all__ = [
    "CHANGED",
    "CLOSED",
    "COUNTERS",
    "DUE",
    "EVALUATED",
    "EVALUATED_NODES",
    "FACTS",
    "FRONT",
    "LEAST",
    "LOSS",
    "LOST",
    "LOW",
    "MOST",
    "OPEN",
    "OPEN_NODES",
    "TOTAL",
    "VALUE",
    "Fronts",
    "levels_of",
    "note_front",
    "renew",
    "slack",
    "spread",
    "tell",
]

OPEN, CLOSED, EVALUATED = 0, 1, 2


class Fronts(NamedTuple):
    """Everything the search for a front works on. Nodes are numbered like the cells of an array of levels."""

    span: NDArray[np.int64]
    """(m,) the number of levels of each attribute."""
    stride: NDArray[np.int64]
    """(m,)"""
    state: NDArray[np.int8]
    """(nodes,) open, closed or evaluated."""
    bound: NDArray[np.float64]
    """(4, nodes): low, due, and the least and the greatest value the node can have."""
    count: NDArray[np.int64]
    """By the names in COUNTERS."""
    facts: NDArray[np.float64]
    """By the names in FACTS."""
    node: NDArray[np.int64]
    """(evaluated,) the number of each evaluated node."""
    known: NDArray[np.float64]
    """(evaluated, 4): its value, its loss, what publishing all rows costs, the rows it suppresses."""
    first: NDArray[np.int64]
    """(evaluated + 1,) where its profile begins."""
    profile: NDArray[np.float64]
    """(entries, 2): for each value worse than the node's own that some class has: the value, and what suppressing all
    rows of classes up to it costs more than publishing them."""
    front: NDArray[np.float64]
    """(points, 3), by value: value, loss, number of the evaluated node."""
    step: NDArray[np.float64]
    """(2 points, 3): from which value on, what loss the front has there, whether a node must be truly worse."""


COUNTERS = ("evaluated", "open", "front", "steps", "changed")
EVALUATED_NODES, OPEN_NODES, FRONT, STEPS, CHANGED = range(5)
FACTS = ("rows", "monotone", "floor", "absolute", "relative")
"""The rows of the table; whether a node has at most the value of those above it; whether each row costs at least the
value of the node; how far apart losses that count as equal may be, whatever they are and as a share of the loss."""
ROWS, MONOTONE, FLOOR, ABSOLUTE, RELATIVE = range(5)
LOW, DUE, LEAST, MOST = range(4)
VALUE, LOSS, TOTAL, LOST = range(4)


@kernel
def levels_of(fronts: Fronts, number: int, levels: NDArray[np.int64]) -> None:  # levels OUT
    """Write the levels of a node, counted from the lowest allowed ones."""
    for i in range(levels.size):
        levels[i] = number // fronts.stride[i]
        number -= levels[i] * fronts.stride[i]


@kernel
def slack(facts: NDArray[np.float64], loss: float) -> float:
    """How far another loss may be from a loss and still count as equal."""
    return facts[ABSOLUTE] + facts[RELATIVE] * abs(loss)


@kernel
def note_front(fronts: Fronts, e: int) -> bool:
    """Take an evaluated node into the front if it belongs there; say whether the front has changed."""
    front, count = fronts.front, fronts.count
    value, loss, number = fronts.known[e, VALUE], fronts.known[e, LOSS], fronts.node[e]
    points, margin = count[FRONT], slack(fronts.facts, loss)
    for f in range(points):
        if front[f, 0] >= value and front[f, 1] <= loss + margin:
            alike = front[f, 0] == value and front[f, 1] >= loss - margin
            if alike and number < fronts.node[np.int64(front[f, 2])]:
                front[f, 1], front[f, 2] = loss, e
            return False
    kept = 0
    for f in range(points):
        if front[f, 0] > value or front[f, 1] < loss - margin:
            for a in range(3):
                front[kept, a] = front[f, a]
            kept += 1
    place = kept
    while place > 0 and front[place - 1, 0] > value:
        for a in range(3):
            front[place, a] = front[place - 1, a]
        place -= 1
    front[place, 0], front[place, 1], front[place, 2] = value, loss, e
    count[FRONT] = kept + 1
    _make_steps(fronts)
    return True


@kernel
def _make_steps(fronts: Fronts) -> None:
    """A node that lies between two points must reach the loss of the better one; one that lies on it must pass it."""
    front, step = fronts.front, fronts.step
    steps, before = 0, -np.inf
    for f in range(fronts.count[FRONT]):
        step[steps, 0], step[steps, 1], step[steps, 2] = np.nextafter(before, np.inf), front[f, 1], 0.0
        step[steps + 1, 0], step[steps + 1, 1], step[steps + 1, 2] = front[f, 0], front[f, 1], 1.0
        steps += 2
        before = front[f, 0]
    fronts.count[STEPS] = steps


@kernel
def _due_below(fronts: Fronts, e: int) -> float:
    """What the nodes below an evaluated one may cost at most to matter."""
    step, known, rows = fronts.step, fronts.known, fronts.facts[ROWS]
    at, end = fronts.first[e], fronts.first[e + 1]
    extra, worst = 0.0, -np.inf
    for s in range(fronts.count[STEPS]):
        value, loss = step[s, 0], step[s, 1]
        if value > known[e, VALUE]:
            return worst
        while at < end and fronts.profile[at, 0] < value:
            extra = fronts.profile[at, 1]
            at += 1
        margin = slack(fronts.facts, loss)
        loss += margin if step[s, 2] > 0.0 else -margin
        if fronts.facts[FLOOR] > 0.0 and value * rows > loss:
            continue
        worst = max(worst, loss - extra)
    return worst


@kernel
def spread(fronts: Fronts, e: int, up: bool) -> None:
    """Tell all nodes above (or below) an evaluated one what it means for them."""
    span, stride, state, bound = fronts.span, fronts.stride, fronts.state, fronts.bound
    value, total, due = fronts.known[e, VALUE], fronts.known[e, TOTAL], 0.0
    if not up:
        due = _due_below(fronts, e)
    m = span.size
    lo, hi = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    levels_of(fronts, fronts.node[e], lo)
    for i in range(m):
        hi[i] = span[i] - 1 if up else lo[i]
        lo[i] = lo[i] if up else 0
    at, number = lo.copy(), np.int64(0)
    for i in range(m):
        number += lo[i] * stride[i]
    monotone = fronts.facts[MONOTONE] > 0.0
    while True:
        if up:
            bound[LOW, number] = max(bound[LOW, number], total)
            if monotone:
                bound[LEAST, number] = max(bound[LEAST, number], value)
        else:
            bound[DUE, number] = min(bound[DUE, number], due)
            bound[MOST, number] = min(bound[MOST, number], value)
        if state[number] == OPEN and bound[LOW, number] >= bound[DUE, number]:
            state[number] = CLOSED
            fronts.count[OPEN_NODES] -= 1
        i = m - 1
        while i >= 0:
            if at[i] < hi[i]:
                at[i] += 1
                number += stride[i]
                break
            number -= stride[i] * (at[i] - lo[i])
            at[i] = lo[i]
            i -= 1
        if i < 0:
            return


@kernel
def tell(
    fronts: Fronts, number: int, value: float, loss: float, total: float, lost: float, profile: NDArray[np.float64]
) -> None:
    """Take in what the evaluation of a node gave; ``profile`` is as in Fronts."""
    count = fronts.count
    e = count[EVALUATED_NODES]
    count[EVALUATED_NODES] += 1
    if fronts.state[number] == OPEN:
        count[OPEN_NODES] -= 1
    fronts.state[number] = EVALUATED
    fronts.node[e] = number
    fronts.known[e, VALUE], fronts.known[e, LOSS] = value, loss
    fronts.known[e, TOTAL], fronts.known[e, LOST] = total, lost
    begin = fronts.first[e]
    for j in range(profile.shape[0]):
        fronts.profile[begin + j, 0], fronts.profile[begin + j, 1] = profile[j, 0], profile[j, 1]
    fronts.first[e + 1] = begin + profile.shape[0]
    if note_front(fronts, e):
        count[CHANGED] = 1
    spread(fronts, e, True)
    if fronts.facts[MONOTONE] > 0.0:
        spread(fronts, e, False)


@kernel
def renew(fronts: Fronts) -> None:
    """The front has changed: let all evaluated nodes speak about those below them again."""
    if fronts.count[CHANGED] == 1 and fronts.facts[MONOTONE] > 0.0:
        for e in range(fronts.count[EVALUATED_NODES]):
            spread(fronts, e, False)
    fronts.count[CHANGED] = 0
