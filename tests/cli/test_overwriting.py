"""Nothing that is read is ever written over."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from discreet.cli import program

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
        "anonymize a.csv --qi age -k 2 -o safe.csv --save-job a.csv",
        "anonymize a.csv --qi age -k 2 -o safe.csv --save-job safe.csv",
        "anonymize a.csv --qi zip --hierarchy zip=zip.csv -k 2 -o zip.csv",
        "anonymize a.csv --qi zip --hierarchy zip=zip.csv -k 2 -o safe.csv --save-job zip.csv",
        "anonymize a.csv --qi age -k 2 -o safe.csv --report r.json --save-job r.json",
        "anonymize a.csv --qi age -k 2 -o ./a.csv",
    ],
)
def test_refused(folder: Path, command: str) -> None:
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    result = CliRunner().invoke(program, command.split())
    assert result.exit_code == 6, result.output
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_columns_that_may_tell_who_somebody_is_are_pointed_out(folder: Path) -> None:
    result = CliRunner().invoke(program, ["anonymize", "a.csv", "--qi", "age", "-k", "2", "-o", "safe.csv"])
    assert result.exit_code == 0
    assert "'name', 'zip'; name such columns as identifiers" in result.output
