"""Choices among partitions into runs: the schemes subtree, ordered and guided-ordered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, CountTable, IntArray
from discreet.errors import UsageError
from discreet.kernels.runs import (
    CLOSED,
    CUT,
    OPEN,
    cheapest_runs,
    decide_gaps,
    read_runs,
    spread,
    weigh_gaps,
    widest_rates,
    write_script,
)
from discreet.problem import Separable
from discreet.problem.schemes import RunScheme
from discreet.solve._choices import Choices, Items, Priced, Script, covered

__all__ = ["RunSpace", "Runs"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

MOST_ITEMS = 2000


@dataclass(frozen=True, eq=False)
class RunSpace:
    """The valid runs of one attribute, by the first and the last item they hold."""

    items: Items
    order: Ints
    smallest: IntArray
    """The smallest block each leaf may be in."""
    begin: Ints
    end: Ints
    """(items, items): where the smallest valid run with these items begins and ends in ``order``."""
    allowed: Flags
    rates: Floats

    @classmethod
    def of(
        cls,
        table: CountTable,
        index: int,
        scheme: RunScheme,
        separable: Separable | None,
        levels: tuple[int, int] | None = None,
        name: str = "",
    ) -> RunSpace:
        """Find all valid runs; those that differ only in leaves that do not occur are one.

        With ``levels`` only runs of whole blocks of the lower level inside one block of the higher one are valid.
        """
        attribute = table.attributes[index]
        order = np.asarray(scheme.order(attribute), dtype=np.int64)
        items = Items.of(table, index, order, separable)
        if items.count > MOST_ITEMS:
            raise UsageError(
                f"The scheme {name or scheme.name} is searched for up to {MOST_ITEMS:,} different values, and column "
                f"'{attribute.name}' has {items.count:,}; give it a hierarchy and choose guided-ordered or subtree, "
                "or round its values first.",
                column=attribute.name,
                topic="too-large",
            )
        first, last = (np.asarray(end, dtype=np.int64) for end in scheme.runs(attribute))
        smallest = np.arange(attribute.leaves)
        if levels is not None:
            smallest = np.asarray(attribute.ancestors[levels[0]])
            kept = _between(attribute, order, levels, first, last)
            first, last = first[kept], last[kept]
        occurs = attribute.rows[order] > 0
        before = np.concatenate([[0], np.cumsum(occurs)])
        first_item, last_item = before[first], before[last + 1] - 1
        held = np.flatnonzero(first_item <= last_item)
        held = held[np.argsort((last - first)[held], kind="stable")[::-1]]  # the smallest last, which stays
        shape = (items.count, items.count)
        begin, end, allowed = (
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape, np.bool_),
        )
        where = first_item[held], last_item[held]
        begin[where], end[where], allowed[where] = first[held], last[held], True
        rows = np.concatenate([[0], np.cumsum(attribute.rows[items.leaves])])
        rates = items.rates(end - begin + 1, np.maximum(rows[np.newaxis, 1:] - rows[:-1, np.newaxis], 0))
        return cls(items, order, smallest, begin, end, allowed, rates)

    def open(self) -> Runs:
        """Return all partitions."""
        return Runs(self, np.zeros(self.items.count, dtype=np.int8), self.allowed)


def _between(
    attribute: CodedAttribute, order: Ints, levels: tuple[int, int], first: Ints, last: Ints
) -> NDArray[np.bool_]:
    """Which runs hold each block of the lower level whole or not at all, and only one of the higher one."""
    low, high = (attribute.ancestors[level][order] for level in levels)
    blocks, place = np.unique(low, return_inverse=True)
    begins, ends = np.full(blocks.size, order.size), np.full(blocks.size, -1)
    np.minimum.at(begins, place, np.arange(order.size))
    np.maximum.at(ends, place, np.arange(order.size))
    kept = np.zeros(first.size, dtype=np.bool_)
    for begin in np.unique(first).tolist():
        these = np.flatnonzero(first == begin)
        lowest = np.minimum.accumulate(begins[place[begin:]])[last[these] - begin]
        highest = np.maximum.accumulate(ends[place[begin:]])[last[these] - begin]
        one = np.logical_and.accumulate(high[begin:] == high[begin])[last[these] - begin]
        kept[these] = (lowest >= begin) & (highest <= last[these]) & one
    return kept


class Runs(Choices):
    """Partitions into allowed runs with some gaps decided."""

    def __init__(self, space: RunSpace, gaps: NDArray[np.int8], allowed: Flags) -> None:
        self.space, self.items, self.gaps, self.allowed = space, space.items, gaps, allowed
        self.decided = not (gaps[1:] == OPEN).any()
        size = gaps.size
        self.fine, self.top = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        self.first, self.last, self.ends = (np.empty(size, dtype=np.int64) for _ in range(3))
        self.pieces = spread(gaps, self.fine, self.top, self.first, self.last, self.ends) if size else 0

    @property
    def open_gaps(self) -> int:
        """How many gaps are not decided."""
        return int((self.gaps[1:] == OPEN).sum())

    def most_rates(self) -> Floats:
        """Return the largest rate of an allowed run with each item."""
        script, begin, end = self._walk
        most = np.zeros(self.items.count)
        widest_rates(self.pieces, begin, end, script.rates, most)
        return most[self.fine]

    def near(self) -> Flags:
        """Return which pieces an allowed run holds both."""
        _, begin, end = self._walk
        furthest = np.arange(self.pieces)
        np.maximum.at(furthest, begin, end)
        furthest = np.maximum.accumulate(furthest)
        pieces = np.arange(self.pieces)
        above = (pieces <= furthest[:, np.newaxis]) & (pieces >= pieces[:, np.newaxis])
        return above | above.T

    @cached_property
    def _walk(self) -> tuple[Script, Ints, Ints]:
        size = self.pieces * (self.pieces + 1) // 2
        steps, begin, end = (np.empty(n, dtype=np.int64) for n in (4 * size + 4 * self.pieces, size, size))
        length, asked = write_script(self.pieces, self.first, self.last, self.ends, self.allowed, steps, begin, end)
        begin, end = begin[:asked], end[:asked]
        rates = self.space.rates[self.first[begin], self.last[end]]
        return Script(steps[:length], rates), begin, end

    def script(self) -> Script:
        """Return how to walk through the runs that are left."""
        return self._walk[0]

    def priced(self, cost: Floats, gone: Floats, room: float = np.inf) -> PricedRuns:
        """Find the cheapest partition."""
        return PricedRuns(self, *self._walk[1:], cost, gone)

    def fixed(self, blocks: IntArray) -> Runs:
        """Return the one partition with these blocks."""
        gaps = np.zeros(self.items.count, dtype=np.int8)
        gaps[1:] = np.where(blocks[1:] == blocks[:-1], CLOSED, CUT)
        return Runs(self.space, gaps, self.space.allowed)

    def most_general(self) -> Ints:
        """Return a partition into the fewest runs."""
        return self._by_count(1.0)

    def most_specific(self) -> Ints:
        """Return the partition into the most runs."""
        return self._by_count(-1.0)

    def _by_count(self, each: float) -> Ints:
        """The cheapest partition if every run costs the same."""
        fresh = self.space.open()
        _, begin, _ = fresh._walk
        return fresh.priced(np.full(begin.size, each), np.zeros(begin.size)).cheapest()

    def leaf_blocks(self, blocks: IntArray) -> Ints:
        """Return the block of each leaf: runs hold what lies between their items, or what their group demands."""
        ends = np.flatnonzero(np.diff(blocks, append=-1))
        begins = np.concatenate([[0], ends[:-1] + 1])
        space = self.space
        members = [space.order[space.begin[b, e] : space.end[b, e] + 1] for b, e in zip(begins, ends, strict=True)]
        return covered(space.smallest, members)

    def decide(self, gap: int, how: int) -> Runs:
        """Cut or close one more gap."""
        gaps = self.gaps.copy()
        gaps[gap] = how
        return Runs(self.space, gaps, self.allowed)


class PricedRuns(Priced):
    """Runs and what each costs."""

    choices: Runs

    def __init__(self, choices: Runs, begin: Ints, end: Ints, cost: Floats, gone: Floats) -> None:
        self.choices, self.begin, self.end, self.cost, self.gone = choices, begin, end, cost, gone
        pieces = choices.pieces
        self.forward, self.backward = np.empty(pieces + 1), np.empty(pieces + 1)
        self.forward_rows, self.backward_rows = np.empty(pieces + 1), np.empty(pieces + 1)
        self.least = cheapest_runs(pieces, begin, end, cost, begin.size, self.forward, self.backward)
        self.fewest = cheapest_runs(pieces, begin, end, gone, begin.size, self.forward_rows, self.backward_rows)

    def cheapest(self) -> Ints:
        """Return the block number of each item in the cheapest partition."""
        gaps, c = self.choices.gaps.copy(), self.choices
        read_runs(c.pieces, self.begin, self.end, self.cost, self.begin.size, self.backward, c.first, gaps)
        return np.concatenate([[0], np.cumsum(gaps[1:] == CUT)])

    def restricted(self, room: float, limit: float) -> tuple[Runs, PricedRuns | None] | None:
        """Leave out runs that are too dear or lose too many rows."""
        begin, after, c = self.begin, self.end + 1, self.choices
        out = self.forward[begin] + self.cost + self.backward[after] >= room
        out |= self.forward_rows[begin] + self.gone + self.backward_rows[after] > limit
        if not out.any():
            return c, self
        gaps, allowed = c.gaps.copy(), c.allowed.copy()
        space = np.empty(c.pieces + 2, dtype=np.int64)
        decided = decide_gaps(c.pieces, begin, self.end, begin.size, out, c.first, c.last, gaps, allowed, space)
        if decided < 0 or out.all():
            return None
        kept = Runs(c.space, gaps, allowed)
        if decided:
            return kept, None
        return kept, PricedRuns(kept, begin[~out], self.end[~out], self.cost[~out], self.gone[~out])

    @cached_property
    def _gaps(self) -> tuple[Floats, Floats, Ints]:
        """What closing and cutting cost at the gap before each piece, and which of those are open."""
        c = self.choices
        closed, cut = np.empty(c.pieces), np.empty(c.pieces)
        weigh_gaps(c.pieces, self.begin, self.end, self.cost, self.begin.size, self.forward, self.backward, closed, cut)
        return closed, cut, 1 + np.flatnonzero(c.gaps[c.first[1 : c.pieces]] == OPEN)

    def _pull(self, room: float) -> Floats:
        """How much dearer the worse side of each open gap is, at most ``room``."""
        closed, cut, open_ = self._gaps
        return np.minimum(np.maximum(closed[open_], cut[open_]) - self.least, room)

    def weight(self, room: float) -> float:
        """Return how much the gap that matters most matters, divided by the number of gaps."""
        pull = self._pull(room)
        return float(pull.max()) / pull.size if pull.size else 0.0

    def size(self) -> int:
        """Return the number of open gaps."""
        return int(self._gaps[2].size)

    def branches(self, room: float, limit: float) -> list[tuple[float, Choices]]:
        """Cut and close the gap that matters most."""
        closed, cut, open_ = self._gaps
        p = int(open_[np.argmax(self._pull(room))])
        gap = int(self.choices.first[p])
        both = [(float(cut[p]), self.choices.decide(gap, CUT)), (float(closed[p]), self.choices.decide(gap, CLOSED))]
        return [(least, choices) for least, choices in both if least < np.inf]
