"""The exact front of privacy against loss over a lattice: what evaluated nodes say about the others.

Every node has a privacy *value* (its k, say) and a loss. Evaluated nodes bound all others:

- ``low``: what publishing all rows costs at a node below it. Generalizing never makes published rows cheaper, so the
  loss is at least that.
- ``due``: the loss from which on the node cannot matter. A node above it has some value v, so the node itself has at
  most v. Were it to reach a value κ ≤ v, then all rows in classes worse than κ above it would be suppressed here too,
  at a known extra cost; ``due`` is the largest loss, less that extra, that the front so far has for any such κ.

A node whose ``low`` reaches its ``due`` is worse than the front, whatever it turns out to be. The others are open.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.kernels.records import Records

__all__ = [
    "CLOSED",
    "EVALUATED",
    "OPEN",
    "AttributeSpan",
    "FrontCounters",
    "FrontFacts",
    "FrontNode",
    "FrontSearch",
    "FrontStep",
    "IncumbentPoint",
    "NodeBounds",
    "NodeOutcome",
    "ProfileEntry",
    "add_node",
    "add_to_front",
    "levels_of",
    "slack",
    "update_bounds",
]

OPEN, CLOSED, EVALUATED = 0, 1, 2
"""Status of a node."""


class AttributeSpan:
    """How the levels of an attribute enter the number of a node: like the index of an array of levels."""

    levels: int
    stride: int
    low: int
    """Scratch space for going through a box of nodes: its lowest level ..."""
    high: int
    """... its highest ..."""
    at: int
    """... and the current one."""


class NodeBounds:
    """Bounds of a node; see the module for ``low`` and ``due``."""

    low: float
    due: float
    least: float
    """The least value it can have ..."""
    most: float
    """... and the greatest."""


class NodeOutcome:
    """The result of evaluating a node."""

    value: float
    loss: float
    total: float
    """What publishing all rows costs, or anything no node above can go below."""
    lost: float
    """Rows suppressed."""
    classes: int
    """Classes published."""


class FrontNode:
    """An evaluated node, with its outcome."""

    number: int
    value: float
    loss: float
    total: float
    lost: float
    profile_begin: int
    profile_end: int


class ProfileEntry:
    """What suppressing all classes up to a value costs more than publishing them.

    A node has one entry for each value worse than its own that some class has.
    """

    value: float
    extra: float


class IncumbentPoint:
    """A point of the front so far; ``index`` is that of the evaluated node."""

    value: float
    loss: float
    index: int


class FrontStep:
    """The loss of the front from a value on; with ``strict`` a node must be truly worse to be closed."""

    value: float
    loss: float
    strict: int


class FrontFacts:
    """Constants of the problem."""

    rows: float
    monotone: int
    """Whether a node has at most the value of those above it."""
    value_per_row: int
    """Whether each row costs at least the value of the node (DM: a row of a class of k or more costs k or more)."""
    absolute: float
    """Losses no further apart than this count as equal ..."""
    relative: float
    """... nor than this share of the loss."""


class FrontCounters:
    """How far the search is."""

    evaluated: int
    open: int
    points: int
    steps: int
    profile: int
    """Profile entries in use."""
    changed: int
    """Whether the front has changed since all bounds were updated."""


class FrontSearch(NamedTuple):
    """Everything the search for a front works on. Nodes are numbered like the cells of an array of levels."""

    attribute: Records[AttributeSpan]
    """(m,)"""
    status: NDArray[np.int8]
    """(nodes,)"""
    bound: Records[NodeBounds]
    """(nodes,)"""
    counters: FrontCounters
    facts: FrontFacts
    evaluated: Records[FrontNode]
    """(evaluated,)"""
    profile: Records[ProfileEntry]
    """Node by node, by rising value."""
    point: Records[IncumbentPoint]
    """(points,) by rising value."""
    step: Records[FrontStep]
    """(2 points,) by rising value."""


@inner_kernel
def levels_of(search: FrontSearch, number: int, levels: NDArray[np.int64]) -> None:  # levels OUT
    """Write the levels of a node, counted from the lowest allowed ones."""
    for i in range(levels.size):
        levels[i] = number // search.attribute[i].stride
        number -= levels[i] * search.attribute[i].stride


@inner_kernel
def slack(facts: FrontFacts, loss: float) -> float:
    """How far another loss may be from a loss and still count as equal."""
    return facts.absolute + facts.relative * abs(loss)


@inner_kernel
def _copy_point(point: Records[IncumbentPoint], source: int, target: int) -> None:
    point[target].value, point[target].loss = point[source].value, point[source].loss
    point[target].index = point[source].index


@inner_kernel
def add_to_front(search: FrontSearch, e: int) -> bool:
    """Take an evaluated node into the front if it belongs there; say whether the front has changed.

    Of nodes that are equal in both the one with the smallest number is kept, so that the front does not depend on the
    order of evaluation.
    """
    point, counters, node = search.point, search.counters, search.evaluated[e]
    value, loss = node.value, node.loss
    points, margin = counters.points, slack(search.facts, loss)
    for f in range(points):
        if point[f].value >= value and point[f].loss <= loss + margin:
            # At least as good: the front stays as it is, but for a smaller number among equals.
            alike = point[f].value == value and point[f].loss >= loss - margin
            if alike and node.number < search.evaluated[point[f].index].number:
                point[f].loss, point[f].index = loss, e
            return False
    kept = 0
    for f in range(points):
        # The other points stay unless the new one is at least as good in both.
        if point[f].value > value or point[f].loss < loss - margin:
            _copy_point(point, f, kept)
            kept += 1
    at = kept
    while at > 0 and point[at - 1].value > value:
        _copy_point(point, at - 1, at)
        at -= 1
    point[at].value, point[at].loss, point[at].index = value, loss, e
    counters.points = kept + 1
    _make_steps(search)
    return True


@inner_kernel
def _make_steps(search: FrontSearch) -> None:
    """A node whose value is between two points must reach the loss of the better one; one at a point must pass it."""
    point, step = search.point, search.step
    steps, before = 0, -np.inf
    for f in range(search.counters.points):
        # Just above the point before: the next point dominates a node there even at the same loss.
        step[steps].value, step[steps].loss, step[steps].strict = np.nextafter(before, np.inf), point[f].loss, 0
        step[steps + 1].value, step[steps + 1].loss, step[steps + 1].strict = point[f].value, point[f].loss, 1
        steps += 2
        before = point[f].value
    search.counters.steps = steps


@inner_kernel
def _due_below(search: FrontSearch, e: int) -> float:
    """The loss from which on the nodes below an evaluated one cannot matter; see ``due`` in the module.

    One pass over the steps of the front and the profile of the node, both by rising value.
    """
    step, node, facts = search.step, search.evaluated[e], search.facts
    at, end = node.profile_begin, node.profile_end
    extra, worst = 0.0, -np.inf
    for s in range(search.counters.steps):
        value, loss = step[s].value, step[s].loss
        if value > node.value:
            return worst
        # To reach ``value`` a node below suppresses every class of this node that is worse.
        while at < end and search.profile[at].value < value:
            extra = search.profile[at].extra
            at += 1
        margin = slack(facts, loss)
        loss += margin if step[s].strict else -margin
        if facts.value_per_row and value * facts.rows > loss:
            continue  # reaching the value alone costs more than the front has there
        worst = max(worst, loss - extra)
    return worst


@inner_kernel
def _spread(search: FrontSearch, e: int, up: bool) -> None:
    """Update the bounds of all nodes above (or below) an evaluated one, and close those whose bounds meet.

    The nodes are a box of the array of levels, visited in the order of memory.
    """
    attribute, status, bound = search.attribute, search.status, search.bound
    value, total, due = search.evaluated[e].value, search.evaluated[e].total, 0.0
    if not up:
        due = _due_below(search, e)
    rest, number = search.evaluated[e].number, np.int64(0)
    for i in range(attribute.size):
        side = attribute[i]
        level = rest // side.stride
        rest -= level * side.stride
        side.low, side.high = (level, side.levels - 1) if up else (0, level)
        side.at = side.low
        number += side.low * side.stride
    monotone = search.facts.monotone == 1
    while True:
        here = bound[number]
        if up:
            here.low = max(here.low, total)
            if monotone:
                here.least = max(here.least, value)
        else:
            here.due = min(here.due, due)
            here.most = min(here.most, value)
        # Closed for good: low never falls and due never rises.
        if status[number] == OPEN and here.low >= here.due:
            status[number] = CLOSED
            search.counters.open -= 1
        # The next node of the box, like an odometer; the last attribute has stride 1.
        i = attribute.size - 1
        while i >= 0:
            side = attribute[i]
            if side.at < side.high:
                side.at += 1
                number += side.stride
                break
            number -= side.stride * (side.at - side.low)
            side.at = side.low
            i -= 1
        if i < 0:
            return


@inner_kernel
def add_node(search: FrontSearch, number: int, outcome: NodeOutcome, profile: Records[ProfileEntry]) -> None:
    """Take in what the evaluation of a node gave."""
    counters = search.counters
    e = counters.evaluated
    counters.evaluated += 1
    if search.status[number] == OPEN:
        counters.open -= 1
    search.status[number] = EVALUATED
    node = search.evaluated[e]
    node.number = number
    node.value, node.loss = outcome.value, outcome.loss
    node.total, node.lost = outcome.total, outcome.lost
    begin = counters.profile
    for j in range(profile.size):
        search.profile[begin + j].value, search.profile[begin + j].extra = profile[j].value, profile[j].extra
    counters.profile += profile.size
    node.profile_begin, node.profile_end = begin, counters.profile
    if add_to_front(search, e):
        counters.changed = 1
    _spread(search, e, True)
    # Without monotone values a node says nothing about those below it.
    if search.facts.monotone:
        _spread(search, e, False)


@inner_kernel
def update_bounds(search: FrontSearch) -> None:
    """Update what evaluated nodes say about those below them, if the front has changed since."""
    if search.counters.changed == 1 and search.facts.monotone:
        for e in range(search.counters.evaluated):
            _spread(search, e, False)
    search.counters.changed = 0
