"""The log-linear model of the population, compared with a Poisson regression on the table of all combinations."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import polars as pl
import pytest

from discreet.evaluate import risk
from discreet.evaluate.risk.log_linear import log_linear_risk


def regression(counts, features):
    """The fitted means of a Poisson regression with a log link, by Newton's method."""
    y = np.array(counts, dtype=float)
    fitted = y + 0.5
    for _ in range(100):
        working = np.log(fitted) + (y - fitted) / fitted
        root = np.sqrt(fitted)[:, np.newaxis]
        fitted = np.exp(features @ np.linalg.lstsq(features * root, working * root[:, 0], rcond=None)[0])
    return fitted


def design(cells):
    """A constant, and a column for each value of each column."""
    columns = [[1.0] * len(cells)]
    for i in range(len(cells[0])):
        columns += [[float(cell[i] == value) for cell in cells] for value in sorted({cell[i] for cell in cells})]
    return np.array(columns).T


def expectations(counts, fitted, fraction):
    """How many unique cells are unique in the population, and the sum of 1 / F, if F - 1 is Poisson."""
    uniques = matches = 0.0
    for count, mean in zip(counts, fitted, strict=True):
        if count == 1:
            others = mean / fraction * (1 - fraction)
            uniques += math.exp(-others)
            matches += sum(math.exp(-others) * others**more / math.factorial(more) / (more + 1) for more in range(60))
    return uniques, matches


@pytest.mark.parametrize("seed", range(6))
def test_as_a_regression(seed):
    rng = random.Random(seed)
    cells = list(itertools.product(range(2), range(3), range(2)))
    shown = {cell: rng.choice([1, 1, 2, 3, 5]) for cell in cells}
    del shown[rng.choice(cells)]  # a combination that does not occur counts as 0
    fraction = rng.choice([0.1, 0.3, 0.6])
    counts = [shown.get(cell, 0) for cell in cells]
    codes = [np.array(code) for code in zip(*shown, strict=True)]
    found = log_linear_risk(codes, np.array(list(shown.values())), fraction)
    expected = expectations(counts, regression(counts, design(cells)), fraction)
    assert (found.uniques, found.matches) == pytest.approx(expected, rel=1e-6)


def test_a_whole_population_has_no_doubt():
    codes = [np.array([0, 1, 1]), np.array([0, 0, 1])]
    found = log_linear_risk(codes, np.array([1, 1, 4]), 1.0)
    assert found.uniques == found.matches == 2


def test_columns_that_are_independent():
    """People drawn from a population that is as the model assumes."""
    rng = np.random.default_rng(1)
    n = 40_000
    people = pl.DataFrame({"region": rng.geometric(0.1, n), "sex": rng.integers(0, 2, n), "job": rng.geometric(0.1, n)})
    drawn = people.sample(2000, seed=1)
    report = risk(drawn, quasi_identifiers=people.columns, population=n)
    of_each = drawn.join(people.group_by(people.columns).len("F"), on=people.columns)
    alone = of_each.filter(pl.len().over(people.columns) == 1)
    assert report.log_linear.matches == pytest.approx((1 / alone["F"]).sum(), rel=0.15)
    assert report.to_dict()["log_linear"] == report.log_linear.to_dict()
    assert "By a log-linear model with main effects, " in report.summary()


def test_without_a_population():
    report = risk(pl.DataFrame({"a": [1, 2, 2]}), quasi_identifiers=["a"])
    assert report.log_linear is None
    assert report.to_dict()["log_linear"] is None
