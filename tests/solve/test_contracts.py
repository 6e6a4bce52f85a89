"""Every solver keeps the contract that others are asked to keep; one without an example here fails."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet.solve import SOLVERS, Budget, Solution
from discreet.solve.lattice import LatticeSolver
from discreet.testing import SolverContract

FORMS = {
    "lattice": ["lattice"],
    "cuts": ["cuts"],
    "partitions": ["partitions"],
    "incognito": ["incognito"],
    "annealing": ["annealing"],
    "optimal-score": ["optimal-score"],
    "user-oriented": ["user-oriented"],
    "local": ["local"],
    "mondrian": ["mondrian"],
    "top-down": ["top-down"],
    "bottom-up": ["bottom-up"],
    "mdav": ["mdav"],
}


def test_every_solver_has_an_example():
    assert set(FORMS) == set(SOLVERS.members())


class TestSolvers(SolverContract):
    trials = 40

    @pytest.fixture(params=[form for forms in FORMS.values() for form in forms])
    def solver(self, request):
        return SOLVERS.make(request.param)


Contract = SolverContract()


@dataclasses.dataclass(frozen=True)
class Boasts(LatticeSolver):
    """Says that nothing goes below what it has not reached."""

    def solve(self, problem, budget, progress=None):
        solution = super().solve(problem, budget, progress)
        return dataclasses.replace(solution, lower_bound=solution.cost + 1)


@dataclasses.dataclass(frozen=True)
class Leaks(LatticeSolver):
    """Releases the original values."""

    def solve(self, problem, budget, progress=None):
        solution = super().solve(problem, budget, progress)
        if solution.status == "infeasible":
            return solution
        return dataclasses.replace(
            solution,
            levels=tuple(0 for _ in solution.blocks),
            blocks=tuple(attribute.ancestors[0] for attribute in problem.table.attributes),
        )


@dataclasses.dataclass(frozen=True)
class GivesUp(LatticeSolver):
    """Says that there is no release."""

    def solve(self, problem, budget, progress=None):
        return Solution("infeasible", np.inf, np.inf)


@dataclasses.dataclass(frozen=True)
class Coarse(LatticeSolver):
    """Releases the most general values and calls that optimal."""

    def solve(self, problem, budget, progress=None):
        top = dataclasses.replace(problem, lowest=problem.highest)
        return super().solve(top, budget, progress)


@dataclasses.dataclass(frozen=True)
class Wavers(LatticeSolver):
    """Costs something else each time."""

    def solve(self, problem, budget, progress=None):
        solution = super().solve(problem, budget, progress)
        return dataclasses.replace(solution, cost=solution.cost + Budget().random().random())


@dataclasses.dataclass(frozen=True)
class Unfinished(LatticeSolver):
    """Says that it is exact and proves nothing."""

    def solve(self, problem, budget, progress=None):
        return dataclasses.replace(super().solve(problem, budget, progress), status="feasible")


@pytest.mark.parametrize(
    ("lie", "test"),
    [
        (Boasts(), Contract.test_the_bound_holds),
        (Leaks(), Contract.test_what_it_returns_is_valid),
        (GivesUp(), Contract.test_the_bound_holds),
        (Coarse(), Contract.test_the_bound_holds),
        (Wavers(), Contract.test_same_seed_same_solution),
        (Unfinished(), Contract.test_an_exact_solver_finishes),
    ],
    ids=lambda case: getattr(case, "__name__", type(case).__name__),
)
def test_the_contract_notices(lie, test):
    with pytest.raises(AssertionError):
        test(lie)
