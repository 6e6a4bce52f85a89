"""What the enumeration of an attribute's partitions is; see :mod:`discreet.solve._enumeration`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.counts import IntArray

__all__ = ["Direction", "Enumeration", "State", "mask_of", "numbered"]

Direction = Literal["bottom-up", "top-down"]
State = tuple[Any, Any]
"""The own partition, and what is ruled out of the rest; only the enumeration that made it knows how to read it."""


class Enumeration(ABC):
    """The partitions of one attribute that a scheme allows, as states."""

    is_list: ClassVar[bool] = False
    """Applicators are children as they are, in an order of their own, and there may be very many."""

    root: State

    @abstractmethod
    def applicators(self, state: State) -> Iterator[Any]:
        """Yield the steps that are open, in their own order."""

    @abstractmethod
    def is_open(self, state: State, applicator: Any) -> bool:
        """Return whether the step is not made yet and not ruled out."""

    @abstractmethod
    def apply(self, state: State, applicator: Any) -> State:
        """Return the partitions that have made an open step."""

    @abstractmethod
    def without(self, state: State, applicator: Any) -> State:
        """Return the partitions that have not made an open step."""

    def without_all(self, state: State, applicators: Sequence[Any]) -> State:
        """Return the partitions that have made none of some steps."""
        for applicator in applicators:
            if self.is_open(state, applicator):
                state = self.without(state, applicator)
        return state

    @abstractmethod
    def frozen(self, state: State) -> State:
        """Return the own partition alone."""

    @abstractmethod
    def own(self, state: State) -> IntArray:
        """Return the block of each leaf in the own partition."""

    @abstractmethod
    def extreme(self, state: State) -> IntArray:
        """Return the blocks of a partition beyond which none of the state's partitions goes."""

    def children(self, state: State) -> Iterator[State]:
        """Yield the states that all partitions but the own one are divided into."""
        for applicator in list(self.applicators(state)):
            if self.is_open(state, applicator):
                yield self.apply(state, applicator)
                state = self.without(state, applicator)


def mask_of(items: Iterable[int]) -> int:
    """Return a set of small numbers as bits.

    >>> mask_of([0, 3])
    9
    """
    mask = 0
    for item in items:
        mask |= 1 << item
    return mask


def numbered(masks: Sequence[int], leaves: int) -> IntArray:
    """Return the block of each leaf, given the blocks as bit sets.

    >>> numbered([0b101, 0b010], 3).tolist()
    [0, 1, 0]
    """
    blocks = [0] * leaves
    for number, mask in enumerate(masks):
        left = mask
        while left:
            leaf = left & -left
            blocks[leaf.bit_length() - 1] = number
            left ^= leaf
    return np.array(blocks, dtype=np.int64)
