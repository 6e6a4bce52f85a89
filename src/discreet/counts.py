"""The count table: all that a solver knows about the data, as small integer arrays.

Any recoding that treats equal values alike is determined by the distinct quasi-identifier tuples, how often each
occurs, and with which sensitive and class values. Solvers see nothing else: no frames, no engines, and no strings but
the labels of values and nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.runtime.integer_codes import add_up, compact, first_of, numbered

__all__ = ["CodedAttribute", "CountTable", "FloatArray", "Grouping", "Histogram", "IntArray", "People", "Population"]

IntArray = NDArray[np.integer]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grouping:
    """The equivalence classes of a recoding."""

    ids: IntArray
    """The class of each tuple, or of each class of a finer grouping that this one was rolled up from."""
    first: IntArray
    """The first tuple of each class."""
    sizes: IntArray
    """The number of rows of each class."""
    of_tuples: IntArray | None = None
    """The class of each tuple where ``ids`` are about the classes of a finer grouping; None where they are the same."""

    @property
    def tuple_ids(self) -> IntArray:
        """The class of each tuple."""
        return self.ids if self.of_tuples is None else self.of_tuples


@dataclass(frozen=True, eq=False)
class CodedAttribute:
    """A quasi-identifier: its leaves as codes 0..leaves-1 in order, and their ancestors at each level."""

    name: str
    ancestors: IntArray
    """``ancestors[level, leaf]`` is the block of the leaf at that level.

    Level 0 is the leaf itself. Blocks are numbered from 0 without gaps by first appearance; for text, every block is a
    contiguous run of leaves.
    """
    rows: IntArray
    """The number of rows of each leaf, 0 for leaves that only the hierarchy has."""
    positions: FloatArray | None = None
    """The numeric value of each leaf for numbers and dates, up to a shift; None for text."""
    repeats: tuple[NDArray[np.bool_], ...] | None = None
    """``repeats[level][block]``: the block is no node of its own but its only child, repeated to pad a shallow branch.

    None if every block is a node.
    """
    tree: bool = True
    """Whether there is a hierarchy. Without one, local recoding releases ranges and sets of values."""
    labels: Sequence[Sequence[str | None]] = ()
    """``labels[level][block]`` is the released label of a block, None for missing values; empty if there are none."""
    grid: IntArray | None = None
    """The cell of each leaf in a grid that the ends of local ranges are rounded to; None if they are not."""

    @property
    def leaves(self) -> int:
        """The number of leaves, whether they occur or not."""
        return int(self.ancestors.shape[1])

    def rounded(self, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
        """Return ranges of leaves extended to whole cells of the grid; single leaves and missing values stay."""
        if self.grid is None or self.positions is None:
            return low, high
        first = np.searchsorted(self.grid, self.grid[low])
        last = np.searchsorted(self.grid, self.grid[high], "right") - 1
        several = (low < high) & ~np.isnan(self.positions[high])
        return np.where(several, first, low), np.where(several, last, high)

    def flattened(self) -> CodedAttribute:
        """Return the attribute with a flat hierarchy: its leaves, and one root above them all."""
        leaf = np.arange(self.leaves)
        labels = [self.labels[0], self.labels[-1][:1]] if self.labels else ()
        return replace(self, ancestors=np.stack([leaf, 0 * leaf]), repeats=None, tree=True, labels=labels, grid=None)

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
        """The (level, block) pairs of each label, from the leaves up, for blocks of two leaves or more."""
        found: dict[str, list[tuple[int, int]]] = {}
        for level, (labels, leaves) in enumerate(zip(self.labels, self.block_leaves, strict=False)):
            for block in np.flatnonzero(leaves > 1).tolist():
                found.setdefault(str(labels[block]), []).append((level, block))
        return found


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often each value of a column occurs with each tuple, as compressed sparse rows.

    The values that occur with tuple ``j`` are ``values[offsets[j]:offsets[j+1]]``, with ``counts`` parallel to them.
    Codes 0..cardinality-1 follow the order of the column (natural for numbers and dates), and ``labels`` names them.
    ``ancestors`` is the hierarchy of the column, if it has one, as in :class:`CodedAttribute`. ``whole`` counts each
    value in the whole table, if the tuples are only a part of it. ``missing`` is the number of rows of the whole table
    without a known value: they count in the weights of their tuples, but not here. ``positions`` holds the numeric
    value of each code for numbers and dates (days since 1970-01-01), NaN for a missing one; None for text.
    ``overlaps`` says that what is counted are people, some of whom have several of the values.
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
    positions: FloatArray | None = None
    overlaps: bool = False

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
    """The population a table was sampled from, counted by the same codes as its rows.

    ``codes[i, p]`` is the leaf of attribute ``i`` in tuple ``p`` of the population, ``people[p]`` the number of people
    with that tuple, and ``position[j]`` the population tuple of tuple ``j`` of the table. A population table has
    further tuples, which count in the classes they are recoded to. A population ``estimated`` from survey weights has
    none, and rows that are left out take their weights with them.
    """

    codes: NDArray[np.int32]
    people: FloatArray
    position: IntArray
    estimated: bool = False

    @cached_property
    def size(self) -> float:
        """The number of people."""
        return float(self.people.sum())

    def of_tuples(self, blocks: Sequence[IntArray]) -> FloatArray:
        """Return for each tuple of the table the number of people with the same released values."""
        ids, count = _classes(self.codes, blocks)
        people: FloatArray = np.bincount(ids, weights=self.people, minlength=count).astype(np.float64)
        return people[ids[self.position]]

    def some(self, tuples: IntArray) -> Population:
        """Return the population of some tuples of the table; it stays whole unless it is estimated from the rows."""
        if not self.estimated:
            return replace(self, position=self.position[tuples])
        kept = self.position[tuples]
        return Population(self.codes[:, kept], self.people[kept], np.arange(kept.size), estimated=True)


@dataclass(frozen=True, eq=False)
class People:
    """Who has rows with each tuple: what promises count when one person may have several rows.

    People are numbered from 0 without gaps, in an order that depends on the codes of their rows alone. Those with a
    row of tuple ``j`` are ``members[offsets[j]:offsets[j+1]]``, in ascending order, with ``rows`` of the table each.
    ``sensitive`` has for each sensitive column the known values of each of them: the distinct triples of tuple, person
    and value, as :class:`PersonValues`. The unit may be a household as well.

    A class that is the union of two has as many people as the union of their sets, not the sum. Only where everybody's
    quasi-identifiers are ``constant`` do numbers of people add up like numbers of rows.
    """

    count: int
    offsets: IntArray
    members: IntArray
    rows: IntArray
    sensitive: Mapping[str, PersonValues] = field(default_factory=dict)

    @cached_property
    def constant(self) -> bool:
        """Whether all rows of each person have the same tuple."""
        return self.members.size == self.count

    @cached_property
    def of_tuples(self) -> IntArray:
        """The number of people of each tuple."""
        return np.diff(self.offsets)

    @cached_property
    def row_counts(self) -> IntArray:
        """The number of rows of each person."""
        return add_up(self.members, self.rows, self.count)


@dataclass(frozen=True, eq=False)
class PersonValues:
    """The known values of a sensitive column with each tuple and person, as compressed sparse rows.

    Entry ``e`` of tuple ``j``, ``offsets[j] <= e < offsets[j+1]``, says that ``people[e]`` has a row with tuple ``j``
    and value ``values[e]``. ``totals`` counts in the whole table the people who have each value.
    """

    offsets: IntArray
    people: IntArray
    values: IntArray
    totals: IntArray

    @cached_property
    def overlaps(self) -> bool:
        """Whether some person has several values, in whichever tuples."""
        one = np.zeros(int(self.people.max(initial=-1)) + 1, dtype=self.values.dtype)
        one[self.people] = self.values
        return bool((one[self.people] != self.values).any())

    def histogram(self, rows: Histogram) -> Histogram:
        """Return the histogram of people, given that of rows."""
        width = max(rows.cardinality, 1)
        owner = np.repeat(np.arange(self.offsets.size - 1), np.diff(self.offsets))
        entry, count = compact(owner * width + self.values, (self.offsets.size - 1) * width)
        example = first_of(entry, count)
        return replace(
            rows,
            offsets=np.searchsorted(owner[example], np.arange(self.offsets.size)),
            values=self.values[example].astype(np.int64),
            counts=np.bincount(entry, minlength=count),
            whole=self.totals,
            overlaps=self.overlaps,
        )


@dataclass(frozen=True, eq=False)
class CountTable:
    """Distinct quasi-identifier tuples, their weights and histograms.

    ``codes[i, j]`` is the leaf of attribute ``i`` in tuple ``j``. Tuples are in lexicographic order of their codes, so
    that the row order of the data leaves no trace. ``joint`` has, for each sensitive column, the joint histogram with
    the class labels, if there are any: value ``v`` with label ``c`` has the code ``v * labels.cardinality + c``.
    ``population`` counts the people the rows were sampled from, if they are known. ``people`` are those the rows are
    about, if promises count people and not rows.
    """

    attributes: tuple[CodedAttribute, ...]
    codes: NDArray[np.int32]
    weights: NDArray[np.int64]
    sensitive: Mapping[str, Histogram] = field(default_factory=dict)
    labels: Histogram | None = None
    joint: Mapping[str, Histogram] = field(default_factory=dict)
    population: Population | None = None
    people: People | None = None

    @cached_property
    def n(self) -> int:
        """The number of rows of the table."""
        return int(self.weights.sum())

    @cached_property
    def units(self) -> CountTable:
        """The table as privacy models see it: counted in people if there are any, else in rows.

        Its numbers of a tuple are those of the people who have it. Only where everybody's quasi-identifiers are
        constant do they add up over tuples.
        """
        people = self.people
        if people is None:
            return self
        return _PeopleTable(
            attributes=self.attributes,
            codes=self.codes,
            weights=people.of_tuples.astype(np.int64),
            sensitive={name: people.sensitive[name].histogram(rows) for name, rows in self.sensitive.items()},
            population=self.population,
            total=people.count,
        )

    @property
    def unit(self) -> str:
        """What ``n`` counts, for messages."""
        return "row"

    @property
    def tuples(self) -> int:
        """The number of distinct tuples."""
        return int(self.weights.size)

    @property
    def names(self) -> list[str]:
        """The names of the quasi-identifiers, in order."""
        return [attribute.name for attribute in self.attributes]

    def flattened(self, which: Sequence[bool]) -> CountTable:
        """Return the table with flat hierarchies, all leaves right below one root, for the attributes chosen."""
        if not any(which):
            return self
        attributes = [each.flattened() if flat else each for each, flat in zip(self.attributes, which, strict=True)]
        return replace(self, attributes=tuple(attributes))

    def some(self, tuples: IntArray) -> CountTable:
        """Return the table of some of the tuples; histograms keep the totals of the whole table.

        There must be no ``people``: some of them would have no tuple left.
        """
        assert self.people is None
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
        """Return the equivalence classes of a recoding, in lexicographic order of their blocks.

        ``blocks[i][leaf]`` is the block that a leaf of attribute ``i`` is recoded to.
        """
        ids, count = _classes(self.codes, blocks)
        return Grouping(ids.astype(np.int32), first_of(ids, count), add_up(ids, self.weights, count))


@dataclass(frozen=True, eq=False)
class _PeopleTable(CountTable):
    """A table counted in people: one with several tuples is counted with each, and once in ``n``."""

    total: int = 0

    @property
    def n(self) -> int:
        """The number of people."""
        return self.total

    @property
    def unit(self) -> str:
        """People are counted."""
        return "person"


def _classes(codes: NDArray[np.int32], blocks: Sequence[IntArray]) -> tuple[IntArray, int]:
    """Return the class of each tuple, in lexicographic order of their blocks, and the number of classes."""
    widths = [int(block.max(initial=0)) + 1 for block in blocks]
    coded = ((block[leaves], width) for block, leaves, width in zip(blocks, codes, widths, strict=True) if width > 1)
    return numbered(codes.shape[1], coded)
