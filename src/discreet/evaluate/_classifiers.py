"""How well classifiers learn from a release: trained on released rows, tested on original rows they have not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.errors import UsageError, did_you_mean
from discreet.evaluate._cover import Cells
from discreet.evaluate._features import Encoder, Features
from discreet.evaluate._tables import Pair

__all__ = ["MODELS", "check_models", "classifiers", "deal", "mean_auc"]

MODELS = ("tree", "logistic", "forest")
"""A decision tree, a logistic regression and a random forest."""
_LABELS = 100
_COLUMNS = ("accuracy", "auc", "original_accuracy", "original_auc", "majority_accuracy")


class _Rows(NamedTuple):
    """Rows of a table with their labels; -1 where a label is unknown."""

    table: Mapping[str, Cells]
    labels: NDArray[np.int64]
    rows: IntArray

    @property
    def known(self) -> NDArray[np.int64]:
        """The labels of the rows."""
        return self.labels[self.rows]


class _Task(NamedTuple):
    """What to learn from, released and original, and what to test on."""

    released: _Rows
    original: _Rows
    test: _Rows


def check_models(models: Sequence[str]) -> None:
    """Refuse models that are not known, and all where scikit-learn is not there."""
    for model in models:
        if model not in MODELS:
            hint = did_you_mean(str(model), MODELS) or f"known are {', '.join(MODELS)}."
            raise UsageError(f"There is no classifier '{model}'; {hint}", topic="unknown-name")
    if models and find_spec("sklearn") is None:
        raise UsageError(
            "Classifiers need scikit-learn; install the extra with pip install 'discreet[learn]', or leave them out "
            "with models=().",
            topic="missing-extra",
        )


def classifiers(
    pair: Pair, models: Sequence[str], *, folds: int, seed: int, held_out: Mapping[str, Cells] | None = None
) -> pl.DataFrame:
    """Return accuracy and AUC of each model, learnt from the release and from the original table.

    Without rows that are held out, the original rows are dealt into folds; each is tested once, with what was
    learnt from the others and from their released rows. Figures are means over the folds, weighted by their rows.
    """
    found: dict[str, list[list[float]]] = {model: [] for model in models}
    sizes = []
    for task in _tasks(pair, folds, seed, held_out):
        encoded = [_encoded(learnt, task.test) for learnt in (task.released, task.original)]
        truth = task.test.known
        majority = float((truth == np.bincount(task.original.known).argmax()).mean())
        for model, scores in found.items():
            each = [_score(model, *data, truth, seed) for data in encoded]
            scores.append([*each[0], *each[1], majority])
        sizes.append(truth.size)
    rows = [(model, *_averages(np.array(scores), np.array(sizes))) for model, scores in found.items()]
    return pl.DataFrame(rows, {"model": pl.String, **dict.fromkeys(_COLUMNS, pl.Float64)}, orient="row")


def deal(labels: NDArray[np.int64], folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each row: by chance, each label as evenly as can be.

    >>> np.bincount(deal(np.array([0, 0, 0, 0, 1, 1]), 2, seed=0)).tolist()
    [3, 3]
    """
    order = np.random.default_rng(seed).permutation(labels.size)
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(labels.size, dtype=np.int64)
    fold[order] = np.arange(labels.size) % folds
    return fold


def mean_auc(scores: FloatArray, classes: IntArray, truth: IntArray) -> float:
    """Return the mean over the labels of the area under the curve of each against all others.

    ``scores[:, c]`` says how likely label ``classes[c]`` is for each row. The area is the share of pairs of a row with
    the label and one without it in which the former has the higher score, ties counting half. Labels that all
    rows have, or none, do not count; where no label does, the mean is NaN. With two labels it is the usual AUC.

    >>> mean_auc(np.array([[0.1, 0.9], [0.4, 0.6], [0.8, 0.2]]), np.array([0, 1]), np.array([1, 0, 0]))
    1.0
    """
    areas = []
    for label in np.unique(truth):
        own = truth == label
        some = int(own.sum())
        if some == truth.size:
            continue
        place = np.flatnonzero(classes == label)
        score = scores[:, place[0]] if place.size else np.zeros(truth.size)
        _, place_of, count = np.unique(score, return_inverse=True, return_counts=True)
        rank = (np.cumsum(count) - (count - 1) / 2)[place_of]
        areas.append((rank[own].sum() - some * (some + 1) / 2) / (some * (truth.size - some)))
    return float(np.mean(areas)) if areas else float("nan")


def _tasks(pair: Pair, folds: int, seed: int, held_out: Mapping[str, Cells] | None) -> Iterator[_Task]:
    label = pair.schema.class_attribute
    assert label is not None
    before, after = _labels(pair.before[label]), _labels(pair.after[label])
    if np.unique(before).size > _LABELS:
        raise UsageError(
            f"Column '{label}' has more than {_LABELS} different values, too many to tell apart; choose another "
            "class attribute, or put its values into groups first.",
            column=label,
        )
    tables = [{name: cells[name] for name in cells if name != label} for cells in (pair.before, pair.after)]
    if not tables[0]:
        raise UsageError(f"There is no column to predict '{label}' from; name more quasi-identifiers.", column=label)
    told = np.flatnonzero(after >= 0)
    if not told.size:
        raise UsageError(
            f"No released row tells one value of column '{label}', so that nothing can be learnt from the release; "
            "choose another class attribute, or leave classifiers out with models=().",
            column=label,
        )
    if held_out is not None:
        test = _Rows({name: held_out[name] for name in tables[0]}, *_all(_labels(held_out[label])))
        yield _Task(_Rows(tables[1], after, told), _Rows(tables[0], *_all(before)), test)
        return
    if pair.link is None:
        raise UsageError(
            "Which original row each released row comes from cannot be told (rows are written in random order), so "
            "that none can be held out; give rows the release was not made from as held_out, or leave classifiers out "
            "with models=()."
        )
    fold, linked = deal(before, folds, seed), pair.link
    for number in range(folds):
        yield _Task(
            _Rows(tables[1], after, told[fold[linked[told]] != number]),
            _Rows(tables[0], before, np.flatnonzero(fold != number)),
            _Rows(tables[0], before, np.flatnonzero(fold == number)),
        )


def _all(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], IntArray]:
    return labels, np.arange(labels.size)


def _labels(cells: Cells) -> NDArray[np.int64]:
    """Return the label of each row, which is the leaf it shows; -1 where it shows several."""
    label = np.where(cells.cover.sizes == 1, cells.cover.least, -1)
    return label[cells.places]


def _encoded(learnt: _Rows, test: _Rows) -> tuple[Features, IntArray, Features]:
    encoder = Encoder(learnt.table, learnt.rows)
    return encoder(learnt.table, learnt.rows), learnt.known, encoder(test.table, test.rows)


def _score(
    model: str, features: Features, labels: IntArray, test: Features, truth: IntArray, seed: int
) -> tuple[float, float]:
    """Train a model, and return its accuracy and AUC on the test rows."""
    if np.unique(labels).size == 1:
        classes, likely = labels[:1], np.ones((truth.size, 1))
    else:
        machine = _machine(model, labels.size, seed).fit(features, labels)
        classes, likely = machine.classes_, machine.predict_proba(test)
    return float((classes[likely.argmax(axis=1)] == truth).mean()), mean_auc(likely, classes, truth)


def _machine(model: str, rows: int, seed: int) -> Any:
    """Return an untrained model. Leaves of trees hold some rows each, as C4.5's pruning would see to."""
    if model == "tree":
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=min(25, 1 + rows // 100), random_state=seed)
    if model == "forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(n_estimators=50, min_samples_leaf=min(5, 1 + rows // 100), random_state=seed)
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000))


def _averages(scores: FloatArray, sizes: IntArray) -> list[float | None]:
    """Return the weighted mean of each column over the folds that have the figure."""
    there = ~np.isnan(scores)
    weight = there * sizes[:, np.newaxis]
    total = (np.nan_to_num(scores) * weight).sum(axis=0)
    return [float(a / b) if b else None for a, b in zip(total, weight.sum(axis=0), strict=True)]
