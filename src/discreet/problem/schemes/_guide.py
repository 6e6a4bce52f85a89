"""The rule of guided schemes: a block with values of two groups holds both groups whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from discreet.problem.schemes._tree import Block, Node, lazy_product

__all__ = ["guided_blocks", "respects"]

Groupings = Callable[[Sequence[Node]], Iterator[Sequence[Sequence[Node]]]]


def respects(tree: Node, block: frozenset[int]) -> bool:
    """Return whether a block with values of two groups holds these groups whole.

    The groups are the children of the lowest node above the block.
    """
    node = tree
    while True:
        touched = [child for child in node.children if not block.isdisjoint(child.leaves)]
        if len(touched) != 1:
            return all(block.issuperset(child.leaves) for child in touched)
        node = touched[0]


def guided_blocks(node: Node, groupings: Groupings) -> Iterator[tuple[Block, ...]]:
    """Yield each valid partition of a node's leaves: children are grouped, and single ones divided further."""
    if not node.children:
        yield (node.leaves,)
        return
    for groups in groupings(node.children):
        choices = [
            partial(guided_blocks, group[0], groupings) if len(group) == 1 else partial(_joined, group)
            for group in groups
        ]
        for choice in lazy_product(choices):
            yield tuple(block for blocks in choice for block in blocks)


def _joined(group: Sequence[Node]) -> Iterator[tuple[Block, ...]]:
    yield (tuple(sorted(leaf for node in group for leaf in node.leaves)),)
