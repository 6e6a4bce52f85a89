"""Optimal subtree generalization: branch and bound over the cuts through all hierarchies."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any, ClassVar

import numpy as np

from discreet.counts import IntArray
from discreet.errors import UnsupportedCombinationError
from discreet.problem import Problem
from discreet.problem.suppression.class_records import ClassRecords
from discreet.runtime.arguments import number, one_of, switch, whole_number
from discreet.solve._base import SOLVERS, Budget, Progress, ProgressCallback, Solution, Solver, nothing_found
from discreet.solve._class_arrays import Released
from discreet.solve._kernel_loading import two_rows, warm_up
from discreet.solve._people import load_people_kernels
from discreet.solve._recoding import Recoder, smallest_budget
from discreet.solve.cuts.evaluator import ClassEvaluator
from discreet.solve.cuts.kernels.bounds import price_cells
from discreet.solve.cuts.kernels.moves import backtrack, has_room, settle, step_down
from discreet.solve.cuts.kernels.search import (
    back_to_top,
    descend,
    improve,
    keep_if_better,
    open_bound,
    run,
    start,
    walk_to,
)
from discreet.solve.cuts.kernels.state import (
    BACKTRACK,
    DONE,
    EVALUATE,
    EXTERNAL,
    GROW,
    LOCKED,
    PAUSE,
    SETTLE,
    SPECIALIZED,
    Cursor,
    Marks,
)
from discreet.solve.cuts.layout import CutTechniques, grow_stacks, is_compiled, lay_out_cuts
from discreet.solve.cuts.precaution import Precaution
from discreet.solve.kernels.records import record
from discreet.solve.lattice.solver import RowsLost

__all__ = ["CutsSolver", "compile_ahead"]

_AT_A_TIME = 0.1
"""Seconds between two checks of the clock."""
_PATIENCE = 3.0
"""Seconds to find out how many rows would have to be suppressed where no cut is valid."""
_TRIALS = 20
"""Trials of the local search between two checks of the clock, at most."""
_ROUNDING = 1e-12


@SOLVERS.register
@dataclass(frozen=True)
class CutsSolver(Solver):
    """Finds the cheapest cut through all hierarchies and proves it, for every privacy model and suppression kind.

    This is l+-Optimize (Liu and Wang 2010), made faster: each value of the cut is first specialized and then locked,
    and a branch is pruned once its bound reaches the best cost. Added are an incumbent from a greedy descent and local
    search, knapsack bounds on suppression over the most specific classes still possible, look-ahead (what the open
    values add to the bound however they are decided), and the order of decisions that follows from it.

    Each technique can be switched off to measure it: ``order=descending`` (or ``ascending``) decides values by their
    rows, ``bounds=paper`` uses the bounds of section V and no look-ahead, ``update=false`` keeps bounds as they are
    until a class is split, ``incumbent=false`` starts from the most general cut, and ``formal=true`` takes a node with
    a single child for a choice of its own.

    An optimal release invites a minimality attack: whoever knows that it is optimal knows that finer ones are invalid.
    ``top=h`` releases one of the h best cuts. ``extra=h`` adds 1 to h random steps to the best cut: each generalizes
    values to their parent or, unless nothing may be suppressed, suppresses a class. Together they cost at most
    ``extra_loss`` of the best cost. Either way the status is ``feasible``, even if the best cut was drawn. Random
    numbers come from the operating system unless a seed is given.

    >>> CutsSolver(top=5).text
    'cuts(top=5)'
    """

    name: ClassVar[str] = "cuts"
    examples: ClassVar[tuple[str, ...]] = ("cuts", "cuts(top=5)", "cuts(extra=2)", "cuts(extra=2, extra_loss=0.1)")
    title: ClassVar[str] = "Cuts"
    summary: ClassVar[str] = "The optimum with a proof, for branches of the tree."
    reason: ClassVar[str] = (
        "It looks through {recodings} by branches of the trees, leaves out what cannot win, and proves that nothing "
        "better was overlooked."
    )
    rank: ClassVar[int] = 20
    schemes: ClassVar[frozenset[str]] = frozenset({"subtree"})
    suppressions: ClassVar[frozenset[str]] = frozenset(
        {"none", "budget", "class-records", "violating-records", "class-values", "violating-values"}
    )
    exact: ClassVar[bool] = True
    sees_people: ClassVar[bool] = True

    order: str = "entropy"
    bounds: str = "tight"
    update: bool = True
    incumbent: bool = True
    formal: bool = False
    top: int = 1
    extra: int = 0
    extra_loss: float = 0.25

    def __post_init__(self) -> None:
        one_of(self.order, "The order of cuts", ("entropy", "descending", "ascending"))
        one_of(self.bounds, "The bounds of cuts", ("tight", "paper"))
        for name in ("update", "incumbent", "formal"):
            switch(getattr(self, name), f"{name} of cuts")
        whole_number(self.top, "top of cuts", least=1)
        whole_number(self.extra, "extra of cuts", least=0)
        number(self.extra_loss, "extra_loss of cuts", above=0)

    def compiled(self, problem: Problem) -> bool:
        """Return whether the kernels know all models and the cost."""
        return is_compiled(problem, problem.cost.separable(problem.table))

    def check(self, problem: Problem) -> None:
        """Refuse costs that are not a sum over classes."""
        if not problem.cost.additive:
            raise UnsupportedCombinationError(
                "The solver cuts", f"the cost {problem.cost.name}", "it needs a cost that adds up over classes"
            )

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best cut found and what is proven about it."""
        self.check(problem)
        with budget.paused():
            compile_ahead()
            if problem.people is not None:
                load_people_kernels()
        search = CutSearch(self, problem, budget, progress)
        complete = search.run()
        if not search.found:
            if not complete:
                raise nothing_found(budget)
            return _infeasible(problem, budget, search.stats())
        return _chosen_solution(self, search, complete)


@cache
def compile_ahead() -> None:
    """Load the kernels, or compile them the first time ever, on a table of two rows."""
    warm_up("subtree search", _solve_two_rows)


def _solve_two_rows() -> None:
    for privacy in ("l+(0.5, s)", "entropy-l(2, s)"):
        problem = Problem.build(two_rows(), privacy=privacy, suppression="class-records", scheme="subtree")
        for blocks in (None, [np.zeros(2, dtype=np.int64)]):
            CutSearch(CutsSolver(), problem, Budget(start=blocks), None).run()


class CutSearch:
    """One search, run until it is complete or its budget is exhausted."""

    def __init__(self, solver: CutsSolver, problem: Problem, budget: Budget, progress: ProgressCallback | None) -> None:
        self.solver, self.problem, self.budget, self.progress = solver, problem, budget, progress
        techniques = CutTechniques(solver.order, solver.bounds == "tight", solver.update, solver.formal, solver.top)
        self.state = lay_out_cuts(problem, techniques)
        external = self.state.arrays.rules.price == EXTERNAL
        self.evaluator = ClassEvaluator(problem, self.state) if external else None
        self.trace: list[Progress] = []
        self.first = np.inf
        """Cost of the incumbent the exact search starts with."""
        self.least = -np.inf
        self.searching = self.complete = False
        self.proven = -np.inf
        """The lower bound proven in the end."""

    @property
    def found(self) -> bool:
        """Whether a valid cut is known."""
        return bool(self.state.now["solutions"])

    @property
    def best(self) -> float:
        """The cost of the best cut so far."""
        return float(self.state.arrays.stacks.best_cost.min()) + self.state.shift

    @property
    def bound(self) -> float:
        """A lower bound for all cuts."""
        if self.searching:
            self.least = max(self.least, float(open_bound(self.state.arrays.stacks)))
        return min(self.best, self.least + self.state.shift)

    def run(self) -> bool:
        """Search; returns whether the search is complete."""
        if self.evaluator is not None:
            self.evaluator.evaluate_all(self.state)
        else:
            price_cells(self.state.arrays, 0, self.state.arrays.cells.first_cells)
        start(self.state.arrays)
        self.least = float(self.state.total["bound"] + self.state.total["surplus"])
        outcome = PAUSE
        try:
            if self.solver.incumbent:
                self._find_incumbent()
            self.first, self.searching = self.best, True
            outcome = self._branch_and_bound()
        except KeyboardInterrupt:
            self.budget.stop.set()
            if not self.searching:
                back_to_top(self.state.arrays)
        self.complete = outcome == DONE
        if not self.complete:
            self._bound_the_rest()
        if self.found:
            self.proven = self.best if self.complete else max(self.proven, self.bound)
            self.trace.append(Progress(self.budget.seconds, self.best, self.proven, int(self.state.now["examined"])))
        return self.complete

    def _find_incumbent(self) -> None:
        """Find a good cut: improve the given one by local search, then what a greedy descent finds."""
        if self.budget.start is not None:
            self._begin_with(self.state.cut_tree.mark(self.budget.start))
        if self._over:
            return
        if self.evaluator is not None:
            self._descend_externally()
        else:
            self._descend()
        back_to_top(self.state.arrays)

    def _begin_with(self, cut: Marks) -> None:
        """Evaluate a given cut, and improve it where the kernels can."""
        if self.evaluator is None:
            while not walk_to(self.state.arrays, cut):
                self._grow_at_top()
            keep_if_better(self.state.arrays)
            self._report()
            self._improve(cut)
        else:
            while (above := np.flatnonzero(cut[self._open_values()] == 0)).size:
                self._step(int(above[0]), SPECIALIZED)
            self._report()
        back_to_top(self.state.arrays)

    def _open_values(self) -> IntArray:
        return self.state.arrays.stacks.open[: int(self.state.now["open"])]

    def _descend(self) -> None:
        gain = np.full(self.state.arrays.tree.first.size, np.inf)
        while not descend(self.state.arrays, gain):
            self._grow_at_top()
            gain[:] = np.inf
        self._report()
        if self.found:
            self._improve(self.cuts()[0][1].copy())

    def _improve(self, cut: Marks) -> None:
        """Improve a cut by local search until nothing helps or the time is over."""
        gain, cursor = np.full(self.state.arrays.tree.first.size, np.inf), record(Cursor)
        trials = 1
        while not self._over:
            begun = time.perf_counter()
            outcome = improve(self.state.arrays, gain, cut, cursor, trials)
            self._report()
            if outcome == DONE:
                break
            trials = min(2 * trials, _TRIALS) if time.perf_counter() - begun < _AT_A_TIME else 1
            if outcome == GROW:
                self._grow_at_top()
            else:
                back_to_top(self.state.arrays)

    def _grow_at_top(self) -> None:
        back_to_top(self.state.arrays)
        self.state = grow_stacks(self.state)

    def _descend_externally(self) -> None:
        """The greedy descent where classes are evaluated outside the kernels."""
        summed = self.state.arrays.rules.summed
        while self.state.now["open"] and not self._over:
            now = float(self.state.total["cost"] if summed else self.state.total["exact"])
            costs = [self._cost_specialized(position) for position in range(int(self.state.now["open"]))]
            position = int(np.argmin(costs))
            if not np.isfinite(costs[position]) or costs[position] > now * (1 + _ROUNDING):
                break
            self._step(position, SPECIALIZED)
            self._report()

    def _cost_specialized(self, position: int) -> float:
        """Return the cost of the cut with one more value specialized; infinite if it is not allowed."""
        self._step(position, SPECIALIZED)
        total = self.state.total
        rules = self.state.arrays.rules
        allowed = total["wrong"] == 0 and total["gone"] <= rules.limit
        cost = float(total["cost"] if rules.summed else total["exact"]) if allowed else np.inf
        backtrack(self.state.arrays)
        return cost

    def _step(self, position: int, decision: int) -> None:
        """Decide an open value and evaluate the parts that makes."""
        if not has_room(self.state.arrays):
            self.state = grow_stacks(self.state)
        step_down(self.state.arrays, position, decision)
        if self.evaluator is not None:
            self.evaluator.evaluate_new(self.state)
        settle(self.state.arrays, True)
        keep_if_better(self.state.arrays)

    def _branch_and_bound(self) -> int:
        """Search until the search is complete or the budget exhausted; returns DONE in the first case."""
        work = 1
        while True:
            begun = time.perf_counter()
            outcome = self._run_for(begun, work)
            self._report()
            if outcome == DONE or self._over:
                return outcome
            share = _AT_A_TIME / max(time.perf_counter() - begun, 1e-6)
            work = max(1, int(work * min(4.0, share)))

    def _run_for(self, begun: float, work: int) -> int:
        """Examine ``work`` cuts, or search until it is time to check the clock."""
        last = int(self.state.now["examined"]) + work
        while True:
            left = max(1, last - int(self.state.now["examined"]))
            outcome = int(run(self.state.arrays, left))
            if outcome == GROW:
                self.state = grow_stacks(self.state)
            elif outcome == EVALUATE and self.evaluator is not None:
                self.evaluator.evaluate_new(self.state)
            else:
                return outcome
            if time.perf_counter() - begun > _AT_A_TIME:
                return outcome

    def _bound_the_rest(self) -> None:
        """Backtrack to the top and bound what was not searched.

        On the way up every value that was still to be locked is locked, to see which bound that gives.
        """
        stacks, now = self.state.arrays.stacks, self.state.now
        bound = float(self.state.total["bound"] + self.state.total["surplus"])
        if now["phase"] == SETTLE:  # interrupted between a step and its evaluation
            backtrack(self.state.arrays)
            bound = float(self.state.total["bound"] + self.state.total["surplus"])
        elif now["phase"] == BACKTRACK:
            bound = np.inf
        while now["depth"] > 0:
            frame: Any = stacks.frame[now["depth"] - 1]
            value, position = int(frame["value"]), int(frame["position"])
            both = frame["decision"] == SPECIALIZED and not frame["forced"]
            backtrack(self.state.arrays)
            if both and not self.state.arrays.tree.forced[value]:
                bound = min(bound, self._bound_locked(position))
        self.proven = min(self.best, bound + self.state.shift)

    def _bound_locked(self, position: int) -> float:
        """Return the bound with an open value locked."""
        self._step(position, LOCKED)
        total = self.state.total
        bound = np.inf if total["dead"] > 0 else float(total["bound"] + total["surplus"])
        backtrack(self.state.arrays)
        return bound

    @property
    def _over(self) -> bool:
        if self.budget.stop.is_set() and not self.found:
            raise nothing_found(self.budget)
        return self.budget.exhausted and self.found

    def _report(self) -> None:
        now = Progress(self.budget.seconds, self.best, self.bound, int(self.state.now["examined"]))
        if not self.trace or now.best < self.trace[-1].best or now.bound > self.trace[-1].bound:
            self.trace.append(now)
        if self.progress is not None:
            self.progress(now)

    def cuts(self) -> list[tuple[float, Marks]]:
        """Return the cuts that are kept, the best first, each with its cost."""
        stacks = self.state.arrays.stacks
        cost = stacks.best_cost[: int(self.state.now["solutions"])]
        return [(float(cost[s]) + self.state.shift, stacks.best[s]) for s in np.argsort(cost)]

    def stats(self) -> dict[str, Any]:
        """Return the size of the space, how much of it was examined, and which rule pruned the rest."""
        now = self.state.now
        attributes, schemes = self.problem.table.attributes, self.problem.schemes
        better = [point.seconds for point in self.trace if point.best == self.trace[-1].best]
        return {
            "space": self.state.cut_tree.cuts(),
            "formal_space": prod(s.formal_count(a) for s, a in zip(schemes, attributes, strict=True)),
            "examined": int(now["examined"]),
            "pruned": {
                "a class nothing can mend": int(now["infeasible"]),
                "more rows than the budget": int(now["over_budget"]),
                "bound after specializing": int(now["bound_specialized"]),
                "bound after locking": int(now["bound_locked"]),
                "bound of all open values": int(now["foreseen"]),
                "the same classes": int(now["skipped"]),
            },
            "first_cost": self.first if np.isfinite(self.first) else None,
            "seconds_to_best": better[0] if better else None,
            "seconds_to_proof": self.budget.seconds if self.complete else None,
        }


def _chosen_solution(solver: CutsSolver, search: CutSearch, complete: bool) -> Solution:
    """Choose the cut to release, evaluate it afresh through the array interface, and state what is proven."""
    draw = search.budget.random()
    cuts = search.cuts()
    tree, recoder = search.state.cut_tree, Recoder(search.problem)
    _, mark = draw.choice(cuts)
    stats = search.stats()
    recoded = recoder.evaluate(Released.by_blocks(search.problem.table, tree.blocks(mark)))
    if solver.extra:
        limit = recoded.cost * (1 + solver.extra_loss)
        recoded, stats["precaution"] = Precaution(recoder, tree, draw, solver.extra, limit).take(mark, recoded)
    if complete and solver.top == 1 and not solver.extra:
        return recoded.solution("optimal", recoded.cost, stats, search.trace)
    bound = search.proven - _ROUNDING * abs(search.proven)
    return recoded.solution("feasible", bound, stats, search.trace)


def _infeasible(problem: Problem, budget: Budget, stats: dict[str, Any]) -> Solution:
    """Report that no cut is valid and, where it can be found, how many rows would have to be suppressed."""
    fewest = None
    if problem.superset_closed or problem.suppression.hides_values:
        top = tuple(a.ancestors[level] for a, level in zip(problem.table.attributes, problem.highest, strict=True))
        fewest = smallest_budget(problem, Released.by_blocks(problem.table, top))
    elif not problem.limit_of_people:
        easier = replace(problem, cost=RowsLost(), suppression=ClassRecords())
        search = CutSearch(CutsSolver(), easier, Budget(_PATIENCE, stop=budget.stop), None)
        if search.run() and search.found:
            fewest = int(search.best)
    return Solution("infeasible", np.inf, np.inf, smallest_budget=fewest, stats=stats)
