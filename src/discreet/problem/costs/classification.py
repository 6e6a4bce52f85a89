"""Classification: how many rows do not have the majority label of their class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.errors import Argument, UsageError
from discreet.problem.classes import Classes
from discreet.problem.costs._base import COSTS, Cost
from discreet.problem.costs._shared import required
from discreet.problem.privacy._base import PrivacyModel

__all__ = ["Classification"]


@COSTS.register
@dataclass(frozen=True)
class Classification(Cost):
    """Each row whose label is not the most frequent of its class costs 1 (CM).

    So does each suppressed row, and each suppressed sensitive value besides the cost of its row.

    If only some rows of each sensitive value are suppressed, those are that leave the largest majority.

    >>> Classification().text
    'CM'
    """

    name = "CM"
    aliases = ("classification", "CE")
    examples = ("CM",)
    title = "Prediction"
    summary = (
        "How many people lose the most frequent label of those who look the same: for training a classifier. It needs "
        "a column with the role 'class'."
    )
    rank = 50
    sentence = "How many people no longer have the most frequent class label among those who look the same."
    compiled = "minority"
    local = True
    needs = frozenset({"labels", "joint"})
    superadditive = True
    divisible = True
    removal_never_pays = True

    def published(self, classes: Classes) -> FloatArray:
        """Return the number of rows outside the majority."""
        minority: FloatArray = (classes.sizes - required(classes.labels).max(axis=1, initial=0)).astype(np.float64)
        return minority

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return the number of rows."""
        return classes.sizes.astype(np.float64)

    def partly(self, classes: Classes, attribute: str, removed: IntArray) -> FloatArray:
        """Return all rows but the largest possible majority of the rest."""
        largest = self._majorities(classes, attribute, removed).max(axis=1, initial=0)
        return np.asarray(classes.sizes - largest, dtype=np.float64)

    def labels_removed(self, classes: Classes, attribute: str, removed: IntArray) -> IntArray:
        """Return the labels to suppress: those of the largest majority last, of the others the first first."""
        majority = self._majorities(classes, attribute, removed).argmax(axis=1)
        others = classes.joint[attribute].copy()
        each = np.arange(len(classes))
        others[each, :, majority] = 0
        before = np.cumsum(others, axis=2) - others
        taken = np.clip(removed[:, :, np.newaxis] - before, 0, others)
        taken[each, :, majority] = removed - taken.sum(axis=2)
        return taken

    @staticmethod
    def _majorities(classes: Classes, attribute: str, removed: IntArray) -> IntArray:
        """Return the most rows of each label that can stay, if other labels are suppressed first, (c, L).

        Rows without a known sensitive value stay.
        """
        joint, stay = classes.joint[attribute], classes.sensitive[attribute] - removed
        unknown = required(classes.labels) - joint.sum(axis=1)
        return np.asarray(np.minimum(joint, stay[:, :, np.newaxis]).sum(axis=1) + unknown)

    def worst(self, table: CountTable) -> float:
        """Return the number of rows of the table."""
        return float(table.n)

    def value_penalty(self, table: CountTable) -> float:
        """Return 1."""
        return 1.0

    def margin(self, classes: Classes, smallest: int = 1) -> FloatArray:
        """Return 1 over the number of labels in the class: the least share of a majority."""
        return np.asarray(1.0 / np.maximum(np.count_nonzero(required(classes.labels), axis=1), 1))

    def resolve(self, table: CountTable, privacy: Sequence[PrivacyModel]) -> Self:
        """Raise a UsageError if the table has no class labels."""
        if table.labels is None:
            raise UsageError(
                "The cost CM needs a class attribute; name its column with ", Argument("class_attribute"), "."
            )
        return super().resolve(table, privacy)
