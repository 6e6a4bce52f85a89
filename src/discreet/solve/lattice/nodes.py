"""The two ways in which a lattice search evaluates nodes: in one kernel, or through arrays for any models and costs."""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray
from discreet.problem import Problem, Separable
from discreet.solve.kernels.classes import Lattice
from discreet.solve.lattice.evaluate import NodeEvaluator
from discreet.solve.lattice.explorers import Explorers, first_nodes_done
from discreet.solve.lattice.kernels.boxes import index_of
from discreet.solve.lattice.kernels.run import evaluate_node, run_search
from discreet.solve.lattice.kernels.search import EVALUATE, add_result, choose_node
from discreet.solve.lattice.kernels.state import INFINITE, LatticeSearch
from discreet.solve.lattice.pool import borrow_pool
from discreet.solve.lattice.pricing import make_prices
from discreet.solve.lattice.set_up import grow

__all__ = ["ALONE", "CompiledNodes", "PlainNodes"]

ALONE = 30_000_000
"""Class entries, a fraction of a second, after which a search has several explorers and threads."""

_WORK = 2_000_000
"""Class entries read between two checks of the clock."""
_THROUGH_ARRAYS = 20
"""How much longer a tuple takes through arrays than in a kernel, roughly."""


class CompiledNodes:
    """The search as one kernel, and an evaluator that uses the same pool once it is over."""

    def __init__(
        self, problem: Problem, lattice: Lattice, separable: Separable | None, rates: list[FloatArray]
    ) -> None:
        self._prices, sums = make_prices(problem, lattice, separable, rates)
        self._pool = borrow_pool(problem.table, lattice, sums)
        self._node = np.zeros(len(problem.table.attributes), dtype=np.int64)
        self.evaluator = NodeEvaluator(problem, self._pool)
        self.work = 0.0
        """Class entries read so far, roughly."""
        self._explorers: Explorers | None = None

    def search(self, search: LatticeSearch, executor: Executor | None) -> int:
        """Search for a while; returns DONE, EVALUATE (time to check the clock) or GROW."""
        if self._explorers is None and self.work >= ALONE and first_nodes_done(search):
            self._explorers = Explorers.make(self._pool, self._prices, search)
        self.work += _WORK
        if self._explorers is not None:
            return self._explorers.search(search, executor, _WORK)
        return int(run_search(self._pool, self._prices, search, self._node, _WORK))

    def evaluate(self, search: LatticeSearch, node: NDArray[np.int64]) -> LatticeSearch:
        """Evaluate a node unless that was done already."""
        if index_of(search, node) < 0:
            if self._explorers is not None:
                self._explorers.settle(search)
            search = grow(search)
            evaluate_node(self._pool, self._prices, search, node)
            if self._explorers is not None:
                self._explorers.divide()
        return search

    def rehearse(self, search: LatticeSearch) -> None:
        """Call the kernels that only long searches need, on the search of a tiny table."""
        index_of(search, self._node)
        evaluate_node(self._pool, self._prices, search, self._node)
        explorers = Explorers.make(self._pool, self._prices, search)
        assert explorers is not None
        explorers.rehearse(search)

    def close(self) -> None:
        """Wait for what other threads are evaluating: nothing may be in use any more."""
        if self._explorers is not None:
            self._explorers.wait()


class PlainNodes:
    """The search with models and cost called through their arrays, one node at a time."""

    def __init__(self, evaluator: NodeEvaluator) -> None:
        self.evaluator = evaluator
        self._node = np.zeros(len(evaluator.table.attributes), dtype=np.int64)
        self.work = 0.0
        """Tuples looked at so far, in the time a kernel would take for them."""

    def search(self, search: LatticeSearch, executor: Executor | None) -> int:
        """Evaluate one node; returns DONE, EVALUATE or GROW."""
        outcome = int(choose_node(search, 0, self._node))
        if outcome == EVALUATE:
            self._add(search, self._node)
        return outcome

    def evaluate(self, search: LatticeSearch, node: NDArray[np.int64]) -> LatticeSearch:
        """Evaluate a node unless that was done already."""
        if index_of(search, node) < 0:
            search = grow(search)
            self._add(search, node)
        return search

    def rehearse(self, search: LatticeSearch) -> None:
        """Call the kernels that only long searches need, on the search of a tiny table."""
        index_of(search, self._node)

    def close(self) -> None:
        """Do nothing: nothing is evaluated by other threads."""

    def _add(self, search: LatticeSearch, node: NDArray[np.int64]) -> None:
        self.work += _THROUGH_ARRAYS * self.evaluator.table.tuples
        found = self.evaluator.evaluate(node)
        add_result(search, 0, node, found.removed, found.lower, found.upper, min(found.cost, INFINITE))
