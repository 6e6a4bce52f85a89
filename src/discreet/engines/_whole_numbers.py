"""Rows in memory as whole numbers: text of few values is told apart several times as fast as categories."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines._names import exactly

__all__ = ["MOST_ROWS", "Whole", "few_values", "whole_numbers", "with_categories"]

MOST_ROWS = 1 << 18
"""Of more rows than this, equal ones are counted before anything else is done with them."""
_START = 1 << 11
"""Rows that are looked at to find columns of few values."""
_FEW = 8
"""A column whose values occur this often each in those rows is one of few values."""


class Whole(NamedTuple):
    """A column as whole numbers from 0 to ``size`` - 1, of which the last stands for missing values."""

    numbers: NDArray[np.integer]
    size: int


def few_values(start: pl.DataFrame) -> list[str]:
    """Return the columns of few values, by the first rows of a table."""
    return [column.name for column in start if column.n_unique() <= start.height // _FEW]


def with_categories(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with text of few values as categories."""
    texts = [exactly(column) for column, dtype in table.schema.items() if dtype == pl.String]
    few = few_values(table.select(texts).head(_START))
    return table.with_columns(exactly(column).cast(pl.Categorical) for column in few)


def whole_numbers(table: pl.DataFrame) -> dict[str, Whole]:
    """Return the columns whose values are whole numbers, or are kept as such, where those are no larger than few.

    >>> found = whole_numbers(pl.DataFrame({"age": [30, None, 41], "salary": [0, 0, 10**9]}))
    >>> list(found), found["age"].numbers.tolist(), found["age"].size
    (['age'], [30, 42, 41], 43)
    """
    columns = [column for column, dtype in table.schema.items() if _is_whole(dtype)]
    found = {}
    for values in table.select(exactly(column).to_physical() for column in columns):
        low, high = cast("int | None", values.min()), cast("int | None", values.max())
        if low is None or high is None:
            found[values.name] = Whole(np.zeros(table.height, dtype=np.int64), 1)
        elif low >= 0 and high <= 4 * table.height + 1000:
            known = values.cast(pl.UInt32).fill_null(high + 1) if values.null_count() else values
            found[values.name] = Whole(known.to_numpy(), high + 2)
    return found


def _is_whole(dtype: pl.DataType) -> bool:
    small = dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128)
    return small or dtype == pl.Date or isinstance(dtype, pl.Categorical | pl.Enum)
