"""Tables in many files: folders, patterns of names, and folders whose names tell columns."""

from __future__ import annotations

import datetime
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
import discreet.engines.files.write as writing
import discreet.runtime.atomic_write as replacing
from discreet.engines import format_of, open_source, open_table, write_parts, write_table
from discreet.errors import AuditError, DataError, OutputError, UsageError
from discreet.pipeline.publish import Promises

pytestmark = pytest.mark.usefixtures("columns_kept")

JOB: dict[str, Any] = {
    "quasi_identifiers": {"age": "intervals(5, 10)", "sex": "flat()"},
    "privacy": "k(3)",
    "suppression": "budget(0.5)",
}


@pytest.fixture
def table() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [str(20 + number * 7 % 13) for number in range(60)],
            "sex": [None if number % 9 == 4 else "mf"[number % 2] for number in range(60)],
            "note": [f"note {number}, with a comma" if number % 5 else None for number in range(60)],
        }
    )


def put(folder: Path, name: str, table: pl.DataFrame) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(table.lazy(), path, format_of(path))


def multiset(frame: pl.DataFrame) -> Counter[tuple[Any, ...]]:
    return Counter(frame.select(pl.all().cast(pl.String)).rows())


NAMES = {
    "parquet": ["a.parquet", "b.parquet", "c.parquet"],
    "mixed text": ["a.csv", "b.csv.gz", "c.tsv"],
    "text and parquet": ["a.csv.zst", "b.parquet", "c.csv.bz2"],
    "folders": ["x/a.parquet", "x/y/b.parquet", "z/c.parquet"],
}


@pytest.mark.parametrize("kind", NAMES)
def test_a_folder_is_one_table(kind: str, table: pl.DataFrame, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    for place, name in enumerate(NAMES[kind]):
        put(folder, name, table[20 * place : 20 * place + 20])
    (folder / "_SUCCESS").touch()
    (folder / ".hidden").write_text("no part of it")
    for path in (folder, f"{folder}/"):
        source = open_source(path)
        assert source.columns == table.columns
        assert multiset(source.count(["age", "sex"])) == multiset(open_source(table).count(["age", "sex"]))
    whole = dc.anonymize(table, **JOB)
    release = dc.anonymize(folder, **JOB)
    assert release.frame.equals(whole.frame)
    assert release.cost == whole.cost
    to_file = dc.anonymize(folder, **JOB, output=tmp_path / "safe.csv")
    assert multiset(to_file.frame) == multiset(whole.frame)
    assert dc.audit(folder, quasi_identifiers=["note"], privacy="k(1)").rows == 60


@pytest.mark.parametrize("kind", NAMES)
def test_a_folder_on_duckdb(kind: str, table: pl.DataFrame, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")
    names = [name for name in NAMES[kind] if not name.endswith("bz2")]
    rows = len(table) // len(names)
    for place, name in enumerate(names):
        put(tmp_path / "data" / f"year=20{place}", name, table[rows * place : rows * (place + 1)])
    job = {**JOB, "quasi_identifiers": ["age", "year"], "cost": "DM"}
    whole = dc.anonymize(tmp_path / "data", **job)
    release = dc.anonymize(tmp_path / "data", **job, engine="duckdb", output=f"{tmp_path}/safe/")
    assert (release.cost, release.classes) == (whole.cost, whole.classes)
    assert multiset(release.frame) == multiset(whole.frame)
    assert dc.audit(tmp_path / "data", quasi_identifiers="year", privacy="k(1)", engine="duckdb").classes == len(names)


def test_a_pattern_of_names(table: pl.DataFrame, tmp_path: Path) -> None:
    put(tmp_path, "one.csv", table[:30])
    put(tmp_path, "two.csv", table[30:])
    put(tmp_path, "other.tsv", table)
    put(tmp_path, "deep/three.csv", table[:10])
    assert open_source(f"{tmp_path}/*.csv").count(["sex"]).to_series(1).sum() == 60
    assert open_source(f"{tmp_path}/t*.csv").count(["sex"]).to_series(1).sum() == 30
    assert open_source(tmp_path / "**" / "*.csv").count(["sex"]).to_series(1).sum() == 70
    with pytest.raises(DataError, match=r"There is no table in '.*\*.parquet'"):
        open_source(tmp_path / "*.parquet")
    put(tmp_path, "a[1]*.csv", table)
    assert open_source(tmp_path / "a[1]*.csv").count(["sex"]).to_series(1).sum() == 60


def test_folders_that_tell_columns(table: pl.DataFrame, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    for year, city, rows in ((2023, "Bern", table[:20]), (2024, "Z%C3%BCrich", table[20:50])):
        put(folder, f"year={year}/city={city}/part-0.parquet", rows)
    put(folder, "year=2024/city=__HIVE_DEFAULT_PARTITION__/part-0.parquet", table[50:])
    source = open_source(folder)
    assert source.columns == ["age", "sex", "note", "year", "city"]
    counted = source.count(["year", "city"])
    assert set(counted.rows()) == {(2023, "Bern", 20), (2024, "Zürich", 30), (2024, None, 10)}
    assert open_table(f"{folder}/year=2024/*/*.parquet").columns == ("age", "sex", "note", "city")
    assert open_table(f"{folder}/*/*/*.parquet").columns == ("age", "sex", "note", "year", "city")
    release = dc.anonymize(folder, quasi_identifiers=["year", "sex"], privacy="k(3)", output=f"{tmp_path}/safe/")
    assert release.frame.columns == source.columns
    put(folder, "part-1.parquet", table)
    with pytest.raises(DataError, match=r"'.*' has (no|a) column 'year'"):
        open_source(folder)


def test_folders_of_text_that_tell_columns(table: pl.DataFrame, tmp_path: Path) -> None:
    put(tmp_path, "data/code=007/a.csv", table[:30])
    put(tmp_path, "data/code=12/a.csv", table[30:])
    assert set(open_source(tmp_path / "data").count(["code"]).rows()) == {("007", 30), ("12", 30)}
    (tmp_path / "data/code=12/a.csv").write_text("age,sex,note\n30,m\n")
    with pytest.raises(DataError, match=r"Line 2 of 'a.csv' has 2 fields where the header has 3"):
        open_source(tmp_path / "data").count(["code"])


def test_columns_that_differ(table: pl.DataFrame, tmp_path: Path) -> None:
    put(tmp_path, "a.csv", table)
    put(tmp_path, "b.csv", table.drop("sex"))
    with pytest.raises(DataError, match=r"b.csv' has no column 'sex', which 'a.csv' has") as caught:
        open_source(tmp_path / "*.csv")
    assert caught.value.column == "sex"
    put(tmp_path, "b.csv", table.with_columns(more=pl.lit("x")))
    with pytest.raises(DataError, match=r"b.csv' has a column 'more', which 'a.csv' has not"):
        open_source(tmp_path / "*.csv")
    put(tmp_path, "b.csv", table.select(reversed(table.columns)))
    assert open_source(tmp_path / "*.csv").count(["age"]).to_series(1).sum() == 120


def test_types_that_differ(tmp_path: Path) -> None:
    put(tmp_path, "a.parquet", pl.DataFrame({"n": [1], "x": [1.5], "e": [None]}, schema_overrides={"n": pl.Int8}))
    put(tmp_path, "b.parquet", pl.DataFrame({"n": [2**40], "x": [2], "e": ["t"]}))
    counted = open_source(tmp_path / "*.parquet").count(["n", "x", "e"])
    assert set(counted.rows()) == {(1, 1.5, None, 1), (2**40, 2.0, "t", 1)}
    put(tmp_path, "c.parquet", pl.DataFrame({"n": [datetime.date(2024, 1, 1)], "x": [1.0], "e": [None]}))
    with pytest.raises(
        DataError, match=r"Column 'n' is of type Date in '.*c.parquet' and of type Int64 in 'a.parquet'"
    ):
        open_source(tmp_path / "*.parquet")
    (tmp_path / "c.parquet").unlink()
    put(tmp_path, "d.csv", pl.DataFrame({"n": [1], "x": [1.0], "e": ["u"]}))
    with pytest.raises(DataError, match="Column 'n' is text in"):
        open_source(tmp_path)


def test_a_folder_with_something_else(table: pl.DataFrame, tmp_path: Path) -> None:
    put(tmp_path, "a.csv", table)
    (tmp_path / "read.me").touch()
    with pytest.raises(UsageError, match=r"read.me' is in the folder and no table"):
        open_source(tmp_path)


def test_a_damaged_part_is_named(table: pl.DataFrame, tmp_path: Path) -> None:
    put(tmp_path, "a.parquet", table)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(DataError, match=r"'b.parquet' cannot be read"):
        open_source(tmp_path / "*.parquet").count(["age"])


def test_output_must_not_become_input(table: pl.DataFrame, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    put(folder, "a.parquet", table)
    put(folder, "b.parquet", table)
    for data, output in (
        (folder, folder / "a.parquet"),
        (folder, folder / "safe.parquet"),
        (folder, f"{folder}/safe/"),
        (folder, f"{folder}/"),
        (folder / "a.parquet", f"{folder}/"),
        (folder / "*.parquet", folder / "safe.parquet"),
        (tmp_path / "**" / "*.parquet", tmp_path / "x.parquet"),
        (folder, f"{tmp_path}/"),
    ):
        with pytest.raises(OutputError, match=r"input|part of"):
            dc.anonymize(data, **JOB, output=output)
    assert sorted(file.name for file in folder.iterdir()) == ["a.parquet", "b.parquet"]
    assert dc.anonymize(folder / "*.parquet", **JOB, output=folder / "safe.csv").audit.passed


def test_a_folder_as_output(table: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_PART_ROWS", 25)
    monkeypatch.setattr(writing.write_parts, "__defaults__", (25,))
    target = tmp_path / "safe"
    for data in (table, table.lazy(), table.to_pandas()):
        release = dc.anonymize(data, **JOB, output=f"{target}/")
        assert [file.name for file in sorted(target.iterdir())][:2] == ["part-00000.parquet", "part-00001.parquet"]
        assert multiset(pl.read_parquet(target)) == multiset(dc.anonymize(table, **JOB).frame)
        assert release.audit.passed
    assert release.write(f"{tmp_path}/again/") == f"{tmp_path}/again/"
    assert pl.read_parquet(tmp_path / "again").equals(pl.read_parquet(target))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["again", "safe"]


def test_folders_that_cannot_be_written(table: pl.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    (tmp_path / "file").touch()
    for name, message in {
        "full": "holds other things than the parts of a release",
        "file": "is a file; name a folder",
        "no/where": "There is no folder",
    }.items():
        with pytest.raises(OutputError, match=message):
            dc.anonymize(table, **JOB, output=f"{tmp_path}/{name}/")
    with pytest.raises(UsageError, match="does not say which format"):
        dc.anonymize(table, **JOB, output=tmp_path / "full")
    assert (tmp_path / "full" / "thesis.tex").exists()


def test_an_older_folder_stays_until_the_new_one_is_proven(
    table: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dc.anonymize(table, **JOB, output=f"{tmp_path}/safe/")
    before = pl.read_parquet(tmp_path / "safe")

    def refuse(self: Promises, data: Any, *rest: Any) -> None:
        raise AuditError("The audit found k(3) broken.")

    with monkeypatch.context() as patch:
        patch.setattr(Promises, "check", refuse)
        for name in ("safe", "new"):
            with pytest.raises(AuditError):
                dc.anonymize(table[:30], **JOB, output=f"{tmp_path}/{name}/")
    assert [entry.name for entry in tmp_path.iterdir()] == ["safe"]
    assert pl.read_parquet(tmp_path / "safe").equals(before)
    assert dc.anonymize(table[:30], **JOB, output=f"{tmp_path}/safe/").audit.passed
    assert pl.read_parquet(tmp_path / "safe").height <= 30
    assert [entry.name for entry in tmp_path.iterdir()] == ["safe"]


def test_parquet_is_written_in_row_groups(tmp_path: Path) -> None:
    rows = pl.LazyFrame({"a": range(400_000)})
    write_table(rows, tmp_path / "a.parquet", format_of(tmp_path / "a.parquet"))
    (tmp_path / "parts").mkdir()
    write_parts(rows, tmp_path / "parts", "parts", rows=150_000)
    pq = pytest.importorskip("pyarrow.parquet")
    assert pq.ParquetFile(tmp_path / "a.parquet").metadata.num_row_groups >= 3
    sizes = [pq.ParquetFile(file).metadata.num_rows for file in sorted((tmp_path / "parts").iterdir())]
    assert sizes == [150_000, 150_000, 100_000]


def test_what_a_killed_process_left_is_cleared_up(table: pl.DataFrame, tmp_path: Path) -> None:
    """What nobody holds a lock on goes with the next run for the same target, and nothing else does."""
    stale = [tmp_path / f".safe.csv.{'0' * 12}.part", tmp_path / f".safe.csv.{'1' * 12}.part"]
    stale[0].write_text("left behind")
    stale[1].mkdir()
    (stale[1] / "data.db-journal").write_text("left behind")
    others = [tmp_path / f".other.csv.{'0' * 12}.part", tmp_path / ".safe.csv.part", tmp_path / ".safe.csv.notes.part"]
    for other in others:
        other.touch()
    with replacing.replacing(tmp_path / "safe.csv") as being_made:
        being_made.write_text("by somebody else, right now")
        dc.anonymize(table, **JOB, output=tmp_path / "safe.csv")
        assert being_made.read_text() == "by somebody else, right now"
        assert not any(path.exists() for path in stale)
        assert all(path.exists() for path in others)
    for other in others:
        other.unlink()
