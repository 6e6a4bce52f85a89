"""Optimal subtree generalization: branch and bound over the cuts through all hierarchies."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any, ClassVar

import numpy as np

from discreet.errors import UnsupportedCombinationError
from discreet.kernels.cut_bounds import price_cells
from discreet.kernels.cut_moves import go_up, has_room, settle, step_down
from discreet.kernels.cut_state import (
    ASK,
    BOUND,
    COST,
    COUNTERS,
    DEAD,
    DEPTH,
    DONE,
    EXAMINED,
    GIVEN,
    GONE,
    GROW,
    LOCKED,
    ONLY,
    OPEN,
    PAUSE,
    PHASE,
    PLACE,
    PRICE,
    SETTLE,
    SOLUTIONS,
    SPECIALIZED,
    STEP,
    UP,
    VALUE,
    WRONG,
    Marks,
)
from discreet.kernels.cuts import descend, improve, open_bound, run, start, to_top, try_cut
from discreet.problem import Problem
from discreet.problem._checks import one_of, switch, whole_number
from discreet.problem.suppression.class_records import ClassRecords
from discreet.solve._base import SOLVERS, Budget, Progress, ProgressCallback, Solution, Solver, nothing_found
from discreet.solve._cut_judge import Judge
from discreet.solve._cut_set_up import Switches, grown, set_up
from discreet.solve._gather import Released
from discreet.solve._recoded import Recoded, Recoder, smallest_budget
from discreet.solve._warm_up import two_rows, warm_up
from discreet.solve.lattice import RowsLost

__all__ = ["CutsSolver", "prepare"]

_AT_A_TIME = 0.1
"""Seconds between two looks at the clock."""
_PATIENCE = 3.0
"""Seconds to find out how many rows would have to go where nothing is valid."""
_TRIALS = 20
"""Values taken back between two looks at the clock, while a first cut is improved."""
_ROUNDING = 1e-12


@SOLVERS.register
@dataclass(frozen=True)
class CutsSolver(Solver):
    """Finds the cut of least cost through all hierarchies and proves it, for every privacy model and suppression.

    It is the l+-Optimize of Liu and Wang, made faster: a value of the cut is first specialized and then locked, and a
    branch is left once its bound reaches the best cost (see :mod:`discreet.kernels.cuts`). What is added: a first cut
    by greedy descent and local search, suppression bounded by knapsacks over the most specific classes still possible,
    what all open values add to the bound however they are decided (see :mod:`discreet.kernels.cut_ahead`), those values
    first that add most, and equal partitions looked at once.

    ``order``, ``bounds``, ``update``, ``incumbent`` and ``formal`` switch these off, to see what each is worth:
    ``order=descending`` (or ``ascending``) takes values by their rows, ``bounds=paper`` uses the bounds of the paper's
    section V and does not look ahead, ``update=false`` leaves bounds as they are when a value is locked,
    ``incumbent=false`` starts from the most general cut, and ``formal=true`` takes a node with a single child for a
    choice of its own.

    Somebody who knows that the release is optimal learns something from that (a minimality attack). With ``top=h`` one
    of the h best cuts is released, chosen at random; with ``extra=h`` up to h values of the cut, chosen at random, are
    generalized once more. Random numbers come from the operating system unless a seed is given.

    >>> CutsSolver(top=5).text
    'cuts(top=5)'
    """

    name: ClassVar[str] = "cuts"
    schemes: ClassVar[frozenset[str]] = frozenset({"subtree"})
    suppressions: ClassVar[frozenset[str]] = frozenset(
        {"none", "budget", "class-records", "violating-records", "class-values", "violating-values"}
    )
    exact: ClassVar[bool] = True

    order: str = "entropy"
    bounds: str = "tight"
    update: bool = True
    incumbent: bool = True
    formal: bool = False
    top: int = 1
    extra: int = 0

    def __post_init__(self) -> None:
        one_of(self.order, "The order of cuts", ("entropy", "descending", "ascending"))
        one_of(self.bounds, "The bounds of cuts", ("tight", "paper"))
        for name in ("update", "incumbent", "formal"):
            switch(getattr(self, name), f"{name} of cuts")
        whole_number(self.top, "top of cuts", least=1)
        whole_number(self.extra, "extra of cuts", least=0)

    def check(self, problem: Problem) -> None:
        """Refuse a cost that classes do not have one by one."""
        if not problem.cost.additive:
            raise UnsupportedCombinationError(
                "The solver cuts", f"the cost {problem.cost.name}", "it needs a cost that adds up over classes"
            )

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best cut found and what is proven about it."""
        self.check(problem)
        with budget.paused():
            prepare()
        search = _Search(self, problem, budget, progress)
        done = search.go()
        if not search.found:
            if not done:
                raise nothing_found(budget)
            return _infeasible(problem, budget, search.stats())
        return _released(self, search, done)


@cache
def prepare() -> None:
    """Load the kernels, or compile them the first time ever, on a table of two rows."""
    warm_up(_solve_two_rows)


def _solve_two_rows() -> None:
    for privacy in ("l+(0.5, s)", "entropy-l(2, s)"):
        problem = Problem.build(two_rows(), privacy=privacy, suppression="class-records", scheme="subtree")
        _Search(CutsSolver(), problem, Budget(), None).go()


class _Search:
    """One search, driven until it is complete or its budget is exhausted."""

    def __init__(self, solver: CutsSolver, problem: Problem, budget: Budget, progress: ProgressCallback | None) -> None:
        self.solver, self.problem, self.budget, self.progress = solver, problem, budget, progress
        switches = Switches(solver.order, solver.bounds == "tight", solver.update, solver.formal, solver.top)
        self.state = set_up(problem, switches)
        self.judge = Judge(problem, self.state) if self.state.rules.facts[PRICE] == GIVEN else None
        self.trace: list[Progress] = []
        self.first = np.inf
        self.least = -np.inf
        self.searching = self.complete = False
        self.closed = -np.inf
        """What is proven in the end if the search is not complete."""

    @property
    def found(self) -> bool:
        """Whether there is something to release."""
        return bool(self.state.search.count[SOLUTIONS])

    @property
    def best(self) -> float:
        """The cost of the best cut so far."""
        return float(self.state.search.best_cost.min()) + self.state.shift

    @property
    def bound(self) -> float:
        """A number no cut costs less than."""
        if self.searching:
            self.least = max(self.least, float(open_bound(self.state.search)))
        return min(self.best, self.least + self.state.shift)

    def go(self) -> bool:
        """Search; returns whether the search is complete."""
        if self.judge is not None:
            self.judge.first(self.state)
        else:
            price_cells(0, self.state.tuples, *self._only("tree", "cells", "rules", "space"))
        start(*self.state.arrays)
        self.least = float(self.state.search.total[BOUND])
        outcome = PAUSE
        try:
            if self.solver.incumbent:
                self._find_first()
            self.first, self.searching = self.best, True
            outcome = self._run()
        except KeyboardInterrupt:
            self.budget.stop.set()
            if not self.searching:
                self._make_room(more=False)
        self.complete = outcome == DONE
        if not self.complete:
            self._close()
        if self.found:
            self.closed = self.best if self.complete else max(self.closed, self.bound)
            examined = int(self.state.search.count[EXAMINED])
            self.trace.append(Progress(self.budget.seconds, self.best, self.closed, examined))
        return self.complete

    def _only(self, *names: str) -> tuple[Any, ...]:
        return tuple(getattr(self.state, name) for name in names)

    def _find_first(self) -> None:
        """Find a good cut to begin with: descend greedily, then take values back and descend again."""
        if self.judge is not None:
            self._descend_asking()
        else:
            self._descend()
        self._make_room(more=False)

    def _descend(self) -> None:
        size = np.array([self.state.tuples, self.state.entries], dtype=np.int64)
        gain = np.full(self.state.tree.first.size, np.inf)
        while not descend(*self.state.arrays, size, gain):
            self._make_room()
            gain[:] = np.inf
        self._tell()
        if not self.found:
            return
        cut, place = self.cuts()[0][1].copy(), np.zeros(2, dtype=np.int64)
        while not self._over:
            outcome = improve(*self.state.arrays, size, gain, cut, place, _TRIALS)
            self._tell()
            if outcome == DONE:
                break
            self._make_room(more=outcome == GROW)

    def _make_room(self, *, more: bool = True) -> None:
        """Go back to the top, where stacks can grow."""
        to_top(*self._only("tree", "cells", "parts", "search"))
        if more:
            self.state = grown(self.state)

    def _descend_asking(self) -> None:
        """The greedy descent, where classes are judged from outside."""
        search = self.state.search
        while search.count[OPEN] and not self._over:
            costs = [self._try(place) for place in range(int(search.count[OPEN]))]
            place = int(np.argmin(costs))
            if not np.isfinite(costs[place]) or costs[place] > search.total[COST] * (1 + _ROUNDING):
                break
            self._step(place)
            self._tell()

    def _try(self, place: int) -> float:
        """Return what the cut would cost with one more value specialized; infinite if it would not be allowed."""
        self._step(place)
        total = self.state.search.total
        allowed = total[WRONG] == 0 and total[GONE] <= self.problem.limit
        cost = float(total[COST]) if allowed else np.inf
        go_up(*self._only("tree", "cells", "parts", "search"))
        return cost

    def _step(self, place: int, how: int = SPECIALIZED) -> None:
        """Specialize or lock an open value, and look at what comes of it."""
        if not has_room(*self._only("cells", "parts", "search", "tuples", "entries")):
            self.state = grown(self.state)
        step_down(place, how, *self.state.arrays)
        if self.judge is not None:
            self.judge.latest(self.state)
        settle(*self.state.arrays, True)
        try_cut(*self._only("search", "rules"))

    def _run(self) -> int:
        """Search until the search is complete or the budget exhausted."""
        work = 1
        while True:
            begun = time.perf_counter()
            outcome = self._work(begun, work)
            self._tell()
            if outcome == DONE or self._over:
                return outcome
            share = _AT_A_TIME / max(time.perf_counter() - begun, 1e-6)
            work = max(1, int(work * min(4.0, share)))

    def _work(self, begun: float, work: int) -> int:
        """Examine some cuts, or work for some time; returns DONE, or anything else if there is more to do."""
        count = self.state.search.count
        last = int(count[EXAMINED]) + work
        while True:
            left = max(1, last - int(count[EXAMINED]))
            outcome = int(run(*self.state.arrays, self.state.tuples, self.state.entries, left))
            if outcome == GROW:
                self.state = grown(self.state)
            elif outcome == ASK and self.judge is not None:
                self.judge.latest(self.state)
            else:
                return outcome
            if time.perf_counter() - begun > _AT_A_TIME:
                return outcome

    def _close(self) -> None:
        """Go back to the top, and find the best bound there is to be had for what was not looked at.

        On the way every value that was to be locked later is, to see what bound that gives.
        """
        state, search = self.state, self.state.search
        bound = float(search.total[BOUND])
        if search.count[PHASE] == SETTLE:  # interrupted between a step and what it led to
            go_up(*self._only("tree", "cells", "parts", "search"))
            bound = float(search.total[BOUND])
        elif search.count[PHASE] == UP:
            bound = np.inf
        while search.count[DEPTH] > 0:
            frame = search.frame[search.count[DEPTH] - 1]
            value, place, both = int(frame[VALUE]), int(frame[PLACE]), frame[STEP] == SPECIALIZED and not frame[ONLY]
            go_up(*self._only("tree", "cells", "parts", "search"))
            if both and not state.tree.forced[value]:
                bound = min(bound, self._bound_of(place))
        self.closed = min(self.best, bound + state.shift)

    def _bound_of(self, place: int) -> float:
        """Return the bound with an open value locked."""
        self._step(place, LOCKED)
        total = self.state.search.total
        bound = np.inf if total[DEAD] > 0 else float(total[BOUND])
        go_up(*self._only("tree", "cells", "parts", "search"))
        return bound

    @property
    def _over(self) -> bool:
        if self.budget.stop.is_set() and not self.found:
            raise nothing_found(self.budget)
        return self.budget.exhausted and self.found

    def _tell(self) -> None:
        now = Progress(self.budget.seconds, self.best, self.bound, int(self.state.search.count[EXAMINED]))
        if not self.trace or now.best < self.trace[-1].best or now.bound > self.trace[-1].bound:
            self.trace.append(now)
        if self.progress is not None:
            self.progress(now)

    def cuts(self) -> list[tuple[float, Marks]]:
        """Return the cuts that are kept, the best first."""
        search = self.state.search
        kept = range(int(search.count[SOLUTIONS]))
        return [
            (float(search.best_cost[s]) + self.state.shift, search.best[s]) for s in np.argsort(search.best_cost[kept])
        ]

    def stats(self) -> dict[str, Any]:
        """Return how large the space is, how much of it was looked at, and why the rest was not."""
        count = dict(zip(COUNTERS, self.state.search.count.tolist(), strict=True))
        attributes, schemes = self.problem.table.attributes, self.problem.schemes
        better = [now.seconds for now in self.trace if now.best == self.trace[-1].best]
        return {
            "space": self.state.cut_tree.cuts(),
            "formal_space": prod(s.formal_count(a) for s, a in zip(schemes, attributes, strict=True)),
            "examined": count["examined"],
            "pruned": {
                "a class nothing can mend": count["infeasible"],
                "more rows than the budget": count["over_budget"],
                "bound after specializing": count["bound_specialized"],
                "bound after locking": count["bound_locked"],
                "bound of all open values": count["foreseen"],
                "the same classes": count["skipped"],
            },
            "first_cost": self.first if np.isfinite(self.first) else None,
            "seconds_to_best": better[0] if better else None,
            "seconds_to_proof": self.budget.seconds if self.complete else None,
        }


def _released(solver: CutsSolver, search: _Search, done: bool) -> Solution:
    """Choose the cut to release, evaluate it afresh through the plain arrays, and state what is proven about it."""
    draw = search.budget.random()
    cuts = search.cuts()
    best, tree = cuts[0][0], search.state.cut_tree
    cost, mark = draw.choice(cuts)
    recoder = Recoder(search.problem)

    def evaluate(mark: Marks) -> Recoded:
        return recoder.evaluate(Released.by_blocks(search.problem.table, tree.blocks(mark)))

    recoded = evaluate(mark)
    candidates = [int(v) for v in tree.inner]
    more = solver.extra
    while more and candidates:
        v = candidates.pop(draw.randrange(len(candidates)))
        coarser = tree.generalized(mark, v)
        if coarser is None:
            continue
        found = evaluate(coarser)
        if np.isfinite(found.cost):
            mark, recoded, more = coarser, found, more - 1
    optimal = done and cost == best and more == solver.extra
    bound = search.closed
    bound -= _ROUNDING * abs(bound)
    return recoded.solution(
        "optimal" if optimal else "feasible", recoded.cost if optimal else bound, search.stats(), search.trace
    )


def _infeasible(problem: Problem, budget: Budget, stats: dict[str, Any]) -> Solution:
    """Say that nothing is valid, and how many rows would have to go."""
    fewest = None
    if problem.superset_closed or problem.suppression.hides_values:
        top = tuple(a.ancestors[level] for a, level in zip(problem.table.attributes, problem.highest, strict=True))
        fewest = smallest_budget(problem, Released.by_blocks(problem.table, top))
    else:
        easier = replace(problem, cost=RowsLost(), suppression=ClassRecords())
        search = _Search(CutsSolver(), easier, Budget(_PATIENCE, stop=budget.stop), None)
        if search.go() and search.found:
            fewest = int(search.best)
    return Solution("infeasible", np.inf, np.inf, smallest_budget=fewest, stats=stats)
