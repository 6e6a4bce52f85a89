"""Cells as the options of a file say they are meant: missing values, decimal commas, dates of other forms.

Each distinct value is converted by plain Python, apart from how tables are read for counting.
"""

from __future__ import annotations

import datetime
import re

import polars as pl

from discreet.errors import Argument, DataError
from discreet.runtime.plurals import amount
from discreet.runtime.table_path import ReadOptions

__all__ = ["read_as"]

_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?")


def read_as(table: pl.DataFrame, options: ReadOptions, name: str = "the table") -> pl.DataFrame:
    """Return a table as it is meant. A column is converted if all its values can be; it is an error if only most can.

    >>> read_as(pl.DataFrame({"height": ["1,80", "?"]}), ReadOptions(na=("?",), decimal=",")).to_series().to_list()
    ['1.80', None]
    """
    columns = [_without(values, options.na) for values in table]
    if options.decimal == ",":
        columns = [_with_points(values) for values in columns]
    form = options.date_format
    if form is None:
        return pl.DataFrame(columns)
    dated = [_dated(values, form) for values in columns]
    if all(new is None for new in dated):
        raise DataError(
            f"No column of {name} has dates of the form {form}; check the form, or leave ",
            Argument("date_format"),
            " out.",
            topic="read-options",
        )
    return pl.DataFrame([old if new is None else new for old, new in zip(columns, dated, strict=True)])


def _without(values: pl.Series, na: tuple[str, ...]) -> pl.Series:
    """Make some values missing; in a column of numbers, those that are numbers."""
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    if values.dtype == pl.String:
        return values.set(values.is_in(list(na)), None)
    numbers = []
    for text in na if values.dtype.is_numeric() else ():
        try:
            numbers.append(float(text))
        except ValueError:
            continue
    return values.set(values.cast(pl.Float64).is_in(numbers), None) if numbers else values


def _with_points(values: pl.Series) -> pl.Series:
    """Write numbers with a decimal comma with a point, if the column has such numbers."""
    if values.dtype != pl.String:
        return values
    counts = {text: rows for text, rows in values.drop_nulls().value_counts().rows() if text is not None}
    fits = {text: bool(_COMMA.fullmatch(text.strip())) for text in counts}
    commas = sum(rows for text, rows in counts.items() if fits[text] and "," in text)
    others = sum(rows for text, rows in counts.items() if not fits[text])
    if commas and others and commas * 2 > sum(counts.values()):
        raise _mixed(values.name, "numbers with a decimal comma", others)
    if not commas or others:
        return values
    points = {text: text.strip().replace(".", "").replace(",", ".") for text in counts}
    return values.replace_strict(points, return_dtype=pl.String)


def _dated(values: pl.Series, form: str) -> pl.Series | None:
    """Write dates as 2026-12-31; None if the column has others, or none."""
    if values.dtype != pl.String:
        return None
    counts = dict(values.drop_nulls().value_counts().rows())
    dates = {text: _date(text.strip(), form) for text in counts}
    others = sum(rows for text, rows in counts.items() if dates[text] is None)
    known = sum(counts.values())
    if others and known < 2 * (known - others):
        raise _mixed(values.name, f"dates of the form {form}", others)
    return values.replace_strict(dates, return_dtype=pl.String) if known and not others else None


def _date(text: str, form: str) -> str | None:
    try:
        found = datetime.datetime.strptime(text, form)
    except ValueError:
        return None
    has_time = any(part in form for part in ("%H", "%I", "%M", "%S"))
    return f"{found:%Y-%m-%d %H:%M:%S}" if has_time else f"{found:%Y-%m-%d}"


def _mixed(column: str, what: str, others: int) -> DataError:
    return DataError(
        f"Column '{column}' has {what} and {amount(others, 'other value')}; correct them, or name what means a missing "
        "value with ",
        Argument("na"),
        ".",
        column=column,
        topic="read-options",
    )
