"""The driver of a lattice search: the proof, incumbents, bounds by projection and the clock."""

from __future__ import annotations

from concurrent.futures import Future

import numpy as np

from discreet.problem import Problem, Separable
from discreet.solve._base import Budget, Progress, ProgressCallback, nothing_found
from discreet.solve._parallel import Workers
from discreet.solve.lattice.evaluate import NodeEvaluator
from discreet.solve.lattice.incumbents import HUGE, LARGE, Incumbents
from discreet.solve.lattice.kernels.search import DONE, EVALUATE, GROW, begin_rounds, lower_bound, open_root
from discreet.solve.lattice.kernels.state import INFINITE
from discreet.solve.lattice.layout import lay_out
from discreet.solve.lattice.nodes import ALONE, CompiledNodes, PlainNodes
from discreet.solve.lattice.pricing import has_compiled_form, leaf_rates
from discreet.solve.lattice.projections import Projections, can_project
from discreet.solve.lattice.set_up import grow, make_search

__all__ = ["LatticeDrive"]

_AT_LEAST = 8
"""Nodes evaluated before an exhausted budget is heeded."""

_PROJECTED = 3
"""How much more time smaller problems get than the lattice itself while their bound is clearly the better one."""
_SELDOM = 4
"""How many times the lattice itself is searched for each time a smaller problem is, otherwise."""
_LEAD = 1.25
"""How many times the bound of the lattice itself theirs must be for that: one hardly behind is about to overtake it."""
_PATIENCE = 10
"""How much longer than for a huge lattice it takes until the proof of a large one goes on in rounds."""


class LatticeDrive:
    """One search through a lattice: its state, and what is known so far."""

    def __init__(self, problem: Problem, separable: Separable | None, budget: Budget) -> None:
        self.problem, self.separable, self.budget = problem, separable, budget
        lattice = lay_out(problem)
        rates = leaf_rates(problem.table, separable)
        self.search = make_search(problem, lattice, separable, rates)
        open_root(self.search)
        self.nodes: CompiledNodes | PlainNodes
        if has_compiled_form(problem, separable):
            self.nodes = CompiledNodes(problem, lattice, separable, rates)
        else:
            self.nodes = PlainNodes(NodeEvaluator(problem))
        self.incumbents = Incumbents(problem, lattice, separable, rates)
        self.projections: Projections | None = None
        self._projecting: list[Future[None]] = []
        self._rounds = False
        self._slices = 0
        self.outcome = EVALUATE
        self.trace: list[Progress] = []

    @property
    def best(self) -> float:
        """The cost of the incumbent; infinite if there is none."""
        best = float(self.search.state.best)
        return best if best < INFINITE else float("inf")

    @property
    def bound(self) -> float:
        """What every release costs at least."""
        found = float(lower_bound(self.search))
        return found if self.projections is None else max(found, min(self.projections.bound, self.best))

    @property
    def done(self) -> bool:
        """Whether the proof is complete."""
        return self.outcome == DONE

    def advance(self, workers: Workers | None = None) -> None:
        """Search for a while."""
        executor = workers.start() if workers is not None and self.nodes.work >= ALONE else None
        self.outcome = self.nodes.search(self.search, executor)
        if self.outcome == GROW:
            self.search = grow(self.search)
        elif self.outcome == EVALUATE:
            found = self.incumbents.after(self.nodes.work, self.search.incumbent, self.budget, executor)
            if found is not None:
                self.search = self.nodes.evaluate(self.search, found)
            self._begin_rounds()

    def _begin_rounds(self) -> None:
        """Prove a little more in each round from now on, if the lattice is too large for a proof at once."""
        patience = _PATIENCE if self.incumbents.space < HUGE else 1
        if not self._rounds and self.incumbents.space >= LARGE and self.nodes.work >= ALONE * patience:
            self._rounds = bool(np.isfinite(self.best))
            if self._rounds:
                begin_rounds(self.search)

    def run(self, progress: ProgressCallback | None = None) -> None:
        """Search until the proof is complete or the budget is exhausted."""
        with Workers(self.budget) as workers:
            try:
                while not self.done:
                    try:
                        self.advance(workers)
                        self._project(workers)
                    except KeyboardInterrupt:
                        self.budget.stop.set()
                    if self._is_over(progress):
                        break
            finally:
                self.close()

    def _project(self, workers: Workers) -> None:
        """Search smaller problems for a bound: on another thread, or for a while here if there is only one."""
        if self.projections is None:
            if self.incumbents.space < HUGE or self.separable is None or self.nodes.work < ALONE:
                return
            if not can_project(self.problem, self.separable):
                return
            self.projections = Projections(self.problem, self.separable, self.budget, _search_part)
        executor = workers.start()
        lagging = self.projections.stalled or self.projections.bound < _LEAD * lower_bound(self.search)
        self._slices += 1
        if lagging and self._slices % _SELDOM:
            return
        if executor is None:
            for _ in range(1 if lagging else _PROJECTED):
                self.projections.advance()
            return
        for future in (running := self._projecting):
            if future.done():
                future.result()
        self._projecting = [future for future in running if not future.done()]
        most = 1 if lagging else self.budget.cores
        while len(self._projecting) < most and not self.projections.done:
            self._projecting.append(executor.submit(self.projections.advance))

    def close(self) -> None:
        """Wait for what other threads are doing."""
        for future in self._projecting:
            if not future.cancel():
                future.result()
        self.incumbents.close()
        self.nodes.close()

    def _is_over(self, progress: ProgressCallback | None) -> bool:
        """Report how far the search is; return whether to stop because the budget is exhausted."""
        budget, trace = self.budget, self.trace
        now = Progress(budget.seconds, self.best, self.bound, int(self.search.state.evaluated))
        if not trace or now.best < trace[-1].best or now.bound > trace[-1].bound:
            trace.append(now)
        if progress is not None:
            progress(now)
        if self.done or now.examined <= _AT_LEAST:
            return False
        if budget.stop.is_set() and np.isinf(now.best):
            raise nothing_found(budget)
        return budget.exhausted and bool(np.isfinite(now.best))


def _search_part(problem: Problem, separable: Separable, budget: Budget) -> LatticeDrive:
    return LatticeDrive(problem, separable, budget)
