"""The contracts discreet ships, on parts that are not its own, and each part at work."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from discreet_neighbourly.crowding import Crowding
from discreet_neighbourly.descent import DescentSolver
from discreet_neighbourly.p_sensitive import PSensitive

import discreet as dc
from discreet.testing import (
    CostContract,
    PrivacyModelContract,
    SolverContract,
    all_histograms,
    as_classes,
    random_table,
)


class TestPSensitive(PrivacyModelContract):
    @pytest.fixture(params=[(1, 1), (2, 2), (2, 5), (3, 4), (4, 4)], ids=str)
    def model(self, request: pytest.FixtureRequest) -> PSensitive:
        return PSensitive(*request.param)

    def test_agrees_with_the_definition(self, model: PSensitive) -> None:
        histograms = all_histograms(4, 3)
        table = random_table(np.random.default_rng(1))
        ok = self.resolved(model).ok(as_classes(table, histograms)).tolist()
        assert ok == [sum(h) >= model.k and sum(n > 0 for n in h) >= model.p for h in histograms.tolist()]


class TestCrowding(CostContract):
    @pytest.fixture(params=[0.5, 1, 2])
    def cost(self, request: pytest.FixtureRequest) -> Crowding:
        return Crowding(request.param)

    def test_agrees_with_the_definition(self) -> None:
        people = dc.sample(300, seed=1).select("sex", "education")
        release = dc.anonymize(people, quasi_identifiers=["sex", "education"], privacy="k(5)", cost="crowding")
        sizes = release.frame.group_by("sex", "education").len()["len"].to_list()
        assert release.cost == pytest.approx(sum(size * math.log(size) for size in sizes))


class TestDescent(SolverContract):
    trials: ClassVar[int] = 25

    @pytest.fixture
    def solver(self) -> DescentSolver:
        return DescentSolver()


def test_all_three_by_their_text_forms() -> None:
    people = dc.sample(500, seed=2).select("sex", "education", "marital_status", "diagnosis").drop_nulls()
    chosen = {
        "quasi_identifiers": ["sex", "education", "marital_status"],
        "sensitive": ["diagnosis"],
        "privacy": "p-sensitive(3, 5, diagnosis)",
        "cost": "crowding",
    }
    quick = dc.anonymize(people, **chosen, solver="descent")
    best = dc.anonymize(people, **chosen)  # the model and the cost work with every solver
    assert quick.audit.passed
    assert best.status == "optimal"
    assert quick.lower_bound <= best.cost <= quick.cost
    classes = quick.frame.group_by("sex", "education", "marital_status")
    told = classes.agg(rows=pl.len(), values=pl.col("diagnosis").n_unique())
    assert told["rows"].min() >= 5
    assert told["values"].min() >= 3
