"""``discreet anonymize``: options become a job, the job becomes an audited file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import Result

from discreet.cli._options import columns, level_pairs, pairs, privacy_models
from discreet.errors import UsageError
from discreet.job import Job

pytestmark = pytest.mark.usefixtures("columns_kept")

Run = Callable[..., Result]

BASIC = ("anonymize", "people.csv", "--identifiers", "person_id,name", "--qi", "sex,education", "-k", "5")


def test_a_release_and_its_summary(run: Run, folder: Path) -> None:
    result = run(*BASIC, "-o", "safe.csv")
    assert result.exit_code == 0, result.output
    assert "proven optimal" in result.stdout
    assert "The release is in safe.csv." in result.stdout
    released = pl.read_csv("safe.csv", infer_schema=False)
    assert "name" not in released.columns
    assert released.group_by("sex", "education").len()["len"].min() >= 5
    assert {file.name for file in folder.iterdir()} == {"people.csv", "safe.csv"}


def test_json(run: Run) -> None:
    result = run(*BASIC, "-o", "safe.csv", "--json")
    data = json.loads(result.stdout)
    assert data["status"] == "optimal"
    assert data["audit"]["passed"]
    assert data["job"]["privacy"] == ["k(5)"]
    assert set(data["levels"]) == {"sex", "education"}


def test_quiet(run: Run, folder: Path) -> None:
    result = run(*BASIC, "-o", "safe.csv", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert (folder / "safe.csv").exists()


def test_every_option_at_once(run: Run, folder: Path) -> None:
    result = run(
        "anonymize", "people.csv", "--output", "safe.parquet",
        "--identifiers", "person_id", "--identifiers", "name,city",
        "--qi", "birth_date,sex", "--qi", "zip", "--quasi-identifiers", "income",
        "--hierarchy", "birth_date=dates(year, decade)", "--hierarchy", "zip=mask(digits=5)",
        "--hierarchy", "income=intervals(20000, 40000)", "--type", "zip=text",
        "--sensitive", "diagnosis", "-k", "3", "-l", "2", "--privacy", "entropy-l(1.5, diagnosis)",
        "--cost", "LM", "--weight", "zip=2", "--weight", "sex=0.5", "--suppression", "budget(10%)",
        "--scheme", "full-domain", "--scheme", "sex=BHS", "--solver", "lattice",
        "--min-level", "birth_date=1", "--max-level", "sex=0", "--missing", "suppress", "--time-limit", "60",
        "--seed", "3", "--report", "r.json", "--report", "r.txt", "--save-job", "job.yaml",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    data = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert data["job"]["cost"] == "LM(weights={zip: 2, sex: 0.5})"
    assert data["levels"]["birth_date"] >= 1
    assert data["levels"]["sex"] == 0
    assert data["dropped_missing"] > 0
    assert "seed" not in data
    assert "seed" not in data["job"]
    assert "audit" in (folder / "r.txt").read_text(encoding="utf-8")
    assert pl.read_parquet("safe.parquet").height == data["audit"]["rows"]


SUBTREE = (
    "anonymize", "people.csv", "--identifiers", "person_id,name", "--qi", "sex,education,marital_status",
    "--sensitive", "diagnosis", "--privacy", "l+(0.5, diagnosis)",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["violating-records", "class-values"])
def test_cuts_and_parts_of_classes(kind: str, run: Run, folder: Path) -> None:
    options = ("--suppression", kind, "-o", "safe.csv", "--seed", "4")
    result = run(*SUBTREE, "--scheme", "subtree", *options, "--report", "r.json", "--save-job", "job.yaml")
    assert result.exit_code == 0, result.output
    assert "scheme" in result.stdout
    assert "different values: sex " in result.stdout
    data = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert data["levels"] == {}
    assert "seed" not in data
    assert "seed" not in data["job"]
    assert set(data["released_values"]) == {"sex", "education", "marital_status"}
    check = ("audit", "safe.csv", "--qi", "sex,education,marital_status", "--privacy", "l+(0.5, diagnosis)")
    assert run(*check, "--unknown", "*").exit_code == 0
    first = (folder / "safe.csv").read_bytes()
    assert Job.load("job.yaml").suppression == kind
    assert run("run", "job.yaml", "-q").exit_code == 0
    assert (folder / "safe.csv").read_bytes() == first


def test_schemes_of_single_columns(run: Run, folder: Path) -> None:
    schemes = ("--scheme", "subtree", "--scheme", "sex=GHS", "--suppression", "class-records")
    result = run(*SUBTREE, *schemes, "-o", "safe.csv", "--save-job", "job.yaml", "-q")
    assert result.exit_code == 0, result.output
    assert Job.load("job.yaml").scheme == {"sex": "GHS", "education": "subtree", "marital_status": "subtree"}
    data = json.loads(run("run", "job.yaml", "--dry-run", "--json").stdout)
    assert {each["scheme"] for each in data["attributes"]} == {"subtree"}
    assert data["nodes"] > 1
    shown = run("run", "job.yaml", "--dry-run").stdout
    assert "possible recodings" in shown
    assert "subtree of an automatic hierarchy" in shown


def test_saved_jobs_do_the_same_again(run: Run, folder: Path) -> None:
    (folder / "jobs").mkdir()
    assert run(*BASIC, "-o", "safe.csv", "--save-job", "jobs/job.yaml", "-q").exit_code == 0
    first = (folder / "safe.csv").read_bytes()
    (folder / "safe.csv").unlink()
    result = run("run", "jobs/job.yaml", "--json")
    assert result.exit_code == 0, result.output
    assert (folder / "safe.csv").read_bytes() == first
    assert run("run", "jobs/job.yaml", "-q").exit_code == 0
    assert (folder / "safe.csv").read_bytes() == first


def test_the_job_of_a_report_can_be_run(run: Run, folder: Path) -> None:
    assert run("sample", "-n", "5", "-o", "five.csv", "--hierarchies", "trees").exit_code == 0
    data = json.loads(run(*BASIC, "-o", "safe.csv", "--hierarchies", "trees", "--json").stdout)
    assert data["job"]["quasi_identifiers"] == {"sex": None, "education": "trees/education.csv"}
    assert "seed" not in data["job"]  # so that the rows are the same, but in another order
    first = (folder / "safe.csv").read_text().splitlines()
    Job(**data["job"]).save("again.json")
    assert run("run", "again.json").exit_code == 0
    again = (folder / "safe.csv").read_text().splitlines()
    assert (again[0], Counter(again)) == (first[0], Counter(first))
    assert again != first


def test_dry_run_releases_nothing(run: Run, folder: Path) -> None:
    options = ("-o", "safe.csv", "--report", "r.json", "--dry-run")
    result = run(*BASIC, *options)
    assert result.exit_code == 0, result.output
    assert "Nothing was searched or released." in result.stdout
    data = json.loads(run(*BASIC, *options, "--json").stdout)
    assert data["dry_run"]
    assert data["rows"] == 600
    assert [each["name"] for each in data["attributes"]] == ["sex", "education"]
    assert data["solver"] == "lattice"
    assert "income" in data["unchanged"]
    assert run(*BASIC, *options, "--quiet").output == ""
    assert [file.name for file in folder.iterdir()] == ["people.csv"]


def test_a_dry_run_saves_the_job_it_was_asked_to_save(run: Run, folder: Path) -> None:
    options = ("-o", "safe.csv", "--save-job", "job.yaml")
    result = run(*BASIC, *options, "--dry-run")
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("The job is in job.yaml.\n")
    assert sorted(file.name for file in folder.iterdir()) == [
        "discreet-job.schema.json",
        "job.yaml",
        "people.csv",
    ]
    dry = (folder / "job.yaml").read_bytes()
    seed = str(Job.load("job.yaml").seed)
    assert run(*BASIC, *options, "--seed", seed).exit_code == 0
    assert (folder / "job.yaml").read_bytes() == dry
    refused = run(*BASIC, "-o", "safe.csv", "--save-job", "people.csv", "--dry-run")
    assert (refused.exit_code, refused.stdout) == (6, "")


def test_hierarchies_from_a_folder(run: Run, folder: Path) -> None:
    assert run("sample", "-n", "5", "-o", "five.csv", "--hierarchies", "trees").exit_code == 0
    trees = folder / "trees"
    (trees / "marital_status.csv").rename(trees / "people_hierarchy_marital_status.csv")
    options = (
        "--qi",
        "marital_status,city",
        "-o",
        "safe.csv",
        "--hierarchies",
        "trees",
        "--dry-run",
        "--json",
    )
    data = json.loads(run(*BASIC, *options).stdout)
    given = {each["name"]: each["hierarchy"] for each in data["attributes"] if not each["automatic"]}
    assert given == {
        "education": "education.csv",
        "marital_status": "people_hierarchy_marital_status.csv",
        "city": "city.csv",
    }
    (trees / "x_hierarchy_city.csv").write_bytes((trees / "city.csv").read_bytes())
    result = run(*BASIC, *options)
    assert result.exit_code == 2
    assert "'trees' has several hierarchies for 'city': 'city.csv' and 'x_hierarchy_city.csv'." in result.stderr


def test_columns_and_pairs() -> None:
    assert columns(["a, b", "c", '"d,e"', ""]) == ["a", "b", "c", "d,e"]
    assert pairs("--x", ["a=b=c", "d = e"]) == {"a": "b=c", "d": "e"}
    assert level_pairs("--x", ["a=0"]) == {"a": 0}
    for wrong in ("a", "=b", "a=", ""):
        with pytest.raises(UsageError, match="NAME=VALUE"):
            pairs("--x", [wrong])
    with pytest.raises(UsageError, match="twice for 'a'"):
        pairs("--x", ["a=1", "a=2"])
    with pytest.raises(UsageError, match="whole number"):
        level_pairs("--x", ["a=-1"])


def test_shorthands() -> None:
    assert privacy_models("5", None, (), []) == ["k(5)"]
    assert privacy_models(None, "3", ("t(0.2, a)",), ["a", "b, c"]) == [
        "distinct-l(3, a)",
        "distinct-l(3, 'b, c')",
        "t(0.2, a)",
    ]


def test_rows_are_shuffled_unless_their_order_is_kept(run: Run) -> None:
    people = pl.read_csv("people.csv", infer_schema=False)["income"].to_list()
    assert run(*BASIC, "-o", "safe.csv").exit_code == 0
    released = pl.read_csv("safe.csv", infer_schema=False)["income"].to_list()
    assert released != people
    assert sorted(released, key=str) == sorted(people, key=str)
    result = run(*BASIC, "-o", "safe.csv", "--keep-order", "--save-job", "job.yaml")
    assert "original order, which may identify people" in " ".join((result.stdout + result.stderr).split())
    assert pl.read_csv("safe.csv", infer_schema=False)["income"].to_list() == people
    assert Job.load("job.yaml").order == "keep"
