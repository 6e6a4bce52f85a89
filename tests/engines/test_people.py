"""People are numbered and counted alike on every engine, and none of their values comes back."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from databases import DATABASES, fill
from discreet.engines import Engine, Recoding, count, open_source, to_lazy
from discreet.engines.polars import source as polars_source
from discreet.engines.polars.people import numbers_of
from discreet.errors import DataError
from discreet.schema import Schema
from lazy import ENGINES, make_relation, rows_of

QUASI = {"age": "intervals(5, 10, 20)", "sex": "flat"}
KINDS = ("polars", "pandas", "pyarrow", "lazy", "csv", "csv not held", "parquet", "jsonl", "csv by duckdb")


def visits() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    person = rng.integers(0, 30, 120)
    born = rng.integers(20, 40, 30)
    return pl.DataFrame(
        {
            "age": born[person] + rng.integers(0, 3, 120),
            "pid": [f"QZ{number * 7919 % 1000:03d}" for number in person],
            "sex": pl.Series(["f", "m"]).gather(born[person] % 2),
            "ill": pl.Series(["flu", "hiv", None, "cold"], dtype=pl.String).gather(rng.integers(0, 4, 120)),
        }
    )


def as_kind(kind: str, table: pl.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Engine | None]:
    """The table as a source of some kind, and the engine that reads it."""
    if kind == "pandas":
        return table.to_pandas().set_index(np.arange(table.height)[::-1]), None
    if kind == "pyarrow":
        return table.to_arrow(), None
    if kind in ("polars", "lazy"):
        return table if kind == "polars" else table.lazy(), None
    form = kind.split()[0]
    path = folder / f"visits.{form}"
    {"csv": table.write_csv, "parquet": table.write_parquet, "jsonl": table.write_ndjson}[form](path)
    if kind == "csv not held":
        monkeypatch.setattr(polars_source, "HELD", 0)
    return path, Engine("duckdb") if "duckdb" in kind else None


def check(data: Any, engine: Engine | None = None) -> None:
    """Compare what an engine counts with sets in plain Python."""
    source = open_source(data, engine)
    source.number_people(["pid"])
    numbers = source.count(["pid"])
    assert numbers["pid"].dtype.is_integer()
    assert numbers.height == visits()["pid"].n_unique()
    schema = Schema.make(source.columns, (), QUASI, "ill").with_owners("pid")
    counted = count(source, schema)
    people = counted.table.people
    assert people is not None
    rows = visits().to_dicts()
    assert people.count == len({row["pid"] for row in rows})
    assert people.members.size == len({(row["age"], row["sex"], row["pid"]) for row in rows})
    assert people.rows.sum() == len(rows)
    expected = _expected()
    for name in ("offsets", "members", "rows"):
        assert np.array_equal(getattr(people, name), getattr(expected, name)), name
    values = people.sensitive["ill"]
    assert np.array_equal(values.people, expected.sensitive["ill"].people)
    assert np.array_equal(values.totals, expected.sensitive["ill"].totals)
    assert counted.owners is not None
    gone = pl.Series(counted.owners.numbers[:4], dtype=pl.Int64)
    left = rows_of(source.collect(source.recode(Recoding(drop=("ill",), left_out={"pid": gone}))))
    assert left.height == len(rows) - people.row_counts[:4].sum()
    assert left["pid"].n_unique() == people.count - 4


def _expected() -> Any:
    source = open_source(visits())
    source.number_people(["pid"])
    return count(source, Schema.make(source.columns, (), QUASI, "ill").with_owners("pid")).table.people


@pytest.mark.parametrize("kind", KINDS)
def test_frames_and_files(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "duckdb" in kind:
        pytest.importorskip("duckdb")
    check(*as_kind(kind, visits(), tmp_path, monkeypatch))


@pytest.mark.parametrize("engine", ENGINES)
def test_relations(engine: str) -> None:
    check(make_relation(engine, visits()))


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("pseudonyms", [False, True])
def test_databases(database: str, pseudonyms: bool, place: Callable[[str, str], str], tmp_path: Path) -> None:
    url = fill(place(database, "visits"), visits())
    check(url)
    expected = dc.anonymize(visits(), **JOB)
    for output in (None, place(database, "safe"), tmp_path / "safe.csv"):
        release = dc.anonymize(url, **JOB, pseudonyms=pseudonyms, output=output)
        assert (release.cost, release.audit.people) == (expected.cost, expected.audit.people)
        assert "QZ" not in str(rows_of(release.frame).to_dict(as_series=False))
    from_frame = dc.anonymize(visits(), **JOB, pseudonyms=pseudonyms, output=place(database, "other"))
    assert from_frame.audit.people == expected.audit.people


JOB: dict[str, Any] = {
    "quasi_identifiers": QUASI,
    "sensitive": "ill",
    "privacy": ["k(3)", "distinct-l(2, ill)"],
    "suppression": "budget(0.5)",
    "person": "pid",
    "seed": 1,
}


@pytest.mark.parametrize("pseudonyms", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_release(kind: str, pseudonyms: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "duckdb" in kind:
        pytest.importorskip("duckdb")
    data, engine = as_kind(kind, visits(), tmp_path, monkeypatch)
    release = dc.anonymize(data, **JOB, pseudonyms=pseudonyms, engine=engine.name if engine else "auto")
    expected = dc.anonymize(visits(), **JOB, pseudonyms=pseudonyms)
    assert release.cost == expected.cost
    assert (release.audit.people, release.people) == (expected.audit.people, expected.people)
    columns = ["age", "sex"]
    found = rows_of(release.frame)
    assert sorted(found.select(columns).cast(pl.String).rows()) == sorted(
        expected.frame.select(columns).cast(pl.String).rows()
    )
    assert ("pid" in found.columns) == pseudonyms


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pseudonyms", [False, True])
def test_releases_of_relations(engine: str, pseudonyms: bool, tmp_path: Path) -> None:
    expected = dc.anonymize(visits(), **JOB)
    release = dc.anonymize(make_relation(engine, visits()), **JOB, pseudonyms=pseudonyms)
    assert (release.cost, release.audit.people) == (expected.cost, expected.audit.people)
    written = dc.anonymize(
        make_relation(engine, visits()), **JOB, pseudonyms=pseudonyms, output=tmp_path / "safe.parquet"
    )
    assert written.audit.people == expected.audit.people
    assert "QZ" not in str(rows_of(release.frame).to_dict(as_series=False))


def test_lists_are_no_people() -> None:
    source = open_source(pl.DataFrame({"pid": [[1], [2]], "age": [1, 2]}))
    with pytest.raises(DataError, match="lists"):
        source.number_people(["pid"])


def test_floats_and_categories() -> None:
    texts = pl.Series(["x", "y", "x", None], dtype=pl.Categorical)
    table = pl.DataFrame({"a": [1.0, -0.0, 0.0, float("nan")], "b": texts})
    source = open_source(table)
    source.number_people(["a", "b"])
    frame = to_lazy(source.recode(Recoding())).collect()
    assert frame["a"].to_list() == [1, 0, 0, None]
    assert frame["b"].to_list() == [0, 1, 0, None]


DRAWS: dict[str, Callable[[random.Random], Any]] = {
    "whole numbers in text": lambda rng: str(rng.randint(1, 120)),
    "other forms of numbers": lambda rng: rng.choice(
        ["17", "017", "+17", " 17", "1", "10", "9", "-3", "-0", "0", "1.0"]
    ),
    "long numbers": lambda rng: str(rng.randint(1, 10**17)),
    "text": lambda rng: rng.choice(["a", "b", "ä", "", "1", "２"]),
    "numbers": lambda rng: rng.randint(-5, 2**62),
    "flags": lambda rng: rng.choice([True, False]),
}


@pytest.mark.parametrize("kind", DRAWS)
def test_people_are_numbered_in_the_order_of_their_values(kind: str) -> None:
    rng = random.Random(7)
    for _ in range(150):
        values = [None if rng.random() < 0.1 else DRAWS[kind](rng) for _ in range(rng.randint(1, 12))]
        in_order = sorted({value for value in values if value is not None})
        expected = [None if value is None else in_order.index(value) for value in values]
        assert numbers_of(pl.Series(values)).to_list() == expected
