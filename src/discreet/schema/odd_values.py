"""Values that do not fit the others of a column: text among numbers, and numbers that look like missing-value codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl

from discreet.runtime.plurals import amount, either
from discreet.schema._column import shapes_of
from discreet.schema._types import Type, infer_type
from discreet.schema.missing_marks import MISSING_MARKS

__all__ = ["count_far_codes", "odd_value_notes", "odd_values", "text_among_numbers"]

_NUMBERS = 0.8
"""A column of text in which this share of the distinct values are numbers was probably meant as numbers."""
_FEWEST = 5
"""Fewer different numbers say nothing about the others."""
_CODE = re.compile(r"-9+|99+")


def odd_values(column: str, values: pl.Series, rows: Iterable[int]) -> Iterator[tuple[str, str]]:
    """Yield what is odd about the values of a column, and what to do about it.

    ``values`` may be repeated, with the rows of each. Text is described by its pattern. A number is odd if it is
    all nines, as missing-value codes are, and farther from all other values than these are from each other.

    >>> [what for what, _ in odd_values("age", pl.Series([-999, 20, 31, 44, 58, 90]), [7, 1, 1, 1, 1, 1])]
    ["7 cells of column 'age' are -999, far from all other values"]
    """
    text = text_among_numbers(column, values)
    if text is not None:
        yield text, "so it is read as text; correct them, or read what means a missing value with --na"
    for written, cells in count_far_codes(values, rows).items():
        yield (
            f"{amount(cells, 'cell')} of column '{column}' are {written}, far from all other values",
            f"if that means a missing value, read the file with --na={written}, in Python with "
            f"dc.table(path, na={written!r})",
        )


def odd_value_notes(column: str, values: pl.Series, rows: Iterable[int]) -> Iterator[str]:
    """Yield a note for each oddity of a column, with what to do on the command line.

    >>> next(odd_value_notes("age", pl.Series(["20", "31", "44", "58", "61", "60+"]), [1] * 6)).partition(";")[0]
    "1 of the 6 different values of column 'age' is not a number: 1 like 9+ (9 is any number)"
    """
    for what, remedy in odd_values(column, values, rows):
        yield f"{what}; {remedy}."


def text_among_numbers(column: str, values: pl.Series) -> str | None:
    """Return which values of a column are no numbers, by their patterns, if nearly all others are; otherwise None.

    >>> text_among_numbers("age", pl.Series(["20", "31", "44", "58", "61", "60+"]))
    "1 of the 6 different values of column 'age' is not a number: 1 like 9+ (9 is any number)"
    """
    values = _without_categories(values)
    if values.dtype != pl.String:
        return None
    distinct = values.unique().drop_nulls()
    distinct = distinct.filter(~distinct.is_in([*MISSING_MARKS, ""]))
    number = distinct.cast(pl.Float64, strict=False).is_not_null()
    numbers, others = distinct.filter(number), distinct.filter(~number)
    if not len(others) or len(numbers) < max(_FEWEST, _NUMBERS * len(distinct)):
        return None
    if infer_type(numbers) not in (Type.INTEGER, Type.DECIMAL):
        return None  # codes with leading zeros
    verb = either(len(others), "is not a number", "are not numbers")
    return f"{len(others):,} of the {len(distinct):,} different values of column '{column}' {verb}{shapes_of(others)}"


def count_far_codes(values: pl.Series, rows: Iterable[int]) -> dict[str, int]:
    """Return the numbers that may be missing-value codes, as they are written, and the rows of each.

    >>> count_far_codes(pl.Series(["20", "31", "44", "58", "90", "-999"]), [1, 1, 1, 1, 1, 7])
    {'-999': 7}
    """
    values = _without_categories(values)
    if not (values.dtype == pl.String or values.dtype.is_numeric()):
        return {}
    known = pl.DataFrame({"written": values, "rows": pl.Series(rows, dtype=pl.Int64)}).with_columns(
        value=pl.col("written").cast(pl.Float64, strict=False)
    )
    counted = known.filter(pl.col("value").is_finite()).group_by("value").agg(pl.col("rows").sum()).sort("value")
    if len(counted) <= _FEWEST or infer_type(values.drop_nulls()) not in (Type.INTEGER, Type.DECIMAL):
        return {}
    numbers, found = counted["value"].to_numpy(), {}
    for place in (0, len(numbers) - 1):
        others, number, cells = np.delete(numbers, place), numbers[place], int(counted["rows"][place])
        is_far = np.abs(others - number).min() > np.ptp(others)
        if cells > 1 and is_far and number.is_integer() and _CODE.fullmatch(f"{number:.0f}"):
            found[known.filter(pl.col("value") == number)["written"].cast(pl.String)[0]] = cells
    return found


def _without_categories(values: pl.Series) -> pl.Series:
    return values.cast(pl.String) if isinstance(values.dtype, pl.Categorical | pl.Enum) else values
