"""Conditions on the whole released table against exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import naive_risk
from cases import built, plain_cost
from discreet.errors import UnsupportedCombinationError
from discreet.problem import Problem
from discreet.solve import Budget
from discreet.solve.general.solver import GeneralSolver
from discreet.solve.lattice.solver import LatticeSolver
from discreet.solve.published.incognito import IncognitoSolver
from properties.test_every_combination import recodings
from properties.test_partitions import NAMES, some_schemes
from tables import random_sample


def average_risk(sizes, most):
    return not sizes or sum(1 / size for size in sizes for _ in range(size)) / sum(sizes) <= most + 1e-9


def sample_uniqueness(sizes, most):
    return not sizes or sum(size == 1 for size in sizes) / sum(sizes) <= most + 1e-9


CONDITIONS = {"average-risk": average_risk, "sample-uniqueness": sample_uniqueness}


def least_cost(problem, sample, recodings, k, cost, holds):
    """The least cost of a recoding whose classes of at least k rows keep a condition; None if there is none."""
    table, best = sample.naive, None
    name, options = plain_cost(cost, [])
    for levels in recodings:
        members = naive.classes(table, levels)
        stay = [rows for rows in members if len(rows) >= k]
        gone = [row for rows in members if len(rows) < k for row in rows]
        if len(gone) > problem.limit or not holds([len(rows) for rows in stay]):
            continue
        total = naive.COSTS[name](table, levels, stay, gone, **options)
        best = total if best is None else min(best, total)
    return best


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
        vectors = naive.level_vectors(sample.naive)
        best = least_cost(problem, sample, vectors, k, cost, lambda sizes: CONDITIONS[model](sizes, most))  # noqa: B023
        found = LatticeSolver().solve(problem, Budget())
        if best is None:
            assert found.status == "infeasible", (int(seed), most, kind)
            continue
        assert found.status == "optimal"
        assert found.cost == pytest.approx(best, rel=1e-9, abs=1e-9), (int(seed), most, kind)
        if kind == "none":
            assert IncognitoSolver().solve(problem, Budget()).cost == pytest.approx(best, rel=1e-9, abs=1e-9)


def zayatz(sizes, population):
    counts = {size: sizes.count(size) for size in sizes}
    return naive_risk.zayatz(counts, population) / population if 1 in counts else 0.0


@pytest.mark.parametrize("cost", ["LM", "DM", "score"])
def test_population_uniqueness_equals_exhaustive_search(cost):
    """Estimates go up and down along the lattice, so that nothing may be cut off by them; suppressed rows count not."""
    rng = np.random.default_rng([len(cost), 77])
    for seed in rng.integers(0, 1 << 30, size=25):
        sample = random_sample(int(seed), rows=(3, 14), attributes=(1, 3), height=(1, 3))
        most, k, people = float(rng.choice([0, 0.1, 0.3])), int(rng.integers(1, 4)), int(rng.integers(14, 60))
        kind = str(rng.choice(["none", "budget(2)", "class-records"]))
        privacy = [f"k({k})", f"population-uniqueness({most}, zayatz, {people})"]
        problem = built(sample, privacy=privacy, cost=cost, suppression=kind)
        if problem is None:
            continue
        vectors = naive.level_vectors(sample.naive)
        best = least_cost(problem, sample, vectors, k, cost, lambda sizes: zayatz(sizes, people) <= most + 1e-9)  # noqa: B023
        found = LatticeSolver().solve(problem, Budget())
        assert (found.status == "optimal") == (best is not None), (int(seed), most, kind)
        if best is not None:
            assert found.cost == pytest.approx(best, rel=1e-9, abs=1e-9), (int(seed), most, kind)


@pytest.mark.parametrize("scheme", NAMES)
@pytest.mark.parametrize("model", [*CONDITIONS, "population-uniqueness"])
def test_every_global_scheme_equals_exhaustive_search(model, scheme):
    """One attribute has this scheme, the others any; all classes that stay decide about a recoding."""
    rng = np.random.default_rng([len(model), NAMES.index(scheme), 5])
    found_some = False
    for seed in rng.integers(0, 1 << 30, size=14):
        sample = random_sample(int(seed), rows=(2, 12), attributes=(1, 2), leaves=(2, 4), height=(1, 3))
        schemes = some_schemes(rng, sample, scheme)
        most, k, people = float(rng.choice([0, 0.1, 0.25, 0.5])), int(rng.integers(1, 4)), int(rng.integers(14, 60))
        kind, cost = str(rng.choice(["none", "budget(2)", "class-records"])), str(rng.choice(["LM", "DM", "CM", "HDM"]))
        text = f"{model}({max(most, 0.05) if model == 'average-risk' else most})"
        if model == "population-uniqueness":
            text = f"{model}({most}, zayatz, {people})"
        problem = built(sample, privacy=[f"k({k})", text], cost=cost, suppression=kind, scheme=schemes)
        if problem is None:
            continue

        def holds(sizes, most=most, people=people):
            if model == "population-uniqueness":
                return zayatz(sizes, people) <= most + 1e-9
            return CONDITIONS[model](sizes, max(most, 0.05) if model == "average-risk" else most)

        best = least_cost(problem, sample, recodings(problem, sample, schemes), k, cost, holds)
        found = GeneralSolver().solve(problem, Budget())
        assert (found.status == "infeasible") == (best is None), (int(seed), schemes, text, kind, cost)
        if best is not None:
            assert found.status == "optimal"
            assert found.cost == pytest.approx(best, rel=1e-9, abs=1e-9), (int(seed), schemes, text, kind, cost)
            found_some = True
    assert found_some


def test_incognito_refuses_what_does_not_grow_along_the_lattice():
    table = random_sample(3, attributes=(2, 2)).counts
    problem = Problem.build(table, privacy=["population-uniqueness(0.1, dankar, 1000)"])
    with pytest.raises(UnsupportedCombinationError, match="choose the solver lattice"):
        IncognitoSolver().solve(problem, Budget())


@pytest.mark.parametrize("parts", [{"scheme": "local"}, {"scheme": "cells"}, {"suppression": "violating-records"}])
def test_what_does_not_go_together_is_refused(parts):
    table = random_sample(3, attributes=(2, 2)).counts
    with pytest.raises(UnsupportedCombinationError, match="average-risk"):
        Problem.build(table, privacy=["average-risk(0.5)", "l+(0.9, s0)"], **parts)
