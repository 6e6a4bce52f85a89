"""Lower bounds over the open partitions of all attributes, as a sum of what each attribute must cost by itself.

Each attribute is priced alone. The others are taken at their coarsest where it matters which rows are suppressed, and
at their finest where it matters what published rows cost; both underestimate. The cheapest partition of the attribute
is then found exactly. These minima may be added up because no cost is counted twice:

* a separable cost has a part for each attribute;
* the squares of discernibility count pairs of rows of one class, and a pair that differs in one attribute only belongs
  to that attribute;
* the cost of a suppressed row is divided: each attribute gets at least what the row could cost published there, and the
  *slack* goes to the open attributes, most of it to those whose cheapest partitions suppressed the row before.

Rows outside the majority label (CM) cannot be divided so: there the largest bound is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.counts import Histogram, IntArray
from discreet.errors import UnsupportedCombinationError
from discreet.problem import Classes, Problem, Separable
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.solve._class_arrays import dense
from discreet.solve.kernels.records import record
from discreet.solve.partitions.kernels.blocks import (
    MINORITY,
    SEPARABLE,
    SQUARES,
    BlockCells,
    BlockWalk,
    GroupLinks,
    ListedClasses,
    WalkCursor,
    add_keys,
    add_up,
    block_sums,
    class_list,
    link_groups,
    list_classes,
    most_published,
    number,
    price_blocks,
    sort_by_piece,
    split_squares,
)
from discreet.solve.partitions.mates import HASTY_PAIRS, MatePrices, NodeNeeds
from discreet.solve.partitions.open_partitions import AttributeItems, OpenPartitions, PricedPartitions

__all__ = ["BoundInterrupted", "BoundingMethod", "NodeBound", "PartitionBounds", "price_kind"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_DIRECT = 1 << 16
"""Keys below this number are looked up in a table instead of hashed."""
_SEPARATED = 0.05
"""The compatible pieces of an attribute are taken into account if they exclude at least this share of pairs."""
_GROWTH, _LARGEST_CLAIM = 1.3, 100.0
"""How the claim of an attribute grows to tuples that its cheapest partition suppresses, and up to what."""
_WORTH_MERGING = 2
"""Cells of one group and piece are merged if that leaves fewer by this factor."""
_FIRST_ROUNDS, _ROUNDS = 60, 6
"""How many times the prices of scarce cells are changed at the first node, and at others."""
_REACH = (0.02, 1.0)
"""What share of the gap a change of prices aims at, at least and at most."""
_MOST_PAIRS, _MOST_STEPS = 2e8, 3e8
"""Mates are not looked for with more pairs of cells, or if the walks take scarce cells in and out more often."""
_WORTH, _LAST = 0.2, 8
"""Mates are looked for in large nodes while they close at least this share of the gap, on average over so many."""
_CLASSES = 1 << 16
"""So many classes are evaluated at once."""


class BoundInterrupted(Exception):  # noqa: N818
    """The budget was exhausted before all attributes were priced."""


@dataclass(frozen=True, eq=False)
class NodeBound:
    """The bound of a node of the search.

    ``total`` is a lower bound of all its partitions. ``each`` holds the priced partitions of the attributes that were
    priced, None for the others. ``exact``: one attribute is open, so ``total`` is the least cost, unless the cheapest
    partition suppresses too much.
    """

    total: float
    each: tuple[PricedPartitions | None, ...]
    exact: bool
    takes_largest: bool = False
    """Whether the total is the largest of the attributes' bounds rather than their sum."""


class BoundingMethod(Protocol):
    """What the search needs of a way to bound its nodes."""

    limit: float
    """The most rows that may be suppressed."""
    blocks_priced: int
    interrupted: Callable[[], bool]
    """Asked now and then: whether to give up by raising :class:`BoundInterrupted`."""

    def __init__(self, problem: Problem, items: Sequence[AttributeItems]) -> None: ...

    @staticmethod
    def block_rates(problem: Problem) -> Separable | None:
        """Return the cost that gives each block of the open partitions its rate."""

    def bound(self, node: Sequence[OpenPartitions], enough: float = np.inf) -> NodeBound:
        """Bound a node; nothing more is needed once the bound reaches ``enough``."""


class PartitionBounds:
    """Bounds nodes of the search for one problem."""

    def __init__(self, problem: Problem, items: Sequence[AttributeItems]) -> None:
        table = problem.table
        self.problem, self.limit = problem, float(problem.limit)
        self.codes = np.stack([each.codes for each in items])
        self.kind = price_kind(problem)
        self.compiled = all(type(model) is KAnonymity for model in problem.privacy)
        self.smallest = float(problem.smallest_class)
        self.attributes, tuples = len(items), table.tuples
        self.histograms = [] if self.compiled else _watched(problem)
        self.columns = self._columns()
        widest = max(_DIRECT, 1 << (2 * tuples).bit_length())
        self.table, self.found = np.zeros(widest, dtype=np.int64), np.zeros(widest, dtype=np.int64)
        self.fine = np.zeros((self.attributes, max(each.count for each in items)), dtype=np.int64)
        self.coarse = np.zeros_like(self.fine)
        labels = table.labels.cardinality if self.kind == MINORITY and table.labels is not None else 1
        self.within = np.zeros((tuples + 1, labels))
        self.sums = block_sums(self.within, tuples)
        """Scratch, 0 between two uses: rows and labels are whole numbers, so that sums return to 0 exactly."""
        self.blocks_priced = 0
        self.interrupted: Callable[[], bool] = lambda: False
        """Called before each attribute: whether to give up."""
        self.claims = np.ones((self.attributes, tuples))
        """(attribute, tuple) in what proportion attributes share the slack of each tuple."""
        self.prices = np.zeros(tuples)
        """(tuple,) the price of each tuple where it was scarce last; see :mod:`discreet.solve.partitions.mates`."""
        self.watched = np.zeros(tuples, dtype=np.bool_)
        """(tuple,) whether a node has given it a price: in large nodes only these are scarce."""
        self.reach = 0.1
        """What share of the gap the next change of prices aims at; nodes learn it from those before."""
        self.gain = 1.0
        """What share of the gap mates closed at the last large nodes, on average."""

    @staticmethod
    def block_rates(problem: Problem) -> Separable | None:
        """Return the cost of the problem if it is separable."""
        return problem.cost.separable(problem.table)

    def _columns(self) -> Floats:
        """What is summed over tuples: rows, cost if suppressed, moments, offsets, class labels, sensitive values."""
        table = self.problem.table
        weight = table.weights.astype(np.float64)
        penalty = weight * (table.n if self.kind == SQUARES else 1)
        parts: list[Floats] = []
        separable = self.problem.cost.separable(table)
        if self.kind == SEPARABLE and separable is not None:
            each = list(zip(table.codes, separable.penalty, separable.moment, separable.offset, strict=True))
            penalty = np.sum([suppressed[codes] for codes, suppressed, _, _ in each], axis=0) * weight
            parts += [moment[codes] * weight for codes, _, moment, _ in each]
            parts += [offset[codes] * weight for codes, _, _, offset in each]
        elif self.kind == MINORITY and table.labels is not None:
            parts += list(dense(table.labels, table.tuples).T.astype(np.float64))
        for histogram in self.histograms:
            parts += list(dense(histogram, table.tuples).T.astype(np.float64))
        return np.stack([weight, penalty, *parts])

    @cached_property
    def class_room(self) -> ListedClasses:
        """Room for listed classes, made once because it is large."""
        return class_list(max(_CLASSES, self.codes.shape[1]), sum(h.cardinality for h in self.histograms))

    @property
    def takes_largest(self) -> bool:
        """Whether the total is the largest of the attributes' bounds rather than their sum."""
        return self.kind == MINORITY

    def bound(self, node: Sequence[OpenPartitions], enough: float = np.inf) -> NodeBound:
        """Price the open attributes, those with few items first; stops once the total reaches ``enough``."""
        open_ = [a for a, partitions in enumerate(node) if not partitions.decided]
        exact = len(open_) <= 1
        priced_ones = sorted(open_ or [0], key=lambda a: node[a].items.count)
        cells = NodeCells(self, node, exact)
        total, slack = cells.divide(priced_ones)
        claims = cells.claims(priced_ones)
        each: list[PricedPartitions | None] = [None] * len(node)
        for a in priced_ones:
            if self.interrupted():
                raise BoundInterrupted
            room = enough - (0.0 if self.takes_largest else total)
            cost, gone = self.price(cells, a, cells.most[a] + slack * claims[a])
            priced = node[a].priced(cost, gone, room)
            self.blocks_priced += cost.size
            each[a] = priced
            total = max(total, priced.least) if self.takes_largest else total + priced.least
            if total >= enough or priced.fewest > self.limit:
                total = total if priced.fewest <= self.limit else np.inf
                break
            if self.limit and not exact and np.isfinite(priced.least):
                cells.raise_claims(a, priced.cheapest())
        else:
            if not exact and enough < np.inf and self.kind != MINORITY:
                better = self._by_mates(cells, [(a, own) for a in priced_ones if (own := each[a])], total, enough)
                if better is not None and better.total > total:
                    return better
        return NodeBound(total, tuple(each), exact, self.takes_largest)

    def _by_mates(
        self, cells: NodeCells, each: Sequence[tuple[int, PricedPartitions]], total: float, enough: float
    ) -> NodeBound | None:
        """Return the bound by what scarce cells need; None if there are none, or it is not worth its time."""
        pairs, steps = cells.pairs(), sum(cells.node[a].walk().steps.size for a, _ in each)
        large = pairs > HASTY_PAIRS
        if not pairs or pairs > _MOST_PAIRS or steps * np.count_nonzero(cells.scarce) > _MOST_STEPS:
            return None
        if large and self.gain < _WORTH:
            return None
        extra = [np.maximum(joined - own.least, 0.0) for _, own in each if (joined := own.joined()) is not None]
        if len(extra) < len(each):
            return None
        cell = np.arange(self.prices.size) if cells.numbers is None else cells.numbers
        first = not self.watched.any()
        if large and not first:
            cells.scarce = cells.scarce & (np.bincount(cell, weights=self.watched, minlength=cells.count) > 0)
            if not cells.scarce.any():
                return None
        needs = cells.needs([a for a, _ in each], extra)
        start = np.bincount(cell, weights=self.prices, minlength=cells.count)[cells.scarce].astype(np.float64)
        prices = MatePrices(needs, total, enough, large)
        rounds = _FIRST_ROUNDS if first else _ROUNDS
        bound, priced, price, self.reach = prices.raised(start, rounds, self.reach, self.interrupted)
        self.reach = min(max(self.reach, _REACH[0]), _REACH[1])
        inside = cells.scarce[cell]
        per_row = price / (self.smallest - needs.need)
        self.prices[inside] = per_row[needs.numbers[cell[inside]]] * self.columns[0][inside]
        self.watched |= self.prices > 0
        if large:
            self.gain += (max(min(bound, enough) - total, 0.0) / (enough - total) - self.gain) / _LAST
        by_attribute: list[PricedPartitions | None] = [None] * len(cells.node)
        for (a, _), own in zip(each, priced, strict=False):
            by_attribute[a] = own
        return NodeBound(bound, tuple(by_attribute), False)

    def price(self, cells: NodeCells, a: int, share: Floats) -> tuple[Floats, Floats]:
        """Return the cost and the suppressed rows of each block, infinite if it suppresses too many by itself."""
        cost, gone = cells.price(a, share)
        if self.limit in (0, self.problem.table.n):  # no sum of rows exceeds such a limit unless one block does
            cost[gone > self.limit] = np.inf
            gone[:] = 0.0
        return cost, gone

    def number(self, keys: Ints, items: Ints, own: Ints, radix: int, span: int) -> tuple[Ints, int]:
        """Number keys without the part of one attribute; see the kernel."""
        numbers = np.empty(keys.size, dtype=np.int64)
        return numbers, int(number(keys, items, own, radix, span, self.table, self.found, numbers))


class NodeCells:
    """The cells of a node: tuples that no open combination of partitions separates."""

    def __init__(self, bounds: PartitionBounds, node: Sequence[OpenPartitions], exact: bool) -> None:
        self.bounds, self.node, self.exact, self.kind = bounds, node, exact, bounds.kind
        fine, coarse = bounds.fine, bounds.coarse
        for a, partitions in enumerate(node):
            fine[a, : partitions.fine.size] = partitions.fine
            coarse[a, : partitions.coarse.size] = partitions.coarse
        self.fine_radix = _radix([partitions.fine_blocks for partitions in node])
        self.coarse_radix = _radix([partitions.coarse_blocks for partitions in node])
        keys = np.empty(bounds.codes.shape[1], dtype=np.int64)
        add_keys(bounds.codes, fine, self.fine_radix, keys)
        numbers, self.count = bounds.number(keys, bounds.codes[0], fine[0], 0, int(self.fine_radix[-1]))
        if self.count == keys.size:
            self.codes, columns, self.fine_key = bounds.codes, bounds.columns, keys
            self.numbers: Ints | None = None
        else:
            self.numbers = numbers
            example = np.empty(self.count, dtype=np.int64)
            example[numbers] = np.arange(keys.size)
            self.codes, self.fine_key = bounds.codes.take(example, axis=1), keys[example]
            columns = np.zeros((bounds.columns.shape[0], self.count))
            add_up(numbers, bounds.columns, columns)
        self.weight, self.penalty, rest = columns[0], columns[1], columns[2:]
        parts = len(node)
        self.moment = self.offset = np.zeros((parts, self.count))
        self.labels = np.zeros((self.count, 1))
        if self.kind == SEPARABLE:
            self.moment, self.offset, rest = rest[:parts], rest[parts : 2 * parts], rest[2 * parts :]
        elif self.kind == MINORITY:
            labels = rest.shape[0] - sum(h.cardinality for h in bounds.histograms)
            self.labels, rest = np.ascontiguousarray(rest[:labels].T), rest[labels:]
        self.histogram = np.ascontiguousarray(rest.T).astype(np.int64)
        self.coarse_key = np.empty(self.count, dtype=np.int64)
        add_keys(self.codes, coarse, self.coarse_radix, self.coarse_key)
        self.most = np.zeros((parts, self.count))
        """(attribute, cell) the most a cell can cost for an attribute if published."""
        self.core = np.zeros((parts, self.count), dtype=np.int64)
        """(attribute, cell) the core of each cell; see ``kernels/blocks.py``."""

    def divide(self, priced: Sequence[int]) -> tuple[float, Floats]:
        """Return the cost that is certain without the attributes to be priced, and the slack of each cell."""
        if self.kind == SEPARABLE:
            for a, partitions in enumerate(self.node):
                rates = partitions.highest_rates()
                most_published(self.codes[a], rates, self.moment[a], self.offset[a], self.most[a])
            certain = sum(float(self.most[a].sum()) for a in range(len(self.node)) if a not in priced)
            return certain, self.penalty - self.most.sum(axis=0)
        for a in priced:
            self.core[a], _ = self._without(a, self.fine_key, self.bounds.fine, self.fine_radix)
        if self.kind == MINORITY:
            return 0.0, self.penalty * len(priced)
        slack = self.penalty - self.weight**2
        for a in priced:
            if not self.node[a].decided:
                entries, _ = self._by_piece(a)
                coarse = self.bounds.coarse[a]
                split_squares(
                    self.codes[a], entries, coarse, self.core[a], self.weight, self.bounds.within, self.most[a]
                )
                slack -= self.most[a]
        return float((self.weight**2).sum()), slack

    def claims(self, priced: Sequence[int]) -> dict[int, Floats]:
        """Return the share of each attribute in the slack of each cell."""
        if len(priced) == 1 or not self.bounds.limit or self.kind == MINORITY:
            return {a: np.full(self.count, 1.0 / len(priced)) for a in priced}
        claims = self.bounds.claims
        if self.numbers is not None:
            weight = self.bounds.columns[0]
            added = np.zeros((claims.shape[0], self.count))
            add_up(self.numbers, claims * weight, added)
            claims = added
        total = claims[list(priced)].sum(axis=0)
        return {a: claims[a] / total for a in priced}

    def raise_claims(self, a: int, blocks: IntArray) -> None:
        """Give an attribute a larger share of the tuples that its cheapest partition suppresses."""
        group, _ = self._without(a, self.coarse_key, self.bounds.coarse, self.coarse_radix)
        count = int(blocks.max(initial=0)) + 1
        classes = group * count + blocks[self.codes[a]]
        gone = np.bincount(classes, weights=self.weight)[classes] < self.bounds.smallest
        if self.numbers is not None:
            gone = gone[self.numbers]
        own = self.bounds.claims[a]
        own[gone] = np.minimum(own[gone] * _GROWTH, _LARGEST_CLAIM)

    @cached_property
    def scarce(self) -> NDArray[np.bool_]:
        """(cells,) which have fewer rows than the smallest valid class."""
        return np.asarray(self.weight < self.bounds.smallest)

    @cached_property
    def together(self) -> Ints:
        """(cells,) the combination of the coarsest blocks of all attributes."""
        span = int(self.coarse_radix[-1])
        return self.bounds.number(self.coarse_key, self.codes[0], self.bounds.coarse[0], 0, span)[0]

    def pairs(self) -> float:
        """Return the number of pairs of a scarce cell and one that may share its class."""
        if not self.scarce.any():
            return 0.0
        sizes = np.bincount(self.together)
        return float(sizes @ np.bincount(self.together, weights=self.scarce, minlength=sizes.size))

    def needs(self, open_: Sequence[int], extra: Sequence[Floats]) -> NodeNeeds:
        """Return what the scarce cells need; ``extra``: what joining two pieces of an open attribute costs."""
        certain, slack = self.divide(open_)
        costs = [self.bounds.price(self, a, self.most[a]) for a in open_]
        most = np.maximum(slack[self.scarce], 0.0)
        return NodeNeeds(
            partitions=[self.node[a] for a in open_],
            extra=extra,
            certain=certain,
            cost=[cost for cost, _ in costs],
            gone=[gone for _, gone in costs],
            group=self.together,
            piece=np.stack([self.bounds.fine[a][self.codes[a]] for a in open_]),
            weight=self.weight,
            scarce=self.scarce,
            need=self.bounds.smallest - self.weight[self.scarce],
            most=most if self.bounds.limit else np.full_like(most, np.inf),
        )

    def _without(self, a: int, keys: Ints, ids: Ints, radix: Ints) -> tuple[Ints, int]:
        """Number the classes of all attributes but one."""
        return self.bounds.number(keys, self.codes[a], ids[a], int(radix[a]), int(radix[-1]))

    def _by_piece(self, a: int) -> tuple[Ints, Ints]:
        """Return the cells sorted by the piece of an attribute, and where each piece starts."""
        entries = np.empty(self.count, dtype=np.int64)
        starts = np.empty(self.node[a].fine_blocks + 1, dtype=np.int64)
        sort_by_piece(self.codes[a], self.bounds.fine[a], self.node[a].fine_blocks, entries, starts)
        return entries, starts

    def price(self, a: int, share: Floats) -> tuple[Floats, Floats]:
        """Return what each block of an attribute costs, and how many of its rows are suppressed.

        ``share`` is what the attribute may count for a suppressed cell.
        """
        walk = self.node[a].walk()
        if not self.bounds.compiled:
            group, groups = self._without(a, self.coarse_key, self.bounds.coarse, self.coarse_radix)
            return self._price_externally(walk, self._seen_by(a, group, share), groups)
        group, links = self._link(a)
        cost, gone = np.empty(walk.rates.size), np.empty(walk.rates.size)
        cells, bounds = self._merged(a, group, links.starts.size - 1, share), self.bounds
        price_blocks(self.kind, bounds.smallest, walk, cells, links, bounds.sums, cost, gone)
        return cost, gone

    def _seen_by(self, a: int, group: Ints, share: Floats) -> BlockCells:
        entries, starts = self._by_piece(a)
        return BlockCells(
            starts=starts,
            entries=entries,
            group=group,
            core=self.core[a],
            weight=self.weight,
            share=share,
            moment=self.moment[a],
            offset=self.offset[a],
            labels=self.labels,
            histogram=self.histogram,
        )

    def _merged(self, a: int, group: Ints, groups: int, share: Floats) -> BlockCells:
        """Return the cells as an attribute sees them; those of one group and piece as one, where they are many.

        A separable cost adds them up anyway, and a walk takes each of them in and out many times.
        """
        pieces = self.node[a].fine_blocks
        if self.kind != SEPARABLE or groups * pieces * _WORTH_MERGING > self.count:
            return self._seen_by(a, group, share)
        merged = np.zeros((4, groups * pieces))
        pair = self.bounds.fine[a][self.codes[a]] * groups + group
        add_up(pair, np.stack([self.weight, share, self.moment[a], self.offset[a]]), merged)
        kept = np.flatnonzero(merged[0])
        weight, share, moment, offset = merged.take(kept, axis=1)
        return BlockCells(
            starts=np.searchsorted(kept, groups * np.arange(pieces + 1)).astype(np.int64),
            entries=np.arange(kept.size),
            group=kept % groups,
            core=np.zeros(kept.size, dtype=np.int64),
            weight=weight,
            share=share,
            moment=moment,
            offset=offset,
            labels=self.labels,
            histogram=self.histogram,
        )

    def _link(self, a: int) -> tuple[Ints, GroupLinks]:
        """Group the cells by all other attributes, and link groups that may share a class.

        Of the other attribute whose pieces are separated most, it counts which pieces are compatible; of the rest only
        their coarsest blocks.
        """
        open_others = [(p.separation, b) for b, p in enumerate(self.node) if b != a and not p.decided]
        separation, b = max(open_others, default=(0.0, -1))
        wide, groups = self._without(a, self.coarse_key, self.bounds.coarse, self.coarse_radix)
        if separation < _SEPARATED:
            itself = np.arange(groups + 1, dtype=np.int64)
            return wide, GroupLinks(itself, itself)
        compatible = self.node[b].compatible()
        pieces = compatible.shape[0]
        piece = self.bounds.fine[b][self.codes[b]]
        group_at = np.full(groups * pieces, -1, dtype=np.int64)
        pair = wide * pieces + piece
        group_at[pair] = 0
        occurring = np.flatnonzero(group_at == 0)
        group_at[occurring] = np.arange(occurring.size)
        group = group_at[pair]
        example = np.empty(occurring.size, dtype=np.int64)
        example[group] = np.arange(self.count)
        starts = np.empty(occurring.size + 1, dtype=np.int64)
        links = np.empty(int(compatible.sum(axis=0)[piece[example]].sum()), dtype=np.int64)
        link_groups(wide, piece, example, compatible, group_at, GroupLinks(starts, links))
        return group, GroupLinks(starts, links)

    def _price_externally(self, walk: BlockWalk, cells: BlockCells, groups: int) -> tuple[Floats, Floats]:
        """Price blocks through the array interface of the privacy models."""
        values, cursor = self.histogram.shape[1], record(WalkCursor)
        sums = block_sums(self.bounds.within, groups, values)
        found = self.bounds.class_room.first(max(_CLASSES, groups))
        cost, gone = np.zeros(walk.rates.size), np.zeros(walk.rates.size)
        while cursor.step < walk.steps.size:
            listed = list_classes(self.kind, walk, cells, sums, cursor, found)
            some = found.first(listed)
            lost, each = self._class_costs(some, walk.rates)
            cost += np.bincount(some.block, weights=each, minlength=cost.size)
            gone += np.bincount(some.block, weights=lost, minlength=cost.size)
        return cost, gone

    def _class_costs(self, listed: ListedClasses, rates: Floats) -> tuple[Ints, Floats]:
        """Return how many rows of each class are suppressed, and what the class costs."""
        watched = self.bounds.histograms
        ends = np.cumsum([h.cardinality for h in watched])[:-1]
        named = dict(zip([h.name for h in watched], np.split(listed.histogram, ends, axis=1), strict=False))
        sizes = np.rint(listed.sums["rows"]).astype(np.int64)
        lost = self._suppressed_rows(Classes(self.bounds.problem.table, sizes, sensitive=named))
        published = listed.sums["fixed"] + rates[listed.block] * listed.sums["moment"]
        return lost, np.where(lost >= sizes, listed.sums["share"], published)

    def _suppressed_rows(self, classes: Classes) -> Ints:
        """Rows of each class that are suppressed: all or none, or the fewest possible if it may still be split."""
        problem = self.bounds.problem
        if self.exact:
            return np.where(problem.ok(classes), 0, classes.sizes)
        return problem.fewest_removed(classes)


def _radix(counts: Sequence[int]) -> Ints:
    """Factors that make the sum of block numbers unique (mixed radix); the last entry is a limit of all sums.

    Where the limit exceeds 62 bits, the factors are random odd numbers and the last entry is 0: two different
    combinations then have the same sum with probability 2**-64.
    """
    radix = [1]
    for count in counts:
        radix.append(radix[-1] * count)
    if radix[-1] < 1 << 62:
        return np.array(radix, dtype=np.int64)
    odd = np.random.default_rng(20260).integers(-(1 << 62), 1 << 62, size=len(counts), dtype=np.int64) * 2 + 1
    return np.append(odd, 0)


def _watched(problem: Problem) -> list[Histogram]:
    """The sensitive attributes of the privacy models."""
    table = problem.table
    names = sorted({str(getattr(model, "attribute", "")) for model in problem.privacy})
    return [table.sensitive[name] for name in names if name in table.sensitive]


def price_kind(problem: Problem) -> int:
    """Return how blocks are priced; raises an error for costs that do not define the price of an arbitrary block."""
    separable = problem.cost.separable(problem.table)
    if separable is not None and separable.block_rate is not None:
        return SEPARABLE
    if problem.cost.compiled == "squares":
        return SQUARES
    if problem.cost.compiled == "minority":
        return MINORITY
    raise UnsupportedCombinationError(
        "The solver partitions",
        f"the cost {problem.cost.name}",
        "it does not define what a block of values costs; choose LM, DM, HDM, CM or entropy",
    )
