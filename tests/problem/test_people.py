"""What is refused if promises count people, and how a table counts them."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InfeasibleError, UnsupportedCombinationError, UsageError
from discreet.problem import Problem
from discreet.solve import Budget, choose_solver, solve
from tables import add_people, random_sample


@pytest.fixture
def sample():
    """Twelve rows of a few people whose quasi-identifiers vary."""
    return add_people(random_sample(3, rows=(12, 12), attributes=(2, 2), height=(2, 2)), np.random.default_rng(1))


def build(sample, privacy="k(2)", **parts):
    return Problem.build(sample.counts, privacy=privacy, **parts)


@pytest.mark.parametrize(
    ("suppression", "reason"),
    [
        ("violating-records", "which rows are the fewest is not known where people have several rows and values"),
        ("class-values", "a value that is hidden in one row of a person may be shown in another"),
        ("violating-values", "a value that is hidden in one row of a person may be shown in another"),
    ],
)
def test_some_kinds_of_suppression_are_refused(sample, suppression, reason):
    with pytest.raises(UnsupportedCombinationError, match=f"{reason}; choose none, a budget or class-records"):
        build(sample, "l+(0.5, s0)", suppression=suppression)


def test_promises_about_drawn_rows_do_not_hold_for_people(sample):
    with pytest.raises(UnsupportedCombinationError, match="rows are drawn one by one"):
        build(sample, "dp(2, 1e-4)")


def test_labels_of_people_are_not_known(sample):
    with pytest.raises(UnsupportedCombinationError, match="class labels of the rows of each person"):
        build(sample, cost="CM", suppression="budget(5%)")
    build(sample, cost="CM", suppression="budget(5%, of=rows)")


def test_profiles_are_those_of_people_and_stay_whole(sample):
    with pytest.raises(UnsupportedCombinationError, match="leaving out some rows of a person changes the profile"):
        build(sample, "k(2, profile=true)", suppression="class-records")
    with pytest.raises(UnsupportedCombinationError, match="choose full-domain or subtree"):
        build(sample, "k(2, profile=true)", scheme="local")
    with pytest.raises(UsageError, match="looks at all rows of a person"):
        build(random_sample(3, rows=(12, 12)), "k(2, profile=true)")


def test_more_people_than_there_are(sample):
    with pytest.raises(InfeasibleError, match=r"needs classes of 100 people and the whole table has \d+;"):
        build(sample, "k(100)")


def test_solvers_that_count_rows_are_refused(sample):
    for solver, scheme in (("incognito", "full-domain"), ("partitions", "ordered"), ("robust", "full-domain")):
        with pytest.raises(UnsupportedCombinationError, match="promises that count people"):
            choose_solver(build(sample, scheme=scheme), solver)


def test_local_recoding_refuses_other_costs_and_budgets_of_rows(sample):
    problem = build(sample, cost="DM", scheme="local")
    with pytest.raises(UnsupportedCombinationError, match="choose LM, NCP or precision"):
        choose_solver(problem, "local")
    with pytest.raises(UnsupportedCombinationError, match="choose a budget of people"):
        choose_solver(build(sample, scheme="local", suppression="budget(3, of=rows)"), "local")


def test_limits_count_people_or_rows(sample):
    people = sample.counts.people
    assert build(sample, suppression="budget(50%)").limit == people.count // 2
    assert build(sample, suppression="budget(50%, of=rows)").limit == 6
    assert build(sample, suppression="budget(1)").row_limit == people.row_counts.max()
    assert build(sample).table.units.n == people.count


def test_an_infeasible_budget_says_how_many_people_would_have_to_go(sample):
    everybody = sample.counts.people.count
    problem = build(sample, f"k({everybody})", suppression="budget(0)", max_levels={"q0": 0, "q1": 0})
    found = solve(problem, budget=Budget())
    assert found.status == "infeasible"
    assert found.smallest_budget == everybody
