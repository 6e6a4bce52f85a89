"""Choices from a list of partitions: the levels of full-domain, and any scheme that only names its partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import by_appearance
from discreet.counts import CountTable, IntArray
from discreet.errors import UsageError
from discreet.kernels.blocks import RECORD
from discreet.problem import Separable
from discreet.problem.schemes import Scheme
from discreet.solve._choices import Choices, Items, Priced, Script

__all__ = ["ListSpace", "Listed"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_PARTITIONS = 50_000


@dataclass(frozen=True, eq=False)
class ListSpace:
    """The partitions of one attribute as a list, those that differ only in leaves that do not occur as one."""

    items: Items
    leaf_blocks: list[Ints]
    """Of each partition: the block of each leaf."""
    partitions: list[Ints]
    """Of each partition: the block of each item."""
    rates: list[Floats]
    """Of each partition: the rate of each block of items."""

    @classmethod
    def of(
        cls, table: CountTable, index: int, scheme: Scheme, levels: Sequence[int] | None, separable: Separable | None
    ) -> ListSpace:
        """List the partitions of a scheme, or the levels given."""
        attribute = table.attributes[index]
        if levels is None:
            if scheme.count(attribute) > MOST_PARTITIONS:
                raise UsageError(
                    f"The scheme {scheme.name} has more than {MOST_PARTITIONS:,} partitions of '{attribute.name}', "
                    "too many to go through one by one; choose another scheme for it.",
                    column=attribute.name,
                    topic="too-large",
                )
            every = [_numbers(partition, attribute.leaves) for partition in scheme.partitions(attribute)]
            order = np.arange(attribute.leaves)
        else:
            every = [np.asarray(attribute.ancestors[level], dtype=np.int64) for level in levels]
            order = np.lexsort(attribute.ancestors)  # the blocks of every level are runs
        items = Items.of(table, index, order, separable)
        leaf_blocks: list[Ints] = []
        partitions: list[Ints] = []
        rates: list[Floats] = []
        for blocks in sorted(every, key=lambda blocks: -int(blocks.max(initial=0))):
            ours = by_appearance(blocks[items.leaves])
            if any((ours == other).all() for other in partitions):
                continue
            leaves, rows = np.bincount(blocks), np.bincount(blocks, weights=attribute.rows)
            rate = items.rates(leaves, np.rint(rows).astype(np.int64))
            own = np.zeros(int(ours.max(initial=0)) + 1)
            own[ours] = rate[blocks[items.leaves]]
            leaf_blocks.append(blocks)
            partitions.append(ours)
            rates.append(own)
        return cls(items, leaf_blocks, partitions, rates)

    def open(self) -> Listed:
        """Return all partitions."""
        return Listed(self, tuple(range(len(self.partitions))))


def _numbers(partition: Sequence[Sequence[int]], leaves: int) -> Ints:
    numbers = np.zeros(leaves, dtype=np.int64)
    for number, block in enumerate(partition):
        numbers[list(block)] = number
    return numbers


class Listed(Choices):
    """Some partitions of the list."""

    def __init__(self, space: ListSpace, left: tuple[int, ...]) -> None:
        self.space, self.items, self.left = space, space.items, left
        self.decided = len(left) == 1
        some = [space.partitions[i] for i in left]
        self.fine = _met(some)
        self.top = self.fine if self.decided else _joined(some)

    def most_rates(self) -> Floats:
        """Return the largest rate of a block with each item."""
        space = self.space
        return np.asarray(np.max([space.rates[i][space.partitions[i]] for i in self.left], axis=0))

    def near(self) -> NDArray[np.bool_]:
        """Return which pieces a block holds both."""
        first = np.unique(self.fine, return_index=True)[1]
        both = [self.space.partitions[i][first] for i in self.left]
        return np.asarray(np.any([blocks[:, np.newaxis] == blocks for blocks in both], axis=0))

    def script(self) -> Script:
        """Return how to put together and take apart each block of each partition, piece by piece."""
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
        return Script(np.concatenate(steps).astype(np.int64), np.concatenate(rates))

    def priced(self, cost: Floats, gone: Floats, room: float = np.inf) -> PricedList:
        """Find the cheapest partition."""
        ends = np.cumsum([self.space.rates[i].size for i in self.left])[:-1]
        return PricedList(
            self, [float(c.sum()) for c in np.split(cost, ends)], [float(g.sum()) for g in np.split(gone, ends)]
        )

    def fixed(self, blocks: IntArray) -> Listed:
        """Return the one partition with these blocks."""
        ours = by_appearance(blocks)
        return Listed(self.space, next((i,) for i, other in enumerate(self.space.partitions) if (ours == other).all()))

    def most_general(self) -> Ints:
        """Return the partition with the fewest blocks."""
        return self.space.partitions[-1]

    def most_specific(self) -> Ints:
        """Return the partition with the most blocks."""
        return self.space.partitions[0]

    def leaf_blocks(self, blocks: IntArray) -> Ints:
        """Return the block of each leaf."""
        return self.space.leaf_blocks[self.fixed(blocks).left[0]]


class PricedList(Priced):
    """Partitions of a list and what each costs."""

    choices: Listed

    def __init__(self, choices: Listed, costs: list[float], gone: list[float]) -> None:
        self.choices, self.costs, self.gone = choices, costs, gone
        self.least, self.fewest = min(costs), min(gone)

    def cheapest(self) -> Ints:
        """Return the block number of each item in the cheapest partition."""
        return self.choices.space.partitions[self.choices.left[int(np.argmin(self.costs))]]

    def restricted(self, room: float, limit: float) -> tuple[Choices, Priced | None] | None:
        """Leave out partitions that are too dear or lose too many rows."""
        each = zip(self.choices.left, self.costs, self.gone, strict=True)
        kept = tuple(i for i, cost, rows in each if cost < room and rows <= limit)
        if not kept:
            return None
        if len(kept) == len(self.choices.left):
            return self.choices, self
        return Listed(self.choices.space, kept), None

    def weight(self, room: float) -> float:
        """Return a number that is larger for fewer partitions."""
        return 0.0 if self.choices.decided else room / len(self.costs)

    def size(self) -> int:
        """Return the number of other partitions than the cheapest."""
        return len(self.costs) - 1

    def branches(self, room: float, limit: float) -> list[tuple[float, Choices]]:
        """Return the partitions one by one."""
        return [(cost, Listed(self.choices.space, (i,))) for i, cost in zip(self.choices.left, self.costs, strict=True)]


def _met(partitions: Sequence[Ints]) -> Ints:
    """The coarsest partition that is finer than all."""
    met = partitions[0]
    for other in partitions[1:]:
        met = by_appearance(met * (int(other.max(initial=0)) + 1) + other)
    return met


def _joined(partitions: Sequence[Ints]) -> Ints:
    """The finest partition into runs that is coarser than all."""
    if not partitions[0].size:
        return partitions[0]
    cut = np.ones(partitions[0].size - 1, dtype=np.bool_)
    for other in partitions:
        for block in range(int(other.max()) + 1):
            inside = np.flatnonzero(other == block)
            cut[inside[0] : inside[-1]] = False
    return np.concatenate([[0], np.cumsum(cut)])
