"""Several tables that cannot be released together, and what does not go with several tables."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.errors import DiscreetError, UsageError
from discreet.job import Job
from two_tables import OPTIONS, people_and_visits, with_people_without_visits


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    return people_and_visits()


@pytest.fixture(scope="module")
def some(tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    return with_people_without_visits(tables)


WRONG: dict[str, tuple[Any, str]] = {
    "person missing in people": (
        lambda t: {**t, "people": t["people"].head(400)},
        r"The table 'visits' has \d+ rows of people who are not in 'people'; add these people",
    ),
    "people twice": (
        lambda t: {**t, "people": pl.concat([t["people"], t["people"].head(3)])},
        "The table 'people' has several rows for 3 people in 'patient_id'",
    ),
    "visits first": (
        lambda t: dict(reversed(t.items())),
        "'visits' has several rows .* name the table of people first",
    ),
    "the text NA as key": (
        lambda t: {
            **t,
            "visits": t["visits"].with_columns(
                patient_id=pl.when(pl.int_range(pl.len()) > 1).then("patient_id").otherwise(pl.lit("NA"))
            ),
        },
        "Column 'patient_id' has the text NA in 2 rows of the table 'visits'",
    ),
    "missing key": (
        lambda t: {
            **t,
            "visits": t["visits"].with_columns(patient_id=pl.when(pl.int_range(pl.len()) > 1).then("patient_id")),
        },
        "Column 'patient_id' has no value in 2 rows of the table 'visits'",
    ),
    "no key": (
        lambda t: {**t, "visits": t["visits"].drop("patient_id")},
        "The table 'visits' has no column 'patient_id'",
    ),
    "other type": (
        lambda t: {**t, "visits": t["visits"].with_columns(patient_id=pl.int_range(pl.len()))},
        r"'visits.patient_id' holds Int64 and 'people.patient_id' holds String, and compared as text \d+ rows",
    ),
    "types that cannot be compared": (
        lambda t: {**t, "visits": t["visits"].with_columns(patient_id=pl.date(2000, 1, 1))},
        "'visits.patient_id' holds Date and 'people.patient_id' holds String, which cannot be compared",
    ),
    "one table": (lambda t: {"people": t["people"]}, "this one has a single one"),
    "no name": (lambda t: {"a/b": t["people"], "visits": t["visits"]}, "'a/b' is no name for a table"),
}


@pytest.mark.parametrize("wrong", [None, 5, True, ["visits.csv"], {"age": [1]}])
@pytest.mark.parametrize("use", ["anonymize", "audit", "risk", "find"])
def test_what_is_no_table(wrong: Any, use: str, tables: dict[str, pl.DataFrame]) -> None:
    given = {**tables, "visits": wrong}
    named: dict[str, Any] = {"quasi_identifiers": ["age"], "person": "patient_id"}
    with pytest.raises(UsageError, match=r"The table 'visits' is (None|of type \w+), which cannot be read"):
        {
            "anonymize": lambda: dc.anonymize(given, **OPTIONS),
            "audit": lambda: dc.audit(given, privacy="k(2)", **named),
            "risk": lambda: dc.evaluate.risk(given, **named),
            "find": lambda: dc.find(given, {"age": 30}, **named),
        }[use]()


@pytest.mark.parametrize("wrong", ["a.csv", ["a.csv"], {"people": 5}, {"people": None}, {1: "a"}, {"a": ["b.csv"]}, 5])
def test_a_job_with_wrong_tables(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"The key 'tables'(, entry '\w+',)? (names a file|must be a name)"):
        Job(tables=wrong, quasi_identifiers="age", privacy="k(2)", person="id")


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tables(name: str, tables: dict[str, pl.DataFrame]) -> None:
    change, sentence = WRONG[name]
    with pytest.raises(DiscreetError, match=sentence) as caught:
        dc.anonymize(change(tables), **OPTIONS)
    assert "QZcanary" not in str(caught.value)
    assert caught.value.topic == "several-tables"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"person": None}, "Several tables are linked by the column"),
        ({"weights": "age"}, "leave out weights"),
        ({"population": pl.DataFrame({"age": [1]})}, "leave out population"),
        ({"engine": "duckdb"}, "joined in memory, not by duckdb"),
        ({"privacy": "dp(2, 0.05)"}, "which draws rows, does not go with several tables"),
        (
            {"scheme": "cells", "quasi_identifiers": ["age", "sex", "zip"]},
            "The scheme cells does not go with several tables",
        ),
        ({"suppression": "violating-records"}, "promises that count people"),
        ({"output": "safe.csv"}, "end the output in /"),
    ],
)
def test_what_does_not_go_with_several_tables(
    changes: dict[str, Any], sentence: str, tables: dict[str, pl.DataFrame]
) -> None:
    with pytest.raises(DiscreetError, match=sentence):
        dc.anonymize(tables, **{**OPTIONS, **changes})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"missing": "suppress"}, "no row in 'visits', and so no value in 'age'"),
        ({"missing_sensitive": "value"}, "no value in 'diagnosis'"),
        ({"privacy": ["k(4)", "distinct-l(2, diagnosis)"]}, r"distinct-l\(2, diagnosis\) cannot hold for them"),
        ({"scheme": "local"}, "does not go with people who have no row in 'visits'"),
    ],
)
def test_what_does_not_go_with_people_without_rows(
    changes: dict[str, Any], sentence: str, some: dict[str, pl.DataFrame]
) -> None:
    with pytest.raises(DiscreetError, match=sentence):
        dc.anonymize(some, **{**OPTIONS, **changes})
