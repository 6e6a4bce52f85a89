"""The solver local: whatever the table and the models, every row is in one group that is ok; and it costs little."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import discreet.solve._base as _base
import discreet.solve._parallel as _parallel
import discreet.solve.local.region as region
import discreet.solve.local.solver as local
from cases import MODELS
from depth import cases, enough
from discreet.counts import CodedAttribute, CountTable
from discreet.errors import InfeasibleError, UsageError
from discreet.problem import Problem
from discreet.solve import SOLVERS, Budget
from discreet.solve._parallel import in_parallel
from discreet.solve.local.kernels.anneal import anneal
from discreet.solve.local.task import make_task
from local_tables import audited, local_task, random_local_table, same_groups

EFFORTS = ["low", "default", "high"]
COSTS = ["NCP", "LM", "NCP(weights={q0: 3})"]


def solve(problem, effort="default", **budget):
    """Solve with a seed."""
    return SOLVERS.make(f"local(effort={effort})").solve(problem, Budget(**{"seed": 1, **budget}))


@pytest.mark.scaled
@pytest.mark.parametrize("effort", EFFORTS)
def test_random_tables(effort):
    rng = np.random.default_rng(EFFORTS.index(effort))
    solved = 0
    for seed in rng.integers(0, 1 << 30, size=cases(250)).tolist():
        kind = str(rng.choice(["none", "none", "budget(0.2)", "class-records"]))
        privacy = MODELS[str(rng.choice(list(MODELS)))](rng)
        ranges = {"rows": (2, 60), "attributes": (1, 4), "leaves": (1, 7), "height": (0, 3), "values": (2, 4)}
        table = random_local_table(seed, sensitive=2, **ranges)
        try:
            cost = str(rng.choice(COSTS))
            problem = Problem.build(table, privacy=privacy, cost=cost, suppression=kind, scheme="local")
        except (InfeasibleError, UsageError):
            continue
        found = solve(problem, effort)
        if found.status != "infeasible":
            solved += 1
            assert found.classes == audited(make_task(problem), found.groups).size
    assert solved > enough(80)


@pytest.mark.parametrize("effort", EFFORTS)
def test_k_alone_with_repeated_rows(effort):
    for seed in range(20):
        table = random_local_table(seed, sensitive=0, rows=(60, 300), attributes=(1, 4), leaves=(2, 6))
        for k in (2, 5, 9):
            task = make_task(Problem.build(table, privacy=f"k({k})", cost="NCP", scheme="local"))
            assert audited(task, solve(task.problem, effort).groups).min() >= k


def large_table(n, leaves, trees, seed=0):
    """Many leaves, so that ranges and trees are not in tables."""
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(0, leaves, size=(3, n)), axis=1).astype(np.int32)
    levels = np.stack([np.arange(leaves), np.arange(leaves) // 30, np.zeros(leaves)]).astype(np.int32)
    attributes = tuple(
        CodedAttribute(
            f"q{i}",
            levels if tree else levels[[0, 2]],
            np.bincount(code, minlength=leaves),
            None if tree else np.where(np.arange(leaves) < leaves - 5, np.arange(leaves) * 2.5, np.nan),
            tree=tree,
        )
        for i, (tree, code) in enumerate(zip(trees, codes, strict=True))
    )
    return CountTable(attributes, codes, rng.integers(1, 3, codes.shape[1]))


@pytest.mark.parametrize("effort", EFFORTS)
def test_many_leaves(effort):
    table = large_table(800, 600, (True, False, False))
    task = make_task(Problem.build(table, privacy="k(4)", cost="NCP", scheme="local"))
    assert audited(task, solve(task.problem, effort).groups).min() >= 4


def test_more_effort_costs_less():
    table = large_table(2000, 100, (True, False, True))
    problem = Problem.build(table, privacy="k(5)", cost="NCP", scheme="local")
    low, default, high = (solve(problem, effort).cost for effort in EFFORTS)
    assert high <= default < low
    assert default < solve_with(problem, "top-down")


def solve_with(problem, text):
    """What another solver's groups cost."""
    return SOLVERS.make(text).solve(problem, Budget(seed=1)).cost


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_regions_and_threads(threads, monkeypatch):
    table = large_table(3000, 40, (True, False, False))
    problem = Problem.build(table, privacy="k(3)", cost="LM", scheme="local", suppression="budget(0.01)")
    monkeypatch.setattr(local, "_REGION", 300)
    monkeypatch.setattr(_base, "usable_cores", lambda: 3)
    expected = solve(problem).groups
    audited(make_task(problem), expected)
    monkeypatch.setattr(_base, "usable_cores", lambda: threads)
    found = solve(problem).groups
    assert same_groups(found, expected)


def test_suppression_is_used_for_outliers_only_and_never_makes_it_worse():
    columns = {"x": [1, 1, 2, 2, 3, 3, 1, 2, 90], "y": [5, 5, 5, 6, 6, 6, 6, 5, 99]}
    kept = solve(local_task(columns, 4).problem)
    task = local_task(columns, 4, suppression="budget(1)")
    found = solve(task.problem)
    audited(task, found.groups)
    assert found.suppressed_rows == 1
    assert found.cost < kept.cost
    for seed in range(30):
        table = random_local_table(seed, sensitive=0, rows=(30, 80), attributes=(2, 3), leaves=(3, 7))
        costs = [
            solve(Problem.build(table, privacy="k(5)", cost="NCP", scheme="local", suppression=kind)).cost
            for kind in ("none", "budget(3)")
        ]
        assert costs[1] <= costs[0] + 1e-9


def test_the_same_seed_gives_the_same_groups():
    table = random_local_table(3, rows=(300, 300), attributes=(4, 4), leaves=(6, 9))
    problem = Problem.build(table, privacy="k(4)", cost="NCP", scheme="local")
    for effort in EFFORTS:
        first, again = (solve(problem, effort).groups for _ in range(2))
        assert same_groups(first, again)


@pytest.mark.parametrize("effort", EFFORTS)
def test_stopped_at_once_it_still_returns_valid_groups(effort):
    stop = threading.Event()
    stop.set()
    for seed in range(20):
        table = random_local_table(seed, rows=(50, 100), attributes=(2, 3), leaves=(3, 6), values=(3, 4))
        task = make_task(Problem.build(table, privacy=["k(4)", "distinct-l(2)"], cost="NCP", scheme="local"))
        audited(task, solve(task.problem, effort, stop=stop).groups)


class Ticking(Budget):
    """Every look at the clock takes a second."""

    looks = 0

    @property
    def seconds(self):
        """How often it was looked at the clock."""
        self.looks += 1
        return float(self.looks)


@pytest.mark.parametrize("limit", [None, 1000, 80])
def test_annealing_is_cold_when_the_time_is_over(limit, monkeypatch):
    table = large_table(2000, 100, (True, False, True))
    problem = Problem.build(table, privacy="k(5)", cost="NCP", scheme="local")
    heat, steps = [], []

    def recorded(groups, requirement, near, count, hot, cold, state):
        steps.append(count)
        heat.extend((hot, cold))
        return anneal(groups, requirement, near, count, hot, cold, state)

    monkeypatch.setattr(region, "anneal", recorded)
    monkeypatch.setattr(region, "_FEW", 0)
    found = SOLVERS.make("local(effort=high, bound=none)").solve(problem, Ticking(time_limit=limit, seed=1))
    audited(make_task(problem), found.groups)
    hottest = heat.index(max(heat))
    assert heat[: hottest + 1] == sorted(heat[: hottest + 1])
    assert heat[hottest:] == sorted(heat[hottest:], reverse=True)
    assert heat[-1] / heat[hottest] == pytest.approx(region._COOLED)
    if limit == 80:
        assert len(steps) < 40
    else:
        assert sum(steps) >= 1000 * problem.table.tuples


def test_heavy_tuples_lend_rows():
    task = local_task({"x": [1] * 20 + [2, 2, 2]}, 4)
    found = solve(task.problem)
    assert audited(task, found.groups).tolist() in ([19, 4], [4, 19])


def test_the_effort_is_checked():
    with pytest.raises(UsageError, match="low, default, high"):
        SOLVERS.make("local(effort=much)")
    assert replace(local.LocalSearchSolver(), effort="low").text == "local(effort=low)"


def once(monkeypatch, owner, name, times=1):
    """Press Ctrl-C where something is called, so many times."""
    before, left = getattr(owner, name), [None] * times

    def pressed(*given, **named):
        if left:
            left.pop()
            raise KeyboardInterrupt
        return before(*given, **named)

    monkeypatch.setattr(owner, name, pressed)


@pytest.mark.parametrize("owner", [ThreadPoolExecutor, _parallel])
def test_ctrl_c_reaches_threads_that_have_begun(owner, monkeypatch):
    """Each piece waits for the switch: if nobody threw it this would never end."""
    budget, begun = Budget(), threading.Event()
    monkeypatch.setattr(_base, "usable_cores", lambda: 2)
    submit, count = ThreadPoolExecutor.submit, []

    def work(item):
        begun.set()
        assert budget.stop.wait(600)
        return item * item

    def pressed_at_the_third(pool, *given):
        count.append(1)
        if len(count) == 3 and owner is ThreadPoolExecutor:
            assert begun.wait(600)
            raise KeyboardInterrupt
        return submit(pool, *given)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", pressed_at_the_third)
    if owner is _parallel:
        once(monkeypatch, _parallel, "wait")
    assert in_parallel(work, range(5), budget) == [0, 1, 4, 9, 16]


def test_ctrl_c_twice_begins_nothing_more(monkeypatch):
    budget, done = Budget(), []
    monkeypatch.setattr(_base, "usable_cores", lambda: 1)
    gate = threading.Event()

    def work(item):
        assert gate.wait(600)
        done.append(item)

    def pressed(*_):
        if budget.stop.is_set():
            gate.set()
        raise KeyboardInterrupt

    monkeypatch.setattr(_parallel, "wait", pressed)
    with pytest.raises(KeyboardInterrupt):
        in_parallel(work, range(1000), budget)
    assert len(done) < 1000
    monkeypatch.undo()
    with pytest.raises(ZeroDivisionError):
        in_parallel(lambda item: 1 // item, range(3), Budget())


@pytest.mark.parametrize("where", ["before", "begin", "regions", "bound"])
def test_ctrl_c_keeps_what_was_found(where, monkeypatch):
    rows = np.random.default_rng(1).integers(0, 9, (3, 300)).tolist()
    problem = local_task(dict(zip("abc", rows, strict=True)), 3).problem
    whole = solve(problem)

    def press(*_, **__):
        raise KeyboardInterrupt

    if where == "before":
        pressed = iter([press])
        regions = local._regions
        monkeypatch.setattr(local, "_regions", lambda ground: next(pressed, regions)(ground))
    elif where in ("begin", "regions"):
        once(monkeypatch, *((ThreadPoolExecutor, "submit") if where == "begin" else (_parallel, "wait")))
    else:
        monkeypatch.setattr("discreet.solve.local.base.nearest_bound", press)
    stop = threading.Event()
    found = solve(problem, stop=stop)
    assert stop.is_set()
    assert found.status == "feasible"
    assert found.groups.count.sum() == problem.table.n
    assert np.bincount(found.groups.group, weights=found.groups.count).min() >= 3
    assert found.lower_bound <= whole.cost <= found.cost
