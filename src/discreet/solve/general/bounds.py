"""Lower bounds over the open partitions of all attributes, through the arrays of models, cost and suppression.

One attribute at a time is priced block by block. The others are taken at their finest for the floors of published rows
and at their coarsest for what is suppressed in any case, so that both underestimate; with all others decided the price
is exact. The bound is the largest of the attributes' cheapest partitions or, if the cost is a sum over attributes and
that is more, the sum of what each attribute costs by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray
from discreet.problem import Classes, Problem, Separable
from discreet.runtime.integer_codes import add_up, compact, first_of, numbered
from discreet.solve._class_arrays import Released, node_levels
from discreet.solve._class_bounds import ClassBounds
from discreet.solve._recoding import Recoder
from discreet.solve.partitions.bounds import BoundInterrupted, NodeBound
from discreet.solve.partitions.kernels.blocks import RECORD, BlockWalk
from discreet.solve.partitions.open_partitions import AttributeItems, OpenPartitions, PricedPartitions
from discreet.solve.partitions.search import original_values

__all__ = ["BlockClasses", "GeneralBounds"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ENTRIES = 1 << 21
"""So many pairs of a block and a tuple are evaluated at once, unless one block has more."""


class GeneralBounds:
    """Bounds nodes of the search for one problem; the counterpart of ``PartitionBounds``."""

    class_by_class = True
    """No class decides about another one, so that the last attribute is priced exactly."""

    def __init__(self, problem: Problem, items: Sequence[AttributeItems]) -> None:
        self.problem, self.limit = problem, float(problem.limit)
        self.recoder, self.floors = Recoder(problem), ClassBounds(problem)
        if any(model.of_table for model in problem.privacy):
            self.class_by_class = False
        self.codes = np.stack([each.codes for each in items])
        self.is_sum = self.floors.by_attribute(self.recoder.classes(original_values(problem.table))) is not None
        self.blocks_priced = 0
        self.interrupted: Callable[[], bool] = lambda: False
        """Called before each attribute and each portion of blocks: whether to give up."""

    @staticmethod
    def block_rates(problem: Problem) -> Separable:
        """Return a cost whose rate of a block is the number of its leaves, which is all that walks need to say."""
        zeros = [np.zeros(attribute.leaves) for attribute in problem.table.attributes]
        return Separable([], zeros, zeros, zeros, lambda i, leaves, rows: np.asarray(leaves, dtype=np.float64))

    def bound(self, node: Sequence[OpenPartitions], enough: float = np.inf) -> NodeBound:
        """Price the open attributes, those with few items first; stops once the total reaches ``enough``."""
        open_ = [a for a, partitions in enumerate(node) if not partitions.decided]
        each: list[PricedPartitions | None] = [None] * len(node)
        if not open_:
            blocks = [partitions.leaf_blocks(partitions.fine) for partitions in node]
            return NodeBound(self.recoder.cost(Released.by_blocks(self.problem.table, blocks)), tuple(each), True)
        by_size = sorted(open_, key=lambda a: node[a].items.count)
        if not self.problem.cost.additive:
            return self._bound_by_counts(node, by_size, enough)
        exact = len(open_) == 1 and self.class_by_class and not self.problem.whole_people
        certain = None if exact else self._certain(node)
        total, largest = certain or 0.0, 0.0
        whole = list(each)
        for a in by_size:
            prices = self._price(node, a, exact, 0 if certain is None else len(open_))
            self.blocks_priced += prices.cost.size
            if prices.own is not None:
                own = each[a] = whole[a] = node[a].priced(prices.own, prices.gone, enough - total)
                total += np.inf if own.fewest > self.limit else own.least
                if total >= enough:
                    break
            if prices.own is None or (prices.own < prices.cost).any():
                priced = whole[a] = node[a].priced(prices.cost, prices.gone, enough)
                largest = max(largest, np.inf if priced.fewest > self.limit else priced.least)
                if largest >= enough:
                    break
        if certain is None or largest > total:
            return NodeBound(largest, tuple(whole), exact, takes_largest=True)
        return NodeBound(total, tuple(each), exact)

    def _bound_by_counts(self, node: Sequence[OpenPartitions], order: Sequence[int], enough: float) -> NodeBound:
        """Bound a cost that is no sum over classes by the most classes, or the most values of each attribute."""
        counts = _MostCounts(self.problem, node)
        each: list[PricedPartitions | None] = [None] * len(node)
        total = max(counts.bound(), self.recoder.floor(_finest(self.problem.table, node)))
        for a in order:
            if total >= enough:
                break
            prices = self._price(node, a, exact=False, shared_by=0)
            priced = each[a] = node[a].priced(prices.cost, prices.gone, enough)
            self.blocks_priced += prices.cost.size
            if priced.fewest > self.limit or np.isinf(priced.least):
                total = np.inf
            else:
                counts.limit(a, -priced.least)
                total = max(total, counts.bound())
        return NodeBound(total, tuple(each), False, takes_largest=True)

    def _certain(self, node: Sequence[OpenPartitions]) -> float | None:
        """Return what the decided attributes cost at least; None if the cost is no sum over attributes."""
        decided = np.array([partitions.decided for partitions in node])
        if not self.is_sum:
            return None
        if not decided.any():
            return 0.0
        parts = self.floors.by_attribute(self.recoder.classes(_finest(self.problem.table, node)))
        return 0.0 if parts is None else float(parts.published[:, decided].sum())

    def _price(self, node: Sequence[OpenPartitions], a: int, exact: bool, shared_by: int) -> _BlockPrices:
        """Return what each block of an attribute costs at least, and how many of its rows are suppressed.

        ``shared_by`` so many attributes is what no attribute causes alone; 0 if attributes are not priced apart.
        """
        walk = node[a].walk()
        others = _Others(self, node, a)
        cost, gone = np.zeros(walk.rates.size), np.zeros(walk.rates.size)
        own = np.zeros(walk.rates.size) if shared_by else None
        decided = np.array([partitions.decided for partitions in node])
        for block, tuples in self._portions(node[a], self.codes[a], walk):
            if self.interrupted():
                raise BoundInterrupted
            fine = others.classes(block, tuples, others.fine, walk, of_blocks=True)
            if exact:
                done = self.problem.suppression.apply(fine.classes, self.problem.privacy)
                each = np.where(done.feasible, self.recoder.costs(fine.classes, done), np.inf)
                cost += np.bincount(fine.block, weights=each, minlength=cost.size)
                removed = done.records
                if self.problem.limit_of_people:
                    removed = np.where(removed > 0, fine.classes.judged.sizes, 0)
                gone += np.bincount(fine.block, weights=removed, minlength=cost.size)
                continue
            coarse = others.classes(block, tuples, others.coarse, walk, of_blocks=False)
            rows = self._count_forced(coarse, self._forced_rows(node, a, coarse, tuples), gone)
            part, sizes = coarse.owner[fine.first], coarse.classes.sizes
            if self.problem.cost.additive:
                forced = np.bincount(coarse.block, self.floors.forced_cost(coarse.classes), minlength=cost.size)
                floors = self._floors(fine.classes, sizes[part])
                cost += forced + np.bincount(fine.block, floors.with_suppressed(part, rows, sizes), minlength=cost.size)
                if own is not None:
                    floors = self._own_floors(fine.classes, a, decided, shared_by)
                    each = floors.with_suppressed(part, rows, sizes)
                    own += forced / shared_by + np.bincount(fine.block, each, minlength=cost.size)
            elif self.problem.cost.counts_values:
                cost[coarse.block] = -1.0
            else:
                most = np.minimum(np.bincount(part), (sizes - rows) // self.floors.smallest)
                cost -= np.bincount(coarse.block, weights=most, minlength=cost.size)
        apart = self.problem.whole_people  # people of different blocks may be the same
        if apart or self.limit in (0, self.problem.table.n):  # no sum of rows exceeds such a limit unless a block does
            for prices in (cost, own):
                if prices is not None:
                    prices[gone > self.limit] = np.inf
            gone[:] = 0.0
        return _BlockPrices(cost, own, gone)

    def _count_forced(self, coarse: BlockClasses, forced: Ints, gone: Floats) -> Ints:  # gone OUT
        """Return how many rows of each class are suppressed at least, and add what the limit counts to its block."""
        classes = coarse.classes
        rows = np.where(forced == classes.judged.sizes, classes.sizes, forced)
        if self.problem.whole_people:
            np.maximum.at(gone, coarse.block, forced.astype(np.float64))
        else:
            removed = forced if self.problem.limit_of_people else rows
            gone += np.bincount(coarse.block, weights=removed, minlength=gone.size)
        return rows

    def _forced_rows(self, node: Sequence[OpenPartitions], a: int, coarse: BlockClasses, tuples: Ints) -> Ints:
        """Return how many rows of each class of blocks of an attribute are suppressed at least; see ``_price``."""
        return self.floors.forced_rows(coarse.classes)

    def _floors(self, classes: Classes, largest: Ints) -> _Floors:
        """Return the floors of classes; ``largest`` is the most rows of a class that each may be in."""
        floor, margin = self.floors.floors(classes), self.floors.margins(classes, largest)
        return _Floors(classes.sizes, floor, margin, np.maximum(self.problem.cost.suppressed(classes), floor))

    def _own_floors(self, classes: Classes, a: int, decided: NDArray[np.bool_], shared_by: int) -> _Floors:
        """Return the floors of classes as far as one attribute causes them.

        What a suppressed row costs is divided among the attributes. The open ones share what is left of the parts of
        the decided ones.
        """
        parts = self.floors.by_attribute(classes)
        assert parts is not None
        slack = parts.margin[:, decided].sum(axis=1) / shared_by
        suppressed = (parts.penalty[a] + slack) * classes.sizes
        return _Floors(classes.sizes, parts.published[:, a], parts.margin[:, a] + slack, suppressed)

    @staticmethod
    def _portions(partitions: OpenPartitions, codes: Ints, walk: BlockWalk) -> Iterator[tuple[Ints, Ints]]:
        """Yield the tuples of each block of a walk, several blocks at a time: the block and the tuple of each entry."""
        block, piece = _members(walk)
        piece_of = partitions.fine[codes]
        tuples = np.argsort(piece_of, kind="stable")
        starts = np.searchsorted(piece_of[tuples], np.arange(partitions.fine_blocks + 1))
        length = np.diff(starts)[piece]
        ends = np.cumsum(length)
        last = np.flatnonzero(np.diff(block, append=-1))  # of the pieces of each block
        begin = done = 0
        while begin < block.size:
            reach = np.searchsorted(ends[last], done + _ENTRIES, side="right")
            end = int(last[max(reach - 1, np.searchsorted(last, begin))]) + 1
            some = length[begin:end]
            offset = np.repeat(starts[piece[begin:end]] - np.cumsum(some) + some, some)
            yield np.repeat(block[begin:end], some), tuples[offset + np.arange(offset.size)]
            done, begin = int(ends[end - 1]), end


class _BlockPrices(NamedTuple):
    """Lower bounds on the cost of each block of an attribute, in total and as far as the attribute causes it."""

    cost: Floats
    own: Floats | None
    """None if the cost is no sum over attributes."""
    gone: Floats
    """The rows suppressed at least."""


class _Floors(NamedTuple):
    """Lower bounds of what classes cost: published, more per row if some are suppressed, and all suppressed."""

    rows: Ints
    published: Floats
    margin: Floats
    suppressed: Floats

    def with_suppressed(self, part: Ints, forced: Ints, sizes: Ints) -> Floats:
        """Return what classes cost at least if so many rows are suppressed of each part, the cheapest ones first.

        ``part[c]`` is the part that class ``c`` belongs to, ``forced`` and ``sizes`` the rows of each part.
        """
        if not forced.any():
            return self.published
        order = np.lexsort((self.margin, part))
        rows = self.rows[order]
        before = np.cumsum(rows) - rows
        before -= before[np.searchsorted(part[order], part[order])]
        taken = np.zeros(rows.size)
        taken[order] = np.clip(forced[part[order]] - before, 0, rows)
        whole = (forced == sizes)[part]
        return np.where(whole, self.suppressed, self.published + taken * self.margin)


class _MostCounts:
    """The most classes of a node and the most values of each attribute, for costs that are no sum over classes."""

    def __init__(self, problem: Problem, node: Sequence[OpenPartitions]) -> None:
        self.problem = problem
        self.classes = problem.table.n
        self.values = [partitions.fine_blocks for partitions in node]

    def limit(self, a: int, most: float) -> None:
        """Take into account how much the partitions of one attribute allow: values, or classes."""
        if self.problem.cost.counts_values:
            self.values[a] = min(self.values[a], round(most))
        else:
            self.classes = min(self.classes, round(most))

    def bound(self) -> float:
        """Return the least cost with these counts."""
        return self.problem.cost.lower_by_counts(self.problem.table, self.problem.row_limit, self.classes, self.values)


class BlockClasses(NamedTuple):
    """Classes within blocks: the block and the first entry of each, and the class of each entry."""

    classes: Classes
    block: Ints
    first: Ints
    owner: Ints


class _Others:
    """All attributes of a node but one: how they group the tuples, and what their finest blocks are."""

    def __init__(self, bounds: GeneralBounds, node: Sequence[OpenPartitions], a: int) -> None:
        self.bounds, self.node, self.a, self.table = bounds, node, a, bounds.problem.table
        others = [b for b in range(len(node)) if b != a]
        codes = bounds.codes
        self.fine, self.fine_count = numbered(
            self.table.tuples, [(node[b].fine[codes[b]], node[b].fine_blocks) for b in others]
        )
        self.coarse, self.coarse_count = numbered(
            self.table.tuples, [(node[b].coarse[codes[b]], node[b].coarse_blocks) for b in others]
        )

    def classes(self, block: Ints, tuples: Ints, group: Ints, walk: BlockWalk, *, of_blocks: bool) -> BlockClasses:
        """Return the classes of entries that agree in the block and the group; their blocks only if wanted."""
        count = self.fine_count if group is self.fine else self.coarse_count
        owner, classes = compact(block * count + group[tuples], walk.rates.size * count)
        first = first_of(owner, classes)
        gatherer, needs = self.bounds.recoder.gatherer, self.bounds.problem.cost.needs
        sizes = add_up(owner, self.table.weights[tuples], classes)
        arrays = gatherer.added_up(tuples, owner, classes)
        leaves, rows, levels = (
            self._of_blocks(name, tuples[first], block[first], walk) if of_blocks and name in needs else None
            for name in ("block_leaves", "block_rows", "block_levels")
        )
        made = gatherer.as_classes(sizes, arrays, leaves, rows, levels)
        if gatherer.counter is not None:
            order = np.argsort(owner, kind="stable")
            made = gatherer.with_people(made, tuples[order], owner[order])
        return BlockClasses(made, block[first], first, owner)

    def _of_blocks(self, name: str, tuples: Ints, block: Ints, walk: BlockWalk) -> IntArray:
        """Return the leaves, rows or levels of the blocks of each class, (c, m); ``tuples`` are examples of them."""
        columns = []
        for b, partitions in enumerate(self.node):
            if b == self.a:
                columns.append(_of_walk(name, partitions, walk)[block])
            else:
                columns.append(_of_finest(name, partitions)[partitions.fine[self.bounds.codes[b][tuples]]])
        return np.stack(columns, axis=1)


def _of_walk(name: str, partitions: OpenPartitions, walk: BlockWalk) -> Ints:
    """Return the leaves, rows or levels of each block of a walk."""
    leaves = walk.rates.astype(np.int64)
    if name == "block_leaves":
        return leaves
    items, (block, piece) = partitions.items, _members(walk)
    if name == "block_rows":
        return add_up(block, add_up(partitions.fine, items.attribute.rows[items.leaves])[piece], leaves.size)
    example = items.leaves[first_of(partitions.fine, partitions.fine_blocks)][piece[first_of(block, leaves.size)]]
    return node_levels(items.attribute, example, leaves).astype(np.int64)


def _of_finest(name: str, partitions: OpenPartitions) -> Ints:
    """Return the leaves, rows or levels of each block of the finest partition, or a lower bound of them."""
    items, fine = partitions.items, partitions.fine
    attribute = items.attribute
    if name == "block_rows":
        return add_up(fine, attribute.rows[items.leaves])
    example = items.leaves[first_of(fine, partitions.fine_blocks)]
    if partitions.decided:
        blocks = partitions.leaf_blocks(fine)
        leaves = np.bincount(blocks)[blocks[example]]
        return leaves if name == "block_leaves" else node_levels(attribute, example, leaves).astype(np.int64)
    if name == "block_leaves":
        return np.bincount(fine)
    level = np.zeros(example.size, dtype=np.int64)
    for number in range(1, attribute.height + 1):
        below = attribute.ancestors[number - 1]
        apart = np.bincount(fine, weights=below[items.leaves] != below[example][fine]) > 0
        level[apart] = number
    return level


def _finest(table: CountTable, node: Sequence[OpenPartitions]) -> Released:
    """Return the finest partition of each attribute as a recoding.

    Of attributes that are not decided, the blocks of leaves that do not occur are arbitrary.
    """
    blocks = []
    for partitions in node:
        if partitions.decided:
            blocks.append(partitions.leaf_blocks(partitions.fine))
            continue
        own = np.zeros(partitions.items.attribute.leaves, dtype=np.int64)
        own[partitions.items.leaves] = partitions.fine
        blocks.append(own)
    return Released.by_blocks(table, blocks)


def _members(walk: BlockWalk) -> tuple[Ints, Ints]:
    """Return the blocks of a walk as pairs of a block and one of its pieces, sorted by block.

    A piece is in all blocks asked for between the step that adds it and the one that removes it.
    """
    steps = walk.steps
    asked = np.cumsum(steps == RECORD)
    added, removed = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0)
    added = added[np.argsort(steps[added], kind="stable")]
    removed = removed[np.argsort(-steps[removed], kind="stable")]
    begin, length = asked[added], asked[removed] - asked[added]
    offset = np.repeat(begin - np.cumsum(length) + length, length)
    block, piece = offset + np.arange(offset.size), np.repeat(steps[added] - 1, length)
    order = np.lexsort((piece, block))
    return block[order].astype(np.int64), piece[order].astype(np.int64)
