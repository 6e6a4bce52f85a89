"""What ``--json`` prints has the keys that docs/json.md lists, and says which version they are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import Result

Run = Callable[..., Result]
PAGE = Path(__file__).parents[2] / "docs" / "json.md"
ROLES = ("--qi", "sex,education", "--sensitive", "diagnosis")
SECOND = (
    "input: people.csv\noutput: o.csv\nquasi_identifiers: [sex, education]\nsensitive: [diagnosis]\nprivacy: k(9)\n"
)
COMMANDS = {
    "anonymize": ("anonymize", "people.csv", *ROLES, "-k", "4", "-o", "other.csv"),
    "run": ("run", "job.yaml"),
    "the same with": ("run", "job.yaml", "--dry-run"),
    "apply": ("apply", "mapping.json", "people.csv", "-o", "applied.csv"),
    "attack": ("attack", "people.csv", "safe.csv", *ROLES, "--only", "linkage"),
    "audit": ("audit", "safe.csv", *ROLES, "-k", "5"),
    "compare": ("compare", "job.yaml", "second.yaml"),
    "find": ("find", "safe.csv", "sex=female", "--sensitive", "diagnosis"),
    "info": ("info", "people.csv"),
    "pareto": ("pareto", "people.csv", *ROLES),
    "risk": ("risk", "safe.csv", *ROLES),
    "utility": ("utility", "people.csv", "safe.csv", *ROLES),
}
"""A run of each command, by what the table of the page calls it."""


@pytest.fixture
def released(run: Run) -> Run:
    """A folder with a table, its release, the mapping and two jobs."""
    pl.read_csv("people.csv").select("sex", "education", "diagnosis").write_csv("people.csv")
    files = ("-o", "safe.csv", "--mapping", "mapping.json", "--save-job", "job.yaml")
    assert run("anonymize", "people.csv", *ROLES, "-k", "5", *files).exit_code == 0
    Path("second.yaml").write_text(SECOND)
    return run


def documented() -> dict[str, set[str]]:
    """Return the keys that the page lists for each command."""
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    found = {}
    for cell, keys in rows:
        named = [cell.partition(" `")[0]] if cell.startswith("the same with") else re.findall(r"`([a-z]+)", cell)
        found |= {key: set(re.findall(r"`(\w+)`", keys)) for key in named}
    return found


def test_every_command_prints_what_the_page_lists(released: Run) -> None:
    page = documented()
    assert set(COMMANDS) | {"check"} <= set(page)
    for name, command in COMMANDS.items():
        result = released(*command, "--json")
        assert result.exit_code == 0, result.output
        data = json.loads(result.stdout)
        assert next(iter(data)) == "format"
        assert data.pop("format") == 1
        if name == "attack":
            assert {"linkage"} | page[name] <= set(data)
        else:
            assert set(data) == page[name], name


def test_a_check_and_an_error(released: Run) -> None:
    page = documented()
    data = json.loads(released("check", "safe.csv", "--format", "json").stdout)
    assert set(data) == page["check"] | {"format"}
    failed = released("audit", "safe.csv", "--qi", "nothing", "-k", "5", "--json")
    assert failed.exit_code == 3
    data = json.loads(failed.stdout)
    assert data["format"] == 1
    assert set(data) == {"format", "error", "code", "kind", "topic", "column"}
