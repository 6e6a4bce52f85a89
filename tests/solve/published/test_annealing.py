"""Simulated annealing: its cuts are valid and cost what it says, its bound is true, and small optima are found."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import naive
from cases import COSTS, KINDS, MODELS, built, plain_cost, plain_kind, plain_models
from discreet.errors import InterruptedRun, UsageError
from discreet.problem import Problem
from discreet.solve import SOLVERS, Budget
from discreet.solve import _base as searches
from discreet.solve.published.annealing import AnnealingSolver
from tables import random_sample


def as_partitions(sample, blocks):
    """Block numbers as the sets of leaves of the plain form."""
    levels = []
    for rows, numbers in zip(sample.naive.hierarchies.values(), blocks, strict=True):
        groups = {}
        for row, number in zip(rows, numbers.tolist(), strict=True):
            groups.setdefault(number, set()).add(row[0])
        levels.append(frozenset(frozenset(group) for group in groups.values()))
    return tuple(levels)


@pytest.mark.parametrize("kind", KINDS)
def test_against_all_cuts(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    solved, reached = 0, 0
    for seed in rng.integers(0, 1 << 30, size=150):
        sample = random_sample(int(seed), rows=(3, 10), attributes=(1, 3), leaves=(1, 4), values=(2, 4))
        privacy, cost = MODELS[str(rng.choice(list(MODELS)))](rng), str(rng.choice(COSTS))
        problem = built(sample, privacy=privacy, cost=cost, suppression=kind, scheme="subtree")
        if problem is None:
            continue
        models, (name, options) = plain_models(privacy, sample), plain_cost(cost, privacy)
        arguments = (models, plain_kind(kind), problem.limit, name, "s0")
        want = naive.search_cuts(sample.naive, *arguments, **options)
        context = (int(seed), privacy, cost, kind)
        try:
            found = AnnealingSolver(steps=300).solve(problem, Budget(seed=int(seed)))
        except InterruptedRun:
            assert not want.feasible, context
            continue
        if found.status == "infeasible":
            assert not want.feasible, context
            assert found.smallest_budget in (None, want.smallest_budget), context
            continue
        solved += 1
        levels = as_partitions(sample, found.blocks)
        for rows, partition in zip(sample.naive.hierarchies.values(), levels, strict=True):
            assert partition in naive.valid_partitions("subtree", rows), context
        plain = naive.suppress(sample.naive, levels, *arguments, **options)
        assert found.cost == pytest.approx(plain.cost, rel=1e-9, abs=1e-9), context
        assert found.lower_bound <= want.cost * (1 + 1e-9) + 1e-9, context
        assert found.stats["space"] == want.considered, context
        reached += found.cost <= want.cost * (1 + 1e-9) + 1e-9
        assert found.status == "feasible"
    assert solved > 15
    assert reached >= 0.95 * solved


def problem_of(seed, **parts):
    sample = random_sample(seed, rows=(60, 60), attributes=(3, 3), leaves=(6, 6), height=(2, 3), values=(4, 4))
    return Problem.build(
        sample.counts, scheme="subtree", **{"privacy": "l+(0.5)", "suppression": "budget(0.2)", **parts}
    )


def test_the_same_seed_gives_the_same_answer():
    runs = [AnnealingSolver(steps=200).solve(problem_of(1), Budget(seed=seed)) for seed in (5, 5, 6)]
    assert runs[0].cost == runs[1].cost
    assert all(np.array_equal(a, b) for a, b in zip(runs[0].blocks, runs[1].blocks, strict=True))
    assert runs[0].stats["accepted"] == runs[1].stats["accepted"] != runs[2].stats["accepted"]


def test_without_a_seed_the_secure_source_is_asked(monkeypatch):
    sources = iter([Random(5), Random(6)])
    monkeypatch.setattr(searches, "SystemRandom", lambda: next(sources))
    drawn = [AnnealingSolver(steps=200).solve(problem_of(1), Budget()) for _ in range(2)]
    seeded = [AnnealingSolver(steps=200).solve(problem_of(1), Budget(seed=seed)) for seed in (5, 6)]
    assert [run.stats["accepted"] for run in drawn] == [run.stats["accepted"] for run in seeded]
    assert next(sources, None) is None


def test_progress_and_trace_only_get_better():
    seen = []
    found = AnnealingSolver(steps=400, restarts=1).solve(problem_of(2), Budget(seed=1), seen.append)
    best = [now.best for now in seen]
    assert best == sorted(best, reverse=True)
    assert [now.best for now in found.trace] == sorted({now.best for now in found.trace}, reverse=True)
    assert found.trace[-1].best == pytest.approx(found.cost)
    assert found.stats["steps"] == 800


def test_stopped_it_returns_what_it_has():
    budget = Budget(seed=1)
    found = AnnealingSolver(steps=10_000).solve(problem_of(3), budget, lambda progress: budget.stop.set())
    assert found.status == "feasible"
    assert found.stats["steps"] == 0
    assert AnnealingSolver().solve(problem_of(3), Budget(0.0, seed=1)).stats["steps"] == 0


def test_levels_limit_the_cuts():
    problem = problem_of(4, min_levels={"q0": 1}, max_levels={"q1": 1}, suppression="class-records")
    low, high = problem.table.attributes[0].ancestors[1], problem.table.attributes[1].ancestors[1]
    for seed in range(10):
        blocks = AnnealingSolver(steps=200).solve(problem, Budget(seed=seed)).blocks
        assert len(set(zip(low.tolist(), blocks[0].tolist(), strict=True))) == np.unique(low).size
        assert len(set(zip(high.tolist(), blocks[1].tolist(), strict=True))) == np.unique(blocks[1]).size


def test_infeasible_is_claimed_only_where_it_is_proven():
    sample = random_sample(1, rows=(8, 8), values=(4, 4))
    for kind in ("none", "class-values"):
        problem = Problem.build(
            sample.counts, privacy="k(8)", suppression=kind, scheme="subtree", max_levels={sample.counts.names[0]: 0}
        )
        found = AnnealingSolver().solve(problem, Budget(seed=0))
        assert found.status == "infeasible"
        assert found.smallest_budget == (8 if kind == "none" else None)
    narrow = Problem.build(
        sample.counts,
        privacy=["l+(0.8)", "k(7)"],
        suppression="budget(1)",
        scheme="subtree",
        max_levels=dict.fromkeys(sample.counts.names, 0),
    )
    with pytest.raises(InterruptedRun, match="solver cuts"):
        AnnealingSolver(steps=50).solve(narrow, Budget(seed=0))


@pytest.mark.parametrize(
    "text",
    [
        "annealing(steps=0)",
        "annealing(steps=1.5)",
        "annealing(start_temperature=-1)",
        "annealing(cooling=0)",
        "annealing(cooling=1.1)",
        "annealing(restarts=-1)",
        "annealing(speed=3)",
    ],
)
def test_bad_options_are_one_clear_sentence(text):
    with pytest.raises(UsageError) as caught:
        SOLVERS.make(text)
    assert caught.value.message.endswith(".")
