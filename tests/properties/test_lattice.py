"""The lattice solver against exhaustive search in plain Python, over every model, cost and suppression it takes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from cases import COSTS, MODELS, SCORES, built, plain_cost, plain_models
from depth import cases
from discreet.problem import Problem
from discreet.solve import Budget
from discreet.solve.lattice.solver import LatticeSolver
from tables import random_sample

SUPPRESSIONS = ["none", "class-records", "budget(0.2)", "budget(2)"]
CASES = list(itertools.product(MODELS, [*COSTS, "precision", *SCORES]))


def expected(sample, privacy, cost, suppression):
    models = plain_models(privacy, sample)
    n = len(sample.naive.rows)
    limits = {"none": 0, "class-records": n, "budget(0.2)": naive.budget(0.2, n), "budget(2)": naive.budget(2, n)}
    limit = limits[suppression]

    def ok(rows):
        return naive.all_ok(models, naive.counts(sample.naive, rows, "s0"))

    name, options = plain_cost(cost, privacy)
    return naive.search(sample.naive, ok, name, limit, **options)


@pytest.mark.parametrize(("model", "cost"), CASES)
def test_equals_exhaustive_search(model, cost):
    rng = np.random.default_rng([CASES.index((model, cost)), 7])
    for seed in rng.integers(0, 1 << 30, size=40):
        sample = random_sample(int(seed), rows=(1, 14), attributes=(1, 4), height=(0, 3))
        privacy = MODELS[model](rng)
        suppression = str(rng.choice(SUPPRESSIONS))
        problem = built(sample, privacy=privacy, cost=cost, suppression=suppression)
        if problem is None:
            continue
        want = expected(sample, privacy, cost, suppression)
        found = LatticeSolver().solve(problem, Budget())
        context = (int(seed), privacy, cost, suppression)
        if not want.feasible:
            assert found.status == "infeasible", context
            assert found.smallest_budget == want.smallest_budget, context
            continue
        assert found.status == "optimal", context
        assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), context
        assert found.levels in [tuple(levels) for levels in want.levels], context
        assert found.gap == 0
        assert found.suppressed_rows == sample.counts.weights[found.suppressed].sum() <= problem.limit


@pytest.mark.parametrize("cost", ["LM", "DM", "HDM", "CM", "NCP", "entropy"])
@pytest.mark.parametrize("model", ["k", "l+", "t"])
def test_stopped_at_any_moment_the_bound_is_true(model, cost):
    rng = np.random.default_rng([len(model), len(cost), 3])
    for seed in rng.integers(0, 1 << 30, size=6):
        sample = random_sample(int(seed), rows=(6, 16), attributes=(2, 4), height=(1, 3))
        privacy = MODELS[model](rng)
        problem = built(sample, privacy=privacy, cost=cost, suppression="class-records")
        if problem is None:
            continue
        optimum = LatticeSolver().solve(problem, Budget()).cost
        seen = []

        def watch(progress, seen=seen):
            seen.append(progress)
            assert progress.bound <= progress.best

        LatticeSolver().solve(problem, Budget(), watch)
        for progress in seen:
            assert progress.bound <= optimum * (1 + 1e-9) + 1e-9
            assert progress.best >= optimum * (1 - 1e-9) - 1e-9


def test_levels_stay_within_limits():
    for seed in range(cases(60)):
        sample = random_sample(seed, rows=(4, 14), attributes=(2, 3), height=(2, 3))
        heights = {a.name: a.height for a in sample.counts.attributes}
        lowest = {name: min(1, height) for name, height in heights.items()}
        highest = {name: max(height - 1, lowest[name]) for name, height in heights.items()}
        problem = Problem.build(
            sample.counts, privacy="k(2)", cost="LM", suppression="budget(0.5)", min_levels=lowest, max_levels=highest
        )
        vectors = itertools.product(*(range(lowest[name], highest[name] + 1) for name in heights))
        want = naive.search(sample.naive, lambda rows: len(rows) >= 2, "LM", problem.limit, vectors=list(vectors))
        found = LatticeSolver().solve(problem, Budget())
        assert (found.status == "infeasible") == (not want.feasible)
        if want.feasible:
            assert found.cost == pytest.approx(want.cost)
            assert all(lowest[n] <= level <= highest[n] for n, level in zip(heights, found.levels, strict=True))
