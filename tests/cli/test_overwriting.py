"""Nothing that is read is ever written over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from discreet.cli import program
from discreet.runtime import atomic_write as _replacing

TABLE = "name,age,zip\n" + "".join(f"p{i},{20 + i % 4},0213{i % 2}\n" for i in range(24))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(TABLE)
    (tmp_path / "zip.csv").write_text("02130;0213*;*\n02131;0213*;*\n")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "hierarchy make a.csv --column zip -o a.csv",
        "anonymize a.csv --qi age --keep name -k 2 -o safe.csv --save-job a.csv",
        "anonymize a.csv --qi age --keep name -k 2 -o safe.csv --save-job safe.csv",
        "anonymize a.csv --qi zip --hierarchy zip=zip.csv -k 2 -o zip.csv",
        "anonymize a.csv --qi zip --hierarchy zip=zip.csv -k 2 -o safe.csv --save-job zip.csv",
        "anonymize a.csv --qi age --keep name -k 2 -o safe.csv --report r.json --save-job r.json",
        "anonymize a.csv --qi age --keep name -k 2 -o ./a.csv",
    ],
)
def test_refused(folder: Path, command: str) -> None:
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    result = CliRunner().invoke(program, command.split())
    assert result.exit_code == 6, result.output
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_columns_that_may_tell_who_somebody_is_are_pointed_out(folder: Path) -> None:
    result = CliRunner().invoke(
        program, ["anonymize", "a.csv", "--qi", "age", "-k", "2", "-o", "safe.csv", "--keep", "name"]
    )
    assert result.exit_code == 0
    assert "warning: Kept as confirmed, though it could identify people: 'name'." in result.output
    assert "about a person: 'zip'; name such columns as identifiers" in result.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize(
    ("command", "target"),
    [
        ("hierarchy make a.csv --column zip -o old.csv", "old.csv"),
        ("hierarchy make a.csv --column zip -o old.csv.gz", "old.csv.gz"),
        ("anonymize a.csv --qi age --keep name -k 2 -o safe.csv --save-job old.yaml", "old.yaml"),
        ("anonymize a.csv --qi age --keep name -k 2 -o safe.csv --save-job old.json", "old.json"),
        ("anonymize a.csv --qi age --keep name -k 2 -o safe.csv --report old.txt", "old.txt"),
        ("sample -n 10 -o old.csv", "old.csv"),
    ],
)
def test_disk_full(folder: Path, command: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / target).write_text("what was there before")

    def on_a_full_disk(path: Path) -> None:
        if path.name == target:
            path.symlink_to("/dev/full")
        else:
            make(path)

    make = _replacing.make_private_file
    monkeypatch.setattr(_replacing, "make_private_file", on_a_full_disk)
    result = CliRunner().invoke(program, command.split())
    assert result.exit_code == 6, result.output
    assert f"The disk is full: '{target}' was not written" in result.output
    assert (folder / target).read_text() == "what was there before"
    assert not list(folder.glob(".*.part"))


@pytest.mark.parametrize(
    "command",
    [
        "hierarchy make a.csv --column zip -o pipe",
        "anonymize a.csv --qi age --keep name -k 2 -o safe.csv --save-job pipe",
        "hierarchy make a.csv --column zip -o none/zip.csv",
        "anonymize a.csv --qi age --keep name -k 2 -o safe.csv --save-job none/job.yaml",
    ],
)
def test_what_is_no_file_stays_as_it_is(folder: Path, command: str) -> None:
    os.mkfifo(folder / "pipe")
    assert CliRunner().invoke(program, command.split()).exit_code == 6
    assert (folder / "pipe").is_fifo()
    assert not (folder / "safe.csv").exists()


def test_a_link_stays_a_link(folder: Path) -> None:
    (folder / "link.csv").symlink_to(folder / "real.csv")
    assert (
        CliRunner().invoke(program, ["hierarchy", "make", "a.csv", "--column", "zip", "-o", "link.csv"]).exit_code == 0
    )
    assert (folder / "link.csv").is_symlink()
    assert (folder / "real.csv").read_text().startswith("02130;")


@pytest.mark.parametrize(
    ("options", "leads_to", "sentence"),
    [
        ("-o link.csv", "a.csv", "The output 'link.csv' is the input itself"),
        ("-o link.csv", "other", "'link.csv' is a folder"),
        (
            "-o link.csv",
            "none/real.csv",
            "There is no folder '{folder}/none', where 'link.csv' leads to; make it first",
        ),
        ("-o safe.csv --save-job link.csv", "a.csv", "Writing 'link.csv' would overwrite a file that is read"),
        ("-o safe.csv --save-job link.csv", "other", "'link.csv' is a folder"),
    ],
)
def test_a_link_is_told_by_its_name(options: str, leads_to: str, sentence: str, folder: Path) -> None:
    (folder / "other").mkdir(exist_ok=True)
    (folder / "link.csv").symlink_to(folder / leads_to)
    result = CliRunner().invoke(program, f"anonymize a.csv --qi age --keep name -k 2 {options}".split())
    assert result.exit_code == 6, result.output
    assert sentence.format(folder=folder.resolve()) in result.stderr
    assert "real.csv" not in result.stderr
