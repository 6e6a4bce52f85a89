"""The rows of a table by the tuples they have: known tuples get a number each, and any rows are told by the same."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import LARGEST

__all__ = ["Numbering", "places_among"]

Ints = NDArray[np.integer]
Int64s = NDArray[np.int64]


class Numbering:
    """Several columns as one number: ``known`` has that of some known tuples, and rows of a table are told by theirs.

    A column of the tuples comes with a number that its codes, and those of any rows, are below. Where the number would
    grow too large for the next column, those that occur are counted through, and it goes on from their places.
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

    def of(self, rows: int, columns: Iterable[Ints]) -> Int64s:
        """Return the number of each row; of a tuple that is not known it is that of none which is."""
        numbers = np.zeros(rows, dtype=np.int64)
        for (size, before), codes in zip(self._steps, columns, strict=True):
            if before is not None:
                numbers = places_among(before, numbers)
            numbers *= size
            numbers += codes
        return numbers


def places_among(ordered: Ints, numbers: Ints) -> Int64s:
    """Return the place of each number among ordered ones; their count where it is not among them.

    >>> places_among(np.array([3, 5, 9]), np.array([9, 4, 3]))
    array([2, 3, 0])
    """
    if not ordered.size:
        return np.zeros(numbers.size, dtype=np.int64)
    place = np.searchsorted(ordered, numbers)
    return np.where(ordered[np.minimum(place, ordered.size - 1)] == numbers, place, ordered.size)
