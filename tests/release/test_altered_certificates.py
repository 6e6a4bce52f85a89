"""A certificate that was altered never verifies, unless what it says is true; and no alteration ends in a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from attack.provenance import alterations, rewritten, true_statement
from discreet.errors import DataError, DiscreetError

CHOICES: dict[str, dict[str, Any]] = {
    "k and l": {"privacy": ["k(5)", "distinct-l(2, diagnosis)"], "suppression": "budget(10%)"},
    "entropy": {"privacy": ["k(2)", "entropy-l(2, diagnosis)"], "scheme": "subtree"},
    "values": {"privacy": ["l+(0.2, diagnosis)"], "suppression": "violating-values", "scheme": "subtree"},
    "local": {"privacy": ["k(4)"], "scheme": "local", "cost": "NCP", "seed": 1},
    "closeness": {"privacy": ["k(3)", "t(0.5, diagnosis)"], "types": {"diagnosis": "text"}, "missing": "suppress"},
    "weights": {"privacy": ["k-map(20)"], "weights": "children"},
}


@pytest.fixture
def certified(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return an honest certificate, and leave it and its files in the current folder."""
    monkeypatch.chdir(tmp_path)
    people = dc.sample(300, seed=3).select("sex", "education", "diagnosis", "children")
    people.with_columns(children=people["children"].cast(int).clip(1, 3).fill_null(1)).write_csv("people.csv")
    release = dc.anonymize(
        "people.csv",
        quasi_identifiers={"sex": "flat", "education": None},
        sensitive=["diagnosis"],
        output="safe.csv",
        **CHOICES[request.param],
    )
    told: dict[str, Any] = json.loads(release.certificate("certificate.json", key="discreet.key").read_text())
    return told


def passes(told: Any, needed: dict[str, Any], **key: Any) -> bool:
    Path("altered.json").write_text(json.dumps(told), encoding="utf-8")
    try:
        return dc.verify("safe.csv", "altered.json", **needed, **key).passed
    except DiscreetError:  # anything else is a traceback, and fails the test
        return False


@pytest.mark.parametrize("certified", list(CHOICES), indirect=True)
def test_no_alteration_verifies(certified: dict[str, Any]) -> None:
    needed = {"original": "people.csv"} if any("t(" in each["model"] for each in certified["promises"]) else {}
    assert passes(certified, needed)
    assert passes(certified, {"original": "people.csv"}, key="discreet.key")
    changed = list(alterations(certified))
    assert len(changed) > 250
    for number, (what, told) in enumerate(changed):
        assert not passes(told, needed), f"{what}, with its old digest"
        new = rewritten(told)
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
        (b'{"kind": NaN}', "NaN is not a number of JSON"),
        (b'{"kind": -Infinity}', "-Infinity is not a number of JSON"),
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


@pytest.mark.parametrize("certified", ["k and l"], indirect=True)
def test_the_form_may_be_laid_out_differently(certified: dict[str, Any]) -> None:
    Path("altered.json").write_text(json.dumps(certified, indent=8, ensure_ascii=True), encoding="utf-8")
    assert dc.verify("safe.csv", "altered.json", key="discreet.key").passed
