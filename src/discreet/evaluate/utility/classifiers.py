"""Classifiers trained on released rows and tested on original rows that they have not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.errors import Argument, UsageError, did_you_mean
from discreet.evaluate.utility.covered_column import CoveredColumn, LeafCover
from discreet.evaluate.utility.table_pair import TablePair
from discreet.runtime.integer_codes import by_appearance

__all__ = ["MODELS", "Encoder", "check_models", "classifiers", "mean_auc", "split_folds"]

MODELS = ("tree", "logistic", "forest")
"""A decision tree, a logistic regression and a random forest."""
_LABELS = 100
_COLUMNS = ("accuracy", "auc", "original_accuracy", "original_auc", "majority_accuracy")


class _LabelledRows(NamedTuple):
    """Rows of a table with their labels; -1 if a label is unknown."""

    table: Mapping[str, CoveredColumn]
    labels: NDArray[np.int64]
    rows: IntArray

    @property
    def known(self) -> NDArray[np.int64]:
        """The labels of the rows."""
        return self.labels[self.rows]


class _Task(NamedTuple):
    """Released and original rows to train on, and original rows to test on."""

    released: _LabelledRows
    original: _LabelledRows
    test: _LabelledRows


def check_models(models: Sequence[str]) -> None:
    """Raise UsageError for an unknown model, and for any if scikit-learn is not installed."""
    for model in models:
        if model not in MODELS:
            hint = did_you_mean(str(model), MODELS) or f"known are {', '.join(MODELS)}."
            raise UsageError(f"There is no classifier '{model}'; {hint}", topic="unknown-name")
    if models and find_spec("sklearn") is None:
        raise UsageError(
            "Classifiers need scikit-learn; install the extra with pip install 'discreet[learn]', or leave them out "
            "with ",
            Argument("models", ()),
            ".",
            topic="missing-extra",
        )


def classifiers(
    pair: TablePair,
    models: Sequence[str],
    *,
    folds: int,
    seed: int,
    held_out: Mapping[str, CoveredColumn] | None = None,
) -> pl.DataFrame:
    """Return accuracy and AUC of each model, trained on the release and on the original table.

    Without held-out rows this is a cross-validation: each fold of the original rows is tested once, with models trained
    on the other folds and on their released rows. Figures are means over the folds, weighted by their rows.
    """
    found: dict[str, list[list[float]]] = {model: [] for model in models}
    sizes = []
    for task in _tasks(pair, folds, seed, held_out):
        encoded = [_encoded(rows, task.test) for rows in (task.released, task.original)]
        truth = task.test.known
        majority = float((truth == np.bincount(task.original.known).argmax()).mean())
        for model, scores in found.items():
            each = [_score(model, *data, truth, seed) for data in encoded]
            scores.append([*each[0], *each[1], majority])
        sizes.append(truth.size)
    rows = [(model, *_averages(np.array(scores), np.array(sizes))) for model, scores in found.items()]
    return pl.DataFrame(rows, {"model": pl.String, **dict.fromkeys(_COLUMNS, pl.Float64)}, orient="row")


def split_folds(labels: NDArray[np.int64], folds: int, seed: int) -> NDArray[np.int64]:
    """Return a random fold for each row, stratified by label.

    >>> np.bincount(split_folds(np.array([0, 0, 0, 0, 1, 1]), 2, seed=0)).tolist()
    [3, 3]
    """
    order = np.random.default_rng(seed).permutation(labels.size)
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(labels.size, dtype=np.int64)
    fold[order] = np.arange(labels.size) % folds
    return fold


def mean_auc(scores: FloatArray, classes: IntArray, truth: IntArray) -> float:
    """Return the mean one-vs-rest AUC over the labels; with two labels it is the usual AUC.

    ``scores[:, c]`` is the score of label ``classes[c]`` for each row. The area under the curve is the share of pairs
    of a row with the label and one without it in which the former has the higher score; ties count half. Labels that
    all rows have, or none, are skipped; NaN if no label remains.

    >>> mean_auc(np.array([[0.1, 0.9], [0.4, 0.6], [0.8, 0.2]]), np.array([0, 1]), np.array([1, 0, 0]))
    1.0
    """
    areas = []
    for label in np.unique(truth):
        own = truth == label
        positives = int(own.sum())
        if positives == truth.size:
            continue
        column = np.flatnonzero(classes == label)
        score = scores[:, column[0]] if column.size else np.zeros(truth.size)
        _, distinct, count = np.unique(score, return_inverse=True, return_counts=True)
        rank = (np.cumsum(count) - (count - 1) / 2)[distinct]
        areas.append((rank[own].sum() - positives * (positives + 1) / 2) / (positives * (truth.size - positives)))
    return float(np.mean(areas)) if areas else float("nan")


def _tasks(pair: TablePair, folds: int, seed: int, held_out: Mapping[str, CoveredColumn] | None) -> Iterator[_Task]:
    label = pair.schema.class_attribute
    assert label is not None
    before, after = _labels(pair.before[label]), _labels(pair.after[label])
    if np.unique(before).size > _LABELS:
        raise UsageError(
            f"Column '{label}' has more than {_LABELS} different values, too many to classify; choose another "
            "class attribute, or group its values first.",
            column=label,
        )
    tables = [{name: table[name] for name in table if name != label} for table in (pair.before, pair.after)]
    if not tables[0]:
        raise UsageError(f"There is no column to predict '{label}' from; name more quasi-identifiers.", column=label)
    labelled = np.flatnonzero(after >= 0)
    if not labelled.size:
        raise UsageError(
            f"No released row has a single value of column '{label}', so nothing can be learned from the release; "
            "choose another class attribute, or leave classifiers out with ",
            Argument("models", ()),
            ".",
            column=label,
        )
    if held_out is not None:
        test = _LabelledRows({name: held_out[name] for name in tables[0]}, *_all_rows(_labels(held_out[label])))
        yield _Task(_LabelledRows(tables[1], after, labelled), _LabelledRows(tables[0], *_all_rows(before)), test)
        return
    if pair.link is None:
        raise UsageError(
            "The original row of each released row is unknown (rows are written in random order), so none can be held "
            "out for testing; give rows the release was not made from as ",
            Argument("held_out"),
            ", or leave classifiers out with ",
            Argument("models", ()),
            ".",
        )
    fold, linked = split_folds(before, folds, seed), pair.link
    for number in range(folds):
        yield _Task(
            _LabelledRows(tables[1], after, labelled[fold[linked[labelled]] != number]),
            _LabelledRows(tables[0], before, np.flatnonzero(fold != number)),
            _LabelledRows(tables[0], before, np.flatnonzero(fold == number)),
        )


def _all_rows(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], IntArray]:
    return labels, np.arange(labels.size)


def _labels(column: CoveredColumn) -> NDArray[np.int64]:
    """Return the label of each row: the leaf that its value covers, or -1 if it covers several."""
    label = np.where(column.cover.sizes == 1, column.cover.least, -1)
    return label[column.codes]


def _encoded(train: _LabelledRows, test: _LabelledRows) -> tuple[Features, IntArray, Features]:
    encoder = Encoder(train.table, train.rows)
    return encoder(train.table, train.rows), train.known, encoder(test.table, test.rows)


def _score(
    model: str, features: Features, labels: IntArray, test: Features, truth: IntArray, seed: int
) -> tuple[float, float]:
    """Train a model; return its accuracy and AUC on the test rows."""
    if np.unique(labels).size == 1:
        classes, likely = labels[:1], np.ones((truth.size, 1))
    else:
        estimator = _estimator(model, labels.size, seed).fit(features, labels)
        classes, likely = estimator.classes_, estimator.predict_proba(test)
    return float((classes[likely.argmax(axis=1)] == truth).mean()), mean_auc(likely, classes, truth)


def _estimator(model: str, rows: int, seed: int) -> Any:
    """Return an untrained model; leaves of trees have a minimum size, in place of the pruning of C4.5."""
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
    """Return the weighted mean of each figure over the folds that have it."""
    there = ~np.isnan(scores)
    weight = there * sizes[:, np.newaxis]
    total = (np.nan_to_num(scores) * weight).sum(axis=0)
    return [float(a / b) if b else None for a, b in zip(total, weight.sum(axis=0), strict=True)]


Features = NDArray[np.float32]

_MOST_ATOMS = 100
"""Most atoms of a text with a feature of their own; the most frequent ones are used."""


class Encoder:
    """Encodes rows as features, in terms of the table to train on.

    A number or date becomes the mean of the values it covers, with a second feature for the missing share if it may be
    missing. A text becomes one feature per *atom*. An atom is a set of leaves that no value of the training table
    distinguishes, and the feature is the share of the value's leaves in it. So a released ``Government`` gets the same
    features as an original ``State-gov``.
    """

    def __init__(self, table: Mapping[str, CoveredColumn], rows: IntArray) -> None:
        """Find the atoms of some rows of a table."""
        self._columns: dict[str, FloatArray] = {}
        for name, column in table.items():
            positions = column.attribute.domain.positions
            weights = np.bincount(column.codes[rows], minlength=len(column.cover)).astype(np.float64)
            self._columns[name] = _atoms(column.cover, weights) if positions is None else _numbers(positions)

    def __call__(self, table: Mapping[str, CoveredColumn], rows: IntArray) -> Features:
        """Return the features of some rows of a table."""
        parts = []
        for name, of_leaf in self._columns.items():
            column = table[name]
            of_value = np.stack([column.cover.mean(numbers) for numbers in of_leaf], axis=1).astype(np.float32)
            parts.append(of_value[column.codes[rows]])
        return np.concatenate(parts, axis=1)


def _numbers(positions: FloatArray) -> FloatArray:
    """Return the number of each leaf, and whether it is missing if any is; a missing one gets the mean."""
    missing = np.isnan(positions)
    mean = float(positions[~missing].mean()) if not missing.all() else 0.0
    filled = np.where(missing, mean, positions)
    return np.stack([filled, missing.astype(np.float64)]) if missing.any() else filled[np.newaxis]


def _atoms(cover: LeafCover, weights: FloatArray) -> FloatArray:
    """Return for each atom whether each leaf is in it; only the most frequent atoms if there are many.

    Leaves are in the same atom if the same values cover them. To find out, each value gets a random number, and leaves
    with the same sum over their values are taken to have the same values.
    """
    marks = np.random.default_rng(0).integers(1, 2**62, size=len(cover), dtype=np.uint64)
    marks[weights == 0] = 0
    mark = np.zeros(cover.leaves, dtype=np.uint64)
    np.add.at(mark, cover.leaf, marks[cover.owner])
    atom = by_appearance(mark)  # numbered in the order of the leaves, so that the random numbers do not matter
    mass = np.bincount(atom, weights=cover.spread(weights))
    kept = np.sort(np.argsort(-mass, kind="stable")[:_MOST_ATOMS])
    return np.asarray(atom[np.newaxis] == kept[:, np.newaxis], dtype=np.float64)
