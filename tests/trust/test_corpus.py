"""Every bad input of the corpus has its one sentence and its exit code, and leaves nothing behind."""

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
    """Whether a message is one line that ends as a sentence does, before the way to more about it."""
    sentence = re.sub(r" \(more: discreet explain [a-z-]+\)$", "", text)
    return "\n" not in text and sentence.endswith((".", "?", "--help)")) and len(text) < 500


def test_the_corpus_is_large() -> None:
    assert sum(map(len, (JOBS, TREES, COMMANDS, JOB_FILES))) >= 250


@pytest.mark.parametrize("case", JOBS)
def test_jobs(case: str) -> None:
    change, code, sentence = JOBS[case]
    with pytest.raises(dc.DiscreetError) as caught:
        dc.anonymize(TABLE, **{**JOB, **change})
    assert (caught.value.exit_code, caught.value.message[: len(sentence)]) == (code, sentence)
    assert is_sentence(caught.value.message)


@pytest.mark.parametrize("case", TREES)
def test_hierarchies(case: str) -> None:
    given, code, sentence = TREES[case]
    with pytest.raises(dc.DiscreetError) as caught:
        dc.anonymize(TABLE, quasi_identifiers={"age": given}, privacy="k(2)")
    assert (caught.value.exit_code, caught.value.message[: len(sentence)]) == (code, sentence)
    assert is_sentence(caught.value.message)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with all files of the corpus."""
    monkeypatch.setattr("discreet.cli._watch._PATIENCE", 3600.0)
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    return tmp_path


def check(folder: Path, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    result = CliRunner().invoke(program, list(arguments))
    told = result.stderr.removeprefix("discreet: ").strip().replace(f"{folder.resolve()}/", "")
    assert (result.exit_code, told[: len(sentence)]) == (code, sentence)
    assert is_sentence(told)
    assert result.stderr.startswith("discreet: ")
    assert result.stdout == ""
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("case", COMMANDS)
def test_commands(case: str, folder: Path) -> None:
    check(folder, *COMMANDS[case])


@pytest.mark.parametrize("case", JOB_FILES)
def test_job_files(case: str, folder: Path) -> None:
    text, code, sentence = JOB_FILES[case]
    (folder / "job.yaml").write_text(text)
    check(folder, ("run", "job.yaml"), code, sentence)
