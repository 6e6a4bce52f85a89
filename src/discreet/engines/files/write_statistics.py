"""Write tables to files of SPSS, Stata and SAS, with what their dictionary says about released values."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from discreet.engines.files.dictionary import Dictionary
from discreet.engines.files.formats import Format
from discreet.engines.files.statistics import FAMILIES, needs_pyreadstat
from discreet.engines.files.weight_variable import write_weight
from discreet.errors import OutputError

__all__ = ["write_statistics"]

_LARGEST_WHOLE = 2**53
_LARGEST_SAS = 7.2e75
"""Numbers of a SAS transport file have the range of those of an IBM mainframe."""


class _Limits(NamedTuple):
    """Limits of a format on names and texts."""

    what: str
    name: str
    """A regular expression for names of variables."""
    rule: str
    longest: int
    """The most bytes of a text."""
    ascii_only: bool = False


_LIMITS = {
    "sav": _Limits(
        "an SPSS file",
        r"(?=.{1,64}\Z)[^\W\d_][\w.$#@]*(?<![.])",
        "up to 64 letters, digits and _, beginning with a letter",
        32767,
    ),
    "por": _Limits(
        "an SPSS portable file", r"[A-Z][A-Z0-9_]{0,7}", "up to 8 capital letters and digits", 255, ascii_only=True
    ),
    "dta": _Limits(
        "a Stata file",
        r"[^\W\d]\w{0,31}",
        "up to 32 letters, digits and _, not beginning with a digit",
        2_000_000,
    ),
    "xpt": _Limits(
        "a SAS transport file", r"[A-Za-z_][A-Za-z0-9_]{0,31}", "up to 32 letters of English, digits and _", 32767
    ),
}
_LIMITS["zsav"] = _LIMITS["sav"]
_HEADER = 1200
_TIMES = {
    "sav": (rb"(?s)\A(.{92})(.{17})", b"01 Jan 7000:00:00"),
    "dta": (rb"(<timestamp>\x11)(.{17})", b"01 Jan 1970 00:00"),
    "xpt": (rb"()(\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d)", b"01JAN70:00:00:00"),
    "por": (rb"(SPSSPORT\s*A\s*8/)([\d\s]{8,10}6/[\d\s]{6,8})", b"197001016/000000"),
}
"""Where the header of each format has the time of writing, and the start of time in its form."""
_TIMES["zsav"] = _TIMES["sav"]


def write_statistics(frame: pl.LazyFrame, path: Path, layout: Format) -> None:
    """Write a table to a new file; numbers, dates and text as they are, truth values as 0 and 1."""
    needs_pyreadstat("write")
    table = frame.collect(engine="streaming")
    limits = _LIMITS[layout.kind]
    _check_names(table.columns, limits)
    for column in table:
        _check_cells(column, layout, limits)
    table = table.select(_plain(column) for column in table)
    described = layout.dictionary or Dictionary(FAMILIES[layout.kind], {})
    options = _options(table, layout, described)
    import pyreadstat

    writer = {"sav": "write_sav", "zsav": "write_sav", "por": "write_por", "dta": "write_dta", "xpt": "write_xport"}
    try:
        getattr(pyreadstat, writer[layout.kind])(table, str(path), **options)
    except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError):  # messages may quote values, so they are not shown
        raise OutputError(
            f"The table has something that {limits.what} cannot hold; write .csv or .parquet instead."
        ) from None
    _forget_time(path, layout)
    weight = described.weight if layout.kind in ("sav", "zsav") else None
    if weight is not None and weight in table.columns and table.schema[weight].is_numeric():
        write_weight(path, weight, {column.name: _bytes(column) for column in table})


def _forget_time(path: Path, layout: Format) -> None:
    """Replace the time of writing, so that the same release is the same file."""
    pattern, epoch = _TIMES[layout.kind]

    def without_time(found: re.Match[bytes]) -> bytes:
        marks = iter(epoch)  # a portable file breaks its lines anywhere
        return found[1] + bytes(byte if byte in b"\r\n" else next(marks, byte) for byte in found[2])

    with path.open("r+b") as stream:
        start = re.sub(pattern, without_time, stream.read(_HEADER))
        stream.seek(0)
        stream.write(start)


def _options(table: pl.DataFrame, layout: Format, described: Dictionary) -> dict[str, Any]:
    """Return the arguments of the writer for what the dictionary says about this table."""
    family, kind = FAMILIES[layout.kind], layout.kind
    formats = described.formats_for(table, family)
    options: dict[str, Any] = {
        "file_label": described.file_label,
        "column_labels": {name: text for name, text in described.column_labels.items() if name in table.columns},
        "variable_format": formats,
    }
    if kind in ("sav", "zsav"):
        options["variable_format"] = {**_whole_formats(table), **formats}
        options["variable_value_labels"] = described.labels_for(table, texts=True)
        options["missing_ranges"] = described.missing_for(table)
        options["variable_measure"] = {
            column.name: described.measure_of(column) for column in table if column.name in described.measures
        }
        options["variable_display_width"] = {
            column.name: described.widths[column.name]
            for column in table
            if column.name in described.widths and column.dtype != pl.String and described.keeps(column)
        }
        options["compress" if kind == "zsav" else "row_compress"] = True
    elif kind == "dta":
        labels = described.labels_for(table, texts=False)
        options["variable_value_labels"] = {
            name: {int(code): label for code, label in found.items()} for name, found in labels.items()
        }
    elif kind == "xpt":
        options["table_name"] = described.table_name
    return options


def _whole_formats(table: pl.DataFrame) -> dict[str, str]:
    """Return the formats of integers, which SPSS would otherwise show with two decimals."""
    return {
        column.name: f"F{max(8, max(len(str(column.min() or 0)), len(str(column.max() or 0))))}.0"
        for column in table
        if column.dtype.is_integer()
    }


def _plain(column: pl.Series) -> pl.Series:
    """Return a column with a type that the writer knows."""
    dtype = column.dtype
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return column.cast(pl.String)
    if dtype.is_decimal() or dtype == pl.Null:
        return column.cast(pl.Float64)
    if dtype.is_integer():
        return column.cast(pl.Int64)
    return column.fill_nan(None) if dtype.is_float() else column


def _bytes(column: pl.Series) -> int:
    """Return the bytes of the longest text; 0 for numbers."""
    return int(column.str.len_bytes().max() or 1) if column.dtype == pl.String else 0  # type: ignore[arg-type]


def _check_names(names: list[str], limits: _Limits) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if not re.fullmatch(limits.name, name):
            raise OutputError(
                f"The name of the column '{name}' is not one for {limits.what}, which takes {limits.rule}; rename it, "
                "or write .csv or .parquet instead.",
                column=name,
            )
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise OutputError(
                f"The columns '{other}' and '{name}' have the same name in {limits.what}; rename one.", column=name
            )


def _check_cells(column: pl.Series, layout: Format, limits: _Limits) -> None:
    """Refuse a column whose values the format would change."""
    dtype, lost = column.dtype, None
    if dtype.is_integer() and _beyond(column, _LARGEST_WHOLE):
        lost = "whole numbers above 2^53"
    elif dtype.is_decimal() and _beyond(column, Decimal(_LARGEST_WHOLE).scaleb(-dtype.scale)):  # type: ignore[attr-defined]
        lost = "numbers of more than 15 digits"
    elif dtype.is_float() and column.is_infinite().any():
        lost = "infinite numbers"
    elif dtype.is_float() and layout.kind == "xpt" and _beyond(column, _LARGEST_SAS):
        lost = "numbers above 7e75"
    elif isinstance(dtype, pl.Datetime) and (column.dt.nanosecond() % 1_000_000 != 0).any():
        lost = "times finer than a millisecond"
    elif dtype == pl.String or isinstance(dtype, pl.Categorical | pl.Enum):
        text = column.cast(pl.String)
        if (text.str.len_bytes() > limits.longest).any():
            lost = f"text of more than {limits.longest:,} bytes"
        elif text.str.contains("\0", literal=True).any():
            lost = "zero bytes"
        elif limits.ascii_only and text.str.contains(r"[^\x20-\x7e]").any():
            lost = "letters outside English"
    if lost is not None:
        raise OutputError(
            f"Column '{column.name}' has {lost}, which {limits.what} cannot hold; write .csv or .parquet instead.",
            column=column.name,
        )


def _beyond(column: pl.Series, limit: float | Decimal) -> bool:
    low, high = column.min(), column.max()
    return high is not None and (high > limit or low < -limit)  # type: ignore[operator, return-value]
