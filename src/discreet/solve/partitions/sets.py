"""Partitions into sets of items: the schemes set and guided-set, for up to 16 values that occur."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, CountTable, IntArray
from discreet.problem import Separable
from discreet.problem.schemes import SetScheme
from discreet.runtime.integer_codes import by_appearance
from discreet.solve.partitions.kernels.blocks import BlockWalk
from discreet.solve.partitions.kernels.sets import (
    SetPrices,
    cheapest_sets,
    join_sets,
    least_shares,
    list_partitions,
    read_sets,
    write_set_walk,
)
from discreet.solve.partitions.open_partitions import (
    AttributeItems,
    BlockRates,
    OnePartition,
    OpenPartitions,
    PricedPartitions,
    PriceMemory,
    all_leaf_blocks,
)

__all__ = ["MOST_ITEMS", "OpenSets", "ValidSets", "level_blocks", "smallest_block"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_ITEMS = 16
"""More items have too many subsets to visit all of them."""
_ROUNDING = 1e-12
_AT_ONCE = 2000
"""A node branches into at most this many single partitions."""


@dataclass(frozen=True, eq=False)
class ValidSets:
    """The valid sets of one attribute's items. A set is a number whose bits are the items."""

    items: AttributeItems
    scheme: SetScheme
    sets: Ints
    """In the order of a Gray code, in which neighbours differ in few items: the order of a walk."""
    rates: Floats
    """(2^items,) by set."""
    levels: tuple[int, int]
    """Blocks consist of whole nodes of the first level, within one node of the second."""

    @classmethod
    def of(
        cls, table: CountTable, index: int, scheme: SetScheme, separable: Separable | None, levels: tuple[int, int]
    ) -> ValidSets:
        """Find all valid sets. Items with few tuples come first, as they enter and leave the walk most often."""
        attribute = table.attributes[index]
        tuples = np.bincount(table.codes[index], minlength=attribute.leaves)
        items = AttributeItems.of(table, index, np.argsort(tuples, kind="stable"), separable)
        sets, leaves = scheme.sets(attribute, items.leaves.tolist())
        if levels != (0, attribute.height):
            sets = sets[_between(items, levels, sets)]
            members = (items.leaves[inside] for inside in _members(sets, items.count).T == 1)
            leaves = np.array([len(smallest_block(scheme, attribute, block, levels[0])) for block in members])
        rows = attribute.rows[items.leaves] @ _members(sets, items.count)
        rates = np.zeros(1 << items.count)
        rates[sets] = items.rates(leaves, rows)
        rank = sets.copy()  # its position in the Gray code: the exclusive or of all its shifts
        for shift in (1, 2, 4, 8):
            rank ^= rank >> shift
        return cls(items, scheme, sets[np.argsort(rank, kind="stable")].astype(np.int64), rates, levels)

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """The most specific and the most general partition."""
        return level_blocks(self.items, self.levels)

    @cached_property
    def weights(self) -> Floats:
        """The rows of each item."""
        return self.items.attribute.rows[self.items.leaves].astype(np.float64)

    def open_all(self) -> OpenSets:
        """Return all partitions."""
        return OpenSets(self, self.sets)


class OpenSets(OpenPartitions):
    """Partitions into the sets left."""

    def __init__(self, space: ValidSets, sets: Ints) -> None:
        self.space, self.items, self.sets = space, space.items, sets
        self.decided = self.items.count < 2
        self.fine = np.arange(self.items.count, dtype=np.int64)
        self.coarse = space.ends[1]

    def highest_rates(self) -> Floats:
        """Return the highest rate of a set that holds each item."""
        return self._most

    def block_rates(self) -> BlockRates:
        """Return the rates of the sets left; the measure of a set is the set itself."""
        rate = np.full(1 << self.items.count, np.nan)
        rate[self.sets] = self.space.rates[self.sets]
        return BlockRates(False, 1 << np.arange(self.items.count), rate)

    def compatible(self) -> NDArray[np.bool_]:
        """Return which items some set holds both of."""
        members = _members(self.sets, self.items.count)
        return members @ members.T > 0

    @cached_property
    def _most(self) -> Floats:
        members = _members(self.sets, self.items.count)
        return np.asarray(np.where(members == 1, self.space.rates[self.sets], 0.0).max(axis=1))

    def walk(self) -> BlockWalk:
        """Return a walk through the sets left."""
        sets = self.sets
        changes = np.bitwise_count(sets ^ np.concatenate([[0], sets[:-1]])).sum() + self.fine_blocks + sets.size
        steps = np.empty(int(changes), dtype=np.int64)
        return BlockWalk(steps[: write_set_walk(sets, self.fine_blocks, steps)], self.space.rates[sets])

    def only(self, kept: IntArray) -> OpenSets:
        """Return the sets without those not listed, in the order of the walk."""
        listed = np.zeros(1 << self.items.count, dtype=np.bool_)
        listed[kept] = True
        return OpenSets(self.space, self.sets[listed[self.sets]])

    def priced(self, cost: Floats, gone: Floats, room: float = np.inf) -> PricedPartitions:
        """Return the sets priced."""
        return PricedSets(self, cost, gone, room)

    def floor(self, cost: Floats) -> float:
        """Return the sum of what each item must cost at least."""
        least = float(least_shares(self.items.count, self.space.weights, self.sets, cost, False).sum())
        return least - _ROUNDING * abs(least)

    def fixed(self, blocks: IntArray) -> OnePartition:
        """Return the one partition with these blocks."""
        own = by_appearance(blocks)
        sets = np.bincount(own, weights=1 << np.arange(own.size)).astype(np.int64)
        return OnePartition(self.space.open_all(), own, self.space.rates[sets])

    def most_general(self) -> Ints:
        """Return one block of all items, or those of the highest level."""
        return self.space.ends[1]

    def most_specific(self) -> Ints:
        """Return one block per item, or those of the lowest level."""
        return self.space.ends[0]

    def leaf_blocks(self, blocks: IntArray) -> Ints:
        """Return the block of each leaf; a set may have to hold leaves that do not occur."""
        attribute, low = self.items.attribute, self.space.levels[0]
        members = [self.items.leaves[blocks == b] for b in range(int(blocks.max(initial=0)) + 1)]
        return all_leaf_blocks(
            attribute.ancestors[low],
            [smallest_block(self.space.scheme, attribute, block, low) for block in members if block.size > 1 or low],
        )


class PricedSets(PricedPartitions):
    """Sets, with cost and suppressed rows of each.

    If even the shares of the items exceed ``room`` nothing else is computed, as the node is pruned.
    """

    partitions: OpenSets

    def __init__(self, partitions: OpenSets, cost: Floats, gone: Floats, room: float) -> None:
        self.partitions = partitions
        self.count = partitions.items.count
        if partitions.floor(cost) >= room:
            self.least, self.fewest = np.inf, 0.0
            return
        self.sets = np.sort(partitions.sets)
        self.starts = np.searchsorted(self.sets, 1 << np.arange(self.count + 1)).astype(np.int64)
        everything = 1 << self.count
        self.cost, self.gone = np.empty(everything), np.zeros(everything)
        self.cost[partitions.sets], self.gone[partitions.sets] = cost, gone
        self.best, self.least, self.whole = self._cheapest(self.cost, room)
        self.rows, self.fewest, self.whole_rows = np.zeros(everything), 0.0, np.zeros(self.sets.size)
        if gone.any():
            self.rows, self.fewest, self.whole_rows = self._cheapest(self.gone, np.inf)

    def _cheapest(self, cost: Floats, room: float) -> tuple[Floats, float, Floats]:
        """Least cost of what is left, by set; of all items; and of all items with each set."""
        best, whole = np.empty(cost.size), np.empty(self.sets.size)
        weights = self.partitions.space.weights
        least = cheapest_sets(self.count, weights, self.sets, self.starts, cost, room, best, whole)
        return best, least, whole

    def cheapest(self) -> Ints:
        """Return the block number of each item in the cheapest partition."""
        block = np.zeros(self.count, dtype=np.int64)
        read_sets(self.count, self.sets, self.starts, self.cost, self.best, block)
        return block

    def narrowed(self, room: float, limit: float) -> tuple[OpenPartitions, PricedPartitions | None] | None:
        """Strike out sets that cost or suppress too much."""
        kept = (self.whole < room) & (self.whole_rows <= limit)
        if kept.all():
            return self.partitions, self
        if not kept.any():
            return None
        less = copy(self)  # costs of partitions stay as they were: still lower bounds
        less.sets, less.whole, less.whole_rows = self.sets[kept], self.whole[kept], self.whole_rows[kept]
        less.starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        less.partitions = self.partitions.only(less.sets)
        return less.partitions, less

    def joined(self) -> Floats:
        """Return the cost of the cheapest partition with a set that holds two items."""
        least = np.full((self.count, self.count), np.inf)
        join_sets(self.sets, self.whole, least)
        return least

    def memory(self) -> PriceMemory:
        """Return the cost of the cheapest partition with each set."""
        return _SetMemory(self.partitions, self.sets, self.whole, self.least)

    def weight(self, room: float, limit: float) -> float:
        """Return a number that falls with the number of items."""
        return room / self.count

    def size(self) -> int:
        """Return the number of items that may join others."""
        return self.count - 1

    def branches(self, room: float, limit: float) -> list[tuple[float, OpenPartitions]]:
        """Return the partitions that cost less than ``room``, or two branches if there are too many of them."""
        blocks, costs = np.empty((_AT_ONCE, self.count), dtype=np.int64), np.empty(_AT_ONCE)
        prices = SetPrices(self.sets, self.starts, self.cost, self.gone, self.best, self.rows)
        found = list_partitions(self.count, prices, room, limit, blocks, costs)
        if found < 0:
            return self._by_pair()
        return [(float(costs[f]), self.partitions.fixed(blocks[f])) for f in range(found)]

    def _by_pair(self) -> list[tuple[float, OpenPartitions]]:
        """Join two items, or separate them: the pair for which the sets left disagree most."""
        members = _members(self.sets, self.count).T
        both = members.T @ members
        either = np.diag(both)[:, np.newaxis] + np.diag(both) - 2 * both
        i, j = np.unravel_index(np.argmax(np.minimum(both, either)), both.shape)
        joined, separated = members[:, i] & members[:, j] == 1, members[:, i] != members[:, j]
        branches: list[tuple[float, OpenPartitions]] = []
        for wanted, unwanted in ((joined, separated), (separated, joined)):
            branches.append((float(self.whole[wanted].min()), self.partitions.only(self.sets[~unwanted])))
        return branches


class _SetMemory(PriceMemory):
    """The cost of the cheapest partition with each set."""

    def __init__(self, partitions: OpenSets, sets: Ints, whole: Floats, least: float) -> None:
        self.partitions, self.sets, self.whole, self.least = partitions, sets, whole, least

    def narrowed(self, room: float) -> OpenPartitions | None:
        """Return the partitions without sets that cost too much."""
        kept = self.partitions.only(self.sets[self.whole < room])
        return kept if kept.sets.size else None


def level_blocks(items: AttributeItems, levels: tuple[int, int]) -> tuple[Ints, Ints]:
    """Return the block of each item in the most specific and the most general partition within two levels."""
    ancestors = items.attribute.ancestors[:, items.leaves]
    top = ancestors[levels[1]] if levels[1] < items.attribute.height else np.zeros(items.count, dtype=np.int64)
    return by_appearance(ancestors[levels[0]]), by_appearance(top)


def smallest_block(scheme: SetScheme, attribute: CodedAttribute, leaves: IntArray, low: int) -> tuple[int, ...]:
    """Return the smallest valid block that holds the nodes of a level above some leaves."""
    if low:
        leaves = np.flatnonzero(np.isin(attribute.ancestors[low], attribute.ancestors[low][leaves]))
    return scheme.closure(attribute, leaves.tolist())


def _between(items: AttributeItems, levels: tuple[int, int], sets: IntArray) -> NDArray[np.bool_]:
    """Which sets consist of whole blocks of the lower level and lie within one block of the higher one."""
    low, high = level_blocks(items, levels)
    masks = [np.bincount(blocks, weights=1 << np.arange(items.count)).astype(np.int64) for blocks in (low, high)]
    inside = np.any([sets & ~mask == 0 for mask in masks[1]], axis=0)
    return np.asarray(inside & np.all([(sets & mask == 0) | (sets & mask == mask) for mask in masks[0]], axis=0))


def _members(sets: IntArray, items: int) -> Ints:
    """Return (items, sets) 1 where a set holds an item, else 0."""
    return np.asarray(sets >> np.arange(items)[:, np.newaxis] & 1)
