"""Classification: how many rows a class's majority label gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from discreet.counts import CountTable, FloatArray
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

    Of several most frequent labels the first in sorted order is the majority; the cost is the same for each.

    >>> Classification().text
    'CM'
    """

    name = "CM"
    aliases = ("classification", "CE")
    compiled = "minority"
    needs = frozenset({"labels"})
    superadditive = True

    def published(self, classes: Classes) -> FloatArray:
        """Return the number of rows outside the majority."""
        minority: FloatArray = (classes.sizes - given(classes.labels).max(axis=1, initial=0)).astype(np.float64)
        return minority

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return the number of rows."""
        return classes.sizes.astype(np.float64)

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
