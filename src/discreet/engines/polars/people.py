"""Numbers in place of the values that say whose row it is, for tables that polars reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines.columns import exactly, is_category, normalized
from discreet.engines.people import check_marks
from discreet.runtime.integer_codes import LARGEST, compact, first_of
from discreet.schema import MISSING_MARKS, count_missing_marks

__all__ = ["check_numbered", "distinct_people", "number_people", "numbered", "numbers_of"]

Ints = NDArray[np.int64]
_START = 1000
"""Values looked at before all are parsed."""
_DIGITS = 16
"""Longer whole numbers are compared as text."""


def distinct_people(plan: pl.LazyFrame, column: str, collect: Callable[[pl.LazyFrame], pl.DataFrame]) -> pl.Series:
    """Return the distinct values of a column in order, without the missing one; refuse marks that would join people."""
    dtype = plan.collect_schema()[column]
    values = normalized(column, dtype)
    text = values.cast(pl.String) if is_category(dtype) else values
    people = collect(plan.select(text).unique()).to_series().drop_nulls().sort()
    if people.dtype == pl.String and people.is_in(MISSING_MARKS).any():
        check_numbered(collect(plan.select(text).filter(text.is_in(MISSING_MARKS))).to_series())
    return people


def number_people(plan: pl.LazyFrame, columns: Iterable[str]) -> pl.LazyFrame:
    """Replace the values of some columns of a table by numbers, in the order of the values."""
    for column in columns:
        plan = numbered(plan, column, distinct_people(plan, column, pl.LazyFrame.collect))
    return plan


def check_numbered(values: pl.Series) -> None:
    """Refuse the values of a column that says whose row it is if texts that mean a missing one would join people."""
    if values.dtype == pl.String or is_category(values.dtype):
        text = values.cast(pl.String)
        some = text.filter(text.is_in(MISSING_MARKS))
        check_marks(values.name, count_missing_marks(some, np.ones(len(some), dtype=np.int64)))


def numbers_of(values: pl.Series) -> pl.Series:
    """Return the number of each value among the distinct ones in order, null for a missing one.

    >>> numbers_of(pl.Series(["b", "a", None, "b"])).to_list()
    [1, 0, None, 1]
    """
    if is_category(values.dtype):
        values = values.cast(pl.String)
    elif values.dtype.is_float():
        values = values.to_frame().select(normalized(values.name, values.dtype)).to_series()
    known = values.drop_nulls() if values.null_count() else values
    if known.is_empty():
        return pl.Series(values.name, [None] * len(values), dtype=pl.Int64)
    numbers = pl.Series(values.name, _ranks(known), dtype=pl.Int64)
    if len(known) == len(values):
        return numbers
    place = np.cumsum(values.is_not_null().to_numpy()) - 1
    return numbers.gather(np.maximum(place, 0)).set(values.is_null(), None)


def _ranks(values: pl.Series) -> Ints:
    """Return the position of each value among the distinct ones in order."""
    if values.dtype == pl.String:
        decimal = _decimal_ranks(values)
        return _text_ranks(values) if decimal is None else decimal
    if values.dtype.is_integer() and values.dtype not in (pl.Int128, pl.UInt128):
        low, high = int(values.min()), int(values.max())  # type: ignore[arg-type]
        if low > -LARGEST and high < LARGEST:
            return compact(values.to_numpy().astype(np.int64) - low, high - low + 1)[0]
    people = values.unique().sort()
    return values.replace_strict(people, np.arange(len(people)), return_dtype=pl.Int64).to_numpy()


def _decimal_ranks(values: pl.Series) -> Ints | None:
    """Return the same for text that consists of positive whole numbers in their usual form; None for other text.

    Any other form of a number, such as 017 or +17, is longer.
    """
    if values.head(_START).cast(pl.Int64, strict=False).null_count():
        return None
    parsed = values.cast(pl.Int64, strict=False)
    if parsed.null_count() or int(parsed.min()) < 1 or int(parsed.max()) >= 10**_DIGITS:  # type: ignore[arg-type]
        return None
    number, count = compact(parsed.to_numpy(), int(parsed.max()) + 1)  # type: ignore[arg-type]
    distinct = np.empty(count, dtype=np.int64)
    distinct[number] = parsed.to_numpy()
    digits = np.searchsorted(10 ** np.arange(_DIGITS), distinct, side="right")
    if int(values.str.len_bytes().cast(pl.Int64).sum()) != int((digits * np.bincount(number)).sum()):
        return None
    padded = distinct * 10 ** (_DIGITS - digits)  # in the order of text: 9, 90, 91 come after 10
    rank = np.empty(count, dtype=np.int64)
    rank[np.argsort(padded * 2 * _DIGITS + digits)] = np.arange(count)
    return rank[number]


def _text_ranks(values: pl.Series) -> Ints:
    """Return the same for any text: it becomes categories of its own, and only distinct ones are sorted."""
    coded = values.cast(pl.Categorical(pl.Categories.random()))
    number, count = compact(coded.to_physical().to_numpy(), int(coded.to_physical().max()) + 1)  # type: ignore[arg-type]
    in_order = values.gather(first_of(number, count)).sort().cast(coded.dtype)
    rank = np.empty(count, dtype=np.int64)
    rank[in_order.to_physical().to_numpy()] = np.arange(count)
    return rank[number]


def numbered(plan: pl.LazyFrame, column: str, people: pl.Series) -> pl.LazyFrame:
    """Replace the values of a column by their positions among the distinct ones; others become null."""
    dtype = plan.collect_schema()[column]
    values = normalized(column, dtype)
    text = values.cast(pl.String) if is_category(dtype) else values
    if people.is_empty():
        return plan.with_columns(pl.lit(None, dtype=pl.Int64).alias(column))
    numbers = pl.Series(np.arange(len(people)))

    def find(some: pl.Series) -> pl.Series:
        return some.replace_strict(people, numbers, default=None, return_dtype=pl.Int64)

    number = text.map_batches(find, return_dtype=pl.Int64(), is_elementwise=True)
    return plan.with_columns(number.alias(column)).select(map(exactly, plan.collect_schema().names()))
