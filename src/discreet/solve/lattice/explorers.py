"""A long search on several threads: the explorers' places in the pool, and their turns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field

import numpy as np

from discreet.solve.kernels.classes import ClassList, ClassPool, GroupingScratch, ListUse, drop_lists
from discreet.solve.kernels.jit import prepared
from discreet.solve.kernels.pricing import ClassPrices
from discreet.solve.kernels.records import record, records
from discreet.solve.lattice.kernels.explorers import FULL, Place, PlaceState, evaluate_apart, take_turn
from discreet.solve.lattice.kernels.search import DONE, EVALUATE, GROW
from discreet.solve.lattice.kernels.state import LatticeSearch
from discreet.solve.lattice.pool import make_scratch

__all__ = ["Explorers", "first_nodes_done"]

_FOR_LISTS = 6
"""The least room for lists that all explorers share, in lists as long as the tuples."""
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
    """Entries of the pool that may be used for lists."""
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
        begins = [size - 2 * (e + 1) * tuples for e in range(number)]
        places = [_make_place(pool, prices, begin) for begin in begins]
        explorers = cls(pool, places, most, [None] * number, deque([_Scratch(pool.scratch, prices)]))
        explorers.forget_lists()
        return explorers

    def search(self, search: LatticeSearch, executor: Executor | None, work: int) -> int:
        """Take turns until about so many class entries were read; returns DONE, EVALUATE or GROW."""
        if self.searched is not search:
            self.searched = search
            each = enumerate(self.places)
            self.turns = [prepared(take_turn, self.pool, place, search, e, self.most) for e, place in each]
        while work > 0:
            e = self.turn
            place, running = self.places[e], self.running[e]
            if running is not None:
                running.result()
                self.running[e] = None
            outcome = int(self.turns[e]())
            if outcome == FULL:
                self.wait()  # nobody may be reading a list that moves
                drop_lists(self.pool.lists, self.most)
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
            pool = self.places[e].pool._replace(scratch=own.scratch)
            place = self.places[e]._replace(pool=pool, prices=own.prices)
            own.evaluate[e] = prepared(evaluate_apart, place, search, search.explored[e])
        own.evaluate[e]()
        self.spare.append(own)

    def rehearse(self, search: LatticeSearch) -> None:
        """Call the kernels once, on a search that is over."""
        take_turn(self.pool, self.places[0], search, 0, self.most)
        drop_lists(self.pool.lists, self.most)
        evaluate_apart(self.places[0], search, search.explored[0])

    def wait(self) -> None:
        """Wait for everything that is being evaluated; the results are taken in when it is their turn."""
        for running in self.running:
            if running is not None:
                running.result()

    def forget_lists(self) -> None:
        """Drop all class lists but the tuples; nobody may be reading them."""
        self.wait()
        self.pool.lists.used.lists, self.pool.lists.used.entries = 1, self.pool.lattice.codes.shape[1]


def _make_place(pool: ClassPool, prices: ClassPrices, begin: int) -> Place:
    """Return a place whose entries begin there."""
    m = pool.lattice.codes.shape[0]
    lists = pool.lists._replace(
        node=np.zeros((2, m), dtype=np.int64), span=records(ClassList, 2), used=record(ListUse, lists=2, entries=begin)
    )
    between = np.empty(m, dtype=np.int64)
    return Place(ClassPool(pool.lattice, lists, pool.scratch), prices, record(PlaceState, begin=begin), between)
