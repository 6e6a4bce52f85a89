"""Certificates: what they hold, and that anything that changed is noticed."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.errors import DataError, UsageError
from discreet.job import Job
from discreet.pipeline.release import Release


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    dc.sample(600, seed=4).write_csv(tmp_path / "people.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(**more: Any) -> Release:
    settings: dict[str, Any] = {
        "identifiers": ["person_id", "name", "city", "occupation", "children", "income", "zip", "marital_status"],
        "quasi_identifiers": {"birth_date": "dates(decade)", "sex": "flat", "education": None},
        "sensitive": ["diagnosis"],
        "privacy": ["k(5)", "distinct-l(2, diagnosis)"],
        "suppression": "budget(10%)",
        "output": "safe.csv",
    }
    return dc.anonymize("people.csv", **{**settings, **more})


def test_what_it_holds(folder: Path) -> None:
    release = make()
    text = release.certificate("certificate.json", key="discreet.key").read_text()
    data = json.loads(text)
    assert data["output"] == sha256((folder / "safe.csv").read_bytes()).hexdigest()
    assert [promise["model"] for promise in data["promises"]] == ["k(5)", "distinct-l(2, diagnosis)"]
    assert data["rows"] == release.audit.rows
    assert (data["quasi_identifiers"], data["sensitive"]) == (["birth_date", "sex", "education"], ["diagnosis"])
    assert data["unchanged"] == []
    assert sha256((folder / "people.csv").read_bytes()).hexdigest() not in text
    assert str(folder) not in text
    assert not {"cost", "status", "suppressed", "made", "versions", "seed"} & {*data}
    assert str(release.job["seed"]) not in text


def test_it_holds_and_what_breaks_it(folder: Path) -> None:
    make().certificate("certificate.json", key="discreet.key")
    found = dc.verify("safe.csv", "certificate.json", original="people.csv", key="discreet.key")
    assert found.passed
    assert found.summary().startswith("Certificate holds.")
    assert dict(found.files) == {
        "the certificate itself": True,
        "the released file": True,
        "the owner's seal": True,
        "the original file": True,
        "the job": None,
    }

    safe = (folder / "safe.csv").read_text()
    (folder / "safe.csv").write_text(safe.replace("female", "male", 1))
    assert not dc.verify("safe.csv", "certificate.json").passed
    lines = safe.splitlines(keepends=True)
    (folder / "safe.csv").write_text("".join(lines[:-1]))
    found = dc.verify("safe.csv", "certificate.json")
    assert not found.passed
    assert "number of rows" in found.differs
    (folder / "safe.csv").write_text(safe)

    (folder / "other.csv").write_text((folder / "people.csv").read_text() + "\n")
    assert not dc.verify("safe.csv", "certificate.json", original="other.csv", key="discreet.key").passed

    data = json.loads((folder / "certificate.json").read_text())
    data["promises"][0]["reached"] = 50.0
    (folder / "forged.json").write_text(json.dumps(data))
    found = dc.verify("safe.csv", "forged.json")
    assert not found.passed
    assert found.differs == ("k(5)",)
    assert dict(found.files)["the certificate itself"] is False


def test_without_the_key_nothing_can_be_said_about_the_input(folder: Path) -> None:
    make().certificate("certificate.json")
    found = dc.verify("safe.csv", "certificate.json", original="people.csv")
    assert found.passed
    assert "not checked (needs the key)  the original file" in found.summary()
    assert found.to_dict()["unchecked"]["the job"] == "not checked (needs the key)"


def test_another_key_does_not_fit(folder: Path) -> None:
    release = make()
    release.certificate("certificate.json", key="discreet.key")
    release.certificate("another.json", key="another.key")
    first, second = (json.loads((folder / name).read_text()) for name in ("certificate.json", "another.json"))
    assert first["input"] != second["input"]
    assert not dc.verify("safe.csv", "certificate.json", original="people.csv", key="another.key").passed


def test_a_promise_that_does_not_hold_is_found_even_if_all_checksums_are_right(folder: Path) -> None:
    """A certificate is no signature: whoever writes a new one for a bad table is found out by the fresh audit."""
    from discreet.report.certificate_format import own_digest

    make().certificate("certificate.json")
    table = pl.read_csv("safe.csv", infer_schema=False)
    table.with_columns(sex=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("x")).otherwise("sex")).write_csv("bad.csv")
    data = json.loads((folder / "certificate.json").read_text())
    data["output"] = sha256((folder / "bad.csv").read_bytes()).hexdigest()
    data["sha256"] = own_digest(data)
    (folder / "forged.json").write_text(json.dumps(data))
    found = dc.verify("bad.csv", "forged.json")
    assert all(same is not False for _, same in found.files)
    assert not found.passed
    assert not found.audit.passed


def test_promises_that_compare_need_the_original(folder: Path) -> None:
    make(privacy=["k(5)", "t(0.4, diagnosis)"]).certificate("certificate.json")
    with pytest.raises(UsageError, match=r"'t\(0\.4, diagnosis\)' compares with the original table; .* --input"):
        dc.verify("safe.csv", "certificate.json")
    assert dc.verify("safe.csv", "certificate.json", original="people.csv").passed


def test_rows_left_out_for_missing_values_are_not_compared_with(folder: Path) -> None:
    make(missing="suppress", privacy=["k(5)", "t(0.4, diagnosis)"]).certificate("certificate.json")
    assert dc.verify("safe.csv", "certificate.json", original="people.csv").passed


def test_promises_that_name_values_need_the_job(folder: Path) -> None:
    job = Job(
        input="people.csv",
        output="safe.csv",
        quasi_identifiers=["sex"],
        identifiers=["person_id", "name", "birth_date", "zip", "city", "income"],
        sensitive=["diagnosis"],
        privacy=["k(5)", "l+({Diabetes: 0.9, Asthma: 0.9}, diagnosis)"],
        certificate="certificate.json",
        key="discreet.key",
    )
    job.save("job.yaml")
    Job.load("job.yaml").run()
    assert "Diabetes" not in (folder / "certificate.json").read_text()
    with pytest.raises(UsageError, match=r"names values of the data.*--job"):
        dc.verify("safe.csv", "certificate.json")
    found = dc.verify("safe.csv", "certificate.json", job="job.yaml", key="discreet.key")
    assert found.passed
    assert dict(found.files)["the job"] is True
    (folder / "moved").mkdir()
    (folder / "job.yaml").rename(folder / "moved" / "job.yaml")
    found = dc.verify("safe.csv", "certificate.json", job="moved/job.yaml", key="discreet.key")
    assert dict(found.files)["the job"] is True
    text = (folder / "moved" / "job.yaml").read_text()
    (folder / "moved" / "job.yaml").write_text(text.replace("k(5)", "k(4)"))
    found = dc.verify("safe.csv", "certificate.json", job="moved/job.yaml", key="discreet.key")
    assert dict(found.files)["the job"] is False
    assert not found.passed


@pytest.mark.parametrize("suppression", ["violating-values", "violating-records", "class-values"])
def test_values_made_unknown(suppression: str, folder: Path) -> None:
    make(
        quasi_identifiers={"sex": "flat", "education": None},
        keep="birth_date",
        privacy=["l+(0.12, diagnosis)"],
        suppression=suppression,
        scheme="subtree",
    ).certificate("certificate.json")
    assert dc.verify("safe.csv", "certificate.json").passed


def test_folders_of_files(folder: Path) -> None:
    (folder / "parts").mkdir()
    table = dc.sample(600, seed=4).select("sex", "education")
    table.head(300).write_parquet("parts/a.parquet")
    table.tail(300).write_parquet("parts/b.parquet")
    release = dc.anonymize("parts", quasi_identifiers=["sex", "education"], privacy="k(3)", output="safe/")
    release.certificate("certificate.json", key="discreet.key")
    assert dc.verify("safe/", "certificate.json", original="parts", key="discreet.key").passed
    table.head(299).write_parquet("parts/a.parquet")
    assert not dc.verify("safe/", "certificate.json", original="parts", key="discreet.key").passed


def test_what_cannot_be_certified(folder: Path) -> None:
    with pytest.raises(UsageError, match="is about a file"):
        make(output=None).certificate("certificate.json")
    release = make()
    with pytest.raises(UsageError, match=r"end the name 'c\.txt' in \.json"):
        release.certificate("c.txt")
    (folder / "people.csv").write_text("sex\nfemale\n")
    with pytest.raises(DataError, match=r"'people\.csv' was changed"):
        release.certificate("certificate.json")
    assert not (folder / "certificate.json").exists()


def test_what_is_no_certificate(folder: Path) -> None:
    make()
    for content in ("no json", "[]", "{}", '{"kind": "discreet mapping"}'):
        (folder / "c.json").write_text(content)
        with pytest.raises(DataError, match=r"'c\.json' is not a certificate"):
            dc.verify("safe.csv", "c.json")
    with pytest.raises(DataError, match="There is no certificate"):
        dc.verify("safe.csv", "nowhere.json")
    make().certificate("certificate.json")
    with pytest.raises(DataError, match=r"There is no file 'nowhere\.csv'"):
        dc.verify("nowhere.csv", "certificate.json")
