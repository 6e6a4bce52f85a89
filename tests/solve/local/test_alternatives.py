"""Local recoding with models that have no compiled form: infeasible is only said with a proof."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from discreet.errors import NothingFoundError
from discreet.problem import Problem
from discreet.problem.suppression.suppress_records import SuppressRecords
from discreet.solve import Budget, choose_solver
from discreet.solve.local.alternatives import is_infeasible
from discreet.testing import random_table
from discreet.testing._unlisted import UnlistedCost, UnlistedModel

SOLVERS = ["local", "mondrian", "top-down", "bottom-up", "mdav"]


def drawn(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    table = random_table(
        rng, rows=int(rng.integers(4, 9)), attributes=1, leaves=4, split_by_sensitive=True, missing=0.3 * (seed % 2)
    )
    models = [f"k({rng.integers(1, 3)})", UnlistedModel(int(rng.integers(1, 4)), "secret")]
    return Problem.build(
        table, privacy=models, cost="NCP", suppression=["none", "budget(0.25)", "budget(2)"][seed % 3], scheme="local"
    )


def rows_of(problem: Problem) -> list[int]:
    """The sensitive value of each row; -1 where it is not known."""
    histogram = problem.table.sensitive["secret"]
    values = []
    for j, weight in enumerate(problem.table.weights.tolist()):
        own = histogram.values[histogram.offsets[j] : histogram.offsets[j + 1]].tolist()
        values += (own or [-1]) * weight
    return values


def any_grouping(problem: Problem) -> bool:
    values = rows_of(problem)
    k, spread = problem.privacy[0].k, problem.privacy[1].spread

    def ok(group):
        known = [values[row] for row in group if values[row] >= 0]
        return len(group) >= k and bool(known) and max(known) - min(known) >= spread

    for size in range(problem.limit + 1):
        for gone in itertools.combinations(range(len(values)), size):
            stay = [row for row in range(len(values)) if row not in gone]
            if any(all(map(ok, partition)) for partition in naive.set_partitions(stay)):
                return True
    return False


@pytest.mark.parametrize("solver", SOLVERS)
def test_infeasible_is_proven(solver: str) -> None:
    outcomes = {True: 0, False: 0}
    for seed in range(120):
        problem = drawn(seed)
        solution = choose_solver(problem, solver).solve(problem, Budget(seed=seed))
        possible = any_grouping(problem)
        assert (solution.status != "infeasible") == possible, (solver, seed)
        outcomes[possible] += 1
        if possible:
            assert solution.suppressed_rows <= problem.limit
    assert min(outcomes.values()) > 5


def test_a_large_table_without_a_release_or_a_proof() -> None:
    """Beyond a dozen rows not every grouping is tried, and a model that says nothing of itself proves nothing."""
    table = random_table(np.random.default_rng(3), rows=40, split_by_sensitive=True)
    problem = Problem.build(
        table,
        privacy=["k(2)", UnlistedModel(9, "secret")],
        cost="NCP",
        suppression=SuppressRecords(3),
        scheme="local",
    )
    assert not is_infeasible(problem)
    with pytest.raises(NothingFoundError, match="no proof that there is none") as told:
        choose_solver(problem, "local").solve(problem, Budget(seed=1))
    assert (told.value.exit_code, told.value.topic) == (7, "nothing-found")


def test_a_proof_by_what_models_say() -> None:
    """Where two classes that are ok are so together, the whole table tells."""
    table = random_table(np.random.default_rng(3), rows=40, split_by_sensitive=True)
    secret = table.sensitive["secret"]
    most = int(secret.totals.max())
    tight = Problem.build(table, privacy="l+(0.25)", cost="NCP", suppression=SuppressRecords(0), scheme="local")
    assert is_infeasible(tight) == (most > 0.25 * int(secret.totals.sum()))


def test_a_cost_of_ones_own_is_minimized_through_its_arrays() -> None:
    table = random_table(np.random.default_rng(1), split_by_sensitive=True)
    problem = Problem.build(table, privacy="k(2)", cost=UnlistedCost(), scheme="local")
    solver = choose_solver(problem)
    assert not solver.compiled(problem)
    solution = solver.solve(problem, Budget(seed=1))
    assert solution.groups is not None
    assert solution.lower_bound == 0 < solution.cost
    assert problem.smallest_class <= min(np.bincount(solution.groups.group, weights=solution.groups.count))
