"""Tuples of codes packed into one integer each, so that rows find their tuple without a join."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from discreet.runtime.integer_codes import LARGEST

__all__ = ["TupleCodes", "positions_among"]

Ints = NDArray[np.integer]
Int64s = NDArray[np.int64]


class TupleCodes:
    """Packs the codes of several columns into one integer; ``known`` has the integers of the known tuples.

    Each column comes with a size that its codes, and those of any row, stay below. Before the integer would overflow,
    the values that occur among the known tuples are renumbered from 0.
    """

    def __init__(self, tuples: int, columns: Iterable[tuple[Ints, int]]) -> None:
        self.known: Int64s = np.zeros(tuples, dtype=np.int64)
        self._steps: list[tuple[int, Int64s | None]] = []
        span = 1
        for codes, size in columns:
            before = None
            if span * size >= LARGEST:
                before, self.known = np.unique(self.known, return_inverse=True)
                span = before.size + 1
            self._steps.append((size, before))
            self.known = self.known * size + codes
            span *= size

    def of_rows(self, rows: int, columns: Iterable[Ints]) -> Int64s:
        """Return the integer of each row; rows of unknown tuples differ from all in ``known``."""
        packed = np.zeros(rows, dtype=np.int64)
        for (size, before), codes in zip(self._steps, columns, strict=True):
            if before is not None:
                packed = positions_among(before, packed)
            packed *= size
            packed += codes
        return packed


def positions_among(ordered: Ints, numbers: Ints) -> Int64s:
    """Return the position of each number among ordered ones; ``ordered.size`` if it is not there.

    >>> positions_among(np.array([3, 5, 9]), np.array([9, 4, 3]))
    array([2, 3, 0])
    """
    if not ordered.size:
        return np.zeros(numbers.size, dtype=np.int64)
    found = np.searchsorted(ordered, numbers)
    return np.where(ordered[np.minimum(found, ordered.size - 1)] == numbers, found, ordered.size)
