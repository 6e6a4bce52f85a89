"""The step for pipelines: with and without scikit-learn."""

from __future__ import annotations

import copy
import inspect
import warnings
from typing import Any

import polars as pl
import pytest

import discreet as dc
from discreet.errors import UsageError
from discreet.pipeline.pickling import with_originals

SETTINGS: dict[str, Any] = {"quasi_identifiers": ["sex", "education"], "privacy": "k(5)"}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return dc.sample(500, seed=2).select("sex", "education", "diagnosis")


def test_fit_and_transform(people: pl.DataFrame) -> None:
    step = dc.Anonymizer(**SETTINGS)
    released = step.fit_transform(people)
    assert released.equals(dc.anonymize(people, **SETTINGS).frame)
    assert step.transform(people).equals(released)
    assert step.applied_.audit.passed
    assert step.release_.audit.passed
    assert step.feature_names_in_.tolist() == people.columns
    assert step.get_feature_names_out().tolist() == people.columns
    assert step.fit(people) is step


def test_other_frames(people: pl.DataFrame) -> None:
    frame = people.to_pandas()
    released = dc.Anonymizer(**SETTINGS).fit_transform(frame)
    assert type(released) is type(frame)


def test_parameters() -> None:
    step = dc.Anonymizer(**SETTINGS, unknown="top")
    assert step.get_params() == {**SETTINGS, "unknown": "top"}
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
        dc.Anonymizer(**SETTINGS).fit(people).transform(new)
    assert set(dc.Anonymizer(**SETTINGS, unknown="top", broken="suppress").fit(people).transform(new)["sex"]) == {"*"}


def test_before_fit_and_without_a_mapping(people: pl.DataFrame) -> None:
    with pytest.raises(UsageError, match="call fit first"):
        dc.Anonymizer(**SETTINGS).transform(people)
    step = dc.Anonymizer(**SETTINGS, scheme="local", cost="NCP")
    assert step.fit_transform(people).height == people.height
    with pytest.raises(UsageError, match="there is no mapping"):
        step.transform(people)


def test_with_scikit_learn(people: pl.DataFrame) -> None:
    base = pytest.importorskip("sklearn.base")
    pipeline = pytest.importorskip("sklearn.pipeline")
    compose = pytest.importorskip("sklearn.preprocessing")
    tree = pytest.importorskip("sklearn.tree")
    step = dc.Anonymizer(**SETTINGS)
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


def test_rows_that_are_not_released_are_recoded_alike(people: pl.DataFrame) -> None:
    step = dc.Anonymizer(**SETTINGS, broken="keep", unknown="top").fit(people)
    assert step.transform(people).equals(step.release_.frame)
    few = people.head(3)
    assert step.transform(few).equals(step.release_.frame.head(3))
    assert step.transform(few.with_columns(sex=pl.lit("other")))["sex"].to_list() == ["*"] * 3
    with pytest.raises(dc.AuditError):
        dc.Anonymizer(**SETTINGS).fit(people).transform(few)
    with pytest.raises(UsageError, match="choose error or top"):
        dc.Anonymizer(**SETTINGS, broken="keep", unknown="suppress").fit(people).transform(few)
    with pytest.raises(UsageError, match="broken is one of error, suppress"):
        dc.apply_mapping(step.release_.to_mapping(), few, broken="keep")  # type: ignore[arg-type]


def test_grid_search_and_cross_validation(people: pl.DataFrame) -> None:
    search = pytest.importorskip("sklearn.model_selection")
    pipeline = pytest.importorskip("sklearn.pipeline")
    encoder = pytest.importorskip("sklearn.preprocessing").OneHotEncoder(handle_unknown="ignore")
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier(random_state=0)
    frame, labels = people.drop("diagnosis").to_pandas(), people["diagnosis"].is_null().to_numpy()
    labels = labels | (people["sex"].to_numpy() == people["sex"][0])
    step = dc.Anonymizer(**SETTINGS, broken="keep", unknown="top")
    steps = pipeline.Pipeline([("safe", step), ("encode", encoder), ("tree", tree)])
    grid = {"safe__privacy": ["k(3)", "k(60)"], "tree__max_depth": [1, 3]}
    found = search.GridSearchCV(steps, grid, cv=3, error_score="raise").fit(frame, labels)
    assert set(found.best_params_) == set(grid)
    assert 0.5 < found.best_score_ <= 1
    assert step.get_params()["privacy"] == "k(5)"
    assert len(search.cross_val_score(steps, frame, labels, cv=3, error_score="raise")) == 3


def test_output_of_another_kind(people: pl.DataFrame) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not here; it comes with the extra pandas")
    step = dc.Anonymizer(**SETTINGS).set_output(transform="pandas")
    released = step.fit_transform(people)
    assert isinstance(released, pandas.DataFrame)
    assert isinstance(step.transform(people), pandas.DataFrame)
    assert released["sex"].tolist() == dc.anonymize(people, **SETTINGS).frame["sex"].to_list()
    assert isinstance(step.set_output(transform=None).transform(people), pandas.DataFrame)
    assert isinstance(step.set_output(transform="default").transform(people), pl.DataFrame)
    assert isinstance(step.set_output(transform="polars").transform(people.to_pandas()), pl.DataFrame)
    with pytest.raises(UsageError, match="There is no output 'panda'; did you mean 'pandas'"):
        step.set_output(transform="panda")  # type: ignore[arg-type]


def test_names_that_come_out(people: pl.DataFrame) -> None:
    step = dc.Anonymizer(**SETTINGS, identifiers=["diagnosis"])
    with pytest.raises(UsageError, match="call fit first"):
        step.get_feature_names_out()
    step.fit(people)
    assert step.get_feature_names_out(people.columns).tolist() == ["sex", "education"]
    with pytest.raises(ValueError, match="is not equal to feature_names_in_"):
        step.get_feature_names_out(["a", "b", "c"])
    with pytest.raises(ValueError, match="should have length"):
        step.get_feature_names_out(["a"])


def test_pipelines_and_clones_keep_the_kind_of_output(people: pl.DataFrame) -> None:
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not here; it comes with the extra sklearn")
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    step = dc.Anonymizer(**SETTINGS, broken="keep")
    pipe = make_pipeline(step, OneHotEncoder(sparse_output=False)).set_output(transform="pandas")
    table = pipe.fit_transform(people)
    assert list(table.columns) == list(pipe.get_feature_names_out())
    assert type(clone(step).fit_transform(people)).__module__.startswith("pandas")
    with sklearn.config_context(transform_output="polars"):
        assert isinstance(dc.Anonymizer(**SETTINGS).fit_transform(people.to_pandas()), pl.DataFrame)


PRIVATE = "what was learned lists values of the table, so that it is not pickled"


def test_the_checks_of_scikit_learn() -> None:
    """All checks for transformers pass; the one of pickles where values of the table may be pickled.

    With k = 1 every table of numbers has a release, as most of these checks have too few rows for more.
    """
    checks = pytest.importorskip("sklearn.utils.estimator_checks", reason="scikit-learn is not here")
    step = dc.Anonymizer(privacy="k(1)", broken="keep", unknown="top")
    expected = {"check_estimators_pickle": PRIVATE}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it inherits nothing of scikit-learn, and about checks that are skipped
        results = checks.check_estimator(step, expected_failed_checks=expected, on_skip=None)
        checks.check_set_output_transform("Anonymizer", step)
        checks.check_transformer_get_feature_names_out("Anonymizer", step)
        checks.check_transformer_get_feature_names_out_pandas("Anonymizer", step)
        with with_originals():
            checks.check_estimators_pickle("Anonymizer", step)
    statuses = [result["status"] for result in results]
    assert statuses.count("passed") > 35
    assert set(statuses) <= {"passed", "xfail", "skipped"}
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(expected)


def test_the_arguments_are_listed_by_name() -> None:
    """Editors show them, and scikit-learn asks for them."""
    names = inspect.signature(dc.Anonymizer).parameters
    assert names["quasi_identifiers"].default is None
    assert names["suppression"].default == inspect.signature(dc.anonymize).parameters["suppression"].default
    assert {"broken", "unknown"} <= set(names)
    assert not {"data", "output", "params"} & set(names)
    for name in names:
        assert dc.Anonymizer(**{name: 1}).get_params() == {name: 1}


def test_arrays(people: pl.DataFrame) -> None:
    array = people.select("sex", "education").to_numpy()
    step = dc.Anonymizer(privacy="k(5)")
    released = step.fit_transform(array)
    named = dc.anonymize(people.select(x0="sex", x1="education"), quasi_identifiers=["x0", "x1"], privacy="k(5)").frame
    assert released.tolist() == named.to_numpy().tolist() == step.transform(array).tolist()
    assert step.get_feature_names_out().tolist() == ["x0", "x1"]
    assert not hasattr(step, "feature_names_in_")
    assert step.set_output(transform="polars").transform(array).equals(named)
    with pytest.raises(ValueError, match="X has 1 features, but Anonymizer is expecting 2"):
        step.transform(array[:, :1])
    with pytest.raises(dc.DataError, match="Expected 2D array"):
        step.fit(array[:, 0])


def test_columns_without_a_role_are_quasi_identifiers(people: pl.DataFrame) -> None:
    step = dc.Anonymizer(privacy="k(5)", sensitive="diagnosis").fit(people)
    assert list(step.release_.job["quasi_identifiers"]) == ["sex", "education"]


def test_an_error_scikit_learn_knows(people: pl.DataFrame) -> None:
    for kind in (ValueError, AttributeError, UsageError):
        with pytest.raises(kind, match="call fit first"):
            dc.Anonymizer(**SETTINGS).transform(people)
