"""A release drawn at random among recodings near the best one, so that optimality gives nothing away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from discreet.errors import UsageError
from discreet.problem import Problem
from discreet.problem.schemes import Scheme
from discreet.solve._base import SOLVERS, Budget, ProgressCallback, Solution, Solver
from discreet.solve._choose import choose_solver

__all__ = ["RobustSolver"]

_SHARE = 0.7
"""The share of a time limit that the search for the best recoding gets."""
_RUNS = 5
"""How often a local search is run."""


@SOLVERS.register
@dataclass(frozen=True)
class RobustSolver(Solver):
    """Draws the release among recodings that cost at most 1 + ``epsilon`` times the best one.

    Whoever knows that a release costs least knows that every finer one breaks a promise, or costs more. So the best
    recoding is found by ``solver``, others near it are collected, and one of them is drawn, each as likely, by secure
    randomness or the seed. The lower bound stays that of the problem. Around a global recoding, others are found step
    by step: one node is replaced by its children or by its parent, or one column is lifted or lowered by one level.
    Local recodings are found by several searches from different random numbers.

    >>> RobustSolver(epsilon=0.05).text
    'robust(epsilon=0.05)'
    """

    name: ClassVar[str] = "robust"
    examples: ClassVar[tuple[str, ...]] = ("robust", "robust(epsilon=0.05)")
    title: ClassVar[str] = "Near the best"
    summary: ClassVar[str] = "Drawn at random among nearly optimal releases, so that nobody can reason from optimality."
    rank: ClassVar[int] = 45
    schemes: ClassVar[frozenset[str]] = frozenset({"full-domain", "subtree", "local"})
    suppressions: ClassVar[frozenset[str]] = frozenset(
        {"none", "budget", "class-records", "violating-records", "class-values", "violating-values"}
    )
    baseline: ClassVar[bool] = True
    sees_population: ClassVar[bool] = True
    sees_table: ClassVar[bool] = True
    sees_key_sets: ClassVar[bool] = True

    epsilon: float = 0.02
    solver: str = "auto"

    def __post_init__(self) -> None:
        if isinstance(self.epsilon, bool) or not isinstance(self.epsilon, int | float) or not 0 < self.epsilon <= 1:
            raise UsageError(
                "The epsilon of robust is a share of the cost above 0 and up to 1, as in robust(epsilon=0.02)."
            )
        if str(self.solver).partition("(")[0].strip() == self.name:
            raise UsageError("The solver robust goes around another solver, not around itself; leave solver out.")

    def searches(self, scheme: Scheme) -> bool:
        """Return whether it can search a scheme: by levels, by cuts, or local."""
        return scheme.name in self.schemes

    def compiled(self, problem: Problem) -> bool:
        """Return whether the solver inside is."""
        return choose_solver(problem, self.solver).compiled(problem)

    def check(self, problem: Problem) -> None:
        """Raise an error if no solver inside fits."""
        choose_solver(problem, self.solver)

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return a recoding drawn near the best one that was found."""
        with budget.paused():
            inner = choose_solver(problem, self.solver)
        if not all(scheme.is_global for scheme in problem.schemes):
            return self._draw_of_runs(inner, problem, budget, progress)
        with _part_of(budget, _SHARE):
            best = inner.solve(problem, budget, progress)
        if best.status == "infeasible":
            return best
        from discreet.solve.robust.neighbourhood import Neighbourhood

        found = Neighbourhood(problem, best, best.cost * (1 + self.epsilon)).collect(budget)
        drawn = budget.random().choice(found)
        solution = drawn.solution("feasible", best.lower_bound, self._stats(best, len(found), drawn.cost), best.trace)
        return replace(solution, status="feasible")

    def _draw_of_runs(
        self, inner: Solver, problem: Problem, budget: Budget, progress: ProgressCallback | None
    ) -> Solution:
        """Search several times with different random numbers, and draw one of the good results."""
        draw, seed = budget.random(), budget.seed
        runs: list[Solution] = []
        for run in range(_RUNS):
            budget.seed = draw.getrandbits(48)
            with _part_of(budget, (run + 1) / _RUNS):
                runs.append(inner.solve(problem, budget, progress))
            if runs[-1].status == "infeasible" or budget.stop.is_set():
                break
        budget.seed = seed
        if runs[0].status == "infeasible":
            return runs[0]
        runs = [run for run in runs if run.status != "infeasible"]
        best = min(runs, key=lambda run: run.cost)
        bound = max(run.lower_bound for run in runs)
        found = [run for run in runs if run.cost <= best.cost * (1 + self.epsilon)]
        drawn = draw.choice(found)
        stats = self._stats(best, len(found), drawn.cost)
        return replace(drawn, status="feasible", lower_bound=min(bound, drawn.cost), stats={**drawn.stats, **stats})

    def _stats(self, best: Solution, found: int, cost: float) -> dict[str, Any]:
        more = max(cost - best.cost, 0.0)
        about = {"epsilon": self.epsilon, "found": found, "least_cost": best.cost, "extra_cost": more}
        return {**best.stats, "robust": about}


@contextmanager
def _part_of(budget: Budget, share: float) -> Iterator[None]:
    """Let a search run for a share of the time limit."""
    whole = budget.time_limit
    budget.time_limit = None if whole is None else whole * share
    try:
        yield
    finally:
        budget.time_limit = whole
