"""Cells as the options of a file say they are meant: missing values, decimal commas, dates of other forms.

Each distinct value is converted by plain Python, apart from how tables are read for counting.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

import polars as pl

from discreet.runtime.table_path import ReadOptions

__all__ = ["read_as"]

_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?")


def read_as(table: pl.DataFrame, options: ReadOptions) -> pl.DataFrame:
    """Return a table as it is meant. A column is converted if all its values can be.

    >>> read_as(pl.DataFrame({"height": ["1,80", "?"]}), ReadOptions(na=("?",), decimal=",")).to_series().to_list()
    ['1.80', None]
    """
    return pl.DataFrame([_column(values, options) for values in table])


def _column(values: pl.Series, options: ReadOptions) -> pl.Series:
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    if values.dtype != pl.String:
        return _without_numbers(values, options.na) if values.dtype.is_numeric() else values
    values = values.set(values.is_in(list(options.na)), None)
    if options.decimal == ",":
        values = _converted(values, _with_point, lambda texts: any("," in text for text in texts))
    form = options.date_format
    return values if form is None else _converted(values, lambda text: _date(text, form), bool)


def _without_numbers(values: pl.Series, na: tuple[str, ...]) -> pl.Series:
    wanted = []
    for text in na:
        try:
            wanted.append(float(text))
        except ValueError:
            continue
    return values.set(values.cast(pl.Float64).is_in(wanted), None) if wanted else values


def _converted(
    values: pl.Series, convert: Callable[[str], str | None], applies: Callable[[list[str]], bool]
) -> pl.Series:
    """Convert all values, or none if one cannot be or the conversion does not apply."""
    texts = values.drop_nulls().unique().to_list()
    found = [convert(text.strip()) for text in texts]
    if None in found or not applies(texts):
        return values
    return values.replace_strict(texts, found, return_dtype=pl.String)


def _with_point(text: str) -> str | None:
    return text.replace(".", "").replace(",", ".") if _COMMA.fullmatch(text) else None


def _date(text: str, form: str) -> str | None:
    try:
        found = datetime.datetime.strptime(text, form)
    except ValueError:
        return None
    return (
        f"{found:%Y-%m-%d %H:%M:%S}" if any(part in form for part in ("%H", "%I", "%M", "%S")) else f"{found:%Y-%m-%d}"
    )
