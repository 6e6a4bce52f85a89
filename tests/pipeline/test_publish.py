"""Whatever is written is read back in its format and audited, by whichever way it leaves."""

from __future__ import annotations

import gzip
import pickle
import sqlite3
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
import discreet.pipeline.staging as staging
from depth import DEEP
from discreet.errors import AuditError, DiscreetError, OutputError, UsageError
from discreet.pipeline.output import FolderOutput, Output, SparkOutput, TableOutput

FORMATS = ["csv", "tsv", "csv.gz", "jsonl", "parquet", "xlsx", "folder", "sqlite", "duckdb"]
NOON = datetime(2020, 1, 1, 12)


def place(kind: str, folder: Path) -> str:
    if kind in ("sqlite", "duckdb"):
        return f"{kind}:///{folder}/safe.db?table=people"
    return f"{folder}/safe/" if kind == "folder" else f"{folder}/safe.{kind}"


def with_output(table: Any, output: str, **job: Any) -> None:
    dc.anonymize(table, **job, output=output)


def later(table: Any, output: str, **job: Any) -> None:
    dc.anonymize(table, **job).write(output)


def for_spreadsheets(table: Any, output: str, **job: Any) -> None:
    dc.anonymize(table, **job).write(output, for_spreadsheets=True)


def applied(table: Any, output: str, **job: Any) -> None:
    dc.apply_mapping(dc.anonymize(table, **job).to_mapping(), table, output=output)


def without_broken(table: Any, output: str, **job: Any) -> None:
    dc.apply_mapping(dc.anonymize(table, **job).to_mapping(), table, broken="suppress", output=output)


def fitted(table: Any, output: str, **job: Any) -> None:
    dc.Anonymizer(**job).fit(table).release_.write(output)


def of_a_front(table: Any, output: str, **job: Any) -> None:
    front = dc.pareto(table, **{**job, "privacy": ["k", "distinct-l"]})
    front.release(k=[2, 2], output=output)


WAYS = [with_output, later, for_spreadsheets, applied, without_broken, fitted, of_a_front]


def diversity(kind: str, folder: Path) -> int:
    """Count the fewest sensitive values of a class in the bytes, in the plainest way."""
    if kind == "sqlite":
        rows = sqlite3.connect(folder / "safe.db").execute("SELECT q, s FROM people").fetchall()
    elif kind == "duckdb":
        import duckdb

        rows = duckdb.connect(str(folder / "safe.db")).execute("SELECT q, s FROM people").fetchall()
    else:
        file = folder / f"safe.{kind}"
        table = {
            "csv": lambda: pl.read_csv(file),
            "tsv": lambda: pl.read_csv(file, separator="\t"),
            "csv.gz": lambda: pl.read_csv(gzip.decompress(file.read_bytes())),
            "jsonl": lambda: pl.read_ndjson(file),
            "parquet": lambda: pl.read_parquet(file),
            "xlsx": lambda: pl.read_excel(file),
            "folder": lambda: pl.read_parquet(folder / "safe"),
        }[kind]()
        rows = table.select("q", "s").rows()
    classes = defaultdict(set)
    for key, value in rows:
        classes[key].add(value)
    return min(map(len, classes.values()), default=2)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", FORMATS)
def test_empty_text_and_missing_values(kind: str, way: Callable[..., None], tmp_path: Path) -> None:
    """A file in which they are one value has no l of 2, whoever counted two of them in memory."""
    table = pl.DataFrame({"q": ["a"] * 6, "s": ["", None] * 3})
    job = {"quasi_identifiers": ["q"], "sensitive": ["s"], "privacy": ["k(2)", "distinct-l(2, s)"]}
    refused: DiscreetError | None = None
    try:
        way(table, place(kind, tmp_path), **job)
    except DiscreetError as error:
        refused = error
    assert not isinstance(refused, AuditError)
    if refused is not None:
        assert not list(tmp_path.iterdir())
    else:
        assert diversity(kind, tmp_path) >= 2


LOST = [
    ("csv", pl.Series(["", None])),
    ("tsv", pl.Series(["", None], dtype=pl.Categorical)),
    ("xlsx", pl.Series(["", None])),
    ("xlsx", pl.Series([0.3, 0.1 + 0.2])),
    ("duckdb", pl.Series([1, 2]).cast(pl.Datetime("ns"))),
]


@pytest.mark.parametrize(("kind", "values"), LOST)
@pytest.mark.parametrize("role", ["sensitive", "quasi-identifier"])
def test_values_a_format_cannot_tell_apart_are_refused(kind: str, values: pl.Series, role: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"q": ["a"] * 6, "x": pl.concat([values] * 3)})
    job: dict[str, Any] = {"quasi_identifiers": ["q"], "sensitive": ["x"], "privacy": ["k(2)", "t(0.9, x, equal)"]}
    if role != "sensitive":
        job = {"quasi_identifiers": ["q", "x"], "privacy": "k(3)", "max_levels": {"x": 0}}
    release = dc.anonymize(table, **job)
    with pytest.raises(OutputError, match="Column 'x' has different values that are the same in") as caught:
        release.write(place(kind, tmp_path))
    assert (caught.value.topic, caught.value.column) == ("values-alike", "x")
    assert not list(tmp_path.iterdir())
    release.write(tmp_path / "safe.parquet")


def test_a_point_of_a_front_is_audited_in_the_format_it_is_written_in(tmp_path: Path) -> None:
    table = pl.DataFrame({"q": ["a", "b"] * 6, "s": [0.3, 0.1 + 0.2, 1.5] * 4})
    front = dc.pareto(table, quasi_identifiers=["q"], sensitive=["s"], privacy=["k", "distinct-l"])
    with pytest.raises(OutputError, match="numbers that differ only in their last digits"):
        front.release(k=[2, 3], output=tmp_path / "safe.xlsx")
    assert not list(tmp_path.iterdir())
    assert front.release(k=[2, 3], output=tmp_path / "safe.csv").audit.passed


def test_columns_nobody_promised_anything_about(tmp_path: Path) -> None:
    table = pl.DataFrame({"q": ["a"] * 6, "s": ["x", "y"] * 3, "other": ["", None] * 3})
    dc.anonymize(table, quasi_identifiers=["q"], sensitive=["s"], privacy="k(2)").write(tmp_path / "safe.csv")
    alone = table.select("q", s="other")
    dc.anonymize(alone, quasi_identifiers=["q"], sensitive=["s"], privacy="k(2)").write(tmp_path / "safe.csv")


KEPT = {
    "nanoseconds": pl.Series([1001, 2000]).cast(pl.Datetime("ns")),
    "microseconds": pl.Series([NOON, NOON + timedelta(microseconds=1)]),
    "times": pl.Series([NOON, NOON + timedelta(hours=12)]),
    "zone": pl.Series([NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=UTC) + timedelta(hours=1)]),
    "dates": pl.Series([date(2020, 1, 1), date(2020, 1, 2)]),
    "decimals": pl.Series([Decimal("1.10"), Decimal("1.20")]),
    "whole and not": pl.Series([1.0, 2.5]),
    "last digits": pl.Series([0.1 + 0.2, 0.7]),
    "short": pl.Series([0.1, 0.2], dtype=pl.Float32),
    "zeros": pl.Series([-0.0, float("nan"), 1.5]),
    "truth": pl.Series([True, False]),
    "truth as text": pl.Series(["true", "True"]),
    "numbers as text": pl.Series(["01", "1"]),
    "dates as text": pl.Series(["2020-01-01", "2020-1-1"]),
    "words": pl.Series(["null", "NaN", None]),
    "blanks": pl.Series(["a", " a", "a "]),
    "lines": pl.Series(["a\nb", "a\r\nb", "a\rb", "a_x000D_b"]),
    "categories": pl.Series(["a", "b"], dtype=pl.Categorical),
    "enum": pl.Series(["a", "b"], dtype=pl.Enum(["a", "b", "c"])),
}


@pytest.mark.scaled
@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("together", [False, True])
def test_no_false_alarm_where_nothing_is_lost(name: str, together: bool, tmp_path: Path) -> None:
    """All formats in deep tests, otherwise every third of them, other ones for each kind of values."""
    values = KEPT[name]
    rows = pl.concat([values] * (24 // len(values)))
    table = pl.DataFrame({"q": ["a", "b"] * (len(rows) // 2), "x": rows, "y": rows})
    attribute = "x+y" if together else "x"
    job: dict[str, Any] = {
        "quasi_identifiers": ["q"],
        "sensitive": [attribute],
        "privacy": ["k(2)", f"distinct-l(2, {attribute})", f"t(0.9, {attribute}, equal)"],
    }
    release = dc.anonymize(table, **job)
    formats = ["csv", "jsonl"] if together else FORMATS
    for kind in formats if DEEP else formats[list(KEPT).index(name) % 3 :: 3] or formats[:1]:
        if kind == "xlsx" and values.dtype.is_temporal():
            continue  # a sheet has no form for some of them, and says so
        folder = tmp_path / kind
        folder.mkdir()
        release.write(place(kind, folder))
        if kind in ("csv", "jsonl", "duckdb"):
            with_output(table, place(kind, folder), **job)


def test_bytes_that_are_not_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit looks at what was written, not at the frame."""
    release = dc.anonymize(pl.DataFrame({"age": [30, 30, 41, 41]}), quasi_identifiers=["age"], privacy="k(2)")
    write = staging.write_data

    def spoiled(data: Any, *rest: Any, **options: Any) -> pl.Schema:
        return write(data.with_columns(age=pl.int_range(pl.len())), *rest, **options)

    monkeypatch.setattr(staging, "write_data", spoiled)
    with pytest.raises(AuditError, match=r"found k\(2\) broken"):
        release.write(tmp_path / "safe.csv")
    assert not list(tmp_path.iterdir())


def test_columns_that_begin_like_a_formula(tmp_path: Path) -> None:
    table = pl.DataFrame({"=q": ["=a", "=a", "-b", "-b"] * 2, "+s": ["=1", "@2"] * 4})
    release = dc.anonymize(table, quasi_identifiers=["=q"], sensitive=["+s"], privacy=["k(2)", "t(0.9, +s, equal)"])
    for name in ("safe.csv", "safe.xlsx", "safe.parquet"):
        release.write(tmp_path / name, for_spreadsheets=True)
    assert pl.read_csv(tmp_path / "safe.csv").columns == ["'=q", "'+s"]
    with pytest.raises(UsageError, match="No spreadsheet opens"):
        release.write(f"sqlite:///{tmp_path}/safe.db?table=people", for_spreadsheets=True)


def test_a_release_that_forgot_its_promises_is_not_written(tmp_path: Path) -> None:
    """They hold values of the original table, and are not pickled."""
    release = dc.anonymize(pl.DataFrame({"age": [30, 30, 41, 41]}), quasi_identifiers=["age"], privacy="k(2)")
    assert release.provenance is not None
    assert pickle.loads(pickle.dumps(release.provenance.promises)) is None
    forgotten = replace(release.provenance, promises=None)
    with pytest.raises(UsageError, match="what an audit compares with"):
        replace(release, provenance=forgotten).write(tmp_path / "safe.csv")
    assert not list(tmp_path.iterdir())


def test_a_release_made_for_one_format_is_written_in_another(tmp_path: Path) -> None:
    table = pl.DataFrame({"q": ["a"] * 9, "s": ["", None, "flu"] * 3})
    job: dict[str, Any] = {"quasi_identifiers": ["q"], "sensitive": ["s"], "privacy": ["k(2)", "t(0.9, s, equal)"]}
    release = dc.anonymize(table, **job, output=tmp_path / "safe.csv")
    for name in ("safe.jsonl", "safe.parquet", "safe.tsv"):
        release.write(tmp_path / name)


@pytest.mark.parametrize("target", [Output, FolderOutput, TableOutput, SparkOutput])
def test_no_target_writes_by_itself(target: type) -> None:
    assert not hasattr(target, "write")


def test_a_value_that_is_missing_in_the_output(tmp_path: Path) -> None:
    """Empty text is a value in memory and a missing one in CSV, where it does not count for diversity."""
    table = pl.DataFrame({"q": ["a"] * 6, "s": ["", " "] * 3})
    release = dc.anonymize(table, quasi_identifiers=["q"], sensitive=["s"], privacy=["k(2)", "distinct-l(2)"])
    for name in ("safe.csv", "safe.tsv", "safe.csv.gz"):
        with pytest.raises(OutputError, match="is a missing one") as caught:
            release.write(tmp_path / name)
        assert caught.value.column == "s"
    assert not list(tmp_path.iterdir())
    release.write(tmp_path / "safe.parquet")
