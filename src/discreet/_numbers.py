"""Equal things by number: many columns as one number, numbers without gaps, and rows added up by number."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST", "add_up", "by_appearance", "compact", "first_of", "numbered"]

Ints = NDArray[np.integer]
Int64s = NDArray[np.int64]

LARGEST = 2**62
"""Columns become one number as long as it stays below this."""
_DIRECT = 1 << 16
"""Numbers below this, or below a few times how many there are, are looked up rather than sorted."""


def numbered(rows: int, columns: Iterable[tuple[Ints, int]]) -> tuple[Int64s, int]:
    """Number the different rows without gaps, in their order; return the number of each row and how many there are.

    A column comes as the codes of the rows and a number they are all below. Columns make up one number as long as it
    does not grow too large; then the numbers that occur are counted through, and it goes on from there.

    >>> numbered(3, [(np.array([0, 1, 0]), 2), (np.array([2, 0, 2]), 3)])
    (array([0, 1, 0]), 2)
    """
    key: Int64s = np.zeros(rows, dtype=np.int64)
    span = 1
    for codes, width in columns:
        if span * width >= LARGEST:
            key, span = compact(key, span)
        key = key * width + codes
        span *= width
    return compact(key, span)


def compact(key: Ints, span: int) -> tuple[Int64s, int]:
    """Number keys below ``span`` without gaps, in their order; return the numbers and how many there are.

    >>> compact(np.array([7, 2, 7]), 10)
    (array([1, 0, 1]), 2)
    """
    if key.size == 0 or span > max(_DIRECT, 8 * key.size):
        distinct, number = np.unique(key, return_inverse=True)
        return number.reshape(-1), distinct.size
    occurs = np.zeros(span, dtype=np.bool_)
    occurs[key] = True
    number = np.cumsum(occurs) - 1
    return number[key], int(number[-1]) + 1


def first_of(numbers: Ints, count: int) -> Int64s:
    """Return the first place of each of so many numbers, all of which occur.

    >>> first_of(np.array([1, 0, 1]), 2)
    array([1, 0])
    """
    first = np.empty(count, dtype=np.int64)
    first[numbers[::-1]] = np.arange(numbers.size - 1, -1, -1)
    return first


def by_appearance(codes: Ints) -> Int64s:
    """Number codes by first appearance, so that equal partitions are equal.

    >>> by_appearance(np.array([7, 2, 7, 0]))
    array([0, 1, 0, 2])
    """
    _, first, number = np.unique(codes, return_index=True, return_inverse=True)
    place = np.empty(first.size, dtype=np.int64)
    place[np.argsort(first)] = np.arange(first.size)
    return place[number.reshape(-1)]


def add_up(index: Ints, rows: Ints, size: int = 0) -> Int64s:
    """Return the sum of the rows that have each index, of which there are at least ``size``.

    >>> add_up(np.array([1, 0, 1]), np.array([3, 4, 5]))
    array([4, 8])
    """
    return np.rint(np.bincount(index, weights=rows, minlength=size)).astype(np.int64)
