"""Conditions on the whole released table against exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from cases import built, plain_cost
from discreet.errors import UnsupportedCombinationError
from discreet.problem import Problem
from discreet.solve import Budget
from discreet.solve.incognito import IncognitoSolver
from discreet.solve.lattice import LatticeSolver
from tables import random_sample


def average_risk(sizes, most):
    return not sizes or sum(1 / size for size in sizes for _ in range(size)) / sum(sizes) <= most + 1e-9


def sample_uniqueness(sizes, most):
    return not sizes or sum(size == 1 for size in sizes) / sum(sizes) <= most + 1e-9


CONDITIONS = {"average-risk": average_risk, "sample-uniqueness": sample_uniqueness}


@pytest.mark.parametrize("cost", ["LM", "DM", "CM", "score"])
@pytest.mark.parametrize("model", CONDITIONS)
def test_equals_exhaustive_search(model, cost):
    rng = np.random.default_rng([len(model), len(cost)])
    for seed in rng.integers(0, 1 << 30, size=25):
        sample = random_sample(int(seed), rows=(2, 14), attributes=(1, 3), height=(1, 3))
        most, k = float(rng.choice([0.1, 0.25, 0.5, 0.8])), int(rng.integers(1, 4))
        kind = str(rng.choice(["none", "budget(2)", "class-records"]))
        problem = built(sample, privacy=[f"k({k})", f"{model}({most})"], cost=cost, suppression=kind)
        if problem is None:
            continue
        table, best = sample.naive, None
        name, options = plain_cost(cost, [])
        for levels in naive.level_vectors(table):
            members = naive.classes(table, levels)
            stay = [rows for rows in members if len(rows) >= k]
            gone = [row for rows in members if len(rows) < k for row in rows]
            if len(gone) > problem.limit or not CONDITIONS[model]([len(rows) for rows in stay], most):
                continue
            total = naive.COSTS[name](table, levels, stay, gone, **options)
            best = total if best is None else min(best, total)
        found = LatticeSolver().solve(problem, Budget())
        if best is None:
            assert found.status == "infeasible", (int(seed), most, kind)
            continue
        assert found.status == "optimal"
        assert found.cost == pytest.approx(best, rel=1e-9, abs=1e-9), (int(seed), most, kind)
        if kind == "none":
            assert IncognitoSolver().solve(problem, Budget()).cost == pytest.approx(best, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("parts", [{"scheme": "subtree"}, {"scheme": "local"}, {"suppression": "violating-records"}])
def test_what_does_not_go_together_is_refused(parts):
    table = random_sample(3, attributes=(2, 2)).counts
    with pytest.raises(UnsupportedCombinationError, match="average-risk"):
        Problem.build(table, privacy=["average-risk(0.5)", "l+(0.9, s0)"], **parts)
