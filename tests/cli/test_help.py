"""Every command explains itself, with examples, and without loading anything heavy."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from discreet.cli import program


def commands(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [path]
    for name, command in group.commands.items():
        inner = (*path, name)
        found += commands(command, inner) if isinstance(command, click.Group) else [inner]
    return found


@pytest.mark.parametrize("path", commands(program), ids=" ".join)
def test_help(path: tuple[str, ...]) -> None:
    result = CliRunner().invoke(program, [*path, "--help"])
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: {' '.join(['discreet', *path])}")
    assert "Examples:" in result.stdout or "Start here:" in result.stdout
    assert CliRunner().invoke(program, [*path, "-h"]).stdout == result.stdout


@pytest.mark.parametrize("path", commands(program), ids=" ".join)
def test_every_option_has_a_help_text(path: tuple[str, ...]) -> None:
    command: click.Command = program
    for name in path:
        assert isinstance(command, click.Group)
        command = command.commands[name]
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


@pytest.mark.parametrize("group", [[], ["hierarchy"]])
def test_a_group_alone_shows_its_help(group: list[str]) -> None:
    result = CliRunner().invoke(program, group)
    assert result.exit_code == 2
    assert "Commands:" in result.stderr


def test_version() -> None:
    result = CliRunner().invoke(program, ["--version"])
    assert result.exit_code == 0
    assert result.stdout.startswith("discreet ")


def test_help_loads_nothing_heavy() -> None:
    heavy = {"numpy", "polars", "numba", "pydantic", "yaml", "rich", "narwhals", "pandas"}
    code = (
        "import sys\nfrom discreet.cli import program\n"
        "try:\n    program.main(['anonymize', '--help'])\nexcept SystemExit:\n    pass\n"
        f"print('heavy:', sorted({heavy!r} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.endswith("heavy: []\n")
