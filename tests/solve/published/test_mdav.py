"""MDAV against its definition in plain Python, and on tables small enough to group by hand."""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import naive
from cases import MODELS
from discreet.counts import CodedAttribute, CountTable
from discreet.errors import InfeasibleError, UsageError
from discreet.problem import Problem
from discreet.solve import SOLVERS, Budget
from discreet.solve._base import LocalRecoding
from discreet.solve.local.microaggregation import squared_error
from discreet.solve.local.task import make_task
from discreet.solve.published.mdav import MdavSolver, group_records
from local_tables import EXAMPLE_1, audited, groups_of, local_task, random_local_table
from tables import count_table, random_sample


def in_both_forms(seed, **ranges):
    """A random table of rows, the same as a count table, and the attributes that have no hierarchy in it."""
    rng = random.Random(seed)
    ranges = {"rows": (2, 30), "attributes": (1, 4), "leaves": (1, 7), "height": (0, 3), **ranges}
    plain = random_sample(seed, sensitive=0, label=False, **ranges).naive
    flat = {name for name in plain.hierarchies if rng.random() < 0.3}
    table = count_table(plain)
    attributes = tuple(replace(each, tree=each.name not in flat) for each in table.attributes)
    return plain, replace(table, attributes=attributes), flat


def in_codes(plain, groups):
    """LocalRecoding of row numbers as how often each has each tuple of codes."""
    places = {name: [row[0] for row in tree] for name, tree in plain.hierarchies.items()}
    return [
        Counter(tuple(places[name].index(plain.rows[row][name]) for name in places) for row in group)
        for group in groups
    ]


def counted(table, grouping):
    """LocalRecoding of grouping in the same form, in the order of their numbers."""
    groups = [Counter() for _ in range(int(grouping.group.max(initial=-1)) + 1)]
    for j, g, count in zip(grouping.tuple.tolist(), grouping.group.tolist(), grouping.count.tolist(), strict=True):
        groups[g][tuple(table.codes[:, j].tolist())] += count
    return groups


def in_order(groups):
    return sorted(sorted(group.items()) for group in groups)


@pytest.mark.parametrize("part", range(4))
def test_the_groups_are_those_of_the_definition(part):
    rng = random.Random(part)
    for _ in range(100):
        plain, table, flat = in_both_forms(rng.randrange(1 << 30))
        k = rng.randint(1, max(len(plain.rows) // 2, 1))
        weights = {"q0": rng.choice([0.5, 3, 2.5])} if rng.random() < 0.3 else {}
        cost = f"NCP(weights={{q0: {weights['q0']}}})" if weights else rng.choice(["NCP", "LM"])
        problem = Problem.build(table, privacy=f"k({k})", cost=cost, scheme="local")
        task = make_task(problem)
        expected = in_codes(plain, naive.mdav(plain, k, flat, weights))
        assert counted(table, group_records(task, k, Budget())) == expected
        found = MdavSolver().solve(problem, Budget(seed=1))
        assert in_order(counted(table, found.groups)) == in_order(expected)
        assert audited(task, found.groups).max() < 2 * k


def test_many_rows_of_few_tuples():
    for seed in range(60):
        plain, table, flat = in_both_forms(seed, rows=(20, 60), attributes=(1, 2), leaves=(2, 3))
        k = random.Random(seed).randint(2, 9)
        task = make_task(Problem.build(table, privacy=f"k({k})", cost="NCP", scheme="local"))
        assert counted(table, group_records(task, k, Budget())) == in_codes(plain, naive.mdav(plain, k, flat))


def test_equal_rows_that_are_told_apart_are_grouped_as_if_they_were_not():
    for seed in range(60):
        plain, table, _ = in_both_forms(seed, rows=(10, 50), leaves=(2, 4))
        each = np.repeat(np.arange(table.tuples), table.weights)
        alone = CountTable(table.attributes, table.codes[:, each].copy(), np.ones_like(each))
        tasks = [make_task(Problem.build(t, privacy="k(3)", cost="NCP", scheme="local")) for t in (table, alone)]
        if len(plain.rows) < 3:
            continue
        together, apart = (counted(task.problem.table, group_records(task, 3, Budget())) for task in tasks)
        assert together == apart


def test_example_1_of_the_utility_paper():
    task = local_task(EXAMPLE_1, 2)
    found = MdavSolver().solve(task.problem, Budget(seed=0))
    assert [len(group) for group in groups_of(task, found)] == [2, 2, 2]


def test_outliers_first():
    task = local_task({"x": [0, 1, 2, 3, 4, 5, 20, 21]}, 2)
    grouping = group_records(task, 2, Budget())
    made = [task.problem.table.codes[0, grouping.tuple[grouping.group == g]].tolist() for g in range(4)]
    assert made == [[7, 6], [0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(("rows", "groups"), [(2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (7, 3)])
def test_how_many_groups_there_are(rows, groups):
    task = local_task({"x": list(range(rows))}, 2)
    assert len(groups_of(task, MdavSolver().solve(task.problem, Budget(seed=0)))) == groups


def test_numbers_far_from_each_other_and_from_zero():
    for numbers in ([-1e308, 1e308, 1.5e308, -1.5e308], [1e15, 1e15 + 1, 1e15 + 6, 1e15 + 8], [0.0, 5e-324, 3.0, 3.1]):
        ranked = np.sort(np.array(numbers))
        attribute = CodedAttribute("x", np.array([range(4), [0] * 4]), np.ones(4, int), ranked, tree=False)
        table = CountTable((attribute,), np.arange(4, dtype=np.int32)[None], np.ones(4, np.int64))
        task = make_task(Problem.build(table, privacy="k(2)", cost="LM", scheme="local"))
        found = MdavSolver().solve(task.problem, Budget(seed=0))
        assert groups_of(task, found) == [[((0,), 1), ((1,), 1)], [((2,), 1), ((3,), 1)]]
        assert 0 <= squared_error(table, found.groups) < 0.1


def test_models_beside_k():
    rng = np.random.default_rng(5)
    solved = 0
    for seed in range(150):
        table = random_local_table(seed, sensitive=1, rows=(20, 60), attributes=(1, 3), leaves=(2, 5), values=(3, 4))
        privacy = [f"k({rng.integers(2, 5)})", *MODELS[str(rng.choice(list(MODELS)))](rng)]
        kind = str(rng.choice(["none", "budget(0.2)", "class-records"]))
        try:
            problem = Problem.build(table, privacy=privacy, cost="NCP", scheme="local", suppression=kind)
        except (InfeasibleError, UsageError):
            continue
        found = MdavSolver().solve(problem, Budget(seed=seed))
        if found.status != "infeasible":
            solved += 1
            audited(make_task(problem), found.groups)
    assert solved > 60


def test_stopped_at_once_the_rest_is_cut_in_order():
    stop = threading.Event()
    stop.set()
    for seed in range(20):
        _, table, _ = in_both_forms(seed, rows=(20, 60))
        task = make_task(Problem.build(table, privacy="k(4)", cost="NCP", scheme="local"))
        grouping = group_records(task, 4, Budget(stop=stop))
        sizes = audited(task, grouping)
        assert sizes.size == table.n // 4
        assert (np.diff(grouping.tuple) >= 0).all()


def test_squared_error():
    for seed in range(80):
        plain, table, flat = in_both_forms(seed, numeric=0.7, rows=(4, 30))
        problem = Problem.build(table, privacy="k(2)", cost="NCP", scheme="local(show=mean)")
        found = MdavSolver().solve(problem, Budget(seed=1))
        expected = naive.squared_error(plain, naive.mdav(plain, 2, flat))
        assert found.stats.get("squared_error") == pytest.approx(expected, abs=1e-9)
        assert "squared_error" not in MdavSolver().solve(replace_show(problem, "median"), Budget(seed=1)).stats


def test_squared_error_leaves_out_what_is_suppressed():
    table = local_task({"x": [0, 1, 2, 3, 99]}, 2).problem.table
    groups = LocalRecoding(np.arange(5), np.array([0, 0, 1, 1, -1]), np.ones(5, np.int64), ())
    assert squared_error(table, groups) == pytest.approx((4 * 0.25) / (2 * 2.25 + 2 * 0.25))
    nobody = LocalRecoding(np.arange(5), np.full(5, -1), np.ones(5, np.int64), ())
    assert squared_error(table, nobody) is None


def replace_show(problem, show):
    return Problem.build(problem.table, privacy=problem.privacy, cost=problem.cost, scheme=f"local(show={show})")


def test_by_name():
    assert SOLVERS.make("mdav") == MdavSolver()
    assert SOLVERS.make("mdav(bound=prices)") == MdavSolver(bound="prices")
    assert MdavSolver.baseline
