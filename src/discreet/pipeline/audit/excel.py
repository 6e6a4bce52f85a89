"""Excel sheets as the audit reads them."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from discreet.errors import UsageError, did_you_mean

__all__ = ["read_sheet"]


def read_sheet(path: Path, sheet: str | None = None) -> pl.DataFrame:
    """Return a sheet, by default the first, including empty rows and columns; raise EOFError if it is damaged."""
    if importlib.util.find_spec("fastexcel") is None:
        raise UsageError(
            "To read Excel files, install the extra: pip install 'discreet[excel]'.", topic="missing-extra"
        )
    import fastexcel

    everything = {"sheet_name": sheet, "drop_empty_rows": False, "drop_empty_cols": False, "raise_if_empty": False}
    with _quiet("fastexcel.types.dtype"):  # it warns about every empty column
        try:
            try:
                _check_sheet(fastexcel.read_excel(path).sheet_names, path, sheet)
                return pl.read_excel(path, infer_schema_length=None, **everything)  # type: ignore[call-overload,no-any-return]
            except pl.exceptions.InvalidOperationError:  # integers beyond 64 bits
                cells = (
                    fastexcel.read_excel(path)
                    .load_sheet(0 if sheet is None else sheet, schema_sample_rows=None)
                    .to_polars()
                )
                types = {cell.name: pl.Float64() for cell in cells if cell.dtype.is_float()}
                return pl.read_excel(path, infer_schema_length=None, schema_overrides=types, **everything)  # type: ignore[call-overload,no-any-return]
        except fastexcel.FastExcelError:
            raise EOFError from None


def _check_sheet(names: list[str], path: Path, sheet: str | None) -> None:
    if sheet is not None and sheet not in names:
        hint = did_you_mean(sheet, names) or f"its sheets are {', '.join(names)}."
        raise UsageError(f"'{path.name}' has no sheet '{sheet}'; {hint}", topic="read-options")


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Silence a logger."""
    logger = logging.getLogger(name)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
