"""Microaggregation against the best grouping of all, found by going through every one of few rows."""

from __future__ import annotations

import random

import numpy as np
import pytest

import naive
from discreet.counts import CountTable
from discreet.problem import Problem
from discreet.solve import Budget, choose_solver
from discreet.solve.local.task import LocalGrouping
from discreet.solve.microaggregation.bounds import price_bound
from discreet.solve.microaggregation.rows import coordinates, find_near
from discreet.solve.microaggregation.solver import MicroaggregationSolver, squared_error_of
from tables import count_table, random_sample

SCHEME = "local(show=mean)"


def sample(seed, **ranges):
    """A random table of rows, and the same as a count table."""
    ranges = {"rows": (2, 8), "attributes": (1, 3), "leaves": (1, 7), "numeric": 0.8, "label": False, **ranges}
    made = random_sample(seed, **ranges)
    return made.naive, count_table(made.naive, made.sensitive)


def by_value(plain, secret):
    """The count table whose tuples have one value of the sensitive column each."""
    table = count_table(plain._replace(hierarchies={**plain.hierarchies, **secret}), secret)
    m = len(plain.hierarchies)
    return CountTable(table.attributes[:m], table.codes[:m].copy(), table.weights, table.sensitive)


def check(plain, table, privacy, ok, *, limit=0, weights=None):
    """Compare a solution, its cost and its bounds with the best of all groupings; return the solution."""
    cost = f"SSE(weights={{q0: {weights['q0']}}})" if weights else "SSE"
    problem = Problem.build(
        table, privacy=privacy, cost=cost, scheme=SCHEME, suppression=f"budget({limit})" if limit else "none"
    )
    vectors = naive.row_vectors(plain, weights)
    best = naive.least_sse(vectors, ok, limit)
    found = choose_solver(problem, "auto").solve(problem, Budget(seed=1))
    assert (found.groups is None) == (best is None)
    if best is None:
        return found
    assert found.cost >= best - 1e-9
    assert found.lower_bound <= best + 1e-9
    groups = LocalGrouping(found.groups.tuple, found.groups.group, found.groups.count)
    assert found.cost == pytest.approx(squared_error_of(table, problem.cost, groups))
    assert np.bincount(groups.tuple, weights=groups.count, minlength=table.tuples).tolist() == table.weights.tolist()
    for tight in (True, False):
        assert price_bound(problem, problem.cost, problem.smallest_class, Budget(), tight=tight) <= best + 1e-9
    assert problem.cost.worst(table) == pytest.approx(naive.sse(vectors, [], range(len(plain.rows))), abs=1e-9)
    return found, best


def k_of(k):
    return lambda rows: len(rows) >= k


@pytest.mark.parametrize("part", range(2))
def test_k_alone(part):
    rng, optimal = random.Random(part), 0
    for _ in range(60):
        plain, table = sample(rng.randrange(1 << 30), sensitive=0)
        k = rng.randint(1, min(4, len(plain.rows)))
        weights = {"q0": rng.choice([0.5, 3])} if rng.random() < 0.3 else None
        found, best = check(plain, table, f"k({k})", k_of(k), weights=weights)
        optimal += found.cost <= best + 1e-9
    assert optimal >= 58, "so few rows are nearly always grouped best"


def test_one_number_is_proven_optimal():
    rng = random.Random(5)
    for _ in range(60):
        plain, table = sample(rng.randrange(1 << 30), sensitive=0, attributes=(1, 1), numeric=1, missing=0)
        k = rng.randint(1, min(4, len(plain.rows)))
        found, best = check(plain, table, f"k({k})", k_of(k))
        assert found.status == "optimal"
        assert found.cost == pytest.approx(best, abs=1e-9)


def test_suppression():
    rng = random.Random(6)
    for _ in range(40):
        plain, table = sample(rng.randrange(1 << 30), sensitive=0)
        k = rng.randint(1, min(4, len(plain.rows)))
        check(plain, table, f"k({k})", k_of(k), limit=rng.randint(1, 3))


def fits(model, counts, whole):
    """Whether the counts of a group satisfy a model, by its definition."""
    name, values = model
    if name == "t":
        return naive.t_close(counts, whole, values[0], values[1], None)
    if name == "l+":
        return naive.l_plus(counts, naive.thetas(whole, *values))
    return {"distinct-l": naive.distinct_l, "entropy-l": naive.entropy_l, "recursive-cl": naive.recursive_cl}[name](
        counts, *values
    )


MODELS = {
    "distinct-l(2, s0)": ("distinct-l", [2]),
    "entropy-l(1.8, s0)": ("entropy-l", [1.8]),
    "recursive-cl(2, 2, s0)": ("recursive-cl", [2, 2]),
    "l+(0.6, s0)": ("l+", [0.6]),
    "t(0.3, s0)": ("t", [0.3, "equal"]),
    "t(0.5, s0)": ("t", [0.5, "equal"]),
}


@pytest.mark.parametrize("model", MODELS)
def test_diversity_and_closeness(model):
    """Of numbers and text mixed, where often nothing but suppression helps."""
    rng, solved = random.Random(model), 0
    for _ in range(15):
        made = random_sample(
            rng.randrange(1 << 30), rows=(2, 8), attributes=(1, 3), leaves=(1, 7), numeric=0.6, label=False
        )
        plain, table = made.naive, by_value(made.naive, made.sensitive)
        k, whole = rng.randint(1, min(3, len(plain.rows))), naive.counts(plain, range(len(plain.rows)), "s0")

        if sum(rows > 0 for value, rows in whole.items() if value is not None) < 2:
            continue

        def ok(rows, k=k, whole=whole, plain=plain):
            return len(rows) >= k and fits(MODELS[model], naive.counts(plain, rows, "s0"), whole)

        limit = rng.choice([0, 0, 2])
        solved += isinstance(check(plain, table, [f"k({k})", model], ok, limit=limit), tuple)
    assert solved >= 3


def test_a_search_shares_what_it_knows_of_near_rows_with_the_bound():
    _, table = sample(3, sensitive=0, rows=(200, 200), leaves=(7, 7), attributes=(3, 3), numeric=1, missing=0)
    problem = Problem.build(table, privacy="k(3)", cost="SSE", scheme=SCHEME)
    near = find_near(coordinates(table, problem.cost), 90)
    assert near.row.shape[1] > 60, "more than the bound looks at"
    bounds = [price_bound(problem, problem.cost, 3, Budget(), near=known) for known in (None, near)]
    assert bounds[0] == pytest.approx(bounds[1], rel=0.01)


def test_repeated_rows():
    rng = random.Random(8)
    for _ in range(30):
        plain, table = sample(rng.randrange(1 << 30), sensitive=0, leaves=(1, 2), rows=(6, 9))
        k = rng.randint(2, 3)
        check(plain, table, f"k({k})", k_of(k))


@pytest.mark.parametrize("rows", [400, 5000])
def test_the_same_seed_gives_the_same_groups_on_any_number_of_threads(rows):
    """Above 4096 rows there are several regions."""
    _, table = sample(3, sensitive=0, rows=(rows, rows), leaves=(7, 7), attributes=(3, 3), numeric=1)
    problem = Problem.build(table, privacy="k(3)", cost="SSE", scheme=SCHEME)
    solver = MicroaggregationSolver(effort="low")
    found = [solver.solve(problem, Budget(seed=2, threads=threads)).groups for threads in (1, 3)]
    assert found[0].group.tolist() == found[1].group.tolist()
    assert found[0].tuple.tolist() == found[1].tuple.tolist()
