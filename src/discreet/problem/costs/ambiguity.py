"""Ambiguity: how many original tuples each released row may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from discreet.counts import CountTable, FloatArray
from discreet.errors import UsageError
from discreet.problem.classes import Classes
from discreet.problem.costs._base import COSTS
from discreet.problem.costs._shared import PerRowCost, required
from discreet.problem.privacy._base import PrivacyModel

__all__ = ["Ambiguity"]


@COSTS.register
@dataclass(frozen=True)
class Ambiguity(PerRowCost):
    """Each row costs the number of original tuples it may be: the product of the leaves under its values.

    A suppressed row may be any tuple and costs the product of all domain sizes.

    >>> Ambiguity().text
    'ambiguity'
    """

    name = "ambiguity"
    examples = ("ambiguity",)
    title = "Possible originals"
    summary = "How many combinations of original values a row could stand for."
    rank = 90
    sentence = "How many combinations of original values each released row could stand for."
    needs = frozenset({"block_leaves"})
    local = True

    def row(self, classes: Classes) -> FloatArray:
        """Return the product over the attributes."""
        return np.asarray(required(classes.block_leaves).astype(np.float64).prod(axis=1))

    def suppressed_row(self, table: CountTable) -> float:
        """Return the product of all domain sizes."""
        return float(math.prod(attribute.leaves for attribute in table.attributes))

    def resolve(self, table: CountTable, privacy: Sequence[PrivacyModel]) -> Self:
        """Raise a UsageError if the product overflows."""
        digits = sum(math.log10(max(attribute.leaves, 1)) for attribute in table.attributes)
        if digits + math.log10(max(table.n, 1)) > 300:
            raise UsageError("The cost ambiguity multiplies all domain sizes, too large here; choose LM or entropy.")
        return super().resolve(table, privacy)
