"""Suppression kinds against their plain definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import naive
from discreet.errors import UnsupportedCombinationError, UsageError
from discreet.problem.privacy import PRIVACY
from discreet.problem.suppression import SUPPRESSION
from discreet.testing import PrivacyModelContract, all_histograms, as_classes, random_table

SECRET = "secret"
NAMES = ["v0", "v1", "v2", "v3"]
MAPPING = {"v0": 0.2, "v1": 0.4, "v2": 0.5, "v3": 0.5}


def whole_of(table):
    return dict(zip(NAMES, table.sensitive[SECRET].totals.tolist(), strict=True))


def as_counts(histogram):
    return {name: n for name, n in zip(NAMES, histogram.tolist(), strict=True) if n}


def models_of(texts):
    return [PRIVACY.make(text).resolve([SECRET]) for text in texts]


RECORD_RULES = [
    (["k(3)"], lambda c: naive.k_anonymous(c, 3)),
    (["distinct-l(3)"], lambda c: naive.distinct_l(c, 3)),
    (["l+(0.5)"], lambda c: naive.l_plus(c, dict.fromkeys(NAMES, 0.5))),
    (["l+(0.34)", "k(5)"], lambda c: naive.l_plus(c, dict.fromkeys(NAMES, 0.34)) and naive.k_anonymous(c, 5)),
    (
        ["l+({v0: 0.2, v1: 0.4, v2: 0.5, v3: 0.5})", "distinct-l(2)"],
        lambda c: naive.l_plus(c, MAPPING) and naive.distinct_l(c, 2),
    ),
    (
        ["l+({v0: 0})", "distinct-l(2)"],
        lambda c: naive.l_plus(c, {"v0": 0, "v1": 1, "v2": 1, "v3": 1}) and naive.distinct_l(c, 2),
    ),
    (
        ["l+(0.5)", "l+({v1: 0.25})"],
        lambda c: naive.l_plus(c, {"v0": 0.5, "v1": 0.25, "v2": 0.5, "v3": 0.5}),
    ),
    (["entropy-l(2)"], lambda c: naive.entropy_l(c, 2)),
    (["entropy-l(2.5)", "k(4)"], lambda c: naive.entropy_l(c, 2.5) and naive.k_anonymous(c, 4)),
    (["recursive-cl(1.5, 2)"], lambda c: naive.recursive_cl(c, 1.5, 2)),
    (["recursive-cl(0.5, 2)"], lambda c: naive.recursive_cl(c, 0.5, 2)),
    (
        ["recursive-cl(2, 2)", "entropy-l(2.2)", "distinct-l(3)"],
        lambda c: naive.recursive_cl(c, 2, 2) and naive.entropy_l(c, 2.2) and naive.distinct_l(c, 3),
    ),
    (
        ["l+({v0: 0.2, v1: 0.4, v2: 0.5, v3: 0.5})", "entropy-l(2.6)"],
        lambda c: naive.l_plus(c, MAPPING) and naive.entropy_l(c, 2.6),
    ),
    (
        ["l+(0.4)", "recursive-cl(1, 2)", "k(6)"],
        lambda c: (
            naive.l_plus(c, dict.fromkeys(NAMES, 0.4)) and naive.recursive_cl(c, 1, 2) and naive.k_anonymous(c, 6)
        ),
    ),
]


@pytest.mark.parametrize(("texts", "ok"), RECORD_RULES, ids=[" ".join(texts) for texts, _ in RECORD_RULES])
def test_violating_records_is_the_least_removal(texts, ok):
    """Against trying every part of the class."""
    table = random_table(np.random.default_rng(0))
    rng = np.random.default_rng(1)
    histograms = np.concatenate([all_histograms(4, 2), rng.integers(0, 6, (60, 4)) + np.eye(4, dtype=int)[2]])
    classes = as_classes(table, histograms)
    done = SUPPRESSION.make("violating-records").apply(classes, models_of(texts))
    assert done.feasible.all()
    assert not done.values.any()
    for histogram, records, gone in zip(
        histograms,
        done.records.tolist(),
        done.removed if done.removed is not None else [None] * len(histograms),
        strict=True,
    ):
        best = naive.largest_ok_parts(as_counts(histogram), ok)
        assert histogram.sum() - records == sum(best[0].values())
        if gone is not None:
            assert as_counts(histogram - gone) in best


def test_violating_records_under_random_combinations():
    """Two or three models at once, against trying every part of every class."""
    for seed in range(80):
        rng = np.random.default_rng(seed)
        table = random_table(rng)
        thetas = {name: float(theta) for name, theta in zip(NAMES, rng.uniform(0.1, 0.9, 4).round(2), strict=True)}
        pool = [
            PRIVACY.members()["l+"](thetas, SECRET),
            PRIVACY.make(f"l+({rng.uniform(0.3, 0.8):.2f}, {SECRET})"),
            PRIVACY.make(f"entropy-l({rng.uniform(1, 3.8):.2f}, {SECRET})"),
            PRIVACY.make(f"recursive-cl({rng.uniform(0.4, 3):.2f}, {rng.integers(1, 4)}, {SECRET})"),
            PRIVACY.make(f"k({rng.integers(2, 9)})"),
            PRIVACY.make(f"distinct-l({rng.integers(2, 4)}, {SECRET})"),
        ]
        models = [pool[i] for i in rng.choice(len(pool), int(rng.integers(2, 4)), replace=False)]
        if not any(model.looks_at_sensitive for model in models):
            continue
        histograms = all_histograms(4, 4) if seed % 2 else all_histograms(5, 3)  # some rows without a known value
        table = replace(table, sensitive={SECRET: replace(table.sensitive[SECRET], missing=1 - seed % 2)})
        classes = as_classes(table, histograms)
        ok = np.all([model.ok(classes) for model in models], axis=0)
        done = SUPPRESSION.make("violating-records").apply(classes, models)
        assert np.array_equal(done.records, PrivacyModelContract.least_removal(histograms, ok)), models


def test_violating_records_under_thresholds_is_lemma_3():
    rng = np.random.default_rng(0)
    table = random_table(rng)
    histograms = rng.integers(0, 50, (200, 4)) + np.eye(4, dtype=int)[1]
    for theta in (0.5, 1 / 3, 0.26, {"v0": 0.1, "v2": 0.7}):
        models = [PRIVACY.members()["l+"](theta, SECRET)]
        done = SUPPRESSION.make("vioRec").apply(as_classes(table, histograms), models)
        thetas = naive.thetas(whole_of(table), theta)
        for histogram, gone in zip(histograms, done.removed.tolist(), strict=True):
            expected = naive.lemma_3(as_counts(histogram), thetas)
            assert dict(zip(NAMES, gone, strict=True)) == dict.fromkeys(NAMES, 0) | expected


def test_example_4_of_the_l_plus_paper():
    """Asthma 3, Cancer 2, Flu 1 under one third: two records of Asthma go, then one of Cancer."""
    table = random_table(np.random.default_rng(0))
    classes = as_classes(table, np.array([[3, 2, 1, 0]]))
    done = SUPPRESSION.make("violating-records").apply(classes, [PRIVACY.members()["l+"](1 / 3, SECRET)])
    assert done.removed.tolist() == [[2, 1, 0, 0]]


@pytest.mark.parametrize("kind", ["class-records", "budget(0.1)", "budget(2)", "allRec"])
def test_whole_classes_go(kind):
    table = random_table(np.random.default_rng(0))
    classes = as_classes(table, all_histograms(4, 2))
    done = SUPPRESSION.make(kind).apply(classes, models_of(["k(3)", "distinct-l(2)"]))

    def ok(c):
        return naive.k_anonymous(c, 3) and naive.distinct_l(c, 2)

    expected = [naive.class_records(as_counts(h), ok) for h in classes.sensitive[SECRET]]
    assert done.records.tolist() == expected
    assert done.feasible.all()
    assert not done.values.any()


def test_no_suppression_only_judges():
    classes = as_classes(random_table(np.random.default_rng(0)), all_histograms(4, 2))
    done = SUPPRESSION.make("NoSupp").apply(classes, models_of(["k(3)"]))
    assert done.feasible.tolist() == (classes.sizes >= 3).tolist()
    assert not done.records.any()


def test_values_become_unknown():
    table = random_table(np.random.default_rng(0))
    histograms = all_histograms(4, 3)
    classes = as_classes(table, histograms)
    thetas = naive.thetas(whole_of(table), {"v0": 0.3, "v1": 0.5})
    models = models_of(["l+({v0: 0.3, v1: 0.5})", "k(2)"])
    some = SUPPRESSION.make("violating-values").apply(classes, models)
    every = SUPPRESSION.make("class-values").apply(classes, models)
    for i, histogram in enumerate(histograms):
        counts = as_counts(histogram)
        gone = dict.fromkeys(NAMES, 0) | naive.violating_values(counts, thetas)
        assert dict(zip(NAMES, some.removed[i].tolist(), strict=True)) == gone
        gone = dict.fromkeys(NAMES, 0) | naive.class_values(counts, lambda c: naive.l_plus(c, thetas))
        assert dict(zip(NAMES, every.removed[i].tolist(), strict=True)) == gone
    assert some.feasible.tolist() == every.feasible.tolist() == (classes.sizes >= 2).tolist()
    assert not some.records.any()


def test_what_everybody_could_guess_is_hidden_with_others():
    """a a a a b c under one half: the hidden value can only be a, until b is hidden too."""
    table = random_table(np.random.default_rng(0))
    table = replace(table, sensitive={SECRET: replace(table.sensitive[SECRET], whole=np.array([4, 1, 1, 0]))})
    classes = as_classes(table, np.array([[4, 1, 1, 0]]))
    models = models_of(["l+(0.5)"])
    assert SUPPRESSION.make("violating-values").apply(classes, models).removed.tolist() == [[4, 0, 0, 0]]
    hidden = SUPPRESSION.make("violating-values(hide=ambiguous)").apply(classes, models)
    assert hidden.removed.tolist() == [[4, 1, 0, 0]]
    # a fourth value in the table makes two candidates without hiding anything else
    table = replace(table, sensitive={SECRET: replace(table.sensitive[SECRET], whole=np.array([4, 1, 1, 9]))})
    hidden = SUPPRESSION.make("violating-values(hide=ambiguous)").apply(replace(classes, table=table), models)
    assert hidden.removed.tolist() == [[4, 0, 0, 0]]


def test_hidden_values_stay_ambiguous():
    """Against the definition, for every class with up to four rows of each value and many thresholds."""
    histograms = all_histograms(4, 4)
    kind = SUPPRESSION.make("violating-values(hide=ambiguous)")
    more = whole = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = random_table(rng)
        totals = np.maximum(table.sensitive[SECRET].totals, 1) * rng.integers(0, 2, 4)
        present = totals[np.newaxis] > 0
        table = replace(table, sensitive={SECRET: replace(table.sensitive[SECRET], whole=totals)})
        own = histograms[((histograms > 0) <= present).all(axis=1)]
        if not totals.any() or not own.size:
            continue
        theta = {n: float(t) for n, t in zip(NAMES, rng.choice([0, 0.2, 1 / 3, 0.5, 0.7, 1], 4), strict=True)}
        theta = theta if seed % 2 else float(rng.choice([0.25, 1 / 3, 0.5, 0.8]))
        thetas = naive.thetas(whole_of(table), theta)
        done = kind.apply(as_classes(table, own), [PRIVACY.members()["l+"](theta, SECRET)])
        values = [name for name, n in whole_of(table).items() if n]
        for histogram, gone in zip(own, done.removed.tolist(), strict=True):
            expected = naive.ambiguous_values(as_counts(histogram), thetas, values)
            assert dict(zip(NAMES, gone, strict=True)) == dict.fromkeys(NAMES, 0) | expected
            violating = sum(naive.violating_values(as_counts(histogram), thetas).values())
            more += sum(gone) > violating
            whole += 0 < sum(gone) == histogram.sum()
    assert min(more, whole) > 100


def test_value_kinds_without_a_sensitive_attribute_only_judge():
    classes = as_classes(random_table(np.random.default_rng(0)), all_histograms(4, 2))
    for kind in ("class-values", "violating-values"):
        done = SUPPRESSION.make(kind).apply(classes, models_of(["k(3)"]))
        assert done.removed is None
        assert done.feasible.tolist() == (classes.sizes >= 3).tolist()


@pytest.mark.parametrize(
    ("kind", "texts", "part"),
    [
        ("violating-records", ["t(0.2)"], "t"),
        ("violating-values", ["distinct-l(2)"], "distinct-l"),
        ("violating-values", ["k(2)", "entropy-l(2)"], "entropy-l"),
        ("violating-values", ["t(0.2)"], "t"),
    ],
)
def test_models_it_cannot_mend_are_refused(kind, texts, part):
    with pytest.raises(UnsupportedCombinationError) as caught:
        SUPPRESSION.make(kind).check(models_of(texts))
    assert kind in caught.value.parts[0]
    assert part in caught.value.parts[1]


@pytest.mark.parametrize("kind", ["violating-records", "class-values", "violating-values"])
def test_two_sensitive_attributes_are_refused(kind):
    with pytest.raises(UnsupportedCombinationError, match="several attributes"):
        SUPPRESSION.make(kind).check([PRIVACY.make("l+(0.5, a)"), PRIVACY.make("l+(0.5, b)")])


def test_a_budget_is_a_count_or_a_share():
    make = SUPPRESSION.make
    assert [make(text).budget(30162) for text in ("budget(1.0)", "budget(0.05)", "budget(5%)", "budget(300)")] == [
        30162,
        1508,
        1508,
        300,
    ]
    assert make("budget(1)").budget(100) == 1
    assert make("budget(1.0)").budget(100) == 100
    assert make("budget(300)").budget(100) == 100
    assert make("budget(1)") != make("budget(1.0)")
    assert make(make("budget(1)").text).budget(100) == 1
    for share in (0.29, 0.57, 0.07, 0.1, 0.3, 0.003):
        for n in (100, 1000, 30162):
            assert make(f"budget({share})").budget(n) == naive.budget(share, n)


@pytest.mark.parametrize(
    "text",
    [
        "budget(-1)",
        "budget(1.5)",
        "budget(-0.1)",
        "budget(nan)",
        "budget(true)",
        "budget(half)",
        "budget(none)",
        "none(1)",
    ],
)
def test_bad_arguments_are_one_clear_sentence(text):
    with pytest.raises(UsageError) as caught:
        SUPPRESSION.make(text)
    assert caught.value.message.endswith(".")
