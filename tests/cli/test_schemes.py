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
    data = json.loads(result.stdout)
    assert data["scheme"] == SCHEMES.make(name).text
    assert data["status"] == "optimal"
    assert data["audit"]["passed"]


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
    assert all(name in listed for name in SCHEMES.members())


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


LOCAL = (
    "anonymize", "people.csv", "-k", "5", "-l", "2", "--sensitive", "diagnosis", "--seed", "1",
    "--qi", "birth_date,sex,zip,education", "--hierarchy", "zip=mask(digits=5)",
    "--identifiers", "person_id,name,city,occupation,marital_status,children,income",
)  # fmt: skip
NCP = ("--cost", "NCP")


def test_local(run: Run, folder: Path) -> None:
    settings = (
        "--scheme",
        "local",
        "-o",
        "safe.csv",
        "--save-job",
        "job.yaml",
        "--report",
        "report.json",
        "--keep-order",
    )
    result = run(*LOCAL, *NCP, *settings)
    assert result.exit_code == 0, result.output
    assert "scheme" in result.stdout
    assert "gap at most" in result.stdout
    facts = json.loads(Path("report.json").read_text())
    assert facts["scheme"] == "local"
    assert facts["audit"]["passed"]
    assert 0 < facts["lower_bound"] <= facts["cost"]
    first = Path("safe.csv").read_text()
    safe, people = pl.read_csv("safe.csv"), pl.read_csv("people.csv")
    assert safe["diagnosis"].equals(people["diagnosis"])
    for shown, value in zip(safe["birth_date"], people["birth_date"], strict=True):
        assert value in dc.parse_block(shown)
    assert run("run", "job.yaml", "-q").exit_code == 0
    assert Path("safe.csv").read_text() == first
    audit = ("audit", "safe.csv", "--qi", "birth_date,sex,zip,education", "--sensitive", "diagnosis")
    assert run(*audit, "-k", "5", "-l", "2").exit_code == 0


@pytest.mark.parametrize(
    "solver", ["local(effort=low, bound=none)", "mondrian(cut=relaxed)", "top-down", "bottom-up", "mdav"]
)
def test_local_solvers(solver: str, run: Run, folder: Path) -> None:
    scheme = ("--scheme", "local(show=median)", "--suppression", "budget(2%)")
    result = run(*LOCAL, *NCP, *scheme, "--solver", solver, "-o", "safe.parquet", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["audit"]["passed"]
    assert data["suppressed"] <= 12
    assert pl.read_parquet_schema("safe.parquet")["birth_date"] == pl.Date


def test_local_with_node_weights(run: Run, folder: Path) -> None:
    settings = ("--scheme", "local", "-o", "safe.csv", "--save-job", "job.yaml", "--weight", "sex=2")
    result = run(*LOCAL, *settings, "--cost", "NCP(node_weights={zip: {'*': 3}})", "--json")
    assert result.exit_code == 0, result.output
    heavy = json.loads(result.stdout)
    assert heavy["job"]["cost"] == "NCP(node_weights={zip: {1 value}}, weights={sex: 2})"
    assert heavy["cost"] > json.loads(run(*LOCAL, *NCP, *settings, "--json").stdout)["cost"]
    result = run(*LOCAL, *settings, "--cost", "NCP(node_weights={zip: {'30+': 3}})")
    assert result.exit_code == 2
    assert "has a weight for '30+', but the hierarchy of 'zip' has no such node" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scheme", "local", "--cost", "precision"), "The cost precision does not go with the scheme local"),
        (("--scheme", "sex=local"), "scheme local"),
        (("--scheme", "local", "--solver", "lattice"), "The solver lattice does not go with the scheme local"),
        (("--scheme", "local", "--min-level", "birth_date=1"), "A limit on the levels of 'birth_date'"),
    ],
)
def test_what_does_not_go_with_local(options: tuple[str, ...], message: str, run: Run, folder: Path) -> None:
    result = run(*LOCAL, *options, "-o", "safe.csv")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not Path("safe.csv").exists()


def test_a_plan_of_local_recoding(run: Run, folder: Path) -> None:
    result = run(*LOCAL, "--scheme", "local", "--dry-run", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["solver"], data["nodes"]) == ("local", None)
    assert "possible recodings" not in run(*LOCAL, "--scheme", "local", "--dry-run").stdout


def test_best_is_known_where_schemes_are(run: Run) -> None:
    assert "  best" in run("parts", "schemes").stdout
    assert run("warm-up", "best").exit_code == 0
    result = run("anonymize", "people.csv", "--qi", "sex", "-k", "5", "--scheme", "bst", "-o", "safe.csv")
    assert "did you mean 'best'" in result.stderr
