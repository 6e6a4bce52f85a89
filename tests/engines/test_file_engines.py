"""Files on a chosen engine: the same release as by polars, and clear words where a choice makes no sense."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program
from discreet.engines import Engine, open_table
from discreet.errors import DataError, DiscreetError, UsageError
from discreet.job import Job
from discreet.runtime.private_folders import private_folder
from lazy import duckdb, rows_of, spark
from sources import make_file

pytestmark = pytest.mark.usefixtures("columns_kept")

JOB: dict[str, Any] = {
    "identifiers": "name",
    "quasi_identifiers": {"age": "intervals(5, 10, 20)", "zip": "mask(digits=5)", "sex": "flat()"},
    "sensitive": ["disease"],
    "privacy": ["k(4)", "distinct-l(2, disease)"],
    "suppression": "budget(0.2)",
}
FILES = ("csv", "csv;", "tsv", "csv.gz", "csv.zst", "parquet", "jsonl", "ndjson.gz")


def rows(path: Path) -> Counter[tuple[Any, ...]]:
    return Counter(open_table(path).scan().collect().rows())


def figures(release: dc.Release) -> dict[str, Any]:
    facts = release.to_dict()
    for key in ("seconds", "stats", "trace", "job"):
        facts.pop(key, None)
    return facts


@pytest.fixture(params=["duckdb", "spark"])
def engine(request: pytest.FixtureRequest) -> dict[str, Any]:
    """One engine, as arguments."""
    if request.param == "spark":
        return {"engine": "spark", "spark": spark()}
    duckdb()
    return {"engine": "duckdb", "memory_limit": "200MB"}


def test_same_release_from_file_to_file(engine: dict[str, Any], people: pl.DataFrame, tmp_path: Path) -> None:
    people = people.with_columns(note=pl.col("note").str.replace("number", "line\nbreak"))
    for kind in FILES if engine["engine"] == "duckdb" else ("csv", "parquet"):
        data = make_file(kind, people, tmp_path)
        suffix = "csv" if "csv" in kind else "parquet"
        mine, theirs = tmp_path / f"mine.{suffix}", tmp_path / f"theirs.{suffix}"
        release = dc.anonymize(data, **JOB, **engine, output=mine)
        assert figures(release) == figures(dc.anonymize(data, **JOB, output=theirs))
        assert rows(mine) == rows(theirs)
        texts = open_table(mine).scan().cast(pl.String).collect()
        assert Counter(release.frame.cast(pl.String).rows()) == Counter(texts.rows())
        assert release.job["engine"] == engine["engine"]


def test_without_an_output_the_release_stays_on_the_engine(people: pl.DataFrame, tmp_path: Path) -> None:
    people.write_parquet(tmp_path / "people.parquet")
    duckdb()
    release = dc.anonymize(tmp_path / "people.parquet", **JOB, engine="duckdb")
    gc.collect()
    assert type(release.frame).__name__ == "DuckDBPyRelation"
    assert Counter(rows_of(release.frame).rows()) == Counter(dc.anonymize(people, **JOB).frame.rows())


def test_audit_and_front_of_a_file(people: pl.DataFrame, tmp_path: Path) -> None:
    duckdb()
    people.write_csv(tmp_path / "people.csv")
    settings: dict[str, Any] = {"quasi_identifiers": ["sex", "zip"], "privacy": ["k(2)", "t(0.3, disease)"]}
    chosen: dict[str, Any] = {"engine": "duckdb", "memory_limit": "200MB"}
    path = tmp_path / "people.csv"
    assert dc.audit(path, **settings, **chosen) == dc.audit(path, **settings)
    quasi = JOB["quasi_identifiers"]
    front = dc.pareto(path, quasi_identifiers=quasi, **chosen)
    assert [p.to_dict() for p in front] == [p.to_dict() for p in dc.pareto(path, quasi_identifiers=quasi)]


def test_on_the_command_line(people: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb()
    monkeypatch.chdir(tmp_path)
    people.write_csv("people.csv")

    def run(line: str) -> Any:
        return CliRunner().invoke(program, line.split())

    options = "--qi zip,sex -k 4 --engine duckdb --memory-limit 200MB"
    assert run(f"anonymize people.csv {options} -o safe.csv --save-job job.yaml").exit_code == 0
    assert "Audit passed" in run(f"audit safe.csv {options}").output
    saved = Job.load("job.yaml")
    assert (saved.engine, saved.memory_limit, saved.spark) == ("duckdb", "200MB", None)
    assert saved.plan().rows == 60
    assert run("audit safe.csv --qi zip -k 2 --spark-master local").exit_code == UsageError.exit_code


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"name": "duckbd"}, "did you mean 'duckdb'"),
        ({"name": "auto", "memory_limit": "4GB"}, "Only DuckDB has a memory limit"),
        ({"name": "duckdb", "memory_limit": "lots"}, "a size such as 4GB, not 'lots'"),
        ({"name": "polars", "spark": "local"}, "needs the engine spark"),
    ],
)
def test_choices_that_make_no_sense(choice: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        Engine(**choice)


def test_frames_are_worked_on_by_their_own_engine(people: pl.DataFrame) -> None:
    with pytest.raises(UsageError, match="is for files, and this is a frame of pandas"):
        dc.anonymize(people.to_pandas(), **JOB, engine="duckdb")
    with pytest.raises(UsageError, match="is for files, and this is a frame of polars"):
        dc.audit(people.lazy(), quasi_identifiers="sex", privacy="k(1)", engine="spark")
    assert dc.anonymize(people.lazy(), **JOB, engine="polars").audit.passed
    relation = duckdb().connect().from_arrow(people.to_arrow())
    with pytest.raises(UsageError, match="this is a frame; set it on the connection of a DuckDB relation"):
        dc.anonymize(relation, **JOB, engine="duckdb", memory_limit="1GB")
    with pytest.raises(UsageError, match="this is a table of a database; leave it out"):
        dc.audit("duckdb:///x.db?table=t", quasi_identifiers="a", privacy="k(1)", engine="duckdb", memory_limit="1GB")


def test_files_an_engine_does_not_read(people: pl.DataFrame, tmp_path: Path) -> None:
    duckdb()
    for kind in ("csv.bz2", "xlsx"):
        with pytest.raises(UsageError, match="has a format that duckdb cannot read"):
            dc.anonymize(make_file(kind, people, tmp_path), **JOB, engine="duckdb")
    (tmp_path / "short.csv").write_text("sex,zip\nm,1\nf\n")
    with pytest.raises(DataError, match=r"'short\.csv' cannot be read by duckdb; leave the engine out"):
        dc.anonymize(tmp_path / "short.csv", quasi_identifiers="sex", privacy="k(1)", engine="duckdb")


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_names_that_duckdb_takes_for_one(kind: str, tmp_path: Path) -> None:
    duckdb()
    path = make_file(kind, pl.DataFrame({"Age": [1, 2], "age": [3, 4]}), tmp_path)
    with pytest.raises(DataError, match="The columns 'Age' and 'age' have the same name to duckdb; rename one"):
        dc.anonymize(path, quasi_identifiers="age", privacy="k(1)", engine="duckdb")
    assert dc.anonymize(path, quasi_identifiers="age", privacy="k(1)").audit.passed


def test_a_column_without_a_name_on_duckdb(tmp_path: Path) -> None:
    duckdb()
    (tmp_path / "index.csv").write_text(",age\n0,1\n1,1\n")
    with pytest.raises(DataError, match=r"'index\.csv' has a column without a name, which duckdb cannot read"):
        dc.anonymize(tmp_path / "index.csv", quasi_identifiers="age", privacy="k(2)", engine="duckdb")


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """More different rows than a few megabytes hold."""
    path = tmp_path / "large.parquet"
    number = pl.int_range(600_000, eager=True)
    pl.DataFrame({"a": number, "b": number.cast(pl.String) + " times"}).write_parquet(path)
    return path


def test_what_does_not_fit_into_memory_goes_to_disk_and_goes_again(large: Path) -> None:
    duckdb()
    from discreet.engines.relation.duckdb import _spill_folder

    folder = _spill_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    settings: dict[str, Any] = {"quasi_identifiers": ["a", "b"], "privacy": "k(1)", "engine": "duckdb"}
    assert dc.audit(large, **settings, memory_limit="40MB").classes == 600_000
    gc.collect()
    assert not list(folder.iterdir())
    with pytest.raises(DiscreetError, match="DuckDB needs more memory than it may take; set a higher memory_limit"):
        dc.audit(large, **settings, memory_limit="1MB")


def test_what_a_killed_process_left_on_disk_is_cleared_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process still works with stays."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    script = (
        "import os, sys, signal\nfrom discreet.runtime.private_folders import private_folder\n"
        "with private_folder() as folder:\n"
        "    (folder / 'rows').write_text('17')\n    print(folder, flush=True)\n    sys.stdin.read()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    paths = os.pathsep.join([str(Path(dc.__file__).parents[1]), *sys.path])
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": paths}
    with subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        with private_folder() as mine:
            assert {path.name for path in tmp_path.iterdir()} == {left.name, mine.name}
        process.communicate()
    assert (left / "rows").exists()
    with private_folder() as mine:
        assert [path.name for path in tmp_path.iterdir()] == [mine.name]
    assert not list(tmp_path.iterdir())


def test_a_table_larger_than_memory(tmp_path: Path) -> None:
    """The whole job under a limit far below the size of the table."""
    duckdb()
    number = pl.int_range(400_000, eager=True)
    text = (number * 7919 % 1_000_003).cast(pl.String)
    table = pl.DataFrame({"age": number % 61, "zip": (number % 97).cast(pl.String), "disease": (number * 31 % 7)})
    table = table.with_columns(note=pl.concat_str([text] * 60, separator=" "))
    assert table.estimated_size("mb") > 150
    table.write_parquet(tmp_path / "people.parquet", row_group_size=20_000)
    release = dc.anonymize(
        tmp_path / "people.parquet",
        quasi_identifiers={"age": "intervals(5, 20)", "zip": "flat()"},
        sensitive="disease",
        privacy=["k(50)", "distinct-l(3, disease)"],
        suppression="budget(0.1)",
        output=tmp_path / "safe.parquet",
        engine="duckdb",
        memory_limit="100MB",
    )
    assert release.audit.rows == 400_000 - release.suppressed
    assert (tmp_path / "safe.parquet").stat().st_size > 2**20
