"""Guided set partitioning: any sets of values that respect the hierarchy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.counts import CodedAttribute, IntArray
from discreet.problem.schemes._base import SCHEMES, Partition, SetScheme
from discreet.problem.schemes._guide import guided_blocks, respects
from discreet.problem.schemes._numbers import mixed_partitions
from discreet.problem.schemes._tree import Node, below, blocks_of, merged, ordered, set_partitions

__all__ = ["GuidedSet"]


@SCHEMES.register
@dataclass(frozen=True)
class GuidedSet(SetScheme):
    """Any values of one group may form a block; a block with values of two groups holds both groups whole.

    If a block holds two values under different children of their lowest common ancestor, it holds every value under
    both. If the hierarchy has no root or no levels, its topmost nodes are one group.

    >>> GuidedSet().text
    'guided-set'
    """

    name = "guided-set"
    aliases = ("GSPS",)
    examples = ("guided-set",)
    title = "Sets along the groups"
    summary = "Like any sets, but groups of the hierarchy stay whole."
    rank = 60

    def count(self, attribute: CodedAttribute) -> int:
        """Return the number of valid partitions, group by group."""
        return _partition_count(merged(attribute))

    def partitions(self, attribute: CodedAttribute) -> Iterator[Partition]:
        """Yield each valid partition once."""
        for blocks in guided_blocks(merged(attribute), set_partitions):
            yield ordered(blocks)

    def allows(self, attribute: CodedAttribute, partition: Partition) -> bool:
        """Return whether every block respects the hierarchy."""
        blocks = blocks_of(attribute, partition)
        tree = merged(attribute)
        return blocks is not None and all(respects(tree, block) for block in blocks)

    def sets(self, attribute: CodedAttribute, leaves: Sequence[int]) -> tuple[IntArray, IntArray]:
        """Return single values, and sets of two or more whole children of each node."""
        bit = {leaf: 1 << i for i, leaf in enumerate(leaves)}
        found = [(single, 1) for single in bit.values()]
        for node in below(merged(attribute)):
            members = [(sum(bit.get(leaf, 0) for leaf in child.leaves), len(child.leaves)) for child in node.children]
            members = [member for member in members if member[0]]
            for size in range(2, len(members) + 1):
                for some in itertools.combinations(members, size):
                    found.append((sum(bits for bits, _ in some), sum(count for _, count in some)))
        sets, count = np.array(found, dtype=np.int64).reshape(-1, 2).T
        return sets, count

    def closure(self, attribute: CodedAttribute, leaves: Sequence[int]) -> tuple[int, ...]:
        """Return the children of the lowest common ancestor that hold one of the leaves; a single leaf is itself."""
        wanted, node = frozenset(leaves), merged(attribute)
        while True:
            touched = [child for child in node.children if not wanted.isdisjoint(child.leaves)]
            if len(touched) != 1:
                return tuple(sorted(leaf for child in touched for leaf in child.leaves)) or node.leaves
            node = touched[0]


def _partition_count(node: Node) -> int:
    """Return the number of partitions of a node: its children form sets, and single ones may be split further."""
    return mixed_partitions(_partition_count(child) for child in node.children) if node.children else 1
