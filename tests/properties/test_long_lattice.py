"""What only long lattice searches do (explorers, threads, annealing), made to happen on tiny tables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from cases import MODELS, built, plain_cost, plain_models
from discreet.solve import Budget
from discreet.solve.lattice import drive, incumbents, nodes, projections
from discreet.solve.lattice.projections import Projections, can_project
from discreet.solve.lattice.solver import LatticeSolver
from tables import random_sample

SUPPRESSIONS = ["none", "class-records", "budget(0.2)", "budget(2)"]
COSTS = ["LM", "LM(weights={q0: 2.5})", "LM(penalty=l+)", "DM", "HDM", "CM", "entropy", "precision"]
CASES = list(itertools.product(["k", "distinct-l", "l+", "t", "three"], COSTS))


@pytest.fixture(autouse=True)
def long(monkeypatch):
    """Every search counts as a long one."""
    monkeypatch.setattr(nodes, "ALONE", 0)
    monkeypatch.setattr(drive, "ALONE", 0)
    monkeypatch.setattr(nodes, "_WORK", 1)
    monkeypatch.setattr(incumbents, "LARGE", 0)
    monkeypatch.setattr(incumbents, "HUGE", 0)
    monkeypatch.setattr(drive, "HUGE", 0)
    monkeypatch.setattr(drive, "LARGE", 0)
    monkeypatch.setattr(projections, "_FIRST_BITS", 2.0)


def problems(rng, model, cost, size):
    for seed in rng.integers(0, 1 << 30, size=size):
        sample = random_sample(int(seed), rows=(4, 16), attributes=(2, 4), height=(1, 3))
        privacy, suppression = MODELS[model](rng), str(rng.choice(SUPPRESSIONS))
        problem = built(sample, privacy=privacy, cost=cost, suppression=suppression)
        if problem is not None:
            yield int(seed), sample, privacy, suppression, problem


@pytest.mark.parametrize(("model", "cost"), CASES)
def test_the_same_optimum_and_release_on_any_number_of_threads(model, cost):
    rng = np.random.default_rng([CASES.index((model, cost)), 11])
    for seed, sample, privacy, suppression, problem in problems(rng, model, cost, 6):
        models, n = plain_models(privacy, sample), len(sample.naive.rows)
        limits = {"none": 0, "class-records": n, "budget(0.2)": naive.budget(0.2, n), "budget(2)": naive.budget(2, n)}

        def ok(rows, sample=sample, models=models):
            return naive.all_ok(models, naive.counts(sample.naive, rows, "s0"))

        name, options = plain_cost(cost, privacy)
        want = naive.search(sample.naive, ok, name, limits[suppression], **options)
        found = [LatticeSolver().solve(problem, Budget(threads=threads)) for threads in (1, 2, 4)]
        context = (seed, privacy, suppression)
        for each in found:
            if not want.feasible:
                assert each.status == "infeasible", context
                continue
            assert each.status == "optimal", context
            assert each.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), context
            assert each.levels == found[0].levels, context
            assert each.stats == found[0].stats, context


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("cost", ["LM", "DM", "CM", "entropy"])
def test_bounds_hold_at_every_moment(cost, threads):
    rng = np.random.default_rng([len(cost), threads])
    for seed, _, _, _, problem in problems(rng, "k", cost, 6):
        seen = []
        found = LatticeSolver().solve(problem, Budget(threads=threads), seen.append)
        if found.status == "infeasible":
            continue
        for progress in seen:
            assert progress.bound <= found.cost * (1 + 1e-9) + 1e-9, seed
            assert progress.best >= found.cost * (1 - 1e-9) - 1e-9, seed


@pytest.mark.parametrize("cost", ["LM", "DM", "CM", "HDM"])
def test_what_a_round_proves_is_true(cost):
    rng = np.random.default_rng([len(cost), 5])
    raised = 0
    for seed, _, _, _, problem in problems(rng, "k", cost, 25):
        found = LatticeSolver().solve(problem, Budget(threads=1))
        if found.status == "infeasible":
            continue
        search = drive.LatticeDrive(problem, problem.cost.separable(problem.table), Budget(threads=1))
        while not search.done:
            search.advance()
            assert search.search.state.proven <= found.cost * (1 + 1e-12), seed
        assert search.best == pytest.approx(found.cost, rel=1e-12, abs=1e-12), seed
        raised += search.search.state.proven > 0
    assert raised


@pytest.mark.parametrize("cost", ["LM", "LM(weights={q0: 2.5})", "HDM", "entropy", "precision"])
def test_projections_never_bound_more_than_the_optimum(cost):
    rng = np.random.default_rng(len(cost))
    raised = 0
    for seed, _, _, _, problem in problems(rng, "k", cost, 25):
        separable = problem.cost.separable(problem.table)
        found = LatticeSolver().solve(problem, Budget())
        if found.status == "infeasible" or not can_project(problem, separable):
            continue
        parts = Projections(problem, separable, Budget(), drive.LatticeDrive)
        for _ in range(10_000):
            if parts.done:
                break
            parts.advance()
            assert parts.bound <= found.cost, seed
        assert parts.done
        raised += parts.bound > 0
    assert raised
