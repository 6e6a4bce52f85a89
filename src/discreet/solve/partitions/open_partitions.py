"""The partitions of one attribute that are still open at a node of the search.

See README.md for the vocabulary. Subclasses cover the schemes: :mod:`listed` (a list of partitions), :mod:`runs`,
:mod:`sets` and :mod:`large_sets`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, CountTable, IntArray
from discreet.problem import Separable
from discreet.runtime.integer_codes import by_appearance
from discreet.solve.partitions.kernels.blocks import RECORD, BlockWalk

__all__ = [
    "AttributeItems",
    "BlockRates",
    "OnePartition",
    "OpenPartitions",
    "PriceMemory",
    "PricedPartitions",
    "all_leaf_blocks",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_CACHED = ("_walk", "_most")
"""Large attributes that can be computed again."""


@dataclass(frozen=True, eq=False)
class AttributeItems:
    """The leaves of one attribute that occur, in the order its scheme needs.

    ``leaves[i]`` is the leaf of item ``i``; ``codes[j]`` the item of tuple ``j``.
    """

    index: int
    attribute: CodedAttribute
    leaves: Ints
    codes: Ints
    separable: Separable | None

    @classmethod
    def of(cls, table: CountTable, index: int, order: IntArray, separable: Separable | None) -> AttributeItems:
        """Return the leaves that occur, in the order given."""
        attribute = table.attributes[index]
        leaves = np.asarray(order, dtype=np.int64)[attribute.rows[order] > 0]
        item = np.full(attribute.leaves, -1, dtype=np.int64)
        item[leaves] = np.arange(leaves.size)
        return cls(index, attribute, leaves, item[table.codes[index]], separable)

    @property
    def count(self) -> int:
        """The number of items."""
        return int(self.leaves.size)

    def rates(self, leaves: IntArray, rows: IntArray) -> Floats:
        """Return the rates of blocks with so many leaves and rows: their cost per unit of moment."""
        if self.separable is None or self.separable.block_rate is None:
            return np.zeros(np.shape(leaves))
        return np.asarray(self.separable.block_rate(self.index, leaves, rows), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class BlockRates:
    """The rates of all blocks of an attribute in one array, for annealing.

    With ``runs``, the run from item i to j of n has the rate at i * n + j; otherwise a block has the rate at the sum of
    its items' ``measure``. NaN means that the block is not allowed.
    """

    runs: bool
    measure: IntArray
    rate: Floats


class PriceMemory(ABC):
    """Prices of a node kept for its children, to narrow their partitions before they are priced."""

    least: float

    @abstractmethod
    def narrowed(self, room: float) -> OpenPartitions | None:
        """Return the partitions without blocks that cost ``room`` or more; None if nothing is left."""


class PricedPartitions(ABC):
    """The open partitions of one attribute, with the price of each block."""

    partitions: OpenPartitions
    least: float
    """Cost of the cheapest partition left."""
    fewest: float
    """Fewest rows that any partition left suppresses."""

    @abstractmethod
    def cheapest(self) -> Ints:
        """Return the block number of each item in the cheapest partition."""

    def narrowed(self, room: float, limit: float) -> tuple[OpenPartitions, PricedPartitions | None] | None:
        """Strike out blocks with which every partition costs ``room`` or more, or suppresses more than the limit.

        Returns what is left and its prices, None for the prices if they must be found anew because something was
        decided; or None if nothing is left.
        """
        return self.partitions, self

    def joined(self) -> Floats | None:
        """Return what the cheapest partition costs in which two pieces share a block, as a matrix.

        Infinite if there is none. None by default, if the prices of blocks do not decide.
        """
        return None

    def memory(self) -> PriceMemory | None:
        """Return what is worth keeping for children; None by default."""
        return None

    def weight(self, room: float, limit: float) -> float:
        """Return how much branching on this attribute is expected to help; 0 if it is not branched on."""
        return 0.0

    def size(self) -> int:
        """Return the number of open decisions."""
        return 0

    def branches(self, room: float, limit: float) -> list[tuple[float, OpenPartitions]]:
        """Divide what is left, each branch with the cost of its cheapest partition."""
        return [(self.least, self.partitions)]


class OpenPartitions(ABC):
    """A set of partitions of one attribute's items.

    ``fine`` and ``coarse`` give the block number of each item in two partitions that enclose the set: every open
    partition is coarser than ``fine`` and finer than ``coarse``. The blocks of ``fine`` are the *pieces*. ``decided``
    says that one partition is left.
    """

    items: AttributeItems
    fine: Ints
    coarse: Ints
    decided: bool

    @cached_property
    def fine_blocks(self) -> int:
        """The number of blocks of ``fine``."""
        return int(self.fine.max(initial=0)) + 1

    @cached_property
    def coarse_blocks(self) -> int:
        """The number of blocks of ``coarse``."""
        return int(self.coarse.max(initial=0)) + 1

    @abstractmethod
    def highest_rates(self) -> Floats:
        """Return for each item the highest rate of a block it may still be in."""

    def forget(self) -> None:
        """Drop what can be computed again, while the node waits."""
        for name in _CACHED:
            self.__dict__.pop(name, None)

    @abstractmethod
    def compatible(self) -> NDArray[np.bool_]:
        """Return which pieces may share a block, as a matrix."""

    @cached_property
    def separation(self) -> float:
        """The share of pairs of rows within a block of ``coarse`` that can never share a block."""
        first = np.unique(self.fine, return_index=True)[1]
        rows = np.bincount(self.fine, weights=self.items.attribute.rows[self.items.leaves])
        coarse = self.coarse[first]
        pairs = (coarse[:, np.newaxis] == coarse) * rows * rows[:, np.newaxis]
        return 1.0 - float((pairs * self.compatible()).sum() / pairs.sum())

    def block_rates(self) -> BlockRates | None:
        """Return the rates of the blocks that are left; None by default, if blocks are not exchanged one by one."""
        return None

    @abstractmethod
    def walk(self) -> BlockWalk:
        """Return a walk through all open blocks."""

    @abstractmethod
    def priced(self, cost: Floats, gone: Floats, room: float = np.inf) -> PricedPartitions:
        """Return the partitions priced: cost and suppressed rows of each block of the walk.

        Partitions that cost ``room`` or more are of no interest.
        """

    def floor(self, cost: Floats) -> float:
        """Return a lower bound of the cheapest partition with these prices, found fast."""
        return self.priced(cost, np.zeros_like(cost)).least

    @abstractmethod
    def fixed(self, blocks: IntArray) -> OpenPartitions:
        """Return the one partition with these blocks, out of all partitions of the scheme."""

    @abstractmethod
    def most_general(self) -> Ints:
        """Return the block of each item in the most general partition of the scheme."""

    @abstractmethod
    def most_specific(self) -> Ints:
        """Return the block of each item in the most specific partition of the scheme."""

    @abstractmethod
    def leaf_blocks(self, blocks: IntArray) -> Ints:
        """Return the block number of every leaf, also of those that do not occur."""


class OnePartition(OpenPartitions):
    """One partition of ``scheme``, with blocks numbered by first appearance: what open sets come down to."""

    decided = True

    def __init__(self, scheme: OpenPartitions, blocks: Ints, rates: Floats) -> None:
        self.scheme, self.items, self.fine, self.coarse, self.rates = scheme, scheme.items, blocks, blocks, rates

    def highest_rates(self) -> Floats:
        """Return the rate of each item's block."""
        return self.rates[self.fine]

    def compatible(self) -> NDArray[np.bool_]:
        """Return that no two blocks are compatible."""
        return np.eye(self.fine_blocks, dtype=np.bool_)

    def walk(self) -> BlockWalk:
        """Return a walk through the blocks."""
        block = np.arange(1, self.fine_blocks + 1)
        return BlockWalk(np.stack([block, np.full_like(block, RECORD), -block], axis=1).reshape(-1), self.rates)

    def priced(self, cost: Floats, gone: Floats, room: float = np.inf) -> PricedPartitions:
        """Return the partition with the sum of its blocks' costs."""
        return _OnePriced(self, cost, gone)

    def fixed(self, blocks: IntArray) -> OpenPartitions:
        """Return another partition of the scheme."""
        return self.scheme.fixed(blocks)

    def most_general(self) -> Ints:
        """Return the most general partition of the scheme."""
        return self.scheme.most_general()

    def most_specific(self) -> Ints:
        """Return the most specific partition of the scheme."""
        return self.scheme.most_specific()

    def leaf_blocks(self, blocks: IntArray) -> Ints:
        """Return the block of each leaf."""
        return self.scheme.leaf_blocks(blocks)


class _OnePriced(PricedPartitions):
    """One partition and its cost."""

    def __init__(self, partitions: OnePartition, cost: Floats, gone: Floats) -> None:
        self.partitions, self.least, self.fewest = partitions, float(cost.sum()), float(gone.sum())

    def cheapest(self) -> Ints:
        """Return the partition."""
        return self.partitions.fine

    def narrowed(self, room: float, limit: float) -> tuple[OpenPartitions, PricedPartitions | None] | None:
        """Return the partition if it is cheap enough."""
        return (self.partitions, self) if self.least < room and self.fewest <= limit else None


def all_leaf_blocks(smallest: IntArray, members: Sequence[Any]) -> Ints:
    """Return the block number of every leaf: those of ``members`` form blocks, others stay in their smallest one."""
    numbers = np.array(smallest, dtype=np.int64)
    for number, block in enumerate(members):
        numbers[np.asarray(block)] = numbers.size + number
    return by_appearance(numbers)
