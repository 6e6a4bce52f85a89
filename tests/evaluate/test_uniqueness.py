"""Population uniqueness: models solve their published equations, and find the uniques of fitting populations."""

from __future__ import annotations

import math
import random

import numpy as np
import polars as pl
import pytest

import naive_risk as plain
from discreet.evaluate import estimate_uniques
from discreet.problem.uniqueness.numerics import digamma, digammas, root
from discreet.problem.uniqueness.pitman import fit, pitman
from discreet.problem.uniqueness.snb import fit as snb_fit
from discreet.problem.uniqueness.snb import snb
from discreet.problem.uniqueness.zayatz import zayatz


def arrays(sizes):
    kinds = sorted(sizes)
    return np.array(kinds), np.array([sizes[kind] for kind in kinds])


def random_sizes(seed):
    rng = random.Random(seed)
    sizes = {1: rng.randrange(5, 60), 2: rng.randrange(3, 30)}
    return sizes | {rng.randrange(3, 12): rng.randrange(1, 8) for _ in range(rng.randrange(4))}


def people_of(population):
    return np.repeat(np.arange(population.size), population)


def sample_of(population, fraction, seed):
    """The class sizes of a simple random sample, and how many classes have each."""
    people = people_of(population)
    drawn = np.random.default_rng(seed).choice(people, round(people.size * fraction), replace=False)
    counts = np.bincount(drawn)
    return np.unique(counts[counts > 0], return_counts=True)


def test_digamma():
    euler = 0.57721566490153286
    assert digamma(1) == pytest.approx(-euler, rel=1e-14)
    assert digamma(0.5) == pytest.approx(-euler - 2 * math.log(2), rel=1e-14)
    assert digamma(30.25) == pytest.approx(sum(1 / (i + 0.25) for i in range(30)) + digamma(0.25), rel=1e-13)
    x = np.array([1e-3, 0.7, 5.0, 10.0, 1e6])
    assert digammas(x) == pytest.approx([digamma(one) for one in x.tolist()], rel=1e-14)


@pytest.mark.parametrize(
    ("function", "low", "high", "expected"),
    [
        (lambda x: math.exp(x) - 3, -5, 50, math.log(3)),
        (lambda x: 1e-9 - x**9, 0, 100, 0.1),
        (lambda x: -1 if x < 0.3 else 1, 0, 1, 0.3),
        (lambda x: x, 0, 1, 0),
    ],
)
def test_root(function, low, high, expected):
    assert root(function, low, high) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_zayatz(seed):
    sizes = random_sizes(seed)
    n = sum(size * count for size, count in sizes.items())
    population = n * random.Random(seed).randrange(1, 40) + 3
    assert zayatz(*arrays(sizes), population) == pytest.approx(plain.zayatz(sizes, population))


def test_zayatz_by_hand():
    """Ten uniques and five pairs among 20 of 200: P(f=1|F=1) = 1/10, P(f=1|F=2) = 2 · 1/10 · 180/199."""
    given = 10 * 0.1 / (10 * 0.1 + 5 * 0.2 * 180 / 199)
    assert zayatz(*arrays({1: 10, 2: 5}), 200) == pytest.approx(10 * given / 0.1)


def test_zayatz_of_very_large_classes():
    sizes = {1: 100, 10_000_000: 1}
    assert zayatz(*arrays(sizes), 10**10) == pytest.approx(100 / 0.00100001, rel=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_snb_solves_its_equations(seed):
    sizes = random_sizes(seed)
    n = sum(size * count for size, count in sizes.items())
    population = round(n * random.Random(seed).uniform(2, 8))
    fraction = n / population
    total = plain.shlosser(sizes, fraction)
    found = snb_fit(*arrays(sizes), fraction)
    if found is None:
        assert snb(*arrays(sizes), population) is None
        return
    classes, alpha, beta = found
    assert classes == pytest.approx(total)
    for size in (1, 2):
        assert plain.snb_expected(total, alpha, beta, fraction, size) == pytest.approx(sizes[size], rel=1e-6)
    assert snb(*arrays(sizes), population) == pytest.approx(total * beta**alpha)


def test_snb_fits_some_samples():
    found = [snb(*arrays(random_sizes(seed)), 4_000) for seed in range(20)]
    assert sum(one is not None for one in found) > 3


@pytest.mark.parametrize("seed", range(20))
def test_pitman_has_the_greatest_likelihood(seed):
    sizes = random_sizes(seed)
    found = fit(*arrays(sizes))
    if found is None:
        return
    theta, alpha = found
    best = plain.pitman_likelihood(sizes, theta, alpha)
    groups = sum(sizes.values())
    for other in (alpha - 0.5, alpha - 0.05, alpha - 0.001, alpha + 0.001, alpha + 0.05, 0.1, 0.5, 0.9):
        for factor in (0.1, 0.7, 0.99, 1, 1.01, 2, 10):
            near = theta * factor
            if other < 1 and near + other > 0 and near + (groups - 1) * other > 0:
                assert plain.pitman_likelihood(sizes, near, other) <= best + 1e-9
    assert pitman(*arrays(sizes), 5_000) == pytest.approx(plain.pitman_uniques(theta, alpha, 5_000), rel=1e-8)


def test_pitman_is_the_published_formula_in_large_populations():
    sizes = {1: 120, 2: 30, 3: 11, 7: 4, 20: 2}
    theta, alpha = fit(*arrays(sizes))
    published = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * 1e8**alpha
    assert pitman(*arrays(sizes), 10**8) == pytest.approx(published, rel=1e-4)


@pytest.mark.parametrize("sizes", [{1: 50}, {5: 10}, {1: 1, 9: 1}])
def test_pitman_says_where_it_does_not_fit(sizes):
    assert pitman(*arrays(sizes), 1_000) is None


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3])
def test_pitman_finds_the_uniques_of_its_own_populations(fraction):
    """A population grown by Pitman's process: each person founds a class or joins one, as θ and α say."""
    theta, alpha, people = 200.0, 0.5, 20_000
    rng = np.random.default_rng(1)
    classes, owner = [], []
    for n in range(people):
        if rng.random() < (theta + alpha * len(classes)) / (theta + n):
            classes.append(1)
            owner.append(len(classes) - 1)
            continue
        while True:  # join the class of somebody, each class counting alpha less than its people
            one = owner[rng.integers(n)]
            if rng.random() > alpha / classes[one]:
                break
        classes[one] += 1
        owner.append(one)
    population = np.array(classes)
    sizes, counts = sample_of(population, fraction, 2)
    assert pitman(sizes, counts, people) == pytest.approx((population == 1).sum(), rel=0.2)


@pytest.mark.parametrize("fraction", [0.5, 0.7, 0.9])
def test_snb_and_zayatz_find_the_uniques_of_populations_like_theirs(fraction):
    population = 1 + np.random.default_rng(5).negative_binomial(0.5, 0.2, size=20_000)
    sizes, counts = sample_of(population, fraction, 3)
    uniques, people = int((population == 1).sum()), int(population.sum())
    found = (snb(sizes, counts, people), zayatz(sizes, counts, people))
    assert found == (pytest.approx(uniques, rel=0.1), pytest.approx(uniques, rel=0.25))


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3, 0.6])
def test_the_rule_of_dankar(fraction):
    rng = np.random.default_rng(8)
    weights = rng.gamma(0.1, size=100_000)
    population = rng.multinomial(200_000, weights / weights.sum())
    sizes, counts = sample_of(population, fraction, 4)
    found = estimate_uniques(sizes, counts, 200_000)
    if fraction <= 0.1:
        assert (found.chosen, found.dankar) == ("pitman", found.pitman)
    else:
        assert found.dankar == min(found.snb, found.zayatz)
    assert found.dankar == pytest.approx((population == 1).sum(), rel=0.15)


def test_the_rule_falls_back_on_zayatz():
    found = estimate_uniques(*arrays({1: 50}), 1_000)
    assert found.pitman is None
    assert (found.chosen, found.dankar) == ("zayatz", found.zayatz)
    assert found.dankar == pytest.approx(1_000)


def test_without_sample_uniques_there_are_none():
    found = estimate_uniques(*arrays({3: 10}), 1_000)
    assert (found.pitman, found.zayatz, found.snb, found.dankar, found.chosen) == (0, 0, 0, 0, None)


def test_the_whole_population():
    sizes = arrays({1: 12, 2: 7, 5: 1})
    found = estimate_uniques(*sizes, 31)
    assert found.zayatz == pytest.approx(12)
    assert found.snb == 12


@pytest.fixture
def adult_sizes(adult):
    """The class sizes of Adult by all nine columns, as polars counts them."""
    table = pl.read_csv(adult / "adult.csv", separator=";")
    sizes = table.group_by(table.columns).len()["len"].value_counts().sort("len")
    return table.height, sizes["len"].to_numpy(), sizes["count"].to_numpy()


@pytest.mark.parametrize(
    ("fraction", "model", "share"),
    [
        (0.1, "zayatz", 0.3207402393466189),
        (0.2, "zayatz", 0.3577099234829125),
        (1, "zayatz", 0.5142895033485844),
        (1, "dankar", 0.5142895033485844),
    ],
)
def test_estimates_of_adult_are_those_of_arx(adult_sizes, fraction, model, share):
    """What the tests of ARX expect of Adult, for samples of several shares of the population."""
    rows, sizes, classes = adult_sizes
    people = round(rows / fraction)
    assert getattr(estimate_uniques(sizes, classes, people), model) / people == pytest.approx(share, rel=1e-9)


@pytest.mark.parametrize(("fraction", "share"), [(0.1, 0.27684993883653597), (0.01, 0.1446083531167384)])
def test_pitman_of_adult_is_that_of_arx(adult_sizes, fraction, share):
    """ARX takes the limit of Pitman's expectation for large populations; for this one it is a little lower."""
    rows, sizes, classes = adult_sizes
    people = round(rows / fraction)
    theta, alpha = fit(sizes.astype(np.int64), classes.astype(np.int64))
    limit = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * people ** (alpha - 1)
    assert limit == pytest.approx(share, rel=1e-9)
    found = estimate_uniques(sizes, classes, people)
    assert found.chosen == "pitman"
    assert 0.995 * share < found.dankar / people < share
