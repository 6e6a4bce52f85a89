"""The count table: everything a global solver may know about the data, as small integer arrays.

Any recoding that treats equal values alike is determined by the distinct quasi-identifier tuples, how often each
occurs and which sensitive and class values occur with it. Solvers see this and nothing else: no frames, no engines,
and no strings but the names that people give to values and nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import add_up, first_of, numbered

__all__ = ["CodedAttribute", "CountTable", "FloatArray", "Grouping", "Histogram", "IntArray", "Population"]

IntArray = NDArray[np.integer]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grouping:
    """The classes of one recoding: for each the number of its first tuple and its rows; for each tuple its class.

    Where the arrays of the classes were rolled up from others than the tuples, ``ids`` may be those of the others.
    """

    ids: IntArray
    first: IntArray
    sizes: IntArray


@dataclass(frozen=True, eq=False)
class CodedAttribute:
    """One quasi-identifier: its leaves as codes 0..leaves-1 in order, and their ancestors level by level.

    ``ancestors[level, leaf]`` is the code of the block the leaf belongs to at that level; level 0 is the leaf
    itself and blocks are numbered from 0 without gaps by first appearance. ``rows[leaf]`` counts the rows of the table
    that have the leaf (0 for leaves only the hierarchy knows). ``positions`` holds the number of each leaf
    for numbers and dates, of which only the differences count, and is None for text. For text every block is a
    contiguous run of leaves.
    ``repeats[level][block]`` says that a block is no node of its own but its only child carried up, as padding does
    with shallow leaves; None where every block is a node. Without a ``tree`` nobody gave or needed a hierarchy: nothing
    stands between the leaves and the root, and local recoding shows ranges and sets of values.
    ``labels[level][block]`` is what a block is released as, for parts that are told about nodes by name; None for
    missing values, and empty where nobody named the blocks.
    """

    name: str
    ancestors: IntArray
    rows: IntArray
    positions: FloatArray | None = None
    repeats: tuple[NDArray[np.bool_], ...] | None = None
    tree: bool = True
    labels: Sequence[Sequence[str | None]] = ()

    @property
    def leaves(self) -> int:
        """The number of leaves of the hierarchy, whether they occur or not."""
        return int(self.ancestors.shape[1])

    @property
    def height(self) -> int:
        """The highest level; levels run from 0 to height."""
        return int(self.ancestors.shape[0]) - 1

    @cached_property
    def block_leaves(self) -> list[IntArray]:
        """For each level, the number of leaves under each block."""
        return [np.bincount(row).astype(np.int64) for row in self.ancestors]

    @cached_property
    def block_rows(self) -> list[IntArray]:
        """For each level, the number of rows of the whole table in each block."""
        return [add_up(row, self.rows) for row in self.ancestors]

    @cached_property
    def block_spreads(self) -> list[FloatArray]:
        """For each level, the share of all leaves under each block, 0 for a leaf alone."""
        return [np.where(leaves == 1, 0.0, leaves / self.leaves) for leaves in self.block_leaves]

    @cached_property
    def nodes(self) -> dict[str, list[tuple[int, int]]]:
        """For each label of nodes above two leaves or more, their levels and blocks, from the leaves up."""
        found: dict[str, list[tuple[int, int]]] = {}
        for level, (labels, leaves) in enumerate(zip(self.labels, self.block_leaves, strict=False)):
            for block in np.flatnonzero(leaves > 1).tolist():
                found.setdefault(str(labels[block]), []).append((level, block))
        return found


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each value of one column occurs with each tuple, as compressed sparse rows.

    The values that occur with tuple ``j`` are ``values[offsets[j]:offsets[j+1]]`` with ``counts`` beside them.
    Codes 0..cardinality-1 follow the column's order (natural for numbers and dates). ``ancestors`` is the column's
    hierarchy in the form of :class:`CodedAttribute`, where one was given. ``labels`` names each code for people.
    ``whole`` counts each value in the whole table, where the tuples are only some of it. ``missing`` rows of the whole
    table have no known value: they are in the weights of their tuples and in no count here.
    """

    name: str
    cardinality: int
    offsets: IntArray
    values: IntArray
    counts: IntArray
    ancestors: IntArray | None = None
    labels: tuple[str, ...] = ()
    whole: IntArray | None = None
    missing: int = 0

    @cached_property
    def totals(self) -> IntArray:
        """How often each known value occurs in the whole table."""
        if self.whole is not None:
            return self.whole
        return add_up(self.values, self.counts, self.cardinality)

    @cached_property
    def shares(self) -> FloatArray:
        """The share of each value among those known in the whole table."""
        return np.asarray(self.totals / max(int(self.totals.sum()), 1))

    def some(self, tuples: IntArray) -> Histogram:
        """Return the histogram of some of the tuples, in the order given."""
        length = np.diff(self.offsets)[tuples]
        offsets = np.concatenate([[0], np.cumsum(length)])
        entry = np.repeat(self.offsets[:-1][tuples] - offsets[:-1], length) + np.arange(offsets[-1])
        return replace(self, offsets=offsets, values=self.values[entry], counts=self.counts[entry], whole=self.totals)


@dataclass(frozen=True, eq=False)
class Population:
    """The people a table was drawn from, counted by the same codes as its rows.

    ``codes[i, p]`` is the leaf code of attribute ``i`` in tuple ``p`` of the population, ``people[p]`` how many have
    that tuple, and ``place[j]`` where tuple ``j`` of the table is among them. Where the population is a table, it has
    tuples besides, which no row of the table has and which count in the classes they are recoded to. Where it is only
    estimated (``estimated``), by what the weights of a class add up to, there are none, and rows that are not
    published take their weights along.
    """

    codes: NDArray[np.int32]
    people: FloatArray
    place: IntArray
    estimated: bool = False

    @cached_property
    def size(self) -> float:
        """How many people there are."""
        return float(self.people.sum())

    def of_tuples(self, blocks: Sequence[IntArray]) -> FloatArray:
        """Return for each tuple of the table how many people have the same released values."""
        ids, count = _classes(self.codes, blocks)
        people: FloatArray = np.bincount(ids, weights=self.people, minlength=count).astype(np.float64)
        return people[ids[self.place]]

    def some(self, tuples: IntArray) -> Population:
        """Return the population of some tuples of the table; nobody leaves it, unless it is estimated from the rows."""
        if not self.estimated:
            return replace(self, place=self.place[tuples])
        held = self.place[tuples]
        return Population(self.codes[:, held], self.people[held], np.arange(held.size), estimated=True)


@dataclass(frozen=True, eq=False)
class CountTable:
    """Distinct quasi-identifier tuples, their weights and the histograms that go with them.

    ``codes[i, j]`` is the leaf code of attribute ``i`` in tuple ``j``. Tuples are distinct and in lexicographic order
    of their codes, so that the row order of the data leaves no trace. ``joint`` counts, for each sensitive column,
    its values together with the class labels, where there are labels: value ``v`` with label ``c`` has the code
    ``v * labels.cardinality + c``. ``population`` counts the people the rows were drawn from, where they are known.
    """

    attributes: tuple[CodedAttribute, ...]
    codes: NDArray[np.int32]
    weights: NDArray[np.int64]
    sensitive: Mapping[str, Histogram] = field(default_factory=dict)
    labels: Histogram | None = None
    joint: Mapping[str, Histogram] = field(default_factory=dict)
    population: Population | None = None

    @cached_property
    def n(self) -> int:
        """The number of rows of the table."""
        return int(self.weights.sum())

    @property
    def tuples(self) -> int:
        """The number of distinct tuples."""
        return int(self.weights.size)

    @property
    def names(self) -> list[str]:
        """The names of the quasi-identifiers, in order."""
        return [attribute.name for attribute in self.attributes]

    def some(self, tuples: IntArray) -> CountTable:
        """Return the table of some of the tuples; what is counted of the whole table in histograms stays."""
        codes, weights = self.codes[:, tuples], self.weights[tuples]
        rows = [add_up(leaves, weights, a.leaves) for a, leaves in zip(self.attributes, codes, strict=True)]
        return CountTable(
            attributes=tuple(replace(a, rows=counted) for a, counted in zip(self.attributes, rows, strict=True)),
            codes=codes,
            weights=weights,
            sensitive={name: histogram.some(tuples) for name, histogram in self.sensitive.items()},
            labels=None if self.labels is None else self.labels.some(tuples),
            joint={name: histogram.some(tuples) for name, histogram in self.joint.items()},
            population=None if self.population is None else self.population.some(tuples),
        )

    def group(self, blocks: Sequence[IntArray]) -> Grouping:
        """Find the classes of a recoding, numbered in the order of their blocks.

        ``blocks[i][leaf]`` is the block the leaf of attribute ``i`` is recoded to.
        """
        ids, count = _classes(self.codes, blocks)
        return Grouping(ids.astype(np.int32), first_of(ids, count), add_up(ids, self.weights, count))


def _classes(codes: NDArray[np.int32], blocks: Sequence[IntArray]) -> tuple[IntArray, int]:
    """Number the classes of tuples in the order of their blocks; return that of each tuple and how many there are."""
    widths = [int(block.max(initial=0)) + 1 for block in blocks]
    told = ((block[leaves], width) for block, leaves, width in zip(blocks, codes, widths, strict=True) if width > 1)
    return numbered(codes.shape[1], told)
