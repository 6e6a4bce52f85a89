"""Inference: a model trained on the release predicts sensitive values, of people in it and of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._cells import ReleasedCells
from discreet.evaluate.attacks._target import AttackTarget, shares

__all__ = ["InferenceAttack"]

_MOST = 20_000_000
"""Most pairs of a person and a sensitive value."""


@ATTACKS.register
@dataclass(frozen=True)
class InferenceAttack(Attack):
    """Trains a model on the release and predicts a sensitive value for people in it and for a control group.

    What it predicts as well for people who are not in the release is knowledge about everybody, which a release is
    for; only the difference is about the people in it. The model is naive Bayes on the released cells. Without a
    control group, each person is predicted by the release without that person's own row.
    """

    name: ClassVar[str] = "inference"
    examples: ClassVar[tuple[str, ...]] = ("inference",)
    title: ClassVar[str] = "Does it know more about those in it?"
    summary: ClassVar[str] = "A model learned from the release should not know its people better than others."
    term: ClassVar[str] = "attribute inference"
    rank: ClassVar[int] = 110
    goal: ClassVar[str] = "predict the value"
    needs: ClassVar[str] = "the quasi-identifiers of the person"

    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Predict every sensitive column."""
        if not target.values:
            raise NotModelled("no sensitive column was named")
        target.check_covers_people()
        columns = [ReleasedCells(match, target.released_rows(i)) for i, match in enumerate(target.candidates.matches)]
        return [self._attack(target, columns, column) for column in target.values]

    def _attack(self, target: AttackTarget, columns: Sequence[ReleasedCells], column: str) -> AttackResult:
        shown, truth = target.histogram(column), target.truth(column)
        if truth.size > _MOST:
            raise NotModelled(f"'{column}' has too many values for so many people")
        counts = shown.sum(axis=0)
        tables = [_by_leaf(cells, shown) for cells in columns]
        leaves = [cells.match.leaf for cells in columns]
        weight = target.before.sizes / target.before.rows
        scores = _scores(tables, counts, leaves)
        success = float((weight * truth[np.arange(len(truth)), scores.argmax(axis=1)]).sum())
        naive = float((weight * truth[:, 0]).sum())
        outsiders, count = target.control, 0
        if outsiders is None or column not in outsiders.values:
            control = _without_own_row(target, columns, tables, counts, scores, truth)
        else:
            theirs = shares(outsiders.values[column], outsiders.classes.sizes)
            own = [match.leaf for match in outsiders.candidates.matches]
            guess = _scores(tables, counts, own).argmax(axis=1)
            share = outsiders.classes.sizes / outsiders.classes.rows
            control = float((share * theirs[np.arange(len(theirs)), guess]).sum())
            count = outsiders.classes.rows
        return self.result(column, success, naive, target.before.rows, control=control, control_attempts=count)


def _by_leaf(cells: ReleasedCells, shown: FloatArray) -> FloatArray:
    """Return how many rows have each leaf and each sensitive value, every cell spread evenly over what it covers."""
    values = np.stack(
        [np.bincount(cells.match.value, weights=each, minlength=cells.values) for each in shown.T], axis=1
    )
    found = np.zeros((cells.match.domain.ancestors.shape[1], shown.shape[1]))
    for value, leaves in enumerate(cells.covered):
        found[leaves] += values[value] / max(leaves.size, 1)
    return found


def _scores(tables: Sequence[FloatArray], counts: FloatArray, leaves: Sequence[IntArray]) -> FloatArray:
    """Return the logarithm of the probability of each sensitive value for each class of people, up to a constant."""
    scores = np.tile(np.log(np.maximum(counts, 1e-300)), (leaves[0].size, 1))
    for table, leaf in zip(tables, leaves, strict=True):
        known = leaf >= 0
        scores[known] += _logarithm(table, counts)[leaf[known]]
    return scores


def _logarithm(table: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the logarithm of the share of each leaf among the rows with each sensitive value, smoothed by one row."""
    plain = table.sum(axis=1, keepdims=True) / max(table.sum(), 1e-300)
    return np.asarray(np.log(np.maximum((table + plain) / (counts + 1), 1e-300)))


def _without_own_row(
    target: AttackTarget,
    columns: Sequence[ReleasedCells],
    tables: Sequence[FloatArray],
    counts: FloatArray,
    scores: FloatArray,
    truth: FloatArray,
) -> float:
    """Return the success for people without their own row in the release, which changes the score of their value."""
    pairs = target.belonging
    pair, value = np.nonzero(truth[pairs.original] > 0)
    who, where = pairs.original[pair], pairs.released[pair]
    weight = pairs.people[pair] * truth[who, value]
    own = np.log(np.maximum(counts[value] - 1, 1e-300))
    for cells, table in zip(columns, tables, strict=True):
        leaf = cells.match.leaf[who]
        size = np.array([max(each.size, 1) for each in cells.covered])
        plain = table.sum(axis=1) / max(table.sum(), 1e-300)
        rows = np.maximum(table[leaf, value] - 1 / size[cells.match.value[where]], 0)
        own += np.log(np.maximum((rows + plain[leaf]) / np.maximum(counts[value], 1), 1e-300))
    others = scores[who].copy()
    others[np.arange(who.size), value] = -np.inf
    return float(weight[own > others.max(axis=1)].sum() / max(weight.sum(), 1e-300))
