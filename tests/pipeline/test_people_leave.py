"""What leaves with a release that counts people, and what does not: pseudonyms, reports, mappings, certificates."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from attack.provenance import rewritten
from canary import found_in
from discreet.errors import AuditError, DataError, DiscreetError, MissingColumnError
from discreet.report.small_counts import LeftOut
from people import QUASI, make, visits


def leaked(*contents: bytes) -> set[str]:
    words = [f"QZPerson{number:04d}" for number in range(40)] + [f"QZHouse{number:04d}" for number in range(20)]
    return set().union(*(found_in(content, words) for content in contents))


@pytest.mark.parametrize("pseudonyms", [False, True])
@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_no_value_of_a_person_leaves(pseudonyms: bool, form: str, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    visits(1, 120, 40).write_csv(source / "visits.csv")
    out = tmp_path / "out"
    out.mkdir()
    release = make(
        source / "visits.csv",
        identifiers=[],
        household="hid",
        pseudonyms=pseudonyms,
        output=out / f"safe.{form}",
        key=source / "key",
    )
    for name in ("report.html", "report.md", "report.json"):
        release.report(out / name)
    release.protection_page(out / "page.html", internal=True)
    release.certificate(out / "certificate.json")
    (out / "release.pickle").write_bytes(pickle.dumps(release))
    texts = [str(release), repr(release), json.dumps(release.to_dict(exact=True), default=str), release.verdict]
    contents = [path.read_bytes() for path in out.iterdir()]
    assert not leaked(*contents, *(str(text).encode() for text in texts))
    kept = ["pid", "hid"] if pseudonyms else []
    assert [column for column in release.frame.lazy().collect_schema() if column in ("pid", "hid")] == kept


def test_pseudonyms_are_consistent_and_fresh(tmp_path: Path) -> None:
    table = visits(1, 120, 40)
    release = make(table, pseudonyms=True)
    rows = pl.concat(
        [release.frame.select("pid"), table[release.rows_of(table).to_numpy()].select(was="pid")], how="horizontal"
    )
    pairs = rows.unique()
    assert pairs.height == rows["pid"].n_unique() == rows["was"].n_unique()
    assert pairs["pid"].str.len_chars().unique().to_list() == [16]
    same = make(table, pseudonyms=True).frame
    assert same.equals(release.frame)
    for other in (make(table, pseudonyms=True, seed=6), make(table, pseudonyms=True, privacy=["k(3)"])):
        assert not set(other.frame["pid"]) & set(pairs["pid"])
    ranks = pairs.sort("was")["pid"].rank().to_numpy()
    assert abs(np.corrcoef(ranks, np.arange(ranks.size))[0, 1]) < 0.6
    found = dc.audit(release.frame, quasi_identifiers=["age", "sex"], privacy="k(2)", person="pid")
    assert found.passed
    assert found.people == release.audit.people


def test_reports_say_people_where_people_are_meant(tmp_path: Path) -> None:
    release = make(visits(2, 400, 100, constant=True))
    summary = release.summary()
    assert f"people          {release.audit.people:,} of 100 released" in summary or "left out" in summary
    assert "people" in release.audit.summary()
    if release.audit.smallest_class >= 5:
        assert any("is one of at least" in sentence for sentence in release.verdict.sentences)
    page = release.report(tmp_path / "report.md").read_text()
    assert "People in the release" in page
    assert "promises count people" in page


def test_few_people_left_out_withhold_rows() -> None:
    frame = pl.DataFrame(
        {"pid": [1] * 9 + [number for number in range(2, 42) for _ in range(2)], "age": [99] * 9 + [30] * 80}
    )
    release = dc.anonymize(
        frame,
        quasi_identifiers={"age": "flat"},
        max_levels={"age": 0},
        privacy="k(5)",
        suppression="budget(0.1)",
        person="pid",
    )
    assert (release.suppressed_people, release.suppressed) == (1, 9)
    left_out = LeftOut.of(release)
    assert left_out.few
    shown = release.to_dict()
    assert shown["rows"] is shown["suppressed"] is shown["cost"] is shown["people"] is None
    assert shown["suppressed_people"] == "fewer than 5"
    assert "fewer than 5 left out" in release.summary()
    assert "89" not in release.summary()
    assert release.to_dict(exact=True)["suppressed_people"] == 1


def test_written_later_is_audited_for_people_too(tmp_path: Path) -> None:
    release = make()
    for name in ("a.csv", "a.parquet", "a.jsonl", "parts/"):
        release.write(f"{tmp_path}/{name}")
    release.write(tmp_path / "sheet.csv", for_spreadsheets=True)


def test_certificates(tmp_path: Path) -> None:
    for pseudonyms in (False, True):
        out = tmp_path / f"{pseudonyms}.csv"
        release = make(output=out, pseudonyms=pseudonyms, key=tmp_path / "key")
        release.certificate(tmp_path / "c.json")
        checked = dc.verify(out, tmp_path / "c.json", key=tmp_path / "key")
        assert checked.passed
        assert ("checked by rows alone" in checked.summary()) != pseudonyms
        assert any("count people" in what for what, _ in checked.files) != pseudonyms
        assert (checked.audit.people is not None) == pseudonyms


@pytest.mark.parametrize(
    "altered",
    [
        {"smallest_class": 10**6},
        {"promises": [{"model": "k(4)", "reached": 10.0**6}]},
        {"promises": [{"model": "k(4)", "reached": 3.0}]},
        {"promises": [{"model": "k(1000000)", "reached": 10.0**6}]},
        {"promises": [{"model": "k(1, on=[age])", "reached": 10.0**6}]},
    ],
)
def test_a_certificate_cannot_claim_more_people_than_there_are_rows(altered: dict[str, Any], tmp_path: Path) -> None:
    """Without a key anybody can write a checksum; classes of people are no larger than those of rows."""
    release = make(output=tmp_path / "safe.csv", key=tmp_path / "key")
    honest = json.loads(release.certificate(tmp_path / "c.json").read_text())
    assert dc.verify(tmp_path / "safe.csv", tmp_path / "c.json").passed
    (tmp_path / "c.json").write_text(json.dumps(rewritten({**honest, **altered})))
    assert not dc.verify(tmp_path / "safe.csv", tmp_path / "c.json").passed


def test_policies_count_people(tmp_path: Path) -> None:
    release = make(output=tmp_path / "safe.csv", pseudonyms=True)
    policy = release.policy()
    assert policy.person == "pid"
    assert dc.check(tmp_path / "safe.csv", policy).passed
    crowd = pl.DataFrame({"pid": ["a", "a", "b"], "age": [1, 1, 1]})
    rules = {"quasi_identifiers": ["age"], "allow": ["pid"], "identifying": "off"}
    assert dc.check(crowd, privacy="k(3)", **rules).passed
    assert not dc.check(crowd, privacy="k(3)", person="pid", **rules).passed
    assert not dc.check(crowd, privacy="k(1)", person="nobody", **rules).passed


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("unit", ["pid", "hid"])
def test_a_mapping_counts_the_people_of_other_rows(seed: int, unit: str, tmp_path: Path) -> None:
    job = {"identifiers": ["pid", "hid"], "quasi_identifiers": QUASI, "sensitive": "s", "privacy": ["k(3)"]}
    owner = {"person": "pid"} if unit == "pid" else {"household": "hid"}
    release = dc.anonymize(visits(seed, 60, 25), **job, **owner)
    mapping = release.to_mapping()
    assert mapping["person" if unit == "pid" else "household"] == unit
    assert dc.apply_mapping(mapping, visits(seed, 60, 25)).audit.people == release.people
    other = visits(seed + 100, 40, 15)
    plain = dc.apply_mapping({**mapping, "privacy": ["k(1)"]}, other, unknown="top", order="keep").frame
    owners = plain.with_columns(other[unit])
    sizes = owners.with_columns(people=pl.col(unit).n_unique().over([*QUASI]))["people"]
    if int(sizes.min()) < 3:
        with pytest.raises(AuditError, match=r"k\(3\) broken"):
            dc.apply_mapping(mapping, other, unknown="top")
    target = tmp_path / "more.csv" if seed % 2 else None
    applied = dc.apply_mapping(mapping, other, unknown="top", broken="suppress", output=target)
    kept = owners.filter(sizes >= 3)
    assert applied.audit.rows == kept.height
    assert applied.audit.people == kept[unit].n_unique()
    assert applied.people == other[unit].n_unique()
    assert unit not in applied.frame.columns
    gone = applied.people - kept[unit].n_unique()
    if applied.suppressed and gone < 5:
        assert applied.to_dict()["suppressed"] is None
        assert f"{applied.suppressed:,} left out" not in applied.summary()


def test_other_rows_must_say_whose_they_are() -> None:
    mapping = make().to_mapping()
    with pytest.raises(MissingColumnError, match="pid"):
        dc.apply_mapping(mapping, visits(1).drop("pid"), unknown="top")
    unsaid = visits(1).with_columns(pl.when(pl.int_range(pl.len()) > 3).then("pid").alias("pid"))
    with pytest.raises(DataError, match="no value in"):
        dc.apply_mapping(mapping, unsaid, unknown="top")


def test_values_of_people_are_found_in_other_columns() -> None:
    table = visits(1).with_columns(link="https://example.org/" + pl.col("pid"))
    with pytest.raises(DiscreetError, match="link"):
        make(table)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_risk_of_released_people_counts_those_who_were_released(seed: int) -> None:
    release = dc.anonymize(
        visits(seed, rows=200, people=60),
        person="pid",
        identifiers=["hid"],
        quasi_identifiers=QUASI,
        privacy="k(4)",
        suppression="budget(30%)",
    )
    assert release.suppressed_people
    handed_over, private = release.risk(only_released=True), release.risk()
    assert handed_over.people == private.people == release.audit.people
    assert handed_over.prosecutor == private.prosecutor
    assert handed_over.prosecutor.highest <= 1 / 4
    assert not any(warning.column == "pid" for warning in handed_over.warnings)  # the column does not leave


def test_pseudonyms_that_link_rows_are_a_caution_unless_profiles_are_promised():
    visits = dc.sample_visits(600, seed=3).select("patient_id", "sex", "zip", "department")
    job: dict[str, Any] = {"person": "patient_id", "quasi_identifiers": ["sex", "zip"], "keep": ["department"]}
    linked = dc.anonymize(visits, privacy="k(3)", pseudonyms=True, **job)
    assert any(each.level == "caution" and "by their pseudonyms" in each.sentence for each in linked.verdict.findings)
    for other in ({"pseudonyms": False}, {"pseudonyms": True, "privacy": "k(3, profile=true)"}):
        release = dc.anonymize(visits, **{"privacy": "k(3)", **job, **other})
        assert "by their pseudonyms" not in str(release.verdict)


def test_pseudonyms_of_a_repeated_seed_do_not_say_how_many_people_were_left_out():
    def pseudonyms(left_out: list[int]) -> set[str]:
        ages = [50 + i // 20 for i in range(40)] + left_out
        table = pl.DataFrame({"pid": [f"p{i}" for i in range(len(ages))], "age": ages})
        job: dict[str, Any] = {"person": "pid", "quasi_identifiers": {"age": "flat"}, "privacy": "k(5)", "seed": 7}
        return set(dc.anonymize(table, pseudonyms=True, suppression="budget(12%)", **job).frame["pid"])

    nobody = pseudonyms([])
    assert nobody == pseudonyms([])
    for left_out in ([1], [1, 2], [90], [1, 2, 3, 4]):
        assert not nobody & pseudonyms(left_out)
