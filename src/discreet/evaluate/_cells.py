"""A table as its classes: one GROUP BY, then integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet._numbers import add_up, numbered
from discreet.counts import IntArray
from discreet.engines import Source, count_together, exactly, weighed
from discreet.errors import DataError, MissingColumnError
from discreet.schema import parts_of
from discreet.schema._column import plain, text_of

__all__ = ["Cells", "Int64Array", "class_cells", "counted_cells", "read_cells"]

Int64Array = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cells:
    """The classes of a table: all rows that agree on every quasi-identifier, a missing value being a value.

    ``values[column]`` are the distinct values of a column in their natural order (missing last); ``codes[i][c]`` is the
    place of class ``c`` among those of quasi-identifier ``i``. Entry ``e`` says that ``count[e]`` rows of class
    ``group[e]`` have the value at place ``secret[column][e]`` of a sensitive column; entries are sorted by class.
    """

    columns: tuple[str, ...]
    values: Mapping[str, pl.Series]
    codes: Sequence[IntArray]
    sizes: Int64Array
    group: Int64Array
    count: Int64Array
    secret: Mapping[str, IntArray]
    people: NDArray[np.float64] | None = None
    """What the survey weights of each class add up to."""
    secret_parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns of sensitive attributes that are several."""

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.sizes.sum())

    def width(self, column: str) -> int:
        """The number of distinct values of a column."""
        return len(self.values[column])

    def parts(self, column: str) -> tuple[str, ...]:
        """The columns a sensitive attribute is."""
        return self.secret_parts.get(column, (column,))

    def texts(self, column: str) -> pl.Series:
        """The distinct values of a column as text."""
        return text_of(plain(column, self.values[column]))

    def histogram(self, column: str) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Return the classes, values and counts of a sensitive column, of each pair that occurs."""
        width = max(self.width(column), 1)
        keys, entry = np.unique(self.group * width + self.secret[column], return_inverse=True)
        return keys // width, keys % width, add_up(entry, self.count, keys.size)


def read_cells(
    source: Source, quasi_identifiers: Sequence[str], sensitive: Sequence[str] = (), weights: str | None = None
) -> Cells:
    """Count the rows of a table by its quasi-identifiers and sensitive columns, and add up survey weights."""
    columns = [*quasi_identifiers, *sensitive]
    real = [part for name in columns for part in parts_of(name, source.columns)]
    for column in (*real, *([] if weights is None else [weights])):
        if column not in source.columns:
            raise MissingColumnError(column, source.columns)
    counted = count_together(source, columns, weights)
    if counted.is_empty():
        raise DataError("The data has no rows; there is nothing to measure.", topic="no-rows")
    cells = counted_cells(counted, quasi_identifiers, sensitive, weights)
    return replace(cells, secret_parts={name: parts_of(name, source.columns) for name in sensitive})


def counted_cells(
    counted: pl.DataFrame, quasi_identifiers: Sequence[str], sensitive: Sequence[str] = (), weights: str | None = None
) -> Cells:
    """Return the classes of a table that was counted by its quasi-identifiers and sensitive columns."""
    columns = [*quasi_identifiers, *sensitive]
    values = {column: counted[column].unique().sort(nulls_last=True) for column in columns}
    places = counted.select(
        exactly(column).replace_strict(distinct, np.arange(len(distinct)), return_dtype=pl.Int64)
        for column, distinct in values.items()
    )
    codes = [places[column].to_numpy() for column in columns]
    widths = [len(values[column]) for column in columns]
    kinds = len(quasi_identifiers)
    group, groups = numbered(counted.height, zip(codes[:kinds], widths[:kinds], strict=True))
    order = np.lexsort([*codes[kinds:], group])
    group = group[order]
    first = np.searchsorted(group, np.arange(groups))
    count = counted.to_series(len(columns)).to_numpy()[order].astype(np.int64)
    people = None
    if weights is not None:
        there = weighed(weights, counted, columns).people[order]
        people = np.bincount(group, weights=there, minlength=groups).astype(np.float64)
    return Cells(
        columns=tuple(quasi_identifiers),
        values=values,
        codes=[code[order][first] for code in codes[:kinds]],
        sizes=add_up(group, count, groups),
        group=group.astype(np.int64),
        count=count,
        secret={column: code[order] for column, code in zip(sensitive, codes[kinds:], strict=True)},
        people=people,
    )


def class_cells(classes: pl.DataFrame, columns: Sequence[str]) -> Cells:
    """Return classes by a table with one row for each, in its order, whose columns are the quasi-identifiers.

    Nothing is said about how many rows they have.
    """
    values = {column: classes.to_series(place).unique().sort(nulls_last=True) for place, column in enumerate(columns)}
    codes = [
        classes.to_series(place).replace_strict(distinct, np.arange(len(distinct)), return_dtype=pl.Int64).to_numpy()
        for place, distinct in enumerate(values.values())
    ]
    none = np.zeros(0, dtype=np.int64)
    return Cells(tuple(columns), values, codes, np.ones(classes.height, dtype=np.int64), none, none, {})
