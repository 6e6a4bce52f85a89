"""What is being written is for its maker alone, and what was there keeps its mode and owner."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.pipeline import publish as _publish
from discreet.runtime.atomic_write import replacing, replacing_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files have no such modes there")

TABLE = pl.DataFrame({"age": [30, 30, 41, 41], "sex": ["f", "m", "f", "m"]})
JOB: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "privacy": "k(2)"}
NAMES = ["safe.csv", "safe.csv.gz", "safe.tsv", "safe.jsonl", "safe.parquet", "safe.xlsx"]


@pytest.fixture(params=[0o000, 0o022, 0o027, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_to_others(folder: Path) -> list[str]:
    """Return what others can read below a folder: not what is in a folder they cannot enter."""
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            if mode(entry) & 0o077:
                found += [entry.name, *open_to_others(entry)]
        elif mode(entry) & 0o077:
            found.append(entry.name)
    return found


def place(kind: str, folder: Path) -> tuple[str, Path]:
    """Return an output of a kind, and the file or folder it is in."""
    if kind in ("sqlite", "duckdb"):
        return f"{kind}:///{folder}/safe.db?table=people", folder / "safe.db"
    return (f"{folder}/safe/", folder / "safe") if kind == "folder" else (f"{folder}/{kind}", folder / kind)


@pytest.mark.parametrize("kind", [*NAMES, "folder", "sqlite", "duckdb"])
def test_nobody_else_can_read_what_is_not_audited(
    kind: str, umask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, target = place(kind, tmp_path)
    seen: list[list[str]] = []
    check = _publish.Promises.check

    def looking(self: Any, *given: Any, **named: Any) -> Any:
        seen.append([entry.name for entry in tmp_path.iterdir()])
        assert not open_to_others(tmp_path)
        return check(self, *given, **named)

    monkeypatch.setattr(_publish.Promises, "check", looking)
    dc.anonymize(TABLE, **JOB, output=output)
    assert seen
    assert all(seen)
    assert mode(target) == (0o777 if kind == "folder" else 0o666) & ~umask
    for part in target.iterdir() if kind == "folder" else ():
        assert mode(part) == 0o666 & ~umask


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize("kind", ["safe.csv", "safe.parquet", "folder"])
def test_rows_an_engine_writes(engine: Any, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb" if engine == "duckdb" else "pyspark")
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    TABLE.write_csv(tmp_path / "in" / "people.csv")
    output, _ = place(kind, tmp_path / "out")
    check, seen = _publish.Promises.check, []

    def looking(self: Any, *given: Any, **named: Any) -> Any:
        seen.append(open_to_others(tmp_path / "out"))
        return check(self, *given, **named)

    monkeypatch.setattr(_publish.Promises, "check", looking)
    dc.anonymize(tmp_path / "in" / "people.csv", **JOB, output=output, engine=engine)
    assert seen
    assert not any(seen)


@pytest.mark.parametrize("kind", [*NAMES, "folder", "sqlite", "duckdb"])
@pytest.mark.parametrize("kept", [0o600, 0o640, 0o444])
def test_an_existing_output_keeps_its_mode(kind: str, kept: int, tmp_path: Path) -> None:
    output, target = place(kind, tmp_path)
    if kept == 0o444 and kind in ("sqlite", "duckdb"):
        pytest.skip("a database is written to, not replaced")
    dc.anonymize(TABLE, **JOB, output=output)
    if kind == "folder":
        for part in target.iterdir():
            part.chmod(kept)
    target.chmod(0o750 if kind == "folder" else kept)
    dc.anonymize(TABLE, **JOB, output=output).write(output)
    assert mode(target) == (0o750 if kind == "folder" else kept)
    assert kind != "folder" or {mode(part) for part in target.iterdir()} == {kept}


def test_an_existing_output_keeps_its_owner(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    target = tmp_path / "safe.csv"
    target.touch()
    os.chown(target, 1234, 2345)
    target.chmod(0o640)
    dc.anonymize(TABLE, **JOB, output=target)
    assert (target.stat().st_uid, target.stat().st_gid, mode(target)) == (1234, 2345, 0o640)


def test_a_group_that_cannot_be_kept_gets_no_access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    target = tmp_path / "safe.csv"
    target.touch()
    os.chown(target, 1234, 2345)
    target.chmod(0o664)

    def refuse(*_: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "chown", refuse)
    with replacing(target) as unfinished:
        unfinished.write_text("new")
    assert mode(target) == 0o604


def test_private_files(umask: int, tmp_path: Path) -> None:
    target = tmp_path / "key"
    for _ in range(2):
        with replacing(target, private=True) as unfinished:
            assert mode(unfinished) == 0o600 & ~umask
            assert mode(unfinished.parent) == 0o700 & ~umask
            unfinished.write_text("secret")
        assert mode(target) == 0o600
        target.chmod(0o644)


def test_the_mapping_is_private(umask: int, tmp_path: Path) -> None:
    release = dc.anonymize(TABLE, **JOB)
    assert mode(release.mapping(tmp_path / "mapping.json")) == 0o600


def test_folders_are_private_until_they_have_their_name(umask: int, tmp_path: Path) -> None:
    with replacing_folder(tmp_path / "safe") as unfinished:
        (unfinished / "part-00000.parquet").touch()
        assert not open_to_others(tmp_path)
    assert mode(tmp_path / "safe") == 0o777 & ~umask


def test_the_log_of_a_database_is_as_private_as_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb")
    from discreet.engines.sql.duckdb import DuckdbSession

    output, target = place("duckdb", tmp_path)
    dc.anonymize(TABLE, **JOB, output=output)
    target.chmod(0o600)
    execute = DuckdbSession.execute
    seen: set[str] = set()

    def looking(self: Any, statement: str) -> None:
        execute(self, statement)
        seen.update(entry.name for entry in tmp_path.iterdir())
        assert not open_to_others(tmp_path)

    monkeypatch.setattr(DuckdbSession, "execute", looking)
    dc.anonymize(TABLE, **JOB, output=output)
    assert "safe.db.wal" in seen
