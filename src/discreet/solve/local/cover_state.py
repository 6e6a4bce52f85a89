"""A local recoding whose covers are free: each entry shows of every attribute a node, a range or a set of its own.

Groups of ordinary local recoding show what covers their own rows. Where key sets are promised, rows that differ in one
attribute may share the cover of another, so that covers are kept for each entry and attribute as one *code*: the node
``level * (leaves + 1) + block``, the range ``low * leaves + high``, or the number of a set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, FloatArray, IntArray
from discreet.problem import Classes, Problem
from discreet.runtime.integer_codes import add_up, first_of, numbered
from discreet.solve._base import GroupCovers, LocalRecoding

__all__ = ["AttributeCovers", "CoverState", "exact_codes", "rates_of", "tightened", "top_codes"]

Ints = NDArray[np.int64]


class AttributeCovers:
    """The covers of one attribute, as codes."""

    def __init__(self, attribute: CodedAttribute) -> None:
        self.attribute = attribute
        self.leaves = attribute.leaves
        self.is_range = attribute.positions is not None
        self.sets: list[tuple[int, ...]] = []
        self._set_numbers: dict[tuple[int, ...], int] = {}
        self._lowest = self._lowest_levels() if attribute.tree else []

    def _lowest_levels(self) -> list[Ints]:
        """Return for each level the lowest one at which each of its blocks stands."""
        attribute = self.attribute
        found = [np.zeros(attribute.leaves, dtype=np.int64)]
        for level in range(1, attribute.height + 1):
            example = first_of(attribute.ancestors[level], attribute.block_leaves[level].size)
            below = attribute.ancestors[level - 1, example]
            same = attribute.block_leaves[level] == attribute.block_leaves[level - 1][below]
            found.append(np.where(same, found[-1][below], level))
        return found

    def nodes(self, level: IntArray, leaf: IntArray) -> Ints:
        """Return the node above each leaf at a level; above the highest level is what covers everything."""
        low = np.full(leaf.size, self.attribute.height + 1, dtype=np.int64)
        block = np.zeros(leaf.size, dtype=np.int64)
        for each in np.unique(level[level <= self.attribute.height]).tolist():
            here = level == each
            low[here] = self._lowest[each][self.attribute.ancestors[each, leaf[here]]]
        for each in np.unique(low[low <= self.attribute.height]).tolist():
            here = low == each
            block[here] = self.attribute.ancestors[each, leaf[here]]
        return low * (self.leaves + 1) + block

    def set_number(self, leaves: tuple[int, ...]) -> int:
        """Return the code of a set of leaves."""
        if leaves not in self._set_numbers:
            self._set_numbers[leaves] = len(self.sets)
            self.sets.append(leaves)
        return self._set_numbers[leaves]

    def exact(self, leaf: IntArray) -> Ints:
        """Return the covers that show each leaf itself."""
        if self.attribute.tree:
            return self.nodes(np.zeros(leaf.size, dtype=np.int64), leaf)
        if self.is_range:
            return self.ranges(leaf, leaf)
        numbers = np.array([self.set_number((each,)) for each in range(self.leaves)], dtype=np.int64)
        return numbers[leaf]

    def ranges(self, low: IntArray, high: IntArray) -> Ints:
        """Return the covers of ranges of leaves, rounded to the grid if there is one."""
        first, last = self.attribute.rounded(low, high)
        return np.asarray(first, dtype=np.int64) * self.leaves + last

    def top(self, count: int) -> Ints:
        """Return the cover of everything, so many times."""
        if self.attribute.tree:
            height = np.full(count, self.attribute.height, dtype=np.int64)
            rooted = self.attribute.block_leaves[-1].size == 1
            return self.nodes(height if rooted else height + 1, np.zeros(count, dtype=np.int64))
        if self.is_range:
            return self.ranges(np.zeros(count, dtype=np.int64), np.full(count, self.leaves - 1, dtype=np.int64))
        return np.full(count, self.set_number(tuple(range(self.leaves))), dtype=np.int64)

    def of_blocks(self, blocks: IntArray, leaf: IntArray) -> Ints:
        """Return the cover of the block that each leaf is in; ``blocks`` has the block of every leaf."""
        example = first_of(blocks, int(blocks.max()) + 1)
        if self.attribute.tree:
            level = np.full(example.size, self.attribute.height, dtype=np.int64)
            leaves = np.bincount(blocks)
            for each in range(self.attribute.height, -1, -1):
                level[self.attribute.block_leaves[each][self.attribute.ancestors[each, example]] == leaves] = each
            return self.nodes(level, example)[blocks[leaf]]
        if self.is_range:
            last = self.leaves - 1 - first_of(blocks[::-1], example.size)
            return self.ranges(example, last)[blocks[leaf]]
        members = [tuple(np.flatnonzero(blocks == block).tolist()) for block in range(example.size)]
        return np.array([self.set_number(each) for each in members], dtype=np.int64)[blocks[leaf]]

    def of_groups(self, covers: GroupCovers) -> Ints:
        """Return what each group of a local recoding shows."""
        if covers.form == "node":
            level, block = covers.first.astype(np.int64), covers.second.astype(np.int64)
            leaf = np.zeros(level.size, dtype=np.int64)
            for each in np.unique(level[level <= self.attribute.height]).tolist():
                here = level == each
                blocks = self.attribute.ancestors[each]
                leaf[here] = first_of(blocks, int(blocks.max()) + 1)[block[here]]
            return self.nodes(level, leaf)
        if covers.form == "range":
            return covers.first.astype(np.int64) * self.leaves + covers.second
        each_set = (covers.leaves[a:b].tolist() for a, b in zip(covers.first, covers.second, strict=True))
        return np.array([self.set_number(tuple(sorted(leaves))) for leaves in each_set], dtype=np.int64)

    def below(self, code: int, leaf: IntArray) -> Ints | None:
        """Return what shows more of each leaf than a cover does, one step further; None if it is a single value."""
        if self.attribute.tree:
            level = code // (self.leaves + 1)
            return None if level == 0 else self.nodes(np.full(leaf.size, level - 1, dtype=np.int64), leaf)
        if not self.is_range:
            return None if len(self.sets[code]) == 1 else self.exact(leaf)
        low, high = divmod(code, self.leaves)
        if low == high:
            return None
        middle = self._median_cut(low, high)
        first = leaf <= middle
        found = self.ranges(np.where(first, low, middle + 1), np.where(first, middle, high))
        return None if (found == code).any() else found

    def _median_cut(self, low: int, high: int) -> int:
        """Return where a range is split in two: missing values apart, else at the median row."""
        positions = self.attribute.positions
        assert positions is not None
        if np.isnan(positions[high]):
            return high - 1
        rows = np.cumsum(self.attribute.rows[low : high + 1])
        return low + min(int(np.searchsorted(rows, rows[-1] / 2)), high - low - 1)

    def as_groups(self, codes: Ints) -> GroupCovers:
        """Return covers as a local recoding has them."""
        if self.attribute.tree:
            return GroupCovers("node", codes // (self.leaves + 1), codes % (self.leaves + 1))
        if self.is_range:
            rounded = self.attribute.grid is not None
            return GroupCovers("range", codes // self.leaves, codes % self.leaves, rounded=rounded)
        each = [self.sets[code] for code in codes.tolist()]
        sizes = np.array([len(leaves) for leaves in each], dtype=np.int64)
        ends = np.cumsum(sizes)
        leaves = np.array([leaf for own in each for leaf in own], dtype=np.int64)
        return GroupCovers("set", ends - sizes, ends, leaves)

    def columns(self, codes: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
        """Return low, high, block_leaves, set_sizes, block_levels and blocks of covers, as :class:`Classes` has them.

        Low and high of a node are numbers in the order of the tree, as for groups of ordinary local recoding.
        """
        zero = np.zeros(codes.size, dtype=np.int64)
        if self.attribute.tree:
            level, block = codes // (self.leaves + 1), codes % (self.leaves + 1)
            under = np.full(codes.size, self.leaves, dtype=np.int64)
            for each, leaves in enumerate(self.attribute.block_leaves):
                here = level == each
                under[here] = leaves[block[here]]
            return zero, under - 1, under, zero, level, block
        if self.is_range:
            low, high = codes // self.leaves, codes % self.leaves
            positions = self.attribute.positions
            assert positions is not None
            mixed = np.isnan(positions[high]) & (low < high)
            return low, high, np.where(mixed, self.leaves, high - low + 1), zero, zero, zero
        low = np.array([self.sets[code][0] for code in codes.tolist()], dtype=np.int64)
        high = np.array([self.sets[code][-1] for code in codes.tolist()], dtype=np.int64)
        size = np.array([len(self.sets[code]) for code in codes.tolist()], dtype=np.int64)
        return low, high, size, size, zero, zero


@dataclass(frozen=True, eq=False)
class CoverState:
    """A local recoding by entries: ``count[e]`` rows of tuple ``tuples[e]`` show ``codes[i, e]`` of attribute i."""

    tuples: Ints
    count: Ints
    codes: Ints
    stays: NDArray[np.bool_]

    @property
    def suppressed(self) -> int:
        """The number of suppressed rows."""
        return int(self.count[~self.stays].sum())

    def with_codes(self, codes: Ints, stays: NDArray[np.bool_] | None = None) -> CoverState:
        """Return the same entries that show something else."""
        return replace(self, codes=codes, stays=self.stays if stays is None else stays)

    def groups(self) -> tuple[Ints, Ints]:
        """Return the group of each entry, -1 if it is suppressed, and the first entry of each group."""
        there = np.flatnonzero(self.stays)
        columns = [np.unique(column[there], return_inverse=True)[1].reshape(-1) for column in self.codes]
        number, count = numbered(there.size, [(column, int(column.max(initial=0)) + 1) for column in columns])
        group = np.full(self.tuples.size, -1, dtype=np.int64)
        group[there] = number
        return group, there[first_of(number, count)]

    def classes(self, problem: Problem, covers: Sequence[AttributeCovers]) -> Classes:
        """Return the released classes, as costs see them."""
        group, first = self.groups()
        sizes = add_up(group[self.stays], self.count[self.stays], first.size)
        return classes_of(problem, covers, self.codes[:, first], sizes)

    def cost(self, problem: Problem, covers: Sequence[AttributeCovers]) -> float:
        """Return what the release costs."""
        penalty = float(problem.cost.suppressed_row(problem.table))  # type: ignore[attr-defined]
        return float(problem.cost.published(self.classes(problem, covers)).sum()) + penalty * self.suppressed

    def recoding(self, covers: Sequence[AttributeCovers]) -> LocalRecoding:
        """Return it as a local recoding."""
        group, first = self.groups()
        shown = [own.as_groups(column[first]) for own, column in zip(covers, self.codes, strict=True)]
        return LocalRecoding(self.tuples, group, self.count, shown)


def classes_of(problem: Problem, covers: Sequence[AttributeCovers], codes: Ints, sizes: Ints) -> Classes:
    """Return classes that show these covers, ``codes[i, c]`` of attribute i."""
    each = [own.columns(column) for own, column in zip(covers, codes, strict=True)]
    low, high, under, sets, levels, blocks = (
        np.stack(part, axis=1).astype(np.int32) for part in zip(*each, strict=True)
    )
    return Classes(
        problem.table,
        sizes.astype(np.int64),
        low=low,
        high=high,
        set_sizes=sets,
        block_leaves=under,
        block_levels=levels,
        blocks=blocks,
        local=True,
    )


def rates_of(problem: Problem, covers: Sequence[AttributeCovers], attribute: int, codes: Ints) -> FloatArray:
    """Return the cost of a row that shows these covers of one attribute and the exact values of all others."""
    leaf = np.zeros(codes.size, dtype=np.int64)
    shown = np.stack([codes if i == attribute else own.exact(leaf) for i, own in enumerate(covers)])
    return problem.cost.published(classes_of(problem, covers, shown, np.ones(codes.size, dtype=np.int64)))


def exact_codes(problem: Problem, covers: Sequence[AttributeCovers], tuples: IntArray) -> Ints:
    """Return the covers that show some tuples exactly."""
    return np.stack([own.exact(codes[tuples]) for own, codes in zip(covers, problem.table.codes, strict=True)])


def top_codes(covers: Sequence[AttributeCovers], count: int) -> Ints:
    """Return the covers that show nothing, for so many entries."""
    return np.stack([own.top(count) for own in covers])


def tightened(problem: Problem, covers: Sequence[AttributeCovers], state: CoverState) -> CoverState:
    """Return the state with ranges and sets no wider than the released values that show them: what goes is not named.

    All entries that show one cover show the same narrower one, so that they stay alike.
    """
    codes = state.codes.copy()
    there = np.flatnonzero(state.stays)
    for i, own in enumerate(covers):
        if own.attribute.tree or not there.size:
            continue
        leaf = problem.table.codes[i, state.tuples[there]].astype(np.int64)
        shown, number = np.unique(codes[i, there], return_inverse=True)
        number = number.reshape(-1)
        if own.is_range:
            low, high = np.full(shown.size, own.leaves), np.full(shown.size, -1)
            np.minimum.at(low, number, leaf)
            np.maximum.at(high, number, leaf)
            codes[i, there] = own.ranges(low, high)[number]
        else:
            pairs = np.unique(number * own.leaves + leaf)
            members = np.split(pairs % own.leaves, np.flatnonzero(np.diff(pairs // own.leaves)) + 1)
            codes[i, there] = np.array([own.set_number(tuple(each.tolist())) for each in members])[number]
    return state.with_codes(codes)
