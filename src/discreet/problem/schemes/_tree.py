"""An attribute's hierarchy as a tree, and enumeration of partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from discreet.counts import CodedAttribute
from discreet.problem.schemes._base import Partition

__all__ = ["Block", "Node", "below", "blocks_of", "lazy_product", "merged", "ordered", "roots", "set_partitions"]

Block = tuple[int, ...]
T = TypeVar("T")


@dataclass(frozen=True)
class Node:
    """A node of a hierarchy: its leaves and its children; a leaf has none."""

    leaves: Block
    children: tuple[Node, ...] = ()


def roots(attribute: CodedAttribute) -> tuple[Node, ...]:
    """Return the trees of an attribute; a node with a single child is the same node."""
    nodes = [Node((leaf,)) for leaf in range(attribute.leaves)]
    for level in attribute.ancestors[1:].tolist():
        families: dict[int, list[Node]] = {}
        for node in nodes:
            families.setdefault(level[node.leaves[0]], []).append(node)
        nodes = [family[0] if len(family) == 1 else _parent(family) for family in families.values()]
    return tuple(nodes)


def merged(attribute: CodedAttribute) -> Node:
    """Return the tree of an attribute, with a root added if it has several trees or no levels."""
    top = roots(attribute)
    return top[0] if len(top) == 1 else _parent(top)


def _parent(children: Sequence[Node]) -> Node:
    return Node(tuple(sorted(leaf for child in children for leaf in child.leaves)), tuple(children))


def below(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes below it, depth first."""
    open_ = [node]
    while open_:
        node = open_.pop()
        yield node
        open_.extend(reversed(node.children))


def ordered(blocks: Iterable[Block]) -> Partition:
    """Return blocks in the order of their first leaves."""
    return tuple(sorted(blocks))


def blocks_of(attribute: CodedAttribute, partition: Partition) -> list[frozenset[int]] | None:
    """Return the blocks as sets, or None unless each leaf is in exactly one."""
    leaves = [leaf for block in partition for leaf in block]
    if sorted(leaves) != list(range(attribute.leaves)) or not all(partition):
        return None
    return [frozenset(block) for block in partition]


def lazy_product(choices: Sequence[Callable[[], Iterator[T]]]) -> Iterator[tuple[T, ...]]:
    """Yield the Cartesian product of iterators without storing their items.

    >>> list(lazy_product([lambda: iter("ab"), lambda: iter("xy")]))
    [('a', 'x'), ('a', 'y'), ('b', 'x'), ('b', 'y')]
    """
    if not choices:
        yield ()
        return
    running, picked = [choices[0]()], []
    while running:
        try:
            picked.append(next(running[-1]))
        except StopIteration:
            running.pop()
            if picked:
                picked.pop()
            continue
        if len(picked) == len(choices):
            yield tuple(picked)
            picked.pop()
        else:
            running.append(choices[len(picked)]())


def set_partitions(items: Sequence[T]) -> Iterator[list[list[T]]]:
    """Yield each partition of the items once, from all in one block to each in its own.

    >>> list(set_partitions("abc"))
    [[['a', 'b', 'c']], [['a', 'b'], ['c']], [['a', 'c'], ['b']], [['a'], ['b', 'c']], [['a'], ['b'], ['c']]]
    """
    block = [0] * len(items)  # of each item: its block, numbered by first appearance
    while True:
        blocks: list[list[T]] = [[] for _ in range(max(block, default=-1) + 1)]
        for item, number in zip(items, block, strict=True):
            blocks[number].append(item)
        yield blocks
        last = next((i for i in range(len(block) - 1, 0, -1) if block[i] <= max(block[:i])), None)
        if last is None:
            return
        block[last] += 1
        block[last + 1 :] = [0] * (len(block) - last - 1)
