"""Rows of an engine that polars puts in order: the same rows and types as the engine writes by itself."""

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.engines import column_profile as _look
from discreet.engines import open_source
from discreet.engines import shuffle as _shuffle
from discreet.engines.relation.duckdb import DuckDB
from discreet.engines.relation.relation import Relation
from discreet.errors import DataError
from lazy import duckdb

N = 600
SETTINGS: dict[str, Any] = {"quasi_identifiers": {"sex": None, "city": None}, "privacy": "k(2)"}


def table() -> pl.DataFrame:
    """Return rows of all types that DuckDB sends, some of them missing."""
    some = range(N)
    columns = {
        "sex": ["f", "m", None] * (N // 3),
        "city": [f"a town with a longer name {number % 4}" for number in some],
        "flag": [True, None] * (N // 2),
        "amount": [0.0, -0.0, float("nan"), 1.5, None, -2.0] * (N // 6),
        "day": [date(2020, 1, 1 + number % 28) for number in some],
        "time": [datetime(2020, 1, 1, number % 24) for number in some],
        "price": pl.Series([Decimal(number) / 4 for number in some], dtype=pl.Decimal(9, 2)),
        "number": list(some),
        "text": [f"text {number}" for number in some],
    }
    whole = [pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
    numbers = {str(dtype): pl.Series([number % 50 for number in some], dtype=dtype) for dtype in whole}
    return pl.DataFrame({**columns, **numbers, "small": pl.Series([0.5] * N, dtype=pl.Float32)})


def as_text(rows: pl.DataFrame) -> list[str]:
    return sorted(repr(row) for row in rows.rows())


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_same_rows_and_types_in_any_order(
    tmp_path: Path, suffix: str, in_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb()
    if not in_memory:
        monkeypatch.setattr(_shuffle, "IN_MEMORY", 0)
    table().write_parquet(tmp_path / "people.parquet")
    keep = [name for name in table().columns if name not in SETTINGS["quasi_identifiers"]]
    found = {}
    for engine in ("polars", "duckdb"):
        for order in ("keep", "random"):
            output = tmp_path / f"{engine}-{order}.{suffix}"
            settings = {**SETTINGS, "keep": keep, "engine": engine, "order": order}
            dc.anonymize(tmp_path / "people.parquet", output=output, **settings)
            found[engine, order] = dc.engines.to_lazy(output).collect()
    for engine in ("polars", "duckdb"):
        kept, random = found[engine, "keep"], found[engine, "random"]
        assert as_text(random) == as_text(kept)
        assert random.schema == kept.schema
        assert random.rows() != kept.rows()
    assert not list(tmp_path.glob(".*"))


def test_types_arrow_has_no_form_for_are_left_to_duckdb() -> None:
    rows = duckdb().connect().sql("SELECT 1 AS x, uuid() AS y")
    assert DuckDB().stream(rows) is None
    assert DuckDB().stream(rows.project("x")) is not None
    for other in ("'{}'::JSON", "1::HUGEINT", "now()", "[1]", "{'a': 1}", "'a'::BLOB"):
        assert DuckDB().stream(rows.project(f"{other} AS z")) is None


def test_numbers_in_place_of_an_enum() -> None:
    rows = duckdb().connect().sql("SELECT unnest(['b', NULL, 'a', 'b'])::ENUM('a', 'b') AS x, 1 AS y")
    stream = DuckDB().stream(rows)
    assert stream is not None
    (batch,) = stream.batches(10)
    assert batch.schema == stream.schema == pl.Schema({"x": pl.UInt8(), "y": pl.Int32()})
    assert stream.released == pl.Schema({"x": pl.String(), "y": pl.Int32()})
    assert stream.as_released(batch["x"]).to_list() == ["b", None, "a", "b"]


def test_what_duckdb_says_of_cells_is_not_shown() -> None:
    connection = duckdb().connect()
    cell = "CASE WHEN i = 9000 THEN 'secret' ELSE '1' END"
    relation = Relation(connection.sql(f"SELECT ({cell})::INT AS x FROM range(10000) t(i)"), DuckDB())
    stream = relation.backend.stream(relation.native)
    assert stream is not None
    with pytest.raises(DataError, match="cannot be run") as caught, relation.running():
        list(stream.batches(100))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", [pl.String(), pl.Categorical(), pl.Enum(["a", "b", "c", "never"])])
def test_text_that_stays_is_a_number_until_it_is_written(
    tmp_path: Path, text: pl.DataType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_shuffle, "IN_MEMORY", 0)
    people = pl.DataFrame({"x": pl.Series(["a", "b", None, "c"] * 50, dtype=text), "y": range(200)})
    found = {}
    for order in ("keep", "random"):
        output = tmp_path / f"{order}.parquet"
        release = dc.anonymize(
            people.lazy(), quasi_identifiers={"x": None}, keep="y", privacy="k(2)", output=output, order=order
        )
        found[order] = pl.read_parquet(output)
    assert release.table.shuffle.coded == (("x",) if text == pl.String else ())
    assert release.rows_of(people.lazy()).to_list() == found["random"]["y"].to_list()
    assert found["random"].sort("y").equals(found["keep"])
    assert found["random"].schema == found["keep"].schema


def test_large_tables_are_counted_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = duckdb().connect().sql("SELECT i AS own, i // 2 AS shared, i % 3 AS few FROM range(200000) t(i)")
    monkeypatch.setattr("discreet.engines.relation.column_profile.EXACT", 20_000)
    facts = open_source(rows).profile(["own", "shared", "few"]).facts
    assert facts["own"].unique == pytest.approx(200_000, rel=0.05)
    assert facts["own"].distinct == pytest.approx(200_000, rel=0.05)
    assert facts["shared"].distinct == pytest.approx(100_000, rel=0.05)
    assert facts["shared"].unique == facts["few"].unique == 0
    assert not any(each.exact for each in facts.values())
    monkeypatch.setattr("discreet.engines.relation.column_profile.EXACT", _look.EXACT)
    exact = open_source(rows).profile(["own", "shared"]).facts
    assert exact["own"].exact
    assert (exact["own"].unique, exact["shared"].distinct) == (200_000, 100_000)
