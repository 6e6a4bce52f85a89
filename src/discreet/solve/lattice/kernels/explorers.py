"""Several boxes explored at a time: nodes are evaluated by other threads, everything else happens in turns.

Each explorer has a *place* in the pool, where its node is grouped from a list that all share. The results are taken in
by turns, always in the same order: so the search is the same on any number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.classes import (
    ClassPool,
    adopt_list,
    group,
    intermediate_node,
    learn_levels,
    learn_reduction,
    source_of,
)
from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.kernels.pricing import ClassPrices
from discreet.solve.lattice.kernels.run import add_priced, price_node
from discreet.solve.lattice.kernels.search import EVALUATE, choose_node
from discreet.solve.lattice.kernels.state import LatticeSearch

__all__ = ["FULL", "Place", "PlaceState", "evaluate_apart", "take_turn"]

FULL = 4
"""What :func:`take_turn` says, beside what :func:`choose_node` says, if there is no room for another list."""


class PlaceState:
    """What an explorer evaluates, and what came out."""

    begin: int
    """Where its entries of the pool begin."""
    halfway: int
    """Whether an intermediate list is made first."""
    shorter: int
    """The classes of the intermediate list ..."""
    classes: int
    """... and of the node."""
    removed: float
    lower: float
    upper: float
    ready: int
    """Whether there is a result to take in."""


class Place(NamedTuple):
    """Where an explorer works: a pool with lists of its own, whose entries are a part of those of the shared pool."""

    pool: ClassPool
    """Its list 0 is the source, list 1 the intermediate one."""
    prices: ClassPrices
    state: PlaceState
    between: NDArray[np.int64]
    """(m,) the node of the intermediate list."""


@inner_kernel
def evaluate_apart(place: Place, search: LatticeSearch, node: NDArray[np.int64]) -> None:
    """Evaluate a node at an explorer's place; only what does not change is read of the search."""
    pool, state = place.pool, place.state
    lists, source = pool.lists, 0
    if state.halfway == 1:
        state.shorter = group(pool, 0, place.between)
        lists.span[1].first, lists.span[1].count = state.begin, state.shorter
        for i in range(node.size):
            lists.node[1, i] = place.between[i]
        lists.used.entries = state.begin + state.shorter
        source = 1
    state.classes = group(pool, source, node)
    state.removed, state.lower, state.upper = price_node(pool, place.prices, search, node, state.classes)
    state.ready = 1


@inner_kernel
def _keep(pool: ClassPool, place: Place, node: NDArray[np.int64]) -> None:
    """Keep the lists that an explorer made if they are worth it; see :func:`keep_list`."""
    lists, own, state = pool.lists, place.pool.lists, place.state
    before, begin = own.span[0].count, state.begin
    if state.halfway == 1:
        if 4 * state.shorter <= 3 * before:
            learn_reduction(place.pool, 0, place.between, state.shorter)
            adopt_list(lists, place.between, begin, state.shorter)
        before, begin = state.shorter, begin + state.shorter
    if 4 * state.classes <= 3 * before:
        adopt_list(lists, node, begin, state.classes)
    learn_levels(pool.scratch, node)


@inner_kernel
def take_turn(pool: ClassPool, place: Place, search: LatticeSearch, explorer: int, most: int) -> int:
    """Take in the result of an explorer and name its next node; ``most`` entries of the pool may be used for lists."""
    lists, own, state = pool.lists, place.pool.lists, place.state
    node = search.explored[explorer]
    if state.ready == 1:
        if lists.used.entries + state.shorter + state.classes > most or lists.used.lists + 2 > lists.span.size:
            return FULL
        add_priced(search, explorer, node, state.removed, state.lower, state.upper)
        search.explorer[explorer].pending = 0
        _keep(pool, place, node)
        state.ready = 0
    step = choose_node(search, explorer, node)
    if step != EVALUATE:
        return step
    search.explorer[explorer].pending = 1
    source = source_of(lists, node)
    state.shorter, state.halfway = 0, 0
    if intermediate_node(pool, source, node, place.between):
        state.halfway = 1
    own.span[0].first, own.span[0].count = lists.span[source].first, lists.span[source].count
    for i in range(node.size):
        own.node[0, i] = lists.node[source, i]
    own.used.entries = state.begin
    return step
