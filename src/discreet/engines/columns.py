"""Polars expressions for columns: selected by exact name, and normalized the way values are compared."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl
from polars import selectors

__all__ = ["exactly", "is_category", "normalized", "unused"]


def exactly(column: str) -> pl.Expr:
    """Return the column of exactly this name; ``pl.col`` reads ``*`` and ``^…$`` as patterns.

    >>> pl.DataFrame({"*": [1], "age": [30]}).select(exactly("*")).columns
    ['*']
    """
    return selectors.by_name(column).as_expr()


def unused(name: str, taken: Collection[str]) -> str:
    """Return a column name that is not taken yet.

    >>> unused("rows", ["age", "rows"])
    'rows_'
    """
    while name in taken:
        name += "_"
    return name


def is_category(dtype: pl.DataType) -> bool:
    """Whether polars stores the values as category codes."""
    return isinstance(dtype, pl.Categorical | pl.Enum)


def normalized(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column the way its values are compared: NaN is missing, and -0.0 is 0.0."""
    if dtype.is_float():
        known = exactly(column).fill_nan(None)
        return pl.when(known == 0.0).then(pl.lit(0.0, dtype=dtype)).otherwise(known).alias(column)
    return exactly(column).cast(pl.String) if dtype == pl.Null else exactly(column)
