"""Equivalence classes as models and costs see them, gathered from the tuples of a count table.

The arrays of the tuples are added up to classes, through one grouping or through several in a row. If the sensitive
histograms of all classes would not fit in memory, classes are yielded in portions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CodedAttribute, CountTable, FloatArray, Grouping, Histogram, IntArray
from discreet.problem import Classes, Problem
from discreet.problem.classes import Members, leaf_columns
from discreet.runtime.integer_codes import add_up
from discreet.solve._people import PeopleCounter
from discreet.solve.kernels.roll_up import add_rows, max_rows, min_rows

__all__ = ["ClassArrays", "Gatherer", "Released", "dense", "node_levels", "roll_up"]

_DENSE_CELLS = 1 << 25
"""Histograms larger than this many cells are yielded in portions."""


@dataclass(frozen=True, eq=False)
class Occurring:
    """What occurs in each of ``count`` tuples or classes, such as leaves: distinct pairs of owner and code, sorted."""

    width: int
    """Codes are below this."""
    count: int
    owner: IntArray
    code: IntArray

    def some(self, part: slice | IntArray) -> Occurring:
        """Return what occurs in a part of the tuples or classes."""
        part = np.arange(self.count)[part]
        first = np.searchsorted(self.owner, part)
        length = np.searchsorted(self.owner, part, "right") - first
        entry = np.repeat(first - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
        return replace(self, count=part.size, owner=np.repeat(np.arange(part.size), length), code=self.code[entry])

    def rolled_up(self, ids: IntArray, count: int) -> Occurring:
        """Return what occurs in ``count`` classes, given the class of each owner."""
        cells = ids[self.owner].astype(np.int64) * self.width + self.code
        if count * self.width > _DENSE_CELLS:
            cells = np.unique(cells)
        else:
            occurs = np.zeros(count * self.width, dtype=np.bool_)
            occurs[cells] = True
            cells = np.flatnonzero(occurs)
        return replace(self, count=count, owner=cells // self.width, code=cells % self.width)


@dataclass(frozen=True, eq=False)
class ClassArrays:
    """The arrays of tuples or classes beyond sizes; None if no part of the problem needs them."""

    histograms: list[IntArray]
    labels: IntArray | None
    low: IntArray | None
    high: IntArray | None
    sets: dict[int, Occurring] | None
    """The leaves of each attribute of text without a hierarchy."""
    members: Occurring | None
    """The tuples."""
    moments: FloatArray | None
    offsets: FloatArray | None

    def some(self, part: slice | IntArray, histograms: Sequence[IntArray] = ()) -> ClassArrays:
        """Return the arrays of a part of the tuples or classes, with other histograms."""

        def of_part(array: Any) -> Any:
            return None if array is None else array[part]

        return ClassArrays(
            list(histograms),
            of_part(self.labels),
            of_part(self.low),
            of_part(self.high),
            None if self.sets is None else {i: leaves.some(part) for i, leaves in self.sets.items()},
            None if self.members is None else self.members.some(part),
            of_part(self.moments),
            of_part(self.offsets),
        )


@dataclass(frozen=True, eq=False)
class Released:
    """A global recoding, attribute by attribute: the block of each leaf, and the leaves and rows of each block.

    ``levels`` are those of a full-domain recoding, None for others; there the level of a block is the lowest at which
    it is a node, or -1 if it is none.
    """

    blocks: Sequence[IntArray]
    block_leaves: Sequence[IntArray]
    block_rows: Sequence[IntArray]
    levels: IntArray | None
    attributes: Sequence[CodedAttribute] = ()

    @classmethod
    def by_levels(cls, table: CountTable, levels: Sequence[int] | IntArray) -> Released:
        """Return the full-domain recoding to these levels."""
        each = [(a, int(level)) for a, level in zip(table.attributes, levels, strict=True)]
        return cls(
            [attribute.ancestors[level] for attribute, level in each],
            [attribute.block_leaves[level] for attribute, level in each],
            [attribute.block_rows[level] for attribute, level in each],
            np.array(levels, dtype=np.int64),
        )

    @classmethod
    def by_blocks(cls, table: CountTable, blocks: Sequence[IntArray]) -> Released:
        """Return the recoding with these blocks, given as the block number of each leaf."""
        rows = [add_up(block, attribute.rows) for attribute, block in zip(table.attributes, blocks, strict=True)]
        return cls(blocks, [np.bincount(block) for block in blocks], rows, None, table.attributes)

    @cached_property
    def block_levels(self) -> list[IntArray]:
        """The level of each block."""
        if self.levels is not None:
            return [np.full(leaves.size, level) for leaves, level in zip(self.block_leaves, self.levels, strict=True)]
        each = zip(self.attributes, self.blocks, self.block_leaves, strict=True)
        return [
            node_levels(attribute, np.unique(blocks, return_index=True)[1], leaves)
            for attribute, blocks, leaves in each
        ]


def node_levels(attribute: CodedAttribute, leaf: IntArray, leaves: IntArray) -> IntArray:
    """Return the lowest level at which the node above each ``leaf`` has so many leaves; -1 if it never has."""
    level = np.full(leaf.size, -1)
    for number in range(attribute.height, -1, -1):
        level[attribute.block_leaves[number][attribute.ancestors[number][leaf]] == leaves] = number
    return level


class Gatherer:
    """Gathers the classes of recodings of one problem; what depends on the problem alone is computed once.

    ``columns`` are sensitive ones to gather beside those the privacy models use.

    If promises count people, sensitive values are gathered in people alone, by ``counter``.
    """

    def __init__(self, problem: Problem, columns: Iterable[str] = ()) -> None:
        self.problem = problem
        self.table = problem.table
        self.counts_people = problem.looks_at_population
        self.needs = problem.cost.needs
        names = sorted({*columns, *(str(getattr(model, "attribute", "")) for model in problem.privacy)})
        self.watched = [self.table.sensitive[name] for name in names if name in self.table.sensitive]
        self.counter: PeopleCounter | None = None
        if problem.people is not None:
            self.counter = PeopleCounter(self.table, problem.people, [histogram.name for histogram in self.watched])
        self.joint: list[Histogram] = []
        self.member_values: Histogram | None = None
        """The sensitive column of which some rows of a class may be suppressed, if it matters which."""
        if problem.divided is not None and not problem.suppression.hides_values:
            if "joint" in self.needs:
                self.joint = [self.table.joint[problem.divided]]
            if "members" in self.needs:
                self.member_values = self.table.sensitive[problem.divided]
        self.widest = max((h.cardinality for h in [*self.watched, *self.joint]), default=1)
        self.dense = self.table.tuples * self.widest <= _DENSE_CELLS
        self.at_once = max(1, _DENSE_CELLS // self.widest)
        """Classes in a portion, at most."""
        if self.counter is not None:
            self.watched = []
        self.tuples = self._of_tuples()

    def _of_tuples(self) -> ClassArrays:
        table, cost = self.table, self.problem.cost
        codes = np.ascontiguousarray(table.codes.T) if "extent" in self.needs else None

        def sums(numbers: Callable[[CodedAttribute, CountTable], FloatArray | None]) -> FloatArray | None:
            columns = [numbers(attribute, table) for attribute in table.attributes]
            rows = [
                leaf_columns(column, leaves) * table.weights[:, np.newaxis]
                for column, leaves in zip(columns, table.codes, strict=True)
                if column is not None
            ]
            return np.concatenate(rows, axis=1) if len(rows) == len(columns) else None

        return ClassArrays(
            histograms=[*(dense(h, table.tuples) for h in [*self.watched, *self.joint]), *self._of_people()]
            if self.dense
            else [],
            labels=dense(table.labels, table.tuples) if table.labels is not None and "labels" in self.needs else None,
            low=codes,
            high=codes,
            sets={
                i: Occurring(attribute.leaves, table.tuples, np.arange(table.tuples), table.codes[i])
                for i, attribute in enumerate(table.attributes)
                if not attribute.tree and attribute.positions is None
            }
            if "set_sizes" in self.needs
            else None,
            members=None
            if self.member_values is None
            else Occurring(table.tuples, table.tuples, np.arange(table.tuples), np.arange(table.tuples)),
            moments=sums(cost.leaf_moment),
            offsets=sums(cost.leaf_offset),
        )

    def _of_people(self) -> list[IntArray]:
        """Return the people of tuples by each sensitive value, and their totals, if these add up."""
        if self.counter is None or not self.counter.people.constant:
            return []
        histograms = [self.table.units.sensitive[name] for name in self.counter.columns]
        return [*(dense(h, self.table.tuples) for h in histograms), np.column_stack(self.counter.totals)]

    def portions(
        self, grouping: Grouping, rolled: ClassArrays, released: Released | None = None
    ) -> Iterator[tuple[slice, Classes]]:
        """Yield all classes at once, or in portions if their histograms are too large to hold.

        Without ``released`` they lack the blocks, which only costs use, and the people of the population.
        """
        count = grouping.sizes.size
        people = self._people(grouping, released)
        if self.dense:
            whole = slice(0, count)
            classes = self.classes(grouping, rolled, released, whole, rolled.histograms, people)
            yield whole, self._in_people(classes, grouping, whole, rolled.histograms[len(self.watched + self.joint) :])
            return
        entries = [_by_class(h, grouping.ids) for h in [*self.watched, *self.joint]]
        for begin in range(0, count, self.at_once):
            part = slice(begin, min(begin + self.at_once, count))
            counts = [_portion(entry, part) for entry in entries]
            classes = self.classes(grouping, rolled, released, part, counts, people)
            yield part, self._in_people(classes, grouping, part)

    def _in_people(self, classes: Classes, grouping: Grouping, part: slice, sums: Sequence[IntArray] = ()) -> Classes:
        """Return classes with what models see of them, if promises count people; ``sums`` are those of all tuples."""
        if self.counter is None:
            return classes
        if sums:
            people = self.counter.from_sums(sums[:-1], list(sums[-1].T))
        else:
            people = self.counter.classes(grouping.tuple_ids, part)
        return replace(classes, people=replace(people, population=classes.population))

    def with_people(self, classes: Classes, tuples: IntArray, owner: IntArray) -> Classes:
        """Return the same for classes given by their tuples and the class of each, class by class."""
        if self.counter is None:
            return classes
        return replace(classes, people=self.counter.classes_of(tuples, owner, len(classes)))

    def of_rows(self, grouping: Grouping, released: Released, rows: NDArray[np.int64]) -> tuple[IntArray, Classes]:
        """Return the numbers of the classes that have some of these rows of each tuple, and the classes for costs."""
        tuples = np.flatnonzero(rows)
        present, owner = np.unique(grouping.tuple_ids[tuples], return_inverse=True)
        arrays = replace(self.tuples, histograms=[]).some(tuples)
        share = (rows[tuples] / self.table.weights[tuples])[:, np.newaxis]
        arrays = replace(
            arrays,
            moments=None if arrays.moments is None else arrays.moments * share,
            offsets=None if arrays.offsets is None else arrays.offsets * share,
        )
        rolled = roll_up(arrays, owner.reshape(-1).astype(np.int32), present.size)
        sizes = add_up(owner.reshape(-1), rows[tuples], present.size)
        part = Grouping(owner, np.asarray(grouping.first)[present], sizes)
        return present, self.classes(part, rolled, released, slice(0, present.size))

    def _people(self, grouping: Grouping, released: Released | None) -> FloatArray | None:
        """Return how many people of the population have the released values of each class; None if not needed."""
        if not self.counts_people or released is None or self.table.population is None:
            return None
        return self.table.population.of_tuples(released.blocks)[grouping.first]

    def classes(
        self,
        grouping: Grouping,
        rolled: ClassArrays,
        released: Released | None,
        part: slice,
        histograms: Sequence[IntArray] = (),
        people: FloatArray | None = None,
    ) -> Classes:
        """Return a part of the classes, with their histograms; ``people`` are those of all classes."""
        sizes = np.asarray(grouping.sizes[part], dtype=np.int64)
        if released is None:
            return self.as_classes(sizes, rolled.some(part, histograms), None, None)
        first = grouping.first[part]
        blocks: list[IntArray] = []
        if not self.needs.isdisjoint({"blocks", "block_leaves", "block_rows", "block_levels"}):
            blocks = [block[leaves[first]] for block, leaves in zip(released.blocks, self.table.codes, strict=True)]

        def per_block(name: str, numbers: Sequence[IntArray]) -> IntArray | None:
            if name not in self.needs:
                return None
            return np.stack([each[block] for each, block in zip(numbers, blocks, strict=True)], axis=1)

        return self.as_classes(
            sizes,
            rolled.some(part, histograms),
            per_block("block_leaves", released.block_leaves),
            per_block("block_rows", released.block_rows),
            per_block("block_levels", released.block_levels) if "block_levels" in self.needs else None,
            np.stack(blocks, axis=1) if "blocks" in self.needs else None,
            None if people is None else people[part],
        )

    def as_classes(
        self,
        sizes: NDArray[np.int64],
        rolled: ClassArrays,
        block_leaves: IntArray | None,
        block_rows: IntArray | None,
        block_levels: IntArray | None = None,
        blocks: IntArray | None = None,
        population: FloatArray | None = None,
    ) -> Classes:
        """Return classes of these sizes, with the arrays added up for them and what is known of their blocks."""
        pairs = list(zip([*self.watched, *self.joint], rolled.histograms, strict=False))
        return Classes(
            table=self.table,
            sizes=sizes,
            population=population,
            sensitive={h.name: counts for h, counts in pairs[: len(self.watched)]},
            labels=rolled.labels,
            joint={str(self.problem.divided): self._by_label(h, counts) for h, counts in pairs[len(self.watched) :]},
            block_leaves=block_leaves,
            block_rows=block_rows,
            block_levels=block_levels,
            blocks=blocks,
            low=rolled.low,
            high=rolled.high,
            set_sizes=None if rolled.sets is None else _set_sizes(rolled.sets, sizes.size, len(self.table.attributes)),
            members=self._members(rolled.members),
            moments=rolled.moments,
            offsets=rolled.offsets,
        )

    def added_up(self, tuples: IntArray, owner: IntArray, count: int) -> ClassArrays:
        """Add up the arrays of some tuples to the ``count`` classes they belong to."""
        rolled = roll_up(replace(self.tuples, histograms=[]).some(tuples), owner, count)
        histograms: list[IntArray] = []
        for h in [*self.watched, *self.joint]:
            length = np.diff(h.offsets)[tuples]
            entry = np.repeat(h.offsets[:-1][tuples] - np.cumsum(length) + length, length) + np.arange(length.sum())
            cells = np.repeat(owner.astype(np.int64), length) * h.cardinality + h.values[entry]
            counts = np.bincount(cells, weights=h.counts[entry], minlength=count * h.cardinality)
            histograms.append(np.rint(counts).astype(np.int64).reshape(count, h.cardinality))
        return replace(rolled, histograms=histograms)

    def _members(self, tuples: Occurring | None) -> Members | None:
        """Return the rows of classes by tuple and sensitive value, given the tuples of each."""
        if tuples is None or self.member_values is None:
            return None
        values = self.member_values
        length = np.diff(values.offsets)[tuples.code]
        begin = values.offsets[:-1][tuples.code] - np.cumsum(length) + length
        entry = np.repeat(begin, length) + np.arange(int(length.sum()))
        owner, code = np.repeat(tuples.owner, length), np.repeat(tuples.code, length)
        return Members(owner, code, values.values[entry], values.counts[entry])

    def _by_label(self, histogram: Histogram, counts: IntArray) -> IntArray:
        labels = 1 if self.table.labels is None else self.table.labels.cardinality
        return counts.reshape(-1, histogram.cardinality // labels, labels)


def dense(histogram: Histogram, tuples: int) -> IntArray:
    """Return a histogram as an array with one row of counts per tuple."""
    counts = np.zeros((tuples, histogram.cardinality), dtype=np.int64)
    row = np.repeat(np.arange(tuples), np.diff(histogram.offsets))
    counts[row, histogram.values] = histogram.counts
    return counts


def roll_up(arrays: ClassArrays, ids: IntArray, count: int) -> ClassArrays:
    """Combine the arrays of entries by class: sums, minima of ``low``, maxima of ``high`` and unions of ``sets``."""

    def added(source: Any) -> Any:
        if source is None:
            return None
        target = np.zeros((count, source.shape[1]), dtype=source.dtype)
        add_rows(ids, source, target)
        return target

    def bounded(source: Any, largest: bool) -> Any:
        if source is None:
            return None
        limits = np.iinfo(source.dtype)
        target = np.full((count, source.shape[1]), limits.min if largest else limits.max, dtype=source.dtype)
        (max_rows if largest else min_rows)(ids, source, target)
        return target

    return ClassArrays(
        histograms=[added(source) for source in arrays.histograms],
        labels=added(arrays.labels),
        low=bounded(arrays.low, largest=False),
        high=bounded(arrays.high, largest=True),
        sets=None if arrays.sets is None else {i: each.rolled_up(ids, count) for i, each in arrays.sets.items()},
        members=None if arrays.members is None else arrays.members.rolled_up(ids, count),
        moments=added(arrays.moments),
        offsets=added(arrays.offsets),
    )


def _set_sizes(sets: Mapping[int, Occurring], classes: int, attributes: int) -> IntArray:
    """Return how many leaves occur in each class, (classes, attributes)."""
    sizes = np.zeros((classes, attributes), dtype=np.int64)
    for column, leaves in sets.items():
        sizes[:, column] = np.bincount(leaves.owner, minlength=classes)
    return sizes


@dataclass(frozen=True, eq=False)
class _HistogramEntries:
    """A histogram's entries as class, value and count, sorted by class."""

    group: IntArray
    values: IntArray
    counts: IntArray
    cardinality: int


def _by_class(histogram: Histogram, ids: IntArray) -> _HistogramEntries:
    group_of = np.repeat(ids, np.diff(histogram.offsets))
    order = np.argsort(group_of, kind="stable")
    return _HistogramEntries(group_of[order], histogram.values[order], histogram.counts[order], histogram.cardinality)


def _portion(entries: _HistogramEntries, part: slice) -> IntArray:
    begin, end = np.searchsorted(entries.group, [part.start, part.stop])
    cells = np.zeros((part.stop - part.start) * entries.cardinality, dtype=np.int64)
    cell = (entries.group[begin:end] - part.start) * entries.cardinality + entries.values[begin:end]
    np.add.at(cells, cell, entries.counts[begin:end])
    return cells.reshape(-1, entries.cardinality)
