"""Privacy models against their plain definitions, on every small class and on random ones."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import naive
from discreet.errors import InfeasibleError, UsageError
from discreet.problem.privacy import PRIVACY
from discreet.problem.uniqueness import estimate_uniques
from discreet.testing import PrivacyModelContract, all_histograms, as_classes, as_groups, classes_of, random_table
from tables import random_sample

SECRET = "secret"
NAMES = ["v0", "v1", "v2", "v3"]


def hierarchy_of(table):
    """The sensitive attribute's hierarchy as naive rows; the labels carry their level so that none repeat."""
    ancestors = table.sensitive[SECRET].ancestors
    return [(name, *(f"{i}.{row[v]}" for i, row in enumerate(ancestors[1:], 1))) for v, name in enumerate(NAMES)]


def whole_of(table):
    return dict(zip(NAMES, table.sensitive[SECRET].totals.tolist(), strict=True))


def as_counts(histogram):
    return {name: n for name, n in zip(NAMES, histogram.tolist(), strict=True) if n}


PLAIN = [
    ("k(1)", lambda c, t: naive.k_anonymous(c, 1)),
    ("k(6)", lambda c, t: naive.k_anonymous(c, 6)),
    ("distinct-l(3)", lambda c, t: naive.distinct_l(c, 3)),
    ("entropy-l(2)", lambda c, t: naive.entropy_l(c, 2)),
    ("entropy-l(2.6)", lambda c, t: naive.entropy_l(c, 2.6)),
    ("entropy-l(4)", lambda c, t: naive.entropy_l(c, 4)),
    ("recursive-cl(0.5, 1)", lambda c, t: naive.recursive_cl(c, 0.5, 1)),
    ("recursive-cl(1.1, 2)", lambda c, t: naive.recursive_cl(c, 1.1, 2)),
    ("recursive-cl(2, 3)", lambda c, t: naive.recursive_cl(c, 2, 3)),
    ("l+(0.3333333333333333)", lambda c, t: naive.l_plus(c, naive.thetas(whole_of(t), 1 / 3))),
    ("l+({v0: 0, v2: 0.5})", lambda c, t: naive.l_plus(c, naive.thetas(whole_of(t), {"v0": 0, "v2": 0.5}))),
    ("l+(0.3, by=frequency)", lambda c, t: naive.l_plus(c, naive.thetas(whole_of(t), 0.3, "frequency"))),
    ("t(0.25)", lambda c, t: naive.t_close(c, whole_of(t), 0.25)),
    ("t(0.2, distance=ordered)", lambda c, t: naive.t_close(c, whole_of(t), 0.2, "ordered")),
    (
        "t(0.3, distance=hierarchical)",
        lambda c, t: naive.t_close(c, whole_of(t), 0.3, "hierarchical", hierarchy_of(t)),
    ),
]


@pytest.mark.parametrize(("text", "plain"), PLAIN, ids=[text for text, _ in PLAIN])
def test_ok_is_the_definition(text, plain):
    model = PRIVACY.make(text).resolve([SECRET])
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table = random_table(rng)
        histograms = np.concatenate([all_histograms(4, 2), rng.integers(0, 40, (150, 4)) + np.eye(4, dtype=int)[0]])
        expected = [plain(as_counts(histogram), table) for histogram in histograms]
        assert model.ok(as_classes(table, histograms)).tolist() == expected


def test_reached_is_the_number_the_definition_speaks_of():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        table = random_table(rng)
        pick = rng.integers(0, 5, (int(rng.integers(1, 6)), 4)) + np.eye(4, dtype=int)[rng.integers(0, 4)]
        groups = as_groups(table, pick)
        found = [as_counts(histogram) for histogram in pick]
        whole, tree = whole_of(table), hierarchy_of(table)

        def reached(text, groups=groups):
            return PRIVACY.make(text).resolve([SECRET]).reached(groups)

        assert reached("k(2)") == min(sum(c.values()) for c in found)
        assert reached("distinct-l(2)") == min(len(c) for c in found)
        assert reached("entropy-l(2)") == pytest.approx(min(math.exp(naive.entropy(c)) for c in found))
        ratios = []
        for c in found:
            n = sorted(c.values(), reverse=True)
            ratios.append(n[0] / sum(n[1:]) if sum(n[1:]) else math.inf)
        assert reached("recursive-cl(3, 2)") == pytest.approx(max(ratios))
        shares = [n / sum(c.values()) for c in found for n in c.values()]
        assert reached("l+(0.3)") == pytest.approx(max(shares))
        for distance in ("equal", "ordered", "hierarchical"):
            farthest = max(naive.emd(c, whole, distance, tree) for c in found)
            assert reached(f"t(0.1, distance={distance})") == pytest.approx(farthest, abs=1e-12)


EXACT = [
    "k(4)",
    "distinct-l(3)",
    "entropy-l(1.7)",
    "entropy-l(2)",
    "entropy-l(2.2)",
    "entropy-l(2.95)",
    "entropy-l(3)",
    "entropy-l(3.55)",
    "recursive-cl(0.4, 1)",
    "recursive-cl(0.5, 2)",
    "recursive-cl(1, 2)",
    "recursive-cl(1.5, 2)",
    "recursive-cl(3, 3)",
    "l+(0.5)",
    "l+(0.3333333333333333)",
    "l+(0.4)",
    "l+({v0: 0.1, v1: 0.6, v2: 0.3})",
    "l+({v0: 0, v1: 0.2, v2: 0.2, v3: 0.5})",
    "l+(0.3, by=frequency)",
]


@pytest.mark.parametrize("text", EXACT)
def test_fewest_removed_is_exact(text):
    """Not only a bound: no part of the class that is ok leaves out fewer rows than said, and one leaves out as many."""
    model = PRIVACY.make(text).resolve([SECRET])
    for seed, (values, most, unknown) in enumerate(
        [(4, 5, 0), (3, 10, 0), (2, 30, 0), (1, 9, 0), (3, 4, 2), (2, 9, 1)]
    ):
        table = random_table(np.random.default_rng(seed), missing=0.3 * bool(unknown))
        histograms = np.pad(all_histograms(values, most), ((0, 0), (0, 4 - values)))
        if unknown:  # rows without a known value
            each = [np.pad(histograms, ((0, 0), (0, 1)), constant_values=rows) for rows in range(unknown + 1)]
            alone = np.zeros((unknown, 5), dtype=np.int64)
            alone[:, -1] = np.arange(1, unknown + 1)
            histograms = np.concatenate([alone, *each])
        classes = as_classes(table, histograms)
        truth = PrivacyModelContract.least_removal(histograms, model.ok(classes))
        assert np.array_equal(model.fewest_removed(classes), truth)


def test_fewest_removed_of_t_closeness_is_more_than_nothing():
    table = random_table(np.random.default_rng(3), rows=200)
    for distance in ("equal", "ordered", "hierarchical"):
        model = PRIVACY.make(f"t(0.05, {SECRET}, {distance})")
        alone = as_classes(table, np.array([[1000, 1, 1, 1]]))
        assert model.fewest_removed(alone)[0] > 900


def test_lemma_3_as_the_paper_does_it():
    rng = np.random.default_rng(0)
    table = random_table(rng)
    for theta in (0.2, 0.25, 1 / 3, 0.5, 0.8, {"v0": 0.5, "v1": 0.1}, {"v0": 0.0, "v3": 0.9}):
        model = PRIVACY.members()["l+"](theta, SECRET)
        histograms = rng.integers(0, 60, (150, 4)) + np.eye(4, dtype=int)[1]
        removed = model.fewest_removed(as_classes(table, histograms))
        thetas = naive.thetas(whole_of(table), theta)
        expected = [sum(naive.lemma_3(as_counts(histogram), thetas).values()) for histogram in histograms]
        assert removed.tolist() == expected


def test_lemma_3_on_large_classes_takes_few_steps():
    table = random_table(np.random.default_rng(0))
    thetas = {"v0": 0.4999, "v1": 0.5, "v2": 1.0}
    model = PRIVACY.members()["l+"](thetas, SECRET)
    counts = np.array([[10**12, 10**12, 3, 0], [10**12, 7, 0, 0]])
    kept = counts.sum(axis=1) - model.fewest_removed(as_classes(table, counts))
    for row, left in zip(counts.tolist(), kept.tolist(), strict=True):
        stay = [min(n, math.floor(thetas.get(name, 1) * left)) for name, n in zip(NAMES, row, strict=True)]
        assert sum(stay) == left  # what the caps leave of what is left is all of it


@pytest.mark.parametrize(
    ("text", "histogram", "ok"),
    [
        ("entropy-l(3)", [7, 7, 7, 0], True),
        ("entropy-l(3)", [7, 7, 6, 0], False),
        ("entropy-l(1)", [7, 0, 0, 0], True),
        ("l+(0.3333333333333333)", [3, 3, 3, 0], True),
        ("l+(0.1)", [1, 3, 3, 3], False),
        ("l+(0.29)", [29, 29, 29, 13], True),
        ("recursive-cl(1.1, 2)", [55, 50, 0, 0], False),  # 1.1 * 50 is a little more than 55 in floating point
        ("recursive-cl(1.1, 2)", [54, 50, 0, 0], True),
        ("recursive-cl(2, 3)", [4, 4, 2, 0], False),
        ("recursive-cl(2, 3)", [4, 4, 2, 1], True),
    ],
)
def test_on_the_threshold(text, histogram, ok):
    model = PRIVACY.make(text).resolve([SECRET])
    table = random_table(np.random.default_rng(0))
    assert model.ok(as_classes(table, np.array([histogram]))).tolist() == [ok]
    assert model.satisfied_by(model.reached(as_groups(table, np.array([histogram])))) == ok


def test_t_closeness_on_the_threshold():
    table = random_sample(5, rows=(10, 10), values=(4, 4)).counts
    totals = table.sensitive["s0"].totals
    apart = np.abs(np.eye(4) - totals / totals.sum()).sum(axis=1) / 2
    for value, distance in enumerate(apart):
        model = PRIVACY.members()["t"](float(distance), "s0")
        classes = as_classes(table, np.eye(4, dtype=np.int64)[[value]])
        moved = type(classes)(table, classes.sizes, sensitive={"s0": classes.sensitive[SECRET]})
        assert model.ok(moved).all()


def test_whole_recodings_agree_with_the_definition():
    """From rows and hierarchies to the verdict on every class, by both ways."""
    texts = ["k(2)", "distinct-l(2)", "entropy-l(1.5)", "recursive-cl(2, 2)", "l+(0.5)", "t(0.3)"]
    for seed in range(60):
        sample = random_sample(seed, values=(2, 4))
        levels = naive.level_vectors(sample.naive)[seed % len(naive.level_vectors(sample.naive))]
        classes = classes_of(sample.counts, levels)
        found = naive.classes(sample.naive, levels)
        assert sorted(classes.sizes.tolist()) == sorted(len(members) for members in found)
        whole = {row[0]: 0 for row in sample.sensitive["s0"]} | naive.counts(
            sample.naive, range(len(sample.naive.rows)), "s0"
        )
        rules = [
            lambda c: naive.k_anonymous(c, 2),
            lambda c: naive.distinct_l(c, 2),
            lambda c: naive.entropy_l(c, 1.5),
            lambda c: naive.recursive_cl(c, 2, 2),
            lambda c, whole=whole: naive.l_plus(c, naive.thetas(whole, 0.5)),
            lambda c, whole=whole: naive.t_close(c, whole, 0.3),
        ]
        for text, rule in zip(texts, rules, strict=True):
            ok = PRIVACY.make(text).resolve(["s0"]).ok(classes)
            expected = [members for members in found if rule(naive.counts(sample.naive, members, "s0"))]
            assert sorted(classes.sizes[ok].tolist()) == sorted(len(members) for members in expected)


BAD = [
    "k(0)",
    "k(-1)",
    "k(1.5)",
    "k(5.0)",
    "k(true)",
    "k(nan)",
    "k(many)",
    "k(none)",
    "distinct-l(0)",
    "distinct-l(2.5, s)",
    "distinct-l(3, 7)",
    "entropy-l(0.5)",
    "entropy-l(nan)",
    "entropy-l(inf)",
    "entropy-l(true)",
    "entropy-l(3, '')",
    "recursive-cl(0, 2)",
    "recursive-cl(-1, 2)",
    "recursive-cl(2, 0)",
    "recursive-cl(2, 1.5)",
    "recursive-cl(inf, 2)",
    "l+(0)",
    "l+(1.5)",
    "l+(-0.1)",
    "l+(nan)",
    "l+(false)",
    "l+(half)",
    "l+({a: 2})",
    "l+({a: x})",
    "l+(0.5, s, by=size)",
    "l+({a: 0.5}, s, by=frequency)",
    "t(-0.1)",
    "t(1.1)",
    "t(true)",
    "t(0.2, s, far)",
    "t(0.2, s, 1)",
]


@pytest.mark.parametrize("text", BAD)
def test_bad_arguments_are_one_clear_sentence(text):
    with pytest.raises(UsageError) as caught:
        PRIVACY.make(text)
    assert caught.value.message.endswith(".")
    assert "\n" not in caught.value.message


def test_an_empty_mapping_of_thresholds_is_refused():
    for theta in ({}, {1: 0.5}):
        with pytest.raises(UsageError, match="theta"):
            PRIVACY.members()["l+"](theta)


def test_numpy_numbers_are_numbers():
    assert PRIVACY.members()["k"](np.int64(5)) == PRIVACY.make("k(5)")
    assert PRIVACY.members()["t"](np.float64(0.5)) == PRIVACY.make("t(0.5)")


def test_sensitive_attribute_is_filled_in_or_refused():
    assert PRIVACY.make("distinct-l(2)").resolve(["disease"]) == PRIVACY.make("distinct-l(2, disease)")
    assert PRIVACY.make("k(2)").resolve([]) == PRIVACY.make("k(2)")
    for sensitive in ([], ["a", "b"]):
        with pytest.raises(UsageError, match="sensitive"):
            PRIVACY.make("t(0.2)").resolve(sensitive)
    with pytest.raises(UsageError) as caught:
        PRIVACY.make("l+(0.2, b)").resolve(["a"])
    assert caught.value.column == "b"


def test_what_can_never_hold_is_refused_with_the_column():
    sample = random_sample(11, rows=(6, 6), values=(3, 3))
    table = sample.counts
    present = int(np.count_nonzero(table.sensitive["s0"].totals))
    with pytest.raises(InfeasibleError, match="the whole table has 6"):
        PRIVACY.make("k(7)").check(table)
    PRIVACY.make("k(6)").check(table)
    for text in (f"distinct-l({present + 1}, s0)", f"entropy-l({present + 0.5}, s0)", "recursive-cl(0.1, 2, s0)"):
        with pytest.raises(InfeasibleError) as caught:
            PRIVACY.make(text).check(table)
        assert caught.value.column == "s0"
    with pytest.raises(InfeasibleError, match="raise them"):
        PRIVACY.make("l+(0.2, s0)").check(table)
    with pytest.raises(UsageError, match="spelling") as caught:
        PRIVACY.make("l+({nobody: 0.2}, s0)").check(table)
    assert "nobody" not in caught.value.message
    bare = random_sample(11, sensitive=0).counts
    flat = type(table)(
        bare.attributes,
        bare.codes,
        bare.weights,
        {"s0": type(table.sensitive["s0"])("s0", 1, np.array([0]), np.zeros(0, int), np.zeros(0, int))},
    )
    with pytest.raises(UsageError, match="hierarchy") as caught:
        PRIVACY.make("t(0.2, s0, hierarchical)").check(flat)
    assert caught.value.column == "s0"


def test_a_model_that_was_not_resolved_says_so():
    table = random_table(np.random.default_rng(0))
    with pytest.raises(UsageError, match="which sensitive attribute"):
        PRIVACY.make("distinct-l(2)").ok(as_classes(table, all_histograms(4, 1)))


@pytest.mark.parametrize("estimator", ["poisson", "truncated"])
def test_k_map_needs_rows_that_few_classes_of_k_people_would_have(estimator):
    for k, fraction, significance in itertools.product([1, 2, 5, 20, 60], [0.01, 0.1, 0.4, 1.0], [0.01, 0.05, 0.3]):
        mean = k * fraction

        def beyond(rows, mean=mean):
            below = sum(math.exp(-mean) * mean**x / math.factorial(x) for x in range(rows))
            seen = 1 - math.exp(-mean) if estimator == "truncated" else 1
            return (1 - below) / seen

        wanted = next(rows for rows in range(1, k + 1) if rows == k or beyond(rows) <= significance)
        assert PRIVACY.make(f"k-map({k}, {fraction}, {estimator}, {significance})").needed == wanted


SIZES = np.repeat([1, 2, 3, 7], [60, 20, 4, 5])


@pytest.mark.parametrize("model", ["dankar", "pitman", "zayatz", "snb"])
@pytest.mark.parametrize("people", [300, 2_000])
def test_population_uniqueness_is_the_estimate_over_the_population(model, people):
    found = getattr(estimate_uniques(*np.unique(SIZES, return_counts=True), people), model)
    assert found is not None
    share = found / people
    assert PRIVACY.make(f"population-uniqueness({share}, {model}, {people})").holds(SIZES)
    assert not PRIVACY.make(f"population-uniqueness({0.99 * share}, {model}, {people})").holds(SIZES)
    assert PRIVACY.make(f"population-uniqueness(0, {model}, {people})").holds(SIZES[SIZES > 1])


def test_population_uniqueness_does_not_hold_where_its_model_does_not_fit():
    alone = np.ones(50, dtype=np.int64)
    assert estimate_uniques(*np.unique(alone, return_counts=True), 1_000).pitman is None
    assert not PRIVACY.make("population-uniqueness(1, pitman, 1000)").holds(alone)
    assert PRIVACY.make("population-uniqueness(1, dankar, 1000)").holds(alone)


def test_population_uniqueness_of_a_population_smaller_than_the_table():
    table = random_table(np.random.default_rng(1))
    with pytest.raises(UsageError, match="give the size of the population"):
        PRIVACY.make(f"population-uniqueness(0.1, dankar, {table.n - 1})").check(table)
    PRIVACY.make(f"population-uniqueness(0.1, dankar, {table.n})").check(table)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("population-uniqueness(2, dankar, 1000)", "share of unique people"),
        ("population-uniqueness(0.1, poisson, 1000)", "dankar, pitman, zayatz, snb"),
        ("population-uniqueness(0.1, dankar, 0)", "population of population-uniqueness"),
        ("population-uniqueness(0.1)", "the form is population-uniqueness\\(share, model, population\\)"),
    ],
)
def test_bad_population_uniqueness(form, message):
    with pytest.raises(UsageError, match=message):
        PRIVACY.make(form)
