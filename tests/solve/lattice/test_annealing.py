"""Simulated annealing over levels: it prices nodes as the search does, ends in good ones, and repeats itself."""

from __future__ import annotations

import numpy as np
import pytest

from cases import COSTS, MODELS, built
from discreet.problem import Problem
from discreet.solve import Budget, solve
from discreet.solve.lattice.annealing import Annealer, can_anneal, compile_ahead
from discreet.solve.lattice.evaluate import NodeEvaluator
from discreet.solve.lattice.layout import lay_out
from discreet.solve.lattice.pricing import leaf_rates
from tables import random_sample


def annealer_of(problem):
    separable = problem.cost.separable(problem.table)
    if not can_anneal(problem, separable):
        return None
    compile_ahead()
    return Annealer(problem, lay_out(problem), separable, leaf_rates(problem.table, separable))


def problems(seed, size, model, cost):
    rng = np.random.default_rng(seed)
    for number in rng.integers(0, 1 << 30, size=size):
        sample = random_sample(int(number), rows=(4, 20), attributes=(2, 4), height=(1, 3))
        kind = str(rng.choice(["none", "class-records", "budget(0.2)"]))
        problem = built(sample, privacy=MODELS[model](rng), cost=cost, suppression=kind)
        if problem is not None:
            yield problem


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("cost", [*COSTS, "precision"])
def test_costs_are_those_of_an_exact_evaluation(model, cost):
    for problem in problems([len(cost), len(model)], 5, model, cost):
        annealer = annealer_of(problem)
        if annealer is None:
            continue
        annealer.start(np.array(problem.highest), 30, 0.0)
        annealer.run(5)
        annealer.run(100)
        evaluator = NodeEvaluator(problem)
        if np.isfinite(annealer.best):
            exact = evaluator.evaluate(annealer.node).cost
            assert annealer.best == pytest.approx(exact, rel=1e-9, abs=1e-9)
        else:
            assert np.isinf(evaluator.evaluate(np.array(problem.highest)).cost)


@pytest.mark.parametrize("cost", ["LM", "DM", "CM", "entropy"])
def test_it_mostly_ends_in_the_optimum_of_small_tables(cost):
    reached = []
    for problem in problems([len(cost), 1], 30, "k", cost):
        annealer = annealer_of(problem)
        optimum = solve(problem, "lattice", Budget()).cost
        if annealer is None or np.isinf(optimum):
            continue
        for run in range(4):
            annealer.start(annealer.node if np.isfinite(annealer.best) else np.array(problem.highest), 60, -1.0 * run)
            annealer.run(60)
        assert annealer.best >= optimum * (1 - 1e-9) - 1e-9
        reached.append(annealer.best <= optimum * (1 + 1e-9) + 1e-9)
    assert np.mean(reached) > 0.8


def test_the_same_walk_every_time():
    problem = next(problems(3, 9, "k", "LM"))
    found = []
    for _ in range(2):
        annealer = annealer_of(problem)
        annealer.start(np.array(problem.highest), 40, 0.0)
        while not annealer.run(3):
            pass
        found.append((annealer.best, annealer.node.tolist(), annealer.evaluated))
    assert found[0] == found[1]


def test_values_that_are_suppressed_are_not_priced_here():
    sample = random_sample(5, rows=(8, 9), attributes=(2, 2), height=(1, 2))
    for kind in ("violating-records", "class-values"):
        problem = Problem.build(sample.counts, privacy=["k(2)", "distinct-l(1, s0)"], suppression=kind)
        assert annealer_of(problem) is None
