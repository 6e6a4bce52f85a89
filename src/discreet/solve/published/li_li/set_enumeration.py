"""Enumerations of partitions into sets of values, with or without a hierarchy that guides them.

Bottom-up, blocks are merged (:class:`Merges`); top-down, a block is split in two (:class:`Splits`). Blocks are bit sets
of leaves, in the order of their first leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from discreet.counts import CodedAttribute, IntArray
from discreet.problem.schemes import Node, merged, roots
from discreet.solve.published.li_li.base import Enumeration, State, mask_of, numbered

__all__ = ["Merges", "Splits"]

Pair = tuple[int, int]


def _first(mask: int) -> int:
    """The first leaf, as a bit."""
    return mask & -mask


def _blocks_at(attribute: CodedAttribute, level: int) -> list[int]:
    """The blocks of a level."""
    masks = [0] * (int(attribute.ancestors[level].max(initial=-1)) + 1)
    for leaf, block in enumerate(attribute.ancestors[level].tolist()):
        masks[block] |= 1 << leaf
    return sorted(masks, key=_first)


class Merges(Enumeration):
    """Sets of values bottom-up: an applicator is a pair of leaves whose blocks merge.

    A state holds the blocks and, for each, the leaves ``barred`` from joining it. Pairs come in the order of the first
    leaves of their blocks. From the root on this is the tree of section 3.1: S_i merges with an earlier set S_j if S_i
    is a single value larger than all in S_j, and all sets after S_j are single values. (The paper asks that only of the
    sets in between; those after S_i must be single too, or {1,2},{3,4} would occur twice.) Any other pair was passed
    over on the way, and is barred.

    Under a hierarchy, merging two blocks takes along all values of the groups it leaves incomplete.
    """

    def __init__(self, attribute: CodedAttribute, lowest: int, highest: int, *, guided: bool) -> None:
        self._leaves = attribute.leaves
        self._tree = merged(attribute) if guided else None
        self._unions: dict[int, int] = {}
        blocks = tuple(_blocks_at(attribute, lowest))
        barred = [0] * len(blocks)
        if highest < attribute.height:
            everything = (1 << attribute.leaves) - 1
            caps = _blocks_at(attribute, highest)
            barred = [everything & ~next(cap for cap in caps if cap & block) for block in blocks]
        self.root = self._state(blocks, barred)

    def applicators(self, state: State) -> Iterator[Pair]:
        """Yield pairs of blocks, as their first leaves."""
        blocks, barred = state
        for i, block in enumerate(blocks):
            for other in blocks[i + 1 :]:
                if not barred[i] & other:
                    yield _first(block).bit_length() - 1, _first(other).bit_length() - 1

    def is_open(self, state: State, applicator: Pair) -> bool:
        """Return whether the leaves are in two blocks that may merge."""
        i, j = self._indices(state, applicator)
        return i != j and not state[1][i] & state[0][j]

    def apply(self, state: State, applicator: Pair) -> State:
        """Merge the blocks of the two leaves, and what has to go along."""
        blocks, barred = state
        i, j = self._indices(state, applicator)
        union = self._union(blocks[i] | blocks[j])
        kept = [(b, a | union if a & union else a) for b, a in zip(blocks, barred, strict=True) if not b & union]
        ruled_out = reduce(or_, (a for b, a in zip(blocks, barred, strict=True) if b & union))
        pairs = sorted([*kept, (union, ruled_out)], key=lambda pair: _first(pair[0]))
        return self._state(tuple(b for b, _ in pairs), [a for _, a in pairs])

    def without(self, state: State, applicator: Pair) -> State:
        """Bar the blocks of the two leaves from merging."""
        blocks, barred = state
        i, j = self._indices(state, applicator)
        further = list(barred)
        further[i] |= blocks[j]
        further[j] |= blocks[i]
        return self._state(blocks, further)

    def frozen(self, state: State) -> State:
        """Bar all merges."""
        everything = (1 << self._leaves) - 1
        return state[0], tuple(everything & ~block for block in state[0])

    def own(self, state: State) -> IntArray:
        """Return the blocks."""
        return numbered(state[0], self._leaves)

    def extreme(self, state: State) -> IntArray:
        """Return the blocks after merging all that may merge, in whatever order.

        If two blocks may merge, so may all that go along.
        """
        everything = (1 << self._leaves) - 1
        joined: list[int] = []
        for barred in state[1]:
            free = everything & ~barred
            touched = [block for block in joined if block & free]
            joined = [block for block in joined if not block & free]
            joined.append(reduce(or_, touched, free))
        return numbered(sorted(joined, key=_first), self._leaves)

    def _indices(self, state: State, applicator: Pair) -> Pair:
        """The indices of the blocks that two leaves are in."""
        x, y = (next(i for i, block in enumerate(state[0]) if block >> leaf & 1) for leaf in applicator)
        return x, y

    def _union(self, union: int) -> int:
        """The smallest valid block that contains a union of blocks."""
        found = self._unions.get(union)
        if found is None:
            found = self._unions[union] = union if self._tree is None else _smallest(self._tree, union)
        return found

    def _state(self, blocks: tuple[int, ...], barred: list[int]) -> State:
        """The state, with merges barred as well that would take along what is barred."""
        if self._tree is not None:
            for i, block in enumerate(blocks):
                for j in range(i + 1, len(blocks)):
                    union = self._union(block | blocks[j])
                    if union == block | blocks[j]:
                        continue
                    if any(a & union for b, a in zip(blocks, barred, strict=True) if b & union):
                        barred[i] |= blocks[j]
                        barred[j] |= block
        return blocks, tuple(barred)


def _smallest(node: Node, union: int) -> int:
    """The smallest block that contains a union and, if it leaves a group of the hierarchy, all of that group."""
    while True:
        touched = [child for child in node.children if union & mask_of(child.leaves)]
        if len(touched) > 1:
            return mask_of(leaf for child in touched for leaf in child.leaves)
        node = touched[0]


class Splits(Enumeration):
    """Sets of values top-down: an applicator is the part a block loses, which becomes a block of its own.

    Only the block whose first value comes last may be split, and the part with its first value stays. So the parent of
    a partition is the one with its last two blocks merged, which makes it unique. Under a hierarchy this holds for the
    children of each node; a child that is a block by itself may be divided in the same manner, after which neither the
    other children nor those before it change any more.

    A state holds the blocks and the applicators ruled out, None for all.
    """

    is_list = True

    def __init__(self, attribute: CodedAttribute, lowest: int, highest: int, *, guided: bool) -> None:
        self._leaves = attribute.leaves
        bottom = _blocks_at(attribute, lowest)
        if not guided:
            tops = [(1 << attribute.leaves) - 1] if highest == attribute.height else _blocks_at(attribute, highest)
            self._forest = [_flat([block for block in bottom if block & top]) for top in tops]
        else:
            below = replace(attribute, ancestors=attribute.ancestors[: highest + 1])
            whole = (merged(attribute),) if highest == attribute.height else roots(below)
            self._forest = [_pruned(node, bottom) for node in whole]
        self.root = (tuple(sorted((mask_of(node.leaves) for node in self._forest), key=_first)), frozenset())

    def applicators(self, state: State) -> Iterator[int]:
        """Yield the parts that may be split off, those of earlier nodes first."""
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
        """Return the blocks after splitting all that may be split."""
        if next(self.applicators(state), None) is None:
            return self.own(state)
        blocks: list[int] = []
        self._finest(self._forest, set(state[0]), blocks)
        return numbered(sorted(blocks, key=_first), self._leaves)

    def children(self, state: State) -> Iterator[State]:
        """Yield the partitions after one split; what one rules out does not concern the others."""
        return (self.apply(state, part) for part in self.applicators(state))

    def _in_forest(self, nodes: Sequence[Node], blocks: set[int]) -> Iterator[int]:
        """The parts that may be split off within nodes that share no block."""
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
        """Add the blocks after splitting all that may be split within nodes that share no block."""
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
    """The children of a node, grouped by block in the order of first children; and the children alone in theirs."""
    if not node.children:
        return [[]], []
    groups: dict[int, list[Node]] = {}
    for child in node.children:
        mask = mask_of(child.leaves)
        owner = next((block for block in blocks if block & mask == mask), mask)
        groups.setdefault(owner, []).append(child)
    return list(groups.values()), [group[0] for group in groups.values() if len(group) == 1]


def _parts(group: Sequence[Node]) -> Iterator[int]:
    """Every nonempty choice of nodes of a group without the first, as one set of leaves."""
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
    """The node without anything below the bottom blocks."""
    whole = mask_of(node.leaves)
    if not node.children or any(block & whole == whole for block in bottom):
        return Node(node.leaves)
    return Node(node.leaves, tuple(_pruned(child, bottom) for child in node.children))


def _leaves_of(mask: int) -> tuple[int, ...]:
    return tuple(leaf for leaf in range(mask.bit_length()) if mask >> leaf & 1)
