"""The search over cuts against trying all cuts, for every model, cost and suppression that go together."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from cases import COSTS, KINDS, MODELS, built, plain_cost, plain_models
from discreet.solve import Budget
from discreet.solve.cuts import CutsSolver
from tables import random_sample

SWITCHES = [
    {},
    {"incumbent": False},
    {"order": "descending"},
    {"order": "ascending", "incumbent": False},
    {"bounds": "paper", "order": "descending", "incumbent": False},
    {"bounds": "paper", "update": False, "incumbent": False},
    {"formal": True},
]


def instance(rng, seed, kind, **shape):
    """A random problem of one suppression kind, and the same in plain form; None if its parts do not go together."""
    sizes = {"rows": (3, 14), "attributes": (1, 3), "leaves": (1, 5), "values": (2, 4)} | shape
    sample = random_sample(int(seed), **sizes)
    privacy, cost = MODELS[str(rng.choice(list(MODELS)))](rng), str(rng.choice([c for c in COSTS if c != "C_AVG"]))
    problem = built(sample, privacy=privacy, cost=cost, suppression=kind, scheme="subtree")
    if problem is None or not problem.cost.additive:
        return None
    models, (name, options) = plain_models(privacy, sample), plain_cost(cost, privacy)
    return sample, problem, (models, kind.split("(")[0], problem.limit, name, "s0"), options, (int(seed), privacy, cost)


@pytest.mark.parametrize("kind", KINDS)
def test_against_all_cuts(kind):
    rng = np.random.default_rng(100 + KINDS.index(kind))
    solved = 0
    for number, seed in enumerate(rng.integers(0, 1 << 30, size=500)):
        made = instance(rng, seed, kind)
        if made is None:
            continue
        sample, problem, arguments, options, context = made
        want = naive.search_cuts(sample.naive, *arguments, **options)
        solver = CutsSolver(**SWITCHES[number % len(SWITCHES)])
        context = (*context, kind, solver.text)
        found = solver.solve(problem, Budget(seed=1))
        if not want.feasible:
            assert found.status == "infeasible", context
            assert found.smallest_budget in (None, want.smallest_budget), context
            continue
        solved += 1
        assert found.status == "optimal", context
        assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), context
        assert found.lower_bound == found.cost, context
        if not solver.formal:
            assert found.stats["space"] == want.considered, context
    assert solved > 60
