"""Rows that match where a hidden cell is equal to every value: the table, what is hidden, and who lacks matches.

A set of columns is a bit mask: bit ``i`` is column ``i``. Row ``r`` with the hidden cells ``S`` matches row ``s`` with
the hidden cells ``R`` if the columns in which they differ, ``D(r, s)``, are a subset of ``S | R``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray

__all__ = ["CellSets", "CellTable", "Demand", "Hidden", "cell_sets", "is_valid", "shortfalls"]

Demand = tuple[int, int]
"""Rows that need matches: a tuple, and the cells that are hidden in them."""
Hidden = Mapping[tuple[int, int], int]
"""What is hidden: for a tuple and a set of cells that is not empty, the number of rows."""

_KEPT_BYTES = 1 << 28
"""The most memory for differences that are remembered."""
_MOST_COLUMNS = 10
"""Of more columns, not all sets of cells are listed ..."""
_MOST_SETS = 1024
"""... but about so many."""


@dataclass(frozen=True, eq=False)
class CellTable:
    """The distinct tuples of a table, how many rows each has, and what hiding a cell of each column costs."""

    codes: IntArray
    """(tuples, columns); no two tuples are equal."""
    rows: NDArray[np.int64]
    prices: FloatArray
    k: int
    most: int | None = None
    """The most cells that may be hidden in a row."""
    _differences: dict[int, NDArray[np.int64]] = field(default_factory=dict, repr=False)

    @property
    def tuples(self) -> int:
        """The number of distinct tuples."""
        return int(self.rows.size)

    @property
    def everything(self) -> int:
        """The set of all columns."""
        return (1 << self.prices.size) - 1

    @cached_property
    def violating(self) -> IntArray:
        """The tuples with fewer than k rows. Rows of the others match each other, whatever is hidden."""
        return np.flatnonzero(self.rows < self.k)

    @cached_property
    def unit(self) -> float:
        """Every cost is a multiple of it; 0 if that is not known."""
        whole = np.rint(self.prices)
        return float(np.gcd.reduce(whole.astype(np.int64))) if (whole == self.prices).all() else 0.0

    def differences(self, t: int) -> NDArray[np.int64]:
        """Return the columns in which a tuple differs from each tuple, O(tuples · columns)."""
        found = self._differences.get(t)
        if found is None:
            found = np.zeros(self.tuples, dtype=np.int64)
            for i, column in enumerate(self.codes.T):
                found |= (column != column[t]).astype(np.int64) << i
            if len(self._differences) * found.nbytes > _KEPT_BYTES:
                self._differences.clear()
            self._differences[t] = found
        return found

    def near(self, demand: Demand) -> int:
        """Return how many rows match those of a demand whatever else is hidden: all that equal what they show."""
        t, hidden = demand
        return int(self.rows[(self.differences(t) & ~hidden) == 0].sum())

    def near_each(self, t: int, masks: NDArray[np.int64], among: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return for each set of cells how many rows a row of the tuple equals in what it shows then, of some tuples.

        Differences are collapsed first: there are at most 2^columns of them.
        """
        differences, rows = self.differences(t), self.rows
        if among is not None:
            differences, rows = differences[among], rows[among]
        distinct, index = np.unique(differences, return_inverse=True)
        counts = np.bincount(index, rows, distinct.size).astype(np.int64)
        return np.array([counts[(distinct & ~cells) == 0].sum() for cells in masks], dtype=np.int64)

    def price(self, hidden: int) -> float:
        """Return what hiding a set of cells in a row costs."""
        return float(sum(price for i, price in enumerate(self.prices) if hidden >> i & 1))

    def cost(self, hidden: Hidden) -> float:
        """Return what is paid for all hidden cells."""
        return float(sum(rows * self.price(cells) for (_, cells), rows in hidden.items()))


@dataclass(frozen=True, eq=False)
class CellSets:
    """Sets of cells to hide in a row, the cheapest first."""

    masks: NDArray[np.int64]
    prices: FloatArray
    beyond: float | None = None
    """No set that is not listed is cheaper; None if all are listed."""


def cell_sets(table: CellTable) -> CellSets:
    """Return the sets of cells that a row may hide, layer by layer; if there are too many, the small ones and the last.

    The last is the set of all columns, if a row may hide them.
    """
    m = table.prices.size
    most = m if table.most is None else min(table.most, m)
    masks = layer = np.zeros(1, dtype=np.int64)
    size, beyond = 0, None
    while size < most and (m <= _MOST_COLUMNS or masks.size + layer.size * (m - size) <= _MOST_SETS):
        size += 1
        layer = np.unique((layer[:, None] | (np.int64(1) << np.arange(m))[None, :]).ravel())
        layer = layer[np.bitwise_count(layer.astype(np.uint64)) == size]
        masks = np.concatenate([masks, layer])
    if size < most:
        beyond = float(np.sort(table.prices)[: size + 1].sum())
        masks = masks if most < m else np.append(masks, table.everything)
    prices = np.zeros(masks.size)
    for i, price in enumerate(table.prices):
        prices += np.where(masks >> i & 1, price, 0.0)
    order = np.argsort(prices, kind="stable")
    order = order[masks[order] > 0]
    return CellSets(masks[order], prices[order], beyond)


def shortfalls(table: CellTable, hidden: Hidden) -> tuple[IntArray, list[Demand]]:
    """Return the tuples with rows that show everything and lack matches, and the demands of rows with hidden cells.

    Only rows with hidden cells help others, and only tuples with fewer than k rows need help, so this takes O(tuples)
    for each entry of ``hidden``.
    """
    matched, shown = table.rows.copy(), table.rows.copy()
    for (u, cells), rows in hidden.items():
        differences = table.differences(u)
        matched += rows * ((differences != 0) & (differences & ~cells == 0))
        shown[u] -= rows
    open_tuples = table.violating[(shown[table.violating] > 0) & (matched[table.violating] < table.k)]
    lacking = []
    for t, cells in hidden:
        if table.rows[t] >= table.k:
            continue
        differences = table.differences(t)
        found = table.near((t, cells))
        for (u, others), rows in hidden.items():
            if differences[u] & ~cells and not differences[u] & ~(cells | others):
                found += rows
        if found < table.k:
            lacking.append((t, cells))
    return open_tuples, lacking


def is_valid(table: CellTable, hidden: Hidden) -> bool:
    """Return whether nobody lacks matches."""
    open_tuples, lacking = shortfalls(table, hidden)
    return not open_tuples.size and not lacking
