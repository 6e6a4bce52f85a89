"""Which solver fits a problem, and refusal of those that do not."""

from __future__ import annotations

from discreet.errors import UnsupportedCombinationError
from discreet.problem import Problem
from discreet.solve._base import SOLVERS, Budget, ProgressCallback, Solution, Solver

__all__ = ["choose_solver", "solve"]


def choose_solver(problem: Problem, solver: str | Solver = "auto") -> Solver:
    """Return the solver asked for if it fits, or for ``auto`` an exact one that does."""
    if isinstance(solver, str) and solver.strip() == "auto":
        fitting = [member() for member in SOLVERS.members().values() if _misfit(problem, member()) is None]
        if not fitting:
            scheme = next((s.name for s in problem.schemes if not _searched(s.name)), problem.schemes[0].name)
            raise UnsupportedCombinationError(
                f"The scheme {scheme}",
                f"the suppression {problem.suppression.name}",
                "no solver searches that yet; full-domain with none, budget or class-records is solved exactly",
            )
        return max(fitting, key=lambda member: member.exact)
    chosen = SOLVERS.make(solver)
    misfit = _misfit(problem, chosen)
    if misfit is not None:
        raise misfit
    return chosen


def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    budget: Budget | None = None,
    progress: ProgressCallback | None = None,
) -> Solution:
    """Solve a problem with the solver named, or with the one that fits."""
    return choose_solver(problem, solver).solve(problem, budget or Budget(), progress)


def _searched(scheme: str) -> bool:
    return any(scheme in member.schemes for member in SOLVERS.members().values())


def _misfit(problem: Problem, solver: Solver) -> UnsupportedCombinationError | None:
    for attribute, scheme in zip(problem.table.attributes, problem.schemes, strict=True):
        if scheme.name not in solver.schemes:
            return UnsupportedCombinationError(
                f"The solver {solver.name}",
                f"the scheme {scheme.name} of '{attribute.name}'",
                f"it searches {', '.join(sorted(solver.schemes))}",
            )
    if problem.suppression.name not in solver.suppressions:
        return UnsupportedCombinationError(
            f"The solver {solver.name}",
            f"the suppression {problem.suppression.name}",
            f"it applies {', '.join(sorted(solver.suppressions))}",
        )
    return None
