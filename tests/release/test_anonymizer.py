"""The step for pipelines: with and without scikit-learn."""

from __future__ import annotations

import copy
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.errors import UsageError

TOLD: dict[str, Any] = {"quasi_identifiers": ["sex", "education"], "privacy": "k(5)"}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return dc.sample(500, seed=2).select("sex", "education", "diagnosis")


def test_fit_and_transform(people: pl.DataFrame) -> None:
    step = dc.Anonymizer(**TOLD)
    released = step.fit_transform(people)
    assert released.equals(dc.anonymize(people, **TOLD).frame)
    assert step.transform(people).equals(released)
    assert step.applied_.audit.passed
    assert step.release_.audit.passed
    assert step.feature_names_in_ == people.columns
    assert step.get_feature_names_out() == people.columns
    assert step.fit(people) is step


def test_other_frames(people: pl.DataFrame) -> None:
    frame = people.to_pandas()
    released = dc.Anonymizer(**TOLD).fit_transform(frame)
    assert type(released) is type(frame)


def test_parameters() -> None:
    step = dc.Anonymizer(**TOLD, unknown="top")
    assert step.get_params() == {**TOLD, "unknown": "top"}
    assert step.set_params(privacy="k(9)").get_params()["privacy"] == "k(9)"
    with pytest.raises(UsageError, match="no argument 'kk'"):
        step.set_params(kk=3)
    with pytest.raises(UsageError, match="no argument 'output'"):
        dc.Anonymizer(output="x.csv")
    assert repr(dc.Anonymizer(privacy="k(2)")) == "Anonymizer(privacy='k(2)')"
    assert copy.deepcopy(step).get_params() == step.get_params()


def test_unknown_values(people: pl.DataFrame) -> None:
    new = people.with_columns(sex=pl.lit("other"))
    with pytest.raises(dc.DataError, match="'sex'"):
        dc.Anonymizer(**TOLD).fit(people).transform(new)
    assert set(dc.Anonymizer(**TOLD, unknown="top", broken="suppress").fit(people).transform(new)["sex"]) == {"*"}


def test_before_fit_and_without_a_mapping(people: pl.DataFrame) -> None:
    with pytest.raises(UsageError, match="call fit first"):
        dc.Anonymizer(**TOLD).transform(people)
    step = dc.Anonymizer(**TOLD, scheme="local", cost="NCP")
    assert step.fit_transform(people).height == people.height
    with pytest.raises(UsageError, match="there is no mapping"):
        step.transform(people)


def test_with_scikit_learn(people: pl.DataFrame) -> None:
    base = pytest.importorskip("sklearn.base")
    pipeline = pytest.importorskip("sklearn.pipeline")
    compose = pytest.importorskip("sklearn.preprocessing")
    tree = pytest.importorskip("sklearn.tree")
    step = dc.Anonymizer(**TOLD)
    copied = base.clone(step)
    assert copied is not step
    assert copied.get_params() == step.get_params()
    frame = people.drop("diagnosis").to_pandas()
    labels = people["diagnosis"].to_numpy()
    steps = pipeline.make_pipeline(step, compose.OneHotEncoder(handle_unknown="ignore"), tree.DecisionTreeClassifier())
    steps.fit(frame, labels)
    assert len(steps.predict(frame)) == len(frame)
    steps.set_params(anonymizer__privacy="k(20)")
    assert step.get_params()["privacy"] == "k(20)"
