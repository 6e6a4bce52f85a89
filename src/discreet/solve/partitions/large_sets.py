"""Set partitions of attributes too large to enumerate.

They are not searched. The lower bound is found value by value: a value is alone, or shares a block with at least one
other. The incumbent is the best partition into runs or, for the scheme ``set``, what annealing makes of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray
from discreet.problem import Separable
from discreet.problem.schemes import RunScheme, SetScheme
from discreet.runtime.integer_codes import add_up, by_appearance
from discreet.solve.partitions.kernels.blocks import BlockWalk
from discreet.solve.partitions.open_partitions import (
    AttributeItems,
    BlockRates,
    OnePartition,
    OpenPartitions,
    PricedPartitions,
    all_leaf_blocks,
)
from discreet.solve.partitions.runs import OpenRuns, PricedRuns, ValidRuns
from discreet.solve.partitions.sets import level_blocks, smallest_block

__all__ = ["LargeSets"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class LargeSets(OpenPartitions):
    """All partitions of many items into sets; only those into runs are visited."""

    decided = False

    def __init__(
        self,
        table: CountTable,
        index: int,
        scheme: SetScheme,
        runs: RunScheme,
        separable: Separable | None,
        levels: tuple[int, int],
    ) -> None:
        self.scheme, self.levels = scheme, levels
        limited = levels != (0, table.attributes[index].height)
        self.runs: OpenRuns = ValidRuns.of(
            table, index, runs, separable, levels if limited else None, scheme.name
        ).open_all()
        self.items: AttributeItems = self.runs.items
        self.fine = np.arange(self.items.count, dtype=np.int64)
        self.specific, self.coarse = level_blocks(self.items, levels)
        attribute, items = self.items.attribute, self.items
        self.rows = attribute.rows[items.leaves]
        self.joined = items.rates(np.full(items.count, 2), self.rows + _smallest_other(self.rows))
        """(items,) the lowest rate of a value that shares its block."""
        if limited:  # a value may be alone in a block that is no run
            self.joined = items.rates(np.ones(items.count, dtype=np.int64), self.rows)
        self.widest = float(items.rates(np.array([attribute.leaves]), np.array([table.n]))[0])
        columns = [np.bincount(items.codes, weights=table.weights * m[table.codes[index]]) for m in _moments(items)]
        self.moment, self.offset = columns

    def highest_rates(self) -> Floats:
        """Return the rate of one block of all leaves."""
        return np.full(self.items.count, self.widest)

    def block_rates(self) -> BlockRates | None:
        """Return the rates of all sets, by their leaves or their rows; None if neither decides or not all are valid."""
        leaves, n = self.items.attribute.leaves, int(self.rows.sum())
        if self.scheme.uses_hierarchy or self.levels != (0, self.items.attribute.height):
            return None
        sizes, rows = np.arange(leaves + 1), np.arange(n + 1)
        by_leaves = [self.items.rates(sizes, np.full_like(sizes, same)) for same in (1, n)]
        if np.array_equal(by_leaves[0], by_leaves[1], equal_nan=True):
            return BlockRates(False, np.ones(self.items.count, dtype=np.int64), by_leaves[0])
        by_rows = [self.items.rates(np.full_like(rows, same), rows) for same in (1, leaves)]
        if np.array_equal(by_rows[0], by_rows[1], equal_nan=True):
            return BlockRates(False, self.rows.astype(np.int64), by_rows[0])
        return None

    def compatible(self) -> NDArray[np.bool_]:
        """Return that any two values may share a block."""
        return np.ones((self.items.count, self.items.count), dtype=np.bool_)

    def walk(self) -> BlockWalk:
        """Return a walk through the runs."""
        return self.runs.walk()

    def priced(self, cost: Floats, gone: Floats, room: float = np.inf) -> PricedPartitions:
        """Return the lower bound of all values, and the runs priced."""
        return _PricedLargeSets(self, self.runs.priced(cost, gone))

    def fixed(self, blocks: IntArray) -> OpenPartitions:
        """Return the one partition with these blocks."""
        own = by_appearance(blocks)
        leaves = np.array([len(block) for block in self._blocks(own)])
        rows = add_up(own, self.rows)
        return OnePartition(self, own, self.items.rates(leaves, rows))

    def most_general(self) -> Ints:
        """Return one block of all items, or those of the highest level."""
        return self.coarse

    def most_specific(self) -> Ints:
        """Return one block per item, or those of the lowest level."""
        return self.specific

    def leaf_blocks(self, blocks: IntArray) -> Ints:
        """Return the block of each leaf; a set may have to hold leaves that do not occur."""
        return all_leaf_blocks(self.items.attribute.ancestors[self.levels[0]], self._blocks(blocks))

    def _blocks(self, blocks: IntArray) -> list[tuple[int, ...]]:
        """The leaves of each block."""
        order = np.argsort(blocks, kind="stable")
        members = np.split(self.items.leaves[order], np.cumsum(np.bincount(blocks))[:-1])
        return [smallest_block(self.scheme, self.items.attribute, block, self.levels[0]) for block in members]


class _PricedLargeSets(PricedPartitions):
    """What each value costs at least, and the runs priced."""

    partitions: LargeSets

    def __init__(self, partitions: LargeSets, runs: PricedRuns) -> None:
        self.partitions, self.runs = partitions, runs
        single = runs.begin == runs.end
        alone = np.full(partitions.items.count, np.inf)
        alone[runs.begin[single]] = runs.cost[single]
        joined = partitions.joined * partitions.moment + partitions.offset
        self.least = float(np.minimum(alone, np.maximum(joined, 0.0)).sum())
        self.fewest = 0.0

    def cheapest(self) -> Ints:
        """Return the cheapest partition into runs, or the most general one if none is allowed."""
        return self.runs.cheapest() if np.isfinite(self.runs.least) else self.partitions.most_general()


def _smallest_other(rows: IntArray) -> IntArray:
    """The smallest of the other numbers, for each."""
    least = int(np.argmin(rows))
    smallest = np.full(rows.size, rows[least])
    smallest[least] = np.delete(rows, least).min(initial=rows[least] if rows.size == 1 else rows.max())
    return smallest


def _moments(items: AttributeItems) -> tuple[Floats, Floats]:
    """The moment and offset of each leaf; zeros where the cost is not separable."""
    form, leaves = items.separable, items.attribute.leaves
    if form is None or form.block_rate is None:
        return np.zeros(leaves), np.zeros(leaves)
    return form.moment[items.index], form.offset[items.index]
