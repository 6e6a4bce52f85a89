"""Bottom-up on tables small enough to merge by hand."""

from __future__ import annotations

import pytest

from discreet.solve import Budget
from discreet.solve.published.bottom_up import BottomUpSolver
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
