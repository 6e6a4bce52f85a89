"""When a search anneals: not at all if it is short, at first if it is long, and then now and again beside the proof.

What happens when is counted in work, not in seconds: the same problem is searched in the same way on every machine and
on any number of threads.
"""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray
from discreet.problem import Problem, Separable
from discreet.solve._base import Budget
from discreet.solve.kernels.classes import Lattice
from discreet.solve.lattice.annealing import Annealer, can_anneal, compile_ahead
from discreet.solve.lattice.pricing import leaf_rates

__all__ = ["HUGE", "LARGE", "Incumbents"]

_DESCENT, _RUN = 4, 6
"""Evaluations of the first run, which only descends, and of the others, for each level of the lattice."""
_FIRST_RUNS, _FIRST_RUNS_OF_HUGE = 2, 4
"""Runs before the proof goes on."""
_LONGER = 1.5
"""How much longer each further run is than the one before."""
_PROOF = 10
"""How much more work than annealing the proof gets, once the first runs are over."""
LARGE, HUGE = 10**7, 10**9
"""Lattices from here on are annealed at once, and more often; smaller ones might be searched through in no time."""
_WAIT = 2
"""Smaller lattices are annealed after so many times the work that the first runs take: most are searched by then."""
_AT_ONCE = 4_000_000
"""Tuples looked at between two checks of the clock."""


def _counted_in_people(problem: Problem) -> tuple[Problem, Separable | None, list[FloatArray]]:
    """Return a problem with people for rows, in costs too: what is good by that is suggested, and evaluated exactly."""
    units = problem.table.units
    separable = problem.cost.separable(units)
    return replace(problem, table=units, whole=units), separable, leaf_rates(units, separable)


class Incumbents:
    """Finds incumbents for one search."""

    def __init__(
        self, problem: Problem, lattice: Lattice, separable: Separable | None, rates: list[FloatArray]
    ) -> None:
        if problem.people is not None and not problem.varying:
            problem, separable, rates = _counted_in_people(problem)
        self._parts = (problem, lattice, separable, rates)
        self._annealer: Annealer | None = None
        self._tuples = problem.table.tuples
        self._steps = sum(problem.highest) - sum(problem.lowest)
        self.space = prod(high - low + 1 for low, high in zip(problem.lowest, problem.highest, strict=True))
        self._first_runs = _FIRST_RUNS_OF_HUGE if self.space >= HUGE else _FIRST_RUNS
        first = self._tuples * self._steps * (_DESCENT + (self._first_runs - 1) * _RUN)
        self._due = 0.0 if self.space >= LARGE else _WAIT * first
        self._runs = 0
        self._running: Future[None] | None = None
        self._closed = False
        self.possible = can_anneal(problem, separable)

    @property
    def evaluated(self) -> int:
        """How many nodes were evaluated."""
        return 0 if self._annealer is None else self._annealer.evaluated

    def after(
        self, work: float, incumbent: NDArray[np.int64], budget: Budget, executor: Executor | None
    ) -> NDArray[np.int64] | None:
        """Return the best node so far, where a run is over by now; ``work`` is what the proof has done so far."""
        if not self.possible or work < self._due:
            return None
        if self._annealer is None:
            with budget.paused():
                compile_ahead()
            self._annealer = Annealer(*self._parts)
            self._start(0, incumbent)
            self._run(budget)
        elif self._running is not None:
            self._running.result()
            self._running = None
        else:
            self._run(budget)
        node = self._annealer.node if np.isfinite(self._annealer.best) else None
        self._runs += 1
        planned = self._start(self._runs, incumbent if node is None else node)
        if self._runs < self._first_runs:
            return node
        self._due = work + _PROOF * planned * self._tuples
        if executor is not None:
            self._running = executor.submit(self._run, budget)
        return node

    def close(self) -> None:
        """End what is running."""
        self._closed = True
        if self._running is not None and not self._running.cancel():
            self._running.result()

    def _start(self, run: int, node: NDArray[np.int64]) -> int:
        """Begin a run; return how many evaluations it has."""
        assert self._annealer is not None
        planned = _DESCENT if run == 0 else _RUN
        planned = int(self._steps * planned * _LONGER ** max(run - self._first_runs, 0)) + 1
        self._annealer.start(node, planned, 0.0 if run == 0 else -1.0)
        return planned

    def _run(self, budget: Budget) -> None:
        """Finish a run, or stop when the time is over."""
        assert self._annealer is not None
        at_once = max(1, _AT_ONCE // self._tuples)
        over = False
        while not over and not self._closed and not (budget.exhausted and np.isfinite(self._annealer.best)):
            over = self._annealer.run(at_once)
