"""Sensitive attributes that are several columns together, and several sensitive attributes in one job."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dc
from databases import DATABASES, fill
from discreet.errors import InfeasibleError, MissingColumnError, UnsupportedCombinationError, UsageError
from discreet.schema import Schema
from lazy import ENGINES, make_relation
from sources import Constructor

QUASI: dict[str, Any] = {"age": "intervals(10, 20, 40)", "sex": "flat"}
JOB: dict[str, Any] = {
    "quasi_identifiers": QUASI,
    "sensitive": ["disease+stage", "pay", "stage"],
    "privacy": ["k(2)", "distinct-l(6, disease+stage)", "t(0.4, pay)", "l+(0.7, stage)"],
    "suppression": "budget(0.1)",
}


def people(n: int = 120) -> pl.DataFrame:
    rng = np.random.default_rng(8)

    def pick(values: list[Any]) -> list[Any]:
        return [values[place] for place in rng.integers(0, len(values), n)]

    return pl.DataFrame(
        {
            "age": pick([21, 24, 33, 57, None]),
            "sex": pick(["m", "f", None]),
            "disease": pick(["flu", "hiv", "a + b", None]),
            "stage": pick([1, 2, 3]),
            "pay": pick(["low", "high", None]),
        }
    )


def figures(release: dc.Release) -> dict[str, Any]:
    facts = release.to_dict()
    return {key: facts[key] for key in ("status", "cost", "suppressed", "classes", "levels", "audit")}


@pytest.fixture(scope="module")
def expected() -> dc.Release:
    return dc.anonymize(people(), **JOB)


def test_by_hand(expected: dc.Release) -> None:
    """Pairs of values are counted, a missing one being a value, and the promise about them is what binds."""
    pairs, stages = defaultdict(set), defaultdict(list)
    for row in expected.frame.to_dicts():
        key = (row["age"], row["sex"])
        pairs[key].add((row["disease"], row["stage"]))
        stages[key].append(row["stage"])
    reached = {check.model: check.reached for check in expected.audit.checks}
    assert reached["distinct-l(6, disease+stage)"] == min(map(len, pairs.values())) >= 6
    shares = [max(each.count(value) for value in each) / len(each) for each in stages.values()]
    assert reached["l+(0.7, stage)"] == pytest.approx(max(shares))
    easier = dc.anonymize(people(), **{**JOB, "privacy": ["k(2)", "t(0.4, pay)", "l+(0.7, stage)"]})
    assert easier.cost < expected.cost


def test_from_every_kind(constructor: Constructor, expected: dc.Release) -> None:
    assert figures(dc.anonymize(constructor(people()), **JOB)) == figures(expected)


@pytest.mark.parametrize("kind", ENGINES)
def test_on_every_engine(kind: str, expected: dc.Release) -> None:
    assert figures(dc.anonymize(make_relation(kind, people()), **JOB)) == figures(expected)


@pytest.mark.parametrize("kind", DATABASES)
def test_in_every_database(kind: str, place: Any, expected: dc.Release) -> None:
    release = dc.anonymize(fill(place(kind, "people"), people()), **JOB, output=place(kind, "safe"))
    assert figures(release) == figures(expected)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "xlsx"])
def test_written_and_audited_again(kind: str, tmp_path: Path, expected: dc.Release) -> None:
    output = tmp_path / f"safe.{kind}"
    release = dc.anonymize(people(), **JOB, output=output)
    assert figures(release) == figures(expected)
    settings: dict[str, Any] = {"quasi_identifiers": [*QUASI], "privacy": JOB["privacy"]}
    verdict = dc.audit(output, **settings, reference=people())
    assert [check.reached for check in verdict.checks] == [check.reached for check in expected.audit.checks[:-1]]
    report = dc.evaluate.risk(output, quasi_identifiers=[*QUASI], sensitive=["disease+stage"], original=people())
    assert report.disclosure["disease+stage"].distinct_l == verdict.checks[1].reached


def test_an_empty_cell_is_missing_in_each_column(tmp_path: Path) -> None:
    """In a CSV file empty text and a missing value are one, so that they are no two values of a pair."""
    table = pl.DataFrame({"q": ["x"] * 4, "a": ["", None, "", None], "b": ["1", "1", "2", "2"]})
    settings: dict[str, Any] = {"quasi_identifiers": {"q": "flat"}, "sensitive": "a+b"}
    assert dc.anonymize(table, **settings, privacy="distinct-l(4)").audit.passed
    with pytest.raises(InfeasibleError, match="the whole table has 2"):
        dc.anonymize(table, **settings, privacy="distinct-l(3)", output=tmp_path / "safe.csv")
    assert dc.anonymize(table, **settings, privacy="distinct-l(2)", output=tmp_path / "safe.csv").audit.passed


def test_mapping_and_certificate(tmp_path: Path, expected: dc.Release) -> None:
    people().write_csv(tmp_path / "people.csv")
    job = dc.Job(
        input="people.csv",
        output="safe.csv",
        certificate="c.json",
        mapping="m.json",
        **{**JOB, "quasi_identifiers": dict(QUASI)},
    )
    job._folder = tmp_path
    assert figures(job.run())["cost"] == expected.cost
    assert dc.verify(tmp_path / "safe.csv", tmp_path / "c.json", original=tmp_path / "people.csv").passed
    assert dc.apply_mapping(tmp_path / "m.json", tmp_path / "people.csv").audit.passed
    utility = dc.evaluate.utility(people(), expected, quasi_identifiers=QUASI, sensitive=["disease+stage"])
    assert utility.to_dict()


def test_names() -> None:
    schema = Schema.make(["q", "a", "b", "a+b", "c"], (), ["q"], ["a+b", "b + c"])
    assert schema.combined == {"b + c": ("b", "c")}
    assert schema.sensitive_columns == ("a+b", "b", "c")
    assert schema.insensitive == ("a",)
    with pytest.raises(MissingColumnError, match="'d'"):
        Schema.make(["q", "a"], (), ["q"], ["a+d"])
    with pytest.raises(UsageError, match="Column 'q' cannot be both"):
        Schema.make(["q", "a"], (), ["q"], ["a+q"])


def test_what_is_refused() -> None:
    settings: dict[str, Any] = {"quasi_identifiers": QUASI, "sensitive": "disease+stage", "privacy": "l+(0.5)"}
    with pytest.raises(UnsupportedCombinationError, match="the scheme local"):
        dc.anonymize(people(), **settings, scheme="local", cost="NCP")
    for kind in ("violating-records", "class-values", "violating-values"):
        with pytest.raises(UnsupportedCombinationError, match=kind):
            dc.anonymize(people(), **settings, scheme="subtree", suppression=kind)
