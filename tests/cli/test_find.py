"""``discreet find``: the crowd before and after on the screen and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable

import polars as pl
import pytest
from click.testing import Result

Run = Callable[..., Result]


@pytest.fixture
def safe(run: Run) -> None:
    pl.DataFrame({"age": [21, 24, 33, 38], "name": list("wxyz"), "ill": ["a", "b", "a", "a"]}).write_csv("all.csv")
    ranges = ["[20, 30)", "[20, 30)", "[30, 40)", "[30, 40)"]
    pl.DataFrame({"age": ranges, "ill": ["a", "b", "a", "a"]}).write_csv("t.csv")


@pytest.mark.usefixtures("safe")
def test_both_crowds_and_what_they_tell(run: Run) -> None:
    result = run("find", "t.csv", "age=33", "--original", "all.csv", "--sensitive", "ill")
    assert result.exit_code == 0, result.output
    assert "In the original table one row matches this." in result.stdout
    assert "In the release 2 rows can be this person" in result.stdout
    assert "All of them have ill = a: that is learnt for certain." in result.stdout


@pytest.mark.usefixtures("safe")
def test_json_with_the_release_alone(run: Run) -> None:
    data = json.loads(run("find", "t.csv", "age=21", "--sensitive", "ill", "--json").stdout)
    assert (data["before"], data["after"], data["found"]) == (None, 2, False)
    assert {each["value"]: each["after"] for each in data["learnt"][0]["values"]} == {"a": 0.5, "b": 0.5}


@pytest.mark.usefixtures("safe")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["age"], "written COLUMN=VALUE"),
        (["age=1", "age=2"], "'age' is given twice"),
        ([], "Say what is known"),
        (["ag=3"], "did you mean 'age'"),
        (["name=w", "--original", "all.csv"], "'name' is not in the release"),
        (["ill=c", "--original", "all.csv"], "'ill' has no such value"),
    ],
)
def test_errors(run: Run, arguments: list[str], message: str) -> None:
    result = run("find", "t.csv", *arguments)
    assert result.exit_code in (2, 3)
    assert message in result.stderr
