"""Which solver fits a problem, and refusal of those that do not."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context

from discreet.errors import UnsupportedCombinationError
from discreet.problem import Problem
from discreet.solve._base import SOLVERS, Budget, ProgressCallback, Solution, Solver

__all__ = ["choose_solver", "prepare", "solve"]

_USUAL = {"full-domain": "lattice", "subtree": "cuts", "local": "local"}
"""What ``auto`` takes where all columns have one scheme; the others need not be loaded then, which takes a second."""


def choose_solver(problem: Problem, solver: str | Solver = "auto") -> Solver:
    """Return the solver asked for if it fits, or for ``auto`` an exact one that does; baselines are left out."""
    chosen = _choose(problem, solver)
    chosen.check(problem)
    return chosen


def _choose(problem: Problem, solver: str | Solver) -> Solver:
    if isinstance(solver, str) and solver.strip() == "auto":
        usual = _usual(problem)
        if usual is not None:
            return usual
        known = [member() for member in SOLVERS.members().values() if not member.baseline]
        fitting = [member for member in known if _misfit(problem, member) is None]
        if not fitting:
            raise _nothing_fits(problem, known)
        return max(fitting, key=lambda member: (member.exact, member.special))
    chosen = SOLVERS.make(solver)
    misfit = _misfit(problem, chosen)
    if misfit is not None:
        raise misfit
    return chosen


def _usual(problem: Problem) -> Solver | None:
    """Return the solver that the choice among all would end at in the usual cases."""
    names = {_USUAL.get(scheme.name) for scheme in problem.schemes}
    name = names.pop()
    if name is None or names or problem.cost.counts_values:  # for costs that count values there is a special solver
        return None
    solver = SOLVERS.make(name)
    return solver if _misfit(problem, solver) is None else None


def prepare(jobs: int = 1) -> None:
    """Compile every kernel now rather than at the first search; later calls, and later processes, find them ready.

    With several ``jobs`` so many processes share the work.
    """
    from discreet.solve._local_solver import LocalSolver

    local = [name for name, member in SOLVERS.members().items() if issubclass(member, LocalSolver)]
    parts = ["front", "cuts", "partitions", "_local_bound", "lattice", "_paper_judge", "_partial_domain", *local]
    if jobs == 1:
        for part in parts:
            _prepare(part)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        list(pool.map(_prepare, parts))


def _prepare(part: str) -> None:
    """Compile the kernels of one module, or of the local solver of that name."""
    from discreet.solve._local_solver import LocalSolver, load_kernels

    member = SOLVERS.members().get(part)
    if member is not None and issubclass(member, LocalSolver):
        load_kernels(member)
    else:
        import_module(f"discreet.solve.{part}").prepare()


def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    budget: Budget | None = None,
    progress: ProgressCallback | None = None,
) -> Solution:
    """Solve a problem with the solver named, or with the one that fits."""
    return choose_solver(problem, solver).solve(problem, budget or Budget(), progress)


def _nothing_fits(problem: Problem, known: Sequence[Solver]) -> UnsupportedCombinationError:
    """Say what no solver can do: a scheme, a scheme with the suppression, or several schemes at once."""
    suppression = problem.suppression.name
    for name, scheme in {scheme.name: scheme for scheme in problem.schemes}.items():
        searching = [member for member in known if member.searches(scheme)]
        if not searching:
            able = sorted({scheme for member in known for scheme in member.schemes})
            return UnsupportedCombinationError(f"The scheme {name}", "any solver", f"choose {' or '.join(able)}")
        if not any(suppression in member.suppressions for member in searching):
            able = sorted({kind for member in searching for kind in member.suppressions})
            return UnsupportedCombinationError(
                f"The scheme {name}", f"the suppression {suppression}", f"choose {', '.join(able[:-1])} or {able[-1]}"
            )
        if not any(member.takes(problem.cost) for member in searching if suppression in member.suppressions):
            return UnsupportedCombinationError(
                f"The cost {problem.cost.name}",
                f"the scheme {name} and the suppression {suppression}",
                "choose another cost, or the suppression none",
            )
        if problem.looks_at_population and not any(member.sees_population for member in searching):
            return UnsupportedCombinationError(
                f"The scheme {name}", _counting(problem), "choose full-domain, or subtree with the solver annealing"
            )
    first, *others = dict.fromkeys(scheme.name for scheme in problem.schemes)
    return UnsupportedCombinationError(
        f"The scheme {first}", f"the scheme {others[0]} of another attribute", "choose one scheme for all"
    )


def _counting(problem: Problem) -> str:
    """Name the model that counts people of the population."""
    model = next(model for model in problem.privacy if model.looks_at_population)
    return f"the privacy model {model.shown}, which counts people of the population"


def _misfit(problem: Problem, solver: Solver) -> UnsupportedCombinationError | None:
    for attribute, scheme in zip(problem.table.attributes, problem.schemes, strict=True):
        if not solver.searches(scheme):
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
    if problem.looks_at_population and not solver.sees_population:
        return UnsupportedCombinationError(
            f"The solver {solver.name}",
            _counting(problem),
            "choose full-domain with lattice, or subtree with annealing",
        )
    whole = next((model for model in problem.privacy if model.of_table), None)
    if whole is not None and not solver.sees_table:
        return UnsupportedCombinationError(
            f"The solver {solver.name}",
            f"the privacy model {whole.name}, which looks at the whole table",
            "choose the solver auto or lattice",
        )
    if not solver.takes(problem.cost):
        return UnsupportedCombinationError(
            f"The solver {solver.name}", f"the cost {problem.cost.name}", "choose the solver auto or another cost"
        )
    return None
