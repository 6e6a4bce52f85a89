"""Columns in memory as small integers, which group several times as fast as text."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines.columns import exactly, is_category

__all__ = ["MOST_ROWS", "SmallIntegers", "few_values", "small_integers", "with_categories"]

MOST_ROWS = 1 << 18
"""With more rows than this, equal rows are counted before anything else."""
_START = 1 << 11
"""Rows sampled to find columns of few values."""
_FEW = 8
"""A column has few values if each occurs this often in those rows, on average."""


class SmallIntegers(NamedTuple):
    """A column as integers from 0 to ``size`` - 1, the last of which means missing."""

    numbers: NDArray[np.integer]
    size: int


def few_values(start: pl.DataFrame) -> list[str]:
    """Return the columns of few values, judged by the first rows of a table."""
    return [column.name for column in start if column.n_unique() <= start.height // _FEW]


def with_categories(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with text of few values as categories."""
    texts = [exactly(column) for column, dtype in table.schema.items() if dtype == pl.String]
    few = few_values(table.select(texts).head(_START))
    return table.with_columns(exactly(column).cast(pl.Categorical) for column in few)


def small_integers(table: pl.DataFrame) -> dict[str, SmallIntegers]:
    """Return the columns that are stored as integers, none of them much larger than the number of rows.

    >>> found = small_integers(pl.DataFrame({"age": [30, None, 41], "salary": [0, 0, 10**9]}))
    >>> list(found), found["age"].numbers.tolist(), found["age"].size
    (['age'], [30, 42, 41], 43)
    """
    columns = [column for column, dtype in table.schema.items() if _is_stored_as_integer(dtype)]
    found = {}
    for values in table.select(exactly(column).to_physical() for column in columns):
        low, high = cast("int | None", values.min()), cast("int | None", values.max())
        if low is None or high is None:
            found[values.name] = SmallIntegers(np.zeros(table.height, dtype=np.int64), 1)
        elif low >= 0 and high <= 4 * table.height + 1000:
            known = values.cast(pl.UInt32).fill_null(high + 1) if values.null_count() else values
            found[values.name] = SmallIntegers(known.to_numpy(), high + 2)
    return found


def _is_stored_as_integer(dtype: pl.DataType) -> bool:
    small = dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128)
    return small or dtype == pl.Date or is_category(dtype)
