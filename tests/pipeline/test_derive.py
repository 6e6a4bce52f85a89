"""Derived columns: the same shift for all dates of a person, keyed pseudonyms, and what a release says about them."""

import datetime
import stat
from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest

import discreet as dc


def visits() -> pl.DataFrame:
    """Return two visits each of 40 patients; each second one is ten days after the first."""
    people = [f"patient {number}" for number in range(40) for _ in range(2)]
    first = [datetime.date(2026, 1, 1 + number % 28) for number in range(40)]
    days = [day + datetime.timedelta(days=10 * visit) for day in first for visit in range(2)]
    return pl.DataFrame({"patient": people, "visit": days, "left": days, "sex": ["f", "m"] * 40})


def release(data: object, tmp_path: Path, **changes: object) -> dc.Release:
    settings: dict[str, object] = {
        "quasi_identifiers": ["sex"],
        "keep": ["patient", "visit", "left"],
        "privacy": "k(5)",
        "derive": {
            "visit": "shift_dates(person=patient, days=30)",
            "left": "shift_dates(person=patient, days=30)",
            "patient": "pseudonym",
        },
        "key": tmp_path / "own.key",
    }
    return dc.anonymize(data, **{**settings, **changes})


def test_dates_of_a_person_move_together(tmp_path: Path):
    made = release(visits(), tmp_path)
    before, after = visits(), made.frame
    shifts = defaultdict(set)
    for column in ("visit", "left"):
        moved = (after[column] - before[column]).dt.total_days()
        for person, days in zip(before["patient"], moved, strict=True):
            shifts[person].add(days)
    assert all(len(found) == 1 for found in shifts.values())
    drawn = [next(iter(found)) for found in shifts.values()]
    assert 0 not in drawn
    assert all(abs(days) <= 30 for days in drawn)
    assert len(set(drawn)) > 10
    assert after["patient"].n_unique() == 40
    assert after["patient"].str.contains("^[0-9a-f]{20}$").all()


def test_the_key_decides(tmp_path: Path):
    first, again = release(visits(), tmp_path).frame, release(visits(), tmp_path).frame
    assert first.equals(again)
    other = release(visits(), tmp_path, key=tmp_path / "other.key").frame
    assert not set(first["patient"]) & set(other["patient"])
    assert stat.S_IMODE((tmp_path / "own.key").stat().st_mode) == 0o600


def test_a_release_says_that_it_is_pseudonymous(tmp_path: Path):
    visits().write_csv(tmp_path / "visits.csv", separator=";")
    made = release(tmp_path / "visits.csv", tmp_path, output=tmp_path / "safe.csv")
    caught = " ".join(made.notes)
    assert "The dates in 'visit' are shifted by up to 30 days" in caught
    assert "'patient' has keyed pseudonyms. They are pseudonymous and not anonymous" in caught
    made.report(tmp_path / "report.md")
    assert "pseudonymous" in (tmp_path / "report.md").read_text(encoding="utf-8")
    written = (tmp_path / "safe.csv").read_text(encoding="utf-8")
    assert written.startswith("patient;visit;left;sex\n")
    assert "patient 1" not in written
    secret = (tmp_path / "own.key").read_text(encoding="utf-8").split()[-1]
    assert secret not in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert made.job["derive"]["patient"] == "pseudonym"


def test_an_identifier_is_still_left_out(tmp_path: Path):
    made = release(visits(), tmp_path, identifiers="patient", keep=["visit", "left"])
    assert made.frame.columns == ["visit", "left", "sex"]
    assert not any("pseudonyms" in note for note in made.notes)


def test_jobs_fronts_and_mappings(tmp_path: Path):
    visits().write_csv(tmp_path / "visits.csv")
    job = dc.Job(
        input=str(tmp_path / "visits.csv"),
        output=str(tmp_path / "safe.csv"),
        quasi_identifiers=["sex"],
        keep=["patient", "visit", "left"],
        privacy="k(5)",
        derive={"patient": "pseudonym"},
        key=str(tmp_path / "own.key"),
    )
    loaded = dc.Job.load(job.save(tmp_path / "job.yaml"))
    assert loaded.plan().rows == 80
    made = loaded.run()
    assert "patient 1" not in (tmp_path / "safe.csv").read_text(encoding="utf-8")
    with pytest.raises(dc.UsageError, match="Columns were derived, which a mapping does not do"):
        made.to_mapping()
    with_mapping = job.model_copy(update={"mapping": str(tmp_path / "mapping.json")})
    with pytest.raises(dc.UsageError, match="A mapping does not shift dates or make pseudonyms"):
        with_mapping.check_targets()
    front = dc.pareto(
        tmp_path / "visits.csv",
        quasi_identifiers=["sex"],
        keep=["patient", "visit", "left"],
        derive={"patient": "pseudonym"},
    )
    assert front.release(2).frame["patient"].str.contains("^[0-9a-f]{20}$").all()


def test_a_front_takes_the_key_of_a_release(tmp_path: Path):
    """The pseudonyms of a front are those of a release with the same key, and its releases are signed with it."""
    made = release(visits(), tmp_path)
    front = dc.pareto(
        visits(),
        quasi_identifiers=["sex"],
        keep=["patient", "visit", "left"],
        derive={"patient": "pseudonym"},
        key=tmp_path / "own.key",
    )
    chosen = front.release(point=front.points[0])
    assert set(chosen.frame["patient"]) == set(made.frame["patient"])


@pytest.mark.parametrize(
    ("derive", "error", "sentence"),
    [
        (["patient"], dc.UsageError, "derive maps columns to how they are derived, as in"),
        ({"patient": "pseudonim"}, dc.UsageError, "There is no derivation 'pseudonim'; did you mean 'pseudonym'"),
        ({"patient": "hash"}, dc.UsageError, "derivation 'hash'; there are shift_dates and pseudonym"),
        ({"patient": "pseudonym(length=4)"}, dc.UsageError, "The length of a pseudonym is a whole number from 16"),
        ({"patient": "pseudonym(salt=4)"}, dc.UsageError, "does not have these arguments; write it as in pseudonym"),
        ({"visit": "shift_dates"}, dc.UsageError, "does not have these arguments; write it as in shift_dates"),
        ({"visit": "shift_dates(person=patient, days=0)"}, dc.UsageError, "a number of days from 1 to"),
        ({"visit": "shift_dates(person=pateint)"}, dc.DataError, "no column 'pateint'; did you mean 'patient'"),
        ({"vist": "pseudonym"}, dc.DataError, "no column 'vist'; did you mean 'visit'"),
        ({"sex": "shift_dates(person=patient)"}, dc.DataError, "Column 'sex' has values that are no dates"),
        ({"visit": "shift_dates(person=ward)"}, dc.DataError, "Column 'ward' has missing values"),
    ],
)
def test_what_cannot_be_derived(tmp_path: Path, derive: object, error: type, sentence: str):
    table = visits().with_columns(ward=pl.lit(None, dtype=pl.String))
    with pytest.raises(error, match=sentence) as caught:
        release(table, tmp_path, derive=derive, identifiers="ward")
    assert "patient 1" not in caught.value.message


def test_only_files_and_polars(tmp_path: Path):
    pytest.importorskip("pandas", reason="pandas is not here; it comes with the extra pandas")
    with pytest.raises(dc.UsageError, match="Columns are derived in files and polars frames"):
        release(visits().to_pandas(), tmp_path)
