"""Folders, patterns and databases on the command line and in job files; passwords are never shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import Result

import discreet as dc
from databases import DATABASES, PASSWORD, Server, fill
from discreet.engines import open_source
from discreet.job import Job

pytestmark = pytest.mark.usefixtures("columns_kept")

Run = Callable[..., Result]
Place = Callable[[str, str], str]
QI = ("--identifiers", "person_id,name", "--qi", "sex,education", "-k", "5")


@pytest.fixture
def people(folder: Path) -> pl.DataFrame:
    return pl.read_csv("people.csv", infer_schema=False)


@pytest.mark.parametrize("kind", DATABASES)
def test_from_a_database_to_itself(kind: str, run: Run, people: pl.DataFrame, place: Place, folder: Path) -> None:
    source, target = fill(place(kind, "people"), people), place(kind, "safe")
    output = run("info", source, "--json")
    assert output.exit_code == 0, output.output
    assert json.loads(output.stdout)["rows"] == 600
    done = run("anonymize", source, "-o", target, *QI, "--report", "report.json", "--save-job", "job.yaml")
    assert done.exit_code == 0, done.output
    assert "passed" in done.stdout
    assert open_source(target).columns == people.columns[2:]
    assert run("audit", target, "--qi", "sex,education", "-k", "5").exit_code == 0
    assert run("audit", target, "--qi", "sex,education", "-k", "500").exit_code == 5
    for text in (done.output, output.output, Path("report.json").read_text(), Path("job.yaml").read_text()):
        assert PASSWORD not in text
    wrong = run("anonymize", source, "-o", target, "--qi", "sexx", "-k", "5")
    assert wrong.exit_code == 3
    assert PASSWORD not in wrong.output
    for command in (("anonymize", source, "-o", target, "-k", "5"), ("audit", target, "-k", "5")):
        asked = run(*command)
        assert asked.exit_code == 2
        assert PASSWORD not in asked.output
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("kind", DATABASES)
def test_a_job_file(
    kind: str, run: Run, people: pl.DataFrame, place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = fill(place(kind, "people"), people), place(kind, "safe")
    Path("jobs").mkdir()
    assert run("anonymize", source, "-o", target, *QI, "--save-job", "jobs/job.yaml").exit_code == 0
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    for arguments in (("--dry-run",), ("--quiet",), ("--json",)):
        done = run("run", "jobs/job.yaml", *arguments)
        assert done.exit_code == 0, done.output
        assert PASSWORD not in done.output
    job = Job.load("jobs/job.yaml")
    assert job.run().job["input"] == dc.anonymize(source, quasi_identifiers="sex", privacy="k(5)").job["input"]


def test_relative_files_in_a_job(run: Run, people: pl.DataFrame, folder: Path) -> None:
    fill("sqlite:///clinic.db?table=people", people)
    Path("jobs").mkdir()
    command = ("anonymize", "sqlite:///clinic.db?table=people", "-o", "safe/", *QI, "--save-job", "jobs/job.yaml")
    assert run(*command).exit_code == 0
    job = Job.load("jobs/job.yaml")
    assert (job.input, job.output) == ("sqlite:///../clinic.db?table=people", "../safe/")
    Path("safe/part-00000.parquet").unlink()
    done = run("run", "jobs/job.yaml")
    assert "The release is in safe/." in done.stdout, done.output
    assert pl.read_parquet("safe").height == 600


def test_folders_and_patterns(run: Run, people: pl.DataFrame, folder: Path) -> None:
    Path("data").mkdir()
    people[:300].write_csv("data/a.csv")
    people[300:].write_parquet("data/b.parquet")
    for source in ("data", "data/", "data/*"):
        done = run("anonymize", source, "-o", "safe.csv", *QI)
        assert done.exit_code == 0, done.output
        assert "600 of 600 released" in done.stdout
    assert json.loads(run("info", "data", "--json").stdout)["rows"] == 600
    for output in ("data/safe.csv", "data/", "data/a.csv"):
        refused = run("anonymize", "data", "-o", output, *QI)
        assert refused.exit_code == 6, refused.output
    assert run("pareto", "data", "--qi", "sex,education", "--release", "knee", "--release-to", "safe/").exit_code == 0
    assert run("hierarchy", "make", "data", "--column", "sex", "-o", "sex.csv").exit_code == 0
    assert run("hierarchy", "make", "data", "--column", "sex", "-o", "data/a.csv").exit_code == 6


def test_a_sample_in_a_database(run: Run, folder: Path) -> None:
    done = run("sample", "-n", "50", "-o", "sqlite:///clinic.db?table=people")
    assert "wrote 50 made-up people to sqlite:///clinic.db?table=people" in done.stdout
    assert open_source("sqlite:///clinic.db?table=people").count(["sex"]).to_series(-1).sum() == 50
    refused = run("anonymize", "sqlite:///clinic.db?table=people", "-o", "safe.csv", *QI, "--report", "clinic.db")
    assert refused.exit_code in (2, 6)


def test_what_cannot_be_reached(run: Run, postgres: Server) -> None:
    secret = postgres.url("people", password="wrong-secret")
    for command in (
        ("info", secret),
        ("anonymize", secret, "-o", "safe.csv", *QI),
        ("audit", secret, "--qi", "a", "-k", "2"),
    ):
        refused = run(*command)
        assert refused.exit_code == 3
        assert refused.output.count("\n") == 1
        assert "wrong-secret" not in refused.output
        assert "refused the password of 'ann'" in refused.output
