"""Pickles leave values of the original table behind, and what is left says so where it is missed."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.errors import InfeasibleError, MissingColumnError, UnsupportedCombinationError, UsageError
from discreet.pipeline.pickling import with_originals

QUASI = {"age": "intervals(5, 10, 20, 40)", "town": "flat"}


@pytest.fixture
def table() -> pl.DataFrame:
    n = 60
    return pl.DataFrame(
        {
            "name": [f"CANARY{number}" for number in range(n)],
            "age": [20 + number * 7 % 40 for number in range(n)],
            "town": ["CANARYVILLE", *(["Aston", "Brede"] * n)[: n - 1]],
            "diagnosis": ["CANARYITIS", *(["flu", "ache", "gout"] * n)[: n - 1]],
        }
    )


def make(data: Any, **more: Any) -> dc.Release:
    settings = {"identifiers": "name", "quasi_identifiers": QUASI, "sensitive": ["diagnosis"], "privacy": "k(3)"}
    return dc.anonymize(data, **{**settings, "suppression": "budget(10%)", "max_levels": {"town": 0}, **more})


KINDS = {
    "polars": lambda table: table,
    "lazy": lambda table: table.lazy(),
    "pandas": lambda table: table.to_pandas(),
    "pyarrow": lambda table: table.to_arrow(),
}


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("more", [{}, {"scheme": "local", "cost": "NCP", "max_levels": None}], ids=["global", "local"])
def test_a_release_holds_no_original_value(table: pl.DataFrame, kind: str, more: dict[str, Any]) -> None:
    if more:
        table = table.with_columns(town=pl.lit("Aston"), diagnosis=pl.lit("flu"))
    release = make(KINDS[kind](table), **more)
    _ = release.blocks, release.neighbours, release.risk(table), release.measured
    content = pickle.dumps(release)
    assert b"CANARY" not in content
    assert str(release.job["seed"]).encode() not in content
    again = pickle.loads(content)
    assert "seed" not in again.job
    assert again.summary() == release.summary()
    assert len(pl.DataFrame(again.frame)) == release.audit.rows


def test_what_stays_behind_is_said(table: pl.DataFrame, tmp_path: Path) -> None:
    groups = {"near": ["Aston", "Brede"], "far": ["CANARYVILLE"]}
    release = make(table, quasi_identifiers={"age": "intervals(5, 10, 20, 40)", "town": groups}, max_levels=None)
    again = pickle.loads(pickle.dumps(release))
    for missed in (
        lambda: again.blocks,
        lambda: again.rows_of(table),
        lambda: again.mapping(tmp_path / "m.json"),
        again.to_mapping,
        again.utility,
        again.risk,
        lambda: again.write(tmp_path / "safe.csv"),
    ):
        with pytest.raises(UsageError, match=r"leaves .* behind|not known any more"):
            missed()
    assert again.neighbours == ()
    for ending in ("html", "md", "txt", "json"):
        again.report(tmp_path / f"report.{ending}")
    assert not (tmp_path / "safe.csv").exists()
    assert again.risk(table).to_dict()
    assert pickle.loads(pickle.dumps(again)).summary() == release.summary()


def test_a_certificate_of_an_unpickled_release_says_nothing_of_the_input(table: pl.DataFrame, tmp_path: Path) -> None:
    table.write_csv(tmp_path / "people.csv")
    release = make(tmp_path / "people.csv", output=tmp_path / "safe.csv")
    again = pickle.loads(pickle.dumps(release))
    again.certificate(tmp_path / "c.json", key=tmp_path / "my.key")
    found = dc.verify(tmp_path / "safe.csv", tmp_path / "c.json", key=tmp_path / "my.key")
    assert found.passed
    assert "the original file" not in dict(found.files)


def test_a_table_that_was_recoded_by_a_mapping(table: pl.DataFrame) -> None:
    applied = dc.apply_mapping(make(table).to_mapping(), table.lazy())
    content = pickle.dumps(applied)
    assert b"CANARY" not in content
    assert pickle.loads(content).frame.equals(applied.frame.collect())


def test_copies_keep_everything(table: pl.DataFrame) -> None:
    release = make(table)
    for other in (copy.copy(release), copy.deepcopy(release)):
        assert other.blocks == release.blocks
        assert other.job == release.job
        assert other.to_mapping()["columns"] == release.to_mapping()["columns"]
        assert other.risk().to_dict() == release.risk().to_dict()
    with with_originals():
        content = pickle.dumps(release)
    assert pickle.loads(content).blocks == release.blocks


@pytest.mark.parametrize("scheme", ["full-domain", "subtree"])
def test_a_front_is_refused_and_its_points_are_clean(table: pl.DataFrame, scheme: str) -> None:
    front = dc.pareto(table, identifiers="name", quasi_identifiers=QUASI, scheme=scheme, suppression="budget(5%)")
    with pytest.raises(UsageError, match=r"A front holds values .* front\.save"):
        pickle.dumps(front)
    content = pickle.dumps(front.points)
    assert b"CANARY" not in content
    assert [point.to_dict() for point in pickle.loads(content)] == [point.to_dict() for point in front.points]
    for other in (copy.copy(front), copy.deepcopy(front)):
        assert other.release(3).frame.equals(front.release(3).frame)
        assert other.to_dict()["points"] == front.to_dict()["points"]


def test_an_anonymizer_leaves_behind_what_it_learned(table: pl.DataFrame) -> None:
    step = dc.Anonymizer(identifiers="name", quasi_identifiers=QUASI, privacy="k(3)", suppression="budget(10%)")
    with pytest.raises(UsageError, match="no table yet; call fit first"):
        step.transform(table)
    again = pickle.loads(pickle.dumps(step))
    assert again.fit_transform(table).equals(step.fit_transform(table))
    step.transform(table)
    content = pickle.dumps(step)
    assert b"CANARY" not in content
    again = pickle.loads(content)
    assert again.get_params() == step.get_params()
    with pytest.raises(UsageError, match=r"leaves behind what it learned.*mapping"):
        again.transform(table)
    assert again.fit(table).transform(table).equals(step.transform(table))
    for other in (copy.copy(step), copy.deepcopy(step)):
        assert other.transform(table).equals(step.transform(table))


def test_a_search_for_parameters_in_several_processes(table: pl.DataFrame) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not here; it comes with the extra ml")
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    frame = table.drop("name", "diagnosis").with_columns(age=pl.col("age").cast(pl.String)).to_pandas()
    labels = (table["age"] > 40).to_numpy()
    step = dc.Anonymizer(quasi_identifiers=["age", "town"], privacy="k(2)", unknown="top", broken="keep")
    chain = make_pipeline(step, OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier())
    search = GridSearchCV(chain, {"anonymizer__privacy": ["k(2)", "k(5)"]}, cv=2, n_jobs=2, error_score="raise")
    search.fit(frame, labels)
    assert search.best_params_["anonymizer__privacy"] in ("k(2)", "k(5)")
    assert b"CANARY" not in pickle.dumps(search)


def test_errors_come_back_from_other_processes_without_the_names_of_columns() -> None:
    """A table without a header has somebody's record where the names of its columns should be."""
    errors = [
        MissingColumnError("agee", ["CANARY", "age"]),
        UnsupportedCombinationError("The scheme local", "the cost DM", "choose NCP"),
        InfeasibleError("No.", smallest_budget=3, limits=[{"age": 1}]),
        UsageError("No.", column="age", topic="parameter"),
    ]
    for error in errors:
        content = pickle.dumps(error)
        again = pickle.loads(content)
        assert b"CANARY" not in content
        assert (type(again), str(again), again.__notes__) == (type(error), str(error), error.__notes__)
        assert (again.column, again.topic, again.message) == (error.column, error.topic, error.message)
        assert vars(again) == {**vars(error), **({"available": []} if hasattr(error, "available") else {})}


def test_a_release_from_file_to_file_holds_no_original_value(table: pl.DataFrame, tmp_path: Path) -> None:
    table.write_csv(tmp_path / "people.csv")
    release = make(tmp_path / "people.csv", output=tmp_path / "safe.csv")
    content = pickle.dumps(release)
    assert b"CANARY" not in content
    assert pickle.loads(content).frame.equals(release.frame)
    with with_originals():
        content = pickle.dumps(release)
    assert pickle.loads(content).frame["age"].dtype == release.frame["age"].dtype


def test_a_pickled_utility_report_leaves_its_queries_behind(table: pl.DataFrame) -> None:
    """A query asks for values of the original table, also for those of people who were left out."""
    report = make(table).utility()
    assert any("CANARYVILLE" in repr(query) for query in report.queries.workload)
    stored = pickle.dumps(report)
    assert b"CANARY" not in stored
    loaded = pickle.loads(stored)
    assert loaded.queries.frame.equals(report.queries.frame)
    with pytest.raises(UsageError, match="are not pickled"):
        _ = loaded.queries.workload
    assert copy.deepcopy(report).queries.workload == copy.copy(report).queries.workload == report.queries.workload
