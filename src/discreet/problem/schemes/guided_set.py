"""Guided set partitioning: any sets of values that respect the hierarchy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.counts import CodedAttribute
from discreet.problem.schemes._base import SCHEMES, Partition, Scheme
from discreet.problem.schemes._guide import guided_blocks, respects
from discreet.problem.schemes._numbers import mixed_partitions
from discreet.problem.schemes._tree import Node, blocks_of, merged, ordered, set_partitions

__all__ = ["GuidedSet"]


@SCHEMES.register
@dataclass(frozen=True)
class GuidedSet(Scheme):
    """Any values of one group may form a block, and a block leaves a group only with the whole group.

    If a block holds two values that lie under different children of their lowest common ancestor, it holds
    every value under both. Where the hierarchy has no root, or no levels, all values count as one group of
    its topmost nodes.

    >>> GuidedSet().text
    'guided-set'
    """

    name = "guided-set"
    aliases = ("GSPS",)

    def count(self, attribute: CodedAttribute) -> int:
        """Return the number of valid partitions, group by group."""
        return _ways(merged(attribute))

    def partitions(self, attribute: CodedAttribute) -> Iterator[Partition]:
        """Yield each valid partition once."""
        for blocks in guided_blocks(merged(attribute), set_partitions):
            yield ordered(blocks)

    def allows(self, attribute: CodedAttribute, partition: Partition) -> bool:
        """Return whether every block respects the hierarchy."""
        blocks = blocks_of(attribute, partition)
        tree = merged(attribute)
        return blocks is not None and all(respects(tree, block) for block in blocks)


def _ways(node: Node) -> int:
    """Return the ways to put the children into sets, where a child alone may be split further."""
    return mixed_partitions(_ways(child) for child in node.children) if node.children else 1
