"""Ordered partitioning: runs of consecutive values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.counts import CodedAttribute, IntArray
from discreet.problem.schemes._base import SCHEMES, Partition, RunScheme
from discreet.problem.schemes._runs import is_run, runs
from discreet.problem.schemes._tree import blocks_of

__all__ = ["Ordered"]


@SCHEMES.register
@dataclass(frozen=True)
class Ordered(RunScheme):
    """Every block is a run of consecutive values in the attribute's order.

    >>> Ordered().text
    'ordered'
    """

    name = "ordered"
    aliases = ("OPS",)
    examples = ("ordered",)
    title = "Ranges that fit"
    summary = "Neighbouring values are joined wherever that is best; no hierarchy is needed."
    rank = 30
    uses_hierarchy = False
    uses_order = True

    def count(self, attribute: CodedAttribute) -> int:
        """Return 2 to the power of the gaps between values."""
        return 1 << max(attribute.leaves - 1, 0)

    def partitions(self, attribute: CodedAttribute) -> Iterator[Partition]:
        """Yield the partition of each choice of gaps."""
        yield from runs(range(attribute.leaves))

    def allows(self, attribute: CodedAttribute, partition: Partition) -> bool:
        """Return whether no block skips a value."""
        blocks = blocks_of(attribute, partition)
        return blocks is not None and all(is_run(block) for block in blocks)

    def runs(self, attribute: CodedAttribute) -> tuple[IntArray, IntArray]:
        """Return all runs."""
        first, last = np.triu_indices(attribute.leaves)
        return first, last
