"""Texts that often mean a missing value, and were read as values."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

import polars as pl

from discreet.runtime.plurals import amount, either

__all__ = ["MISSING_MARKS", "count_missing_marks", "missing_mark_notes"]

MISSING_MARKS = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "?")
"""What other programs write for a missing value. Any of them may be a value, so none is read as missing unasked."""


def count_missing_marks(values: pl.Series, rows: Iterable[int]) -> dict[str, int]:
    """Return the number of rows of each mark, given values, possibly repeated, and the rows of each.

    >>> count_missing_marks(pl.Series(["f", "NA", "m"]), [3, 2, 4])
    {'NA': 2}
    """
    if not isinstance(values.dtype, pl.String | pl.Categorical | pl.Enum):
        return {}
    counted = pl.DataFrame({"mark": values.cast(pl.String), "rows": pl.Series(rows, dtype=pl.Int64)})
    found = counted.filter(pl.col("mark").is_in(MISSING_MARKS)).group_by("mark").agg(pl.col("rows").sum())
    by_mark = {mark: number for mark, number in found.iter_rows() if number}
    return {mark: by_mark[mark] for mark in MISSING_MARKS if mark in by_mark}


def missing_mark_notes(column: str, values: pl.Series, rows: Iterable[int]) -> Iterator[str]:
    """Yield a note for each mark in a column.

    >>> next(missing_mark_notes("sex", pl.Series(["f", "NA"]), [3, 2])).partition(";")[0]
    "2 cells of column 'sex' are the text NA"
    """
    for mark, number in count_missing_marks(values, rows).items():
        yield (
            f"{amount(number, 'cell')} of column '{column}' {either(number, 'is', 'are')} the text {mark}; if that "
            f"means a missing value, read the file with --na {shlex.quote(mark)}, in Python with "
            f"dc.table(path, na={mark!r})."
        )
