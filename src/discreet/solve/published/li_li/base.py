"""Enumeration of an attribute's partitions: states and applicators.

The valid partitions form a tree in which each occurs once, bottom-up or top-down. A *state* is a set of partitions: its
own one, and others that are all more general (bottom-up) or all more specific (top-down). An *applicator* is one step
away from the own partition. ``apply`` keeps the partitions that make the step, ``without`` those that never do;
together they are all others. So the children of a state are: the first applicator applied; the second applied without
the first; the third without the first two; and so on, in any order. This is the set enumeration of Rymon that
k-Optimize searches (``ordered``), and with applicators in their own order it is the tree of section 3.1 of the paper
for ``set``.

States of several attributes form a product: a step of one attribute is a step of the whole (section 3.2). Attributes
may have different schemes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.counts import IntArray

__all__ = ["Direction", "Enumeration", "State", "mask_of", "numbered"]

Direction = Literal["bottom-up", "top-down"]
State = tuple[Any, Any]
"""The own partition, and what is ruled out; only the enumeration that made it can read it."""


class Enumeration(ABC):
    """The partitions of one attribute under a scheme, as states."""

    is_list: ClassVar[bool] = False
    """Applicators are the children as they are, in a fixed order, and there may be very many."""

    root: State

    @abstractmethod
    def applicators(self, state: State) -> Iterator[Any]:
        """Yield the open steps, in their own order."""

    @abstractmethod
    def is_open(self, state: State, applicator: Any) -> bool:
        """Return whether the step is neither made nor ruled out."""

    @abstractmethod
    def apply(self, state: State, applicator: Any) -> State:
        """Return the partitions that have made an open step."""

    @abstractmethod
    def without(self, state: State, applicator: Any) -> State:
        """Return the partitions that never make an open step."""

    def without_all(self, state: State, applicators: Sequence[Any]) -> State:
        """Return the partitions that make none of these steps."""
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
        """Return the block of each leaf in a partition that none of the state's partitions goes beyond."""

    def children(self, state: State) -> Iterator[State]:
        """Yield states that together hold all partitions but the own one, each once."""
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
