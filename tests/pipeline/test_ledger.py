"""Releases of one table: a second one with other choices is noticed, and a repeated one is the same bytes."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from discreet.job import Job
from discreet.job.owner_key import KeyFile
from discreet.pipeline.ledger import LedgerEntry, fingerprint_files, fingerprint_frame, record

LOCAL: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "privacy": "k(3)", "scheme": "local", "cost": "NCP"}
LOUD = "RELEASED BEFORE"


@pytest.fixture
def table() -> pl.DataFrame:
    people = dc.sample(150, seed=5)
    return people.select("sex", "diagnosis", age=pl.int_range(pl.len()) * 37 % 61)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: pl.DataFrame) -> Path:
    monkeypatch.chdir(tmp_path)
    table.write_csv("people.csv")
    return tmp_path


def loud(release: dc.Release) -> bool:
    return any(LOUD in note for note in release.notes)


def test_a_second_release_with_other_choices_is_noticed(folder: Path, own_state: Path) -> None:
    first = dc.anonymize("people.csv", **LOCAL, output="first.csv")
    again = dc.anonymize("people.csv", **LOCAL, seed=first.job["seed"], output="again.csv")
    assert not loud(first)
    assert not loud(again)
    assert (folder / "first.csv").read_bytes() == (folder / "again.csv").read_bytes()
    other = dc.anonymize("people.csv", **{**LOCAL, "privacy": "k(4)"}, output="other.csv")
    assert loud(other)
    assert f"on {other.made[:10]} as 'first.csv'" in other.notes[0] or "as 'again.csv'" in other.notes[0]
    assert f"warning: {other.notes[0]}" in other.summary(exact=True)
    assert other.notes[0] not in other.summary()  # which may be handed over
    ledger = (own_state / "discreet" / "discreet.ledger").read_text()
    assert str(first.job["seed"]) not in ledger
    assert set(json.loads(ledger.splitlines()[0])) == {"input", "choices", "output", "name", "time"}


@pytest.mark.parametrize("kind", ["files", "frames", "mixed"])
def test_sets_of_tables_that_overlap_are_noticed(kind: str, folder: Path) -> None:
    rng = np.random.default_rng(1)
    frames = {
        "people": pl.DataFrame({"pid": range(60), "sex": ["f", "m"] * 30, "age": [30, 30, 40] * 20}),
        "visits": pl.DataFrame({"pid": rng.permutation(60), "ward": rng.choice(["a", "b"], 60)}),
        "claims": pl.DataFrame({"pid": rng.permutation(60), "paid": rng.choice(["x", "y"], 60)}),
    }
    for name, frame in frames.items():
        frame.write_csv(f"{name}_.csv")
    paths = {name: f"{name}_.csv" for name in frames}
    known: dict[str, Any] = {"files": paths, "frames": frames, "mixed": {**frames, "people": paths["people"]}}[kind]
    asked = {"person": "pid", "quasi_identifiers": {"sex": "flat", "age": "flat"}, "privacy": "k(3)", "seed": 1}

    def release(*names: str, keep: str, output: str) -> dc.Release:
        return dc.anonymize({name: known[name] for name in names}, **asked, keep=keep, output=output)

    first = release("people", "visits", keep="ward", output="first/")
    again = release("people", "visits", keep="ward", output="again/")
    other = release("people", "claims", keep="paid", output="other/")
    alone = dc.anonymize(known["people"], **asked, output="alone.csv")
    apart = dc.anonymize(
        frames["visits"].with_columns(ward=pl.lit("c")), **{**asked, "quasi_identifiers": ["ward"]}, output="apart.csv"
    )
    assert [loud(each) for each in (first, again, other, alone, apart)] == [False, False, True, True, False]
    third = dc.anonymize(known["visits"], **{**asked, "quasi_identifiers": ["ward"]})
    third.write("third.csv")
    assert loud(third)


def test_a_release_without_a_seed_is_noticed_if_it_turns_out_another(folder: Path) -> None:
    dc.sample(500, seed=5).select("birth_date", "education", "marital_status", "zip").write_csv("large.csv")
    asked = {**LOCAL, "quasi_identifiers": ["birth_date", "education", "marital_status", "zip"]}
    releases = [dc.anonymize("large.csv", **asked, output=f"{number}.csv") for number in range(2)]
    assert (folder / "0.csv").read_bytes() != (folder / "1.csv").read_bytes()
    assert [loud(release) for release in releases] == [False, True]


def test_the_same_rows_in_another_order_are_the_same_release(table: pl.DataFrame) -> None:
    asked: dict[str, Any] = {"quasi_identifiers": {"age": "intervals(10, 20, 40)", "sex": "flat"}, "privacy": "k(3)"}
    first, again = (dc.anonymize("people.csv", **asked, output=name) for name in ("first.csv", "again.csv"))
    assert first.job["seed"] != again.job["seed"]
    again.write("other.csv", for_spreadsheets=True)
    again.write("other.parquet")
    assert not loud(first)
    assert not loud(again)


def test_frames_count_when_they_are_written(table: pl.DataFrame, own_state: Path) -> None:
    for data in (table, table.to_pandas(), table.to_arrow()):
        first = dc.anonymize(data, **LOCAL)
        assert not (own_state / "discreet" / "discreet.ledger").exists()
        first.write("first.csv")
        first.write("first.parquet")
        assert not loud(first)
        second = dc.anonymize(data, **{**LOCAL, "privacy": "k(5)"})
        assert not loud(second)
        second.write("second.csv")
        assert loud(second)
        (own_state / "discreet" / "discreet.ledger").unlink()


def test_another_table_is_another_matter(table: pl.DataFrame) -> None:
    dc.anonymize("people.csv", **LOCAL, output="first.csv")
    table.head(149).write_csv("fewer.csv")
    assert not loud(dc.anonymize("fewer.csv", **{**LOCAL, "privacy": "k(4)"}, output="second.csv"))


def test_a_point_of_a_front_counts(table: pl.DataFrame) -> None:
    settings = {"quasi_identifiers": {"age": "intervals(5, 10, 20, 40)", "sex": "flat"}}
    front = dc.pareto("people.csv", **settings)
    assert not loud(front.release(front.points[-2].k, output="first.csv"))
    assert loud(front.release(front.points[-1].k, output="second.csv"))


def test_a_job_repeats_its_release_byte_for_byte(folder: Path) -> None:
    fields = {"input": "people.csv", "quasi_identifiers": ["age", "sex"], "privacy": "k(3)", "scheme": "local"}
    release = Job(**fields, cost="NCP", output="first.csv").run()
    Job(**{**release.job, "output": "second.csv"}).save("job.yaml")
    assert Job.load("job.yaml").run().job["seed"] == release.job["seed"] >= 0
    assert (folder / "first.csv").read_bytes() == (folder / "second.csv").read_bytes()


def test_a_dry_run_says_that_the_table_was_released_before() -> None:
    fields = {"input": "people.csv", "quasi_identifiers": ["sex"], "privacy": "k(3)", "output": "safe.csv"}
    plan = Job(**fields).plan()
    assert plan.notes == ()
    release = Job(**fields).run()
    plan = Job(**fields).plan()
    assert f"note: This table was released before, last on {release.made[:10]}." in plan.summary()
    assert plan.to_dict()["notes"] == list(plan.notes)


def test_seeds_are_drawn_from_64_bits_and_differ(table: pl.DataFrame) -> None:
    seeds = {dc.anonymize(table, quasi_identifiers=["sex"], privacy="k(3)").job["seed"] for _ in range(20)}
    assert len(seeds) == 20
    assert max(seeds).bit_length() > 56


def test_a_job_with_a_seed_or_values_is_private(folder: Path) -> None:
    asked: dict[str, Any] = {"input": "people.csv", "privacy": "k(3)"}
    for number, (fields, private) in enumerate(
        [
            ({"quasi_identifiers": ["sex"]}, False),
            ({"quasi_identifiers": {"sex": "flat", "age": "intervals(5)"}}, False),
            ({"quasi_identifiers": ["sex"], "seed": 0}, True),
            ({"quasi_identifiers": {"sex": {"people": ["male", "female"]}}}, True),
            ({"quasi_identifiers": ["sex"], "privacy": ["l+({Asthma: 0.5}, diagnosis)"]}, True),
        ]
    ):
        for ending in ("yaml", "json"):
            path = folder / f"job{number}.{ending}"
            job = Job(**{**asked, **fields})
            job.save(path)
            assert (path.stat().st_mode & 0o777 == 0o600) is private
            assert path.read_text().partition("\n")[2].startswith("# Private") is (private and ending == "yaml")
            assert Job.load(path).to_dict() == job.to_dict()


def test_the_ledger_takes_many_at_once_and_what_was_torn(folder: Path) -> None:
    key = KeyFile(folder / "my.key", explicit=True).make()
    assert key is not None
    ledger = folder / "discreet.ledger"
    ledger.write_bytes(b'{"input": 3}\nnonsense\n{"input": "x", "cho')
    entries = [LedgerEntry("same", f"choice {number}", None, None, "2026-01-01T00:00:00+00:00") for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda entry: record(key, entry), entries))
    assert ledger.stat().st_mode & 0o777 == 0o600
    assert len(record(key, LedgerEntry("same", "another", None, None, "2026-01-02T00:00:00+00:00"))) == 60
    assert record(key, LedgerEntry("other", "another", None, None, "2026-01-02T00:00:00+00:00")) == []


def test_fingerprints(tmp_path: Path, table: pl.DataFrame) -> None:
    content = bytes(range(256)) * 4096
    path = tmp_path / "large"
    path.write_bytes(content)
    before = fingerprint_files([path])
    assert before == fingerprint_files([path])
    for changed in (content[:-1], content[:-1] + b"x", b"x" + content[1:], content + b"x"):
        path.write_bytes(changed)
        assert fingerprint_files([path]) != before
    assert fingerprint_files([tmp_path / "nowhere"]) is None
    assert fingerprint_files([path, path]) not in (None, fingerprint_files([path]))
    assert fingerprint_files([path] * 200) == fingerprint_files([path] * 200)
    assert fingerprint_frame(table) == fingerprint_frame(table.clone()) != fingerprint_frame(table.head(20))
    assert fingerprint_frame(table.lazy()) is None
    assert fingerprint_frame(table.clear()) is not None
