"""Mondrian, top-down, bottom-up and MDAV: whatever the table and the models, every row is in one group that is ok."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from cases import MODELS
from depth import cases, enough
from discreet.errors import InfeasibleError, UsageError
from discreet.problem import Problem
from discreet.solve import SOLVERS, Budget
from discreet.solve.local.task import make_task
from local_tables import audited, cost_of, random_local_table, same_groups

SOLVING = [
    "mondrian",
    "mondrian(cut=relaxed)",
    "mondrian(categories=tree)",
    "mondrian(cut=relaxed, categories=tree)",
    "top-down",
    "bottom-up",
    "mdav",
]
COSTS = ["NCP", "LM", "NCP(weights={q0: 3})"]


def random_problem(seed, rng, **parts):
    """A random problem, or None if its models cannot hold for the table."""
    ranges = {"rows": (2, 40), "attributes": (1, 4), "leaves": (1, 7), "height": (0, 3), "values": (2, 4), **parts}
    kind = str(rng.choice(["none", "none", "budget(0.2)", "class-records"]))
    privacy = MODELS[str(rng.choice(list(MODELS)))](rng)
    if rng.random() < 0.2:
        privacy.append("distinct-l(2, s1)")
    table = random_local_table(seed, sensitive=2, **ranges)
    try:
        return Problem.build(table, privacy=privacy, cost=str(rng.choice(COSTS)), suppression=kind, scheme="local")
    except (InfeasibleError, UsageError):
        return None


@pytest.mark.scaled
@pytest.mark.parametrize("text", SOLVING)
def test_random_tables(text):
    rng = np.random.default_rng(SOLVING.index(text))
    solved = 0
    for seed in rng.integers(0, 1 << 30, size=cases(250)):
        problem = random_problem(int(seed), rng)
        if problem is None:
            continue
        found = SOLVERS.make(text).solve(problem, Budget(seed=int(seed)))
        if found.status == "infeasible":
            continue
        solved += 1
        sizes = audited(make_task(problem), found.groups)
        assert found.classes == sizes.size
    assert solved > enough(80)


@pytest.mark.parametrize("text", SOLVING)
def test_k_alone_with_repeated_rows(text):
    for seed in range(40):
        table = random_local_table(seed, sensitive=0, rows=(60, 200), attributes=(1, 3), leaves=(2, 6))
        for k in (2, 5, 9):
            task = make_task(Problem.build(table, privacy=f"k({k})", cost="NCP", scheme="local"))
            grouping = SOLVERS.make(text).solve(task.problem, Budget(seed=seed)).groups
            sizes = audited(task, grouping)
            assert sizes.min() >= k


@pytest.mark.parametrize("text", ["top-down", "bottom-up"])
def test_no_group_is_twice_as_large_as_it_need_be_unless_all_its_tuples_are_alike(text):
    for seed in range(30):
        table = random_local_table(seed, sensitive=0, rows=(100, 200), attributes=(2, 4), leaves=(3, 7))
        task = make_task(Problem.build(table, privacy="k(7)", cost="NCP", scheme="local"))
        grouping = SOLVERS.make(text).solve(task.problem, Budget(seed=seed)).groups
        sizes = audited(task, grouping)
        tuples = np.bincount(grouping.group)
        assert (sizes[tuples > 1] < 14).all()


@pytest.mark.parametrize("text", SOLVING)
def test_the_same_seed_gives_the_same_groups(text):
    table = random_local_table(3, rows=(300, 300), attributes=(4, 4), leaves=(6, 9))
    problem = Problem.build(table, privacy="k(4)", cost="NCP", scheme="local")
    runs = [SOLVERS.make(text).solve(problem, Budget(seed=seed)) for seed in (5, 5, 6)]
    first, again, other = (run.groups for run in runs)
    assert same_groups(first, again)
    drawn = text in ("top-down", "bottom-up")
    assert drawn != same_groups(first, other)


@pytest.mark.parametrize("text", SOLVING)
def test_stopped_at_once_it_still_returns_valid_groups(text):
    stop = threading.Event()
    stop.set()
    for seed in range(20):
        table = random_local_table(seed, rows=(50, 100), attributes=(2, 3), leaves=(3, 6), values=(3, 4))
        task = make_task(Problem.build(table, privacy=["k(4)", "distinct-l(2)"], cost="NCP", scheme="local"))
        found = SOLVERS.make(text).solve(task.problem, Budget(seed=seed, stop=stop))
        audited(task, found.groups)


def test_what_cannot_hold_for_all_rows_together_is_infeasible():
    table = random_local_table(8, rows=(30, 30), values=(4, 4))
    problem = Problem.build(table, privacy="entropy-l(3.999)", cost="NCP", scheme="local")
    for text in SOLVING:
        assert SOLVERS.make(text).solve(problem, Budget(seed=0)).status == "infeasible"


def test_the_better_methods_are_better():
    costs = dict.fromkeys(SOLVING, 0.0)
    for seed in range(5):
        table = random_local_table(
            seed, sensitive=0, rows=(500, 500), attributes=(4, 4), leaves=(6, 9), height=(1, 2), numeric=0.5, missing=0
        )
        task = make_task(Problem.build(table, privacy="k(5)", cost="NCP", scheme="local"))
        for text in SOLVING:
            found = SOLVERS.make(text).solve(task.problem, Budget(seed=seed))
            assert found.cost == pytest.approx(cost_of(task, found.groups))
            costs[text] += found.cost
    assert costs["top-down"] < costs["mondrian"]
    assert costs["bottom-up"] < costs["mondrian"]
