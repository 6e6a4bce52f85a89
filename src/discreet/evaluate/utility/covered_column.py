"""Columns of a table by the original leaves that their values cover; each value is spread evenly over these."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.evaluate.attribute import Attribute
from discreet.evaluate.spread import Spread

__all__ = ["CoveredColumn", "LeafCover"]


@dataclass(frozen=True, eq=False)
class LeafCover:
    """The distinct values of a column, each with the leaves of the original column that it covers.

    The leaves of value ``v`` are ``leaf[first[v]:first[v + 1]]`` in ascending order; each value covers at least one. A
    value without a leaf, such as a mean, covers the nearest one; a missing value in a column that had none covers all.
    """

    leaf: IntArray
    first: IntArray
    leaves: int
    """The number of leaves of the column."""

    @classmethod
    def identity(cls, leaves: int) -> LeafCover:
        """Return the cover of an original column: each value is its own leaf."""
        return cls(np.arange(leaves), np.arange(leaves + 1), leaves)

    @classmethod
    def of(cls, attribute: Attribute, spread: Spread) -> LeafCover:
        """Return the leaves that the values of a spread cover."""
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
            # The leaves of a range are a run of all leaves, which are appended to the listed ones below.
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
        """The number of leaves of each value."""
        return np.diff(self.first)

    @cached_property
    def owner(self) -> IntArray:
        """The value that each entry of ``leaf`` belongs to."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def share(self) -> FloatArray:
        """The share of its value that each entry of ``leaf`` gets."""
        return 1.0 / self.sizes[self.owner]

    def spread(self, weights: FloatArray) -> FloatArray:
        """Return the weight of each leaf, given the weight of each value."""
        of_leaf = np.bincount(self.leaf, weights=weights[self.owner] * self.share, minlength=self.leaves)
        return of_leaf.astype(np.float64)

    def total(self, numbers: NDArray[np.generic]) -> FloatArray:
        """Return the sum over the leaves of each value."""
        return np.bincount(self.owner, weights=numbers[self.leaf], minlength=len(self)).astype(np.float64)

    def mean(self, numbers: FloatArray) -> FloatArray:
        """Return the mean over the leaves of each value."""
        return np.asarray(self.total(numbers) / self.sizes)

    def holds(self, values: IntArray, leaves: IntArray) -> NDArray[np.bool_]:
        """Return for pairs of a value and a leaf whether the value covers the leaf."""
        key = values.astype(np.int64) * self.leaves + leaves
        index = np.minimum(np.searchsorted(self._keys, key), self._keys.size - 1)
        return np.asarray(self._keys[index] == key)

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
class CoveredColumn:
    """A column of a table: for each row the index of its value in ``cover``."""

    attribute: Attribute
    cover: LeafCover
    codes: NDArray[np.int64]

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
        """The number of rows of each value."""
        return np.bincount(self.codes, minlength=len(self.cover)).astype(np.float64)

    @cached_property
    def marginal(self) -> FloatArray:
        """The share of the rows that each leaf gets."""
        return self.cover.spread(self.rows / max(self.codes.size, 1))


def _nearest(known: FloatArray, numbers: FloatArray) -> IntArray:
    """Return the index of the nearest known number; of two equally near ones the smaller."""
    above = np.clip(np.searchsorted(known, numbers), 0, known.size - 1)
    below = np.maximum(above - 1, 0)
    return np.where(np.abs(known[above] - numbers) < np.abs(numbers - known[below]), above, below)
