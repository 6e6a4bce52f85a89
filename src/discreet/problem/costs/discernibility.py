"""Discernibility: how many rows each row looks like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.problem._classes import Classes
from discreet.problem.costs._base import COSTS, Cost

__all__ = ["Discernibility"]


@COSTS.register
@dataclass(frozen=True)
class Discernibility(Cost):
    """Each published row costs the size of its class, each suppressed row the size of the table (DM).

    >>> Discernibility().text
    'DM'
    """

    name = "DM"
    aliases = ("discernibility",)
    saying = "How many people look the same, added up over all people."
    compiled = "squares"
    superadditive = True
    divisible = True

    def published(self, classes: Classes) -> FloatArray:
        """Return the square of each size."""
        return classes.sizes.astype(np.float64) ** 2

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return each size times that of the table."""
        return classes.sizes.astype(np.float64) * classes.table.n

    def partly(self, classes: Classes, attribute: str, removed: IntArray) -> FloatArray:
        """Return the square of what stays, and the size of the table for each row that goes."""
        gone = removed.sum(axis=1).astype(np.float64)
        return np.asarray((classes.sizes - gone) ** 2 + gone * classes.table.n)

    def worst(self, table: CountTable) -> float:
        """Return the square of the table's size."""
        return float(table.n) ** 2

    def floor(self, classes: Classes, smallest: int) -> FloatArray:
        """Return each size times that of the class the rows will at least be in."""
        return classes.sizes * self._least(classes, smallest)

    def margin(self, classes: Classes, smallest: int = 1) -> FloatArray:
        """Return the size of the table less that of the class the rows are at least in."""
        return classes.table.n - self._least(classes, smallest)

    def _least(self, classes: Classes, smallest: int) -> FloatArray:
        return np.minimum(np.maximum(classes.sizes, smallest), classes.table.n).astype(np.float64)
