"""Promises that count people, against exhaustive search in plain Python over sets of people."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from cases import COSTS, FURTHER_MODELS, MODELS, built, plain_cost
from discreet.solve import Budget, solve
from tables import add_people, random_sample

PEOPLE_COSTS = [cost for cost in COSTS if cost != "C_AVG"] + ["precision"]
SUPPRESSIONS = ["none", "class-records", "budget(0.3)", "budget(2)", "budget(0.4, of=rows)", "budget(3, of=rows)"]
EVERY = {**MODELS, **FURTHER_MODELS}


def make(seed, rng, **shape):
    """A random sample with people; half of them have constant quasi-identifiers, half unknown values."""
    sample = random_sample(int(seed), rows=(1, 14), **({"attributes": (1, 3), "height": (0, 3)} | shape))
    missing = float(rng.choice([0.0, 0.3]))
    return add_people(sample, rng, constant=bool(rng.random() < 0.4), missing=missing, most=int(rng.integers(1, 6)))


def wanted(sample, privacy, cost, suppression, scheme=None):
    """The optimum by trying everything."""
    rows = range(len(sample.naive.rows))
    hierarchy, whole = sample.sensitive["s0"], naive.crowd(sample.naive, rows, "person", "s0")
    models = [naive.crowd_ok(text, hierarchy, whole) for text in privacy]

    def ok(members):
        return all(model(naive.crowd(sample.naive, members, "person", "s0")) for model in models)

    unit = "people" if suppression.startswith("budget") and "rows" not in suppression else "rows"
    n = len(whole.people) if unit == "people" else len(rows)
    limit = {"none": 0, "class-records": n}.get(suppression)
    if limit is None:
        number = suppression.removeprefix("budget(").split(",")[0].rstrip(")")
        limit = naive.budget(float(number) if "." in number else int(number), n)
    name, options = plain_cost(cost, privacy)
    return naive.search_people(sample.naive, ok, "person", name, limit, unit=unit, scheme=scheme, **options)


def check(found, want, sample, context):
    """Compare a solution with the optimum, and its suppressed people and rows with each other."""
    if not want.feasible:
        assert found.status == "infeasible", context
        return
    assert found.status == "optimal", (context, found.status, want)
    assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), (context, want)
    people = sample.counts.people
    if found.suppressed_people is None:
        assert found.suppressed_rows == sample.counts.weights[found.suppressed].sum(), context
    else:
        assert found.suppressed_rows == people.row_counts[found.suppressed_people].sum(), context


@pytest.mark.parametrize(("model", "cost"), list(itertools.product(EVERY, ["LM", "DM", "NCP"])))
def test_full_domain_equals_exhaustive_search(model, cost):
    rng = np.random.default_rng([list(EVERY).index(model), PEOPLE_COSTS.index(cost)])
    for seed in rng.integers(0, 1 << 30, size=ROUNDS):
        sample, privacy = make(seed, rng), EVERY[model](rng)
        suppression = str(rng.choice(SUPPRESSIONS))
        problem = built(sample, privacy=privacy, cost=cost, suppression=suppression)
        if problem is None:
            continue
        found = solve(problem, budget=Budget())
        check(found, wanted(sample, privacy, cost, suppression), sample, (int(seed), privacy, cost, suppression))


ROUNDS = 12
