"""Rows that are held in memory, counted as whole numbers: comparing text takes several times as long.

Text of few values becomes categories, once, for counting and for recoding. All columns of a row are then whole numbers
of some span, which make up one number together, so that rows are grouped by a single column.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines._names import exactly, unused

__all__ = ["START", "Span", "few_values", "group_held", "spans_of", "with_categories"]

START = 1 << 14
"""Rows that are looked at to find columns of few values."""
_FEW = 8
"""A column whose values occur this often each in those rows is one of few values."""
_LARGEST_KEY = 2**62


class Span(NamedTuple):
    """A column as whole numbers from 0 to ``size`` - 1, of which the last stands for missing values."""

    numbers: NDArray[Any]
    size: int


def few_values(start: pl.DataFrame) -> list[str]:
    """Return the columns of few values, by the first rows of a table."""
    return [column.name for column in start if column.n_unique() <= start.height // _FEW]


def with_categories(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with text of few values as categories."""
    texts = [exactly(column) for column, dtype in table.schema.items() if dtype == pl.String]
    few = few_values(table.select(texts).head(START))
    return table.with_columns(exactly(column).cast(pl.Categorical) for column in few)


def group_held(
    table: pl.DataFrame, by: Sequence[str], aggregates: Sequence[pl.Expr], of: Sequence[str] = ()
) -> pl.DataFrame:
    """Return the distinct combinations of some columns of a table, and aggregates ``of`` others over the rows of each.

    >>> table = pl.DataFrame({"age": [30, 41, 30], "sex": ["F", "M", "F"]})
    >>> group_held(table, ["age", "sex"], [pl.len()]).sort("age").rows()
    [(30, 'F', 2), (41, 'M', 1)]
    """
    key = _packed(table, by)
    if key is None:
        return table.lazy().group_by(map(exactly, by)).agg(*aggregates).collect()
    number, first = unused("key", table.columns), unused("first", table.columns)
    places = pl.Series(first, np.arange(key.size, dtype=np.uint32))
    rows = pl.DataFrame([pl.Series(number, key), places, *(table[column] for column in of)])
    groups = rows.lazy().group_by(number).agg(pl.col(first).first(), *aggregates).drop(number).collect()
    return table.select(map(exactly, by))[groups[first]].hstack(groups.drop(first))


def spans_of(table: pl.DataFrame) -> dict[str, Span]:
    """Return the columns whose values are whole numbers, or are kept as such."""
    whole = [column for column, dtype in table.schema.items() if _is_whole(dtype)]
    numbers = table.select(exactly(column).to_physical().cast(pl.Int64, strict=False) for column in whole)
    found = {}
    for values in numbers:
        column = table[values.name]
        low, high = values.min(), values.max()
        if values.null_count() != column.null_count():  # too large for 64 bits
            continue
        if not (isinstance(low, int) and isinstance(high, int)):
            found[values.name] = Span(np.zeros(table.height, dtype=np.int64), 1)
        elif values.null_count():
            found[values.name] = Span(values.fill_null(high + 1).to_numpy() - low, high - low + 2)
        else:
            found[values.name] = Span(values.to_numpy() - low, high - low + 2)
    return found


def _is_whole(dtype: pl.DataType) -> bool:
    return dtype.is_integer() or dtype in (pl.Date, pl.Boolean) or isinstance(dtype, pl.Categorical | pl.Enum)


def _packed(table: pl.DataFrame, by: Sequence[str]) -> NDArray[np.int64] | None:
    """Return one number for each row, which rows share if and only if they agree in some columns; None if too large."""
    spans = spans_of(table.select(map(exactly, by)))
    if len(spans) < len(set(by)) or prod(span.size for span in spans.values()) >= _LARGEST_KEY:
        return None
    key = np.zeros(table.height, dtype=np.int64)
    for numbers, size in spans.values():
        key *= size
        key += numbers
    return key
