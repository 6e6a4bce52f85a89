"""What a release was made with, named by its job or mapping; and figures for the owner of the data."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from discreet.cli import program

Run = Callable[..., Result]


def test_every_command_of_the_help_does_what_it_says(run: Run) -> None:
    """From the sample to the utility of its release, with default options and hierarchies."""
    shown = re.sub(r"\\\n\s*", "", CliRunner().invoke(program, ["--help"]).stdout).splitlines()
    lines = [line.strip().split("   ")[0] for line in shown if line.strip().startswith("discreet ")]
    assert len(lines) >= 8
    assert "utility" in lines[-1]
    for line in lines:
        _, *arguments = shlex.split(line)
        if arguments[0] != "studio":
            result = run(*arguments)
            assert result.exit_code == 0, (line, result.stderr)
    assert "LM" in result.stdout


@pytest.mark.parametrize(
    "known", [("--mapping", "mapping.json"), ("--job", "job.yaml"), ("--qi", "birth_date,sex,zip")]
)
def test_the_utility_of_a_default_release(run: Run, known: tuple[str, str]) -> None:
    options = ("--identifiers", "person_id,name,income", "--qi", "birth_date,sex,zip", "-k", "5", "-o", "safe.csv")
    made = run("anonymize", "people.csv", *options, "--mapping", "mapping.json", "--save-job", "job.yaml", "--json")
    cost = json.loads(made.stdout)["cost"]
    data = json.loads(run("utility", "people.csv", "safe.csv", *known, "--queries", "5", "--json").stdout)
    assert {line["cost"]: line["total"] for line in data["costs"]}["LM"] == pytest.approx(cost)
    attacked = run("risk", "safe.csv", *known, "--original", "people.csv", "--json")
    assert attacked.exit_code == 0
    assert json.loads(attacked.stdout)["attacks"]["linkage"]["matched"] == 1.0


def test_a_job_and_a_mapping_are_one_too_many(run: Run) -> None:
    result = run("utility", "people.csv", "people.csv", "--job", "job.yaml", "--mapping", "mapping.json")
    assert result.exit_code == 2
    assert "name one of them" in result.stderr


def test_more_released_than_original_rows(run: Run) -> None:
    pl.read_csv("people.csv").head(10).write_csv("few.csv")
    result = run("utility", "few.csv", "people.csv", "--qi", "sex")
    assert result.exit_code == 2
    assert "more rows than the table it was made from" in result.stderr
    assert run("explain", "more-rows-released").exit_code == 0


def test_few_left_out_are_counted_for_the_owner_alone(run: Run, folder: Path) -> None:
    table = pl.DataFrame({"town": ["a"] * 20 + ["b"] * 20 + ["odd", "rare"]})
    table.write_csv("towns.csv")
    options = ("towns.csv", "--qi", "town", "--hierarchy", "town=flat", "-k", "5", "--suppression", "budget(10%)")
    printed = run("anonymize", *options, "-o", "safe.csv").stdout
    assert "40 released, fewer than 5 left out" in printed
    assert "42" not in printed.split("seconds")[0]
    output = run("anonymize", *options, "-o", "safe.csv", "--verbose", "--save-job", "job.yaml").stdout
    assert "40 of 42 released, 2 suppressed" in output
    assert "examined" in output
    assert json.loads(run("run", "job.yaml", "--json").stdout)["suppressed"] is None
    assert json.loads(run("run", "job.yaml", "--json", "--verbose").stdout)["suppressed"] == 2
