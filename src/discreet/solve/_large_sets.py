"""Choices among partitions into sets of more items than sets can be gone through of.

Such partitions are not searched. What they cost at least is found value by value: a value is either alone, or shares a
block with at least one other. The best partition into runs is taken for the best one found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import add_up, by_appearance
from discreet.counts import CountTable, IntArray
from discreet.problem import Separable
from discreet.problem.schemes import RunScheme, SetScheme
from discreet.solve._choices import Choices, Items, Priced, Script, covered
from discreet.solve._one import OnePartition
from discreet.solve._runs import PricedRuns, Runs, RunSpace

__all__ = ["LargeSets"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class LargeSets(Choices):
    """All partitions of many items into sets, of which those into runs are looked at."""

    decided = False

    def __init__(
        self, table: CountTable, index: int, scheme: SetScheme, runs: RunScheme, separable: Separable | None
    ) -> None:
        self.scheme = scheme
        self.runs: Runs = RunSpace.of(table, index, runs, separable, name=scheme.name).open()
        self.items: Items = self.runs.items
        self.fine = np.arange(self.items.count, dtype=np.int64)
        self.top = np.zeros(self.items.count, dtype=np.int64)
        attribute, items = self.items.attribute, self.items
        self.rows = attribute.rows[items.leaves]
        self.joined = items.rates(np.full(items.count, 2), self.rows + _smallest_other(self.rows))
        """The least rate a value has that is not alone."""
        self.widest = float(items.rates(np.array([attribute.leaves]), np.array([table.n]))[0])
        columns = [np.bincount(items.codes, weights=table.weights * m[table.codes[index]]) for m in _moments(items)]
        self.moment, self.offset = columns

    def most_rates(self) -> Floats:
        """Return the rate of the whole."""
        return np.full(self.items.count, self.widest)

    def near(self) -> NDArray[np.bool_]:
        """Return that any values may come together."""
        return np.ones((self.items.count, self.items.count), dtype=np.bool_)

    def script(self) -> Script:
        """Return how to walk through the runs."""
        return self.runs.script()

    def priced(self, cost: Floats, gone: Floats, room: float = np.inf) -> Priced:
        """Find what all values cost at least, and the cheapest partition into runs."""
        return _Priced(self, self.runs.priced(cost, gone))

    def fixed(self, blocks: IntArray) -> Choices:
        """Return the one partition with these blocks."""
        ours = by_appearance(blocks)
        leaves = np.array([len(block) for block in self._blocks(ours)])
        rows = add_up(ours, self.rows)
        return OnePartition(self, ours, self.items.rates(leaves, rows))

    def most_general(self) -> Ints:
        """Return one block of all items."""
        return np.zeros(self.items.count, dtype=np.int64)

    def most_specific(self) -> Ints:
        """Return that each item is alone."""
        return np.arange(self.items.count, dtype=np.int64)

    def leaf_blocks(self, blocks: IntArray) -> Ints:
        """Return the block of each leaf; a set may have to hold leaves that do not occur."""
        return covered(np.arange(self.items.attribute.leaves), self._blocks(blocks))

    def _blocks(self, blocks: IntArray) -> list[tuple[int, ...]]:
        """The leaves of each block."""
        order = np.argsort(blocks, kind="stable")
        members = np.split(self.items.leaves[order], np.cumsum(np.bincount(blocks))[:-1])
        return [self.scheme.closure(self.items.attribute, block.tolist()) for block in members]


class _Priced(Priced):
    """What each value costs at least, and runs with what they cost."""

    choices: LargeSets

    def __init__(self, choices: LargeSets, runs: PricedRuns) -> None:
        self.choices, self.runs = choices, runs
        single = runs.begin == runs.end
        alone = np.full(choices.items.count, np.inf)
        alone[runs.begin[single]] = runs.cost[single]
        joined = choices.joined * choices.moment + choices.offset
        self.least = float(np.minimum(alone, np.maximum(joined, 0.0)).sum())
        self.fewest = 0.0

    def cheapest(self) -> Ints:
        """Return the cheapest partition into runs, or one block where there is none that is allowed."""
        return self.runs.cheapest() if np.isfinite(self.runs.least) else self.choices.most_general()

    def restricted(self, room: float, limit: float) -> tuple[Choices, Priced | None] | None:
        """Return all there is."""
        return self.choices, self

    def weight(self, room: float) -> float:
        """Return that nothing is divided here."""
        return 0.0

    def size(self) -> int:
        """Return that nothing is divided here."""
        return 0

    def branches(self, room: float, limit: float) -> list[tuple[float, Choices]]:
        """Return all there is."""
        return [(self.least, self.choices)]


def _smallest_other(rows: IntArray) -> IntArray:
    """For each number the smallest of the others."""
    least = int(np.argmin(rows))
    smallest = np.full(rows.size, rows[least])
    smallest[least] = np.delete(rows, least).min(initial=rows[least] if rows.size == 1 else rows.max())
    return smallest


def _moments(items: Items) -> tuple[Floats, Floats]:
    """The moment and offset of each leaf; nothing where the cost is not separable."""
    form, leaves = items.separable, items.attribute.leaves
    if form is None or form.block_rate is None:
        return np.zeros(leaves), np.zeros(leaves)
    return form.moment[items.index], form.offset[items.index]
