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
    """Every block is a run of consecutive values, and leaves a group of the hierarchy only with all of it.

    The order must agree with the hierarchy: every node is a run of values. Where the hierarchy has no root,
    or no levels, all values count as one group of its topmost nodes.

    >>> GuidedOrdered().text
    'guided-ordered'
    """

    name = "guided-ordered"
    aliases = ("GOPS",)
    uses_order = True

    def count(self, attribute: CodedAttribute) -> int:
        """Return the number of valid partitions, group by group."""
        return _ways(_tree(attribute))

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
        """Return single values, and two and more neighbours of each group."""
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


def _ways(node: Node) -> int:
    """Return the ways to cut the children into runs, where a child alone may be cut further."""
    if not node.children:
        return 1
    ways = [1]  # of the first children, 0 to all
    earlier = 0  # the sum of all but the last of them
    for child in node.children:
        ways.append(ways[-1] * _ways(child) + earlier)
        earlier += ways[-2]
    return ways[-1]
