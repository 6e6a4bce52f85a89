"""The attributes of an original table: they interpret released values and the predicates of queries."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from discreet.counts import FloatArray, IntArray
from discreet.errors import DataError, UsageError
from discreet.evaluate.spread import NO_LEAVES, Block, Meaning, Predicate, Spread
from discreet.runtime.plurals import amount
from discreet.schema import Domain, Hierarchy, Interval, Type, ValueSet, numbers_of, parse_block, plain, text_of

__all__ = ["Attribute"]

_EPOCH = datetime.datetime(1970, 1, 1)
_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True, eq=False)
class Attribute:
    """A quasi-identifier of the original table."""

    domain: Domain
    known: Mapping[str, Sequence[str | None]] | None = None
    """The original values that each released value covers, if that is known and need not be parsed."""

    @property
    def name(self) -> str:
        """The name of its column."""
        return self.domain.name

    @cached_property
    def tree(self) -> Hierarchy:
        """The hierarchy of the non-missing leaves; without one, the leaves are directly below the root."""
        if not self.may_miss:
            return Hierarchy(self.domain.labels, self.domain.ancestors.copy())  # type: ignore[arg-type]
        labels = [[name for name in level if name is not None] for level in self.domain.labels]
        return Hierarchy(labels, self.domain.ancestors[:, :-1].copy())

    @property
    def may_miss(self) -> bool:
        """Whether the last leaf is the missing value."""
        return self.domain.labels[0][-1] is None

    @property
    def given(self) -> bool:
        """Whether a hierarchy was given."""
        return bool(self.domain.text)

    @cached_property
    def whole(self) -> bool:
        """Whether all values are whole numbers or days."""
        positions = self.domain.positions
        if positions is None or self.domain.type is Type.DECIMAL:
            return False
        known = positions[~np.isnan(positions)]
        return bool((known == np.rint(known)).all())

    @cached_property
    def present(self) -> IntArray:
        """The leaves that occur in the table, except missing."""
        leaves = np.unique(self.domain.codes)
        return leaves[:-1] if self.may_miss else leaves

    @cached_property
    def inner_nodes(self) -> list[tuple[int, int]]:
        """The level and block of each node above the leaves, except leaves repeated on higher levels."""
        above = list(enumerate(self.domain.repeats))[1:]
        return [(level, block) for level, repeats in above for block in np.flatnonzero(~repeats).tolist()]

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest number that occurs."""
        assert self.domain.positions is not None
        occurring = self.domain.positions[self.present]
        return (float(occurring.min()), float(occurring.max())) if occurring.size else (0.0, 0.0)

    def leaves(self) -> Spread:
        """Return the values of the original table: each covers its own leaf."""
        count = self.domain.ancestors.shape[1]
        no_range, never = np.full(count, math.nan), np.zeros(count, dtype=np.bool_)
        return Spread(np.arange(count), np.arange(count + 1), no_range, no_range, never, self.whole)

    def released(self, values: pl.Series) -> Spread:
        """Return what distinct released values cover; raise DataError if one cannot be interpreted."""
        texts = text_of(plain(self.name, values))
        named = texts.drop_nulls()
        leaf_of = dict(zip(named.to_list(), self._leaves_named(named), strict=True))
        meanings = [
            self._known_cover(text)
            or (_leaf(leaf_of[text]) if leaf_of.get(text, -1) >= 0 else self._meaning(parse_block(text, self.tree)))
            for text in texts.to_list()
        ]
        known = [meaning for meaning in meanings if meaning is not None]
        if len(known) < len(meanings):
            raise DataError(
                f"Column '{self.name}' of the release has {amount(len(meanings) - len(known), 'value')} that neither "
                "the original table nor its hierarchy knows; give the hierarchy it was released with, or the mapping "
                "of the release.",
                column=self.name,
            )
        return Spread.of(known, whole=self.whole)

    def unclear(self, values: pl.Series, rows: FloatArray, before: FloatArray) -> bool:
        """Whether released values are ambiguous, given their ``rows`` and the original rows ``before`` of each leaf.

        Without a hierarchy, a released value that also is an original one is taken for it. That cannot be right if more
        rows have it than before, as with rounded numbers. Single numbers that are no original values are ambiguous too.
        """
        if self.given or self.known is not None:
            return False
        texts = text_of(plain(self.name, values))
        known = texts.is_not_null().to_numpy()
        leaves = self.tree.find(texts.filter(known))
        named = leaves >= 0
        after = np.bincount(leaves[named], weights=rows[known][named], minlength=before.size)
        if (after > before).any():
            return True
        others = texts.filter(known).filter(pl.Series(~named, dtype=pl.Boolean)).to_list()
        blocks = [parse_block(text, self.tree) for text in others]
        return any(isinstance(block, ValueSet) and not block.everything and len(block.values) == 1 for block in blocks)

    def predicate(self, condition: object) -> Predicate:
        """Return the predicate for a block, its text, a node of the hierarchy, a value, or several values."""
        if isinstance(condition, Set | list | tuple):
            block: Block = ValueSet(frozenset(value for item in condition for value in self._values(item)))
        else:
            block = condition if isinstance(condition, Interval | ValueSet) else parse_block(condition, self.tree)
        count = self.domain.ancestors.shape[1]
        if isinstance(block, ValueSet) and block.everything:
            return Predicate(block, np.ones(count, dtype=np.bool_), True, -math.inf, math.inf)
        positions = self.domain.positions
        chosen = np.zeros(count, dtype=np.bool_)
        chosen[self._missing_leaf()] = block.missing
        if isinstance(block, Interval) and positions is not None:
            low, high = self._closed(block)
            chosen |= (positions >= low) & (positions <= high)
            return Predicate(block, chosen, block.missing, low, high)
        texts = sorted(block.values) if isinstance(block, ValueSet) else []
        leaves = self.tree.find(pl.Series(texts, dtype=pl.String))
        if positions is None:
            if isinstance(block, Interval) or (leaves < 0).any():
                raise UsageError(
                    f"A query restricts column '{self.name}' to something that neither the table nor its hierarchy "
                    "has; use values, or nodes of the hierarchy.",
                    column=self.name,
                )
            chosen[leaves] = True
            return Predicate(block, chosen, block.missing)
        others = [text for text, leaf in zip(texts, leaves.tolist(), strict=True) if leaf < 0]
        points = np.concatenate([positions[leaves[leaves >= 0]], self._numbers(others)])
        chosen |= np.isin(positions, points)
        return Predicate(block, chosen, block.missing, points=np.sort(points))

    def from_leaves(self, leaves: IntArray) -> Predicate:
        """Return the predicate that some leaves of text satisfy."""
        chosen = np.zeros(self.domain.ancestors.shape[1], dtype=np.bool_)
        chosen[leaves] = True
        names = self.domain.labels[0]
        return Predicate(ValueSet(frozenset(str(names[leaf]) for leaf in leaves.tolist())), chosen, False)

    def from_range(self, low: float, high: float) -> Predicate:
        """Return the predicate that the numbers or dates of a range satisfy."""
        return self.predicate(Interval(self._bound(low), self._bound(high)))

    def _values(self, item: object) -> Iterable[str]:
        block = parse_block(item, self.tree)
        if isinstance(block, Interval):
            raise UsageError(
                f"A query lists a range among values of column '{self.name}'; give it alone.", column=self.name
            )
        return block.values

    def _leaves_named(self, texts: pl.Series) -> list[int]:
        """Return the leaf that each text names; -1 if it names none, or also names an inner node."""
        found = self.tree.find(texts).tolist()
        return [-1 if self.tree.nodes(text)[1:] else leaf for text, leaf in zip(texts.to_list(), found, strict=True)]

    def _known_cover(self, text: str | None) -> Meaning | None:
        """Return what a released value is known to cover; ranges of numbers without a hierarchy are parsed instead."""
        if self.known is None or text is None or text not in self.known:
            return None
        if self.domain.positions is not None and not self.given and isinstance(parse_block(text, self.tree), Interval):
            return None
        found = self._known_leaves[text]
        return Meaning(found) if found.size else None

    @cached_property
    def _known_leaves(self) -> dict[str, IntArray]:
        """The leaves that each known released value covers; original values that the table lacks are skipped."""
        known = self.known or {}
        texts = [value for values in known.values() for value in values if value is not None]
        leaves = self.tree.find(pl.Series(texts, dtype=pl.String)).astype(np.int64)
        ends = np.cumsum([sum(value is not None for value in values) for values in known.values()], dtype=np.int64)
        found = {}
        for (text, values), own in zip(known.items(), np.split(leaves, ends[:-1]) if known else [], strict=True):
            missing = self._missing_leaf() if None in values else NO_LEAVES
            found[text] = np.unique(np.concatenate([own[own >= 0], missing]))
        return found

    def _missing_leaf(self) -> IntArray:
        return np.array([self.domain.ancestors.shape[1] - 1]) if self.may_miss else NO_LEAVES

    def _meaning(self, block: Block) -> Meaning | None:
        """Return what a block covers; None if that is unknown."""
        positions = self.domain.positions
        if isinstance(block, Interval):
            return None if positions is None else Meaning(NO_LEAVES, *self._closed(block), block.missing)
        if block.everything and positions is not None and not self.given:
            return Meaning(NO_LEAVES, *self.ends, self.may_miss)
        texts = sorted(block.values)
        leaves = self.tree.find(pl.Series(texts, dtype=pl.String))
        if (leaves >= 0).all():
            missing = self._missing_leaf() if block.missing else NO_LEAVES
            return Meaning(np.unique(np.concatenate([leaves, missing])))
        if positions is None or len(texts) > 1:
            return None
        try:
            number = float(self._numbers(texts)[0])
        except DataError:
            return None
        return Meaning(NO_LEAVES, number, number, block.missing)

    def _numbers(self, texts: list[str]) -> FloatArray:
        kind = Type.DATE if self.domain.type is Type.DATE else Type.DECIMAL
        return numbers_of(self.name, pl.Series(texts, dtype=pl.String), kind).astype(np.float64)

    def _closed(self, block: Interval) -> tuple[float, float]:
        """Return the smallest and the largest number of a range; an unbounded one ends with the values of the table."""
        low, high = self._position(block.left), self._position(block.right)
        if low is None or high is None:
            raise UsageError(
                f"Column '{self.name}' holds {'dates' if self.domain.type is Type.DATE else 'numbers'}, "
                "but a range in a query or in the release does not.",
                column=self.name,
            )
        if block.closed in ("right", "neither") and math.isfinite(low):
            low = math.floor(low) + 1.0 if self.whole else math.nextafter(low, math.inf)
        if block.closed in ("left", "neither") and math.isfinite(high):
            high = math.ceil(high) - 1.0 if self.whole else math.nextafter(high, -math.inf)
        if self.whole:
            low = low if math.isinf(low) else math.ceil(low)
            high = high if math.isinf(high) else math.floor(high)
        low = min(self.ends[0], high) if math.isinf(low) else low
        high = max(self.ends[1], low) if math.isinf(high) else high
        return float(low), float(high)

    def _position(self, bound: float | datetime.date) -> float | None:
        dates = self.domain.type is Type.DATE
        if isinstance(bound, datetime.date):
            if bound in (type(bound).min, type(bound).max):
                return -math.inf if bound == type(bound).min else math.inf
            moment = (
                bound if isinstance(bound, datetime.datetime) else datetime.datetime.combine(bound, datetime.time())
            )
            return (moment.replace(tzinfo=None) - _EPOCH) / _DAY if dates else None
        return None if dates else float(bound)

    def _bound(self, position: float) -> float | datetime.date:
        if self.domain.type is Type.DATE:
            moment = _EPOCH + position * _DAY
            return moment.date() if self.whole else moment
        return int(position) if self.whole else position


def _leaf(leaf: int) -> Meaning:
    return Meaning(np.array([leaf]))
