"""Key sets of which people are counted, against exhaustive search in plain Python over sets of people."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import discreet as dc
import naive
from cases import FURTHER_MODELS, MODELS, built, plain_cost
from depth import cases
from discreet.errors import UnsupportedCombinationError
from discreet.solve import Budget, Recoder, Released, solve
from tables import add_people, random_sample

SUPPRESSIONS = ["none", "class-records", "budget(0.3)", "budget(2)", "budget(0.4, of=rows)", "budget(3, of=rows)"]
EVERY = {**MODELS, **FURTHER_MODELS}


def make(seed, rng):
    """A random sample with people, half of them with constant quasi-identifiers."""
    sample = random_sample(int(seed), rows=(2, 14), attributes=(2, 3), height=(0, 2))
    missing = float(rng.choice([0.0, 0.3]))
    return add_people(sample, rng, constant=bool(rng.random() < 0.4), missing=missing, most=int(rng.integers(1, 6)))


def key_sets(names, rng):
    """Random promises about key sets, as text and as pairs of names and k."""
    texts, pairs = [], []
    for _ in range(int(rng.integers(1, 3))):
        k = int(rng.integers(2, 5))
        if rng.random() < 0.5:
            size = int(rng.integers(1, len(names) + 1))
            texts.append(f"k({k}, any={size})")
            pairs += [(chosen, k) for chosen in itertools.combinations(names, size)]
        else:
            chosen = tuple(name for name in names if rng.random() < 0.6) or names[:1]
            texts.append(f"k({k}, on=[{', '.join(chosen)}])")
            pairs.append((chosen, k))
    return texts, pairs


@pytest.mark.parametrize("suppression", SUPPRESSIONS)
@pytest.mark.parametrize("cost", ["LM", "DM", "NCP"])
def test_full_domain_equals_exhaustive_search(cost, suppression):
    rng = np.random.default_rng([len(cost), SUPPRESSIONS.index(suppression), ord(cost[0])])
    for seed in rng.integers(0, 1 << 30, size=cases(200)):
        sample = make(seed, rng)
        names = tuple(sample.naive.hierarchies)
        texts, pairs = key_sets(names, rng)
        others = EVERY[str(rng.choice(list(EVERY)))](rng) if rng.random() < 0.6 else []
        context = (int(seed), texts, others, cost, suppression)
        problem = built(sample, privacy=[*texts, *others], cost=cost, suppression=suppression)
        if problem is None:
            continue
        rows = range(len(sample.naive.rows))
        whole = naive.crowd(sample.naive, rows, "person", "s0")
        models = [naive.crowd_ok(text, sample.sensitive["s0"], whole) for text in others]

        def ok(members, sample=sample, models=models):
            return all(model(naive.crowd(sample.naive, members, "person", "s0")) for model in models)

        unit = "people" if problem.limit_of_people else "rows"
        name, options = plain_cost(cost, others)
        want = naive.search_key_sets_of_people(
            sample.naive, ok, "person", name, problem.limit, pairs, unit=unit, **options
        )
        found = solve(problem, budget=Budget())
        recoder = Recoder(problem)
        for levels in itertools.islice(naive.level_vectors(sample.naive), 4):
            published, gone = naive.suppress_by_key_sets(
                sample.naive, levels, ok, "person", pairs, whole_people=unit == "people"
            )
            recoded = recoder.evaluate(Released.by_levels(problem.table, levels))
            if suppression == "none":
                assert np.isfinite(recoded.cost) == (not gone), (context, levels)
            else:
                assert recoded.suppressed_rows == len(gone), (context, levels)
                assert recoded.classes == len(published), (context, levels)
        if not want.feasible:
            assert found.status == "infeasible", context
            assert found.smallest_budget in (None, want.fewest), context
            continue
        assert found.status == "optimal", (context, want)
        assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), (context, want)


@pytest.mark.parametrize("suppression", ["none", "budget(40%)", "class-records"])
@pytest.mark.parametrize("constant", [True, False])
def test_releases_keep_key_sets_of_people(constant, suppression):
    visits = dc.sample_visits(800, seed=2).select("patient_id", "age", "sex", "zip", "diagnosis")
    if constant:
        visits = visits.with_columns(pl.col("age").first().over("patient_id"))
    release = dc.anonymize(
        visits,
        person="patient_id",
        quasi_identifiers={"age": "intervals(5, 10, 20, 40)", "sex": "flat", "zip": "mask(digits=5)"},
        sensitive=["diagnosis"],
        privacy=["k(4, any=2)", "k(9, on=[sex])"],
        suppression=suppression,
        pseudonyms=True,
    )
    assert release.audit.passed
    assert release.status == "optimal"
    for names in itertools.combinations(["age", "sex", "zip"], 2):
        sizes = release.frame.group_by(names).agg(pl.col("patient_id").n_unique())["patient_id"]
        assert sizes.min() >= 4


@pytest.mark.parametrize("choice", [{"scheme": "subtree"}, {"scheme": "local"}, {"solver": "robust(epsilon=0.1)"}])
def test_other_searches_do_not_count_people_of_key_sets(choice):
    visits = dc.sample_visits(60, seed=2).select("patient_id", "age", "sex")
    with pytest.raises(UnsupportedCombinationError):
        dc.anonymize(visits, person="patient_id", quasi_identifiers=["age", "sex"], privacy="k(2, any=1)", **choice)


@pytest.mark.parametrize(("privacy", "scheme"), [(["k", "k(4, any=2)"], "full-domain"), (["k"], "subtree")])
def test_fronts_end_with_everybody_in_one_class(privacy, scheme):
    visits = dc.sample_visits(120, seed=2).select("patient_id", "age", "sex")
    quasi = {"age": "intervals(5, 10, 20, 40)", "sex": "flat"}
    front = dc.pareto(visits, person="patient_id", quasi_identifiers=quasi, privacy=privacy, scheme=scheme)
    assert front.points[-1].k == 84
    for point in front.points[:3]:
        models = [f"k({point.k})", *privacy[1:]]
        alone = dc.anonymize(visits, person="patient_id", quasi_identifiers=quasi, privacy=models, scheme=scheme)
        assert alone.cost == pytest.approx(point.loss)
