"""Incognito against exhaustive search and the lattice solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import naive
from cases import COSTS, MODELS, built, plain_cost, plain_models
from discreet.engines import count, open_source
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.problem import Problem
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.schema import Hierarchy, Schema
from discreet.solve import Budget, choose_solver
from discreet.solve.lattice.solver import LatticeSolver
from discreet.solve.published import incognito
from discreet.solve.published.incognito import IncognitoSolver
from tables import random_sample


@pytest.mark.parametrize("model", MODELS)
def test_equals_exhaustive_search_and_the_lattice_solver(model):
    rng = np.random.default_rng(list(MODELS).index(model))
    for seed in rng.integers(0, 1 << 30, size=50):
        sample = random_sample(int(seed), rows=(2, 14), attributes=(1, 4), values=(2, 4))
        privacy, cost = MODELS[model](rng), str(rng.choice([*COSTS, "precision"]))
        problem = built(sample, privacy=privacy, cost=cost)
        if problem is None:
            continue
        models, (name, options) = plain_models(privacy, sample), plain_cost(cost, privacy)

        def ok(rows, sample=sample, models=models):
            return naive.all_ok(models, naive.counts(sample.naive, rows, "s0"))

        want = naive.search(sample.naive, ok, name, 0, **options)
        found, other = IncognitoSolver().solve(problem, Budget()), LatticeSolver().solve(problem, Budget())
        context = (int(seed), privacy, cost)
        assert found.status == other.status == ("optimal" if want.feasible else "infeasible"), context
        if want.feasible:
            assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), context
            assert other.cost == pytest.approx(found.cost, rel=1e-9, abs=1e-9), context
            assert found.levels in want.levels, context
            assert found.classes == other.classes or found.levels != other.levels, context
        else:
            assert found.smallest_budget in (None, want.smallest_budget), context


def test_levels_stay_within_limits():
    for seed in range(40):
        sample = random_sample(seed, rows=(4, 14), attributes=(2, 3), height=(2, 3))
        lowest = {a.name: 1 for a in sample.counts.attributes}
        highest = {a.name: max(a.height - 1, 1) for a in sample.counts.attributes}
        problem = Problem.build(sample.counts, privacy="k(2)", cost="DM", min_levels=lowest, max_levels=highest)
        found, want = IncognitoSolver().solve(problem, Budget()), LatticeSolver().solve(problem, Budget())
        assert (found.status, found.cost) == (want.status, want.cost)
        assert found.smallest_budget == want.smallest_budget


def medium():
    sample = random_sample(7, rows=(300, 300), attributes=(4, 4), leaves=(6, 8), height=(3, 3), values=(4, 4))
    return Problem.build(sample.counts, privacy=["k(4)", "l+(0.6)"], cost="LM")


def test_it_says_how_many_nodes_it_checked():
    found = IncognitoSolver().solve(medium(), Budget())
    space = 4**4
    every = 5**4 - 1
    assert found.stats["space"] == space
    assert found.stats["nodes_of_all_sets"] == every
    assert 0 < found.stats["examined"] < every
    assert found.stats["examined"] + sum(found.stats["pruned"].values()) == every
    assert found.trace[-1].best == pytest.approx(found.cost)


def test_stopped_it_returns_a_node_that_is_ok_and_a_true_bound():
    problem = medium()
    optimum = IncognitoSolver().solve(problem, Budget()).cost
    at_once = IncognitoSolver().solve(problem, Budget(0.0))
    assert at_once.status == "feasible"
    assert at_once.levels == problem.highest
    for calls in range(1, 16):
        budget, seen = Budget(), []

        def stop(progress, calls=calls, budget=budget, seen=seen):
            seen.append(progress)
            if len(seen) == calls:
                budget.stop.set()

        found = IncognitoSolver().solve(problem, budget, stop)
        assert found.lower_bound <= optimum <= found.cost <= at_once.cost


@dataclass(frozen=True)
class Picky(KAnonymity):
    """A model that makes no promise about unions."""

    name = "picky"
    union_closed = False
    superset_closed = False


def test_models_that_are_not_closed_under_union_are_refused():
    problem = medium()
    with pytest.raises(UnsupportedCombinationError, match="picky"):
        IncognitoSolver().solve(replace(problem, privacy=(Picky(2),)), Budget())


def test_a_lattice_that_cannot_be_written_down_is_refused(monkeypatch):
    monkeypatch.setattr(incognito, "_MOST_NODES", 255)
    with pytest.raises(UsageError, match="256 nodes"):
        IncognitoSolver().solve(medium(), Budget())


def test_it_is_used_only_where_it_is_named():
    assert choose_solver(medium()).name == "lattice"
    assert choose_solver(medium(), "incognito").name == "incognito"
    with pytest.raises(UnsupportedCombinationError, match="suppression budget"):
        choose_solver(Problem.build(medium().table, privacy="k(2)", suppression="budget(1)"), "incognito")


COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]


def test_adult(adult: Path):
    """Eight of the nine attributes, to keep it short."""
    frame = pl.read_csv(adult / "adult.csv", separator=";", infer_schema=False)
    trees = {column: Hierarchy.from_csv(adult / f"adult_hierarchy_{column}.csv") for column in COLUMNS}
    source = open_source(frame)
    schema = Schema.make(source.columns, [], trees, ["occupation"], None, None)
    table = count(source, schema).table
    for privacy, cost in (("k(5)", "DM"), ("l+(0.5)", "LM")):
        problem = Problem.build(table, privacy=privacy, cost=cost)
        found, want = IncognitoSolver().solve(problem, Budget()), LatticeSolver().solve(problem, Budget())
        assert found.status == "optimal"
        assert found.cost == pytest.approx(want.cost)
