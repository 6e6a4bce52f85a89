"""``discreet utility``: the figures of the library, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Callable

import polars as pl
import pytest
from click.testing import Result

from discreet.evaluate import utility

Run = Callable[..., Result]
HIERARCHY = ("--hierarchy", "education=education.csv")


@pytest.fixture
def safe(run: Run) -> Run:
    """Beside people.csv there is a release of it."""
    ranks = ["No schooling", "Primary school", "Middle school", "High school", "Vocational", "Bachelor", "Master"]
    rows = [*((name, "Low" if place < 4 else "High", "*") for place, name in enumerate([*ranks, "Doctorate"]))]
    pl.DataFrame(rows, schema=["value", "group", "all"], orient="row").write_csv("education.csv")
    people = pl.read_csv("people.csv", infer_schema=False)
    group = {value: group for value, group, _ in rows}
    released = people.drop("name", "person_id").with_columns(pl.col("education").replace(group))
    released[list(range(0, people.height, 2))].write_csv("safe.csv")
    return run


def test_it_tells_what_the_library_finds(safe: Run) -> None:
    options = ("--qi", "sex,education", *HIERARCHY, "--sensitive", "income", "--queries", "20", "--seed", "3")
    data = json.loads(safe("utility", "people.csv", "safe.csv", *options, "--json").stdout)
    quasi = {"sex": None, "education": "education.csv"}
    report = utility("people.csv", "safe.csv", quasi_identifiers=quasi, sensitive="income", queries=20, seed=3)
    assert data == {"format": 1, **json.loads(json.dumps(report.to_dict()))}
    assert data["suppressed"] == 300
    assert data["linked"]
    printed = safe("utility", "people.csv", "safe.csv", *options)
    assert printed.exit_code == 0
    assert printed.stdout.strip() == report.summary()


def test_hierarchies_in_a_folder_and_costs_by_name(safe: Run) -> None:
    options = ("--qi", "sex,education", "--hierarchies", ".", "--cost", "LM", "--cost", "C_AVG(k=5)", "--queries", "0")
    data = json.loads(safe("utility", "people.csv", "safe.csv", *options, "--json").stdout)
    assert [row["cost"] for row in data["costs"]] == ["LM", "C_AVG(k=5)"]
    assert data["queries"] is None


def test_classifiers(safe: Run) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    options = ("--qi", "sex,education", *HIERARCHY, "--class", "marital_status", "--model", "tree", "--queries", "0")
    data = json.loads(safe("utility", "people.csv", "safe.csv", *options, "--json").stdout)
    assert [row["model"] for row in data["classifiers"]] == ["tree"]
    assert "CM" in {row["cost"] for row in data["costs"]}
    tested = json.loads(
        safe("utility", "people.csv", "safe.csv", *options, "--held-out", "people.csv", "--json").stdout
    )
    assert tested["classifiers"] != data["classifiers"]


def test_no_classifiers(safe: Run) -> None:
    options = ("--qi", "sex,education", *HIERARCHY, "--class-attribute", "marital_status", "--model", "none", "--json")
    assert json.loads(safe("utility", "people.csv", "safe.csv", *options).stdout)["classifiers"] is None


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 2, "Name them with --qi"),
        (("--qi", "sex,sex"), 2, "twice"),
        (("--qi", "sex", "--hierarchy", "zip=auto"), 2, "which is not in --qi"),
        (("--qi", "sex,education"), 3, "give the hierarchy it was released with"),
        (("--qi", "sex", "--held-out", "people.csv"), 2, "--class-attribute"),
    ],
)
def test_errors(safe: Run, options: tuple[str, ...], code: int, words: str) -> None:
    result = safe("utility", "people.csv", "safe.csv", *options)
    assert result.exit_code == code
    assert words in result.stderr
