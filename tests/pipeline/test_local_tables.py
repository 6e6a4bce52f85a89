"""Local recoding of every kind of table: frames, files, missing values, and tables that are small or extreme."""

from __future__ import annotations

import datetime
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.engines import open_table, to_lazy
from visits import QUASI, SOLVERS, SmallClasses, checked, released, visits

# --- kinds of tables --------------------------------------------------------------------------------------------------


def test_every_kind_of_table(constructor: Any) -> None:
    table = visits()
    release = released(constructor(table.with_columns(pl.col("dose").fill_nan(None))))
    checked(table, release)
    assert release.classes > 5


def test_the_same_kind_comes_out(frame_constructor: Any) -> None:
    given = frame_constructor(visits())
    assert type(released(given).frame) is type(given)


@pytest.mark.parametrize("name", ["safe.csv", "safe.parquet", "safe.jsonl", "safe.tsv.gz"])
def test_every_kind_of_file(name: str, tmp_path: Path) -> None:
    table = visits()
    release = released(table, output=tmp_path / name, sensitive="disease", privacy=["k(4)", "distinct-l(2)"])
    checked(table, release)
    assert open_table(tmp_path / name).scan().collect().height == table.height
    again = dc.audit(
        tmp_path / name, quasi_identifiers=list(QUASI), sensitive="disease", privacy=["k(4)", "distinct-l(2)"]
    )
    assert again.passed


def test_nan_and_negative_zero_are_no_values_of_their_own(frame_constructor: Any) -> None:
    table = pl.DataFrame({"x": [0.0, -0.0, 0.0, float("nan"), None, float("nan"), 1.5, 1.5, 1.5]}).with_row_index("row")
    release = released(frame_constructor(table), ["x"], privacy="k(3)")
    checked(table, release, ["x"], 3)
    assert (release.cost, release.classes, release.status) == (0.0, 3, "optimal")


def test_columns_that_need_no_change_keep_their_type() -> None:
    table = pl.DataFrame(
        {
            "x": [1.5, 1.5, 2.5, 2.5],
            "day": [datetime.date(2024, 1, 1)] * 4,
            "c": pl.Series(list("aabb"), dtype=pl.Categorical),
            "age": [1, 2, 3, 4],
        }
    ).with_row_index("row")
    release = released(table, ["x", "day", "c", "age"], privacy="k(2)")
    assert release.frame.drop("age").equals(table.drop("age"))
    assert release.frame["age"].to_list() == ["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"]
    assert release.released_values["age"] == 2


def test_equal_rows_may_go_to_different_classes() -> None:
    table = pl.DataFrame({"x": [1] * 2 + [5] * 6}).with_row_index("row")
    release = released(table, ["x"], privacy="k(3)")
    checked(table, release, ["x"], 3)
    assert release.frame["x"][2:].n_unique() == 2
    assert release.cost == pytest.approx(3)


def test_odd_names_of_columns() -> None:
    names = ["group", "tuple", "place", "code0", "shown0", "dealt", "rows", "count", "leaf", "level_0"]
    rng = random.Random(2)
    columns = {name: [rng.choice([1, 1, 2, 3, 9]) for _ in range(60)] for name in names}
    table = pl.DataFrame({**columns, "value": ["a", "b", "c"] * 20, "code1": [*range(60)]}).with_row_index("row")
    quasi = names[:5]
    for show in ("cover", "mean"):
        release = released(
            table, quasi, scheme=f"local(show={show})", sensitive="value", privacy=["k(3)", "distinct-l(2)"]
        )
        assert release.frame.columns == table.columns
        checked(table, release, quasi, 3, covers=show == "cover")


def test_texts_that_look_like_something_else() -> None:
    odd = ["{a, b}", "a", "b", 'say "x"', "a or missing", None, "*", "[1, 2]", "x, y", " ", "ä"]
    rng = random.Random(3)
    table = pl.DataFrame({"t": [rng.choice(odd) for _ in range(40)], "u": [rng.choice("pq") for _ in range(40)]})
    table = table.with_row_index("row")
    release = released(table, ["t", "u"], privacy="k(5)")
    leaves = [text for text in odd if text is not None]
    shown = release.frame["t"].to_list()
    blocks = [dc.parse_block(text, leaves) for text in shown]
    assert all(value in block for value, block in zip(table["t"], blocks, strict=True))


def test_spellings_of_one_number_are_one_value() -> None:
    table = pl.DataFrame({"x": ["1.5", "1.50", "2", "2.0"], "row": range(4)})
    release = released(table, ["x"], privacy="k(2)")
    assert release.cost == 0.0
    assert release.frame["x"].n_unique() == 2


def test_empty_text_in_a_sensitive_column_of_a_file(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": [*range(12)], "s": ["", None, "a", "b"] * 3}).with_row_index("row")
    promised: dict[str, Any] = {"sensitive": "s", "output": tmp_path / "safe.csv"}
    release = released(table, ["x"], privacy=["k(2)", "distinct-l(3, s)"], missing_sensitive="value", **promised)
    checked(table, release, ["x"], 2)
    checked(table, released(table, ["x"], privacy=["k(2)", "distinct-l(2, s)"], **promised), ["x"], 2)
    with pytest.raises(dc.InfeasibleError, match="the whole table has 2"):
        released(table, ["x"], privacy=["k(2)", "distinct-l(3, s)"], **promised)


def test_times_of_day_and_whole_numbers_without_end() -> None:
    when = [datetime.datetime(2024, 1, 1 + day, 12, 30) for day in range(8)]
    table = pl.DataFrame({"when": when, "n": [10**15 + i for i in range(8)]}).with_row_index("row")
    for show in ("cover", "mean", "median", "mode"):
        release = released(table, ["when", "n"], privacy="k(4)", scheme=f"local(show={show})")
        checked(table, release, ["when", "n"], 4, covers=show == "cover")


# --- missing values ---------------------------------------------------------------------------------------------------


def test_rows_with_missing_values_may_be_left_out(frame_constructor: Any) -> None:
    """A sensitive value that only rows left out have is no value of the release."""
    table = visits().with_columns(disease=pl.when(pl.col("age").is_null()).then(pl.lit("rare")).otherwise("disease"))
    settings: dict[str, Any] = {"sensitive": "disease", "privacy": ["k(4)", "distinct-l(2)"], "missing": "suppress"}
    release = released(frame_constructor(table), ["age", "ward"], **settings)
    checked(table.drop_nulls("age"), release, ["age", "ward"])
    assert release.dropped_missing == table["age"].null_count()
    with pytest.raises(dc.DataError, match="missing"):
        released(table, ["age"], missing="error")


# --- small and extreme tables -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_row(solver: str) -> None:
    table = pl.DataFrame({"x": [3], "t": ["a"], "row": [0]})
    release = released(table, ["x", "t"], privacy="k(1)", solver=solver)
    assert release.frame.equals(table)
    assert (release.cost, release.status) == (0.0, "optimal")


@pytest.mark.parametrize("solver", SOLVERS)
def test_constant_columns(solver: str) -> None:
    table = pl.DataFrame({"x": [3] * 9, "none": pl.Series([None] * 9, dtype=pl.Float64), "y": [*range(9)]})
    table = table.with_row_index("row")
    release = released(table, ["x", "none", "y"], privacy="k(3)", solver=solver)
    checked(table, release, ["x", "none", "y"], 3)
    alone = released(table, ["x", "none"], privacy="k(3)", solver=solver)
    assert (alone.cost, alone.classes) == (0.0, 1)


@pytest.mark.parametrize("solver", SOLVERS)
def test_k_of_the_whole_table(solver: str) -> None:
    table = visits(30)
    release = released(table, privacy=f"k({len(table)})", solver=solver)
    checked(table, release, k=len(table))
    assert release.classes == 1


def test_more_than_there_are_rows() -> None:
    with pytest.raises(dc.DiscreetError, match="rows"):
        released(visits(3), privacy="k(50)")


def test_what_can_never_be_kept() -> None:
    table = visits().with_columns(pl.when(pl.col("row") > 3).then(pl.lit("flu")).otherwise("disease").alias("disease"))
    settings: dict[str, Any] = {"sensitive": "disease"}
    with pytest.raises(dc.DiscreetError, match=r"l\+\(0.5, disease\)"):
        released(table, privacy="l+(0.5, disease)", **settings)
    with pytest.raises(dc.NothingFoundError, match="no proof that there is none"):  # nothing is known of the model
        released(table, privacy=["k(2)", SmallClasses(1)], **settings)


def test_nothing_left() -> None:
    table = visits()
    release = released(table, privacy=["k(2)", SmallClasses(1)], suppression="class-records")
    assert to_lazy(release.frame).collect().height == 0
    assert release.suppressed == len(table)
    assert any("Every row was suppressed" in note for note in release.notes)


@pytest.mark.parametrize("least", [2**53, 2**63 - 10, -(2**63)])
def test_differences_of_very_large_numbers_count(least: int) -> None:
    small = [3] * 3 + [5] * 3 + [7] * 6 + [9] * 6
    costs = [
        dc.anonymize(
            pl.DataFrame({"x": [add + number for number in small]}),
            quasi_identifiers=["x"],
            privacy="k(6)",
            cost="NCP",
            scheme="local",
            seed=1,
        ).cost
        for add in (0, least)
    ]
    assert costs == [2.0, 2.0]
