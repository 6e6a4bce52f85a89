"""Models know the numbers behind the labels of a numeric sensitive column, in the search and in the audit."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.errors import UsageError
from discreet.problem.privacy import SensitiveModel


@dataclass(frozen=True)
class Spread(SensitiveModel):
    """The sensitive numbers of every class differ by at least ``least``."""

    name = "spread"
    plain = ("attribute",)
    union_closed = True
    superset_closed = True

    least: float
    attribute: str | None = None

    def ok(self, classes):
        counts, numbers = self.counts(classes), self.numbers(classes.table)
        high = np.where(counts > 0, numbers, -np.inf).max(axis=1)
        low = np.where(counts > 0, numbers, np.inf).min(axis=1)
        return high - low >= self.least

    def reached(self, groups):
        spreads = [
            np.ptp(groups.positions[groups.value[(groups.group == group) & (groups.count > 0)]])
            for group in range(groups.sizes.size)
        ]
        return float(min(spreads, default=np.inf))

    def satisfied_by(self, reached):
        return reached >= self.least


def people(rows=240, seed=1):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "town": rng.choice(["Bath", "Leeds", "York"], rows),
            "income": rng.integers(0, 100, rows),
        }
    )


def by_hand(frame, column="income"):
    """The least spread of the numbers of a released class."""
    classes = frame.group_by("age", "sex", "town").agg((pl.col(column).max() - pl.col(column).min()).alias("spread"))
    return classes["spread"].min()


@pytest.mark.parametrize(
    ("scheme", "solver"),
    [
        ("full-domain", "lattice"),
        ("subtree", "cuts"),
        ("subtree", "annealing"),
        ("ordered", "partitions"),
        ("local", "local"),
        ("local", "mondrian"),
    ],
)
def test_the_range_of_a_number(scheme, solver):
    release = dc.anonymize(
        people(),
        quasi_identifiers={"age": "intervals(5, 10, 20)", "sex": None, "town": None},
        sensitive=["income"],
        privacy=["k(3)", Spread(40)],
        suppression="budget(0.3)",
        scheme=scheme,
        solver=solver,
        seed=1,
        time_limit=10,
        keep=["income"],
    )
    assert release.audit.passed
    check = next(each for each in release.audit.checks if each.model == "spread(40, income)")
    assert check.reached == by_hand(release.frame) >= 40


def test_numbers_that_are_text_in_the_file(tmp_path):
    frame = people().with_columns(pl.col("income").cast(pl.String))
    release = dc.anonymize(
        frame,
        quasi_identifiers=["age", "sex", "town"],
        sensitive=["income"],
        privacy=[Spread(40)],
        suppression="class-records",
        output=tmp_path / "safe.csv",
        keep=["income"],
    )
    assert release.audit.passed
    assert by_hand(pl.read_csv(tmp_path / "safe.csv")) >= 40


def test_dates_are_days():
    day = datetime.date(2024, 1, 1)
    frame = people().with_columns(
        pl.Series("income", [day + datetime.timedelta(days=int(n)) for n in people()["income"]])
    )
    release = dc.anonymize(
        frame,
        quasi_identifiers=["age", "sex", "town"],
        sensitive=["income"],
        privacy=Spread(40),
        suppression="class-records",
        keep=["income"],
    )
    assert release.audit.passed
    assert by_hand(release.frame) >= datetime.timedelta(days=40)


def test_text_has_no_numbers():
    frame = people().with_columns(income=pl.lit("much"))
    with pytest.raises(UsageError, match="looks at numbers, and 'income' holds text"):
        dc.anonymize(frame, quasi_identifiers=["age", "sex"], sensitive=["income"], privacy=Spread(40), keep=["town"])
