"""Files appear whole or not at all, after their audit, and never over the input."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet.engines.files.write as writing
import discreet.pipeline.make_release as end
import discreet.pipeline.prepare as start
import discreet.pipeline.publish as publishing
import discreet.pipeline.search as flow
import discreet.runtime.atomic_write as replacing_module
from discreet.engines import files_read, format_of, write_table
from discreet.errors import AuditError, DataError, InterruptedRun, OutputError, UsageError
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.audit import Audit
from discreet.pipeline.output import check_output
from discreet.runtime.atomic_write import replacing, rows_beside

JOB: dict[str, Any] = {
    "quasi_identifiers": {"age": "intervals(5, 10)"},
    "privacy": "k(2)",
    "suppression": "budget(1.0)",
}


@pytest.fixture
def table() -> pl.DataFrame:
    return pl.DataFrame({"age": [str(20 + number % 7) for number in range(40)], "note": ["x"] * 40})


@pytest.fixture
def source(table: pl.DataFrame, tmp_path: Path) -> Path:
    table.write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"


def test_output_must_not_be_the_input(source: Path, tmp_path: Path) -> None:
    before = source.read_bytes()
    (tmp_path / "link.csv").symlink_to(source)
    (tmp_path / "hard.csv").hardlink_to(source)
    (tmp_path / "folder").mkdir()
    for name in ("people.csv", "link.csv", "hard.csv", "folder/../people.csv"):
        with pytest.raises(OutputError, match="is the input itself"):
            anonymize(source, **JOB, output=tmp_path / name)
    assert source.read_bytes() == before


def test_input_named_through_a_link(source: Path, tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(source)
    with pytest.raises(OutputError, match="is the input itself"):
        anonymize(tmp_path / "link.csv", **JOB, output=source)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_lazy_frame_over_the_output(suffix: str, table: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / f"people.{suffix}"
    write_table(table.lazy(), path, format_of(path))
    scan = {"csv": pl.scan_csv, "parquet": pl.scan_parquet, "jsonl": pl.scan_ndjson}[suffix]
    with pytest.raises(OutputError, match="is the input itself"):
        anonymize(scan(path).filter(pl.col("age") != "x"), **JOB, output=path)  # type: ignore[operator]


@pytest.mark.parametrize("name", ["people [1].csv", "a, b.csv", "[x], y].csv", "c (1)*.csv", "SCAN [z.csv].csv"])
def test_lazy_frames_over_files_with_odd_names(name: str, table: pl.DataFrame, tmp_path: Path) -> None:
    path, first = tmp_path / name, tmp_path / "first.csv"
    table.write_csv(path)
    table.write_csv(first)
    one, several = pl.scan_csv(path, glob=False), pl.scan_csv([first, first, path], glob=False)
    named = pl.scan_csv(f"file://{path}", glob=False)
    branch = pl.scan_csv(first).join(one.map_batches(lambda frame: frame), on="age", how="semi")
    for frame in (one, several, named, pl.concat([pl.scan_csv(first), one]), branch):
        assert path in files_read(frame)
        with pytest.raises(OutputError, match="is the input itself"):
            anonymize(frame, **JOB, output=path)
    assert anonymize(one, **JOB, output=tmp_path / "safe.csv").audit.passed


def test_lazy_frame_over_a_folder(table: pl.DataFrame, tmp_path: Path) -> None:
    for number in range(5):
        table.write_parquet(tmp_path / f"{number}.parquet")
    with pytest.raises(OutputError, match="is the input itself"):
        anonymize(pl.scan_parquet(tmp_path / "*.parquet"), **JOB, output=tmp_path / "3.parquet")


def test_a_plan_that_cannot_be_run(table: pl.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="The lazy frame cannot be run"):
        anonymize(table.lazy().select("nowhere"), **JOB, output=tmp_path / "safe.csv")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("nowhere/safe.csv", OutputError, "There is no folder"),
        ("folder.csv", OutputError, "is a folder"),
        ("safe.doc", UsageError, "which format"),
        ("safe", UsageError, "which format"),
    ],
)
def test_bad_outputs_are_refused_before_any_work(
    name: str, error: type[Exception], message: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.setattr(start, "open_source", lambda _: pytest.fail("work had started"))
    with pytest.raises(error, match=message):
        anonymize(source, **JOB, output=tmp_path / name)


@pytest.mark.parametrize(
    ("output", "error", "message"),
    [
        (3, UsageError, "The output is a path or the URL of a table, not int"),
        (["safe.csv"], UsageError, "The output is a path or the URL of a table, not list"),
        ("/", OutputError, "The output is the root of all folders"),
    ],
)
def test_what_is_no_output(output: Any, error: type[Exception], message: str, source: Path) -> None:
    with pytest.raises(error, match=message):
        anonymize(source, **JOB, output=output)


def test_a_folder_that_cannot_be_written_to(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(replacing_module, "make_private_file", refuse)
    with pytest.raises(OutputError, match="cannot be written to"):
        anonymize(source, **JOB, output=tmp_path / "safe.csv")
    assert not (tmp_path / "safe.csv").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "csv.bz2", "parquet", "jsonl", "xlsx"])
def test_disk_full(suffix: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = replacing_module.make_private_file

    def on_a_full_disk(path: Path) -> None:
        if path.name.startswith("."):  # the trial before the work starts
            made(path)
        else:
            path.symlink_to("/dev/full")

    monkeypatch.setattr(replacing_module, "make_private_file", on_a_full_disk)
    with pytest.raises(OutputError, match=f"The disk is full: 'safe.{suffix}' was not written"):
        anonymize(source, **JOB, output=tmp_path / f"safe.{suffix}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


def test_a_pipe_is_not_replaced(source: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "safe.csv")
    with pytest.raises(OutputError, match="is a device or pipe"):
        anonymize(source, **JOB, output=tmp_path / "safe.csv")
    assert (tmp_path / "safe.csv").is_fifo()


def test_a_release_that_fails_its_audit_is_not_left_on_disk(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoiled(frame: pl.LazyFrame, path: Path, layout: Any, name: str) -> None:
        number = pl.int_range(pl.len())
        age = pl.when(number == 0).then(pl.lit("unique")).otherwise(pl.col("age").cast(pl.String))
        write_table(frame.with_columns(age=age), path, layout)

    monkeypatch.setattr(writing, "write_table", spoiled)
    with pytest.raises(AuditError, match=r"k\(2\) broken: the release reached 1 where 2 was promised"):
        anonymize(source, **JOB, output=tmp_path / "safe.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


def test_rows_that_get_lost_on_the_way_fail_the_audit(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        writing, "write_table", lambda frame, path, layout, name: write_table(frame.head(30), path, layout)
    )
    with pytest.raises(AuditError, match="number of rows"):
        anonymize(source, **JOB, output=tmp_path / "safe.csv")
    assert not (tmp_path / "safe.csv").exists()


def test_an_older_file_stays_until_the_new_one_is_proven(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "safe.csv").write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(writing, "write_table", lambda frame, *where: write_table(frame.head(3), *where))
        with pytest.raises(AuditError):
            anonymize(source, **JOB, output=tmp_path / "safe.csv")
    assert (tmp_path / "safe.csv").read_text() == "old"
    anonymize(source, **JOB, output=tmp_path / "safe.csv")
    assert (tmp_path / "safe.csv").read_text() != "old"


@pytest.mark.parametrize("stage", ["open_source", "count", "make_recoding", "publish"])
def test_interrupted_outside_the_search(
    stage: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(start if hasattr(start, stage) else end, stage, interrupt)
    with pytest.raises(InterruptedRun, match="nothing was written"):
        anonymize(source, **JOB, output=tmp_path / "safe.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, SystemExit])
def test_whatever_happens_while_writing_nothing_stays(
    error: type[BaseException], source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(frame: pl.LazyFrame, path: Path, layout: Any, name: str) -> None:
        path.write_text("age\n")
        raise error

    monkeypatch.setattr(writing, "write_table", half)
    with pytest.raises(InterruptedRun if error is KeyboardInterrupt else error):
        anonymize(source, **JOB, output=tmp_path / "safe.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


def test_the_audit_comes_before_the_name(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check = publishing.Promises.check

    def watched(self: Any, data: Any, *rest: Any) -> Audit:
        assert not (tmp_path / "safe.csv").exists()
        assert [path.name[:10] for path in tmp_path.glob(".*")] == [".safe.csv."]
        return check(self, data, *rest)

    monkeypatch.setattr(publishing.Promises, "check", watched)
    anonymize(source, **JOB, output=tmp_path / "safe.csv")
    assert (tmp_path / "safe.csv").exists()


def test_input_that_changes_meanwhile(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: pl.DataFrame
) -> None:
    import discreet.engines.polars.source as engine

    monkeypatch.setattr(engine, "HELD", 0)
    solve = flow._solve

    def meanwhile(*arguments: Any) -> Any:
        table.with_columns(age=pl.lit("SECRET")).write_csv(source)
        return solve(*arguments)

    monkeypatch.setattr(flow, "_solve", meanwhile)
    job = {**JOB, "min_levels": {"age": 1}, "max_levels": {"age": 1}}
    with pytest.raises(DataError, match="changed while it was being read") as caught:
        anonymize(source, **job, output=tmp_path / "safe.csv")
    assert "SECRET" not in repr(caught.value)
    assert not (tmp_path / "safe.csv").exists()


def test_replacing_is_all_or_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"

    def fail() -> None:
        with replacing(target) as unfinished:
            unfinished.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not list(tmp_path.iterdir())
    with replacing(target) as unfinished:
        unfinished.write_text("whole")
        assert unfinished.parent.parent == tmp_path
        assert unfinished.parent.name.startswith(".")
    assert target.read_text() == "whole"


def test_a_link_to_elsewhere_is_followed(source: Path, tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "safe.csv").symlink_to(tmp_path / "vault" / "real.csv")
    anonymize(source, **JOB, output=tmp_path / "safe.csv")
    assert (tmp_path / "safe.csv").is_symlink()
    assert (tmp_path / "vault" / "real.csv").exists()


def test_home_and_relative_paths(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    release = anonymize("people.csv", **JOB, output="safe.csv")
    assert (tmp_path / "safe.csv").exists()
    os.chdir("/")
    assert release.frame.height == 40
    assert check_output(tmp_path / "new.csv", "people.csv").path == (tmp_path / "new.csv").resolve()


def test_two_makers_of_one_file_do_not_clear_up_each_other(tmp_path: Path) -> None:
    """What a maker has just begun may look like a left-over until it holds its lock; it must not lose its file."""
    target = tmp_path / "safe.csv"
    with replacing(target) as first:
        first.write_text("first")
        with replacing(target) as second:
            assert first.exists()
            second.write_text("second")
        assert target.read_text() == "second"
        assert first.exists()
    assert target.read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["safe.csv"]


def test_rows_an_engine_left_beside_an_unfinished_file_are_cleared_up(tmp_path: Path) -> None:
    """They go with the file they are for, whose maker may still be at work."""
    target = tmp_path / "safe.csv"
    dead, other = tmp_path / ".safe.csv.0123456789ab.part", tmp_path / ".other.csv.0123456789ab.part"
    for folder in (dead, other):
        rows_beside(folder / "safe.csv").mkdir(parents=True)
        (rows_beside(folder / "safe.csv") / "part-0.parquet").write_text("rows")
    with replacing(target) as alive:
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([alive.parent.name, other.name])
        rows_beside(alive).touch()
        with replacing(target) as second:
            assert rows_beside(alive).exists()
            second.write_text("second")
        alive.write_text("first")
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name, "safe.csv"]
    shutil.rmtree(other)


def test_input_that_changes_after_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "people.csv"
    source.write_text("age\n" + "30\n31\n" * 10)
    solve = flow._solve

    def solve_and_change(*parts: Any) -> Any:
        source.write_text("age\n" + "31\n30\n" * 10 + "30\n")
        return solve(*parts)

    monkeypatch.setattr(flow, "_solve", solve_and_change)
    with pytest.raises(DataError, match="changed while it was being read"):
        anonymize(source, quasi_identifiers=["age"], privacy="k(2)", output=tmp_path / "safe.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_a_folder_is_replaced_only_if_it_holds_parts_of_a_release(tmp_path: Path) -> None:
    kept = tmp_path / "safe" / "part-00000.parquet" / "precious.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    with pytest.raises(OutputError, match="holds other things than the parts of a release"):
        anonymize(pl.DataFrame({"age": [1, 1, 2, 2]}), **JOB, output=f"{tmp_path}/safe/")
    assert kept.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("loop.csv", "a link that leads to itself"),
        ("\udce9.csv", "no text"),
        ("a\0.csv", "no text"),
        (f"{'n' * 230}.csv", "too long"),
        (f"{'n' * 230}/", "too long"),
    ],
)
def test_names_no_file_can_have(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "loop.csv").symlink_to(tmp_path / "pool.csv")
    (tmp_path / "pool.csv").symlink_to(tmp_path / "loop.csv")
    with pytest.raises(OutputError, match=said):
        anonymize(pl.DataFrame({"age": [1, 1, 2, 2]}), **JOB, output=f"{tmp_path}/{name}")
