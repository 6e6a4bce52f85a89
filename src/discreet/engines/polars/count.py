"""A GROUP BY in polars that holds one piece of the rows at a time.

The streaming engine of polars keeps the keys of all rows until the last one, unless there are few. Here it never sees
more than a piece, so memory is bounded by the piece and the number of distinct keys, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines.columns import exactly, is_category, normalized, unused
from discreet.engines.weights import TOTALS, weight_totals
from discreet.errors import DataError
from discreet.runtime.machine_limits import check_room, within_memory

__all__ = [
    "MOST_ROWS",
    "Pieces",
    "SmallIntegers",
    "check_keys",
    "compared",
    "count_column",
    "count_rows",
    "few_values",
    "in_batches",
    "in_slices",
    "small_integers",
    "whole",
    "with_categories",
]

PolarsEngine = Literal["streaming", "in-memory"]
Pieces = Callable[[pl.LazyFrame], Iterable[pl.LazyFrame]]
"""Cuts the plan for a table into plans for pieces of it."""

PIECE_ROWS = 1 << 24
"""The rows of a piece, where a plan can start at any row."""
PIECE_BYTES = 1 << 29
"""The bytes of a piece, where a plan has to run from its start."""
_PIECE_PART = 8
"""A piece takes at most this fraction (1 / n) of the memory that is left ..."""
_LEAST_PIECE = 1 << 24
"""... but at least this many bytes."""
_ROW_BYTES = PIECE_BYTES // PIECE_ROWS
"""The estimated bytes of a row."""
_MERGED = 2
"""Memory for merging two tables of counts, as a multiple of their size."""
_BATCH_ROWS = 1 << 18


def count_rows(
    frame: pl.LazyFrame,
    by: Sequence[str],
    engine: PolarsEngine,
    *,
    pieces: Pieces | None = None,
    weights: str | None = None,
    nulls_of: str | None = None,
) -> pl.DataFrame:
    """Group a plan by some columns and count, piece by piece; totals of ``weights`` follow the rows.

    With ``nulls_of``, a last column says whether that column has a null.
    """
    schema = frame.collect_schema()
    plan = frame.with_columns(_normalized_floats(schema, by))
    rows = unused("rows", by)
    totals = [Total(pl.len().cast(pl.Int64).alias(rows), pl.col(rows).sum())]
    read = dict.fromkeys(by)
    if weights is not None:
        _check_name(weights)
        totals += _weight_totals(weights, schema[weights], [*by, rows])
        read[weights] = None
    if nulls_of is not None:
        null = unused("null", schema)
        plan = plan.with_columns(exactly(nulls_of).is_null().alias(null))
        totals.append(Total(pl.col(null).any(), pl.col(null).any()))
        read[null] = None
    counted = add_up((pieces or whole)(plan.select(map(exactly, read))), by, totals, engine).rechunk()
    texts = [column for column in by if is_category(schema[column]) or schema[column] == pl.Null]
    return counted.with_columns(exactly(column).cast(pl.String) for column in texts)


def count_column(values: pl.Series) -> pl.DataFrame:
    """Count one column without a plan: for thousands of columns, making plans takes all the time."""
    _check_key(values.name, values.dtype)
    distinct, sizes = values.value_counts(name=unused("rows", [values.name])).get_columns()
    if is_category(values.dtype) or values.dtype == pl.Null:
        distinct = distinct.cast(pl.String)
    return pl.DataFrame([distinct, sizes.cast(pl.Int64)])


def compared(table: pl.DataFrame) -> pl.DataFrame:
    """Return rows the way their values are compared; refuse columns that cannot be."""
    columns = _normalized_floats(table.schema, table.columns)
    return table.with_columns(columns) if columns else table


class Total(NamedTuple):
    """An aggregate per key: over the rows of a piece, and then over the results of several pieces."""

    of_rows: pl.Expr
    of_pieces: pl.Expr


def add_up(
    pieces: Iterable[pl.LazyFrame], by: Sequence[str], totals: Sequence[Total], engine: PolarsEngine
) -> pl.DataFrame:
    """Group the pieces of a table by some columns, and return the totals of each key."""
    keys = list(map(exactly, by))
    total: pl.DataFrame | None = None
    for piece in pieces:
        found = piece.group_by(keys).agg(each.of_rows for each in totals).collect(engine=engine)
        if total is None:
            total = found
        else:
            check_room(_MERGED * int(total.estimated_size() + found.estimated_size()))
            both = pl.concat([total, found]).lazy()
            total = both.group_by(keys).agg(each.of_pieces for each in totals).collect(engine=engine)
    assert total is not None
    return total


def whole(plan: pl.LazyFrame) -> Iterator[pl.LazyFrame]:
    """Leave the plan whole: its rows are in memory already."""
    yield plan


def in_slices(plan: pl.LazyFrame, rows: int) -> Iterator[pl.LazyFrame]:
    """Slice the plan for a table of this many rows; for files that can be read from any row on."""
    at_once = min(PIECE_ROWS, _piece_bytes() // _ROW_BYTES)
    if rows <= at_once:
        yield plan
        return
    for start in range(0, rows, at_once):
        yield plan.slice(start, at_once)


def in_batches(plan: pl.LazyFrame) -> Iterator[pl.LazyFrame]:
    """Run a plan once, and yield its rows in pieces."""
    piece: list[pl.DataFrame] = []
    size, cut = 0, False
    for batch in plan.collect_batches(chunk_size=_BATCH_ROWS, maintain_order=False, lazy=True, engine="streaming"):
        piece.append(batch)
        size += int(batch.estimated_size())
        if size >= _piece_bytes():
            yield pl.concat(piece).lazy()
            piece, size, cut = [], 0, True
    if piece or not cut:
        yield pl.concat([pl.DataFrame(schema=plan.collect_schema()), *piece]).lazy()


def _piece_bytes() -> int:
    """Return the largest size of a piece at this moment."""
    return min(PIECE_BYTES, max(within_memory(PIECE_BYTES, _PIECE_PART), _LEAST_PIECE))


def _weight_totals(weights: str, dtype: pl.DataType, taken: Sequence[str]) -> list[Total]:
    """Return the totals of a column of weights: their sum, their number, the least and the greatest."""
    merge = (pl.Expr.sum, pl.Expr.sum, pl.Expr.min, pl.Expr.max)
    names = [unused(name, taken) for name in TOTALS]
    return [
        Total(of_rows.alias(name), how(pl.col(name)))
        for of_rows, name, how in zip(weight_totals(weights, dtype), names, merge, strict=True)
    ]


def _normalized_floats(schema: pl.Schema, by: Sequence[str]) -> list[pl.Expr]:
    """Return the columns to normalize, once all are known to be usable as keys."""
    check_keys(schema, by)
    return [normalized(column, schema[column]) for column in by if schema[column].is_float()]


def check_keys(schema: pl.Schema, columns: Sequence[str]) -> None:
    """Refuse columns that cannot be grouped by."""
    for column in columns:
        _check_key(column, schema[column])


def _check_key(column: str, dtype: pl.DataType) -> None:
    _check_name(column)
    if dtype.is_nested() or isinstance(dtype, pl.Object | pl.Binary):
        raise DataError(
            f"Column '{column}' holds lists, records or bytes, which cannot be grouped; "
            "turn it into text, numbers or dates first.",
            column=column,
        )


def _check_name(column: str) -> None:
    if column in ("", "*") or (column.startswith("^") and column.endswith("$")):
        what = "reads like a pattern" if column else "is empty"
        raise DataError(f"The name of column '{column}' {what}; rename it first.", column=column)


MOST_ROWS = 1 << 18
"""With more rows than this, equal rows are counted before anything else."""
_START = 1 << 11
"""Rows sampled to find columns of few values."""
_FEW = 8
"""A column has few values if each occurs this often in those rows, on average."""


class SmallIntegers(NamedTuple):
    """A column as integers from 0 to ``size`` - 1, the last of which means missing."""

    numbers: NDArray[np.integer]
    size: int


def few_values(start: pl.DataFrame) -> list[str]:
    """Return the columns of few values, judged by the first rows of a table."""
    return [column.name for column in start if column.n_unique() <= start.height // _FEW]


def with_categories(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with text of few values as categories."""
    texts = [exactly(column) for column, dtype in table.schema.items() if dtype == pl.String]
    few = few_values(table.select(texts).head(_START))
    return table.with_columns(exactly(column).cast(pl.Categorical) for column in few)


def small_integers(table: pl.DataFrame) -> dict[str, SmallIntegers]:
    """Return the columns that are stored as integers, none of them much larger than the number of rows.

    >>> found = small_integers(pl.DataFrame({"age": [30, None, 41], "salary": [0, 0, 10**9]}))
    >>> list(found), found["age"].numbers.tolist(), found["age"].size
    (['age'], [30, 42, 41], 43)
    """
    columns = [column for column, dtype in table.schema.items() if _is_stored_as_integer(dtype)]
    found = {}
    for values in table.select(exactly(column).to_physical() for column in columns):
        low, high = cast("int | None", values.min()), cast("int | None", values.max())
        if low is None or high is None:
            found[values.name] = SmallIntegers(np.zeros(table.height, dtype=np.int64), 1)
        elif low >= 0 and high <= 4 * table.height + 1000:
            known = values.cast(pl.UInt32).fill_null(high + 1) if values.null_count() else values
            found[values.name] = SmallIntegers(known.to_numpy(), high + 2)
    return found


def _is_stored_as_integer(dtype: pl.DataType) -> bool:
    small = dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128)
    return small or dtype == pl.Date or is_category(dtype)
