"""``discreet risk``: the report on the screen and as JSON, with a population and with the original."""

from __future__ import annotations

import json
from collections.abc import Callable

import polars as pl
from click.testing import Result

Run = Callable[..., Result]


def test_a_table(run: Run) -> None:
    result = run("risk", "people.csv", "--qi", "sex,zip,education", "--sensitive", "diagnosis")
    assert result.exit_code == 0, result.output
    assert "600 rows in" in result.stdout
    assert "prosecutor" in result.stdout
    assert "journalist" not in result.stdout
    assert "Sensitive column 'diagnosis'" in result.stdout
    assert "! Column 'name' seems to hold the names of people" in result.stdout


def test_json_with_a_population(run: Run) -> None:
    asked = ("risk", "people.csv", "--qi", "sex,zip", "--json", "--threshold", "0.05", "--depth", "1")
    data = json.loads(run(*asked, "--population", "60000").stdout)
    assert data["population"]["fraction"] == 0.01
    assert data["population"]["uniques"] is None
    assert data["threshold"] == 0.05
    assert data["columns"]["depth"] == 1
    assert "attacks" not in data
    by_table = json.loads(run(*asked, "--population", "people.csv").stdout)
    assert by_table["journalist"] == by_table["prosecutor"]
    assert by_table["population"]["uniques"] == by_table["uniques"]


def test_the_original_and_the_attacks(run: Run) -> None:
    pl.DataFrame({"age": [21, 24, 33, 38], "ill": ["a", "b", "a", "a"]}).write_csv("all.csv")
    pl.DataFrame({"age": ["[20, 30)", "[20, 30)", "[30, 40)", "[30, 40)"], "ill": ["a", "b", "a", "a"]}).write_csv(
        "t.csv"
    )
    asked = ("risk", "t.csv", "--qi", "age", "--sensitive", "ill", "--original", "all.csv")
    options = ("--hierarchy", "age=intervals(10, 20)", "--privacy", "distinct-l(1, ill)")
    result = run(*asked, *options)
    assert result.exit_code == 0, result.output
    assert "before" in result.stdout
    assert "linkage" in result.stdout
    data = json.loads(run(*asked, *options, "--json").stdout)
    assert data["before"]["highest"] == 1.0
    assert data["attacks"]["linkage"]["success"] == 0.5
    assert data["attacks"]["homogeneity"]["ill"]["certain"] == 0.5
    assert [found["attribute"] for found in data["attacks"]["minimality"]["ill"]] == ["age"]


def test_wrong_usage(run: Run) -> None:
    for arguments, code, words in (
        (["people.csv"], 2, "Name them with --qi"),
        (["people.csv", "--qi", "sex,sex"], 2, "twice"),
        (["people.csv", "--qi", "sexx"], 3, "did you mean 'sex'"),
        (["none.csv", "--qi", "sex"], 3, "no file"),
        (["people.csv", "--qi", "sex", "--population", "5"], 2, "at least the 600 people"),
        (["people.csv", "--qi", "sex", "--population", "none.csv"], 3, "no file"),
        (["people.csv", "--qi", "sex", "--threshold", "7"], 2, "threshold"),
        (["people.csv", "--qi", "sex", "--hierarchy", "zip=flat"], 2, "neither in --qi nor in --sensitive"),
    ):
        result = run("risk", *arguments)
        assert result.exit_code == code, result.output
        assert words in result.stderr
