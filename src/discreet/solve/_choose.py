"""The choice of a solver for a problem, and errors for those that do not fit."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.errors import UnsupportedCombinationError
from discreet.problem import Problem
from discreet.solve._base import SOLVERS, Budget, ProgressCallback, Solution, Solver

__all__ = ["choose_solver", "solve"]

_USUAL = {"full-domain": "lattice", "subtree": "cuts", "local": "local", "cells": "cells"}
"""What ``auto`` chooses if all attributes have one scheme: importing the other solvers takes a second."""


def choose_solver(problem: Problem, solver: str | Solver = "auto") -> Solver:
    """Return the given solver if it fits, or for ``auto`` one that does: exact if possible, never a baseline."""
    if isinstance(solver, str) and solver.strip() == "auto":
        return _fitting(problem)
    chosen = SOLVERS.make(solver)
    misfit = _misfit(problem, chosen)
    if misfit is not None:
        raise misfit
    return chosen


def _fitting(problem: Problem) -> Solver:
    """Return the solver that ``auto`` chooses: exact if possible, special before compiled, and never a baseline."""
    usual = _usual(problem)
    if usual is not None:
        return usual
    known = [member() for member in SOLVERS.members().values() if not member.baseline]
    fitting = [member for member in known if _misfit(problem, member) is None]
    if not fitting:
        raise _nothing_fits(problem, known)
    return max(fitting, key=lambda member: (member.exact, member.special, member.compiled(problem)))


def _usual(problem: Problem) -> Solver | None:
    """Return what the choice among all solvers would result in, in the usual cases; None in all others."""
    names = {problem.cost.solver or _USUAL.get(scheme.name) for scheme in problem.schemes}
    name = names.pop()
    if name is None or names or problem.cost.counts_values:  # for costs that count values there is a special solver
        return None
    solver = SOLVERS.make(name)
    return solver if _misfit(problem, solver) is None else None


def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    budget: Budget | None = None,
    progress: ProgressCallback | None = None,
) -> Solution:
    """Solve a problem with the given solver, or with one that fits."""
    return choose_solver(problem, solver).solve(problem, budget or Budget(), progress)


def _nothing_fits(problem: Problem, known: Sequence[Solver]) -> UnsupportedCombinationError:
    """Return the error that names what no solver can do: a scheme, or a combination with it."""
    suppression = problem.suppression.name
    for name, scheme in {scheme.name: scheme for scheme in problem.schemes}.items():
        searching = [member for member in known if member.searches(scheme)]
        if not searching:
            able = sorted({scheme for member in known for scheme in member.schemes})
            return UnsupportedCombinationError(f"The scheme {name}", "any solver", f"choose {' or '.join(able)}")
        if not any(member.applies(problem.suppression) for member in searching):
            able = sorted({kind for member in searching for kind in member.suppressions})
            return UnsupportedCombinationError(
                f"The scheme {name}", f"the suppression {suppression}", f"choose {', '.join(able[:-1])} or {able[-1]}"
            )
        if not any(member.takes(problem.cost) for member in searching if member.applies(problem.suppression)):
            if not any(member.takes(problem.cost) for member in searching):
                return UnsupportedCombinationError(
                    f"The cost {problem.cost.name}",
                    f"the scheme {name}",
                    "its solvers search for other costs; choose another cost",
                )
            return UnsupportedCombinationError(
                f"The cost {problem.cost.name}",
                f"the scheme {name} and the suppression {suppression}",
                "choose another cost, or the suppression none",
            )
        if problem.looks_at_population and not any(member.sees_population for member in searching):
            return UnsupportedCombinationError(
                f"The scheme {name}",
                _counting(problem),
                "its solvers count rows alone; choose full-domain, or subtree with the solver annealing",
            )
        fitting = [member for member in searching if member.applies(problem.suppression) and member.takes(problem.cost)]
        if problem.key_sets and not any(member.sees_key_sets for member in fitting):
            return UnsupportedCombinationError(
                "Promises about key sets, as in k(3, on=[…]),",
                f"the scheme {name} with the cost {problem.cost.name} and the suppression {suppression}",
                "its solvers look at all quasi-identifiers together; choose the cost LM, or the scheme full-domain",
            )
    first, *others = dict.fromkeys(scheme.name for scheme in problem.schemes)
    if not others:  # each solver of the scheme lacks something else
        misfits = (_misfit(problem, SOLVERS.make(name)) for name in (problem.cost.solver, _USUAL.get(first)) if name)
        for misfit in misfits:
            if misfit is not None and not misfit.parts[0].startswith("The solver"):
                return misfit  # of two choices, whatever the solver
        return UnsupportedCombinationError(
            f"The scheme {first}",
            "promises that count people" if problem.people is not None else "this combination of cost and suppression",
            "its solvers do not go with all of the other choices; choose full-domain, or another suppression or cost",
        )
    reason = "no solver searches both"
    if len({scheme.is_global for scheme in problem.schemes}) > 1:
        reason = "groups of rows show covers of their own in all columns"
    return UnsupportedCombinationError(
        f"The scheme {first}", f"the scheme {others[0]} of another attribute", f"{reason}; choose one scheme for all"
    )


def _counting(problem: Problem) -> str:
    """Return the name of the model that counts people of the population."""
    model = next(model for model in problem.privacy if model.looks_at_population)
    return f"the privacy model {model.shown}, which counts people of the population"


def _misfit(problem: Problem, solver: Solver) -> UnsupportedCombinationError | None:
    """Return the error that says why a solver cannot solve a problem; None if it can."""
    for attribute, scheme in zip(problem.table.attributes, problem.schemes, strict=True):
        if not solver.searches(scheme):
            return UnsupportedCombinationError(
                f"The solver {solver.name}",
                f"the scheme {scheme.name} of '{attribute.name}'",
                f"it searches {', '.join(sorted(solver.schemes))}",
            )
    if not solver.applies(problem.suppression):
        return UnsupportedCombinationError(
            f"The solver {solver.name}",
            f"the suppression {problem.suppression.name}",
            f"it applies {', '.join(sorted(solver.suppressions))}",
        )
    if problem.looks_at_population and not solver.sees_population:
        return UnsupportedCombinationError(
            f"The solver {solver.name}",
            _counting(problem),
            "it counts rows alone; choose full-domain with lattice, or subtree with annealing",
        )
    if problem.people is not None and not solver.sees_people:
        return UnsupportedCombinationError(
            f"The solver {solver.name}",
            "promises that count people",
            "it counts rows; choose the solver auto",
        )
    if problem.key_sets and not solver.sees_key_sets:
        return UnsupportedCombinationError(
            f"The solver {solver.name}",
            "promises about key sets, as in k(3, on=[…])",
            "it looks at all quasi-identifiers together; choose the solver auto",
        )
    if problem.key_sets and problem.people is not None and not solver.sees_key_sets_of_people:
        return UnsupportedCombinationError(
            f"The solver {solver.name}",
            "promises about key sets that count people",
            "it counts their rows; choose the solver auto or lattice",
        )
    whole = next((model for model in problem.privacy if model.of_table), None)
    if whole is not None and not solver.sees_table:
        return UnsupportedCombinationError(
            f"The solver {solver.name}",
            f"the privacy model {whole.name}, which looks at the whole table",
            "it decides class by class; choose the solver auto",
        )
    if not solver.takes(problem.cost):
        reason = (
            "it counts released values, which the solver does not"
            if problem.cost.counts_values
            else "the solver searches for other costs"
        )
        return UnsupportedCombinationError(
            f"The solver {solver.name}",
            f"the cost {problem.cost.name}",
            f"{reason}; choose the solver auto or another cost",
        )
    try:
        solver.check(problem)
    except UnsupportedCombinationError as misfit:
        return misfit
    return None
