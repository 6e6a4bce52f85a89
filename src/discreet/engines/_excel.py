"""Excel sheets, for which an extra has to be installed."""

from __future__ import annotations

import importlib.util
from io import BytesIO
from pathlib import Path

import polars as pl

from discreet.errors import OutputError, UsageError

__all__ = ["read_excel", "write_excel"]

_MOST_ROWS = 1_048_575


def read_excel(path: Path) -> pl.DataFrame:
    """Read the first sheet, empty rows and columns included; a damaged file is an EOFError."""
    _need("fastexcel", "read")
    from fastexcel import FastExcelError

    try:
        return pl.read_excel(
            path, infer_schema_length=None, raise_if_empty=False, drop_empty_rows=False, drop_empty_cols=False
        )
    except FastExcelError:
        raise EOFError from None


def write_excel(frame: pl.LazyFrame, path: Path) -> None:
    """Write a table to a new workbook of one sheet."""
    _need("xlsxwriter", "write")
    table = frame.collect(engine="streaming")
    if table.height > _MOST_ROWS:
        raise OutputError(f"An Excel sheet holds {_MOST_ROWS:,} rows at most; write .csv or .parquet instead.")
    buffer = BytesIO()
    table.write_excel(buffer, autofilter=False)
    path.write_bytes(buffer.getvalue())


def _need(package: str, verb: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise UsageError(f"To {verb} Excel files, install the extra: pip install 'discreet[excel]'.")
