"""Cells of text read as what they mean: missing values, numbers with a decimal comma, and dates of other forms.

Columns stay text, as all delimited text does, with numbers and dates in the one spelling that everything else knows. A
column is converted if all its values can be; one in which only most can is an error.
"""

from __future__ import annotations

import polars as pl

from discreet.engines.columns import exactly
from discreet.errors import Argument, DataError, UsageError
from discreet.runtime.plurals import amount
from discreet.runtime.table_path import ReadOptions

__all__ = ["conversions"]

_COMMA = r"^\s*[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?\s*$"
"""A number with a decimal comma, and perhaps with points between thousands."""


def conversions(plan: pl.LazyFrame, options: ReadOptions, name: str) -> list[pl.Expr]:
    """Return the expressions that convert columns of a file called ``name``; this reads its text once."""
    schema = plan.collect_schema()
    cells = {column: exactly(column) for column in schema.names()}
    if options.na:
        cells = {column: _without(cell, schema[column], options.na) for column, cell in cells.items()}
    texts = [column for column, dtype in schema.items() if dtype == pl.String]
    if options.decimal == ",":
        cells |= _numbers(plan, {column: cells[column] for column in texts})
    if options.date_format is not None:
        dates = _dates(plan, {column: cells[column] for column in texts}, options.date_format)
        if not dates:
            raise DataError(
                f"No column of {name} has dates of the form {options.date_format}; check the form, or leave ",
                Argument("date_format"),
                " out.",
                topic="read-options",
            )
        cells |= dates
    return [cell.alias(column) for column, cell in cells.items()]


def _without(cell: pl.Expr, dtype: pl.DataType, na: tuple[str, ...]) -> pl.Expr:
    """Make some values missing."""
    if dtype == pl.String or isinstance(dtype, pl.Categorical | pl.Enum):
        text = cell.cast(pl.String)
        return pl.when(~text.is_in(list(na))).then(text)
    numbers = [number for text in na if (number := _number(text)) is not None]
    if not dtype.is_numeric() or not numbers:
        return cell
    return pl.when(~cell.cast(pl.Float64).is_in(numbers)).then(cell)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _numbers(plan: pl.LazyFrame, cells: dict[str, pl.Expr]) -> dict[str, pl.Expr]:
    """Return the columns of numbers with decimal commas, or points between thousands, as other numbers are written."""
    fits = {column: cell.str.contains(_COMMA) for column, cell in cells.items()}
    with_comma = {column: cell.str.contains("[,.]") & fits[column] for column, cell in cells.items()}
    found = {}
    for column, (fitting, known) in _counts(plan, cells, fits).items():
        commas = _counts(plan, {column: cells[column]}, {column: with_comma[column]})[column][0] if fitting else 0
        if not commas:
            continue
        if fitting < known and commas * 2 > known:
            raise DataError(
                f"Column '{column}' has numbers with a decimal comma and {amount(known - fitting, 'other value')}; "
                "correct them, or name what means a missing value with ",
                Argument("na"),
                ".",
                column=column,
                topic="read-options",
            )
        if fitting == known:
            plain = cells[column].str.strip_chars().str.replace_all(".", "", literal=True)
            found[column] = plain.str.replace(",", ".", literal=True)
    return found


def _dates(plan: pl.LazyFrame, cells: dict[str, pl.Expr], form: str) -> dict[str, pl.Expr]:
    """Return the columns of dates, written as everything else writes them."""
    has_time = any(part in form for part in ("%H", "%I", "%M", "%S"))
    found = {}
    try:
        dates = {
            column: cell.str.strip_chars().str.to_datetime(form, strict=False, time_unit="us")
            if has_time
            else cell.str.strip_chars().str.to_date(form, strict=False)
            for column, cell in cells.items()
        }
        counts = _counts(plan, cells, {column: date.is_not_null() for column, date in dates.items()})
    except pl.exceptions.PolarsError:
        raise UsageError(
            f"The date format '{form}' is not one; write it as in %d.%m.%Y or %m/%d/%Y.", topic="read-options"
        ) from None
    for column, (fitting, known) in counts.items():
        if fitting < known < 2 * fitting:
            raise DataError(
                f"Column '{column}' has dates of the form {form} and {amount(known - fitting, 'other value')}; correct "
                "them, or name what means a missing value with ",
                Argument("na"),
                ".",
                column=column,
                topic="read-options",
            )
        if fitting and fitting == known:
            found[column] = dates[column].dt.to_string("%Y-%m-%d %H:%M:%S" if has_time else "%Y-%m-%d")
    return found


def _counts(plan: pl.LazyFrame, cells: dict[str, pl.Expr], fits: dict[str, pl.Expr]) -> dict[str, tuple[int, int]]:
    """Return for each column how many values fit, and how many there are."""
    if not cells:
        return {}
    names = list(cells)
    sums = [fits[column].sum().alias(f"fit{i}") for i, column in enumerate(names)]
    known = [cells[column].count().alias(f"all{i}") for i, column in enumerate(names)]
    counted = plan.select(*sums, *known).collect(engine="streaming").row(0, named=True)
    return {column: (int(counted[f"fit{i}"] or 0), int(counted[f"all{i}"])) for i, column in enumerate(names)}
