"""A folder with a table of people, and a way to run commands in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from discreet.cli import program
from discreet.pipeline.sample_file import write_sample

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def no_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say nothing about compiling, whether this machine has done it or not."""
    monkeypatch.setattr("discreet.cli._watch._PATIENCE", 3600.0)


@pytest.fixture(scope="session")
def people_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sample(tmp_path_factory.mktemp("people") / "people.csv", 600, seed=2)


@pytest.fixture
def folder(people_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which holds people.csv and nothing else."""
    (tmp_path / "people.csv").write_bytes(people_file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """Run a command; stdout and stderr are kept apart."""

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(program, list(arguments))

    return invoke
