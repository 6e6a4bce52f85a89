"""Partitions from a list: the levels of full-domain, and schemes that only enumerate their partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray
from discreet.errors import UsageError
from discreet.problem import Separable
from discreet.problem.schemes import Scheme
from discreet.runtime.integer_codes import by_appearance
from discreet.solve.partitions.kernels.blocks import RECORD, BlockWalk
from discreet.solve.partitions.open_partitions import AttributeItems, OpenPartitions, PricedPartitions

__all__ = ["ListedPartitions", "PartitionList"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_PARTITIONS = 50_000


@dataclass(frozen=True, eq=False)
class PartitionList:
    """The partitions of one attribute as a list, without those that differ only in leaves that do not occur.

    They are sorted from specific to general.
    """

    items: AttributeItems
    leaf_blocks: list[Ints]
    """(partition) the block of each leaf."""
    partitions: list[Ints]
    """(partition) the block of each item."""
    rates: list[Floats]
    """(partition) the rate of each block."""

    @classmethod
    def of(
        cls, table: CountTable, index: int, scheme: Scheme, levels: Sequence[int] | None, separable: Separable | None
    ) -> PartitionList:
        """List the partitions of a scheme, or the given levels of its hierarchy."""
        attribute = table.attributes[index]
        if levels is None:
            if scheme.count(attribute) > MOST_PARTITIONS:
                raise UsageError(
                    f"The scheme {scheme.name} has more than {MOST_PARTITIONS:,} partitions of '{attribute.name}', "
                    "too many to enumerate; choose another scheme for it.",
                    column=attribute.name,
                    topic="too-large",
                )
            every = [_numbers(partition, attribute.leaves) for partition in scheme.partitions(attribute)]
            order = np.arange(attribute.leaves)
        else:
            every = [np.asarray(attribute.ancestors[level], dtype=np.int64) for level in levels]
            order = np.lexsort(attribute.ancestors)  # the blocks of every level are runs
        items = AttributeItems.of(table, index, order, separable)
        leaf_blocks: list[Ints] = []
        partitions: list[Ints] = []
        rates: list[Floats] = []
        for blocks in sorted(every, key=lambda blocks: -int(blocks.max(initial=0))):
            own = by_appearance(blocks[items.leaves])
            if any((own == other).all() for other in partitions):
                continue
            leaves, rows = np.bincount(blocks), np.bincount(blocks, weights=attribute.rows)
            rate = items.rates(leaves, np.rint(rows).astype(np.int64))
            own_rate = np.zeros(int(own.max(initial=0)) + 1)
            own_rate[own] = rate[blocks[items.leaves]]
            leaf_blocks.append(blocks)
            partitions.append(own)
            rates.append(own_rate)
        return cls(items, leaf_blocks, partitions, rates)

    def open_all(self) -> ListedPartitions:
        """Return the whole list."""
        return ListedPartitions(self, tuple(range(len(self.partitions))))


def _numbers(partition: Sequence[Sequence[int]], leaves: int) -> Ints:
    numbers = np.zeros(leaves, dtype=np.int64)
    for number, block in enumerate(partition):
        numbers[list(block)] = number
    return numbers


class ListedPartitions(OpenPartitions):
    """Some partitions of the list: those with the indices ``left``."""

    def __init__(self, space: PartitionList, left: tuple[int, ...]) -> None:
        self.space, self.items, self.left = space, space.items, left
        self.decided = len(left) == 1
        some = [space.partitions[i] for i in left]
        self.fine = _meet(some)
        self.coarse = self.fine if self.decided else _join_of_runs(some)

    def highest_rates(self) -> Floats:
        """Return the highest rate of a block that holds each item."""
        space = self.space
        return np.asarray(np.max([space.rates[i][space.partitions[i]] for i in self.left], axis=0))

    def compatible(self) -> NDArray[np.bool_]:
        """Return which pieces some block holds both of."""
        first = np.unique(self.fine, return_index=True)[1]
        both = [self.space.partitions[i][first] for i in self.left]
        return np.asarray(np.any([blocks[:, np.newaxis] == blocks for blocks in both], axis=0))

    def walk(self) -> BlockWalk:
        """Return a walk that builds and clears each block of each partition, piece by piece."""
        space = self.space
        steps: list[IntArray] = []
        rates: list[Floats] = []
        first = np.unique(self.fine, return_index=True)[1]
        for i in self.left:
            block_of_piece = space.partitions[i][first]
            for block in range(int(block_of_piece.max(initial=0)) + 1):
                pieces = np.flatnonzero(block_of_piece == block) + 1
                steps += [pieces, np.array([RECORD]), -pieces]
            rates.append(space.rates[i])
        return BlockWalk(np.concatenate(steps).astype(np.int64), np.concatenate(rates))

    def priced(self, cost: Floats, gone: Floats, room: float = np.inf) -> PricedList:
        """Return the partitions priced."""
        ends = np.cumsum([self.space.rates[i].size for i in self.left])[:-1]
        return PricedList(
            self, [float(c.sum()) for c in np.split(cost, ends)], [float(g.sum()) for g in np.split(gone, ends)]
        )

    def fixed(self, blocks: IntArray) -> ListedPartitions:
        """Return the one partition with these blocks."""
        own = by_appearance(blocks)
        index = next(i for i, other in enumerate(self.space.partitions) if (own == other).all())
        return ListedPartitions(self.space, (index,))

    def most_general(self) -> Ints:
        """Return the partition with the fewest blocks."""
        return self.space.partitions[-1]

    def most_specific(self) -> Ints:
        """Return the partition with the most blocks."""
        return self.space.partitions[0]

    def leaf_blocks(self, blocks: IntArray) -> Ints:
        """Return the block of each leaf."""
        return self.space.leaf_blocks[self.fixed(blocks).left[0]]


class PricedList(PricedPartitions):
    """Partitions of a list, each with its cost and suppressed rows."""

    partitions: ListedPartitions

    def __init__(self, partitions: ListedPartitions, costs: list[float], gone: list[float]) -> None:
        self.partitions, self.costs, self.gone = partitions, costs, gone
        self.least, self.fewest = min(costs), min(gone)

    def cheapest(self) -> Ints:
        """Return the block number of each item in the cheapest partition."""
        return self.partitions.space.partitions[self.partitions.left[int(np.argmin(self.costs))]]

    def narrowed(self, room: float, limit: float) -> tuple[OpenPartitions, PricedPartitions | None] | None:
        """Strike out partitions that cost or suppress too much."""
        each = zip(self.partitions.left, self.costs, self.gone, strict=True)
        kept = tuple(i for i, cost, rows in each if cost < room and rows <= limit)
        if not kept:
            return None
        if len(kept) == len(self.partitions.left):
            return self.partitions, self
        return ListedPartitions(self.partitions.space, kept), None

    def joined(self) -> Floats:
        """Return the cost of the cheapest partition in which two pieces share a block."""
        own = self.partitions
        first = np.unique(own.fine, return_index=True)[1]
        blocks = [own.space.partitions[i][first] for i in own.left]
        each = [np.where(b[:, np.newaxis] == b, cost, np.inf) for b, cost in zip(blocks, self.costs, strict=True)]
        return np.asarray(np.min(each, axis=0))

    def weight(self, room: float, limit: float) -> float:
        """Return a number that falls with the number of partitions."""
        return 0.0 if self.partitions.decided else room / len(self.costs)

    def size(self) -> int:
        """Return the number of partitions beside the cheapest."""
        return len(self.costs) - 1

    def branches(self, room: float, limit: float) -> list[tuple[float, OpenPartitions]]:
        """Return each partition by itself."""
        return [
            (cost, ListedPartitions(self.partitions.space, (i,)))
            for i, cost in zip(self.partitions.left, self.costs, strict=True)
        ]


def _meet(partitions: Sequence[Ints]) -> Ints:
    """The coarsest partition that is finer than all."""
    meet = partitions[0]
    for other in partitions[1:]:
        meet = by_appearance(meet * (int(other.max(initial=0)) + 1) + other)
    return meet


def _join_of_runs(partitions: Sequence[Ints]) -> Ints:
    """The finest partition into runs of items that is coarser than all."""
    if not partitions[0].size:
        return partitions[0]
    cut = np.ones(partitions[0].size - 1, dtype=np.bool_)
    for other in partitions:
        for block in range(int(other.max()) + 1):
            members = np.flatnonzero(other == block)
            cut[members[0] : members[-1]] = False
    return np.concatenate([[0], np.cumsum(cut)])
