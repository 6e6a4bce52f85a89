"""DeFinetti: learn across classes which sensitive values go with which quasi-identifiers (Kifer 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.evaluate.attacks._base import ATTACKS, Attack, AttackResult, NotModelled
from discreet.evaluate.attacks._target import AttackTarget, Belonging, shares
from discreet.evaluate.candidates import ColumnMatch

__all__ = ["DefinettiAttack"]

_ROUNDS = 8
_MOST_CODES = 30
"""Columns with more values are coarsened: a model of rare values only repeats itself."""
_MOST = 20_000_000
"""Most pairs of a person and a sensitive value."""


@ATTACKS.register
@dataclass(frozen=True)
class DefinettiAttack(Attack):
    """Learns from all classes together which sensitive values go with which quasi-identifiers, and guesses by that.

    The sensitive values of a class are dealt to its people by a naive Bayes model, the model is fitted to the result,
    and both are repeated. The naive guess is the most frequent value of the class.
    """

    name: ClassVar[str] = "definetti"
    aliases: ClassVar[tuple[str, ...]] = ("deFinetti",)
    examples: ClassVar[tuple[str, ...]] = ("definetti",)
    title: ClassVar[str] = "Who of them is it?"
    summary: ClassVar[str] = "Other groups show which secret goes with which people."
    term: ClassVar[str] = "deFinetti attack"
    rank: ClassVar[int] = 90
    goal: ClassVar[str] = "guess the value"
    needs: ClassVar[str] = "everybody's quasi-identifiers"

    def run(self, target: AttackTarget) -> Sequence[AttackResult]:
        """Guess the values of every sensitive column."""
        if not target.values:
            raise NotModelled("no sensitive column was named")
        return [self._attack(target, column) for column in target.values]

    def _attack(self, target: AttackTarget, column: str) -> AttackResult:
        pairs, shown = target.belonging, target.histogram(column)
        if pairs.original.size * shown.shape[1] > _MOST:
            raise NotModelled(f"'{column}' has too many values for so many people")
        features = [_features(match) for match in target.candidates.matches]
        leaves = [feature[match.leaf] for feature, match in zip(features, target.candidates.matches, strict=True)]
        model = _learned(pairs, shown, leaves, [int(feature.max()) + 1 for feature in features])
        truth = target.truth(column)
        success = _right(pairs, truth, _dealt(pairs, shown, leaves, model))
        naive = _right(pairs, truth, shown[pairs.released])
        control, count, outsiders = None, 0, target.control
        if outsiders is not None and column in outsiders.values:
            others = outsiders.matched
            own = [
                np.where(match.leaf >= 0, feature[match.leaf], -1)
                for feature, match in zip(features, outsiders.candidates.matches, strict=True)
            ]
            theirs = shares(outsiders.values[column], outsiders.classes.sizes)
            count = round(others.people.sum())
            control = _right(others, theirs, _dealt(others, shown, own, model)) if count else None
        return self.result(column, success, naive, target.before.rows, control=control, control_attempts=count)


def _features(match: ColumnMatch) -> IntArray:
    """Return a code for each leaf of a column, with few enough codes to learn from: tenths, or nodes of the tree."""
    domain, leaves = match.domain, match.domain.ancestors.shape[1]
    if leaves <= _MOST_CODES:
        return np.arange(leaves)
    if domain.positions is not None:
        ends = np.quantile(np.nan_to_num(domain.positions[match.leaf]), np.arange(0.1, 1, 0.1))
        return np.searchsorted(ends, np.nan_to_num(domain.positions))
    few = [blocks for blocks in domain.ancestors if blocks.max() < _MOST_CODES]
    return np.asarray(few[0], dtype=np.int64)


def _learned(
    pairs: Belonging, shown: FloatArray, leaves: Sequence[IntArray], widths: Sequence[int]
) -> list[FloatArray]:
    """Return the logarithm of the probability of each leaf given each sensitive value, for every column."""
    values = shown.shape[1]
    dealt = shown[pairs.released] / np.maximum(shown[pairs.released].sum(axis=1, keepdims=True), 1)
    model: list[FloatArray] = []
    for _ in range(_ROUNDS):
        weighted = dealt * pairs.people[:, np.newaxis]
        model = []
        for leaf, width in zip(leaves, widths, strict=True):
            own = leaf[pairs.original]
            table = np.stack([np.bincount(own, weights=weighted[:, v], minlength=width) for v in range(values)], axis=1)
            # the weakest prior that keeps unseen pairs possible: one person spread by the leaves' own shares
            plain = table.sum(axis=1, keepdims=True) / max(table.sum(), 1e-300)
            model.append(np.log(np.maximum((table + plain) / (table.sum(axis=0, keepdims=True) + 1), 1e-300)))
        dealt = _fitted(pairs, shown, _dealt(pairs, shown, leaves, model))
    return model


def _dealt(pairs: Belonging, shown: FloatArray, leaves: Sequence[IntArray], model: Sequence[FloatArray]) -> FloatArray:
    """Return the probability of each sensitive value for the people of each pair."""
    with np.errstate(divide="ignore"):
        scores = np.log(shown)[pairs.released]
    for leaf, table in zip(leaves, model, strict=True):
        own = leaf[pairs.original]
        known = own >= 0
        scores[known] += table[own[known]]
    top = scores.max(axis=1, keepdims=True, initial=-1e308)
    found = np.exp(scores - top)
    return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300))


def _fitted(pairs: Belonging, shown: FloatArray, found: FloatArray) -> FloatArray:
    """Scale probabilities so that those of a class add up to the values it shows: one step of proportional fitting."""
    weighted = found * pairs.people[:, np.newaxis]
    total = np.stack(
        [np.bincount(pairs.released, weights=weighted[:, v], minlength=len(shown)) for v in range(shown.shape[1])],
        axis=1,
    )
    found = found * np.divide(shown, total, out=np.zeros_like(shown), where=total > 0)[pairs.released]
    return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300))


def _right(pairs: Belonging, truth: FloatArray, likely: FloatArray) -> float:
    """Return the share of people whose likeliest value is right."""
    guess = likely.argmax(axis=1)
    return float((pairs.people * truth[pairs.original, guess]).sum() / max(pairs.people.sum(), 1e-300))
