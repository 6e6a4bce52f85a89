"""Classification: how many rows a class's majority label gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.errors import UsageError
from discreet.problem._classes import Classes
from discreet.problem.costs._base import COSTS, Cost
from discreet.problem.costs._shared import given
from discreet.problem.privacy._base import PrivacyModel

__all__ = ["Classification"]


@COSTS.register
@dataclass(frozen=True)
class Classification(Cost):
    """Each row whose label is not the most frequent one of its class costs 1 (CM), as do suppressed rows.

    Of several most frequent labels the first in sorted order is the majority; the cost is the same for each. Where only
    so many rows of each sensitive value go, those go that leave the largest majority.

    >>> Classification().text
    'CM'
    """

    name = "CM"
    aliases = ("classification", "CE")
    saying = "How many people no longer have the most frequent class label among those who look the same."
    compiled = "minority"
    needs = frozenset({"labels", "joint"})
    superadditive = True
    divisible = True
    removal_never_pays = True

    def published(self, classes: Classes) -> FloatArray:
        """Return the number of rows outside the majority."""
        minority: FloatArray = (classes.sizes - given(classes.labels).max(axis=1, initial=0)).astype(np.float64)
        return minority

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return the number of rows."""
        return classes.sizes.astype(np.float64)

    def partly(self, classes: Classes, attribute: str, removed: IntArray) -> FloatArray:
        """Return the rows that go and the minority of the rest, which is all but the largest majority there can be."""
        largest = self._majorities(classes, attribute, removed).max(axis=1, initial=0)
        return np.asarray(classes.sizes - largest, dtype=np.float64)

    def labels_removed(self, classes: Classes, attribute: str, removed: IntArray) -> IntArray:
        """Return that rows of the label with the largest majority go last, and of the others the first go first."""
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
        """How many rows of each label can stay at most, if those of other labels go first, (c, L).

        Rows whose sensitive value is missing all stay.
        """
        joint, stay = classes.joint[attribute], classes.sensitive[attribute] - removed
        unknown = given(classes.labels) - joint.sum(axis=1)
        return np.asarray(np.minimum(joint, stay[:, :, np.newaxis]).sum(axis=1) + unknown)

    def worst(self, table: CountTable) -> float:
        """Return the number of rows of the table."""
        return float(table.n)

    def margin(self, classes: Classes, smallest: int = 1) -> FloatArray:
        """Return the least share the majority of a part can have: 1 over the labels in the class."""
        return np.asarray(1.0 / np.maximum(np.count_nonzero(given(classes.labels), axis=1), 1))

    def resolve(self, table: CountTable, privacy: Sequence[PrivacyModel]) -> Self:
        """Raise a UsageError if the table has no class labels."""
        if table.labels is None:
            raise UsageError("The cost CM needs a class attribute; name its column with class_attribute.")
        return super().resolve(table, privacy)
