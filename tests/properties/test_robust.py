"""The solver robust: what it draws is near the optimum of an exhaustive search, and everything near can be drawn."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import discreet as dc
import naive
from cases import MODELS, built, evaluate_blocks, plain_cost, plain_models
from discreet.errors import UsageError
from discreet.problem import Problem
from discreet.runtime.integer_codes import by_appearance
from discreet.solve import Budget
from discreet.solve.robust.solver import RobustSolver
from tables import random_sample


def optimum(sample, privacy, cost, limit):
    models = plain_models(privacy, sample)

    def ok(rows):
        return naive.all_ok(models, naive.counts(sample.naive, rows, "s0"))

    name, options = plain_cost(cost, privacy)
    return naive.search(sample.naive, ok, name, limit, **options)


@pytest.mark.parametrize("cost", ["LM", "DM", "NCP"])
@pytest.mark.parametrize("model", ["k", "distinct-l"])
def test_full_domain_is_near_the_optimum(model, cost):
    rng = np.random.default_rng([7, len(cost), len(model)])
    drawn = 0
    for seed in rng.integers(0, 1 << 30, size=40).tolist():
        sample = random_sample(seed, rows=(2, 14), attributes=(1, 4), height=(0, 3))
        privacy, epsilon = MODELS[model](rng), float(rng.choice([0.02, 0.5]))
        limit = naive.budget(0.2, len(sample.naive.rows))
        problem = built(sample, privacy=privacy, cost=cost, suppression="budget(0.2)")
        if problem is None:
            continue
        want = optimum(sample, privacy, cost, limit)
        found = RobustSolver(epsilon).solve(problem, Budget(seed=seed))
        if not want.feasible:
            assert found.status == "infeasible"
            continue
        assert found.status == "feasible"
        assert want.cost - 1e-9 <= found.cost <= want.cost * (1 + epsilon) + 1e-9
        assert found.lower_bound <= want.cost + 1e-9
        assert found.stats["robust"]["least_cost"] == pytest.approx(want.cost)
        assert found.suppressed_rows <= problem.limit
        drawn += found.stats["robust"]["found"]
    assert drawn > 15


def within(problem: Problem, epsilon: float) -> set[bytes]:
    """Every partition of the schemes that is near the best, by trying all."""
    choices = [
        [_blocks(partition) for partition in scheme.partitions(attribute)]
        for attribute, scheme in zip(problem.table.attributes, problem.schemes, strict=True)
    ]
    costs: dict[bytes, float] = {}
    for blocks in itertools.product(*choices):
        key = _key(problem, blocks)
        costs[key] = min(costs.get(key, np.inf), evaluate_blocks(problem, blocks).cost)
    best = min(costs.values())
    return {key for key, cost in costs.items() if cost <= best * (1 + epsilon) * (1 + 1e-9)}


def _blocks(partition) -> np.ndarray:
    blocks = np.zeros(sum(map(len, partition)), dtype=np.int64)
    for number, leaves in enumerate(partition):
        blocks[list(leaves)] = number
    return blocks


def _key(problem: Problem, blocks) -> bytes:
    each = zip(problem.table.attributes, blocks, strict=True)
    return b"|".join(by_appearance(np.asarray(own)[attribute.rows > 0]).tobytes() for attribute, own in each)


@pytest.mark.parametrize("scheme", ["full-domain", "subtree"])
@pytest.mark.parametrize("seed", range(12))
def test_everything_near_can_be_drawn(scheme, seed):
    """Without suppression the valid recodings are connected, so all are found; every draw is one of them."""
    sample = random_sample(seed, rows=(6, 14), attributes=(2, 3), height=(1, 2))
    problem = built(sample, privacy="k(2)", cost="LM", scheme=scheme)
    if problem is None:
        return
    every = within(problem, 0.5)
    drawn = [RobustSolver(0.5).solve(problem, Budget(seed=number)) for number in range(12)]
    if drawn[0].status == "infeasible":
        return
    assert {solution.stats["robust"]["found"] for solution in drawn} == {len(every)}
    assert {_key(problem, solution.blocks) for solution in drawn} <= every
    if len(every) > 3:
        assert len({_key(problem, solution.blocks) for solution in drawn}) > 1


@pytest.mark.parametrize("scheme", ["full-domain", "subtree", "local"])
def test_releases(scheme):
    people = dc.sample(300, seed=2).select("sex", "education", "zip", "diagnosis")
    known = {"quasi_identifiers": ["sex", "education", "zip"], "sensitive": ["diagnosis"], "privacy": "k(5)"}
    known |= {"suppression": "budget(0.1)", "scheme": scheme}
    release = dc.anonymize(people, **known, solver="robust(epsilon=0.2)", seed=3)
    again = dc.anonymize(people, **known, solver="robust(epsilon=0.2)", seed=3)
    assert release.audit.passed
    assert release.status == "feasible"
    assert release.drawn
    assert release.stats["robust"]["epsilon"] == 0.2
    assert release.lower_bound <= release.stats["robust"]["least_cost"] <= release.cost
    assert release.cost <= 1.2 * release.stats["robust"]["least_cost"] + 1e-9
    assert release.frame.equals(again.frame)
    shown = release.to_dict()
    assert (shown["cost"], shown["lower_bound"], shown["stats"]) == (None, None, {})
    assert any("within 20.0% of the best" in note for note in release.notes)
    assert not any("within 20.0%" in note for note in shown["notes"])


def test_a_single_recoding_is_said():
    people = pl.DataFrame({"sex": ["f", "m"] * 10})
    release = dc.anonymize(people, quasi_identifiers=["sex"], privacy="k(2)", solver="robust")
    assert release.stats["robust"]["found"] == 1
    assert any("there is no other" in note for note in release.notes)


@pytest.mark.parametrize("text", ["robust(epsilon=0)", "robust(epsilon=2)", "robust(epsilon=true)"])
def test_wrong_epsilon(text):
    with pytest.raises(UsageError, match="share of the cost"):
        dc.anonymize(pl.DataFrame({"a": [1, 1]}), quasi_identifiers=["a"], privacy="k(2)", solver=text)


def test_not_around_itself():
    with pytest.raises(UsageError, match="not around itself"):
        RobustSolver(solver="robust(epsilon=0.1)")
