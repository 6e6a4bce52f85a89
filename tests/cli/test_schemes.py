"""Schemes on the command line and in job files: one for all, exceptions, and columns without a hierarchy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

import discreet as dc
from discreet.cli import program
from discreet.job import Job
from discreet.problem import SCHEMES

Run = Callable[..., Result]
MARITAL = "groups({Alone: [Single, Separated, Divorced, Widowed], Together: [Partnered, Married]})"
BASE = (
    "anonymize", "people.csv", "-k", "5", "--suppression", "class-records", "--qi", "sex,marital_status,children",
    "--identifiers", "person_id,name,birth_date,zip,city,education,occupation,income",
    "--hierarchy", f"marital_status={MARITAL}",
)  # fmt: skip


@pytest.fixture
def few(folder: Path) -> Path:
    """A table with few different numbers of children."""
    people = pl.read_csv("people.csv").with_columns(pl.col("children").clip(0, 3))
    people.drop_nulls("marital_status").write_csv("people.csv")
    return folder


def test_one_for_all_and_exceptions(run: Run, few: Path) -> None:
    schemes = ("--scheme", "subtree", "--scheme", "children=ordered", "--scheme", "marital_status=GSPS")
    result = run(*BASE, *schemes, "-o", "safe.csv", "--save-job", "job.yaml", "--report", "report.json")
    assert result.exit_code == 0, result.output
    wanted = {"sex": "subtree", "marital_status": "GSPS", "children": "ordered"}
    assert Job.load("job.yaml").scheme == wanted
    assert "scheme" in result.stdout
    assert "sex subtree, marital_status guided-set, children ordered" in result.stdout
    facts = json.loads(Path("report.json").read_text())
    assert facts["scheme"] == {**wanted, "marital_status": "guided-set"}
    assert "'sex' (auto)" in result.stdout  # children need no hierarchy, and get none
    assert "'children'" not in result.stdout
    first = Path("safe.csv").read_text()
    assert run("run", "job.yaml", "-q").exit_code == 0
    assert Path("safe.csv").read_text() == first


def test_what_was_not_named_is_full_domain(run: Run, few: Path) -> None:
    result = run(*BASE, "--scheme", "children=ordered", "--dry-run", "--json")
    assert result.exit_code == 0, result.output
    plan = json.loads(result.stdout)
    assert {each["name"]: each["scheme"] for each in plan["attributes"]} == {
        "sex": "full-domain",
        "marital_status": "full-domain",
        "children": "ordered",
    }
    assert plan["solver"] == "partitions"
    assert plan["nodes"] == 2 * 3 * 2**3


def test_a_plan_says_where_a_hierarchy_is_made(run: Run, few: Path) -> None:
    result = run(*BASE, "--scheme", "set", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "'sex'             text, 2 values, set\n" in result.stdout
    assert "'marital_status'  text, 6 values, set of groups(6 values)\n" in result.stdout
    guided = run(*BASE, "--scheme", "guided-set", "--dry-run")
    assert "'sex'             text, 2 values, guided-set of an automatic hierarchy\n" in guided.stdout


@pytest.mark.parametrize("name", ["full-domain", "subtree", "guided-ordered", "ordered", "guided-set", "set", "ops"])
def test_every_scheme_by_name(name: str, run: Run, few: Path) -> None:
    result = run(*BASE, "--scheme", name, "-o", "safe.csv", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["scheme"] == SCHEMES.make(name).text
    assert told["status"] == "optimal"
    assert told["audit"]["passed"]


def test_a_mapping_in_a_job_file(run: Run, few: Path) -> None:
    Path("job.yaml").write_text(
        """
input: people.csv
output: safe.csv
identifiers: [person_id, name, birth_date, zip, city, occupation, income]
quasi_identifiers:
  education:
    ordered: [No schooling, Primary school, Middle school, High school, Vocational, Bachelor, Master, Doctorate]
  marital_status:
  children:
privacy: k(5)
suppression: class-records
scheme: {education: OPS, children: ordered}
"""
    )
    result = run("run", "job.yaml")
    assert result.exit_code == 0, result.output
    assert "education ordered, children ordered" in result.stdout
    assert "alphabetical" not in result.stdout
    order = ["No schooling", "Primary school", "Middle school", "High school", "Vocational", "Bachelor", "Master"]
    order.append("Doctorate")
    for name in pl.read_csv("safe.csv")["education"].unique():
        block = dc.parse_block(name, order)
        assert isinstance(block, dc.ValueSet)
        places = sorted(order.index(value) for value in block.values)
        assert places == list(range(places[0], places[-1] + 1))


def test_help_names_every_scheme() -> None:
    text = " ".join(CliRunner().invoke(program, ["anonymize", "--help"]).stdout.split())
    listed = text[text.index("--scheme [NAME=]SCHEME") : text.index("--solver SOLVER")]
    for name in SCHEMES.members():
        assert name in listed


@pytest.mark.parametrize(
    ("schemes", "message"),
    [
        (("orderd",), "There is no scheme 'orderd'; did you mean 'ordered'?"),
        (("children=orderd",), "The scheme of 'children': There is no scheme 'orderd'; did you mean 'ordered'?"),
        (("zip=set",), "--scheme names 'zip', which is not in --qi."),
        (("set", "subtree"), "--scheme is given twice for all columns; write NAME=SCHEME for single ones."),
        (("sex=set", "sex=subtree"), "--scheme is given twice for 'sex'."),
        (("sex=",), "--scheme is written NAME=VALUE, and 'sex=' is not."),
    ],
)
def test_errors(schemes: tuple[str, ...], message: str, run: Run, few: Path) -> None:
    given = [word for scheme in schemes for word in ("--scheme", scheme)]
    result = run(*BASE, *given, "-o", "safe.csv")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not Path("safe.csv").exists()
