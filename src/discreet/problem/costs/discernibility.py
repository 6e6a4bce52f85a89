"""Discernibility: how many rows each row is indistinguishable from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.problem.classes import Classes
from discreet.problem.costs._base import COSTS, Cost

__all__ = ["Discernibility"]


@COSTS.register
@dataclass(frozen=True)
class Discernibility(Cost):
    """Each published row costs the size of its class, each suppressed row the size of the table (DM).

    A suppressed sensitive value adds the size of the table to the cost of its row.

    >>> Discernibility().text
    'DM'
    """

    name = "DM"
    aliases = ("discernibility",)
    examples = ("DM",)
    title = "Size of groups"
    summary = "How many people look the same, added up over all people: small groups are good."
    rank = 30
    sentence = "How many people look the same, added up over all people."
    compiled = "squares"
    local = True
    superadditive = True
    divisible = True

    def published(self, classes: Classes) -> FloatArray:
        """Return the square of each size."""
        return classes.sizes.astype(np.float64) ** 2

    def suppressed(self, classes: Classes) -> FloatArray:
        """Return each size times that of the table."""
        return classes.sizes.astype(np.float64) * classes.table.n

    def partly(self, classes: Classes, attribute: str, removed: IntArray) -> FloatArray:
        """Return the square of the rows that stay, and the size of the table for each suppressed row."""
        rows = removed.sum(axis=1).astype(np.float64)
        return np.asarray((classes.sizes - rows) ** 2 + rows * classes.table.n)

    def worst(self, table: CountTable) -> float:
        """Return the square of the table's size."""
        return float(table.n) ** 2

    def floor(self, classes: Classes, smallest: int) -> FloatArray:
        """Return each size times the least size of the class its rows will be in."""
        return classes.sizes * self._least(classes, smallest)

    def margin(self, classes: Classes, smallest: int = 1) -> FloatArray:
        """Return the size of the table less the least size of the class the rows will be in."""
        return classes.table.n - self._least(classes, smallest)

    def divided_floor(self, classes: Classes) -> FloatArray:
        """Return the least cost of each class if any of its rows may be suppressed.

        With s of E rows published the cost is s² + (E - s) n, which is least at s = min(E, n/2). A row costs at least
        E up to E = n/2 and n - n²/4E above, which grows with E; so parts never cost more than their union.
        """
        sizes, n = classes.sizes.astype(np.float64), float(classes.table.n)
        return np.where(sizes <= n / 2, sizes**2, sizes * n - n**2 / 4)

    def divided_margin(self, classes: Classes, largest: IntArray) -> FloatArray:
        """Return n - 2E, for a class of at most E rows: E² - s² is the sum of E + s over the rows suppressed."""
        return np.asarray(np.maximum(classes.table.n - 2.0 * largest, 0.0))

    def value_penalty(self, table: CountTable) -> float:
        """Return the size of the table."""
        return float(table.n)

    def _least(self, classes: Classes, smallest: int) -> FloatArray:
        return np.minimum(np.maximum(classes.sizes, smallest), classes.table.n).astype(np.float64)
