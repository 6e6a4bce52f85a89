"""Partitions into runs of items: the schemes subtree, ordered and guided-ordered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, CountTable, IntArray
from discreet.errors import UsageError
from discreet.problem import Separable
from discreet.problem.schemes import RunScheme
from discreet.solve.partitions.kernels.blocks import BlockWalk
from discreet.solve.partitions.kernels.runs import (
    CLOSED,
    CUT,
    OPEN,
    cheapest_runs,
    decide_gaps,
    find_pieces,
    gap_costs,
    highest_rates,
    join_runs,
    read_runs,
    write_run_walk,
)
from discreet.solve.partitions.open_partitions import (
    AttributeItems,
    BlockRates,
    OpenPartitions,
    PricedPartitions,
    all_leaf_blocks,
)

__all__ = ["OpenRuns", "PricedRuns", "ValidRuns"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

MOST_ITEMS = 2000
"""With more items, the table of runs would take too much memory: it has one entry per pair of items."""


@dataclass(frozen=True, eq=False)
class ValidRuns:
    """The valid runs of one attribute, by their first and last item."""

    items: AttributeItems
    order: Ints
    """The leaves in the order of the scheme."""
    smallest: IntArray
    """(leaves,) the smallest block each leaf may be in."""
    begin: Ints
    """(items, items) where the smallest valid run with these items begins in ``order``, and ..."""
    end: Ints
    """... where it ends."""
    allowed: Flags
    """(items, items) whether there is one."""
    rates: Floats
    """(items, items) its rate."""

    @classmethod
    def of(
        cls,
        table: CountTable,
        index: int,
        scheme: RunScheme,
        separable: Separable | None,
        levels: tuple[int, int] | None = None,
        name: str = "",
    ) -> ValidRuns:
        """Find all valid runs; of those that differ only in leaves that do not occur, the smallest is kept.

        With ``levels``, runs must consist of whole blocks of the lower level within one block of the higher one.
        """
        attribute = table.attributes[index]
        order = np.asarray(scheme.order(attribute), dtype=np.int64)
        items = AttributeItems.of(table, index, order, separable)
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
            valid = _between(attribute, order, levels, first, last)
            first, last = first[valid], last[valid]
        occurs = attribute.rows[order] > 0
        before = np.concatenate([[0], np.cumsum(occurs)])
        first_item, last_item = before[first], before[last + 1] - 1
        kept = np.flatnonzero(first_item <= last_item)
        kept = kept[np.argsort((last - first)[kept], kind="stable")[::-1]]  # the smallest last, which stays
        shape = (items.count, items.count)
        begin, end, allowed = (
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape, np.bool_),
        )
        pair = first_item[kept], last_item[kept]
        begin[pair], end[pair], allowed[pair] = first[kept], last[kept], True
        rows = np.concatenate([[0], np.cumsum(attribute.rows[items.leaves])])
        rates = items.rates(end - begin + 1, np.maximum(rows[np.newaxis, 1:] - rows[:-1, np.newaxis], 0))
        return cls(items, order, smallest, begin, end, allowed, rates)

    @property
    def possible(self) -> bool:
        """Whether there is a partition into valid runs; level limits may leave none if nodes are no runs."""
        reached = np.zeros(self.items.count + 1, dtype=np.bool_)
        reached[0] = True
        for last in range(self.items.count):
            reached[last + 1] = (reached[: last + 1] & self.allowed[: last + 1, last]).any()
        return bool(reached[-1])

    def open_all(self) -> OpenRuns:
        """Return all partitions."""
        return OpenRuns(self, np.zeros(self.items.count, dtype=np.int8), self.allowed)


def _between(
    attribute: CodedAttribute, order: Ints, levels: tuple[int, int], first: Ints, last: Ints
) -> NDArray[np.bool_]:
    """Which runs consist of whole blocks of the lower level and lie within one block of the higher one."""
    low, high = (attribute.ancestors[level][order] for level in levels)
    blocks, block = np.unique(low, return_inverse=True)
    begins, ends = np.full(blocks.size, order.size), np.full(blocks.size, -1)
    np.minimum.at(begins, block, np.arange(order.size))
    np.maximum.at(ends, block, np.arange(order.size))
    kept = np.zeros(first.size, dtype=np.bool_)
    for begin in np.unique(first).tolist():
        these = np.flatnonzero(first == begin)
        lowest = np.minimum.accumulate(begins[block[begin:]])[last[these] - begin]
        highest = np.maximum.accumulate(ends[block[begin:]])[last[these] - begin]
        kept[these] = (lowest >= begin) & (highest <= last[these])
        if levels[1] < attribute.height:  # without a root the topmost nodes are no limit
            kept[these] &= np.logical_and.accumulate(high[begin:] == high[begin])[last[these] - begin]
    return kept


class OpenRuns(OpenPartitions):
    """Partitions into allowed runs, with some gaps decided."""

    def __init__(self, space: ValidRuns, gaps: NDArray[np.int8], allowed: Flags) -> None:
        self.space, self.items, self.gaps, self.allowed = space, space.items, gaps, allowed
        self.decided = not (gaps[1:] == OPEN).any()
        size = gaps.size
        self.fine, self.coarse = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        self.first, self.last, self.ends = (np.empty(size, dtype=np.int64) for _ in range(3))
        self.pieces = find_pieces(gaps, self.fine, self.coarse, self.first, self.last, self.ends) if size else 0

    def highest_rates(self) -> Floats:
        """Return the highest rate of an allowed run that holds each item."""
        walk, begin, end = self._walk
        most = np.zeros(self.items.count)
        highest_rates(begin, end, walk.rates, most)
        return most[self.fine]

    def block_rates(self) -> BlockRates:
        """Return the rates of allowed runs."""
        rate = np.where(self.allowed, self.space.rates, np.nan).ravel()
        return BlockRates(True, np.zeros(self.items.count, dtype=np.int64), rate)

    def compatible(self) -> Flags:
        """Return which pieces some allowed run holds both of."""
        _, begin, end = self._walk
        furthest = np.arange(self.pieces)
        np.maximum.at(furthest, begin, end)
        furthest = np.maximum.accumulate(furthest)
        pieces = np.arange(self.pieces)
        above = (pieces <= furthest[:, np.newaxis]) & (pieces >= pieces[:, np.newaxis])
        return above | above.T

    @cached_property
    def _walk(self) -> tuple[BlockWalk, Ints, Ints]:
        """The walk, and the first and last piece of each run it asks for."""
        size = self.pieces * (self.pieces + 1) // 2
        steps, begin, end = (np.empty(n, dtype=np.int64) for n in (4 * size + 4 * self.pieces, size, size))
        length, runs = write_run_walk(self.pieces, self.first, self.last, self.ends, self.allowed, steps, begin, end)
        begin, end = begin[:runs], end[:runs]
        rates = self.space.rates[self.first[begin], self.last[end]]
        return BlockWalk(steps[:length], rates), begin, end

    def walk(self) -> BlockWalk:
        """Return a walk through the allowed runs."""
        return self._walk[0]

    def priced(self, cost: Floats, gone: Floats, room: float = np.inf) -> PricedRuns:
        """Return the runs priced."""
        return PricedRuns(self, *self._walk[1:], cost, gone)

    def fixed(self, blocks: IntArray) -> OpenRuns:
        """Return the one partition with these blocks."""
        gaps = np.zeros(self.items.count, dtype=np.int8)
        gaps[1:] = np.where(blocks[1:] == blocks[:-1], CLOSED, CUT)
        return OpenRuns(self.space, gaps, self.space.allowed)

    def most_general(self) -> Ints:
        """Return a partition into the fewest runs."""
        return self._by_count(1.0)

    def most_specific(self) -> Ints:
        """Return the partition into the most runs."""
        return self._by_count(-1.0)

    def _by_count(self, each: float) -> Ints:
        """The cheapest partition if every run costs the same."""
        fresh = self.space.open_all()
        _, begin, _ = fresh._walk
        return fresh.priced(np.full(begin.size, each), np.zeros(begin.size)).cheapest()

    def leaf_blocks(self, blocks: IntArray) -> Ints:
        """Return the block of each leaf: a run also holds the leaves between its items that do not occur."""
        ends = np.flatnonzero(np.diff(blocks, append=-1))
        begins = np.concatenate([[0], ends[:-1] + 1])
        space = self.space
        members = [space.order[space.begin[b, e] : space.end[b, e] + 1] for b, e in zip(begins, ends, strict=True)]
        return all_leaf_blocks(space.smallest, members)

    def decide(self, gap: int, decision: int) -> OpenRuns:
        """Return the runs with one more gap cut or closed."""
        gaps = self.gaps.copy()
        gaps[gap] = decision
        return OpenRuns(self.space, gaps, self.allowed)


class PricedRuns(PricedPartitions):
    """Runs, by first and last piece, with cost and suppressed rows of each."""

    partitions: OpenRuns

    def __init__(self, partitions: OpenRuns, begin: Ints, end: Ints, cost: Floats, gone: Floats) -> None:
        self.partitions, self.begin, self.end, self.cost, self.gone = partitions, begin, end, cost, gone
        pieces = partitions.pieces
        self.forward, self.backward = np.empty(pieces + 1), np.empty(pieces + 1)
        self.forward_rows, self.backward_rows = np.empty(pieces + 1), np.empty(pieces + 1)
        self.least = cheapest_runs(pieces, begin, end, cost, self.forward, self.backward)
        self.fewest = cheapest_runs(pieces, begin, end, gone, self.forward_rows, self.backward_rows)

    def cheapest(self) -> Ints:
        """Return the block number of each item in the cheapest partition."""
        runs = self.partitions
        gaps = runs.gaps.copy()
        read_runs(runs.pieces, self.begin, self.end, self.cost, self.backward, runs.first, gaps)
        return np.concatenate([[0], np.cumsum(gaps[1:] == CUT)])

    def narrowed(self, room: float, limit: float) -> tuple[OpenRuns, PricedRuns | None] | None:
        """Strike out runs that cost or suppress too much, and decide the gaps they leave no choice for."""
        begin, after, runs = self.begin, self.end + 1, self.partitions
        out = self.forward[begin] + self.cost + self.backward[after] >= room
        out |= self.forward_rows[begin] + self.gone + self.backward_rows[after] > limit
        if not out.any():
            return runs, self
        gaps, allowed = runs.gaps.copy(), runs.allowed.copy()
        decided = decide_gaps(runs.pieces, begin, self.end, out, runs.first, runs.last, gaps, allowed)
        if decided < 0 or out.all():
            return None
        kept = OpenRuns(runs.space, gaps, allowed)
        if decided:
            return kept, None
        return kept, PricedRuns(kept, begin[~out], self.end[~out], self.cost[~out], self.gone[~out])

    def joined(self) -> Floats:
        """Return the cost of the cheapest partition with a run that holds two pieces."""
        least = np.full((self.partitions.pieces,) * 2, np.inf)
        join_runs(self.begin, self.end, self.cost, self.forward, self.backward, least)
        return least

    @cached_property
    def _gaps(self) -> tuple[Floats, Floats, Ints]:
        """Least cost with the gap before each piece closed and cut, and the pieces with an open gap before them."""
        runs = self.partitions
        closed, cut = np.empty(runs.pieces), np.empty(runs.pieces)
        gap_costs(runs.pieces, self.begin, self.end, self.cost, self.forward, self.backward, closed, cut)
        return closed, cut, 1 + np.flatnonzero(runs.gaps[runs.first[1 : runs.pieces]] == OPEN)

    def _stakes(self, room: float) -> Floats:
        """How much more the worse decision of each open gap costs, at most ``room``."""
        closed, cut, open_ = self._gaps
        return np.minimum(np.maximum(closed[open_], cut[open_]) - self.least, room)

    def weight(self, room: float, limit: float) -> float:
        """Return the highest stakes of a gap.

        Without suppression they are divided by the number of open gaps: attributes with few of them come first, since
        classes are too small until all are decided.
        """
        stakes = self._stakes(room)
        return float(stakes.max(initial=0.0)) / (1 if limit else max(stakes.size, 1))

    def size(self) -> int:
        """Return the number of open gaps."""
        return int(self._gaps[2].size)

    def open_gaps(self, room: float) -> tuple[Ints, Ints, Floats]:
        """Return the pieces after the open gaps, the gaps, and the share of ``room`` that cutting and closing cost."""
        closed, cut, open_ = self._gaps
        dearer = np.stack([cut[open_], closed[open_]]) - self.least
        return open_, self.partitions.first[open_], np.minimum(dearer / room, 1.0)

    def divided(self, p: int) -> list[tuple[float, OpenPartitions, int]]:
        """Cut and close the gap before a piece: the cost of the cheapest partition, the runs left, and the decision."""
        closed, cut, _ = self._gaps
        gap = int(self.partitions.first[p])
        both = [(float(cut[p]), CUT), (float(closed[p]), CLOSED)]
        return [(least, self.partitions.decide(gap, decision), decision) for least, decision in both if least < np.inf]

    def branches(self, room: float, limit: float) -> list[tuple[float, OpenPartitions]]:
        """Cut and close the gap with the highest stakes."""
        p = int(self._gaps[2][np.argmax(self._stakes(room))])
        return [(least, runs) for least, runs, _ in self.divided(p)]
