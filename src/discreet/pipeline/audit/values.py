"""How the audit compares values: null is a value, -0.0 is 0.0, and a category is its text.

In a quasi-identifier NaN is not null, as readers can tell them apart. In other columns both are missing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from polars import selectors

from discreet.errors import DataError
from discreet.pipeline.audit.statistics import STATISTICS

__all__ = ["as_type", "by_name", "comparable", "grouped", "joined", "nan_as_null", "plain", "readable", "ungroupable"]


def by_name(column: str) -> pl.Expr:
    """Return the column of exactly this name, as polars takes ``*`` and ``^…$`` for patterns."""
    return selectors.by_name(column).as_expr()


def comparable(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as its values are compared, with NaN as null."""
    return grouped(column, dtype).fill_nan(None) if dtype.is_float() else grouped(column, dtype)


def nan_as_null(groups: pl.DataFrame) -> pl.DataFrame:
    """Return groups with NaN as null in the columns they are grouped by."""
    return groups.with_columns(selectors.float().exclude("rows", "millionths", "weighed").fill_nan(None))


def grouped(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column with its values as they are grouped."""
    values = by_name(column)
    if dtype.is_nested() or isinstance(dtype, pl.Binary | pl.Object):
        raise ungroupable(column)
    if dtype == pl.Null:
        return values.cast(pl.String)
    if not dtype.is_float():
        return values
    zero = pl.lit(0.0, dtype=dtype)
    return pl.when(values == 0).then(zero).otherwise(values)


def ungroupable(column: str) -> DataError:
    """Return the error for a column whose values cannot be compared."""
    return DataError(
        f"Column '{column}' holds lists, records or bytes, which cannot be grouped; "
        "turn it into text, numbers or dates first.",
        column=column,
    )


def plain(groups: pl.DataFrame) -> pl.DataFrame:
    """Return categories as text."""
    return groups.cast({selectors.by_dtype(pl.Null) | selectors.categorical() | selectors.enum(): pl.String})


def joined(columns: Sequence[pl.Expr]) -> pl.Expr:
    """Combine the values of several columns into one text; null if all of them are.

    >>> table = pl.DataFrame({"disease": ["flu", None, None], "stage": ["I+", "II", None]})
    >>> table.select(joined([pl.col("disease"), pl.col("stage")])).to_series().to_list()
    ['flu + I++', '+none + II', None]
    """
    texts = [column.cast(pl.String) for column in columns]
    cells = [text.str.replace_all("+", "++", literal=True).fill_null("+none") for text in texts]
    nothing = pl.all_horizontal([text.is_null() for text in texts])
    return pl.when(~nothing).then(pl.concat_str(cells, separator=" + "))


def readable(values: pl.Series, layout: str | None) -> pl.Series:
    """Return values as readers of a file in this format find them, so that indistinguishable values are merged.

    >>> readable(pl.Series(["flu", "", None]), "csv").to_list()
    ['flu', None, None]
    """
    if layout in STATISTICS and values.dtype == pl.String:  # blanks at the end are lost, and empty text is missing
        text = values.str.strip_chars_end(" ")
        return text.set(text == "", None)
    if layout not in ("csv", "xlsx"):
        return values
    if values.dtype == pl.String:
        return values.set(values == "", None)
    if layout == "xlsx" and values.dtype == pl.Float64:  # a sheet holds 16 digits
        short = np.array([np.nan if value is None else float(f"{value:.16g}") for value in values])
        return pl.Series(values.name, short, dtype=pl.Float64).fill_nan(None)
    return values


def as_type(values: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Convert values to another type; null where that is not possible.

    >>> as_type(pl.Series(["17", "4"]), pl.Int64()).to_list()
    [17, 4]
    """
    if values.dtype == dtype:
        return values
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    if values.dtype != pl.String or dtype.is_numeric():
        return values.cast(dtype, strict=False)
    if dtype == pl.Boolean:
        return pl.select(pl.when(values.is_in(["true", "false"])).then(values == "true")).to_series()
    if isinstance(dtype, pl.Datetime):
        form = "%Y-%m-%d %H:%M:%S%.f" + ("%#z" if dtype.time_zone else "")
        times = values.str.replace("T", " ", literal=True)
        return times.str.to_datetime(form, strict=False, time_unit=dtype.time_unit).cast(dtype, strict=False)
    return values.str.to_date("%Y-%m-%d", strict=False) if dtype == pl.Date else values.cast(dtype, strict=False)
