"""Guided ordered partitioning: runs of consecutive values that respect the hierarchy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.counts import CodedAttribute, IntArray
from discreet.errors import UsageError
from discreet.problem.schemes._base import SCHEMES, Partition, RunScheme
from discreet.problem.schemes._guide import guided_blocks, respects
from discreet.problem.schemes._runs import is_run, runs
from discreet.problem.schemes._tree import Node, below, blocks_of, merged, ordered

__all__ = ["GuidedOrdered"]


@SCHEMES.register
@dataclass(frozen=True)
class GuidedOrdered(RunScheme):
    """Every block is a run of consecutive values; one with values of two groups holds both groups whole.

    The order must agree with the hierarchy: every node is a run of values. If the hierarchy has no root or no levels,
    its topmost nodes are one group.

    >>> GuidedOrdered().text
    'guided-ordered'
    """

    name = "guided-ordered"
    aliases = ("GOPS",)
    examples = ("guided-ordered",)
    title = "Ranges along the groups"
    summary = "Like ranges that fit, but groups of the hierarchy stay whole."
    rank = 40
    uses_order = True

    def count(self, attribute: CodedAttribute) -> int:
        """Return the number of valid partitions, group by group."""
        return _partition_count(_tree(attribute))

    def partitions(self, attribute: CodedAttribute) -> Iterator[Partition]:
        """Yield each valid partition once."""
        for blocks in guided_blocks(_tree(attribute), runs):
            yield ordered(blocks)

    def allows(self, attribute: CodedAttribute, partition: Partition) -> bool:
        """Return whether every block is a run and respects the hierarchy."""
        blocks = blocks_of(attribute, partition)
        tree = _tree(attribute)
        return blocks is not None and all(is_run(block) and respects(tree, block) for block in blocks)

    def runs(self, attribute: CodedAttribute) -> tuple[IntArray, IntArray]:
        """Return single values, and runs of two or more children of each node."""
        found = [(leaf, leaf) for leaf in range(attribute.leaves)]
        for node in below(_tree(attribute)):
            for left, right in itertools.combinations(node.children, 2):
                found.append((left.leaves[0], right.leaves[-1]))
        first, last = np.array(found).reshape(-1, 2).T
        return first, last


def _tree(attribute: CodedAttribute) -> Node:
    tree = merged(attribute)
    for node in below(tree):
        if not is_run(node.leaves):
            raise UsageError(
                f"guided-ordered needs the order of '{attribute.name}' to agree with its hierarchy; "
                "choose guided-set or another order.",
                column=attribute.name,
            )
    return tree


def _partition_count(node: Node) -> int:
    """Return the number of partitions of a node: its children are cut into runs, and single ones may be cut further."""
    if not node.children:
        return 1
    counts = [1]  # of the first 0, 1, … children
    earlier = 0  # the sum of all counts but the last
    for child in node.children:
        counts.append(counts[-1] * _partition_count(child) + earlier)
        earlier += counts[-2]
    return counts[-1]
