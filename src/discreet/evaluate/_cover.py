"""Which leaves each value of a table covers, and what follows if it is spread evenly over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.evaluate._attribute import Attribute
from discreet.evaluate._spread import Spread

__all__ = ["Cells", "Cover"]


@dataclass(frozen=True, eq=False)
class Cover:
    """Distinct values of a column, each as the leaves of the original column it covers.

    The leaves of value ``v`` are ``leaf[first[v]:first[v + 1]]``, in their order; each value covers at least one. A
    value that stands for no leaf, such as a mean, covers the nearest one; a missing value in a column that had
    none may be anything.
    """

    leaf: IntArray
    first: IntArray
    leaves: int
    """How many leaves the column has."""

    @classmethod
    def identity(cls, leaves: int) -> Cover:
        """Return the leaves themselves, which is what an original table shows."""
        return cls(np.arange(leaves), np.arange(leaves + 1), leaves)

    @classmethod
    def of(cls, attribute: Attribute, spread: Spread) -> Cover:
        """Return which leaves the values of a spread cover."""
        leaves, positions = attribute.domain.ancestors.shape[1], attribute.domain.positions
        begin, end = spread.first[:-1].copy(), spread.first[1:].copy()
        source = spread.leaf
        ranged = np.flatnonzero(~np.isnan(spread.low))
        missing = np.zeros(begin.size, dtype=np.bool_)
        if ranged.size and positions is not None:
            known = positions[~np.isnan(positions)]
            low = np.searchsorted(known, spread.low[ranged], "left")
            high = np.searchsorted(known, spread.high[ranged], "right")
            missing[ranged] = spread.missing[ranged] & attribute.may_miss
            empty = (low >= high) & ~missing[ranged]
            nearest = _nearest(known, spread.low[ranged][empty])
            low[empty], high[empty] = nearest, nearest + 1
            # Leaves of ranges are runs of all leaves, which follow those of the other values.
            begin[ranged], end[ranged] = low + source.size, np.maximum(low, high) + source.size
        anything = (begin == end) & ~missing
        begin[anything], end[anything] = source.size, source.size + leaves
        source = np.concatenate([source, np.arange(leaves)])
        sizes = end - begin + missing
        first = np.concatenate([[0], np.cumsum(sizes)])
        entry = np.arange(first[-1]) - np.repeat(first[:-1] - begin, sizes)
        last = first[1:][missing] - 1
        entry[last] = source.size - 1
        return cls(source[entry], first, leaves)

    def __len__(self) -> int:
        return self.first.size - 1

    @cached_property
    def sizes(self) -> IntArray:
        """How many leaves each value covers."""
        return np.diff(self.first)

    @cached_property
    def owner(self) -> IntArray:
        """The value each entry of ``leaf`` belongs to."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def share(self) -> FloatArray:
        """The share of its value that falls on each entry of ``leaf``."""
        return 1.0 / self.sizes[self.owner]

    def spread(self, weights: FloatArray) -> FloatArray:
        """Return how much falls on each leaf, given how much there is of each value."""
        added = np.bincount(self.leaf, weights=weights[self.owner] * self.share, minlength=self.leaves)
        return added.astype(np.float64)

    def total(self, numbers: NDArray[np.generic]) -> FloatArray:
        """Return the sum of a number of each leaf over the leaves of each value."""
        return np.bincount(self.owner, weights=numbers[self.leaf], minlength=len(self)).astype(np.float64)

    def mean(self, numbers: FloatArray) -> FloatArray:
        """Return the mean of a number of each leaf over the leaves of each value."""
        return np.asarray(self.total(numbers) / self.sizes)

    def holds(self, values: IntArray, leaves: IntArray) -> NDArray[np.bool_]:
        """Return for pairs of a value and a leaf whether the value covers the leaf."""
        key = values.astype(np.int64) * self.leaves + leaves
        place = np.minimum(np.searchsorted(self._keys, key), self._keys.size - 1)
        return np.asarray(self._keys[place] == key)

    @cached_property
    def _keys(self) -> IntArray:
        return self.owner * self.leaves + self.leaf

    @cached_property
    def least(self) -> IntArray:
        """The first leaf of each value."""
        return self.leaf[self.first[:-1]]

    @cached_property
    def greatest(self) -> IntArray:
        """The last leaf of each value."""
        return self.leaf[self.first[1:] - 1]


@dataclass(frozen=True, eq=False)
class Cells:
    """A column of a table, row by row: the place of each row's value among the distinct ones of ``cover``."""

    attribute: Attribute
    cover: Cover
    places: NDArray[np.int64]

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.attribute.name

    @property
    def numeric(self) -> bool:
        """Whether values are numbers or dates."""
        return self.attribute.domain.positions is not None

    @cached_property
    def rows(self) -> FloatArray:
        """How many rows have each value."""
        return np.bincount(self.places, minlength=len(self.cover)).astype(np.float64)

    @cached_property
    def marginal(self) -> FloatArray:
        """The share of the rows that falls on each leaf."""
        return self.cover.spread(self.rows / max(self.places.size, 1))


def _nearest(known: FloatArray, numbers: FloatArray) -> IntArray:
    """Return the place of the number nearest to each; of two as near, that of the lesser."""
    above = np.clip(np.searchsorted(known, numbers), 0, known.size - 1)
    below = np.maximum(above - 1, 0)
    return np.where(np.abs(known[above] - numbers) < np.abs(numbers - known[below]), above, below)
