"""The gate: each rule of a policy is kept or broken as a naive count says, and nothing it says quotes the data."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

import discreet as dc
from discreet.errors import AuditError, DataError, UsageError
from discreet.report.check_result import RULES

SAFE = pl.DataFrame({"age": ["20-39"] * 4 + ["40-59"] * 6, "ill": ["flu", "cold"] * 5, "note": ["x"] * 10})
EMAILS = [f"canary{i}@example.org" for i in range(10)]


def broken(table: Any, **rules: Any) -> list[tuple[str, str, str]]:
    return [(each.level, each.rule, each.subject) for each in dc.check(table, **rules).findings]


def test_a_table_that_keeps_to_its_policy() -> None:
    found = dc.check(SAFE, quasi_identifiers=["age"], sensitive=["ill"], privacy=["k(4)", "distinct-l(2)"])
    assert found.passed
    assert found.level == "ok"
    assert not found.findings
    assert found.raise_if_failed(strict=True) is found


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"privacy": "k(5)"}, [("error", "privacy", "k(5)")]),
        ({"privacy": "distinct-l(3, ill)"}, [("error", "privacy", "distinct-l(3, ill)")]),
        ({"warn": {"privacy": "k(5)"}}, [("warning", "privacy", "k(5)")]),
        ({"risk": {"highest": 0.2}}, [("error", "risk", "highest")]),
        ({"risk": {"highest": "25%", "average": 0.2}}, []),
        ({"risk": {"average": 0.19}}, [("error", "risk", "average")]),
        ({"warn": {"risk": {"highest": 0.2}}}, [("warning", "risk", "highest")]),
        ({"forbid": "NO*"}, [("error", "forbidden-column", "note")]),
        ({"warn": {"forbid": ["note"]}}, [("warning", "forbidden-column", "note")]),
        ({"require": ["age", "sex"]}, [("error", "missing-column", "sex")]),
        ({"rows": 11}, [("error", "rows", "11")]),
        ({"rows": 10}, []),
        ({"sensitive": "secret"}, [("error", "missing-column", "secret")]),
    ],
)
def test_each_rule(rules: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    assert broken(SAFE, quasi_identifiers=["age"], **rules) == expected


def test_promises_of_a_table_without_rows_are_a_warning() -> None:
    empty = pl.DataFrame({"age": []}, schema={"age": pl.Int64})
    rules = {"quasi_identifiers": ["age"], "privacy": "k(5)"}
    assert broken(empty, **rules) == [("warning", "rows", "0")]
    assert ("error", "rows", "1") in broken(empty, **rules, rows=1)
    assert broken(pl.DataFrame({"age": [30] * 5}), **rules) == []


def test_columns_that_identify_people() -> None:
    table = SAFE.with_columns(contact=pl.Series(EMAILS))
    assert broken(table, quasi_identifiers=["age"]) == [("error", "identifying-column", "contact")]
    assert broken(table, identifying="warn") == [("warning", "identifying-column", "contact")]
    assert broken(table, identifying="off") == []
    assert broken(table, allow=["contact"]) == []
    leaked = table.with_columns(remark=pl.Series([f"wrote from {each}" for each in EMAILS]))
    assert ("error", "identifying-column", "remark") in broken(leaked)


def test_columns_that_single_people_out() -> None:
    table = pl.DataFrame({"weight": range(300), "sex": ["f", "m"] * 150})
    assert broken(table) == [("error", "identifying-column", "weight")]
    assert broken(table, unique="50%") == [("error", "unique-column", "weight")]
    assert broken(table, unique=1.0) == []
    assert broken(table, quasi_identifiers=["weight"]) == []
    assert broken(table, unique=1.0, warn={"unique": 0.1}) == [("warning", "unique-column", "weight")]


def test_a_naive_count_agrees() -> None:
    """On random tables k, distinct l and both risks are what counting says."""
    draw = random.Random(5)
    for _ in range(60):
        rows = [(draw.choice("ab"), draw.choice("xyz"), draw.choice("stu")) for _ in range(draw.randint(1, 30))]
        table = pl.DataFrame(rows, schema=["a", "b", "s"], orient="row")
        sizes = Counter(row[:2] for row in rows)
        values = {key: len({row[2] for row in rows if row[:2] == key}) for key in sizes}
        k, ell, risk = draw.randint(1, 5), draw.randint(1, 3), draw.choice([0.1, 0.2, 0.5])
        expected = set()
        if min(sizes.values()) < k:
            expected.add(f"k({k})")
        if min(values.values()) < ell:
            expected.add(f"distinct-l({ell}, s)")
        if 1 / min(sizes.values()) > risk:
            expected.add("highest")
        if len(sizes) / len(rows) > risk:
            expected.add("average")
        found = dc.check(
            table,
            quasi_identifiers=["a", "b"],
            sensitive=["s"],
            privacy=[f"k({k})", f"distinct-l({ell})"],
            risk={"highest": risk, "average": risk},
            identifying="off",
        )
        assert {each.subject for each in found.findings} == expected


def test_what_is_said_quotes_no_value() -> None:
    table = SAFE.with_columns(contact=pl.Series(EMAILS))
    found = dc.check(table, quasi_identifiers=["age"], privacy="k(9)", unique=0.0)
    texts = [found.summary(), json.dumps(found.to_dict()), found.to_junit(), json.dumps(found.to_sarif())]
    texts += [found._repr_html_(), str(found.to_frame().rows())]
    with pytest.raises(AuditError) as raised:
        found.raise_if_failed()
    for text in [*texts, raised.value.message]:
        assert "canary" not in text
        assert "20-39" not in text


def test_formats() -> None:
    found = dc.check(
        SAFE, quasi_identifiers=["age"], privacy=["k(4)", "k(5)"], warn={"privacy": "k(6)"}, identifying="off"
    )
    suite = ElementTree.fromstring(found.to_junit()).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert len(suite.findall("testcase/failure")) == 1
    assert len(suite.findall("testcase/system-out")) == 1
    (run,) = found.to_sarif()["runs"]
    assert [each["level"] for each in run["results"]] == ["error", "warning"]
    rules = run["tool"]["driver"]["rules"]
    assert {each["id"] for each in rules} == set(RULES)
    # GitHub requires these of every rule, and a line of every finding.
    assert all(each[key]["text"] for each in rules for key in ("shortDescription", "fullDescription", "help"))
    places = [place["physicalLocation"] for each in run["results"] for place in each["locations"]]
    assert [place["region"] for place in places] == [{"startLine": 1}] * 2
    assert found.to_dict()["format"] == 1
    assert found.to_frame()["level"].to_list() == ["ok", "error", "warning"]


def test_a_folder_is_checked_table_by_table(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / ".hidden").mkdir()
    SAFE.write_csv(tmp_path / "safe.csv")
    SAFE.with_columns(contact=pl.Series(EMAILS)).write_parquet(tmp_path / "more" / "visits-1.parquet")
    SAFE.write_csv(tmp_path / ".hidden" / "not.csv")
    (tmp_path / "wrong.csv").write_bytes(b"a,b\n\xff\xfe,1\n")
    policy = {
        "quasi_identifiers": ["age"],
        "privacy": "k(4)",
        "tables": {"visits*": {"forbid": ["note"], "identifying": "off"}},
    }
    found = dc.check(tmp_path, policy)
    assert [Path(table).name for table in found.tables] == ["visits-1.parquet", "safe.csv", "wrong.csv"]
    assert {(Path(each.table).name, each.rule) for each in found.findings} == {
        ("visits-1.parquet", "forbidden-column"),
        ("wrong.csv", "unreadable"),
    }
    with pytest.raises(DataError):
        dc.check(tmp_path / "wrong.csv", policy)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="has no table"):
        dc.check(tmp_path / "empty")


def test_a_release_keeps_to_its_own_policy(tmp_path: Path) -> None:
    people = dc.sample(400, seed=3).drop("name", "birth_date", "income", "occupation")
    release = dc.anonymize(
        people,
        identifiers=["person_id"],
        quasi_identifiers=["sex", "zip"],
        sensitive=["diagnosis"],
        privacy=["k(5)", "l+(0.6, diagnosis)"],
        suppression="class-values",
    )
    policy = dc.Policy.load(release.policy().save(tmp_path / "policy.yaml"))
    assert policy.forbid == ["person_id"]
    assert policy.unknown == ("*" if release.suppressed_values else None)
    assert dc.check(release.frame, policy).passed
    assert not dc.check(people, policy).passed
    assert not dc.check(release.frame, policy, privacy=["k(200)"]).passed


def test_values_in_promises_never_get_into_a_policy() -> None:
    people = dc.sample(300, seed=3).select("sex", "diagnosis")
    most = people["diagnosis"].mode()[0]
    release = dc.anonymize(
        people,
        quasi_identifiers=["sex"],
        sensitive=["diagnosis"],
        privacy=[dc.LPlusDiversity({most: 0.9}, "diagnosis")],
    )
    with pytest.raises(UsageError, match="names values of the data"):
        release.policy()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"privcy": "k(5)"}, "There is no key 'privcy'; did you mean 'privacy'?"),
        ({"warn": {"tables": {}}}, "The key 'tables' does not belong in 'warn'; write it at the top."),
        ({"tables": {"a": {"tables": {"b": {}}}}}, "The policy of 'a' has tables of its own"),
        ({"types": {"age": "banana"}}, "There is no type 'banana'"),
        ({"quasi_identifiers": "age", "sensitive": "age"}, "'age' is both a quasi-identifier and sensitive"),
        ({"risk": {"highest": 2}}, "The key 'risk', entry 'highest', must be 1 or less."),
        ({"risk": {"highest": "many%"}}, "The key 'risk' must be a share such as 5% or 0.05."),
        ({"identifying": "maybe"}, "The key 'identifying' is one of error, warn or off."),
        ({"privacy": "k(5)"}, "The policy has promises and no quasi-identifiers"),
        ({"quasi_identifiers": ["age"], "privacy": "kk(5)"}, "kk"),
    ],
)
def test_a_wrong_policy(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        dc.check(SAFE, fields)
    assert sentence in raised.value.message


def test_names_alone_are_a_warning() -> None:
    """Ten people with twenty visits each: too few names to be sure by their number, and too telling to say nothing."""
    names = pl.Series([f"Person {number % 10}" for number in range(200)])
    table = pl.DataFrame({"patient_name": names, "mrn": pl.Series(range(200)) % 6, "los": [1, 2] * 100})
    assert broken(table) == [
        ("warning", "identifying-column", "patient_name"),
        ("warning", "identifying-column", "mrn"),
    ]
    assert not dc.check(table).strict().passed
    assert broken(table, allow=["patient_name", "mrn"]) == []


def test_what_cannot_be_inspected_is_no_pass() -> None:
    table = SAFE.with_columns(visits=pl.Series([["x"]] * 10))
    assert broken(table) == [("error", "identifying-column", "visits")]


def test_strict_results_agree_with_themselves() -> None:
    found = dc.check(SAFE, quasi_identifiers=["age"], warn={"privacy": "k(5)"})
    assert found.passed
    strict = found.strict()
    assert not strict.passed
    assert "FAILED" in strict.summary()
    assert "<failure" in strict.to_junit()


def test_promises_that_compare_need_the_original() -> None:
    """Rows that were left out shift the distribution a release is compared with."""
    people = dc.sample(500, seed=5).select("sex", "zip", "diagnosis")
    release = dc.anonymize(
        people,
        quasi_identifiers=["sex", "zip"],
        sensitive=["diagnosis"],
        privacy=["k(10)", "t(0.2, diagnosis)"],
        suppression="budget(20%)",
    )
    assert dc.check(release.frame, release.policy(), reference=people).passed


def test_what_no_table_shows_is_refused() -> None:
    """Differential privacy is about how rows were drawn: no count of a file can say that it holds."""
    table = pl.DataFrame({"sex": ["f", "m"] * 200})
    with pytest.raises(UsageError, match=r"does not show; check the class sizes it needs, k\(74\)"):
        dc.check(table, quasi_identifiers=["sex"], privacy="dp(1, 1e-6)")
    with pytest.raises(UsageError, match="does not show"):
        dc.audit(table, quasi_identifiers=["sex"], privacy=["k(5)", "dp(1, 1e-6)"])


def test_files_that_are_no_tables_are_counted(tmp_path: Path) -> None:
    SAFE.write_csv(tmp_path / "safe.csv")
    (tmp_path / "patients.txt").write_text("name\nAnna\n")
    found = dc.check(tmp_path)
    assert found.unchecked == 1
    (tmp_path / ".hidden.csv").write_text("name\nAnna\n")
    assert "2 other files were not checked: hidden, or no table by name." in dc.check(tmp_path).summary()
