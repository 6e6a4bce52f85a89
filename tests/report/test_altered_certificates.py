"""A certificate that was altered never verifies, unless what it says is true; and no alteration ends in a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from attack.provenance import alterations, rewritten, true_statement
from depth import every
from discreet.errors import DataError, DiscreetError

CHOICES: dict[str, dict[str, Any]] = {
    "k and l": {"privacy": ["k(5)", "distinct-l(2, diagnosis)"], "suppression": "budget(10%)"},
    "entropy": {"privacy": ["k(2)", "entropy-l(2, diagnosis)"], "scheme": "subtree"},
    "values": {"privacy": ["l+(0.2, diagnosis)"], "suppression": "violating-values", "scheme": "subtree"},
    "local": {"privacy": ["k(4)"], "scheme": "local", "cost": "NCP", "seed": 1},
    "closeness": {"privacy": ["k(3)", "t(0.5, diagnosis)"], "types": {"diagnosis": "text"}, "missing": "suppress"},
    "weights": {"privacy": ["k-map(20)"], "weights": "children"},
    "kept": {"privacy": ["k(3)"], "keep": ["income"], "sensitive": []},
}


@pytest.fixture
def certified(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return an honest certificate, and leave it and its files in the current folder."""
    monkeypatch.chdir(tmp_path)
    people = dc.sample(300, seed=3).select("sex", "education", "diagnosis", "children", "income")
    if request.param != "kept":
        people = people.drop("income")
    people.with_columns(children=people["children"].cast(int).clip(1, 3).fill_null(1)).write_csv("people.csv")
    release = dc.anonymize(
        "people.csv",
        quasi_identifiers={"sex": "flat", "education": None},
        output="safe.csv",
        **{"sensitive": ["diagnosis"], **CHOICES[request.param]},
    )
    data: dict[str, Any] = json.loads(release.certificate("certificate.json", key="discreet.key").read_text())
    return data


def passes(certificate: Any, needed: dict[str, Any], **key: Any) -> bool:
    Path("altered.json").write_text(json.dumps(certificate), encoding="utf-8")
    try:
        return dc.verify("safe.csv", "altered.json", **needed, **key).passed
    except DiscreetError:  # anything else is a traceback, and fails the test
        return False


@pytest.mark.parametrize("certified", every(4, CHOICES), indirect=True)
def test_no_alteration_verifies(certified: dict[str, Any]) -> None:
    needed = {"original": "people.csv"} if any("t(" in each["model"] for each in certified["promises"]) else {}
    assert passes(certified, needed)
    assert passes(certified, {"original": "people.csv"}, key="discreet.key")
    changed = list(alterations(certified))
    assert len(changed) > 250
    for number, (what, certificate) in enumerate(changed):
        assert not passes(certificate, needed), f"{what}, with its old digest"
        new = rewritten(certificate)
        if new == certified or number % 3:  # most alterations never get as far as the digest
            continue
        assert not passes(new, {"original": "people.csv"}, key="discreet.key"), f"{what}, with the key"
        if passes(new, needed):
            assert true_statement(new, certified, Path("safe.csv")), f"{what}, with a new digest"


@pytest.mark.parametrize("certified", ["k and l"], indirect=True)
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xff\xfe{}", "is not UTF-8 text"),
        (b"{", "is not JSON"),
        (b"[" * 100_000, "nested too deeply|is not JSON"),
        (b'{"kind": "discreet release certificate", "kind": "x"}', "a field occurs twice"),
        (b'{"kind": NaN}', "NaN is not a JSON number"),
        (b'{"kind": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"kind": ' + b"9" * 10_000 + b"}", "a number in it is too long"),
        (b'{"kind": "discreet release certificate", "format": 1}', "of an earlier version .* withdraw it"),
        (b'{"kind": "discreet release certificate", "format": 3}', "by a newer version"),
        (b'{"kind": "discreet release certificate", "format": true}', "not a known number"),
        (b'{"kind": "discreet release certificate", "format": 2}', "the field 'output' is missing"),
    ],
)
def test_what_is_no_certificate_is_refused_in_a_sentence(certified: Any, content: bytes, why: str) -> None:
    Path("c.json").write_bytes(content)
    with pytest.raises(DataError, match=why) as caught:
        dc.verify("safe.csv", "c.json")
    assert caught.value.topic == "certificate"


@pytest.mark.parametrize("certified", ["k and l"], indirect=True)
def test_a_constant_column_cannot_be_dropped_from_the_quasi_identifiers(certified: dict[str, Any]) -> None:
    """Every column of the file has a role: one that is left out is noticed, however little it tells."""
    for column in certified["quasi_identifiers"]:
        rest = [name for name in certified["quasi_identifiers"] if name != column]
        assert not passes(rewritten({**certified, "quasi_identifiers": rest}), {})


@pytest.mark.parametrize("certified", ["kept"], indirect=True)
def test_columns_released_as_they_are_are_named_with_their_uniqueness(certified: dict[str, Any]) -> None:
    kept = {each["name"]: each["unique"] for each in certified["unchanged"]}
    assert kept == {"diagnosis": "under 5 %", "children": "under 5 %", "income": kept["income"]}
    values = pl.read_csv("safe.csv", infer_schema=False)["income"].drop_nulls()
    share = 100 * values.is_unique().mean()
    assert abs(int(kept["income"].removesuffix(" %")) - share) <= 2.5
    for other in ("under 5 %", None, "not counted", f"{int(kept['income'][:2]) + 5} %"):
        altered = {**certified, "unchanged": [*certified["unchanged"][:-1], {"name": "income", "unique": other}]}
        Path("altered.json").write_text(json.dumps(rewritten(altered)), encoding="utf-8")
        found = dc.verify("safe.csv", "altered.json")
        assert not found.passed
        assert found.differs == ("columns released as they are",)


@pytest.mark.parametrize("certified", ["closeness"], indirect=True)
def test_what_closeness_reached_is_not_told(certified: dict[str, Any]) -> None:
    """It compares with all people; with the release at hand it would tell about those who were left out."""
    assert [each["reached"] is None for each in certified["promises"]] == [False, True]
    measured = dc.verify("safe.csv", "certificate.json", original="people.csv").audit.checks[1].reached
    promises = [certified["promises"][0], {**certified["promises"][1], "reached": measured}]
    assert not passes(rewritten({**certified, "promises": promises}), {"original": "people.csv"})


@pytest.mark.parametrize("certified", ["k and l"], indirect=True)
def test_the_form_may_be_laid_out_differently(certified: dict[str, Any]) -> None:
    Path("altered.json").write_text(json.dumps(certified, indent=8, ensure_ascii=True), encoding="utf-8")
    assert dc.verify("safe.csv", "altered.json", key="discreet.key").passed
