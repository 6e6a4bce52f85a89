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
    data = json.loads(result.stdout)
    assert result.exit_code == 5
    assert result.stderr == ""
    assert not data["passed"]
    assert data["checks"][0]["reached"] == 1
    result = run("audit", "people.csv", "--qi", "zip,sex", "-k", "5")
    assert result.exit_code == 5
    assert "FAILED" in result.stdout


def test_unknown_values(run: Run) -> None:
    pl.DataFrame({"a": ["x", "x", "y", "y"], "s": ["flu", "*", "*", "*"]}).write_csv("t.csv")
    options = ("audit", "t.csv", "--qi", "a", "--privacy", "l+(0.5, s)")
    assert run(*options, "--unknown", "*").exit_code == 0
    assert run(*options).exit_code == 5


def test_a_hierarchy_of_the_sensitive_column(run: Run) -> None:
    """Both classes have the same share of each organ, so that they are closer than their values alone say."""
    ill = ["flu", "ulcer", "cold", "gastritis"]
    pl.DataFrame({"sex": ["f"] * 2 + ["m"] * 2, "ill": ill}).write_csv("t.csv")
    pl.DataFrame({"value": ill, "organ": ["lung", "stomach"] * 2, "all": ["*"] * 4}).write_csv("ill.csv")
    asked = ("audit", "t.csv", "--qi", "sex", "--sensitive", "ill", "--privacy", "t(0.3, ill, hierarchical)")
    data = json.loads(run(*asked, "--hierarchy", "ill=ill.csv", "--json").stdout)
    assert data["passed"]
    assert data["checks"][0]["reached"] == 0.25
    bare = run(*asked)
    assert bare.exit_code == 2
    assert "needs a hierarchy" in bare.stderr
    wrong = run(*asked, "--hierarchy", "sex=ill.csv")
    assert wrong.exit_code == 2
    assert "needs a hierarchy of the sensitive attribute" in wrong.stderr
    wrong = run(*asked, "--hierarchy", "age=ill.csv")
    assert "--hierarchy names 'age', which is neither in --qi nor in --sensitive" in wrong.stderr
    absent = run(*asked, "--hierarchy", "ill=none.csv")
    assert absent.exit_code == 3
    assert "There is no hierarchy file 'none.csv'" in absent.stderr


def test_a_hierarchy_that_lacks_a_value(run: Run) -> None:
    pl.DataFrame({"sex": ["f"] * 2, "ill": ["flu", "cold"]}).write_csv("t.csv")
    pl.DataFrame({"value": ["flu"], "all": ["*"]}).write_csv("ill.csv")
    asked = ("audit", "t.csv", "--qi", "sex", "--sensitive", "ill", "--privacy", "t(1, ill, hierarchical)")
    result = run(*asked, "--hierarchy", "ill=ill.csv")
    assert result.exit_code == 3
    assert "1 of its 2 distinct values" in result.stderr
    assert "cold" not in result.output


def test_missing_sensitive_values(run: Run) -> None:
    pl.DataFrame({"a": ["x", "x", "y", "y"], "s": ["flu", None, "hiv", None]}).write_csv("t.csv")
    options = ("audit", "t.csv", "--qi", "a", "--privacy", "distinct-l(2, s)")
    assert run(*options).exit_code == 5
    assert run(*options, "--missing-sensitive", "value").exit_code == 0
    asked = ("anonymize", "t.csv", "--qi", "a", "--sensitive", "s", "-k", "2", "-l", "2")
    assert run(*asked, "-o", "unknown.csv").exit_code == 0
    assert set(pl.read_csv("unknown.csv")["a"]) == {"*"}
    assert run(*asked, "-o", "value.csv", "--missing-sensitive", "value").exit_code == 0
    assert set(pl.read_csv("value.csv")["a"]) == {"x", "y"}
    risky = ("risk", "t.csv", "--qi", "a", "--sensitive", "s", "--json")
    assert json.loads(run(*risky).stdout)["disclosure"]["s"]["distinct_l"] == 1
    assert json.loads(run(*risky, "--missing-sensitive", "value").stdout)["disclosure"]["s"]["distinct_l"] == 2


def test_a_mark_of_suppressed_values_that_nobody_named(run: Run) -> None:
    pl.DataFrame({"a": ["x", "x", "y", "y"], "s": ["flu", "*", "*", "*"]}).write_csv("t.csv")
    options = ("audit", "t.csv", "--qi", "a", "--privacy", "l+(0.5, s)")
    assert "'*' in the sensitive column 's' was counted as a value" in run(*options).stdout
    assert "--unknown '*'" in json.loads(run(*options, "--json").stdout)["notes"][0]
    assert "counted as a value" not in run(*options, "--unknown", "*").stdout
