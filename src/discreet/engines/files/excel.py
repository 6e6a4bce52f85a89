"""Excel sheets, which need an extra."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from io import BytesIO
from pathlib import Path

import polars as pl

from discreet.errors import OutputError, UsageError, did_you_mean

__all__ = ["read_excel", "sheet_names", "write_excel"]

_MOST_ROWS = 1_048_575
_LONGEST_TEXT = 32_767
_LARGEST_WHOLE = 2**53
"""Cells hold floating-point numbers, which are exact for integers up to this one."""

_AS_IT_IS = {
    "strings_to_urls": False,
    "strings_to_formulas": False,
    "nan_inf_to_errors": True,
    "default_date_format": "yyyy-mm-dd",
}
"""Text that looks like a link stays text: ``mailto:`` and ``internal:`` would be cut off, and long links dropped."""


def read_excel(path: Path, sheet: str | None = None) -> pl.DataFrame:
    """Read a sheet, the first unless one is named, with its empty rows and columns; a damaged file raises EOFError."""
    _need("fastexcel", "read")
    from fastexcel import FastExcelError

    try:
        with _without_guesses():
            try:
                _check_sheet(path, sheet)
                return _read(path, sheet, [])
            except pl.exceptions.InvalidOperationError:  # polars reads integers as Int64, however large they are
                return _read(path, sheet, _large_numbers(path, sheet))
    except FastExcelError:
        raise EOFError from None


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of a workbook."""
    import fastexcel

    return list(fastexcel.read_excel(path).sheet_names)


def _check_sheet(path: Path, sheet: str | None) -> None:
    """Refuse a sheet that is not there."""
    names = sheet_names(path) if sheet is not None else []
    if sheet is not None and sheet not in names:
        hint = did_you_mean(sheet, names) or f"its sheets are {', '.join(names)}."
        raise UsageError(f"'{path.name}' has no sheet '{sheet}'; {hint}", topic="read-options")


def _read(path: Path, sheet: str | None, decimals: list[str]) -> pl.DataFrame:
    return pl.read_excel(
        path,
        sheet_name=sheet,
        infer_schema_length=None,
        raise_if_empty=False,
        drop_empty_rows=False,
        drop_empty_cols=False,
        schema_overrides=dict.fromkeys(decimals, pl.Float64),
    )


def _large_numbers(path: Path, sheet: str | None) -> list[str]:
    """Return the columns with numbers that do not fit into 64 bits."""
    import fastexcel

    table = fastexcel.read_excel(path).load_sheet(0 if sheet is None else sheet, schema_sample_rows=None).to_polars()
    return [column.name for column in table if column.dtype.is_float() and _beyond(column, 2**63 - 1024)]


def write_excel(frame: pl.LazyFrame, path: Path) -> None:
    """Write a table to a new workbook of one sheet."""
    _need("xlsxwriter", "write")
    table = frame.collect(engine="streaming")
    if table.height > _MOST_ROWS:
        raise OutputError(f"An Excel sheet holds {_MOST_ROWS:,} rows at most; write .csv or .parquet instead.")
    _check_names(table.columns)
    for column in table:
        _check_cells(column)
    from xlsxwriter import Workbook

    buffer = BytesIO()
    with Workbook(buffer, _AS_IT_IS) as workbook:
        table.write_excel(workbook, autofilter=False)
    path.write_bytes(buffer.getvalue())


def _check_names(names: list[str]) -> None:
    """Refuse column names that differ only in case, which are the same to Excel."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise OutputError(
                f"The columns '{other}' and '{name}' have the same name to Excel; rename one.", column=name
            )


def _check_cells(column: pl.Series) -> None:
    """Refuse a column whose values a sheet would change."""
    dtype = column.dtype
    if dtype.is_integer():
        lost, what = _beyond(column, _LARGEST_WHOLE), "whole numbers above 2^53"
    elif dtype.is_decimal():
        lost, what = _beyond(column, Decimal(_LARGEST_WHOLE).scaleb(-dtype.scale)), "numbers of more than 15 digits"  # type: ignore[attr-defined]
    elif dtype == pl.String or isinstance(dtype, pl.Categorical | pl.Enum):
        text = column.cast(pl.String)
        lost, what = (
            bool((text.str.len_chars() > _LONGEST_TEXT).any()),
            f"text of more than {_LONGEST_TEXT:,} characters",
        )
        if not lost and text.str.contains("[\ufffe\uffff]").any():
            lost, what = True, "the characters U+FFFE or U+FFFF"
    elif isinstance(dtype, pl.Datetime):
        lost, what = bool((column.dt.nanosecond() % 1_000_000 != 0).any()), "times finer than a millisecond"
    else:
        return
    if lost:
        raise OutputError(
            f"Column '{column.name}' has {what}, which an Excel sheet cannot hold; write .csv or .parquet instead.",
            column=column.name,
        )


def _beyond(column: pl.Series, limit: int | Decimal) -> bool:
    low, high = column.min(), column.max()
    return high is not None and (high > limit or low < -limit)  # type: ignore[operator, return-value]


@contextmanager
def _without_guesses() -> Iterator[None]:
    """Silence the warning about each empty column, which is read as text, as everywhere else."""
    logger = logging.getLogger("fastexcel.types.dtype")

    def is_other(record: logging.LogRecord) -> bool:
        return "Could not determine dtype" not in record.getMessage()

    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)


def _need(package: str, verb: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise UsageError(
            f"To {verb} Excel files, install the extra: pip install 'discreet[excel]'.", topic="missing-extra"
        )
