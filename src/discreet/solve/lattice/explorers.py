"""A long search on several threads: the explorers' places in the pool, and their turns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.solve.kernels.classes import ClassList, ClassPool, GroupingScratch, ListUse, drop_lists
from discreet.solve.kernels.jit import prepared
from discreet.solve.kernels.pricing import ClassPrices
from discreet.solve.kernels.records import record, records
from discreet.solve.lattice.kernels.explorers import (
    FULL,
    MOST_LISTS,
    Place,
    PlaceState,
    evaluate_apart,
    take_in,
    take_turn,
)
from discreet.solve.lattice.kernels.search import DONE, EVALUATE, GROW
from discreet.solve.lattice.kernels.state import LatticeSearch
from discreet.solve.lattice.pool import make_scratch

__all__ = ["Explorers", "first_nodes_done"]

_FOR_LISTS = 6
"""The least room for lists, beside that for the next evaluations, in lists as long as the tuples."""
_OVERHEAD = 2000
"""What a turn takes, in class entries."""


def first_nodes_done(search: LatticeSearch) -> bool:
    """Return whether the first incumbent is known, from where on nodes may be evaluated in any order."""
    return bool(search.state.evaluated > 2 and search.state.chain_high - search.state.chain_low <= 1)


@dataclass(eq=False)
class _Scratch:
    """Scratch space, and the evaluations of each explorer's node in it."""

    scratch: GroupingScratch
    prices: ClassPrices
    evaluate: dict[int, Callable[[], None]] = field(default_factory=dict)


@dataclass(eq=False)
class Explorers:
    """The explorers of one search, whose turn it is, and what is being evaluated."""

    pool: ClassPool
    places: list[Place]
    most: int
    """Half of so many entries of the pool may be lists that stay when others are dropped."""
    running: list[Future[None] | None]
    spare: deque[_Scratch]
    """Scratch space that no thread is using. A thread takes what was used last, which is still in its cache."""
    turn: int = 0
    turns: list[Callable[[], int]] = field(default_factory=list)
    """The turn of each explorer ..."""
    searched: LatticeSearch | None = None
    """... in this search, whose arrays are others once it has grown."""

    @classmethod
    def make(cls, pool: ClassPool, prices: ClassPrices, search: LatticeSearch) -> Explorers | None:
        """Return the explorers of a search; None if there is no room for them."""
        tuples, size, number = pool.lattice.codes.shape[1], pool.lists.rep.size, search.explorer.size
        most = size - (2 * number + 1) * tuples
        if most < _FOR_LISTS * tuples:
            return None
        places = [_make_place(pool, prices) for _ in range(number)]
        explorers = cls(pool, places, most, [None] * number, deque([_Scratch(pool.scratch, prices)]))
        explorers.divide()
        return explorers

    def search(self, search: LatticeSearch, executor: Executor | None, work: int) -> int:
        """Take turns until about so many class entries were read; returns DONE, EVALUATE or GROW."""
        if self.searched is not search:
            self.searched = search
            each = enumerate(self.places)
            self.turns = [prepared(take_turn, self.pool, place, search, e) for e, place in each]
        while work > 0:
            e = self.turn
            place, running = self.places[e], self.running[e]
            if running is not None:
                running.result()
                self.running[e] = None
            outcome = int(self.turns[e]())
            if outcome == FULL:
                self.settle(search)
                self.divide()
                continue
            if outcome in (DONE, GROW):
                return outcome
            if outcome == EVALUATE:
                work -= int(place.pool.lists.span[0].count) + _OVERHEAD
                if executor is None:
                    self._evaluate(e, search)
                else:
                    self.running[e] = executor.submit(self._evaluate, e, search)
            self.turn = (e + 1) % len(self.places)
        return EVALUATE

    def _evaluate(self, e: int, search: LatticeSearch) -> None:
        """Evaluate the node of an explorer in scratch space of this thread."""
        try:
            own = self.spare.pop()
        except IndexError:
            prices = self.places[e].prices
            prices = prices._replace(pack_rate=np.empty_like(prices.pack_rate))
            own = _Scratch(make_scratch(self.pool.lattice), prices)
        if e not in own.evaluate:
            # Of the search only what does not change is read, also once its arrays have grown.
            place = self.places[e]
            scratch = own.scratch._replace(shared=place.shared, reduction=place.reduction)
            place = place._replace(pool=place.pool._replace(scratch=scratch), prices=own.prices)
            own.evaluate[e] = prepared(evaluate_apart, place, search, search.explored[e])
        own.evaluate[e]()
        self.spare.append(own)

    def rehearse(self, search: LatticeSearch) -> None:
        """Call the kernels once, on a search that is over."""
        take_turn(self.pool, self.places[0], search, 0)
        self.settle(search)
        evaluate_apart(self.places[0], search, search.explored[0])

    def wait(self) -> None:
        """Wait for everything that is being evaluated; the results are taken in when it is their turn."""
        for running in self.running:
            if running is not None:
                running.result()

    def settle(self, search: LatticeSearch) -> None:
        """Take in all results, drop lists and move the others together, as they are where nobody explores."""
        self.wait()
        for e, place in enumerate(self.places):
            take_in(self.pool, place, search, e)
        lists = self.pool.lists
        span: Any = lists.span
        # Lists move down one after the other, so they must be in the order of their entries.
        made = slice(1, int(lists.used.lists))
        order = np.argsort(span["first"][made]) + 1
        span[made], lists.node[made] = span[order], lists.node[order]
        drop_lists(lists, self.most)

    def divide(self) -> None:
        """Divide what is free of the pool among the explorers; nothing may be being evaluated."""
        begin = int(self.pool.lists.used.entries)
        each = (self.pool.lists.rep.size - begin) // len(self.places)
        for e, place in enumerate(self.places):
            place.state.begin, place.state.end = begin + e * each, begin + (e + 1) * each


def _make_place(pool: ClassPool, prices: ClassPrices) -> Place:
    """Return a place without entries."""
    m = pool.lattice.codes.shape[0]
    lists = pool.lists._replace(
        node=np.zeros((MOST_LISTS, m), dtype=np.int64),
        span=records(ClassList, MOST_LISTS),
        used=record(ListUse, lists=1),
    )
    between, learned = np.empty(m, dtype=np.int64), pool.scratch
    own = ClassPool(pool.lattice, lists, pool.scratch)
    return Place(own, prices, record(PlaceState), between, learned.shared.copy(), learned.reduction.copy())
