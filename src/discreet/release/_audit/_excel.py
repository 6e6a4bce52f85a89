"""Excel sheets as the audit reads them."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path

import polars as pl

from discreet.errors import UsageError

__all__ = ["read_sheet"]


def read_sheet(path: Path) -> pl.DataFrame:
    """Return the first sheet, empty rows and columns included; a damaged file is an EOFError."""
    if importlib.util.find_spec("fastexcel") is None:
        raise UsageError(
            "To read Excel files, install the extra: pip install 'discreet[excel]'.", topic="missing-extra"
        )
    from fastexcel import FastExcelError

    logger = logging.getLogger("fastexcel.types.dtype")  # it warns about every empty column
    silent = logger.disabled
    logger.disabled = True
    try:
        try:
            return _read(path, {})
        except pl.exceptions.InvalidOperationError:  # whole numbers that 64 bits cannot hold
            return _read(path, dict.fromkeys(_float_columns(path), pl.Float64()))
    except FastExcelError:
        raise EOFError from None
    finally:
        logger.disabled = silent


def _read(path: Path, types: dict[str, pl.DataType]) -> pl.DataFrame:
    return pl.read_excel(
        path,
        infer_schema_length=None,
        raise_if_empty=False,
        drop_empty_rows=False,
        drop_empty_cols=False,
        schema_overrides=types,
    )


def _float_columns(path: Path) -> list[str]:
    import fastexcel

    table = fastexcel.read_excel(path).load_sheet(0, schema_sample_rows=None).to_polars()
    return [column.name for column in table if column.dtype.is_float()]
