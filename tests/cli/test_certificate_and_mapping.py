"""The commands around a release: certificates that are checked again, and mappings that are applied."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
from click.testing import Result

Run = Callable[..., Result]
QI = ("--qi", "sex,education,marital_status", "--sensitive", "diagnosis")
REST = ("--identifiers", "person_id,name,birth_date,zip,city,occupation,children,income")
ASK = ("anonymize", "people.csv", "-o", "safe.csv", *QI, *REST, "-k", "5", "--suppression", "budget(10%)")


def test_a_certificate_is_checked_again(run: Run, folder: Path) -> None:
    made = run(*ASK, "--certificate", "certificate.json", "--report", "report.html")
    assert made.exit_code == 0, made.output
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    result = run("audit", "safe.csv", "--certificate", "certificate.json", "--input", "people.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Certificate holds.")
    data = json.loads(run("audit", "safe.csv", "--certificate", "certificate.json", "--json").stdout)
    assert data["passed"] is True
    assert data["files"]["the original file"] is None

    table = pl.read_csv("safe.csv", infer_schema=False)
    table.head(table.height - 1).write_csv("safe.csv")
    result = run("audit", "safe.csv", "--certificate", "certificate.json")
    assert result.exit_code == 5
    assert "CHANGED    the released file" in result.stdout
    assert run("audit", "safe.csv", "--certificate", "certificate.json", "--quiet").stdout == ""


def test_the_key_checks_what_only_its_owner_can(run: Run, folder: Path) -> None:
    asked = (*ASK, "--certificate", "c.json", "--key", "my.key", "--save-job", "job.yaml")
    assert run(*asked).exit_code == 0
    content = (folder / "my.key").read_bytes()
    assert (folder / "my.key").stat().st_mode & 0o777 == 0o600
    assert (folder / "job.yaml").stat().st_mode & 0o777 == 0o600
    assert "\n# Private" in (folder / "job.yaml").read_text()
    audit = ("audit", "safe.csv", "--certificate", "c.json")
    assert "not checked (needs the key)  the original file" in run(*audit, "--input", "people.csv").stdout
    owned = run(*audit, "--key", "my.key", "--input", "people.csv", "--job", "job.yaml")
    assert owned.exit_code == 0, owned.output
    for what in ("the owner's seal", "the original file", "the job"):
        assert f"ok         {what}" in owned.stdout
    (folder / "other.csv").write_bytes((folder / "people.csv").read_bytes() + b"\n")
    wrong = run(*audit, "--key", "my.key", "--input", "other.csv")
    assert (wrong.exit_code, "CHANGED    the original file" in wrong.stdout) == (5, True)
    assert run("audit", "safe.csv", "-k", "5", "--qi", "sex", "--key", "my.key").exit_code == 2
    assert run(*audit, "--key", "none.key").exit_code == 3
    (folder / "my.key").chmod(0o644)
    assert run(*asked).exit_code == 3
    assert (folder / "my.key").read_bytes() == content


def test_a_saved_job_repeats_the_release_and_another_is_announced(run: Run, folder: Path) -> None:
    local = ("-k", "3", "--scheme", "local", "--cost", "NCP", "--qi", "birth_date,sex,education,zip")
    rest = ("--identifiers", "person_id,name,city,occupation,diagnosis,income")
    asked = ("anonymize", "people.csv", "-o", "safe.csv", *rest, *local)
    first = run(*asked, "--save-job", "job.yaml")
    assert first.exit_code == 0, first.output
    content = (folder / "safe.csv").read_bytes()
    again = run("run", "job.yaml", "--save-job", "copy.yaml")
    assert (folder / "safe.csv").read_bytes() == content
    assert (folder / "copy.yaml").read_bytes() == (folder / "job.yaml").read_bytes()
    assert "RELEASED BEFORE" not in first.output + again.output
    other = run(*asked, "--report", "report.json")
    assert (folder / "safe.csv").read_bytes() != content
    assert "warning: THIS TABLE WAS RELEASED BEFORE" in other.stderr
    assert "seed" not in json.loads((folder / "report.json").read_text())["job"]


def test_run_takes_them_too(run: Run, folder: Path) -> None:
    assert run(*ASK, "--save-job", "job.yaml").exit_code == 0
    assert run("run", "job.yaml", "--certificate", "c.json", "--mapping", "m.json").exit_code == 0
    assert (
        run("audit", "safe.csv", "--certificate", "c.json", "--job", "job.yaml", "--input", "people.csv").exit_code == 0
    )
    text = (folder / "job.yaml").read_text()
    (folder / "job.yaml").write_text(text.replace("k(5)", "k(4)"))
    assert run("audit", "safe.csv", "--certificate", "c.json", "--job", "job.yaml").exit_code == 5


def test_what_does_not_go_together(run: Run) -> None:
    assert run(*ASK, "--certificate", "c.json").exit_code == 0
    result = run("audit", "safe.csv", "--certificate", "c.json", "-k", "5")
    assert result.exit_code == 2
    assert "leave out the options that say it again" in result.stderr
    assert run("audit", "safe.csv", "-k", "5", "--qi", "sex", "--input", "people.csv").exit_code == 2
    assert run(*ASK, "--certificate", "people.csv").exit_code == 2
    assert run(*ASK, "--mapping", "people.csv").exit_code == 2
    assert run(*ASK, "--mapping", "x.json", "--certificate", "x.json").exit_code == 6
    assert run(*ASK, "--mapping", "m.json", "--scheme", "local", "--cost", "NCP").exit_code == 2


def test_apply(run: Run, folder: Path) -> None:
    assert run(*ASK, "--mapping", "mapping.json").exit_code == 0
    result = run("apply", "mapping.json", "people.csv", "-o", "again.csv")
    assert result.exit_code == 0, result.output
    lines = [sorted((folder / name).read_bytes().splitlines()) for name in ("again.csv", "safe.csv")]
    assert lines[0] == lines[1]
    assert result.stdout.endswith("The result is in again.csv.\n")

    people = pl.read_csv("people.csv", infer_schema=False)
    new = people.with_columns(sex=pl.when(pl.int_range(pl.len()) < 20).then(pl.lit("other")).otherwise("sex"))
    new.write_csv("new.csv")
    result = run("apply", "mapping.json", "new.csv", "-o", "out.csv")
    assert result.exit_code == 3
    assert "that the mapping does not know" in result.stderr
    assert "other" not in result.stderr
    assert not (folder / "out.csv").exists()
    result = run(
        "apply", "mapping.json", "new.csv", "-o", "out.csv", "--unknown", "suppress", "--broken", "suppress", "--json"
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["unknown"] == {"sex": 20}
    assert "other" not in (folder / "out.csv").read_text()

    people.head(50).write_csv("few.csv")
    assert run("apply", "mapping.json", "few.csv", "-o", "few-safe.csv").exit_code == 5
    assert not (folder / "few-safe.csv").exists()
    assert run("apply", "mapping.json", "few.csv", "-o", "few.csv").exit_code == 6
    assert run("apply", "mapping.json", "few.csv", "-o", "mapping.json", "--broken", "suppress").exit_code != 0
    assert run("apply", "nowhere.json", "few.csv", "-o", "x.csv").exit_code == 3
