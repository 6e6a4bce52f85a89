"""What is still open for one attribute while partitions of all attributes are searched."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import by_appearance
from discreet.counts import CodedAttribute, CountTable, IntArray
from discreet.problem import Separable

__all__ = ["Choices", "Hint", "Items", "Priced", "Script", "covered"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_MADE_AGAIN = ("_walk", "_most")
"""What choices may keep that is large and can be made again."""


@dataclass(frozen=True, eq=False)
class Items:
    """The leaves of one attribute that occur, in an order that suits its scheme.

    ``leaves[i]`` is the leaf of item ``i``; ``codes[j]`` the item of tuple ``j``.
    """

    index: int
    attribute: CodedAttribute
    leaves: Ints
    codes: Ints
    separable: Separable | None

    @classmethod
    def of(cls, table: CountTable, index: int, order: IntArray, separable: Separable | None) -> Items:
        """Take the leaves that occur, in the order given."""
        attribute = table.attributes[index]
        leaves = np.asarray(order, dtype=np.int64)[attribute.rows[order] > 0]
        place = np.full(attribute.leaves, -1, dtype=np.int64)
        place[leaves] = np.arange(leaves.size)
        return cls(index, attribute, leaves, place[table.codes[index]], separable)

    @property
    def count(self) -> int:
        """The number of items."""
        return int(self.leaves.size)

    def rates(self, leaves: IntArray, rows: IntArray) -> Floats:
        """Return what blocks with so many leaves and rows cost for each moment of their rows."""
        if self.separable is None or self.separable.block_rate is None:
            return np.zeros(np.shape(leaves))
        return np.asarray(self.separable.block_rate(self.index, leaves, rows), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Script:
    """How to walk through blocks of the pieces of ``fine`` (see :mod:`discreet.kernels.blocks`), and their rates."""

    steps: Ints
    rates: Floats


class Hint(ABC):
    """What is remembered of priced choices, to leave out more of them once another attribute is decided."""

    least: float

    @abstractmethod
    def choices(self, room: float) -> Choices | None:
        """Return the choices without what costs ``room`` or more; None if nothing is left."""


class Priced(ABC):
    """The choices of one attribute with what each block costs."""

    choices: Choices
    least: float
    """The cost of the cheapest partition that is left."""
    fewest: float
    """The fewest rows any partition that is left suppresses."""

    @abstractmethod
    def cheapest(self) -> Ints:
        """Return the block number of each item in the cheapest partition."""

    @abstractmethod
    def restricted(self, room: float, limit: float) -> tuple[Choices, Priced | None] | None:
        """Leave out blocks with which every partition costs ``room`` or more, or suppresses more than the limit.

        Returns what is left and its prices, or None for them if they have to be found anew because something was
        decided; None if nothing is left.
        """

    def hint(self) -> Hint | None:
        """Return what is worth remembering; nothing unless there is much to leave out."""
        return None

    @abstractmethod
    def weight(self, room: float) -> float:
        """Return how much is to be expected of branching here."""

    @abstractmethod
    def size(self) -> int:
        """Return how much is open, as a number of decisions; 0 if nothing is."""

    @abstractmethod
    def branches(self, room: float, limit: float) -> list[tuple[float, Choices]]:
        """Divide what is left into parts, each with the cost of its cheapest partition."""


class Choices(ABC):
    """A set of partitions of one attribute's items.

    ``fine`` and ``top`` number the block of each item in the finest common coarsening that is known of all partitions:
    each is coarser than ``fine`` and finer than ``top``. ``decided`` says that there is one partition.
    """

    items: Items
    fine: Ints
    top: Ints
    decided: bool

    @cached_property
    def fines(self) -> int:
        """The number of blocks of ``fine``."""
        return int(self.fine.max(initial=0)) + 1

    @cached_property
    def tops(self) -> int:
        """The number of blocks of ``top``."""
        return int(self.top.max(initial=0)) + 1

    @abstractmethod
    def most_rates(self) -> Floats:
        """Return for each item the rate of the most general block it may still be in."""

    def forget(self) -> None:
        """Let go of what can be made again, while this waits."""
        for name in _MADE_AGAIN:
            self.__dict__.pop(name, None)

    @abstractmethod
    def near(self) -> NDArray[np.bool_]:
        """Return which blocks of ``fine`` may be in one block."""

    @cached_property
    def narrowness(self) -> float:
        """The share of the rows with which those of a value could be in one block of ``top``, but are not."""
        first = np.unique(self.fine, return_index=True)[1]
        rows = np.bincount(self.fine, weights=self.items.attribute.rows[self.items.leaves])
        top = self.top[first]
        together = (top[:, np.newaxis] == top) * rows * rows[:, np.newaxis]
        return 1.0 - float((together * self.near()).sum() / together.sum())

    @abstractmethod
    def script(self) -> Script:
        """Return how to walk through all blocks."""

    @abstractmethod
    def priced(self, cost: Floats, gone: Floats, room: float = np.inf) -> Priced:
        """Take what each block of the script costs and how many of its rows are suppressed.

        Partitions that cost ``room`` or more are of no interest.
        """

    @abstractmethod
    def fixed(self, blocks: IntArray) -> Choices:
        """Return the one partition with these blocks, of all partitions of the scheme."""

    @abstractmethod
    def most_general(self) -> Ints:
        """Return the block of each item in the most general partition of the scheme."""

    @abstractmethod
    def most_specific(self) -> Ints:
        """Return the block of each item in the most specific partition of the scheme."""

    @abstractmethod
    def leaf_blocks(self, blocks: IntArray) -> Ints:
        """Return the block number of each leaf of the attribute, also of those that do not occur."""


def covered(smallest: IntArray, members: Sequence[Any]) -> Ints:
    """Return block numbers of leaves: each member of the list is a block, all others are in the smallest there are."""
    numbers = np.array(smallest, dtype=np.int64)
    for number, block in enumerate(members):
        numbers[np.asarray(block)] = numbers.size + number
    return by_appearance(numbers)
