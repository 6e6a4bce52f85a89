"""The limits of file formats: values they cannot distinguish, and types they cannot hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from discreet.engines.files.formats import STATISTICS, Format
from discreet.errors import OutputError

__all__ = ["as_read_back", "check_types", "is_plain", "restore_type"]


def as_read_back(values: pl.Series, layout: Format) -> pl.Series:
    """Return values as they are read back from a file of this format.

    In delimited text and on a sheet an empty cell is missing, so empty text is missing too; numbers on a sheet have 16
    digits. Files of SPSS, Stata and SAS have no other missing text than an empty one, and lose blanks at the end. A
    promise about a sensitive column must count such values as one, as readers will.

    >>> as_read_back(pl.Series(["flu", "", None]), Format("csv")).to_list()
    ['flu', None, None]
    """
    if layout.kind in ("csv", "xlsx") and values.dtype == pl.String:
        return values.replace("", None)
    if layout.kind in STATISTICS and values.dtype == pl.String:
        return values.str.strip_chars_end(" ").replace("", None)
    if layout.kind == "xlsx" and values.dtype == pl.Float64:
        digits = np.char.mod("%.16G", values.fill_null(np.nan).to_numpy()).astype(np.float64)
        return pl.Series(values.name, digits).fill_nan(None)
    return values


def check_types(schema: pl.Schema, layout: Format) -> None:
    """Refuse a column whose type the format cannot hold."""
    for column, dtype in schema.items():
        if layout.kind == "csv" and not is_plain(dtype):
            raise _refused(column, _what(dtype), "CSV")
        if layout.kind == "jsonl" and _has(dtype, pl.Binary, pl.Object):
            raise _refused(column, "bytes" if _has(dtype, pl.Binary) else _what(dtype), "JSON")
        if layout.kind == "parquet" and _has_nothing(dtype):
            raise _refused(column, "records without a field", "Parquet", "turn it into text first")
        if layout.kind == "parquet" and _has(dtype, pl.Object):
            raise _refused(column, _what(dtype), "Parquet", "turn it into text first")
        if layout.kind == "xlsx" and isinstance(dtype, pl.Datetime) and dtype.time_zone:
            raise _refused(column, "times with a time zone", "an Excel sheet")
        if layout.kind == "xlsx" and not (is_plain(dtype) or dtype == pl.Duration):
            raise _refused(column, _what(dtype), "an Excel sheet")
        if layout.kind in STATISTICS and isinstance(dtype, pl.Datetime) and dtype.time_zone:
            raise _refused(column, "times with a time zone", "a file of SPSS, Stata or SAS")
        if layout.kind in STATISTICS and not is_plain(dtype):
            raise _refused(column, _what(dtype), "a file of SPSS, Stata or SAS")


def is_plain(dtype: pl.DataType) -> bool:
    """Whether values are text, numbers, booleans, dates or times."""
    text = dtype in (pl.String, pl.Boolean, pl.Null) or isinstance(dtype, pl.Categorical | pl.Enum)
    return text or dtype.is_numeric() or (dtype.is_temporal() and dtype != pl.Duration)


def _what(dtype: pl.DataType) -> str:
    if dtype == pl.Duration:
        return "durations"
    return "lists, records or bytes" if dtype.is_nested() or dtype == pl.Binary else f"{dtype} values"


def _has(dtype: Any, *kinds: Any) -> bool:
    """Whether a type is, or contains, one of some kinds."""
    if isinstance(dtype, pl.Struct):
        return any(_has(part, *kinds) for part in dict(dtype).values())
    inner = getattr(dtype, "inner", None)
    return dtype in kinds if inner is None else _has(inner, *kinds)


def _has_nothing(dtype: Any) -> bool:
    """Whether a type is, or contains, a struct without fields."""
    if isinstance(dtype, pl.Struct):
        return not dict(dtype) or any(map(_has_nothing, dict(dtype).values()))
    inner = getattr(dtype, "inner", None)
    return inner is not None and _has_nothing(inner)


def _refused(column: str, what: str, where: str, way_out: str = "write .parquet instead") -> OutputError:
    return OutputError(
        f"Column '{column}' holds {what}, which {where} cannot hold; {way_out}, "
        "or leave the column out by naming it as an identifier.",
        column=column,
    )


def restore_type(values: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return values with the type they had before they went through a file; null where that fails.

    >>> restore_type(pl.Series(["17", "4"]), pl.Int64()).to_list()
    [17, 4]
    """
    if values.dtype == dtype:
        return values
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    if values.dtype != pl.String or not (dtype.is_temporal() or dtype == pl.Boolean):
        return values.cast(dtype, strict=False)
    if dtype == pl.Boolean:
        return values.replace_strict({"true": True, "false": False}, default=None, return_dtype=pl.Boolean)
    if dtype == pl.Date:
        return values.str.to_date("%Y-%m-%d", strict=False)
    if isinstance(dtype, pl.Datetime):
        zone = "%#z" if dtype.time_zone else ""
        clock = values.str.replace("T", " ", literal=True)
        form = f"%Y-%m-%d %H:%M:%S%.f{zone}"
        return clock.str.to_datetime(form, strict=False, time_unit=dtype.time_unit).cast(dtype, strict=False)
    return values.cast(dtype, strict=False)
