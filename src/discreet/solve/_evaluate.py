"""Evaluation of lattice nodes with any privacy models and any cost, through their array interface.

Grouping is compiled and rolls up from earlier nodes; models and costs see plain arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, Grouping, IntArray
from discreet.kernels.classes import (
    CODES,
    PACKS,
    ClassLists,
    Lattice,
    Workspace,
    class_ids,
    group,
    keep_list,
    source_of,
)
from discreet.problem import Classes, Problem
from discreet.solve._gather import Arrays, Gatherer, Released, dense, roll_up
from discreet.solve._space import make_lists, make_workspace

__all__ = ["Evaluation", "NodeEvaluator", "dense", "lay_out", "make_lists", "make_workspace"]

_laid_out: WeakKeyDictionary[CountTable, Lattice] = WeakKeyDictionary()

_PACK = CODES
"""The most codes a pack of attributes may have."""


class Evaluation(NamedTuple):
    """What one node tells: see :mod:`discreet.kernels.search`."""

    removed: float
    lower: float
    upper: float
    cost: float
    classes: int
    suppressed_rows: int
    suppressed: NDArray[np.bool_]
    """Whether each tuple is suppressed; empty unless asked for."""


def lay_out(problem: Problem) -> Lattice:
    """Flatten the tuples and hierarchies of a problem for the kernels."""
    lattice = _laid_out.get(problem.table)
    if lattice is None:
        lattice = _laid_out[problem.table] = _lay_out(problem.table)
    lowest, highest = np.array(problem.lowest, dtype=np.int64), np.array(problem.highest, dtype=np.int64)
    return lattice._replace(lowest=lowest, highest=highest)


def _lay_out(table: CountTable) -> Lattice:
    """Flatten the tuples of a table and its hierarchies, all levels of them."""
    heights = np.array([attribute.height for attribute in table.attributes])
    leaves = np.array([attribute.leaves for attribute in table.attributes])
    own = np.arange(heights.max() + 1) <= heights[:, None]
    rows = [rows for attribute in table.attributes for rows in attribute.block_rows]
    share = np.concatenate(rows) / table.n
    surprise = -share * np.log(share, out=np.zeros_like(share), where=share > 0)
    start, blocks, entropy = np.zeros(own.shape, np.int64), np.ones(own.shape, np.int64), np.zeros(own.shape)
    start[own] = np.cumsum([0, *np.repeat(leaves, heights + 1)])[:-1]
    blocks[own] = [row.size for row in rows]
    entropy[own] = np.add.reduceat(surprise, np.cumsum([0, *blocks[own]])[:-1])
    packs, wide = _pack(leaves.tolist())
    return Lattice(
        codes=np.ascontiguousarray(table.codes, dtype=np.int32),
        ancestors=np.concatenate([a.ancestors.ravel() for a in table.attributes]).astype(np.int32, copy=False),
        start=start,
        blocks=blocks,
        lowest=np.zeros_like(heights),
        highest=heights,
        entropy=entropy,
        member=np.array([i for pack in packs for i in pack], dtype=np.int64),
        first=np.cumsum([0, *(len(pack) for pack in packs)], dtype=np.int64),
        size=np.array([leaves[pack].prod() for pack in packs], dtype=np.int64),
        digit=_pack_digits(table, packs),
        wide=np.array(wide, dtype=np.int64),
    )


def _pack(leaves: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """Put attributes together, largest first, wherever the product of their leaves stays small; the rest are wide."""
    packs: list[list[int]] = []
    wide = [i for i, count in enumerate(leaves) if count > _PACK]
    for i in sorted(set(range(len(leaves))) - set(wide), key=lambda i: (-leaves[i], i)):
        room = (pack for pack in packs if leaves[i] * prod(leaves[a] for a in pack) <= _PACK)
        home = next(room, None)
        if home is None:
            packs.append([i])
        else:
            home.append(i)
    return packs + [[] for _ in range(-len(packs) % PACKS)], wide


def _pack_digits(table: CountTable, packs: list[list[int]]) -> NDArray[np.uint8]:
    """What leaf of each packed attribute every code of its pack stands for."""
    digits = np.zeros((sum(len(pack) for pack in packs), CODES), dtype=np.uint8)
    row = 0
    for pack in packs:
        code = np.arange(CODES)
        for i in pack:
            digits[row] = code % table.attributes[i].leaves
            code //= table.attributes[i].leaves
            row += 1
    return digits


class _Rolled:
    """What is kept with the classes of a list, added up from those of the list below it when it is asked for."""

    def __init__(self, below: _Rolled, ids: IntArray, count: int) -> None:
        self.below, self.ids, self.count = below, ids, count

    @cached_property
    def arrays(self) -> Arrays:
        """The arrays, one row for each class."""
        return roll_up(self.below.arrays, self.ids, self.count)


class _Tuples(_Rolled):
    """What is kept with the tuples themselves."""

    def __init__(self, arrays: Arrays) -> None:
        self.__dict__["arrays"] = arrays


class NodeEvaluator:
    """Evaluates nodes of a problem's lattice with its own models and cost.

    Pool and scratch space of a search that is over may be handed on, for evaluations with ``tuples``; ``columns`` are
    sensitive ones to gather beside those the models look at.
    """

    def __init__(
        self,
        problem: Problem,
        lattice: Lattice,
        lists: ClassLists | None = None,
        ws: Workspace | None = None,
        columns: Iterable[str] = (),
    ) -> None:
        self.problem = problem
        self.lattice = lattice
        self.table = problem.table
        self.gatherer = Gatherer(problem, columns)
        self.lists = lists or make_lists(self.table, lattice, np.zeros((self.table.tuples, 0)))
        self.ws = ws or make_workspace(lattice)
        self.kept: list[_Rolled] = [_Tuples(self.gatherer.tuples)]

    def evaluate(self, node: IntArray, *, tuples: bool = False) -> Evaluation:
        """Evaluate a node; with ``tuples`` also say which tuples are suppressed there."""
        problem = self.problem
        grouping, rolled = self._group(node, keep=not tuples)
        released = Released.by_levels(self.table, node)
        sizes = grouping.sizes
        ok = np.ones(sizes.size, dtype=np.bool_)
        removed, lower, upper, published, suppressed = 0.0, 0.0, 0.0, 0.0, 0.0
        for part, classes in self.gatherer.portions(grouping, rolled, released):
            fine = problem.ok(classes)
            ok[part] = fine
            must = self._must_remove(classes, fine)
            removed += float(must.sum())
            penalty = problem.cost.suppressed(classes)
            if problem.cost.additive:
                published += float(problem.cost.published(classes)[fine].sum())
                suppressed += float(penalty[~fine].sum())
            if problem.cost.superadditive:
                floor = problem.cost.floor(classes, problem.smallest_class)
                lower += float(floor.sum())
                if problem.superset_closed:
                    upper += float((penalty - floor)[~fine].sum())
                else:
                    upper += float((must * problem.cost.margin(classes, problem.smallest_class)).sum())
        gone = int(sizes[~ok].sum())
        total = published + suppressed
        if not problem.cost.additive:
            whole = self.gatherer.classes(grouping, rolled, released, slice(0, sizes.size))
            total = problem.cost.total(whole, ok)
            lower = problem.cost.lower(whole, problem.limit)
        return Evaluation(
            removed=removed,
            lower=lower,
            upper=upper,
            cost=total if gone <= problem.limit and problem.holds(sizes[ok]) else np.inf,
            classes=int(ok.sum()),
            suppressed_rows=gone,
            suppressed=~ok[grouping.ids] if tuples else np.zeros(0, dtype=np.bool_),
        )

    def all_ok(self, node: IntArray) -> bool:
        """Return whether every class of a node is ok."""
        grouping, rolled = self._grouped(node, keep=True)
        if grouping.sizes.min(initial=self.problem.smallest_class) < self.problem.smallest_class:
            return False
        released = Released.by_levels(self.table, node) if self.gatherer.counts_people else None
        portions = self.gatherer.portions(grouping, rolled.arrays, released)
        each = (bool(self.problem.ok(classes).all()) for _, classes in portions)
        return self.problem.holds(grouping.sizes) and all(each)

    def _group(self, node: IntArray, *, keep: bool) -> tuple[Grouping, Arrays]:
        """Find the classes of a node and what is kept with them."""
        grouping, rolled = self._grouped(node, keep=keep)
        return grouping, rolled.arrays

    def _grouped(self, node: IntArray, *, keep: bool) -> tuple[Grouping, _Rolled]:
        """Find the classes of a node, rolling up from an earlier one; with ``keep`` later ones may roll up from it."""
        levels, tuples = np.asarray(node, dtype=np.int64), self.table.tuples
        keep = keep and self.gatherer.dense
        source = 0
        if keep:
            source = source_of(self.lists, levels)
        else:
            self.lists.used[0], self.lists.used[1] = 1, tuples
            del self.kept[1:]
        entries = int(self.lists.count[source])
        count = group(self.lattice, self.lists, self.ws, source, levels)
        class_ids(self.ws, entries, count)
        ids = self.ws.ids[:entries].copy()
        end = int(self.lists.used[1])
        first, sizes = self.lists.rep[end : end + count].copy(), self.lists.size[end : end + count].copy()
        rolled = _Rolled(self.kept[source], ids, count)
        if keep:
            kept = keep_list(self.lists, source, levels, count, tuples)
            if kept >= 0:
                del self.kept[kept:]
                self.kept.append(rolled)
        return Grouping(ids, first, sizes), rolled

    def _must_remove(self, classes: Classes, ok: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many rows of each class are suppressed at this node and at every node below, at least."""
        if self.problem.superset_closed:
            return np.where(ok, 0, classes.sizes).astype(np.int64)
        must = self.problem.fewest_removed(classes)
        if self.problem.union_closed:
            must = np.where(ok, must, np.maximum(must, 1))
        return must.astype(np.int64)
