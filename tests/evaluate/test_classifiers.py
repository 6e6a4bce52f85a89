"""Classifiers learnt from a release: what they learn applies to original rows, and nothing that is tested is learnt."""

from __future__ import annotations

import random
from importlib.util import find_spec

import numpy as np
import polars as pl
import pytest

import discreet as dc
import naive_utility as plain
from discreet.errors import DataError, MissingColumnError, UsageError
from discreet.evaluate import utility
from discreet.evaluate.utility import classifiers as inner
from discreet.evaluate.utility.classifiers import Encoder
from discreet.evaluate.utility.table_pair import read_pair

WORK = {"Government": ["State", "Local", "Federal"], "Self-employed": ["Inc", "Not-inc"]}
GROUP = {leaf: group for group, leaves in WORK.items() for leaf in leaves}
QUASI = {"age": None, "work": dc.groups(WORK)}
needs_sklearn = pytest.mark.skipif(find_spec("sklearn") is None, reason="scikit-learn is not installed")


def table(n=400, seed=0):
    """People whose label follows from their group of work and their age, but for some."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        age, work = rng.randrange(20, 60), rng.choice(list(GROUP))
        likely = GROUP[work] == "Government" if age >= 40 else work == "Inc"
        rows.append((age, work, "yes" if likely ^ (rng.random() < 0.05) else "no"))
    return pl.DataFrame(rows, schema=["age", "work", "y"], orient="row")


def generalized(frame):
    """Ages in tens, and work as its group."""
    low = pl.col("age") // 10 * 10
    age = pl.format("[{}, {}]", low, low + 9)
    return frame.with_columns(age=age, work=pl.col("work").replace(GROUP))


def learnt(original, released, **options):
    options = {"class_attribute": "y", "queries": 0, "models": "tree", **options}
    return utility(original, released, quasi_identifiers=QUASI, **options).classifiers


@pytest.mark.parametrize("seed", range(20))
def test_the_area_is_that_of_the_definition(seed):
    rng = random.Random(seed)
    n, labels = rng.randrange(4, 30), rng.randrange(2, 4)
    truth = [rng.randrange(labels) for _ in range(n)]
    scores = np.array([[rng.randrange(5) / 4 for _ in range(labels)] for _ in range(n)])
    each = [
        plain.auc(scores[:, label], [value == label for value in truth]) for label in set(truth) if len(set(truth)) > 1
    ]
    found = inner.mean_auc(scores, np.arange(labels), np.array(truth))
    assert found == pytest.approx(np.mean(each)) if each else np.isnan(found)


@pytest.mark.parametrize(("n", "folds"), [(40, 5), (37, 5), (6, 2)])
def test_folds_deal_every_label_evenly(n, folds):
    labels = np.array([random.Random(n).randrange(3) for _ in range(n)])
    fold = inner.split_folds(labels, folds, seed=1)
    assert np.ptp(np.bincount(fold, minlength=folds)) <= 1
    for label in range(3):
        assert np.ptp(np.bincount(fold[labels == label], minlength=folds)) <= 1
    assert (fold == inner.split_folds(labels, folds, seed=1)).all()


def encoded(original, released):
    """Released and original rows, both in the words of the release."""
    pair = read_pair(original, released, quasi_identifiers=QUASI)
    encoder = Encoder(pair.after, np.arange(released.height))
    return [encoder(cells, np.arange(cells["age"].codes.size)) for cells in (pair.after, pair.before)]


def test_a_group_is_what_its_values_are():
    original = pl.DataFrame({"age": [20, 24, 30], "work": ["State", "Local", "Inc"]})
    released = pl.DataFrame({"age": ["[20, 24]", "[20, 24]", "30"], "work": ["Government", "Government", "Inc"]})
    after, before = encoded(original, released)
    assert after[:, 0].tolist() == [22, 22, 30]
    assert before[:, 0].tolist() == [20, 24, 30]
    assert (after[:, 1:] == before[:, 1:]).all()
    assert set(after[:, 1:].sum(axis=1)) == {1}


def test_values_that_overlap_have_shares():
    original = pl.DataFrame({"age": [20, 24, 30], "work": ["State", "Local", "Inc"]})
    released = pl.DataFrame({"age": ["*", "24", "30"], "work": ["Government", "Local", "*"]})
    after, before = encoded(original, released)
    assert after[0, 0] == pytest.approx(74 / 3)
    # Local keeps its own value; State and Federal are merged, and so are both kinds of self-employed.
    assert sorted(np.round(after[0, 1:].tolist(), 3)) == [0, 0.333, 0.667]
    assert sorted(np.round(after[2, 1:].tolist(), 3)) == [0.2, 0.4, 0.4]
    assert sorted(before[0, 1:].tolist()) == [0, 0, 1]


@needs_sklearn
def test_an_unchanged_table_teaches_the_same():
    original = table()
    for row in learnt(original, original, models=None).iter_rows(named=True):
        assert row["accuracy"] == row["original_accuracy"] > row["majority_accuracy"]
        assert row["auc"] == row["original_auc"] > 0.6


@needs_sklearn
def test_what_is_learnt_from_groups_applies_to_their_values():
    original = table(800)
    row = learnt(original, generalized(original)).row(0, named=True)
    assert row["model"] == "tree"
    # Only which self-employed people below 40 are incorporated is lost.
    assert 0.75 < row["accuracy"] < row["original_accuracy"]
    assert row["original_accuracy"] > 0.9
    majority = original["y"].value_counts()["count"].max() / 800
    assert row["majority_accuracy"] == pytest.approx(majority, abs=0.01)


@needs_sklearn
def test_noise_cannot_be_learnt():
    """Each row has a value of its own; learning from the row that is tested would be right every time."""
    rng = random.Random(3)
    original = pl.DataFrame({"age": range(600), "work": ["Inc"] * 600, "y": [rng.choice("ab") for _ in range(600)]})
    row = learnt(original, original, models="forest").row(0, named=True)
    assert 0.35 < row["accuracy"] < 0.65
    assert 0.35 < row["auc"] < 0.65


@needs_sklearn
def test_rows_left_out_are_tested_too():
    original = table(600)
    released = generalized(original.filter(pl.col("age") < 40))
    row = learnt(original, released).row(0, named=True)
    assert row["accuracy"] < 0.75 < row["original_accuracy"]


@needs_sklearn
def test_rows_held_out():
    original, others = table(600), table(300, seed=1)
    shuffled = generalized(original).sample(fraction=1, shuffle=True, seed=1)
    with pytest.raises(UsageError, match="held_out"):
        learnt(original, shuffled)
    row = learnt(original, shuffled, held_out=others).row(0, named=True)
    assert row["majority_accuracy"] == pytest.approx(others["y"].value_counts()["count"].max() / 300)
    assert row["majority_accuracy"] < row["accuracy"] < row["original_accuracy"]
    stranger = others.with_columns(work=pl.lit("Farmer"), age=pl.col("age") + 100)
    assert learnt(original, shuffled, held_out=stranger).height == 1
    with pytest.raises(MissingColumnError, match="work"):
        learnt(original, shuffled, held_out=others.drop("work"))
    with pytest.raises(DataError, match="held-out table has no rows"):
        learnt(original, shuffled, held_out=others.head(0))


@needs_sklearn
def test_labels():
    original = table(200)
    half = original.with_columns(y=pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("*")).otherwise(pl.col("y")))
    assert learnt(original, half).row(0, named=True)["accuracy"] > 0.7
    with pytest.raises(UsageError, match="No released row has a single value of column 'y'"):
        learnt(original, original.with_columns(y=pl.lit("*")))
    with pytest.raises(UsageError, match="more than 100 different values"):
        learnt(original.with_columns(y=pl.int_range(pl.len())), original.with_columns(y=pl.int_range(pl.len())))
    one = learnt(original, original.with_columns(y=pl.lit("no"))).row(0, named=True)
    assert one["accuracy"] == pytest.approx((original["y"] == "no").mean())
    assert one["auc"] == 0.5
    with pytest.raises(UsageError, match="no column to predict 'age' from"):
        utility(original, original, quasi_identifiers=["age"], class_attribute="age", queries=0)


@needs_sklearn
def test_a_label_may_be_a_quasi_identifier():
    original = table(200)
    quasi = {**QUASI, "y": None}
    report = utility(original, original, quasi_identifiers=quasi, class_attribute="y", queries=0, models="tree")
    assert report.classifiers["accuracy"].item() > 0.7
    assert "Classifiers" in report.summary()
    assert report.to_dict()["classifiers"][0]["model"] == "tree"
    assert "classifiers" in set(report.to_frame()["part"])


@needs_sklearn
def test_seeds():
    original = table(200)
    found = [learnt(original, generalized(original), seed=seed, models=["tree", "forest"]) for seed in (1, 1, 2)]
    assert found[0].equals(found[1])
    assert not found[0].equals(found[2])


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setattr(inner, "find_spec", lambda name: None)
    original = table(50)
    with pytest.raises(UsageError, match=r"discreet\[learn\]"):
        learnt(original, original)
    assert learnt(original, original, models=()) is None
