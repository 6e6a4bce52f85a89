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
from discreet.runtime.integer_codes import add_up, numbered
from discreet.schema import parts_of, plain, text_of

__all__ = ["CountedClasses", "Int64Array", "read_classes"]

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

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.sizes.sum())

    def width(self, column: str) -> int:
        """The number of distinct values of a column."""
        return len(self.values[column])

    def texts(self, column: str) -> pl.Series:
        """The distinct values of a column as text."""
        return text_of(plain(column, self.values[column]))

    def histogram(self, column: str) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Return each pair of a class and a sensitive value that occurs, and its count."""
        width = max(self.width(column), 1)
        keys, entry = np.unique(self.group * width + self.secret[column], return_inverse=True)
        return keys // width, keys % width, add_up(entry, self.count, keys.size)


def read_classes(
    source: Source, quasi_identifiers: Sequence[str], sensitive: Sequence[str] = (), weights: str | None = None
) -> CountedClasses:
    """Count a table by its quasi-identifiers and sensitive columns, and add up survey weights."""
    columns = [*quasi_identifiers, *sensitive]
    real = [part for name in columns for part in parts_of(name, source.columns)]
    for column in (*real, *([] if weights is None else [weights])):
        if column not in source.columns:
            raise MissingColumnError(column, source.columns)
    counted = count_combined(source, columns, weights)
    if counted.is_empty():
        raise DataError("The data has no rows; there is nothing to measure.", topic="no-rows")
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
    return CountedClasses(
        columns=tuple(quasi_identifiers),
        values=values,
        codes=[code[order][first] for code in codes[:quasi]],
        sizes=add_up(group, count, groups),
        group=group.astype(np.int64),
        count=count,
        secret={column: code[order] for column, code in zip(sensitive, codes[quasi:], strict=True)},
        people=people,
    )
