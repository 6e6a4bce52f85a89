"""Every bad input of the corpus is refused with its message and exit code, and leaves no file behind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program
from trust.corpus import COMMANDS, FILES, JOB_FILES, JOBS, TREES

pytestmark = pytest.mark.usefixtures("columns_kept")

TABLE = pl.DataFrame(
    {
        "age": [30, 31, 32, 33, 41, 42],
        "sex": ["m", "f", "m", "f", "m", "f"],
        "s": ["a", "b", "c", "a", "b", "c"],
        "u": ["x", "y"] * 3,
        "gap": [1, None, 2, 2, 1, 1],
        "star": ["*", "a", "b"] * 2,
        "mixed": ["1", "2", "x"] * 2,
        "half": ["1", "2", "2.5"] * 2,
        "endless": [1.5, 2.0, float("inf")] * 2,
    }
)
JOB: dict[str, Any] = {
    "quasi_identifiers": {"age": "intervals(5, 10)", "sex": "flat()"},
    "sensitive": ["s"],
    "privacy": "k(2)",
}


def is_sentence(text: str) -> bool:
    """Whether a message is one line that ends like a sentence, apart from the pointer to ``discreet explain``."""
    sentence = re.sub(r" \(more: discreet explain [a-z-]+\)$", "", text)
    return "\n" not in text and sentence.endswith((".", "?", "--help)")) and len(text) < 500


def test_the_corpus_is_large() -> None:
    assert sum(map(len, (JOBS, TREES, COMMANDS, JOB_FILES))) >= 250


@pytest.mark.parametrize("case", JOBS)
def test_jobs(case: str) -> None:
    change, exit_code, message = JOBS[case]
    with pytest.raises(dc.DiscreetError) as caught:
        dc.anonymize(TABLE, **{**JOB, **change})
    assert (caught.value.exit_code, caught.value.message[: len(message)]) == (exit_code, message)
    assert is_sentence(caught.value.message)


@pytest.mark.parametrize("case", TREES)
def test_hierarchies(case: str) -> None:
    given, exit_code, message = TREES[case]
    with pytest.raises(dc.DiscreetError) as caught:
        dc.anonymize(TABLE, quasi_identifiers={"age": given}, privacy="k(2)")
    assert (caught.value.exit_code, caught.value.message[: len(message)]) == (exit_code, message)
    assert is_sentence(caught.value.message)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with all files of the corpus."""
    monkeypatch.setattr("discreet.cli._watch._PATIENCE", 3600.0)
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    return tmp_path


def check(folder: Path, arguments: list[str], exit_code: int, message: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    result = CliRunner().invoke(program, arguments)
    printed = result.stderr.removeprefix("discreet: ").strip().replace(f"{folder.resolve()}/", "")
    assert (result.exit_code, printed[: len(message)]) == (exit_code, message)
    assert is_sentence(printed)
    assert result.stderr.startswith("discreet: ")
    assert result.stdout == ""
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("case", COMMANDS)
def test_commands(case: str, folder: Path) -> None:
    check(folder, *COMMANDS[case])


@pytest.mark.parametrize("case", JOB_FILES)
def test_job_files(case: str, folder: Path) -> None:
    text, exit_code, message = JOB_FILES[case]
    (folder / "job.yaml").write_text(text)
    check(folder, ["run", "job.yaml"], exit_code, message)
