"""Values of the data that a user wrote into a job are in the job file, and in nothing that is handed on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.errors import InfeasibleError, UsageError
from discreet.job import Job
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.audit import audit
from discreet.pipeline.release import Release

SECRETS = ["Aspatria", "Zwickau", "Plauen", "Cumbria", "Kuru", "Scrapie", "low pay", "high pay"]
TREE = {"Cumbria": ["Aspatria"], "Saxony": ["Zwickau", "Plauen"]}
THETAS = "l+({Kuru: 0.5, Scrapie: 0.9}, disease)"
PAY = "ordered(['low pay', 'high pay'])"


@pytest.fixture
def table() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "town": ["Aspatria", "Zwickau", "Plauen"] * 8,
            "pay": ["low pay", "low pay", "low pay", "high pay"] * 6,
            "disease": ["Kuru", "Scrapie", "Flu", "Flu", "Flu", "Flu"] * 4,
        }
    )


def settings(form: str) -> dict[str, Any]:
    """One job in the three ways it can be written down."""
    trees: dict[str, Any] = {
        "objects": {"town": dc.groups(TREE), "pay": dc.ordered(["low pay", "high pay"])},
        "text": {"town": "groups({Cumbria: [Aspatria], Saxony: [Zwickau, Plauen]})", "pay": PAY},
        "lists": {"town": TREE, "pay": {"ordered": ["low pay", "high pay"]}},
    }
    model: Any = dc.LPlusDiversity({"Kuru": 0.5, "Scrapie": 0.9}, "disease") if form == "objects" else THETAS
    disease = ["Kuru", "Scrapie", "Flu"]
    sensitive: Any = {"objects": dc.groups([disease]), "text": f"groups([[{', '.join(disease)}]])", "lists": [disease]}
    return {
        "quasi_identifiers": trees[form],
        "sensitive": {"disease": sensitive[form]},
        "privacy": ["k(2)", model, "t(0.9, disease, hierarchical)"],
    }


def check_reports(release: Release, folder: Path) -> None:
    for name in ("r.json", "r.txt", "r.md"):
        text = release.report(folder / name).read_text()
        assert [word for word in SECRETS if word in text] == [], name
        assert "l+({2 values}, disease)" in text
    job = json.loads((folder / "r.json").read_text())["job"]
    assert job["quasi_identifiers"] == {"town": "groups(3 values)", "pay": "ordered(2 values)"}
    assert job["sensitive"] == {"disease": "groups(3 values)"}
    assert job["privacy"] == ["k(2)", "l+({2 values}, disease)", "t(0.9, disease, hierarchical)"]


@pytest.mark.parametrize("form", ["objects", "text", "lists"])
def test_reports_of_a_release(form: str, table: pl.DataFrame, tmp_path: Path) -> None:
    release = anonymize(table, **settings(form), output=tmp_path / "safe.csv")
    check_reports(release, tmp_path)
    assert release.job["privacy"][1] == THETAS
    again = anonymize(table, **{key: release.job[key] for key in settings(form)})
    assert again.frame.equals(anonymize(table, **settings(form)).frame)


@pytest.mark.parametrize("form", ["text", "lists"])
@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_reports_of_a_job_file(form: str, suffix: str, table: pl.DataFrame, tmp_path: Path) -> None:
    table.write_csv(tmp_path / "people.csv")
    job = Job(input=str(tmp_path / "people.csv"), output=str(tmp_path / "safe.csv"), **settings(form))
    kept = job.save(tmp_path / f"job.{suffix}").read_text()
    assert all(word in kept for word in SECRETS)
    release = Job.load(tmp_path / f"job.{suffix}").run()
    check_reports(release, tmp_path)
    plan = Job.load(tmp_path / f"job.{suffix}").plan()
    assert [word for word in SECRETS if word in plan.summary() + json.dumps(plan.to_dict())] == []


def test_cut_points_weights_and_files_are_shown(table: pl.DataFrame, tmp_path: Path) -> None:
    table = table.with_columns(age=pl.int_range(pl.len()))
    dc.groups(TREE).hierarchy.to_csv(tmp_path / "towns.csv")
    release = anonymize(
        table,
        quasi_identifiers={"age": "ranges([10, 20])", "town": tmp_path / "towns.csv"},
        privacy="k(2)",
        cost="LM(weights={age: 2})",
    )
    job = release.to_dict()["job"]
    assert job["quasi_identifiers"] == {"age": "ranges([10, 20])", "town": "towns.csv"}
    assert job["cost"] == "LM(weights={age: 2})"


def test_messages(table: pl.DataFrame) -> None:
    strict = "l+({Kuru: 0.01}, disease)"
    with pytest.raises(InfeasibleError) as infeasible:
        anonymize(table, quasi_identifiers={"town": "flat"}, sensitive="disease", privacy=strict)
    with pytest.raises(UsageError, match="which is not sensitive") as unfit:
        anonymize(table, quasi_identifiers={"town": "flat"}, sensitive="pay", privacy=strict)
    verdict = audit(table, quasi_identifiers=["town"], privacy=strict)
    assert not verdict.passed
    for text in (infeasible.value.message, unfit.value.message, verdict.summary(), str(verdict.to_dict())):
        assert "l+({1 value}, disease)" in text
        assert "Kuru" not in text
