"""Ambiguity: how many original tuples each released row may stand for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from discreet.counts import CountTable, FloatArray
from discreet.errors import UsageError
from discreet.problem._classes import Classes
from discreet.problem.costs._base import COSTS
from discreet.problem.costs._shared import PerRow, given
from discreet.problem.privacy._base import PrivacyModel

__all__ = ["Ambiguity"]


@COSTS.register
@dataclass(frozen=True)
class Ambiguity(PerRow):
    """The product over the attributes of the leaves under the released value, for each row.

    A suppressed row may stand for every tuple there is: the product of all domain sizes.

    >>> Ambiguity().text
    'ambiguity'
    """

    name = "ambiguity"
    saying = "How many combinations of original values each released row could stand for."
    needs = frozenset({"block_leaves"})

    def row(self, classes: Classes) -> FloatArray:
        """Return the product over the attributes."""
        return np.asarray(given(classes.block_leaves).astype(np.float64).prod(axis=1))

    def suppressed_row(self, table: CountTable) -> float:
        """Return the product of all domain sizes."""
        return float(math.prod(attribute.leaves for attribute in table.attributes))

    def resolve(self, table: CountTable, privacy: Sequence[PrivacyModel]) -> Self:
        """Raise a UsageError if the product cannot be told from infinity."""
        digits = sum(math.log10(max(attribute.leaves, 1)) for attribute in table.attributes)
        if digits + math.log10(max(table.n, 1)) > 300:
            raise UsageError("The cost ambiguity multiplies all domain sizes, too large here; choose LM or entropy.")
        return super().resolve(table, privacy)
