"""Where not even all rows together keep the models, as few go as must, and the others are grouped."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from discreet.errors import InfeasibleError, UsageError
from discreet.problem import Problem
from discreet.solve import SOLVERS, Budget
from discreet.solve.local.forced_suppression import suppress_forced, with_suppressed
from discreet.solve.local.task import LocalGrouping, make_task
from local_tables import audited, random_local_table

BROKEN = {
    "l+(0.4)": lambda counts: naive.l_plus(counts, dict.fromkeys(counts, 0.4)),
    "recursive-cl(1.5, 2)": lambda counts: naive.recursive_cl(counts, 1.5, 2),
    "entropy-l(2.6)": lambda counts: naive.entropy_l(counts, 2.6),
}
SOLVERS_OF_ROWS = ["local", "mondrian", "top-down", "bottom-up", "mdav"]


def problems(seeds, suppression):
    """Problems the whole table of which breaks its promise, each with the fewest rows that must go."""
    for seed in seeds:
        table = random_local_table(seed, rows=(5, 16), attributes=(1, 3), leaves=(2, 5), values=(2, 4))
        counts = dict(enumerate(next(iter(table.sensitive.values())).totals.tolist()))
        for text, ok in BROKEN.items():
            if ok(counts):
                continue
            parts = naive.largest_ok_parts(counts, lambda some, ok=ok: naive.k_anonymous(some, 2) and ok(some))
            stay = max((sum(part.values()) for part in parts), default=0)
            try:
                asked = {"privacy": ["k(2)", text], "suppression": suppression}
                yield Problem.build(table, cost="NCP", scheme="local", **asked), table.n - stay
            except (InfeasibleError, UsageError):
                continue


@pytest.mark.parametrize("solver", SOLVERS_OF_ROWS)
@pytest.mark.parametrize("suppression", ["budget(2)", "budget(5)", "class-records"])
def test_a_release_is_found_wherever_there_is_one(solver, suppression):
    found_some = 0
    for problem, fewest in problems(range(8), suppression):
        found = SOLVERS.make(solver).solve(problem, Budget(seed=1))
        assert (found.status != "infeasible") == (fewest <= problem.limit)
        if found.status != "infeasible":
            assert found.suppressed_rows >= fewest
            found_some += fewest < problem.table.n
            audited(make_task(problem), found.groups)
    assert found_some > 2


def test_of_each_value_as_few_rows_go_as_must():
    for problem, fewest in problems(range(30), "class-records"):
        remainder = suppress_forced(make_task(problem), Budget())
        if fewest == problem.table.n:
            assert remainder.problem is None
            continue
        assert remainder.suppressed.sum() == fewest
        assert ((remainder.suppressed >= 0) & (remainder.suppressed <= problem.table.weights)).all()
        assert remainder.problem.table.n == problem.table.n - fewest
        assert remainder.problem.limit == problem.limit - fewest
        assert remainder.problem.table.attributes == problem.table.attributes
        np.testing.assert_array_equal(remainder.problem.table.codes, problem.table.codes[:, remainder.tuples])


def test_what_must_go_is_suppressed():
    problem, _ = next(each for each in problems(range(30), "class-records") if each[1] < each[0].table.n)
    task = make_task(problem)
    remainder = suppress_forced(task, Budget())
    weights = make_task(remainder.problem).points.weights
    grouping = LocalGrouping(np.arange(weights.size), np.zeros(weights.size, dtype=np.int64), weights)
    audited(task, with_suppressed(remainder, grouping))


def test_no_more_go_than_may():
    for problem, fewest in problems(range(20), "budget(1)"):
        assert (suppress_forced(make_task(problem), Budget()).problem is None) == (fewest > 1)
