"""Files of SPSS, Stata and SAS as the audit reads them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import polars as pl

from discreet.errors import UsageError
from discreet.runtime.table_path import ReadOptions

__all__ = ["STATISTICS", "read_statistics"]

STATISTICS = ("sav", "zsav", "por", "dta", "xpt", "sas7bdat")


def read_statistics(path: Path, kind: str, how: ReadOptions) -> pl.DataFrame:
    """Return the values of a file: codes rather than labels, and empty text as missing.

    Missing-value codes of SPSS are codes like others, unless they are to be read as missing. A damaged file raises
    EOFError.
    """
    if importlib.util.find_spec("pyreadstat") is None:
        raise UsageError(
            "To read files of SPSS, Stata and SAS, install the extra: pip install 'discreet[stats]'.",
            topic="missing-extra",
        )
    import pyreadstat

    options: dict[str, Any] = {} if how.encoding is None or kind == "por" else {"encoding": how.encoding}
    codes = how.missing_codes == "keep"
    readers = {
        "sav": lambda: pyreadstat.read_sav(path, output_format="polars", user_missing=codes, **options),
        "zsav": lambda: pyreadstat.read_sav(path, output_format="polars", user_missing=codes, **options),
        "por": lambda: pyreadstat.read_por(path, output_format="polars"),
        "dta": lambda: pyreadstat.read_dta(path, output_format="polars", **options),
        "xpt": lambda: pyreadstat.read_xport(path, output_format="polars", **options),
        "sas7bdat": lambda: pyreadstat.read_sas7bdat(path, output_format="polars", **options),
    }
    try:
        table, about = readers[kind]()
    except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError, ValueError, OverflowError):
        raise EOFError from None
    texts = {name for name, found in about.readstat_variable_types.items() if found == "string"}
    return pl.DataFrame([_values(column, column.name in texts) for column in table])


def _values(column: pl.Series, is_text: bool) -> pl.Series:
    """Return text without empty values, numbers as floats, and dates as they are."""
    if is_text:
        text = column.cast(pl.String)
        return text.set(text == "", None)
    if column.dtype == pl.Object:  # dates among which there are missing-value codes
        return pl.Series(column.name, [None if isinstance(value, int | float) else value for value in column])
    is_number = column.dtype.is_numeric() or column.dtype == pl.Null
    return column.cast(pl.Float64).fill_nan(None) if is_number else column
