"""Numbers in place of the values that say whose row it is, for tables that polars reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import polars as pl

from discreet.engines.columns import exactly, is_category, normalized

__all__ = ["distinct_people", "number_people", "numbered", "numbers_of"]


def distinct_people(plan: pl.LazyFrame, column: str, collect: Callable[[pl.LazyFrame], pl.DataFrame]) -> pl.Series:
    """Return the distinct values of a column in order, without the missing one."""
    dtype = plan.collect_schema()[column]
    values = normalized(column, dtype)
    text = values.cast(pl.String) if is_category(dtype) else values
    return collect(plan.select(text).unique()).to_series().drop_nulls().sort()


def number_people(plan: pl.LazyFrame, columns: Iterable[str]) -> pl.LazyFrame:
    """Replace the values of some columns of a table by numbers, in the order of the values."""
    for column in columns:
        plan = numbered(plan, column, distinct_people(plan, column, pl.LazyFrame.collect))
    return plan


def numbers_of(values: pl.Series) -> pl.Series:
    """Return the number of each value among the distinct ones in order, null for a missing one.

    >>> numbers_of(pl.Series(["b", "a", None, "b"])).to_list()
    [1, 0, None, 1]
    """
    if is_category(values.dtype):
        values = values.cast(pl.String)
    elif values.dtype.is_float():
        values = values.to_frame().select(normalized(values.name, values.dtype)).to_series()
    people = values.unique().drop_nulls().sort()
    if people.is_empty():
        return pl.Series(values.name, [None] * len(values), dtype=pl.Int64)
    numbers = pl.Series(np.arange(len(people)))
    return values.replace_strict(people, numbers, default=None, return_dtype=pl.Int64)


def numbered(plan: pl.LazyFrame, column: str, people: pl.Series) -> pl.LazyFrame:
    """Replace the values of a column by their positions among the distinct ones; others become null."""
    dtype = plan.collect_schema()[column]
    values = normalized(column, dtype)
    text = values.cast(pl.String) if is_category(dtype) else values
    if people.is_empty():
        return plan.with_columns(pl.lit(None, dtype=pl.Int64).alias(column))
    numbers = pl.Series(np.arange(len(people)))

    def find(some: pl.Series) -> pl.Series:
        return some.replace_strict(people, numbers, default=None, return_dtype=pl.Int64)

    number = text.map_batches(find, return_dtype=pl.Int64(), is_elementwise=True)
    return plan.with_columns(number.alias(column)).select(map(exactly, plan.collect_schema().names()))
