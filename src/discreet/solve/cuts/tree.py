"""The hierarchies of a problem as one tree of numbered values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, FloatArray, IntArray
from discreet.problem import Problem, Separable
from discreet.solve.cuts.kernels.state import ValueTree

__all__ = ["CutTree", "build_tree"]


@dataclass(frozen=True, eq=False)
class CutTree:
    """The values cuts consist of.

    A node with a single child and that child are one value, unless formal cuts are wanted. Where a level limit leaves
    several trees of one attribute, an ``auxiliary`` root joins them that no cut may hold.
    """

    tree: ValueTree
    roots: IntArray
    leaf_value: tuple[IntArray, ...]
    """For each attribute, the most specific value of each leaf that a cut may hold."""
    leaves: IntArray
    """The number of leaves under each value."""
    rows: IntArray
    """The number of rows under each value."""
    levels: IntArray
    """The lowest level of each value, -1 for auxiliary roots."""
    auxiliary: NDArray[np.bool_]

    @property
    def inner(self) -> IntArray:
        """The values with children that a cut may hold."""
        return np.flatnonzero((self.tree.end > self.tree.first) & ~self.auxiliary)

    def cuts(self) -> int:
        """Return the number of cuts."""
        below = [1] * self.auxiliary.size
        for v in range(self.auxiliary.size - 1, -1, -1):  # children have higher numbers
            if self.tree.end[v] > self.tree.first[v]:
                below[v] = (not self.auxiliary[v]) + math.prod(below[self.tree.first[v] : self.tree.end[v]])
        return math.prod(below[root] for root in self.roots.tolist())

    def generalized(self, mark: NDArray[np.int8], value: int) -> NDArray[np.int8] | None:
        """Return the cut with all values below ``value`` generalized to it; None if the cut has none below it."""
        below = (self.tree.path[self.tree.depth[value]] == value) & (mark == 1)
        if mark[value] or not below.any():
            return None
        coarser = np.where(below, 0, mark).astype(np.int8)
        coarser[value] = 1
        return coarser

    def mark(self, blocks: Sequence[IntArray]) -> NDArray[np.int8]:
        """Return the cut under which each leaf has the given block; each block must be all leaves of a value."""
        least = np.full(self.auxiliary.size, np.iinfo(np.int64).max)
        greatest = np.full(self.auxiliary.size, -1)
        for lowest, block in zip(self.leaf_value, blocks, strict=True):
            np.minimum.at(least, lowest, block)
            np.maximum.at(greatest, lowest, block)
        low, high = least.copy(), greatest.copy()
        for path in self.tree.path:
            below = np.flatnonzero(path >= 0)
            np.minimum.at(low, path[below], least[below])
            np.maximum.at(high, path[below], greatest[below])
        whole = (low == high) & ~self.auxiliary
        parent = self.tree.path[self.tree.depth - 1, np.arange(whole.size)]
        below_whole: NDArray[np.bool_] = whole[parent] & (self.tree.depth > 0)
        return np.asarray(whole & ~below_whole, dtype=np.int8)

    def blocks(self, mark: NDArray[np.int8]) -> tuple[IntArray, ...]:
        """Return for each attribute the block number of each leaf under a cut."""
        value = np.where(mark == 1, np.arange(mark.size), -1)
        for path in self.tree.path:
            value = np.maximum(value, np.where(path >= 0, np.where(mark[path] == 1, path, -1), -1))
        return tuple(np.unique(value[lowest], return_inverse=True)[1].reshape(-1) for lowest in self.leaf_value)


@dataclass(frozen=True, eq=False)
class _AttributeNodes:
    """The values of one attribute before they are numbered: parents come after their children."""

    parent: IntArray
    level: IntArray
    block: IntArray
    of_leaf: IntArray


def build_tree(problem: Problem, separable: Separable | None, order: str, formal: bool, forced: bool) -> CutTree:
    """Number the values of all attributes so that children are contiguous, and rank them.

    ``order``: "entropy" (rows times the entropy of their distribution over the children), "descending" or "ascending"
    (by rows). ``forced``: mark values whose rows are all below one child, which need not be locked.
    """
    table = problem.table
    columns: dict[str, list[NDArray[Any]]] = {
        name: [] for name in ("attribute", "parent", "depth", "leaves", "rows", "levels")
    }
    rates: list[FloatArray] = []
    moments: list[FloatArray] = []
    lowest, roots, offset = [], [], 0
    for i, attribute in enumerate(table.attributes):
        nodes = _nodes(attribute, problem.lowest[i], problem.highest[i], formal)
        number, depth = _numbered(nodes.parent)
        order_of = np.argsort(number)
        size = number.size
        parent = nodes.parent[order_of]
        columns["attribute"].append(np.full(size, i))
        columns["parent"].append(np.where(parent < 0, -1, number[parent] + offset))
        columns["depth"].append(depth[order_of])
        columns["levels"].append(nodes.level[order_of])
        columns["leaves"].append(_of_nodes(nodes, attribute.block_leaves, attribute.leaves)[order_of].astype(np.int64))
        columns["rows"].append(_of_nodes(nodes, attribute.block_rows, table.n)[order_of].astype(np.int64))
        if separable is None:
            rates.append(np.zeros(size))
            moments.append(np.zeros(size))
        else:
            moment = separable.moment[i][table.codes[i]] * table.weights
            low = number[nodes.of_leaf][table.codes[i]]
            moments.append(np.bincount(low, weights=moment, minlength=size).astype(np.float64))
            rates.append(_of_nodes(nodes, separable.rate[i], 0)[order_of])
        lowest.append(number[nodes.of_leaf] + offset)
        roots.append(offset)
        offset += size
    attribute_of, parent, depth, leaves, rows, levels = (np.concatenate(columns[name]) for name in columns)
    rate = np.concatenate(rates)
    first, end = _children(parent)
    path = _paths(parent, depth)
    tree = ValueTree(
        attribute=attribute_of.astype(np.int32),
        first=first,
        end=end,
        depth=depth.astype(np.int32),
        path=path,
        rate=rate,
        rank=_rank(order, parent, rows),
        forced=_single(parent, rows) & forced,
        lift=_lift(path, depth, rate, np.concatenate(moments)),
    )
    return CutTree(tree, np.array(roots), tuple(lowest), leaves, rows, levels, levels < 0)


def _nodes(attribute: CodedAttribute, low: int, high: int, formal: bool) -> _AttributeNodes:
    """Return the nodes between two levels, bottom-up; the auxiliary root has level -1."""
    ancestors = attribute.ancestors
    blocks = attribute.block_leaves[low].size
    parents, levels, numbers = [np.full(blocks, -1)], [np.full(blocks, low)], [np.arange(blocks)]
    node, count = np.arange(blocks), blocks
    for level in range(low + 1, high + 1):
        up = np.zeros(node.size, dtype=np.int64)
        up[ancestors[level - 1]] = ancestors[level]
        children = np.bincount(up)
        same = children == 1
        if formal:
            repeats = attribute.repeats
            same &= np.zeros_like(same) if repeats is None else repeats[level]
        new = np.flatnonzero(~same)
        above = np.empty(children.size, dtype=np.int64)
        above[new] = count + np.arange(new.size)
        carried = same[up]
        above[up[carried]] = node[carried]
        every = np.concatenate(parents)
        every[node[~carried]] = above[up[~carried]]
        parents, count = [every, np.full(new.size, -1)], count + new.size
        levels.append(np.full(new.size, level))
        numbers.append(new)
        node = above
    parent, level_of, block = np.concatenate(parents), np.concatenate(levels), np.concatenate(numbers)
    if node.size > 1:
        parent[node] = count
        parent, level_of, block = np.append(parent, -1), np.append(level_of, -1), np.append(block, 0)
    return _AttributeNodes(parent, level_of, block, ancestors[low].astype(np.int64))


def _numbered(parent: IntArray) -> tuple[IntArray, IntArray]:
    """Number nodes by depth and parent, so that children are contiguous; returns numbers and depths."""
    depth = np.zeros(parent.size, dtype=np.int64)
    for node in range(parent.size - 1, -1, -1):  # parents come after their children
        if parent[node] >= 0:
            depth[node] = depth[parent[node]] + 1
    number = np.zeros(parent.size, dtype=np.int64)
    done = 0
    for level in range(int(depth.max()) + 1):
        nodes = np.flatnonzero(depth == level)
        if level:
            nodes = nodes[np.argsort(number[parent[nodes]], kind="stable")]
        number[nodes] = done + np.arange(nodes.size)
        done += nodes.size
    return number, depth


def _of_nodes(nodes: _AttributeNodes, by_level: Sequence[NDArray[Any]], above: int) -> FloatArray:
    """Look up a number for each node among those of its level; auxiliary roots get ``above``."""
    picked = np.full(nodes.level.size, above, dtype=np.float64)
    for level in np.unique(nodes.level[nodes.level >= 0]).tolist():
        here = nodes.level == level
        picked[here] = by_level[level][nodes.block[here]]
    return picked


def _children(parent: IntArray) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the first child of each value and the end of its children."""
    first, end = np.zeros(parent.size, dtype=np.int32), np.zeros(parent.size, dtype=np.int32)
    child = np.flatnonzero(parent >= 0)
    end[parent[child]] = child + 1
    first[parent[child[::-1]]] = child[::-1]
    return first, end


def _paths(parent: IntArray, depth: IntArray) -> NDArray[np.int32]:
    """Return (depth, value) the ancestor of each value at each depth, -1 below the value."""
    path = np.full((int(depth.max()) + 1, parent.size), -1, dtype=np.int32)
    node = np.arange(parent.size)
    while (node >= 0).any():
        known = np.flatnonzero(node >= 0)
        path[depth[node[known]], known] = node[known]
        node = np.where(node >= 0, parent[node], -1)
    return path


def _lift(path: NDArray[np.int32], depth: IntArray, rate: FloatArray, moment: FloatArray) -> FloatArray:
    """Return the extra cost of the rows of each value at that value, compared with their most specific values.

    ``moment`` is that of the rows, by most specific value.
    """
    lift = np.zeros(rate.size)
    for above in path:
        below = np.flatnonzero(above >= 0)
        more = (rate[above[below]] - rate[below]) * moment[below]
        lift += np.bincount(above[below], weights=more, minlength=rate.size)
    return lift


def _single(parent: IntArray, rows: IntArray) -> NDArray[np.bool_]:
    """Whether all rows of a value are below one child."""
    inner = np.zeros(parent.size, dtype=np.bool_)
    inner[parent[parent >= 0]] = True
    populated = np.bincount(parent[(parent >= 0) & (rows > 0)], minlength=parent.size)
    return inner & (populated <= 1)


def _rank(order: str, parent: IntArray, rows: IntArray) -> FloatArray:
    """Return the rank of each value; higher ranks are decided first, those with one decision before all others.

    Values with equally many rows, such as all roots, are ordered as the paper lists them: by column, from the root
    down, and from left to right. Its figures depend on that.
    """
    if order == "entropy":
        child = np.flatnonzero((parent >= 0) & (rows > 0))
        terms = rows[child] * np.log(rows[parent[child]] / rows[child])
        rank = np.bincount(parent[child], weights=terms, minlength=parent.size).astype(np.float64)
        rank[_single(parent, rows)] = np.inf
        return rank
    rank = np.empty(rows.size)
    rank[np.argsort(-rows, kind="stable")] = np.arange(rows.size, 0, -1)
    return -rank if order == "ascending" else rank
