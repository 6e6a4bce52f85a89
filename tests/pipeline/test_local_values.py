"""Local recoding that shows one value for each class."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from visits import QUASI, SOLVERS, SmallClasses, checked, released, visits


@pytest.mark.parametrize("show", ["mean", "median"])
def test_microaggregation(show: str) -> None:
    table = pl.DataFrame(
        {
            "age": [20, 21, 25, 60, 61, 80],
            "day": [datetime.date(2024, 1, day) for day in (1, 2, 6)]
            + [datetime.date(2025, 6, day) for day in (1, 2, 6)],
            "ward": ["A", "B", "B", "C", "C", "A"],
        }
    ).with_row_index("row")
    release = released(table, ["age", "day", "ward"], privacy="k(3)", scheme=f"local(show={show})")
    checked(table, release, ["age", "day", "ward"], 3, covers=False)
    frame = release.frame
    assert frame["age"].to_list() == ([22.0] * 3 + [67.0] * 3 if show == "mean" else [21.0] * 3 + [61.0] * 3)
    days = [(1, 3), (6, 3)] if show == "mean" else [(1, 2), (6, 2)]
    assert frame["day"].dtype == pl.Date
    assert [(day.month, day.day) for day in frame["day"].unique(maintain_order=True)] == days
    assert frame["ward"].to_list() == ["B"] * 3 + ["C"] * 3


def test_the_most_frequent_value() -> None:
    table = pl.DataFrame(
        {
            "age": [21, 20, 20, 61, 60, 80],
            "day": [datetime.date(2024, 1, day) for day in (6, 6, 2)] + [None, None, datetime.date(2025, 6, 6)],
            "ward": ["A", "B", "B", "C", "C", "A"],
        }
    ).with_row_index("row")
    release = released(table, ["age", "day", "ward"], privacy="k(3)", scheme="local(show=mode)")
    checked(table, release, ["age", "day", "ward"], 3, covers=False)
    frame = release.frame
    assert frame["age"].to_list() == [20.0] * 3 + [60.0] * 3
    assert frame["day"].to_list() == [datetime.date(2024, 1, 6)] * 3 + [None] * 3
    assert frame["ward"].to_list() == ["B"] * 3 + ["C"] * 3
    assert release.stats["covered"]["age"] > 0


@pytest.mark.parametrize("show", ["mean", "median", "mode"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_groups_that_show_the_same_are_one_class_to_every_model(show: str, solver: str) -> None:
    for seed in range(4):
        table, quasi = visits(80, seed), {name: QUASI[name] for name in ("age", "day", "ward")}
        try:
            release = released(
                table, quasi, privacy=["k(3)", SmallClasses(9)], scheme=f"local(show={show})", solver=solver
            )
        except (dc.InfeasibleError, dc.NothingFoundError):
            continue
        checked(table, release, quasi, 3, covers=False)


@pytest.mark.parametrize("show", ["mean", "median", "mode"])
def test_microaggregation_of_every_kind(show: str, constructor: Any) -> None:
    table = visits()
    release = released(constructor(table.with_columns(pl.col("dose").fill_nan(None))), scheme=f"local(show={show})")
    checked(table, release, covers=False)


def test_there_is_no_negative_zero_in_the_middle(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("row,x\n0,-0.0\n1,0.0\n2,-0.0\n3,0.0\n")
    release = released(tmp_path / "x.csv", ["x"], privacy="k(2)", scheme="local(show=median)")
    assert {str(value) for value in release.frame["x"]} == {"0.0"}


def test_a_class_most_of_which_is_missing_shows_nothing() -> None:
    table = pl.DataFrame({"x": [None, None, 5, 7, 8, 8]}).with_row_index("row")
    release = released(table, ["x"], privacy="k(3)", scheme="local(show=mean)")
    assert release.frame["x"].null_count() in (0, 3)
    checked(table, release, ["x"], 3, covers=False)
