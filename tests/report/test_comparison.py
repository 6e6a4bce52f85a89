"""Several jobs side by side: the figures of each are those of the job by itself, and nothing is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import program
from discreet.errors import UsageError
from discreet.job import Job

COLUMNS = ["sex", "education", "diagnosis"]
JOB: dict[str, Any] = {
    "quasi_identifiers": {"sex": "flat", "education": None},
    "sensitive": ["diagnosis"],
    "privacy": ["k(5)"],
}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return dc.sample(400, seed=4).select(COLUMNS)


@pytest.fixture
def files(people: pl.DataFrame, tmp_path: Path) -> list[Path]:
    """Three jobs about one table, of which the last cannot be done."""
    people.write_csv(tmp_path / "people.csv")
    ways = {"low": "k(1)", "high": "k(30)", "never": "k(399)"}
    limits = {"never": {"max_levels": {"sex": 0}}}
    for name, privacy in ways.items():
        settings = {**JOB, "privacy": [privacy], **limits.get(name, {})}
        output = str(tmp_path / f"{name}.csv")
        Job(input=str(tmp_path / "people.csv"), output=output, **settings).save(tmp_path / f"{name}.yaml")
    return [tmp_path / f"{name}.yaml" for name in ways]


def test_figures_are_those_of_each_job(files: list[Path], tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    found = dc.compare(*files, queries=30)
    assert sorted(tmp_path.iterdir()) == before
    low, high, never = found.jobs
    assert [one.name for one in found.jobs] == ["low", "high", "never"]
    for one, file in ((low, files[0]), (high, files[1])):
        job = Job.load(file)
        release = dc.anonymize(**job.arguments())
        figures = one.figures()
        assert one.status == release.status
        assert figures["cost"] == release.cost
        assert figures["classes"] == release.classes
        assert figures["suppressed"] == release.suppressed
        assert figures["average_class_size"] == pytest.approx(release.n / release.classes)
        assert figures["highest_risk"] == release.audit.sizes.highest_risk
        assert figures["average_risk_before"] == release.before.average_risk
        utility = release.utility(queries=30)
        assert figures["loss_LM"] == utility.cost("LM", normalized=True)
        assert figures["query_error"] == utility.queries.median if utility.queries else None
        assert figures["association_difference"] == utility.association_difference
    assert low.figures()["loss_LM"] <= high.figures()["loss_LM"]
    assert (never.status, never.figures()) == ("infeasible", {})
    assert "k(399)" in (never.why or "")


def test_the_best_of_a_line_has_a_star(files: list[Path]) -> None:
    table = dc.compare(*files[:2], queries=30).table()
    lines = {row[0]: row[1:] for row in table}
    assert lines["status"] == ["optimal", "optimal"]
    assert lines["loss LM"][0].endswith(" *")
    assert not lines["loss LM"][1].endswith(" *")
    assert lines["smallest class"][1].endswith(" *")
    assert not any(cell.endswith("*") for cell in lines["highest risk before"])


def test_releases_and_names(people: pl.DataFrame) -> None:
    releases = [dc.anonymize(people, **{**JOB, "privacy": f"k({k})"}) for k in (2, 20)]
    assert [one.name for one in dc.compare(*releases, utility=False).jobs] == ["job 1", "job 2"]
    named = dc.compare({"two": releases[0], "twenty": releases[1]}, utility=False)
    assert named.to_frame()["name"].to_list() == ["two", "twenty"]
    assert named.jobs[0].utility is None
    assert "loss_LM" not in named.jobs[0].figures()
    assert "<table>" in named._repr_html_()
    assert repr(named) == "Comparison(two: optimal, twenty: optimal)"


def test_columns_may_differ_and_that_is_said(people: pl.DataFrame) -> None:
    both = dc.anonymize(people, **JOB)
    one = dc.anonymize(people, quasi_identifiers=["sex"], privacy="k(5)")
    assert "different quasi-identifiers" in dc.compare(both, one, utility=False).notes[-1]


def test_what_cannot_be_compared(people: pl.DataFrame, files: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least two jobs"):
        dc.compare(files[0])
    with pytest.raises(UsageError, match="not int"):
        dc.compare(files[0], 3)
    people.head(300).write_csv(tmp_path / "others.csv")
    Job(input=str(tmp_path / "others.csv"), **JOB).save(tmp_path / "others.yaml")
    with pytest.raises(UsageError, match="different tables"):
        dc.compare(files[0], tmp_path / "others.yaml")
    with pytest.raises(UsageError, match="different numbers of rows"):
        dc.compare(dc.anonymize(people, **JOB), dc.anonymize(people.head(300), **JOB), utility=False)
    with pytest.raises(UsageError, match="cannot be written as"):
        dc.compare(*files[:2], utility=False).save(tmp_path / "comparison.docx")


def test_every_format(files: list[Path], tmp_path: Path) -> None:
    found = dc.compare(*files, queries=30)
    page = found.save(tmp_path / "c.html").read_text("utf-8")
    assert "Comparison: people.csv" in page
    assert page.count("<svg") == 3
    assert "<script" not in page
    text = found.save(tmp_path / "c.md").read_text("utf-8")
    assert "| loss LM |" in text
    data = json.loads(found.save(tmp_path / "c.json").read_text("utf-8"))
    assert [job["status"] for job in data["jobs"]] == ["optimal", "optimal", "infeasible"]
    assert pl.read_csv(found.save(tmp_path / "c.csv"))["name"].to_list() == ["low", "high", "never"]
    assert found.save(tmp_path / "c.txt").read_text("utf-8").strip() == found.summary()


def test_on_the_command_line(files: list[Path], tmp_path: Path) -> None:
    names = list(map(str, files[:2]))
    page = tmp_path / "page.html"
    result = CliRunner().invoke(program, ["compare", *names, "-o", str(page), "--queries", "20"])
    assert result.exit_code == 0, result.output
    assert "* best of its line" in result.output
    assert page.exists()
    result = CliRunner().invoke(program, ["compare", *names, "--json", "--no-utility", "-q"])
    assert [job["name"] for job in json.loads(result.output)["jobs"]] == ["low", "high"]
    result = CliRunner().invoke(program, ["compare", names[0]])
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    result = CliRunner().invoke(program, ["compare", *names, "-o", str(tmp_path / "page.pdf")])
    assert result.exit_code == 2
