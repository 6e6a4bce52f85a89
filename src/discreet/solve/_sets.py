"""Choices among partitions into sets: the schemes set and guided-set."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import by_appearance
from discreet.counts import CountTable, IntArray
from discreet.kernels.sets import cheapest_sets, least_shares, list_partitions, read_sets, write_set_script
from discreet.problem import Separable
from discreet.problem.schemes import SetScheme
from discreet.solve._choices import Choices, Hint, Items, Priced, Script, covered
from discreet.solve._one import OnePartition

__all__ = ["MOST_ITEMS", "SetSpace", "Sets"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_ITEMS = 16
"""The cheapest partition of so many items is found by looking at every set of them."""
_ROUNDING = 1e-12
_AT_ONCE = 2000
"""So many partitions at most are branched to at once."""


@dataclass(frozen=True, eq=False)
class SetSpace:
    """The valid sets of one attribute's items, numbers whose bits are the items, as they are walked through."""

    items: Items
    scheme: SetScheme
    sets: Ints
    rates: Floats
    """By set."""

    @classmethod
    def of(cls, table: CountTable, index: int, scheme: SetScheme, separable: Separable | None) -> SetSpace:
        """Find all valid sets; items with few tuples come first, as they go in and out most often."""
        attribute = table.attributes[index]
        tuples = np.bincount(table.codes[index], minlength=attribute.leaves)
        items = Items.of(table, index, np.argsort(tuples, kind="stable"), separable)
        held, leaves = scheme.sets(attribute, items.leaves.tolist())
        inside = np.array([attribute.rows[items.leaves] @ (held >> np.arange(items.count)[:, np.newaxis] & 1)])
        rates = np.zeros(1 << items.count)
        rates[held] = items.rates(leaves, inside.reshape(-1))
        rank = held.copy()  # of a Gray code, in which neighbours differ in one item
        for shift in (1, 2, 4, 8):
            rank ^= rank >> shift
        return cls(items, scheme, held[np.argsort(rank, kind="stable")].astype(np.int64), rates)

    @cached_property
    def weights(self) -> Floats:
        """The rows of each item."""
        return self.items.attribute.rows[self.items.leaves].astype(np.float64)

    def open(self) -> Sets:
        """Return all partitions."""
        return Sets(self, self.sets)


class Sets(Choices):
    """Partitions into sets that are left."""

    def __init__(self, space: SetSpace, sets: Ints) -> None:
        self.space, self.items, self.sets = space, space.items, sets
        self.decided = self.items.count < 2
        self.fine = np.arange(self.items.count, dtype=np.int64)
        self.top = np.zeros(self.items.count, dtype=np.int64)

    def most_rates(self) -> Floats:
        """Return the largest rate of a set with each item."""
        return self._most

    def near(self) -> NDArray[np.bool_]:
        """Return which items a set holds both."""
        held = self.sets >> np.arange(self.items.count)[:, np.newaxis] & 1
        return held @ held.T > 0

    @cached_property
    def _most(self) -> Floats:
        held = self.sets >> np.arange(self.items.count)[:, np.newaxis] & 1
        return np.asarray(np.where(held == 1, self.space.rates[self.sets], 0.0).max(axis=1))

    def script(self) -> Script:
        """Return how to walk through the sets that are left."""
        sets = self.sets
        changes = np.bitwise_count(sets ^ np.concatenate([[0], sets[:-1]])).sum() + self.fines + sets.size
        steps = np.empty(int(changes), dtype=np.int64)
        return Script(steps[: write_set_script(sets, self.fines, steps)], self.space.rates[sets])

    def priced(self, cost: Floats, gone: Floats, room: float = np.inf) -> Priced:
        """Find the cheapest partition."""
        return PricedSets(self, cost, gone, room)

    def fixed(self, blocks: IntArray) -> OnePartition:
        """Return the one partition with these blocks."""
        ours = by_appearance(blocks)
        members = np.bincount(ours, weights=1 << np.arange(ours.size)).astype(np.int64)
        return OnePartition(self.space.open(), ours, self.space.rates[members])

    def most_general(self) -> Ints:
        """Return one block of all items."""
        return np.zeros(self.items.count, dtype=np.int64)

    def most_specific(self) -> Ints:
        """Return that each item is alone."""
        return np.arange(self.items.count, dtype=np.int64)

    def leaf_blocks(self, blocks: IntArray) -> Ints:
        """Return the block of each leaf; a set may have to hold leaves that do not occur."""
        attribute = self.items.attribute
        members = [self.items.leaves[blocks == b].tolist() for b in range(int(blocks.max(initial=0)) + 1)]
        return covered(
            np.arange(attribute.leaves),
            [self.space.scheme.closure(attribute, block) for block in members if len(block) > 1],
        )


class PricedSets(Priced):
    """Sets and what each costs."""

    choices: Sets

    def __init__(self, choices: Sets, cost: Floats, gone: Floats, room: float) -> None:
        self.choices = choices
        self.count = choices.items.count
        shares = least_shares(self.count, choices.space.weights, choices.sets, cost, False)
        if shares.sum() * (1 - _ROUNDING) >= room:
            self.least, self.fewest = np.inf, 0.0
            return
        self.sets = np.sort(choices.sets)
        self.starts = np.searchsorted(self.sets, 1 << np.arange(self.count + 1)).astype(np.int64)
        everything = 1 << self.count
        self.cost, self.gone = np.empty(everything), np.zeros(everything)  # only those of the sets are looked at
        self.cost[choices.sets], self.gone[choices.sets] = cost, gone
        self.best, self.least, self.whole = self._cheapest(self.cost, room)
        self.rows, self.fewest, self.whole_rows = np.zeros(everything), 0.0, np.zeros(self.sets.size)
        if gone.any():
            self.rows, self.fewest, self.whole_rows = self._cheapest(self.gone, np.inf)

    def _cheapest(self, cost: Floats, room: float) -> tuple[Floats, float, Floats]:
        """The least that any rest and all items cost, and with each set."""
        best, whole = np.empty(cost.size), np.empty(self.sets.size)
        least = cheapest_sets(
            self.count, self.choices.space.weights, self.sets, self.starts, cost, room, np.empty(cost.size), best, whole
        )
        return best, least, whole

    def cheapest(self) -> Ints:
        """Return the block number of each item in the cheapest partition."""
        block = np.zeros(self.count, dtype=np.int64)
        read_sets(self.count, self.sets, self.starts, self.cost, self.best, block)
        return block

    def restricted(self, room: float, limit: float) -> tuple[Choices, Priced | None] | None:
        """Leave out sets that are too dear or lose too many rows."""
        kept = (self.whole < room) & (self.whole_rows <= limit)
        if kept.all():
            return self.choices, self
        if not kept.any():
            return None
        less = copy(self)  # with the costs of partitions as they were, which are not too high
        less.sets, less.whole, less.whole_rows = self.sets[kept], self.whole[kept], self.whole_rows[kept]
        less.starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        held = np.zeros(self.cost.size, dtype=np.bool_)
        held[less.sets] = True
        sets = self.choices.sets
        less.choices = Sets(self.choices.space, sets[held[sets]])
        return less.choices, less

    def hint(self) -> Hint:
        """Return the cost of the cheapest partition with each set."""
        return _SetHint(self.choices, self.sets, self.whole, self.least)

    def weight(self, room: float) -> float:
        """Return a number that is larger for fewer items."""
        return room / self.count

    def size(self) -> int:
        """Return the number of items that may be joined to others."""
        return self.count - 1

    def branches(self, room: float, limit: float) -> list[tuple[float, Choices]]:
        """Return the partitions that cost less than ``room``, or two parts if there are too many of them."""
        blocks, costs = np.empty((_AT_ONCE, self.count), dtype=np.int64), np.empty(_AT_ONCE)
        found = list_partitions(
            self.count,
            self.sets,
            self.starts,
            self.cost,
            self.gone,
            self.best,
            self.rows,
            room,
            limit,
            blocks,
            costs,
        )
        if found < 0:
            return self._by_pair()
        return [(float(costs[f]), self.choices.fixed(blocks[f])) for f in range(found)]

    def _by_pair(self) -> list[tuple[float, Choices]]:
        """Put two items together, or apart: those of which it is most open."""
        held = self.sets[:, np.newaxis] >> np.arange(self.count) & 1
        both = held.T @ held
        one = np.diag(both)[:, np.newaxis] + np.diag(both) - 2 * both
        i, j = np.unravel_index(np.argmax(np.minimum(both, one)), both.shape)
        together, apart = held[:, i] & held[:, j] == 1, held[:, i] != held[:, j]
        sets = self.choices.sets
        parts: list[tuple[float, Choices]] = []
        for wanted, unwanted in ((together, apart), (apart, together)):
            kept = np.isin(sets, self.sets[~unwanted])
            parts.append((float(self.whole[wanted].min()), Sets(self.choices.space, sets[kept])))
        return parts


class _SetHint(Hint):
    """What the cheapest partition with each set costs."""

    def __init__(self, choices: Sets, sets: Ints, whole: Floats, least: float) -> None:
        self.among, self.sets, self.whole, self.least = choices, sets, whole, least

    def choices(self, room: float) -> Choices | None:
        """Return the choices without sets that are too dear."""
        held = np.zeros(1 << self.among.items.count, dtype=np.bool_)
        held[self.sets[self.whole < room]] = True
        sets = self.among.sets
        kept = sets[held[sets]]
        return Sets(self.among.space, kept) if kept.size else None
