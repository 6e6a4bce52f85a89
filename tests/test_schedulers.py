"""The examples for schedulers in integrations/: their steps, and the real thing where it is installed."""

from __future__ import annotations

import importlib
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

import discreet as dc

INTEGRATIONS = Path(__file__).parents[1] / "integrations"
DAY = "2026-11-17"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a nightly job, with the people of one day."""
    people = dc.sample(1500, seed=5).select("sex", "education", "diagnosis")
    release = dc.anonymize(
        people.head(1000),
        quasi_identifiers=["sex", "education"],
        sensitive=["diagnosis"],
        privacy=["k(5)", "distinct-l(2, diagnosis)"],
    )
    release.mapping(tmp_path / "mapping.json")
    release.policy().save(tmp_path / "policy.yaml")
    (tmp_path / "incoming").mkdir()
    people.tail(500).write_parquet(tmp_path / "incoming" / f"{DAY}.parquet")
    return tmp_path


@pytest.fixture
def strict(folder: Path) -> Path:
    """The same with a policy that no table of a day can keep."""
    (folder / "policy.yaml").write_text("quasi_identifiers: [sex, education]\nprivacy: k(400)\n")
    return folder


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(INTEGRATIONS / "nightly"))
    return importlib.import_module("discreet_nightly")


def published(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "published").glob("*"))


def test_a_night(folder: Path, steps: ModuleType) -> None:
    staged = steps.anonymize(str(folder), DAY)
    assert steps.check(str(folder), DAY).passed
    assert published(folder) == []
    path = steps.publish(str(folder), DAY)
    assert not Path(staged).exists()
    assert dc.audit(path, quasi_identifiers=["sex", "education"], privacy="k(5)").passed
    assert 400 < pl.read_parquet(path).height <= 500


def test_a_table_that_breaks_the_policy_is_not_published(strict: Path, steps: ModuleType) -> None:
    steps.anonymize(str(strict), DAY)
    assert not steps.check(str(strict), DAY).passed
    with pytest.raises(dc.AuditError):
        steps.publish(str(strict), DAY)
    assert published(strict) == []


def test_without_a_scheduler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["discreet_nightly.py", str(folder), DAY])
    runpy.run_path(str(INTEGRATIONS / "nightly" / "discreet_nightly.py"), run_name="__main__")
    assert published(folder) == [f"{DAY}.parquet"]


def _dagster(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, list[bool]]:
    """Run the assets of a day; return whether that succeeded, and the results of checks."""
    monkeypatch.setenv("DISCREET_FOLDER", str(folder))
    definitions = runpy.run_path(str(INTEGRATIONS / "dagster" / "discreet_assets.py"))["defs"]
    run = definitions.resolve_job_def("nightly").execute_in_process(partition_key=DAY, raise_on_error=False)
    return run.success, [check.passed for check in run.get_asset_check_evaluations()]


@pytest.mark.usefixtures("steps")
def test_dagster(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("dagster", reason="Dagster is not here")
    assert _dagster(folder, monkeypatch) == (True, [True])
    assert published(folder) == [f"{DAY}.parquet"]


@pytest.mark.usefixtures("steps")
def test_dagster_fails_if_the_policy_is_broken(strict: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("dagster", reason="Dagster is not here")
    assert _dagster(strict, monkeypatch) == (False, [False])
    assert published(strict) == []


AIRFLOW = """
import json, runpy, sys
from datetime import datetime, UTC
dag = runpy.run_path(sys.argv[1])["people"]
run = dag.test(logical_date=datetime.fromisoformat(sys.argv[2]).replace(tzinfo=UTC))
print(json.dumps({task.task_id: task.state for task in run.get_task_instances()}))
"""
"""Runs a DAG and prints the states of its tasks."""


def _airflow(folder: Path) -> dict[str, str]:
    """Run the DAG of a day, with a database of its own, and return the states of its tasks."""
    settings = {
        "AIRFLOW_HOME": str(folder / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(INTEGRATIONS / "airflow"),
        "DISCREET_FOLDER": str(folder),
        "PYTHONPATH": os.pathsep.join([*sys.path, str(INTEGRATIONS / "nightly")]),
    }
    environment = {**os.environ, **settings}
    subprocess.run([sys.executable, "-m", "airflow", "db", "migrate"], env=environment, capture_output=True, check=True)
    command = [sys.executable, "-c", AIRFLOW, str(INTEGRATIONS / "airflow" / "discreet_dag.py"), DAY]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(run.stdout.splitlines()[-1]))


@pytest.mark.deep  # half a minute each, where Airflow is installed
def test_airflow(folder: Path) -> None:
    pytest.importorskip("airflow", reason="Airflow is not here")
    assert _airflow(folder) == {"anonymize": "success", "check": "success", "publish": "success"}
    assert published(folder) == [f"{DAY}.parquet"]


@pytest.mark.deep
def test_airflow_fails_if_the_policy_is_broken(strict: Path) -> None:
    pytest.importorskip("airflow", reason="Airflow is not here")
    assert _airflow(strict) == {"anonymize": "success", "check": "failed", "publish": "upstream_failed"}
    assert published(strict) == []
