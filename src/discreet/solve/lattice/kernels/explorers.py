"""Several boxes explored at a time: nodes are evaluated by other threads, everything else happens in turns.

Each explorer has a *place*, a part of the pool. Its nodes are grouped there from a list that all share, and the lists
that are worth it stay where they are. The results are taken in by turns, always in the same order: so the search is the
same on any number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.classes import (
    ClassPool,
    group,
    intermediate_node,
    learn_levels,
    learn_reduction,
    register_list,
    source_of,
)
from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.kernels.pricing import ClassPrices
from discreet.solve.lattice.kernels.run import add_priced, price_node
from discreet.solve.lattice.kernels.search import EVALUATE, choose_node
from discreet.solve.lattice.kernels.state import LatticeSearch

__all__ = ["FULL", "MOST_LISTS", "Place", "PlaceState", "evaluate_apart", "take_in", "take_turn"]

FULL = 4
"""What :func:`take_turn` says, beside what :func:`choose_node` says, if there is no room for more lists."""
MOST_LISTS = 8
"""The most lists an evaluation makes, each about half as long as the one before."""


class PlaceState:
    """The part of the pool that an explorer has, and what came out of its evaluation."""

    begin: int
    """Where the free entries of its part begin ..."""
    end: int
    """... and end."""
    unkept: int
    """The classes of an intermediate list that was not worth keeping; 0 if there was none."""
    classes: int
    """The classes of the node."""
    removed: float
    lower: float
    upper: float
    ready: int
    """Whether there is a result to take in."""


class Place(NamedTuple):
    """Where an explorer works: a pool with lists of its own, whose entries are a part of those of the shared pool."""

    pool: ClassPool
    """Its list 0 is the source, the others are intermediate ones, each made from the one before."""
    prices: ClassPrices
    state: PlaceState
    between: NDArray[np.int64]
    """(m,) the node of the last intermediate list."""
    shared: NDArray[np.float64]
    """What was learned about levels when the node was named ..."""
    reduction: NDArray[np.float64]
    """... and about lengths; see :class:`GroupingScratch`. Other turns learn while this node is evaluated."""


@inner_kernel
def evaluate_apart(place: Place, search: LatticeSearch, node: NDArray[np.int64]) -> None:
    """Evaluate a node at an explorer's place; only what does not change is read of the search."""
    pool, state = place.pool, place.state
    lists, source = pool.lists, 0
    lists.used.lists, lists.used.entries, state.unkept = 1, state.begin, 0
    # As in :func:`shortest_source`, while there is room for the list and for one that is made from it.
    while lists.used.lists < lists.span.size and lists.used.entries + 2 * lists.span[source].count <= state.end:
        if not intermediate_node(pool, source, node, place.between):
            break
        classes = group(pool, source, place.between)
        if 4 * classes > 3 * lists.span[source].count:
            state.unkept = classes
            break
        learn_reduction(pool, source, place.between, classes)
        source = register_list(lists, place.between, lists.used.entries, classes)
    state.classes = group(pool, source, node)
    state.removed, state.lower, state.upper = price_node(pool, place.prices, search, node, state.classes)
    state.ready = 1


@inner_kernel
def take_in(pool: ClassPool, place: Place, search: LatticeSearch, explorer: int) -> None:
    """Add the result of an explorer, if there is one, and share the lists it made that are worth it."""
    lists, own, state = pool.lists, place.pool.lists, place.state
    if state.ready == 0:
        return
    state.ready = 0
    node = search.explored[explorer]
    add_priced(search, explorer, node, state.removed, state.lower, state.upper)
    search.explorer[explorer].pending = 0
    last = own.used.lists - 1
    for q in range(1, last + 1):
        learn_reduction(place.pool, q - 1, own.node[q], own.span[q].count)
        register_list(lists, own.node[q], own.span[q].first, own.span[q].count)
    if state.unkept > 0:
        learn_reduction(place.pool, last, place.between, state.unkept)
    state.begin = own.used.entries
    # The same rule as in :func:`keep_list`.
    if 4 * state.classes <= 3 * own.span[last].count:
        register_list(lists, node, state.begin, state.classes)
        state.begin += state.classes
    learn_levels(pool.scratch, node)


@inner_kernel
def take_turn(pool: ClassPool, place: Place, search: LatticeSearch, explorer: int) -> int:
    """Take in the result of an explorer and name its next node."""
    lists, own, state, scratch = pool.lists, place.pool.lists, place.state, pool.scratch
    take_in(pool, place, search, explorer)
    # Twice the tuples are room for an intermediate list and for the node, whatever the source. Before the next turn of
    # this explorer all others share lists, too.
    most = search.explorer.size * MOST_LISTS
    if state.begin + 2 * lists.span[0].count > state.end or lists.used.lists + most > lists.span.size:
        return FULL
    node = search.explored[explorer]
    step = choose_node(search, explorer, node)
    if step != EVALUATE:
        return step
    search.explorer[explorer].pending = 1
    source = source_of(lists, node)
    own.span[0].first, own.span[0].count = lists.span[source].first, lists.span[source].count
    for i in range(node.size):
        own.node[0, i] = lists.node[source, i]
        for level in range(scratch.shared.shape[1]):
            place.shared[i, level] = scratch.shared[i, level]
    place.reduction[0] = scratch.reduction[0]
    return step
