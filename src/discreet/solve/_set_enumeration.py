"""Partitions into any sets of values, with or without a hierarchy that guides them, each met exactly once.

From below, blocks are merged (:class:`Merges`); from above, a block is split in two (:class:`Splits`). Blocks are bit
sets of leaves, in the order of their first leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from discreet.counts import CodedAttribute, IntArray
from discreet.problem.schemes._tree import Node, merged, roots
from discreet.solve._enumeration_base import Enumeration, State, mask_of, numbered

__all__ = ["Merges", "Splits"]

Pair = tuple[int, int]


def _first(mask: int) -> int:
    """The first leaf, as a bit."""
    return mask & -mask


def _at(attribute: CodedAttribute, level: int) -> list[int]:
    """The blocks of a level."""
    masks = [0] * (int(attribute.ancestors[level].max(initial=-1)) + 1)
    for leaf, block in enumerate(attribute.ancestors[level].tolist()):
        masks[block] |= 1 << leaf
    return sorted(masks, key=_first)


class Merges(Enumeration):
    """Sets of values from below: an applicator is a pair of leaves whose blocks become one.

    The state holds the blocks and, for each, the leaves it must stay apart from. Pairs come in the order of their
    leaves, the first of their blocks. From the root on, that is the tree of section 3.1 of the paper: a set S_i merges
    with a set S_j before it if S_i has a single value, all sets after S_j have (those in between must; so must those
    after S_i, or {1,2},{3,4} would be made twice), and this value is larger than all in S_j. Any other pair was passed
    over on the way, and so is apart.

    Where a hierarchy guides, merging two blocks takes along all values of the groups that are left.
    """

    def __init__(self, attribute: CodedAttribute, lowest: int, highest: int, *, guided: bool) -> None:
        self._leaves = attribute.leaves
        self._tree = merged(attribute) if guided else None
        self._unions: dict[int, int] = {}
        blocks = tuple(_at(attribute, lowest))
        apart = [0] * len(blocks)
        if highest < attribute.height:
            everything = (1 << attribute.leaves) - 1
            caps = _at(attribute, highest)
            apart = [everything & ~next(cap for cap in caps if cap & block) for block in blocks]
        self.root = self._state(blocks, apart)

    def applicators(self, state: State) -> Iterator[Pair]:
        """Yield pairs of blocks, each as their first leaves."""
        blocks, apart = state
        for i, block in enumerate(blocks):
            for other in blocks[i + 1 :]:
                if not apart[i] & other:
                    yield _first(block).bit_length() - 1, _first(other).bit_length() - 1

    def is_open(self, state: State, applicator: Pair) -> bool:
        """Return whether the leaves are in two blocks that need not stay apart."""
        i, j = self._places(state, applicator)
        return i != j and not state[1][i] & state[0][j]

    def apply(self, state: State, applicator: Pair) -> State:
        """Merge the blocks of the two leaves, with what has to go along."""
        blocks, apart = state
        i, j = self._places(state, applicator)
        union = self._union(blocks[i] | blocks[j])
        kept = [(b, a | union if a & union else a) for b, a in zip(blocks, apart, strict=True) if not b & union]
        ruled_out = reduce(or_, (a for b, a in zip(blocks, apart, strict=True) if b & union))
        pairs = sorted([*kept, (union, ruled_out)], key=lambda pair: _first(pair[0]))
        return self._state(tuple(b for b, _ in pairs), [a for _, a in pairs])

    def without(self, state: State, applicator: Pair) -> State:
        """Keep the blocks of the two leaves apart."""
        blocks, apart = state
        i, j = self._places(state, applicator)
        further = list(apart)
        further[i] |= blocks[j]
        further[j] |= blocks[i]
        return self._state(blocks, further)

    def frozen(self, state: State) -> State:
        """Keep all blocks apart."""
        everything = (1 << self._leaves) - 1
        return state[0], tuple(everything & ~block for block in state[0])

    def own(self, state: State) -> IntArray:
        """Return the blocks."""
        return numbered(state[0], self._leaves)

    def extreme(self, state: State) -> IntArray:
        """Return what comes of merging all that may be merged, one after the other or in another way.

        If two blocks may be merged, so may all that go along.
        """
        everything = (1 << self._leaves) - 1
        joined: list[int] = []
        for apart in state[1]:
            free = everything & ~apart
            touched = [block for block in joined if block & free]
            joined = [block for block in joined if not block & free]
            joined.append(reduce(or_, touched, free))
        return numbered(sorted(joined, key=_first), self._leaves)

    def _places(self, state: State, applicator: Pair) -> Pair:
        """The places of the blocks that two leaves are in."""
        x, y = (next(i for i, block in enumerate(state[0]) if block >> leaf & 1) for leaf in applicator)
        return x, y

    def _union(self, union: int) -> int:
        """The smallest valid block that holds all of a union of blocks."""
        found = self._unions.get(union)
        if found is None:
            found = self._unions[union] = union if self._tree is None else _smallest(self._tree, union)
        return found

    def _state(self, blocks: tuple[int, ...], apart: list[int]) -> State:
        """The state, with those blocks kept apart as well that would take along what must stay apart."""
        if self._tree is not None:
            for i, block in enumerate(blocks):
                for j in range(i + 1, len(blocks)):
                    union = self._union(block | blocks[j])
                    if union == block | blocks[j]:
                        continue
                    if any(a & union for b, a in zip(blocks, apart, strict=True) if b & union):
                        apart[i] |= blocks[j]
                        apart[j] |= block
        return blocks, tuple(apart)


def _smallest(node: Node, union: int) -> int:
    """The smallest block that holds all leaves of a union and leaves a group of the hierarchy only with all of it."""
    while True:
        inside = [child for child in node.children if union & mask_of(child.leaves)]
        if len(inside) > 1:
            return mask_of(leaf for child in inside for leaf in child.leaves)
        node = inside[0]


class Splits(Enumeration):
    """Sets of values from above: an applicator is the part a block loses, and which becomes a block of its own.

    Only the block whose first value comes last may be split, and the part with its first value stays: so the parent of
    a partition is the one with its last two blocks merged. Where a hierarchy guides, this holds for the children of
    each node; a child that is a block by itself may be divided in the same way, and then neither the other children
    nor those before it change any more.

    The state holds the blocks and the applicators ruled out, or None for all.
    """

    is_list = True

    def __init__(self, attribute: CodedAttribute, lowest: int, highest: int, *, guided: bool) -> None:
        self._leaves = attribute.leaves
        bottom = _at(attribute, lowest)
        if not guided:
            tops = [(1 << attribute.leaves) - 1] if highest == attribute.height else _at(attribute, highest)
            self._forest = [_flat([block for block in bottom if block & top]) for top in tops]
        else:
            below = replace(attribute, ancestors=attribute.ancestors[: highest + 1])
            whole = (merged(attribute),) if highest == attribute.height else roots(below)
            self._forest = [_pruned(node, bottom) for node in whole]
        self.root = (tuple(sorted((mask_of(node.leaves) for node in self._forest), key=_first)), frozenset())

    def applicators(self, state: State) -> Iterator[int]:
        """Yield the parts that may be split off, those of earlier groups first."""
        blocks, gone = state
        if gone is not None:
            yield from (part for part in self._in_forest(self._forest, set(blocks)) if part not in gone)

    def is_open(self, state: State, applicator: int) -> bool:
        """Return whether the part was not ruled out."""
        return state[1] is not None and applicator not in state[1]

    def apply(self, state: State, applicator: int) -> State:
        """Split the part off its block."""
        blocks = [block & ~applicator for block in state[0]]
        return tuple(sorted([*blocks, applicator], key=_first)), frozenset()

    def without(self, state: State, applicator: int) -> State:
        """Never split the part off."""
        return state[0], state[1] | {applicator}

    def without_all(self, state: State, applicators: Sequence[int]) -> State:
        """Never split any of the parts off."""
        return state[0], state[1].union(applicators)

    def frozen(self, state: State) -> State:
        """Split nothing off."""
        return state[0], None

    def own(self, state: State) -> IntArray:
        """Return the blocks."""
        return numbered(state[0], self._leaves)

    def extreme(self, state: State) -> IntArray:
        """Return what comes of splitting all that may be split."""
        if next(self.applicators(state), None) is None:
            return self.own(state)
        blocks: list[int] = []
        self._finest(self._forest, set(state[0]), blocks)
        return numbered(sorted(blocks, key=_first), self._leaves)

    def children(self, state: State) -> Iterator[State]:
        """Yield the partitions after one split; what was ruled out of one says nothing of the others."""
        return (self.apply(state, part) for part in self.applicators(state))

    def _in_forest(self, nodes: Sequence[Node], blocks: set[int]) -> Iterator[int]:
        """The parts that may be split off inside nodes of which none shares a block with another."""
        divided = [mask_of(node.leaves) not in blocks for node in nodes]
        last = max((i for i, yes in enumerate(divided) if yes), default=0)
        for node in nodes[last:]:
            yield from self._in_node(node, blocks)

    def _in_node(self, node: Node, blocks: set[int]) -> Iterator[int]:
        groups, alone = _grouped(node, blocks)
        if all(mask_of(child.leaves) in blocks for child in alone):
            yield from _parts(groups[-1])
        yield from self._in_forest(alone, blocks)

    def _finest(self, nodes: Sequence[Node], blocks: set[int], found: list[int]) -> None:
        """Add the blocks that come of splitting all that may be split inside nodes that share no block."""
        divided = [mask_of(node.leaves) not in blocks for node in nodes]
        last = max((i for i, yes in enumerate(divided) if yes), default=-1)
        for i, node in enumerate(nodes):
            whole = mask_of(node.leaves)
            if i < last:
                found.extend(block for block in blocks if block & whole)
            elif i > last:
                found.extend(_atoms(node))
            else:
                self._finest_in(node, blocks, found)

    def _finest_in(self, node: Node, blocks: set[int], found: list[int]) -> None:
        groups, alone = _grouped(node, blocks)
        undivided = all(mask_of(child.leaves) in blocks for child in alone)
        for group in groups:
            if len(group) > 1:
                if undivided and group is groups[-1]:
                    found.extend(atom for child in group for atom in _atoms(child))
                else:
                    found.append(mask_of(leaf for child in group for leaf in child.leaves))
        self._finest(alone, blocks, found)


def _grouped(node: Node, blocks: set[int]) -> tuple[list[list[Node]], list[Node]]:
    """The children of a node in groups that are one block, in the order of their first ones; and those alone."""
    if not node.children:
        return [[]], []
    groups: dict[int, list[Node]] = {}
    for child in node.children:
        mask = mask_of(child.leaves)
        holds = next((block for block in blocks if block & mask == mask), mask)
        groups.setdefault(holds, []).append(child)
    return list(groups.values()), [group[0] for group in groups.values() if len(group) == 1]


def _parts(group: Sequence[Node]) -> Iterator[int]:
    """Every choice of some nodes of a group that leaves the first, as one set of leaves."""
    masks = [mask_of(node.leaves) for node in group[1:]]
    for chosen in range(1, 1 << len(masks)):
        yield reduce(or_, (mask for i, mask in enumerate(masks) if chosen >> i & 1))


def _atoms(node: Node) -> list[int]:
    """The smallest blocks in a node."""
    if not node.children:
        return [mask_of(node.leaves)]
    return [atom for child in node.children for atom in _atoms(child)]


def _flat(blocks: Sequence[int]) -> Node:
    """A node over blocks that cannot be split."""
    leaves = [Node(_leaves_of(block)) for block in blocks]
    return leaves[0] if len(leaves) == 1 else Node(tuple(sorted(x for n in leaves for x in n.leaves)), tuple(leaves))


def _pruned(node: Node, bottom: Sequence[int]) -> Node:
    """The node without what lies below the blocks of the bottom."""
    whole = mask_of(node.leaves)
    if not node.children or any(block & whole == whole for block in bottom):
        return Node(node.leaves)
    return Node(node.leaves, tuple(_pruned(child, bottom) for child in node.children))


def _leaves_of(mask: int) -> tuple[int, ...]:
    return tuple(leaf for leaf in range(mask.bit_length()) if mask >> leaf & 1)
