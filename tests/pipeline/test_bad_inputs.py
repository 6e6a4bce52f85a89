"""Everything that can be wrong with a job has one clear sentence, of the right class, before any search starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import discreet.pipeline.prepare as flow
from discreet import groups
from discreet.errors import (
    DataError,
    DiscreetError,
    InfeasibleError,
    MissingColumnError,
    UnsupportedCombinationError,
    UsageError,
)
from discreet.pipeline.anonymize import anonymize
from discreet.pipeline.apply import apply_mapping
from discreet.pipeline.release import Release
from discreet.pipeline.verify import verify
from discreet.schema import Hierarchy

TABLE = pl.DataFrame({"age": [30, 31, 32, 33], "sex": ["m", "f", "m", "f"], "SECRET": ["a", "b", "c", "d"]})
JOB: dict[str, Any] = {"quasi_identifiers": {"age": "intervals(5)", "sex": "flat()"}, "privacy": "k(2)"}


@pytest.fixture
def _no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "discreet.solve.lattice.solver.LatticeSolver.solve", lambda *_: pytest.fail("the search had started")
    )


CASES: dict[str, tuple[dict[str, Any], type[DiscreetError], str | None, str]] = {
    "no such column": ({"quasi_identifiers": ["agee"]}, MissingColumnError, "agee", "did you mean 'age'"),
    "no such identifier": ({"identifiers": "name"}, MissingColumnError, "name", "discreet info"),
    "no such sensitive": ({"sensitive": "illness"}, MissingColumnError, "illness", "no column"),
    "no such class": ({"class_attribute": "y", "cost": "CM"}, MissingColumnError, "y", "no column"),
    "no such type": ({"types": {"age": "colour"}}, UsageError, None, "no type"),
    "named twice": ({"quasi_identifiers": ["age", "age"]}, UsageError, "age", "twice"),
    "two roles": ({"identifiers": "age"}, UsageError, "age", "both"),
    "nothing to hide": ({"quasi_identifiers": []}, UsageError, None, "no quasi-identifier"),
    "no promise": ({"privacy": []}, UsageError, None, "No privacy model"),
    "k of 0": ({"privacy": "k(0)"}, UsageError, None, "whole number of at least 1"),
    "k of -1": ({"privacy": "k(-1)"}, UsageError, None, "whole number of at least 1"),
    "k of 1.5": ({"privacy": "k(1.5)"}, UsageError, None, "whole number of at least 1"),
    "k larger than the table": ({"privacy": "k(5)"}, InfeasibleError, None, "whole table has 4"),
    "unknown model": ({"privacy": "p(5)"}, UsageError, None, "no privacy model"),
    "open bracket": ({"privacy": "k(5"}, UsageError, None, "bracket"),
    "l without a column": ({"privacy": "distinct-l(2)"}, UsageError, None, "needs a sensitive attribute"),
    "l of another column": ({"privacy": "distinct-l(2, SECRET)"}, UsageError, "SECRET", "not sensitive"),
    "unknown cost": ({"cost": "money"}, UsageError, None, "no cost"),
    "CM without a class": ({"cost": "CM"}, UsageError, None, "class"),
    "weight of another column": ({"cost": "LM(weights={x: 2})"}, UsageError, "x", "not a quasi-identifier"),
    "unknown suppression": ({"suppression": "all"}, UsageError, None, "no suppression"),
    "share above 1": ({"suppression": "budget(1.5)"}, UsageError, None, "at most 1"),
    "unknown scheme": ({"scheme": "cubes"}, UsageError, None, "no scheme"),
    "scheme of another column": ({"scheme": {"x": "subtree"}}, UsageError, "x", "not a quasi-identifier"),
    "unknown solver": ({"solver": "magic"}, UsageError, None, "no solver"),
    "cost of another scheme": (
        {"scheme": "ordered", "cost": "precision"},
        UnsupportedCombinationError,
        None,
        "ordered",
    ),
    "level too high": ({"max_levels": {"age": 9}}, UsageError, "age", "levels 0 to"),
    "levels crossed": ({"min_levels": {"age": 2}, "max_levels": {"age": 1}}, UsageError, "age", "do not fit"),
    "level of another column": ({"min_levels": {"x": 1}}, UsageError, "x", "not a quasi-identifier"),
    "unknown policy": ({"missing": "drop"}, UsageError, None, "missing is one of"),
    "negative time": ({"time_limit": -1}, UsageError, None, "seconds above 0"),
    "time in words": ({"time_limit": "long"}, UsageError, None, "seconds above 0"),
    "odd seed": ({"seed": 1.5}, UsageError, None, "whole number"),
    "lacking a value": ({"quasi_identifiers": {"sex": groups(["m"])}}, DataError, "sex", "not in the hierarchy"),
    "hierarchy file": ({"quasi_identifiers": {"sex": "no.csv"}}, DiscreetError, None, "no.csv"),
    "intervals of text": ({"quasi_identifiers": {"sex": "intervals(5)"}}, DataError, "sex", "not"),
    "levels of no column": ({"min_levels": 3}, UsageError, None, "must map column names to levels"),
    "most levels of no column": ({"keep_at_least": 3}, UsageError, None, "must map column names to levels"),
    "types of no column": ({"types": 3}, UsageError, None, "must map column names to types"),
    "a hierarchy that is none": ({"quasi_identifiers": {"sex": 5}}, UsageError, None, "hierarchy"),
}


@pytest.mark.usefixtures("_no_search")
@pytest.mark.parametrize("case", CASES)
def test_bad_jobs(case: str) -> None:
    change, error, column, message = CASES[case]
    with pytest.raises(error, match=message) as caught:
        anonymize(TABLE, **{**JOB, **change})
    assert caught.value.column == column
    text = str(caught.value)
    assert text.count("\n") == 0
    assert text.endswith((".", "?"))


@pytest.mark.usefixtures("_no_search")
@pytest.mark.parametrize("data", [None, 3, {"age": [1]}, [[1]], TABLE["age"], "no.csv", "no.doc", b"age"])
def test_data_that_is_no_table(data: Any) -> None:
    with pytest.raises(DiscreetError):
        anonymize(data, **JOB)


COLUMNS: dict[str, tuple[Any, str]] = {
    "mixed types": (pd.Series([1, "SECRET", 2.5, None], dtype=object), "different types"),
    "lists": (pl.Series([[1], [2], [3], [4]]), "lists"),
    "records": (pl.Series([{"a": 1}] * 4), "lists, records"),
    "bytes": (pl.Series([b"SECRET"] * 4), "bytes"),
    "objects": (pl.Series([object()] * 4, dtype=pl.Object), "lists, records or bytes"),
    "infinity": (pl.Series([1.5, float("inf"), -float("inf"), 2.0]), "2 infinite values"),
    "infinity in text": (pl.Series(["1.5", "inf", "2.5", "3.5"]), "infinite"),
    "infinity in pandas": (pd.Series([1.5, np.inf, 2, np.nan]), "infinite"),
    "durations": (pl.Series([1, 2, 3, 4]).cast(pl.Duration), "cannot be generalized"),
}


@pytest.mark.usefixtures("_no_search")
@pytest.mark.parametrize("case", COLUMNS)
def test_bad_columns(case: str) -> None:
    values, message = COLUMNS[case]
    frame: Any = (
        TABLE.with_columns(bad=values) if isinstance(values, pl.Series) else TABLE.to_pandas().assign(bad=values)
    )
    with pytest.raises(DataError, match=message) as caught:
        anonymize(frame, quasi_identifiers=["bad"], privacy="k(2)")
    assert caught.value.column == "bad"
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_bad_columns_without_a_role_do_no_harm() -> None:
    frame = TABLE.to_pandas().assign(bad=[1, "x", 2.5, None])
    assert anonymize(frame, **JOB).frame["bad"].tolist() == [1, "x", 2.5, None]
    lists = TABLE.with_columns(bad=pl.Series([[1], [2], [3], [4]]))
    assert anonymize(lists, **JOB, keep="bad").frame["bad"].to_list() == [[1], [2], [3], [4]]


def test_two_columns_of_one_name() -> None:
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["age", "age"])
    with pytest.raises(DataError, match="two columns named 'age'"):
        anonymize(frame, quasi_identifiers=["age"], privacy="k(2)")


@pytest.mark.parametrize("content", ["", "age,sex\n", "age,sex\n30,m\n31\n", "age,sex,sex\n1,2,3\n"])
def test_bad_files(content: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(content)
    with pytest.raises(DataError):
        anonymize(tmp_path / "people.csv", **JOB, output=tmp_path / "safe.csv")
    assert not (tmp_path / "safe.csv").exists()


def test_a_budget_that_cannot_be_met_says_the_smallest_that_can() -> None:
    table = pl.DataFrame({"a": ["x", "x", "x", "y", "z"]})
    job: dict[str, Any] = {"quasi_identifiers": {"a": "flat()"}, "max_levels": {"a": 0}, "privacy": "k(2)"}
    with pytest.raises(InfeasibleError, match=r"1 of 5 rows; .*the smallest .* 2 rows, as in budget\(2\)") as caught:
        anonymize(table, **job, suppression="budget(1)")
    assert caught.value.smallest_budget == 2
    assert anonymize(table, **job, suppression=f"budget({caught.value.smallest_budget})").suppressed == 2


@pytest.mark.deep
def test_a_million_values_without_a_hierarchy() -> None:
    table = pl.DataFrame({"id": [f"p{number:07d}" for number in range(1_000_000)], "sex": ["m", "f"] * 500_000})
    try:
        release = anonymize(table, quasi_identifiers=["id", "sex"], privacy="k(5)", time_limit=20)
    except DataError as error:
        assert error.column == "id"  # noqa: PT017
    else:
        assert release.audit.passed
        assert any("automatic hierarchy" in note and "'id'" in note for note in release.notes)


def test_the_hierarchy_lacks_a_value_of_a_file(tmp_path: Path) -> None:
    TABLE.write_csv(tmp_path / "people.csv")
    tree = Hierarchy.from_rows([["30", "*"], ["31", "*"]])
    with pytest.raises(DataError, match="2 of its 4 distinct values") as caught:
        anonymize(tmp_path / "people.csv", quasi_identifiers={"age": tree}, privacy="k(2)")
    assert "32" not in str(caught.value)


def test_the_hierarchy_lacks_a_value_of_the_population() -> None:
    people = pl.DataFrame({"sex": ["m", "f", "x"]})
    job = {"quasi_identifiers": {"sex": groups(["m", "f"])}, "privacy": "k-map(2)", "population": people}
    with pytest.raises(DataError, match=r"distinct values \(of people of the population alone\) is not"):
        anonymize(TABLE.select("sex"), **job)


WRONG_KINDS: dict[str, tuple[Callable[[Release], Any], str]] = {
    "certificate to check": (lambda _: verify(None, None), "The certificate"),  # type: ignore[arg-type]
    "report": (lambda release: release.report(3), "The report"),  # type: ignore[arg-type]
    "mapping": (lambda release: release.mapping(3), "The mapping"),  # type: ignore[arg-type]
    "certificate": (lambda release: release.certificate(3), "The certificate"),  # type: ignore[arg-type]
    "mapping to apply": (lambda _: apply_mapping(None, TABLE), "The mapping"),  # type: ignore[arg-type]
    "hierarchy to read": (lambda _: Hierarchy.from_csv(3), "A hierarchy"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", WRONG_KINDS)
def test_a_path_that_is_none(what: str) -> None:
    call, name = WRONG_KINDS[what]
    release = anonymize(TABLE.select("age", "sex"), **JOB)
    with pytest.raises(UsageError, match=f"{name} is given as the path of a file, not as (int|NoneType)"):
        call(release)


@pytest.mark.parametrize("sections", [[3], 3, "risk"])
def test_sections_that_are_none(sections: Any, tmp_path: Path) -> None:
    release = anonymize(TABLE.select("age", "sex"), **JOB)
    with pytest.raises(UsageError, match="A report takes a list of sections and evaluations"):
        release.report(tmp_path / "report.html", sections)
    assert not list(tmp_path.iterdir())


def test_text_forms_are_read_before_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "open_source", lambda _: pytest.fail("the data was read"))
    for change in ({"privacy": "k(0)"}, {"cost": "money"}, {"suppression": "all"}, {"scheme": "cubes"}):
        with pytest.raises(UsageError):
            anonymize(tmp_path / "people.csv", **{**JOB, **change})
