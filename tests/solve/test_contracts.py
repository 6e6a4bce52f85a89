"""Every solver keeps the contract that others are asked to keep, and the contract notices one that does not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet.solve import SOLVERS, Budget, Solution
from discreet.solve.lattice.solver import LatticeSolver
from discreet.testing import SolverContract, check_description


@pytest.mark.parametrize("member", SOLVERS.members().values(), ids=lambda member: member.name)
def test_every_solver_describes_itself(member):
    check_description(member, SOLVERS)
    assert member.examples[0] == member.name, "the first example is the plain name"


class TestSolvers(SolverContract):
    trials = 40

    @pytest.fixture(params=list(SOLVERS.members()))
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
