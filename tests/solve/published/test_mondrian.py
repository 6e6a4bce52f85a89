"""Mondrian on tables small enough to cut by hand."""

from __future__ import annotations

import pytest

from discreet.errors import UsageError
from discreet.solve import SOLVERS, Budget
from discreet.solve.published.mondrian import MondrianSolver
from local_tables import EXAMPLE_1, groups_of, local_task

TREE = [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")]


def solved(task, **options):
    return MondrianSolver(**options).solve(task.problem, Budget())


@pytest.mark.parametrize("k", [2, 3])
def test_example_1_of_the_utility_paper(k):
    task = local_task(EXAMPLE_1, k)
    found = solved(task)
    assert [len(group) for group in groups_of(task, found)] == [3, 3]
    assert found.cost == pytest.approx(3 * (10 / 50 + 20 / 60) + 3 * (10 / 50 + 10 / 60))


def test_two_values_are_cut_between():
    task = local_task({"sex": ["f", "m"] * 5}, 5, {"sex": [("f", "*"), ("m", "*")]})
    assert solved(task).cost == 0


def test_a_strict_cut_keeps_equal_values_together_and_a_relaxed_one_does_not():
    task = local_task({"x": [1, 1, 1, 1, 2, 3]}, 3)
    assert groups_of(task, solved(task)) == [[((0,), 4), ((1,), 1), ((2,), 1)]]
    assert solved(task).cost == 6
    relaxed = solved(task, cut="relaxed")
    assert groups_of(task, relaxed) == [[((0,), 1), ((1,), 1), ((2,), 1)], [((0,), 3)]]
    assert relaxed.cost == 3


def test_the_widest_attribute_that_can_be_cut_is_cut():
    columns = {"x": [0, 9, 9, 9], "y": [0, 0, 8, 10]}
    task = local_task(columns, 2)
    assert groups_of(task, solved(task)) == [[((0, 0), 1), ((1, 0), 1)], [((1, 1), 1), ((1, 2), 1)]]


def test_ordered_codes_cut_through_a_node_and_trees_do_not():
    column = {"q": ["a"] * 2 + ["b"] * 4 + ["c"] * 2 + ["d"] * 2}
    task = local_task(column, 4, {"q": TREE})
    # By codes ab | cd is cut at 6 of 10 rows; by the tree, x with 6 rows and y with 4.
    assert solved(task).cost == solved(task, categories="tree").cost == 6 * 0.5 + 4 * 0.5
    task = local_task({"q": ["a"] * 2 + ["b"] * 2 + ["c"] * 9 + ["d"] * 3}, 2, {"q": TREE})
    ordered, tree = solved(task), solved(task, categories="tree")
    assert ordered.cost == tree.cost == 0
    task = local_task({"q": ["a"] * 3 + ["b"] * 1 + ["c"] * 1 + ["d"] * 3}, 3, {"q": TREE})
    assert groups_of(task, solved(task, categories="tree")) == [[((0,), 3), ((1,), 1)], [((2,), 1), ((3,), 3)]]


def test_options_are_checked():
    assert SOLVERS.make("mondrian(cut=relaxed, categories=tree)") == MondrianSolver("relaxed", "tree")
    with pytest.raises(UsageError, match="cut of mondrian"):
        MondrianSolver(cut="loose")
    with pytest.raises(UsageError, match="categories of mondrian"):
        MondrianSolver(categories="numbers")
