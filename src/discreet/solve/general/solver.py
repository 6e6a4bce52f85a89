"""Optimal global recoding with any privacy models, cost and suppression, through arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from discreet.errors import UnsupportedCombinationError
from discreet.problem import Problem
from discreet.problem.schemes import Scheme
from discreet.solve._base import SOLVERS, Budget, ProgressCallback, Solution, Solver
from discreet.solve._kernel_loading import stand_in, two_rows, warm_up
from discreet.solve._key_sets import compile_ahead as load_key_sets
from discreet.solve._people import load_people_kernels
from discreet.solve.general.bounds import GeneralBounds
from discreet.solve.general.key_set_bounds import KeySetBounds, PeopleKeySetBounds
from discreet.solve.partitions.search import PartitionSearch
from discreet.solve.partitions.solver import PARTITIONS, solve_by_bounds
from discreet.solve.partitions.solver import compile_ahead as compile_partitions

__all__ = ["GeneralSolver", "bounds_for", "compile_ahead"]


@SOLVERS.register
@dataclass(frozen=True)
class GeneralSolver(Solver):
    """Finds the cheapest partitions of all attributes and proves it, for whatever can be asked of a global recoding.

    It is the search of ``partitions`` with bounds that evaluate classes through the arrays of privacy models, cost and
    suppression, and so knows nothing about any of them but the properties they publish. It is slower than the solvers
    with compiled bounds, and chosen only if none of them fits.

    >>> GeneralSolver().text
    'general'
    """

    name: ClassVar[str] = "general"
    examples: ClassVar[tuple[str, ...]] = ("general",)
    title: ClassVar[str] = "General"
    summary: ClassVar[str] = "The optimum with a proof, for every global scheme, cost and kind of suppression; slower."
    reason: ClassVar[str] = (
        "It looks through {recodings}, leaves out what cannot win, and proves that nothing better was overlooked. No "
        "faster search knows this combination."
    )
    rank: ClassVar[int] = 35
    schemes: ClassVar[frozenset[str]] = frozenset(
        {"full-domain", "subtree", "ordered", "guided-ordered", "set", "guided-set"}
    )
    suppressions: ClassVar[frozenset[str]] = frozenset(
        {"none", "budget", "class-records", "violating-records", "class-values", "violating-values"}
    )
    exact: ClassVar[bool] = True
    sees_people: ClassVar[bool] = True
    sees_table: ClassVar[bool] = True
    sees_key_sets: ClassVar[bool] = True
    sees_key_sets_of_people: ClassVar[bool] = True

    def searches(self, scheme: Scheme) -> bool:
        """Return whether the scheme is global; partitions of unknown schemes are enumerated."""
        return scheme.is_global

    def compiled(self, problem: Problem) -> bool:
        """Return False: every class is evaluated through arrays."""
        return False

    def check(self, problem: Problem) -> None:
        """Refuse costs of levels if all columns are full-domain: blocks do not say which of equal levels is meant."""
        if problem.cost.needs_hierarchy and all(scheme.name == "full-domain" for scheme in problem.schemes):
            raise UnsupportedCombinationError(
                f"The solver {self.name}", f"the cost {problem.cost.name} of full-domain levels", "choose lattice"
            )

    def solve(self, problem: Problem, budget: Budget, progress: ProgressCallback | None = None) -> Solution:
        """Return the best partitions found and what is proven about them."""
        with budget.paused():
            compile_ahead()
            if problem.people is not None:
                load_people_kernels()
        return solve_by_bounds(problem, budget, progress, bounds=bounds_for(problem))


def bounds_for(problem: Problem) -> type[GeneralBounds]:
    """Return the bounds for a problem: with key sets classes of different blocks are decided together."""
    if not problem.key_sets:
        return GeneralBounds
    return KeySetBounds if problem.people is None else PeopleKeySetBounds


@cache
def compile_ahead() -> None:
    """Load the kernels, or compile them the first time ever, on tables of a few rows."""
    compile_partitions()
    warm_up("general search", _solve_few_rows, uses=[PARTITIONS])
    load_key_sets()


def _solve_few_rows() -> None:
    """Solve small problems that together need every kernel beside those of ``partitions``."""
    for cost in ("NCP", "HDM"):
        for privacy in ("k(2)", "distinct-l(2, s)"):
            problem = Problem.build(two_rows(attributes=2), privacy=privacy, cost=cost, scheme="ordered")
            PartitionSearch(problem, Budget(), None, bounds=GeneralBounds).run()
    labelled = stand_in(["a", "b"], ["s"], label="c")
    problem = Problem.build(labelled, privacy="beta(1, s)", cost="CM", scheme="ordered")
    PartitionSearch(problem, Budget(), None, bounds=GeneralBounds).run()
