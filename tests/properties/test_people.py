"""Promises that count people, against exhaustive search in plain Python over sets of people."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import naive
from cases import COSTS, FURTHER_MODELS, MODELS, built, plain_cost
from discreet.errors import NothingFoundError
from discreet.problem.axes import AXES
from discreet.solve import Budget, solve
from discreet.solve.front.search import exact_front
from fronts import whole
from tables import add_people, count_table, people_of, random_sample, tuples_of

PEOPLE_COSTS = [cost for cost in COSTS if cost != "C_AVG"] + ["precision"]
SUPPRESSIONS = ["none", "class-records", "budget(0.3)", "budget(2)", "budget(0.4, of=rows)", "budget(3, of=rows)"]
EVERY = {**MODELS, **FURTHER_MODELS}
ROUNDS = 12


def make(seed, rng, **shape):
    """A random sample with people; half of them have constant quasi-identifiers, half unknown values."""
    sample = random_sample(int(seed), rows=(1, 14), **({"attributes": (1, 3), "height": (0, 3)} | shape))
    missing = float(rng.choice([0.0, 0.3]))
    return add_people(sample, rng, constant=bool(rng.random() < 0.4), missing=missing, most=int(rng.integers(1, 6)))


def wanted(sample, privacy, cost, suppression, scheme=None, profile=0):
    """The optimum by trying everything."""
    rows = range(len(sample.naive.rows))
    hierarchy, whole = sample.sensitive["s0"], naive.crowd(sample.naive, rows, "person", "s0")
    models = [naive.crowd_ok(text, hierarchy, whole) for text in privacy]

    def ok(members):
        return all(model(naive.crowd(sample.naive, members, "person", "s0")) for model in models)

    unit = "people" if profile or (suppression.startswith("budget") and "rows" not in suppression) else "rows"
    n = len(whole.people) if unit == "people" else len(rows)
    limit = {"none": 0, "class-records": n}.get(suppression)
    if limit is None:
        number = suppression.removeprefix("budget(").split(",")[0].rstrip(")")
        limit = naive.budget(float(number) if "." in number else int(number), n)
    name, options = plain_cost(cost, privacy)
    return naive.search_people(
        sample.naive, ok, "person", name, limit, unit=unit, profile=profile, scheme=scheme, **options
    )


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


@pytest.mark.parametrize("suppression", ["none", "budget(0.3)", "budget(2)", "budget(0.4, of=rows)", "class-records"])
@pytest.mark.parametrize("cost", ["LM", "DM", "HDM", "NCP"])
def test_front_of_k_equals_exhaustive_evaluation(cost, suppression):
    rng = np.random.default_rng([PEOPLE_COSTS.index(cost), len(suppression)])
    for seed in rng.integers(0, 1 << 30, size=ROUNDS):
        sample = make(seed, rng)
        problem = built(sample, privacy="k(1)", cost=cost, suppression=suppression)
        unit = "people" if problem.limit_of_people else "rows"
        nodes = naive.nodes_of_people(sample.naive, "person", cost, problem.limit, unit=unit)
        found = exact_front(problem, [AXES.make("k")], Budget())
        assert found.complete
        want = naive.best_points(nodes)
        context = (int(seed), cost, suppression, problem.varying)
        assert [whole(point) for point in found.points] == [whole(point) for point in want], context


@pytest.mark.parametrize("scheme", [None, "subtree"])
def test_profiles_equal_exhaustive_search(scheme):
    rng = np.random.default_rng(len(scheme or ""))
    shape = {"attributes": (1, 2), "leaves": (1, 4)} if scheme else {}
    for seed in rng.integers(0, 1 << 30, size=6 * ROUNDS):
        sample, k = make(seed, rng, **shape), int(rng.integers(2, 4))
        others = EVERY[str(rng.choice(list(EVERY)))](rng) if rng.random() < 0.3 else []
        cost, suppression = str(rng.choice(["LM", "DM", "NCP"])), str(rng.choice(["none", "budget(0.5)", "budget(3)"]))
        privacy = [f"k({k}, profile=true)", *others]
        problem = built(sample, privacy=privacy, cost=cost, suppression=suppression, scheme=scheme or "full-domain")
        if problem is None:
            continue
        found = solve(problem, budget=Budget(seed=1))
        want = wanted(sample, others, cost, suppression, scheme, profile=k)
        check(found, want, sample, (int(seed), privacy, cost, suppression))


def make_local(seed, rng):
    """A random sample for local recoding: tuples have one sensitive value each."""
    sample = random_sample(int(seed), rows=(1, 10), attributes=(1, 3), height=(1, 3), numeric=0.0, label=False)
    sample = add_people(sample, rng, constant=bool(rng.random() < 0.4), most=int(rng.integers(1, 5)))
    plain = sample.naive._replace(hierarchies={**sample.naive.hierarchies, **sample.sensitive})
    counts, m = count_table(plain, sample.sensitive), len(sample.naive.hierarchies)
    table = replace(
        counts,
        attributes=counts.attributes[:m],
        codes=counts.codes[:m].copy(),
        people=people_of(plain, counts, sample.sensitive),
    )
    return replace(sample, counts=table)


@pytest.mark.parametrize("cost", ["LM", "NCP"])
@pytest.mark.parametrize("model", list(EVERY))
def test_local_groups_are_valid_and_bounds_are_true(model, cost):
    rng = np.random.default_rng([list(EVERY).index(model), len(cost)])
    for seed in rng.integers(0, 1 << 30, size=4):
        check_local(seed, rng, EVERY[model](rng), cost)


def check_local(seed, rng, privacy, cost):
    """Compare a local release with the best of all groups of people."""
    sample, suppression = make_local(seed, rng), str(rng.choice(["none", "budget(0.3)", "budget(1)", "class-records"]))
    context = (int(seed), privacy, cost, suppression)
    problem = built(sample, privacy=privacy, cost=cost, suppression=suppression, scheme="local")
    if problem is None or problem.people.count > 6:
        return
    table, people = sample.naive, sample.counts.people
    whole = naive.crowd(table, range(len(table.rows)), "person", "s0")
    models = [naive.crowd_ok(text, sample.sensitive["s0"], whole) for text in privacy]

    def ok(rows):
        return all(model(naive.crowd(table, rows, "person", "s0")) for model in models)

    limit = people.count if suppression == "class-records" else problem.limit
    best = naive.best_groups_of_people(table, ok, "person", cost, limit)
    try:
        found = solve(problem, budget=Budget(seed=1))
    except NothingFoundError:
        return  # groups of people with several values each were not found
    if found.status == "infeasible":
        assert best is None, context
        return
    group = found.groups.of_people
    members = [[i for i, row in enumerate(table.rows) if group[row["person"]] == g] for g in range(found.classes)]
    assert all(ok(rows) for rows in members), context
    assert found.suppressed_people.tolist() == np.flatnonzero(group < 0).tolist()
    assert found.suppressed_people.size <= limit, context
    assert found.suppressed_rows == people.row_counts[group < 0].sum()
    lost = found.suppressed_rows
    assert found.cost == pytest.approx(naive.groups_cost(table, members, lost, cost)), context
    assert found.lower_bound <= best + 1e-9 <= found.cost + 2e-9, (context, found.lower_bound, best, found.cost)


@pytest.mark.parametrize("cost", ["LM", "NCP"])
@pytest.mark.parametrize("model", list(EVERY))
def test_rows_of_a_person_in_several_groups_are_valid_and_bounds_are_true(model, cost):
    rng = np.random.default_rng([7, list(EVERY).index(model), len(cost)])
    for seed in rng.integers(0, 1 << 30, size=4):
        check_apart(seed, rng, EVERY[model](rng), cost)


def check_apart(seed, rng, privacy, cost):
    """Compare a local release whose people may be in several groups with the best of all groups of rows."""
    sample = make_local(seed, rng)
    suppression = str(rng.choice(["none", "budget(0.3, of=rows)", "budget(1, of=rows)", "class-records"]))
    context = (int(seed), privacy, cost, suppression)
    problem = built(sample, privacy=privacy, cost=cost, suppression=suppression, scheme="local(people=apart)")
    if problem is None or problem.table.n > 7:
        return
    rows = [{**row, "row": i} for i, row in enumerate(sample.naive.rows)]
    table, people = sample.naive._replace(rows=rows), sample.counts.people
    whole = naive.crowd(table, range(len(rows)), "person", "s0")
    models = [naive.crowd_ok(text, sample.sensitive["s0"], whole) for text in privacy]

    def ok(members):
        return all(model(naive.crowd(table, members, "person", "s0")) for model in models)

    limit = len(rows) if suppression == "class-records" else problem.limit
    best = naive.best_groups_of_people(table, ok, "row", cost, limit)
    try:
        found = solve(problem, budget=Budget(seed=1))
    except NothingFoundError:
        return
    if found.status == "infeasible":
        assert best is None, context
        return
    plain = table._replace(hierarchies={**table.hierarchies, **sample.sensitive})
    where = tuples_of(plain, count_table(plain, sample.sensitive))
    pair_of = {(j, p): at for at, (j, p) in enumerate(zip(_tuples(people), people.members.tolist(), strict=True))}
    group = [found.groups.of_pairs[pair_of[j, row["person"]]] for j, row in zip(where, rows, strict=True)]
    members = [[i for i, own in enumerate(group) if own == g] for g in range(found.classes)]
    assert all(ok(own) for own in members), context
    lost = sum(own < 0 for own in group)
    assert found.suppressed_rows == lost <= limit, context
    assert found.cost == pytest.approx(naive.groups_cost(table, members, lost, cost)), context
    assert found.lower_bound <= best + 1e-9 <= found.cost + 2e-9, (context, found.lower_bound, best, found.cost)


def _tuples(people):
    return np.repeat(np.arange(people.offsets.size - 1), np.diff(people.offsets)).tolist()


@pytest.mark.parametrize("scheme", ["subtree", "ordered", "guided-set"])
@pytest.mark.parametrize("model", ["k", "distinct-l", "l+", "t", "two", "alpha-k"])
def test_other_global_schemes_equal_exhaustive_search(model, scheme):
    rng = np.random.default_rng([list(EVERY).index(model), len(scheme)])
    for seed in rng.integers(0, 1 << 30, size=ROUNDS if scheme == "subtree" else 3):
        sample = make(seed, rng, attributes=(1, 2), leaves=(1, 4), height=(1, 2))
        privacy, cost = EVERY[model](rng), str(rng.choice(["LM", "DM", "NCP"]))
        suppression = str(rng.choice(SUPPRESSIONS))
        problem = built(sample, privacy=privacy, cost=cost, suppression=suppression, scheme=scheme)
        if problem is None:
            continue
        found = solve(problem, budget=Budget(seed=1))
        context = (int(seed), privacy, cost, suppression, scheme)
        check(found, wanted(sample, privacy, cost, suppression, scheme), sample, context)
