"""What released values cover, and the share of each that satisfies a predicate if it is spread evenly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.schema import Interval, ValueSet

__all__ = ["NO_LEAVES", "Block", "Meaning", "Predicate", "Spread"]

Block = Interval | ValueSet
NO_LEAVES = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Predicate:
    """The condition of a query on one attribute.

    ``leaves`` says which leaves satisfy it, and ``missing`` whether missing values do. Numbers and dates satisfy it
    from ``low`` to ``high``, or at the ``points`` if these are given.
    """

    block: Block
    leaves: NDArray[np.bool_]
    missing: bool
    low: float = math.nan
    high: float = math.nan
    points: FloatArray | None = None

    @property
    def everything(self) -> bool:
        """Whether every value satisfies it."""
        return isinstance(self.block, ValueSet) and self.block.everything


class Meaning(NamedTuple):
    """The cover of a released value: some leaves, or a range of numbers that may include missing."""

    leaves: IntArray
    low: float = math.nan
    high: float = math.nan
    missing: bool = False


@dataclass(frozen=True, eq=False)
class Spread:
    """The distinct values of a column, each with the leaves or the range of numbers it is spread over.

    The leaves of value ``v`` are ``leaf[first[v]:first[v + 1]]``. Where ``low`` is a number, the value is spread from
    there to ``high`` instead: over the ``whole`` numbers between, or over the length. Ranges with ``missing`` may be
    missing too, which counts as one more number; for lengths it counts as much as the whole range.
    """

    leaf: IntArray
    first: IntArray
    low: FloatArray
    high: FloatArray
    missing: NDArray[np.bool_]
    whole: bool

    @classmethod
    def of(cls, meanings: Sequence[Meaning], *, whole: bool) -> Spread:
        """Collect the meanings of values in arrays."""
        return cls(
            leaf=np.concatenate([NO_LEAVES, *(meaning.leaves for meaning in meanings)]),
            first=np.cumsum([0, *(meaning.leaves.size for meaning in meanings)]),
            low=np.array([meaning.low for meaning in meanings], dtype=np.float64),
            high=np.array([meaning.high for meaning in meanings], dtype=np.float64),
            missing=np.array([meaning.missing for meaning in meanings], dtype=np.bool_),
            whole=whole,
        )

    def share(self, predicate: Predicate) -> FloatArray:
        """Return the share of each value that satisfies a predicate."""
        running = np.append(0, np.cumsum(predicate.leaves[self.leaf]))
        amount = (running[self.first[1:]] - running[self.first[:-1]]).astype(np.float64)
        ranged = self._ranged
        if ranged.size:
            amount[ranged] = self._range_lengths[ranged] * self._covered(self.low[ranged], self.high[ranged], predicate)
            amount[ranged] += self.missing[ranged] & predicate.missing
        return np.asarray(amount / self._size)

    def overlaps(self, predicate: Predicate) -> NDArray[np.bool_]:
        """Return whether each value can satisfy a predicate: whether it covers a value that does."""
        running = np.append(0, np.cumsum(predicate.leaves[self.leaf]))
        found: NDArray[np.bool_] = running[self.first[1:]] > running[self.first[:-1]]
        ranged = self._ranged
        if ranged.size:
            low, high = self.low[ranged], self.high[ranged]
            if predicate.points is None:
                within = np.maximum(low, predicate.low) <= np.minimum(high, predicate.high)
            else:
                points = predicate.points
                within = np.searchsorted(points, high, "right") > np.searchsorted(points, low, "left")
            found[ranged] = within | (self.missing[ranged] & predicate.missing)
        return found

    def mean(self, positions: FloatArray) -> FloatArray:
        """Return the mean of each value, given the number of each leaf; missing counts as 0."""
        total = np.append(0.0, np.cumsum(np.nan_to_num(positions)[self.leaf]))
        sums = total[self.first[1:]] - total[self.first[:-1]]
        alone = np.diff(self.first) == 1  # exact, without the rounding errors of a running sum
        sums[alone] = np.nan_to_num(positions)[self.leaf[self.first[:-1][alone]]]
        ranged = self._ranged
        sums[ranged] = self._range_lengths[ranged] * (self.low[ranged] + self.high[ranged]) / 2
        return np.asarray(sums / self._size)

    def _covered(self, low: FloatArray, high: FloatArray, predicate: Predicate) -> FloatArray:
        """Return the share of each range that satisfies a predicate."""
        if predicate.points is not None:
            points = predicate.points
            hit = np.searchsorted(points, high, "right") - np.searchsorted(points, low, "left")
            return np.where(low == high, hit > 0, hit / (high - low + 1) if self.whole else 0.0)
        unit = 1.0 if self.whole else 0.0
        overlap = np.minimum(high, predicate.high) - np.maximum(low, predicate.low) + unit
        length = np.where(low == high, 1.0, high - low + unit)
        at_point = (predicate.low <= low) & (low <= predicate.high)
        return np.where(low == high, at_point, np.maximum(overlap, 0.0) / length)

    @cached_property
    def _ranged(self) -> IntArray:
        return np.flatnonzero(~np.isnan(self.low))

    @cached_property
    def _range_lengths(self) -> FloatArray:
        """The number of whole numbers in each range; 1 for lengths."""
        return self.high - self.low + 1 if self.whole else np.ones(self.low.size)

    @cached_property
    def _size(self) -> FloatArray:
        """The number of values that each value is spread over; 1 if it covers nothing, as then no share is anywhere."""
        return np.maximum(np.where(np.isnan(self.low), np.diff(self.first), self._range_lengths + self.missing), 1)
