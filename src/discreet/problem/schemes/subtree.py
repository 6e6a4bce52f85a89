"""Subtree generalization: a cut through the hierarchy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from discreet.counts import CodedAttribute, IntArray
from discreet.problem.schemes._base import SCHEMES, Partition, RunScheme
from discreet.problem.schemes._tree import Block, Node, below, blocks_of, lazy_product, ordered, roots

__all__ = ["Subtree"]


@SCHEMES.register
@dataclass(frozen=True)
class Subtree(RunScheme):
    """Each value is lifted to a node of the hierarchy, exactly one on each path from the root to a leaf.

    A node with a single child gives the same partition as the child and only counts in the formal size, unless it
    repeats the child's name: cuts(leaf) = 1, cuts(node) = 1 + the product over its children.

    >>> Subtree().text
    'subtree'
    """

    name = "subtree"
    aliases = ("GHS", "cut")
    examples = ("subtree",)
    title = "Branches of the tree"
    summary = "Each branch may be shown at its own level: crowded regions by town, empty ones by county. Keeps more."
    rank = 20

    def count(self, attribute: CodedAttribute) -> int:
        """Return the number of different cuts."""
        return math.prod(_cuts(root) for root in roots(attribute))

    def formal_count(self, attribute: CodedAttribute) -> int:
        """Return the number of cuts if a node with a single child is a choice of its own."""
        cuts = [1] * attribute.leaves
        below = attribute.ancestors[0].tolist()
        for number, level in enumerate(attribute.ancestors[1:].tolist(), 1):
            parents = dict(zip(below, level, strict=True))
            products = [1] * (max(level, default=-1) + 1)
            for node, parent in parents.items():
                products[parent] *= cuts[node]
            if attribute.repeats is None:
                cuts = [1 + product for product in products]
            else:
                own = (~attribute.repeats[number]).tolist()
                cuts = [node + product for node, product in zip(own, products, strict=True)]
            below = level
        return math.prod(cuts)

    def partitions(self, attribute: CodedAttribute) -> Iterator[Partition]:
        """Yield each different cut once."""
        for cut in lazy_product([partial(_blocks, root) for root in roots(attribute)]):
            yield ordered(block for blocks in cut for block in blocks)

    def allows(self, attribute: CodedAttribute, partition: Partition) -> bool:
        """Return whether every block is a node."""
        blocks = blocks_of(attribute, partition)
        if blocks is None:
            return False
        nodes = {frozenset(node.leaves) for root in roots(attribute) for node in below(root)}
        return nodes.issuperset(blocks)

    def order(self, attribute: CodedAttribute) -> IntArray:
        """Return the leaves depth first, which for numbers may differ from their order."""
        leaves = [node.leaves[0] for root in roots(attribute) for node in below(root) if not node.children]
        return np.array(leaves, dtype=np.int64)

    def runs(self, attribute: CodedAttribute) -> tuple[IntArray, IntArray]:
        """Return the nodes."""
        position = np.empty(attribute.leaves, dtype=np.int64)
        position[self.order(attribute)] = np.arange(attribute.leaves)
        nodes = [position[list(node.leaves)] for root in roots(attribute) for node in below(root)]
        return np.array([node.min() for node in nodes]), np.array([node.max() for node in nodes])


def _cuts(node: Node) -> int:
    return 1 + math.prod(_cuts(child) for child in node.children) if node.children else 1


def _blocks(node: Node) -> Iterator[tuple[Block, ...]]:
    yield (node.leaves,)
    if node.children:
        for below in lazy_product([partial(_blocks, child) for child in node.children]):
            yield tuple(block for blocks in below for block in blocks)
