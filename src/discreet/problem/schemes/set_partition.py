"""Set partitioning: any sets of values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.counts import CodedAttribute, IntArray
from discreet.problem.schemes._base import SCHEMES, Partition, SetScheme
from discreet.problem.schemes._numbers import bell
from discreet.problem.schemes._tree import blocks_of, set_partitions

__all__ = ["SetPartition"]


@SCHEMES.register
@dataclass(frozen=True)
class SetPartition(SetScheme):
    """Any values may form a block.

    >>> SetPartition().text
    'set'
    """

    name = "set"
    aliases = ("SPS",)
    examples = ("set",)
    title = "Any sets"
    summary = "Any values may be joined. Keeps most, and takes longest: for few values."
    rank = 50
    uses_hierarchy = False

    def count(self, attribute: CodedAttribute) -> int:
        """Return the Bell number of the values."""
        return bell(attribute.leaves)

    def partitions(self, attribute: CodedAttribute) -> Iterator[Partition]:
        """Yield each partition once."""
        for blocks in set_partitions(range(attribute.leaves)):
            yield tuple(tuple(block) for block in blocks)

    def allows(self, attribute: CodedAttribute, partition: Partition) -> bool:
        """Return whether each value is in exactly one block."""
        return blocks_of(attribute, partition) is not None

    def sets(self, attribute: CodedAttribute, leaves: Sequence[int]) -> tuple[IntArray, IntArray]:
        """Return all non-empty sets."""
        every = np.arange(1, 1 << len(leaves), dtype=np.int64)
        return every, np.bitwise_count(every).astype(np.int64)

    def closure(self, attribute: CodedAttribute, leaves: Sequence[int]) -> tuple[int, ...]:
        """Return the leaves themselves."""
        return tuple(leaves)
