"""Which released rows a person can be: those whose cells are, or stand for, the values the person has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import add_up, numbered
from discreet.counts import IntArray
from discreet.evaluate._cells import Cells
from discreet.evaluate._released_as import bind
from discreet.evaluate._spread import Spread
from discreet.schema import Domain

__all__ = ["Candidates", "find_candidates"]

_AT_ONCE = 1 << 22
"""How many pairs of a person and a class are looked at together."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The classes of a release each class of an original table may be, found piece by piece.

    ``pairs`` is how many pairs have to be looked at, of those whose columns with one way out agree.
    """

    covers: tuple[Cover, ...]
    first: IntArray
    """Where in ``order`` the released classes each original one may be begin."""
    length: IntArray
    """How many those are."""
    order: IntArray
    """The released classes, sorted by the columns with one way out."""

    @property
    def pairs(self) -> int:
        """How many pairs there are to look at."""
        return int(self.length.sum())

    def found(self, originals: IntArray | None = None) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield some original classes, and the pairs of one of them (by its place among them) and a released class.

        Without ``originals`` all original classes are taken.
        """
        chosen = np.arange(self.length.size) if originals is None else originals
        ends = np.cumsum(self.length[chosen])
        start = 0
        while start < chosen.size:
            done = int(ends[start - 1]) if start else 0
            stop = max(int(np.searchsorted(ends, done + _AT_ONCE, "right")), start + 1)
            some = chosen[start:stop]
            yield some, *self._agreeing(some)
            start = stop

    def _agreeing(self, some: IntArray) -> tuple[IntArray, IntArray]:
        """Return the pairs of some original classes that agree in every column."""
        length = self.length[some]
        place = np.repeat(np.arange(some.size), length)
        within = np.arange(place.size) - np.repeat(np.cumsum(length) - length, length)
        released = self.order[self.first[some][place] + within]
        for cover in self.covers:
            if cover.single is None:
                holds = cover.holds(some[place], released)
                place, released = place[holds], released[holds]
        return place, released


@dataclass(frozen=True, eq=False)
class Cover:
    """One column: the leaf of each original class, the value of each released one, and what that stands for."""

    domain: Domain
    spread: Spread
    leaf: IntArray
    value: IntArray

    @cached_property
    def single(self) -> IntArray | None:
        """For each leaf the one released value that covers it, -1 without one; None if a leaf has several."""
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
            inside = (begun > 0) & (position <= high[nearest])
            found[here[inside]] = ranged[nearest[inside]]
            absent = np.flatnonzero(np.isnan(self.domain.positions))
            may_miss = ranged[self.spread.missing[ranged]]
            covered[absent] += may_miss.size
            if may_miss.size == 1:
                found[absent] = may_miss[0]
        return found if covered.max(initial=0) <= 1 else None

    @cached_property
    def _listed(self) -> IntArray:
        """The pairs of a leaf and a released value that lists it, as sorted numbers."""
        values = self.spread.low.size
        owner = np.repeat(np.arange(values), np.diff(self.spread.first))
        return np.sort(self.spread.leaf.astype(np.int64) * values + owner)

    def holds(self, originals: IntArray, released: IntArray) -> NDArray[np.bool_]:
        """Return for each pair of an original and a released class whether this column agrees."""
        leaf, value = self.leaf[originals], self.value[released]
        key = leaf.astype(np.int64) * self.spread.low.size + value
        place = np.searchsorted(self._listed, key)
        listed = np.append(self._listed, -1)[place] == key
        if self.domain.positions is None:
            return np.asarray(listed)
        position = self.domain.positions[leaf]
        inside = (self.spread.low[value] <= position) & (position <= self.spread.high[value])
        return np.asarray(listed | inside | (np.isnan(position) & self.spread.missing[value]))


def find_candidates(
    original: Cells, released: Cells, hierarchies: Mapping[str, Any], types: Mapping[str, Any]
) -> Candidates:
    """Find for each class of the original table the classes of the release that its people may be in.

    Columns each of whose values has one released value that covers it, as under global recoding, are joined; the
    others are looked at pair by pair.
    """
    covers = tuple(
        _cover(original, released, place, hierarchies.get(column), types.get(column))
        for place, column in enumerate(original.columns)
    )
    joined = [cover for cover in covers if cover.single is not None]
    count = released.sizes.size
    if not joined:
        everyone = np.full(original.sizes.size, count, dtype=np.int64)
        return Candidates(covers, np.zeros_like(everyone), everyone, np.arange(count))
    both = (np.concatenate([cover.value, _single(cover)[cover.leaf]]) + 1 for cover in joined)
    widths = (cover.spread.low.size + 1 for cover in joined)
    key, _ = numbered(count + original.sizes.size, zip(both, widths, strict=True))
    order = np.argsort(key[:count], kind="stable")
    there = key[:count][order]
    first = np.searchsorted(there, key[count:], "left")
    return Candidates(covers, first, np.searchsorted(there, key[count:], "right") - first, order)


def _single(cover: Cover) -> IntArray:
    assert cover.single is not None
    return cover.single


def _cover(original: Cells, released: Cells, place: int, hierarchy: Any, kind: Any) -> Cover:
    column = original.columns[place]
    rows = add_up(original.codes[place], original.sizes, original.width(column))
    values = released.values[column]
    attribute, _ = bind(column, original.values[column], rows, hierarchy, kind, values)
    domain = attribute.domain
    return Cover(domain, attribute.released(values), domain.codes[original.codes[place]], released.codes[place])
