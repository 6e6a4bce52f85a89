"""Which original row each released row is, whatever was suppressed."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import discreet as dc

RANDOM = Random(3)
PEOPLE = pl.DataFrame(
    {
        "number": range(200),
        "age": [RANDOM.choice([*range(20, 80), None]) for _ in range(200)],
        "sex": [RANDOM.choice("fm") for _ in range(200)],
        "ill": [RANDOM.choice("abc") for _ in range(200)],
    }
)


@pytest.mark.parametrize(
    "asked",
    [
        {"suppression": "budget(20%)"},
        {"suppression": "none", "missing": "suppress"},
        {"suppression": "budget(10%)", "scheme": "local", "seed": 1},
        {"suppression": "violating-records", "scheme": "subtree", "privacy": ["l+(0.4, ill)"], "sensitive": "ill"},
        {"suppression": "class-records", "scheme": "subtree", "sensitive": "ill"},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_rows(asked: dict[str, Any], kind: str, tmp_path: Path) -> None:
    data: Any = PEOPLE
    if kind == "csv":
        data = tmp_path / "people.csv"
        PEOPLE.write_csv(data)
    settings = {
        "privacy": "k(4)",
        "quasi_identifiers": {"age": "intervals(5, 10, 20)", "sex": "flat"},
        "keep": "number",
        **asked,
    }
    release = dc.anonymize(data, **settings)
    expected = release.frame["number"].cast(pl.Int64).to_list()
    assert release.rows_of(data).to_list() == expected
    assert expected == sorted(expected)


def test_nothing_is_changed_by_asking() -> None:
    settings: dict[str, Any] = {"quasi_identifiers": {"age": "intervals(20)"}, "privacy": "k(3)", "keep": "number"}
    release = dc.anonymize(PEOPLE, **settings, suppression="budget(5%)")
    before = release.frame.clone()
    release.rows_of(PEOPLE)
    assert release.frame.equals(before)


SINGLE_RECORDS = {
    "suppression": "violating-records",
    "scheme": "subtree",
    "privacy": ["l+(0.4, ill)"],
    "quasi_identifiers": {"age": "intervals(5, 10, 20)", "sex": "flat"},
    "sensitive": "ill",
    "keep": "number",
    "engine": "duckdb",
}


@pytest.mark.parametrize("output", [None, "safe.csv"])
def test_an_engine_without_an_order_of_rows(output: str | None, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    place = None if output is None else tmp_path / output
    release = dc.anonymize(tmp_path / "people.parquet", **SINGLE_RECORDS, output=place)
    assert release.suppressed
    for call in (lambda: release.rows_of(PEOPLE), lambda: release.utility(only_released=True)):
        with pytest.raises(dc.UsageError, match="keeps no order of rows; make it with engine='polars'"):
            call()
    if output is not None:
        assert release.utility().original_rows == 200  # measured on what was really released
        page = release.report(tmp_path / "report.md").read_text(encoding="utf-8")
        assert "This was not measured: Which of several equal rows were left out is not known" in page


def test_an_engine_that_leaves_out_whole_classes(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    settings = {**SINGLE_RECORDS, "suppression": "budget(20%)", "privacy": "k(4)"}
    release = dc.anonymize(tmp_path / "people.parquet", **settings, output=tmp_path / "safe.csv", order="keep")
    assert release.suppressed
    assert set(release.rows_of(PEOPLE)) == set(release.frame["number"].cast(int))
