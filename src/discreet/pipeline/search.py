"""The search of a job: build the problem of a counted table, choose a solver, and solve it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.errors import InfeasibleError
from discreet.pipeline.infeasible import infeasible
from discreet.pipeline.prepare import Prepared, build_problem, check_suppression, search_budget
from discreet.problem import SUPPRESSION, Problem

if TYPE_CHECKING:
    from discreet.pipeline.against import EarlierReleases
    from discreet.solve import Budget, ProgressCallback, Solution, Status

__all__ = ["search"]


def search(prepared: Prepared, progress: ProgressCallback | None, budget: Budget) -> tuple[Problem, Solution]:
    """Return the problem of a table, and its solution; raise InfeasibleError if there is none."""
    with prepared.clock("solve"):
        problem = build_problem(prepared, prepared.settings.privacy)
        check_suppression(problem, prepared)
        compiling = budget.preparing
        if prepared.earlier is None:
            solution = _solve(problem, prepared, progress, budget)
        else:
            problem, solution = _solve_against(prepared.earlier, problem, prepared, progress, budget)
        prepared.clock.reassign(budget.preparing - compiling, from_stage="solve", to_stage="compile")
    return problem, solution


def _solve_against(
    earlier: EarlierReleases, problem: Problem, prepared: Prepared, progress: ProgressCallback | None, budget: Budget
) -> tuple[Problem, Solution]:
    """Search for a release that keeps its promises together with earlier ones.

    If suppressed people would be too few, as they are known from an earlier release, nobody is suppressed. The lower
    bound of the first search still holds, and the result may not be the best.
    """
    from discreet.pipeline.against import is_local

    if is_local(problem):
        return problem, _solve_local(earlier, problem, prepared, progress, budget)
    first = _solve(earlier.require(problem, prepared), prepared, progress, budget)
    if earlier.holds(problem, first, prepared):
        return problem, first
    whole = replace(problem, suppression=SUPPRESSION.make("none"))
    try:
        solution = _solve(earlier.require(whole, prepared), prepared, progress, budget)
    except InfeasibleError:
        raise InfeasibleError(
            "Together with the earlier releases, the promises can neither be kept by suppressing rows, whose absence "
            "is known from those, nor without it; promise less, or apply the mapping of the earlier release.",
            topic="against",
        ) from None
    bound = min(float(first.lower_bound), float(solution.cost))
    status: Status = "optimal" if solution.status == "optimal" and bound >= solution.cost else "feasible"
    return whole, replace(solution, lower_bound=bound, status=status)


def _solve_local(
    earlier: EarlierReleases, problem: Problem, prepared: Prepared, progress: ProgressCallback | None, budget: Budget
) -> Solution:
    """Search for a local recoding part by part, within one time limit."""
    from discreet.solve import choose_solver

    settings = prepared.settings
    budget = search_budget(budget, settings.time_limit)
    budget.seed, budget.threads = settings.seed, settings.threads
    solution = earlier.solve_local(
        problem, prepared, lambda part: choose_solver(part, settings.solver).solve(part, budget), budget
    )
    if progress is not None:
        for state in solution.trace:
            progress(state)
    return solution


def _solve(problem: Problem, prepared: Prepared, progress: ProgressCallback | None, budget: Budget) -> Solution:
    from discreet.solve import choose_solver, redraw_hidden  # compiled code is loaded from here on, and not before

    settings = prepared.settings
    budget = search_budget(budget, settings.time_limit)
    with budget.paused():
        solver = choose_solver(problem, settings.solver)
    budget.seed, budget.threads = settings.seed, settings.threads
    solution = solver.solve(problem, budget, progress)
    if solution.status == "infeasible":
        raise infeasible(problem, solution)
    return redraw_hidden(problem, solution, budget.random)
