"""Top-down on tables small enough to split by hand."""

from __future__ import annotations

import pytest

from discreet.errors import UsageError
from discreet.solve import SOLVERS, Budget
from discreet.solve.published.top_down import TopDownSolver
from local_tables import EXAMPLE_1, groups_of, local_task


def solved(task, seed=0):
    return TopDownSolver().solve(task.problem, Budget(seed=seed))


@pytest.mark.parametrize("k", [2, 3])
def test_example_1_of_the_utility_paper(k):
    task = local_task(EXAMPLE_1, k)
    for seed in range(10):
        found = solved(task, seed)
        assert [len(group) for group in groups_of(task, found)] == [3, 3]
        assert found.cost == pytest.approx(3 * (10 / 50 + 20 / 60) + 3 * (10 / 50 + 10 / 60))


def test_a_small_group_takes_the_rows_it_lacks():
    task = local_task({"x": [0] * 10 + [1]}, 3)
    found = solved(task)
    assert groups_of(task, found) == [[((0,), 2), ((1,), 1)], [((0,), 8)]]
    assert found.cost == 3


def test_a_small_group_merges_where_nobody_can_spare_rows():
    task = local_task({"x": [0, 0, 0, 1]}, 3)
    found = solved(task)
    assert groups_of(task, found) == [[((0,), 3), ((1,), 1)]]
    assert found.cost == 4


@pytest.mark.parametrize(("suppression", "cost"), [("none", 3), ("budget(0)", 3), ("budget(1)", 1), ("budget(0.5)", 1)])
def test_an_outlier_is_suppressed_where_that_is_cheaper(suppression, cost):
    task = local_task({"x": [0] * 10 + [1]}, 3, suppression=suppression)
    found = solved(task)
    groups_of(task, found)
    assert found.cost == cost
    assert found.suppressed_rows == (cost == 1)


def test_fewer_rows_than_twice_k_are_one_group():
    task = local_task({"x": [0, 1, 5]}, 2)
    assert len(groups_of(task, solved(task))) == 1


def test_options_are_checked():
    assert SOLVERS.make("top-down(rounds=6)") == TopDownSolver(6)
    with pytest.raises(UsageError, match="rounds of top-down"):
        TopDownSolver(rounds=0)
