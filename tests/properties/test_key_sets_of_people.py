"""Key sets of which people are counted, against exhaustive search in plain Python over sets of people."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import discreet as dc
import naive
from cases import FURTHER_MODELS, MODELS, built, plain_cost
from depth import cases, enough
from discreet.errors import UnsupportedCombinationError
from discreet.solve import Budget, Recoder, Released, solve
from discreet.solve.general.solver import GeneralSolver
from local_tables import covers_values
from tables import add_people, random_sample

SUPPRESSIONS = ["none", "class-records", "budget(0.3)", "budget(2)", "budget(0.4, of=rows)", "budget(3, of=rows)"]
EVERY = {**MODELS, **FURTHER_MODELS}


def make(seed, rng, **shape):
    """A random sample with people, half of them with constant quasi-identifiers."""
    sample = random_sample(int(seed), **({"rows": (2, 14), "attributes": (2, 3), "height": (0, 2)} | shape))
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


def keeps(sample, others):
    """The condition on a class for models given as text, without profiles."""
    whole = naive.crowd(sample.naive, range(len(sample.naive.rows)), "person", "s0")
    models = [naive.crowd_ok(text, sample.sensitive["s0"], whole) for text in others if "profile" not in text]
    return lambda members: all(model(naive.crowd(sample.naive, members, "person", "s0")) for model in models)


def best_of_all(sample, problem, pairs, others, cost, scheme=None):
    """The best recoding by trying all."""
    name, options = plain_cost(cost, [text for text in others if "profile" not in text])
    return naive.search_key_sets_of_people(
        sample.naive,
        keeps(sample, others),
        "person",
        name,
        problem.limit,
        pairs,
        unit="people" if problem.limit_of_people or problem.profile else "rows",
        scheme=scheme,
        profile=problem.profile,
        **options,
    )


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
        ok, unit = keeps(sample, others), "people" if problem.limit_of_people else "rows"
        want = best_of_all(sample, problem, pairs, others, cost)
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


@pytest.mark.parametrize("scheme", ["subtree", "ordered", "set", "guided-set"])
@pytest.mark.parametrize("suppression", SUPPRESSIONS)
def test_other_global_schemes_equal_exhaustive_search(suppression, scheme):
    rng = np.random.default_rng([len(scheme), SUPPRESSIONS.index(suppression)])
    for seed in rng.integers(0, 1 << 30, size=cases(80)):
        sample = make(seed, rng, rows=(2, 12), leaves=(1, 4), height=(1, 2))
        names = tuple(sample.naive.hierarchies)
        texts, pairs = key_sets(names, rng)
        others = EVERY[str(rng.choice(list(EVERY)))](rng) if rng.random() < 0.5 else []
        if scheme == "subtree" and "rows" not in suppression and rng.random() < 0.2:
            others = [*others, "k(2, profile=true)"]
        cost = str(rng.choice(["LM", "DM", "NCP", "HDM"]))
        context = (int(seed), texts, others, cost, suppression, scheme)
        problem = built(sample, privacy=[*texts, *others], cost=cost, suppression=suppression, scheme=scheme)
        if problem is None:
            continue
        want = best_of_all(sample, problem, pairs, others, cost, scheme)
        found = GeneralSolver().solve(problem, Budget(seed=1))
        if not want.feasible:
            assert found.status == "infeasible", (context, want)
            if not problem.profile:
                assert found.smallest_budget in (None, want.fewest), context
            continue
        assert found.status == "optimal", (context, want)
        assert found.cost == pytest.approx(want.cost, rel=1e-9, abs=1e-9), (context, want)


@pytest.mark.parametrize("people", ["together", "apart"])
def test_local_recoding_keeps_key_sets_of_people_and_its_bound_is_true(people):
    rng, kept, tried = np.random.default_rng(len(people)), 0, 0
    kinds = ["none", "class-records", *(SUPPRESSIONS[2:4] if people == "together" else SUPPRESSIONS[4:])]
    for seed in rng.integers(0, 1 << 30, size=cases(640)):
        few = rng.random() < 0.7
        shape = {"rows": (2, 4 if people == "apart" else 7), "attributes": (2, 2)} if few else {"attributes": (2, 3)}
        sample = make(seed, rng, **shape, height=(1, 2), leaves=(1, 3 if few else 5))
        names = list(sample.naive.hierarchies)
        texts, pairs = key_sets(names, rng)
        least = int(rng.integers(2, 4))
        if rng.random() < 0.3:
            texts, pairs = [*texts, f"k({least})"], [*pairs, (tuple(names), least)]
        kind, cost = str(rng.choice(kinds)), str(rng.choice(["LM", "LM", "NCP", "precision"]))
        problem = built(sample, privacy=texts, cost=cost, suppression=kind, scheme=f"local(people={people})")
        if problem is None or not problem.key_sets:
            continue
        kept += 1
        context = (int(seed), texts, kind, cost)
        found = solve(problem, budget=Budget(seed=1))
        counted, groups, together = problem.people, found.groups, people == "together"
        own = groups.of_people[counted.members] if together else groups.of_pairs
        tuples = np.repeat(np.arange(problem.table.tuples), counted.of_tuples)
        assert covers_values(problem, groups), context
        assert np.array_equal(
            np.bincount(tuples[own >= 0], counted.rows[own >= 0], problem.table.tuples), left(problem, groups)
        )
        lost = np.unique(counted.members[own < 0]).size if problem.limit_of_people else found.suppressed_rows
        assert lost <= problem.limit, context
        for columns, k in pairs:
            crowds = {}
            for group, who in zip(own.tolist(), counted.members.tolist(), strict=True):
                if group >= 0:
                    each = (groups.covers[names.index(name)] for name in columns)
                    key = tuple((int(cover.first[group]), int(cover.second[group])) for cover in each)
                    crowds.setdefault(key, set()).add(who)
            assert min(map(len, crowds.values()), default=k) >= k, context
        assert found.lower_bound <= found.cost, context
        units = counted.count if together else len(sample.naive.rows)
        if cost == "LM" and len(names) == 2 and units <= 4:
            tried += 1
            best = naive.best_covers_of_people(
                sample.naive, "person", pairs, problem.limit,
                together=together, unit="people" if problem.limit_of_people else "rows",
            )  # fmt: skip
            assert found.lower_bound <= best + 1e-9, (context, found.lower_bound, best)
            assert best <= found.cost + 1e-9, (context, best, found.cost)
    assert kept > enough(80)
    assert tried > enough(16)


def left(problem, groups):
    """The released rows of each tuple."""
    there = groups.group >= 0
    return np.bincount(groups.tuple[there], groups.count[there], problem.table.tuples)


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


@pytest.mark.parametrize("choice", [{"solver": "robust(epsilon=0.1)"}, {"scheme": "local", "solver": "mondrian"}])
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
