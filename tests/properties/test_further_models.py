"""Models beyond those of the papers against exhaustive search: the lattice, cuts and local recoding."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from cases import FURTHER_MODELS, built, plain_cost, plain_models
from discreet.solve import Budget
from discreet.solve.cuts.solver import CutsSolver
from discreet.solve.lattice.solver import LatticeSolver
from tables import random_sample


def samples(model, cost, count=25):
    rng = np.random.default_rng([len(model), len(cost), 41])
    for seed in rng.integers(0, 1 << 30, size=count):
        sample = random_sample(int(seed), rows=(2, 14), attributes=(1, 3), height=(1, 3))
        kind = str(rng.choice(["none", "class-records", "budget(2)"]))
        yield int(seed), sample, FURTHER_MODELS[model](rng), kind


@pytest.mark.parametrize("cost", ["LM", "DM", "CM"])
@pytest.mark.parametrize("model", FURTHER_MODELS)
def test_the_lattice_equals_exhaustive_search(model, cost):
    for seed, sample, privacy, kind in samples(model, cost):
        problem = built(sample, privacy=privacy, cost=cost, suppression=kind)
        if problem is None:
            continue
        models = plain_models(privacy, sample)
        name, options = plain_cost(cost, privacy)

        def ok(rows, table=sample.naive, models=models):
            return naive.all_ok(models, naive.counts(table, rows, "s0"))

        want = naive.search(sample.naive, ok, name, problem.limit, **options)
        found = LatticeSolver().solve(problem, Budget())
        assert (found.status == "optimal") == want.feasible, (seed, privacy, kind)
        if want.feasible:
            assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), (seed, privacy, kind)


@pytest.mark.parametrize("cost", ["LM", "DM"])
@pytest.mark.parametrize("model", FURTHER_MODELS)
def test_cuts_equal_exhaustive_search(model, cost):
    for seed, sample, privacy, kind in samples(model, cost, count=15):
        problem = built(sample, privacy=privacy, cost=cost, suppression=kind, scheme="subtree")
        if problem is None:
            continue
        name, options = plain_cost(cost, privacy)
        models = plain_models(privacy, sample)
        kind_name = kind.partition("(")[0]
        want = naive.search_cuts(sample.naive, models, kind_name, problem.limit, name, "s0", **options)
        found = CutsSolver().solve(problem, Budget())
        assert (found.status == "optimal") == want.feasible, (seed, privacy, kind)
        if want.feasible:
            assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), (seed, privacy, kind)
