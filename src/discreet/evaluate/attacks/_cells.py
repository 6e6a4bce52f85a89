"""The cells of one released column: what each value covers, how likely each part of it is, and finer values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.evaluate.attacks._target import Belonging
from discreet.evaluate.candidates import ColumnMatch
from discreet.runtime.integer_codes import compact

__all__ = ["ReleasedCells"]


@dataclass(frozen=True, eq=False)
class ReleasedCells:
    """The released values of a quasi-identifier. Leaves are the values the column can have."""

    match: ColumnMatch
    rows: IntArray
    """The released rows of each value."""

    @property
    def values(self) -> int:
        """The number of released values."""
        return self.match.spread.low.size

    def leaves(self, value: int) -> IntArray:
        """Return the leaves that a released value covers, in order."""
        spread, positions = self.match.spread, self.match.domain.positions
        if positions is None or np.isnan(spread.low[value]):
            return np.sort(spread.leaf[spread.first[value] : spread.first[value + 1]])
        within = (positions >= spread.low[value]) & (positions <= spread.high[value])
        return np.flatnonzero(within | (np.isnan(positions) & spread.missing[value]))

    @cached_property
    def ranged(self) -> NDArray[np.bool_]:
        """Whether each released value is a range whose ends were not fixed by a hierarchy."""
        return ~np.isnan(self.match.spread.low)

    @cached_property
    def covered(self) -> list[IntArray]:
        """The leaves of each released value."""
        return [self.leaves(value) for value in range(self.values)]

    @cached_property
    def lowest(self) -> IntArray:
        """The first leaf of each released value; -1 if it covers none."""
        return np.array([each[0] if each.size else -1 for each in self.covered], dtype=np.int64)

    @cached_property
    def highest(self) -> IntArray:
        """The last leaf of each released value, except the missing one if there are others; -1 if it covers none."""
        missing = self.match.domain.labels[0][-1] is None
        last = self.match.domain.ancestors.shape[1] - 1
        ends = [each[:-1] if missing and each.size > 1 and each[-1] == last else each for each in self.covered]
        return np.array([each[-1] if each.size else -1 for each in ends], dtype=np.int64)

    @cached_property
    def weights(self) -> FloatArray:
        """How many rows have each leaf if every released value is spread evenly over what it covers."""
        found = np.zeros(self.match.domain.ancestors.shape[1])
        for leaves, rows in zip(self.covered, self.rows.tolist(), strict=True):
            found[leaves] += rows / max(leaves.size, 1)
        return found

    def children(self, value: int) -> IntArray:
        """Return the finer value of each leaf of a released value: empty if nothing is finer.

        It is the child in the hierarchy; without one, the half of a range or each single value of a set.
        """
        leaves, domain = self.covered[value], self.match.domain
        if leaves.size < 2:
            return np.zeros(0, dtype=np.int64)
        if domain.positions is not None and len(domain.ancestors) <= 2:
            positions = domain.positions[leaves]
            half = positions > (np.nanmin(positions) + np.nanmax(positions)) / 2
            return compact(np.where(np.isnan(positions), 2, half.astype(np.int64)), 3)[0]
        for blocks in domain.ancestors[::-1]:
            child, count = compact(blocks[leaves], int(blocks.max()) + 1)
            if count > 1:
                return child
        return np.zeros(0, dtype=np.int64)

    def child_of_leaves(self, value: int) -> tuple[IntArray, int]:
        """Return the child of every leaf of the column under a released value, -1 outside, and their number."""
        child = self.children(value)
        found = np.full(self.match.domain.ancestors.shape[1], -1, dtype=np.int64)
        if child.size:
            found[self.covered[value]] = child
        return found, int(child.max()) + 1 if child.size else 0

    def child_of_pairs(self, pairs: Belonging, leaf: IntArray) -> IntArray:
        """Return the child of each pair of an original and a released class; -1 if nothing is finer."""
        value = self.match.value[pairs.released]
        own = leaf[pairs.original]
        found = np.full(value.size, -1, dtype=np.int64)
        order = np.argsort(value, kind="stable")
        ends = np.searchsorted(value[order], np.arange(self.values + 1))
        for each in range(self.values):
            some = order[ends[each] : ends[each + 1]]
            if some.size:
                table = self.child_of_leaves(each)[0]
                known = own[some] >= 0
                found[some[known]] = table[own[some[known]]]
        return found
