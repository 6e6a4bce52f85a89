"""``discreet audit``: the verdict is the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable

import polars as pl
from click.testing import Result

Run = Callable[..., Result]


def test_a_table_that_keeps_its_promises(run: Run) -> None:
    pl.DataFrame({"sex": ["f"] * 4 + ["m"] * 5, "ill": ["a", "b", "c"] * 3}).write_csv("t.csv")
    result = run("audit", "t.csv", "--qi", "sex", "--sensitive", "ill", "-k", "4", "-l", "2")
    assert result.exit_code == 0, result.output
    assert "Audit passed" in result.stdout
    assert run("audit", "t.csv", "--qi", "sex", "-k", "4", "--quiet").output == ""


def test_a_table_that_does_not(run: Run) -> None:
    result = run("audit", "people.csv", "--qi", "zip,sex", "-k", "5", "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == 5
    assert result.stderr == ""
    assert not told["passed"]
    assert told["checks"][0]["reached"] == 1
    result = run("audit", "people.csv", "--qi", "zip,sex", "-k", "5")
    assert result.exit_code == 5
    assert "FAILED" in result.stdout


def test_unknown_values(run: Run) -> None:
    pl.DataFrame({"a": ["x", "x", "y", "y"], "s": ["flu", "*", "*", "*"]}).write_csv("t.csv")
    options = ("audit", "t.csv", "--qi", "a", "--privacy", "l+(0.5, s)")
    assert run(*options, "--unknown", "*").exit_code == 0
    assert run(*options).exit_code == 5
