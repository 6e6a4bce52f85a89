"""Which released rows a person can be: those whose values cover the values of the person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.evaluate.classes import CountedClasses
from discreet.evaluate.released_as import bind
from discreet.evaluate.spread import Spread
from discreet.runtime.integer_codes import add_up, numbered
from discreet.schema import Domain

__all__ = ["Candidates", "ColumnMatch", "find_candidates", "join_columns"]

_KEPT = 5_000_000
"""The most matching pairs to keep."""
_AT_ONCE = 1 << 22
"""The most pairs of an original and a released class to compare at once."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The released classes that each original class may be in, found piece by piece.

    Columns in which every original value has a single released value are joined; the others are compared pair by pair.
    """

    matches: tuple[ColumnMatch, ...]
    first: IntArray
    """For each original class, where its joined released classes begin in ``order``."""
    length: IntArray
    """The number of these."""
    order: IntArray
    """The released classes, sorted by the joined columns."""
    _kept: list[tuple[IntArray, IntArray, IntArray]] | None = field(default=None, init=False, repr=False)

    @property
    def pairs(self) -> int:
        """The number of pairs to compare."""
        return int(self.length.sum())

    def found(self, originals: IntArray | None = None) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield original classes in batches, with all matching pairs of an index into the batch and a released class.

        Without ``originals`` all original classes are taken; these pairs are kept for the next time unless they are
        very many.
        """
        if originals is None and self._kept is not None:
            yield from self._kept
            return
        kept: list[tuple[IntArray, IntArray, IntArray]] | None = [] if originals is None else None
        chosen = np.arange(self.length.size) if originals is None else originals
        ends = np.cumsum(self.length[chosen])
        start = 0
        while start < chosen.size:
            done = int(ends[start - 1]) if start else 0
            stop = max(int(np.searchsorted(ends, done + _AT_ONCE, "right")), start + 1)
            some = chosen[start:stop]
            batch = (some, *self._matching(some))
            if kept is not None:
                kept = [*kept, batch] if sum(each[1].size for each in kept) + batch[1].size <= _KEPT else None
            yield batch
            start = stop
        if kept is not None:
            object.__setattr__(self, "_kept", kept)

    def _matching(self, some: IntArray) -> tuple[IntArray, IntArray]:
        """Return the pairs of a batch that match in every column."""
        length = self.length[some]
        index = np.repeat(np.arange(some.size), length)
        within = np.arange(index.size) - np.repeat(np.cumsum(length) - length, length)
        released = self.order[self.first[some][index] + within]
        for match in self.matches:
            if match.single is None:
                holds = match.holds(some[index], released)
                index, released = index[holds], released[holds]
        return index, released


@dataclass(frozen=True, eq=False)
class ColumnMatch:
    """A column: the leaf of each original class, the value of each released class, and what those values cover."""

    domain: Domain
    spread: Spread
    leaf: IntArray
    value: IntArray

    @cached_property
    def single(self) -> IntArray | None:
        """For each leaf the released value that covers it, or -1; None if several cover the same leaf."""
        leaves, values = self.domain.ancestors.shape[1], self.spread.low.size
        covered = np.bincount(self._listed // max(values, 1), minlength=leaves)
        found = np.full(leaves, -1, dtype=np.int64)
        found[self._listed // max(values, 1)] = self._listed % max(values, 1)
        ranged = np.flatnonzero(~np.isnan(self.spread.low))
        if ranged.size:
            assert self.domain.positions is not None
            low, high = self.spread.low[ranged], self.spread.high[ranged]
            here = np.flatnonzero(~np.isnan(self.domain.positions))
            position = self.domain.positions[here]
            begun = np.searchsorted(np.sort(low), position, "right")
            covered[here] += begun - np.searchsorted(np.sort(high), position, "left")
            order = np.argsort(low, kind="stable")
            nearest = order[np.maximum(begun - 1, 0)]
            within = (begun > 0) & (position <= high[nearest])
            found[here[within]] = ranged[nearest[within]]
            absent = np.flatnonzero(np.isnan(self.domain.positions))
            may_miss = ranged[self.spread.missing[ranged]]
            covered[absent] += may_miss.size
            if may_miss.size == 1:
                found[absent] = may_miss[0]
        return found if covered.max(initial=0) <= 1 else None

    @cached_property
    def _listed(self) -> IntArray:
        """The pairs of a leaf and a released value that lists it, encoded as sorted numbers."""
        values = self.spread.low.size
        owner = np.repeat(np.arange(values), np.diff(self.spread.first))
        return np.sort(self.spread.leaf.astype(np.int64) * values + owner)

    def holds(self, originals: IntArray, released: IntArray) -> NDArray[np.bool_]:
        """Return for pairs of an original and a released class whether this column matches."""
        leaf, value = self.leaf[originals], self.value[released]
        key = leaf.astype(np.int64) * self.spread.low.size + value
        listed = np.append(self._listed, -1)[np.searchsorted(self._listed, key)] == key
        if self.domain.positions is None:
            return np.asarray(listed)
        position = self.domain.positions[leaf]
        within = (self.spread.low[value] <= position) & (position <= self.spread.high[value])
        return np.asarray(listed | within | (np.isnan(position) & self.spread.missing[value]))


def find_candidates(
    original: CountedClasses, released: CountedClasses, hierarchies: Mapping[str, Any], types: Mapping[str, Any]
) -> Candidates:
    """Find for each original class the released classes that its people may be in."""
    matches = tuple(
        _match(original, released, i, hierarchies.get(column), types.get(column))
        for i, column in enumerate(original.columns)
    )
    return join_columns(matches, original.sizes.size, released.sizes.size)


def join_columns(matches: tuple[ColumnMatch, ...], originals: int, count: int) -> Candidates:
    """Join the columns of so many original and released classes; a leaf of -1 matches nothing."""
    joined = [match for match in matches if match.single is not None]
    known = np.logical_and.reduce([match.leaf >= 0 for match in matches])
    if not joined:
        everyone = np.where(known, count, 0)
        return Candidates(matches, np.zeros_like(everyone), everyone, np.arange(count))
    both = (np.concatenate([match.value, _single(match)[match.leaf]]) + 1 for match in joined)
    widths = (match.spread.low.size + 1 for match in joined)
    key, _ = numbered(count + originals, zip(both, widths, strict=True))
    order = np.argsort(key[:count], kind="stable")
    there = key[:count][order]
    first = np.searchsorted(there, key[count:], "left")
    length = np.searchsorted(there, key[count:], "right") - first
    return Candidates(matches, first, np.where(known, length, 0), order)


def _single(match: ColumnMatch) -> IntArray:
    assert match.single is not None
    return match.single


def _match(original: CountedClasses, released: CountedClasses, index: int, hierarchy: Any, kind: Any) -> ColumnMatch:
    column = original.columns[index]
    rows = add_up(original.codes[index], original.sizes, original.width(column))
    values = released.values[column]
    attribute, _ = bind(column, original.values[column], rows, hierarchy, kind, values)
    domain = attribute.domain
    return ColumnMatch(domain, attribute.released(values), domain.codes[original.codes[index]], released.codes[index])
