"""``discreet check`` and ``discreet schema`` on the command line, and the files in integrations/."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import polars as pl
import pytest
import yaml
from click.testing import Result
from jsonschema import Draft202012Validator

from discreet.engines.files.formats import SUFFIXES
from discreet.errors import UsageError
from discreet.job import Job
from discreet.job.json_schema import job_schema
from discreet.problem import COSTS, PRIVACY, SCHEMES, SUPPRESSION
from discreet.solve import SOLVERS

Run = Callable[..., Result]
ROOT = Path(__file__).parents[2]
INTEGRATIONS = ROOT / "integrations"


@pytest.fixture
def safe() -> Path:
    path = Path("safe.csv")
    pl.DataFrame({"sex": ["f"] * 4 + ["m"] * 5, "ill": ["a", "b", "c"] * 3}).write_csv(path)
    return path


def test_the_verdict_is_the_exit_code(run: Run, safe: Path) -> None:
    assert run("check", "people.csv").exit_code == 5
    kept = run("check", str(safe), "--qi", "sex", "--sensitive", "ill", "-k", "4", "-l", "2")
    assert kept.exit_code == 0, kept.output
    assert kept.stdout.startswith("Check passed: 1 table")
    assert run("check", str(safe), "--qi", "sex", "-k", "5", "-q").exit_code == 5
    both = run("check", str(safe), "people.csv", "--forbid", "i*")
    assert both.exit_code == 5
    assert "The column 'ill' must not be there." in both.stdout


def test_strict_makes_warnings_fail(run: Run, safe: Path) -> None:
    Path("policy.yaml").write_text("quasi_identifiers: [sex]\nwarn: {privacy: k(5)}\n")
    assert run("check", str(safe), "--policy", "policy.yaml").exit_code == 0
    assert run("check", str(safe), "--policy", "policy.yaml", "--strict").exit_code == 5


def test_results_can_be_written(run: Run, safe: Path) -> None:
    assert run("check", str(safe), "--format", "sarif", "-o", "found.sarif").exit_code == 0
    assert json.loads(Path("found.sarif").read_text())["version"] == "2.1.0"
    assert json.loads(run("check", str(safe), "--format", "json").stdout)["passed"]


def test_a_policy_that_is_not_there(run: Run, safe: Path) -> None:
    found = run("check", str(safe), "--policy", "policy.yaml")
    assert found.exit_code == 3
    assert "There is no policy file 'policy.yaml'" in found.stderr


def valid(schema: dict[str, Any], fields: Any) -> bool:
    return bool(Draft202012Validator(schema).is_valid(fields))


def test_saved_jobs_are_valid_by_the_schema(run: Run) -> None:
    saved = run(
        *("anonymize", "people.csv", "--identifiers", "person_id,name,birth_date,income", "--qi", "zip,sex", "-k", "5"),
        *("-o", "out.csv", "--save-job", "job.yaml", "--dry-run"),
    )
    assert saved.exit_code == 0, saved.output
    assert Path("job.yaml").read_text().startswith("# yaml-language-server: $schema=discreet-job.schema.json\n")
    schema = json.loads(Path("discreet-job.schema.json").read_text())
    assert schema == json.loads(run("schema").stdout)
    Draft202012Validator.check_schema(schema)
    assert valid(schema, yaml.safe_load(Path("job.yaml").read_text()))


def test_the_schema_knows_good_jobs_from_bad_ones(run: Run) -> None:
    schema = json.loads(run("schema", "job").stdout)
    for path in (ROOT / "examples").glob("*.yaml"):
        assert valid(schema, yaml.safe_load(path.read_text())), path
    good = {"input": "people.csv", "quasi_identifiers": {"zip": "mask(digits=5)"}, "privacy": ["k(5)"]}
    for more in (
        {},
        {"scheme": "best"},
        {"scheme": {"zip": "OPS"}},
        {"cost": "dm"},
        {"suppression": "budget(5%)"},
        {"suppression": "5%"},
        {"solver": " Cuts(top=5)"},
        {"types": {"zip": "text"}, "decimal": ",", "priorities": {"zip": 1}, "min_levels": {"zip": 0}},
        {"quasi_identifiers": {"zip": "hierarchies/zip (2).csv", "sex": None, "age": " Intervals(5)", "work": ["a"]}},
    ):
        assert valid(schema, {**good, **more}), more
        Job(**{**good, **more})
    for more in (
        {"privacy": "kk(5)"},
        {"privcy": "k(5)"},
        {"engine": "pandas"},
        {"time_limit": 0},
        {"scheme": "subtre"},
        {"seed": -1},
        {"quasi_identifiers": ["zip", "zip"]},
        {"quasi_identifiers": []},
        {"quasi_identifiers": {}},
        {"quasi_identifiers": {"zip": "maks(5)"}},
        {"privacy": []},
        {"privacy": "k()"},
        {"suppression": "budget"},
        {"solver": "latice"},
        {"types": {"zip": "number"}},
        {"decimal": ";"},
        {"priorities": {"zip": 0}},
        {"min_levels": {"zip": -1}},
    ):
        assert not valid(schema, {**good, **more}), more


def test_the_schema_takes_what_people_copy(run: Run) -> None:
    """Every job and policy in the documentation, and every kind of job that was once done for real."""
    jobs, policies = (json.loads(run("schema", kind).stdout) for kind in ("job", "policy"))
    blocks = [
        (page.name, yaml.safe_load(block))
        for page in sorted((ROOT / "docs").rglob("*.md"))
        for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    ]
    found = [(page, block) for page, block in blocks if "privacy" in block]
    assert len(found) >= 9
    for page, block in found:
        assert valid(jobs if "input" in block or "tables" in block else policies, block), (page, block)
    for saved in json.loads((ROOT / "tests" / "fuzz" / "saved.json").read_text(encoding="utf-8")):
        old = saved["job"]
        job = {name: old[name] for name in ("privacy", "cost", "suppression", "solver") if old[name] is not None}
        job = {"privacy": "k(2)", **job, "scheme": old["schemes"] or "full-domain"}
        assert valid(jobs, {**job, "input": "people.csv", "quasi_identifiers": list(old["quasi"])}), job


@pytest.mark.parametrize("key", ["privacy", "cost", "suppression", "scheme", "solver"])
def test_the_schema_takes_the_text_forms_that_jobs_take(key: str) -> None:
    """Every example of every part, and its bare name where it needs no arguments."""
    family = {"privacy": PRIVACY, "cost": COSTS, "suppression": SUPPRESSION, "scheme": SCHEMES, "solver": SOLVERS}[key]
    good = {"input": "people.csv", "quasi_identifiers": ["zip"], "privacy": "k(5)"}
    schema = job_schema()
    for part in family.members().values():
        for text in (*part.examples, part.name, *part.aliases, f"{part.name}()"):
            try:
                family.make(text)
            except UsageError:
                assert text not in part.examples
                assert not valid(schema, {**good, key: text}), text
            else:
                assert valid(schema, {**good, key: text}), text


def test_the_schema_says_in_words_what_editors_show(run: Run) -> None:
    """Names instead of a pattern, values of a column to choose from, and no null to delete."""
    keys = json.loads(run("schema", "job").stdout)["properties"]
    assert keys["suppression"]["patternErrorMessage"].startswith("This is no kind of suppression, such as budget(0.05)")
    assert "distinct-l" in keys["privacy"]["anyOf"][0]["patternErrorMessage"]
    assert not [name for name, field in keys.items() if "default" in field and field["default"] is None]
    assert not [
        name for name, field in keys.items() if "--" in field["description"] or "Repeat" in field["description"]
    ]
    by_column = [each for each in keys["quasi_identifiers"]["anyOf"] if "additionalProperties" in each]
    assert "mask(digits=5)" in by_column[0]["additionalProperties"]["examples"]
    assert "lattice" in keys["solver"]["examples"]


def test_the_schema_of_policies(run: Run) -> None:
    schema = json.loads(run("schema", "policy").stdout)
    Draft202012Validator.check_schema(schema)
    good = {
        "quasi_identifiers": ["age"],
        "privacy": "k(5)",
        "risk": {"highest": "20%"},
        "tables": {"a*": {"forbid": "x"}},
    }
    assert valid(schema, good)
    for more in (
        {"risk": {"most": 1}},
        {"tables": {"a*": {"forbids": "x"}}},
        {"warn": {"privacy": "kk(5)"}},
        {"unique": 2},
    ):
        assert not valid(schema, {**good, **more}), more


@pytest.mark.parametrize(
    "file", [".pre-commit-hooks.yaml", "integrations/pre-commit/pre-commit-config.yaml", "docs/policies.md"]
)
def test_the_hook_looks_at_every_kind_of_table(file: str) -> None:
    """Also those with a name in capitals, and spreadsheets that it can only refuse."""
    pattern = re.search(r"^ *files: (.+)$", (ROOT / file).read_text(), re.MULTILINE)
    assert pattern is not None
    compressed = [
        f"{suffix}{more}" for suffix in (".csv", ".tsv", ".jsonl", ".ndjson") for more in (".gz", ".zst", ".bz2")
    ]
    for suffix in (*SUFFIXES, *compressed, ".xls", ".xlsm", ".ods", ".feather"):
        assert re.search(pattern[1], f"data/people{suffix}"), suffix
        assert re.search(pattern[1], f"DATA/PEOPLE{suffix.upper()}"), suffix
    for name in ("csv", "notes.md", "people.csv.py", "report.json", "parquet.txt"):
        assert not re.search(pattern[1], name), name


def test_pre_commit_stops_names(folder: Path) -> None:
    """A table with names cannot be committed; one without can."""
    tools = Path(sys.executable).parent
    if not (tools / "pre-commit").exists() or shutil.which("git") is None:
        pytest.skip("pre-commit or git is not installed")
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "discreet").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m discreet "$@"\n')
    (bin_folder / "discreet").chmod(0o755)
    shutil.copy(INTEGRATIONS / "pre-commit" / "pre-commit-config.yaml", folder / ".pre-commit-config.yaml")
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    paths = os.pathsep.join([str(bin_folder), str(tools), os.environ["PATH"]])
    settings = {"PATH": paths, "PYTHONPATH": source, "HOME": str(folder), "PRE_COMMIT_HOME": str(folder / "cache")}

    def call(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True, check=False
        )

    pl.DataFrame({"sex": ["f", "m"] * 20}).write_csv("harmless.csv")
    shutil.copy("people.csv", "OTHERS.CSV")
    assert call("git", "init", "-q").returncode == 0
    call("git", "add", ".pre-commit-config.yaml", "harmless.csv")
    kept = call("pre-commit", "run")
    assert kept.returncode == 0, kept.stdout + kept.stderr
    call("git", "add", "people.csv")
    stopped = call("pre-commit", "run")
    assert stopped.returncode == 1
    assert "'name' could identify people" in stopped.stdout
    call("git", "rm", "-q", "--cached", "people.csv")
    call("git", "add", "OTHERS.CSV")
    assert call("pre-commit", "run").returncode == 1


def test_ci_files_run_commands_that_exist(run: Run, safe: Path) -> None:
    """The commands in the files for GitHub and GitLab work, with the table and policy they name."""
    Path("data").mkdir()
    shutil.move(safe, "data/safe.csv")
    Path("policy.yaml").write_text("quasi_identifiers: [sex]\nprivacy: k(4)\n")
    github = yaml.safe_load((INTEGRATIONS / "github" / "discreet.yml").read_text())
    gitlab = yaml.safe_load((INTEGRATIONS / "gitlab" / "discreet.gitlab-ci.yml").read_text())
    lines = [step.get("run", "") for step in github["jobs"]["check"]["steps"]] + gitlab["discreet"]["script"]
    commands = [line.split()[1:] for line in lines if line.startswith("discreet ")]
    assert len(commands) == 2
    for command in commands:
        assert run(*command).exit_code == 0
    assert Path(gitlab["discreet"]["artifacts"]["reports"]["junit"]).is_file()
    assert Path("discreet.sarif").is_file()


def test_the_pytest_file_fails_if_a_table_breaks_the_policy(folder: Path, safe: Path) -> None:
    Path("data").mkdir()
    shutil.move(safe, "data/safe.csv")
    shutil.copy(INTEGRATIONS / "pytest" / "test_policy.py", folder)
    for least, code in ((4, 0), (5, 1)):
        Path("policy.yaml").write_text(f"quasi_identifiers: [sex]\nprivacy: k({least})\n")
        found = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_policy.py"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.returncode == code, found.stdout


VISITS = [
    ("a", None, "s", 1),
    ("a", None, "t", 1),
    ("a", "x", "s", 1),
    ("b", "x", "s", 1),
    ("b", "x", None, 2),
    ("c", "x", "s", 3),
    ("c", "x", "t", None),
]
"""Two quasi-identifiers, a sensitive value and a person."""


@pytest.mark.parametrize("warehouse", ["duckdb", "postgresql"])
def test_the_dbt_tests_find_the_classes_that_break_a_promise(
    warehouse: str, request: pytest.FixtureRequest, folder: Path
) -> None:
    query = _on_duckdb() if warehouse == "duckdb" else request.getfixturevalue("postgres").run
    rows = ", ".join(str(row).replace("None", "null") for row in VISITS)
    macros = _dbt_macros()
    query("create table dbt_visits (a varchar, b varchar, s varchar, p integer)")
    query(f"insert into dbt_visits values {rows}")
    assert query(macros.k_anonymity("dbt_visits", ["a", "b"], 2)) == [("a", "x", 1)]
    same = query(macros.distinct_l_diversity("dbt_visits", ["a", "b"], "s", 2))
    assert sorted(same) == [("a", "x", 1), ("b", "x", 1)]
    alone = query(macros.k_anonymity("dbt_visits", ["a", "b"], 2, person="p"))
    assert sorted(alone, key=str) == [("a", "x", 1), ("a", None, 1), ("c", "x", 1)]
    query("drop table dbt_visits")


def _on_duckdb() -> Callable[[str], list[tuple[Any, ...]]]:
    """Return what runs a statement in an empty database in memory."""
    database = pytest.importorskip("duckdb").connect()
    return lambda statement: list(database.execute(statement).fetchall())


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "spark", "snowflake"])
def test_the_dbt_tests_are_sql_of_every_warehouse(dialect: str) -> None:
    """Each dialect reads and writes them without changing a word."""
    sqlglot = pytest.importorskip("sqlglot")
    macros = _dbt_macros()
    for query in (
        macros.k_anonymity("t", ["a", "b"], 2),
        macros.k_anonymity("t", ["a", "b"], 2, person="p"),
        macros.distinct_l_diversity("t", ["a", "b"], "s", 2),
    ):
        (read,) = sqlglot.parse(query, read=dialect)
        assert read.sql(dialect=dialect).lower() == " ".join(query.split())


def _dbt_macros() -> Any:
    text = (INTEGRATIONS / "dbt" / "macros" / "discreet.sql").read_text()
    text = text.replace("{% test ", "{% macro ").replace("{% endtest %}", "{% endmacro %}")
    return jinja2.Environment(autoescape=False).from_string(text).module


DBT_MODELS = """
models:
  - name: safe
    data_tests:
      - k_anonymity: {name: keeps_k, arguments: {columns: [a, b], k: 1}}
      - k_anonymity: {name: breaks_k, arguments: {columns: [a, b], k: 2}}
      - k_anonymity: {name: keeps_k_of_people, arguments: {columns: [a], k: 1, person: p}}
      - k_anonymity: {name: breaks_k_of_people, arguments: {columns: [a, b], k: 2, person: p}}
      - distinct_l_diversity: {name: keeps_l, arguments: {columns: [a, b], sensitive: s, l: 1}}
      - distinct_l_diversity: {name: breaks_l, arguments: {columns: [a, b], sensitive: s, l: 2}}
"""


@pytest.mark.deep  # a minute, where dbt is installed
def test_dbt_itself(folder: Path) -> None:
    dbt = shutil.which("dbt", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if dbt is None:
        pytest.skip("dbt is not here")
    project = folder / "project"
    shutil.copytree(INTEGRATIONS / "dbt" / "macros", project / "macros")
    (project / "models").mkdir()
    (project / "seeds").mkdir()
    pl.DataFrame(VISITS, schema=["a", "b", "s", "p"], orient="row").write_csv(project / "seeds" / "visits.csv")
    (project / "models" / "safe.sql").write_text("select * from {{ ref('visits') }}")
    (project / "models" / "schema.yml").write_text(DBT_MODELS)
    (project / "dbt_project.yml").write_text("name: clinic\nversion: '1.0'\nprofile: clinic\n")
    (project / "profiles.yml").write_text(
        "clinic: {target: dev, outputs: {dev: {type: duckdb, path: clinic.duckdb}}}\n"
    )
    settings = {**os.environ, "DBT_PROFILES_DIR": str(project), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    run = subprocess.run([dbt, "build"], cwd=project, env=settings, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stdout
    results = json.loads((project / "target" / "run_results.json").read_text())["results"]
    found = {each["unique_id"].split(".")[2]: (each["status"], each["failures"]) for each in results}
    assert {name: each for name, each in found.items() if name.startswith(("keeps", "breaks"))} == {
        "keeps_k": ("pass", 0),
        "breaks_k": ("fail", 1),
        "keeps_k_of_people": ("pass", 0),
        "breaks_k_of_people": ("fail", 3),
        "keeps_l": ("pass", 0),
        "breaks_l": ("fail", 2),
    }
