"""Bottom-up on tables small enough to merge by hand."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.solve import Budget
from discreet.solve.local.pricing import price
from discreet.solve.local.task import LocalGrouping
from discreet.solve.published._boxed_groups import make_groups
from discreet.solve.published.bottom_up import BottomUpSolver
from discreet.solve.published.kernels.boxed_groups import DEPTH, nearest_union
from local_tables import EXAMPLE_1, groups_of, local_task


def solved(task, seed=0):
    return BottomUpSolver().solve(task.problem, Budget(seed=seed))


@pytest.mark.parametrize("k", [2, 3])
def test_example_1_of_the_utility_paper(k):
    task = local_task(EXAMPLE_1, k)
    for seed in range(10):
        found = solved(task, seed)
        assert [len(group) for group in groups_of(task, found)] == [3, 3]
        assert found.cost == pytest.approx(3 * (10 / 50 + 20 / 60) + 3 * (10 / 50 + 10 / 60))


def test_pairs_of_neighbours():
    task = local_task({"x": [0, 1, 10, 11, 20, 21]}, 2)
    for seed in range(10):
        found = solved(task, seed)
        assert groups_of(task, found) == [[((j,), 1), ((j + 1,), 1)] for j in (0, 2, 4)]
        assert found.cost == pytest.approx(6 / 21)


def test_a_tuple_with_many_rows_is_several_groups_one_of_which_takes_in_the_neighbour():
    task = local_task({"x": [0] * 10 + [1]}, 3)
    found = solved(task)
    assert groups_of(task, found) == [[((0,), 3)], [((0,), 3), ((1,), 1)], [((0,), 4)]]
    assert found.cost == 4


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_union_is_that_of_the_lowest_rate(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(3, 12))
    task = local_task({"x": rng.integers(0, 9, rows).tolist(), "y": rng.integers(0, 9, rows).tolist()}, 2)
    tuples = np.arange(task.points.weights.size)
    groups = make_groups(task, LocalGrouping(tuples, tuples, task.points.weights))
    for g in tuples.tolist():
        found, _ = nearest_union(task.points, groups, g, np.empty(DEPTH, dtype=np.int64))
        pairs = [h for h in tuples.tolist() if h != g]
        together = LocalGrouping(
            np.concatenate([[g, h] for h in pairs]), np.repeat(np.arange(len(pairs)), 2), np.ones(2 * len(pairs), int)
        )
        rates = task.problem.cost.published(price(task, together).classes) / 2
        assert rates[pairs.index(found)] == pytest.approx(rates.min())


def test_the_rule_of_the_text_loses_more():
    people = dc.sample(400, seed=1).select("sex", "education", "zip", "children").drop_nulls()
    costs = [
        dc.anonymize(
            people, quasi_identifiers=people.columns, privacy="k(5)", cost="NCP", scheme="local", solver=solver, seed=1
        ).cost
        for solver in ("bottom-up", "bottom-up(merge=union)")
    ]
    assert costs[0] < costs[1]
    with pytest.raises(dc.UsageError, match="growth, union"):
        BottomUpSolver(merge="both")
