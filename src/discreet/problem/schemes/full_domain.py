"""Full-domain generalization: the whole attribute at one level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.counts import CodedAttribute
from discreet.problem.schemes._base import SCHEMES, Partition, Scheme
from discreet.problem.schemes._tree import blocks_of, ordered

__all__ = ["FullDomain"]


@SCHEMES.register
@dataclass(frozen=True)
class FullDomain(Scheme):
    """All values are lifted to the same level of the hierarchy.

    Levels that do not differ are one partition, but each counts in the formal size.

    >>> FullDomain().text
    'full-domain'
    """

    name = "full-domain"
    aliases = ("BHS",)
    examples = ("full-domain",)
    title = "The same level for a whole column"
    summary = (
        "All values of a column are shown at one level, such as all ages in steps of ten. Easy to read and to analyse."
    )
    recommended = True
    rank = 10

    def count(self, attribute: CodedAttribute) -> int:
        """Return the number of levels that differ."""
        return len(self._levels(attribute))

    def formal_count(self, attribute: CodedAttribute) -> int:
        """Return the number of levels."""
        return attribute.height + 1

    def partitions(self, attribute: CodedAttribute) -> Iterator[Partition]:
        """Yield the partition of each level, from the leaves up."""
        for level in self._levels(attribute):
            yield self._partition(attribute, level)

    def allows(self, attribute: CodedAttribute, partition: Partition) -> bool:
        """Return whether the blocks are those of a level."""
        blocks = blocks_of(attribute, partition)
        return blocks is not None and any(
            len(leaves) == len(blocks)
            and {frozenset(block) for block in self._partition(attribute, level)} == set(blocks)
            for level, leaves in enumerate(attribute.block_leaves)
        )

    def _levels(self, attribute: CodedAttribute) -> list[int]:
        # Levels nest, so levels with equally many blocks are equal.
        _, first = np.unique([-leaves.size for leaves in attribute.block_leaves], return_index=True)
        return [int(level) for level in first]

    def _partition(self, attribute: CodedAttribute, level: int) -> Partition:
        codes = attribute.ancestors[level]
        leaves = np.argsort(codes, kind="stable")
        blocks = np.split(leaves, np.cumsum(np.bincount(codes))[:-1])
        return ordered(tuple(block.tolist()) for block in blocks)
