"""A table as its equivalence classes: one GROUP BY, then integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.engines import Source, count_combined, exactly, weighed
from discreet.errors import DataError, MissingColumnError
from discreet.runtime.integer_codes import add_up, distinct, numbered
from discreet.runtime.plurals import amount
from discreet.schema import parts_of, plain, text_of

__all__ = ["CountedClasses", "Int64Array", "Owners", "any_found", "read_classes"]

Int64Array = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountedClasses:
    """The equivalence classes of a table; a missing quasi-identifier is a value like any other.

    ``values[column]`` are the distinct values of a column in their natural order (missing last), and ``codes[i][c]`` is
    the index of the value that class ``c`` has of quasi-identifier ``i``. Entry ``e`` says that ``count[e]`` rows of
    class ``group[e]`` have the value with index ``secret[column][e]`` of a sensitive column; entries are sorted by
    class.
    """

    columns: tuple[str, ...]
    values: Mapping[str, pl.Series]
    codes: Sequence[IntArray]
    sizes: Int64Array
    group: Int64Array
    count: Int64Array
    secret: Mapping[str, IntArray]
    people: NDArray[np.float64] | None = None
    """The sum of the survey weights of each class."""
    owners: Owners | None = None
    """Whose rows they are, if people are counted and not rows; then ``sizes`` and histograms are numbers of people."""

    @cached_property
    def rows(self) -> int:
        """The number of rows; where people are counted, the sum of the people of all classes."""
        return int(self.sizes.sum())

    @property
    def total(self) -> int:
        """The number of rows, or of people."""
        return self.rows if self.owners is None else self.owners.people

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The rows of each class; where people are counted, each person is spread evenly over their rows."""
        if self.owners is None:
            return self.sizes.astype(np.float64)
        rows = np.bincount(self.owners.person, weights=self.count)
        shares = self.count / rows[self.owners.person]
        return np.asarray(np.bincount(self.group, weights=shares, minlength=self.sizes.size), dtype=np.float64)

    def people_of(self, index: IntArray, classes: IntArray, size: int) -> Int64Array:
        """Return how many rows or people are in the union of some classes, for each of ``size`` lists of classes.

        Class ``classes[i]`` is in list ``index[i]``, which are in ascending order.
        """
        if self.owners is None or not (np.diff(index) == 0).any():
            return add_up(index, self.sizes[classes], size)
        first = np.searchsorted(self.group, np.arange(self.sizes.size + 1))
        length = np.diff(first)[classes]
        entry = np.arange(int(length.sum())) + np.repeat(first[classes] - np.cumsum(length) + length, length)
        span = int(self.owners.person.max(initial=0)) + 1
        pairs = distinct(np.repeat(index, length).astype(np.int64) * span + self.owners.person[entry])
        return np.bincount(pairs // span, minlength=size).astype(np.int64)

    def width(self, column: str) -> int:
        """The number of distinct values of a column."""
        return len(self.values[column])

    def texts(self, column: str) -> pl.Series:
        """The distinct values of a column as text."""
        return text_of(plain(column, self.values[column]))

    def histogram(self, column: str) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Return each pair of a class and a sensitive value that occurs, and its count."""
        width = max(self.width(column), 1)
        cells = self.group * width + self.secret[column]
        if self.owners is not None:
            keys, people = self.owners.count(cells)
            return keys // width, keys % width, people
        keys, entry = np.unique(cells, return_inverse=True)
        return keys // width, keys % width, add_up(entry, self.count, keys.size)

    def known(self, column: str, values: NDArray[np.bool_]) -> Int64Array:
        """Return how many rows, or people, of each class have one of some values of a sensitive column."""
        there = values[self.secret[column]]
        if self.owners is None:
            return add_up(self.group[there], self.count[there], self.sizes.size)
        groups, people = self.owners.count(self.group, there)
        known = np.zeros(self.sizes.size, dtype=np.int64)
        known[groups] = people
        return known

    def totals(self, column: str) -> Int64Array:
        """Return how many rows, or people, have each value of a sensitive column."""
        if self.owners is None:
            return add_up(self.secret[column], self.count, self.width(column))
        values, people = self.owners.count(self.secret[column].astype(np.int64))
        total = np.zeros(self.width(column), dtype=np.int64)
        total[values] = people
        return total


@dataclass(frozen=True, eq=False)
class Owners:
    """The person of each entry of a table, by number, and the household where that is known."""

    column: str
    """What says whose row it is."""
    person: Int64Array
    household: Int64Array | None = None

    @cached_property
    def people(self) -> int:
        """The number of people."""
        return int(np.unique(self.person).size)

    def count(self, cells: Int64Array, there: NDArray[np.bool_] | None = None) -> tuple[Int64Array, Int64Array]:
        """Return the cells that occur among some entries, in order, and the number of people of each."""
        table = pl.DataFrame({"cell": cells, "person": self.person})
        some = table if there is None else table.filter(pl.Series(there))
        counted = some.group_by("cell").agg(pl.col("person").n_unique().cast(pl.Int64)).sort("cell")
        return counted["cell"].to_numpy(), counted["person"].to_numpy()

    def highest(self, risks: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the highest risk of each person, given that of each entry; people are in the order of their number."""
        _, person = np.unique(self.person, return_inverse=True)
        found = np.zeros(self.people, dtype=np.float64)
        np.maximum.at(found, person, risks)
        return found

    def together(self, risks: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chance that any member of each household is found, given the risk of each person."""
        assert self.household is not None
        _, first = np.unique(self.person, return_index=True)
        _, household = np.unique(self.household, return_inverse=True)
        return any_found(household[first], 1 - risks)


def any_found(household: NDArray[np.int64], missed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance that any member of each household is found, given how likely each is missed."""
    all_missed = np.ones(int(household.max()) + 1, dtype=np.float64)
    np.multiply.at(all_missed, household, missed)
    return np.asarray(1 - all_missed)


def read_classes(
    source: Source,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    weights: str | None = None,
    *,
    person: str | None = None,
    household: str | None = None,
) -> CountedClasses:
    """Count a table by its quasi-identifiers and sensitive columns, and add up survey weights.

    With the column ``person``, people are counted, and with ``household`` it is known who lives together.
    """
    owners = [column for column in (person, household) if column is not None]
    columns = [*quasi_identifiers, *sensitive, *owners]
    real = [part for name in columns for part in parts_of(name, source.columns)]
    for column in (*real, *([] if weights is None else [weights])):
        if column not in source.columns:
            raise MissingColumnError(column, source.columns)
    if owners:
        source.number_people(owners)
    counted = count_combined(source, columns, weights)
    if counted.is_empty():
        raise DataError("The data has no rows; there is nothing to measure.", topic="no-rows")
    _check_owners(counted, owners, len(columns))
    values = {column: counted[column].unique().sort(nulls_last=True) for column in columns}
    indexed = counted.select(
        exactly(column).replace_strict(distinct, np.arange(len(distinct)), return_dtype=pl.Int64)
        for column, distinct in values.items()
    )
    codes = [indexed[column].to_numpy() for column in columns]
    widths = [len(values[column]) for column in columns]
    quasi = len(quasi_identifiers)
    group, groups = numbered(counted.height, zip(codes[:quasi], widths[:quasi], strict=True))
    order = np.lexsort([*codes[quasi:], group])
    group = group[order]
    first = np.searchsorted(group, np.arange(groups))
    count = counted.to_series(len(columns)).to_numpy()[order].astype(np.int64)
    people = None
    if weights is not None:
        weight = weighed(weights, counted, columns).people[order]
        people = np.bincount(group, weights=weight, minlength=groups).astype(np.float64)
    whose = None
    if person is not None:
        known = {column: code[order] for column, code in zip(columns, codes, strict=True)}
        whose = Owners(person, known[person], None if household is None else known[household])
    return CountedClasses(
        columns=tuple(quasi_identifiers),
        values=values,
        codes=[code[order][first] for code in codes[:quasi]],
        sizes=add_up(group, count, groups) if whose is None else whose.count(group)[1],
        group=group.astype(np.int64),
        count=count,
        secret={column: code[order] for column, code in zip(sensitive, codes[quasi:], strict=False)},
        people=people,
        owners=whose,
    )


def _check_owners(counted: pl.DataFrame, owners: Sequence[str], rows: int) -> None:
    """Refuse rows that do not say whose they are."""
    for column in owners:
        missing = int(counted.to_series(rows).filter(counted[column].is_null()).sum())
        if missing:
            raise DataError(
                f"Column '{column}', which says whose row it is, has no value in {amount(missing, 'row')}; fill it in, "
                "give each of those rows a value of its own, or leave them out.",
                column=column,
                topic="people",
            )
