"""Tables with many equal rows: each distinct row is held once, with the number of times it occurs.

Releases often have few distinct rows. In an order that depends on the values of rows alone equal rows are adjacent, so
these numbers are all there is to know, and nothing has to be sorted or moved about row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from discreet.engines.columns import exactly, unused

__all__ = ["EqualRows", "count_equal", "rows_repeat"]

_SAMPLE = 1 << 12
"""Rows looked at first."""
_REPEATS = 8
"""How often a row occurs on average where distinct rows are held."""
_MOST_CELLS = 1 << 22
"""Most cells that are held."""
_PIECE_CELLS = 1 << 20
"""Approximate number of cells of the pieces in which all rows are handed out."""


@dataclass(frozen=True)
class EqualRows:
    """Distinct rows, and how often each occurs."""

    distinct: pl.DataFrame
    times: NDArray[np.int64]

    def plan(self) -> pl.LazyFrame:
        """Return a plan of all rows, in which equal ones are adjacent."""

        def read(
            with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _: int | None
        ) -> Iterator[pl.DataFrame]:
            rows = self.distinct if with_columns is None else self.distinct.select(map(exactly, with_columns))
            for piece in EqualRows(rows, self.times).pieces(n_rows):
                yield piece if predicate is None else piece.filter(predicate)

        return register_io_source(read, schema=self.distinct.schema)

    def pieces(self, rows: int | None = None) -> Iterator[pl.DataFrame]:
        """Yield all rows, or so many of the first ones, piece by piece."""
        ends, last = np.cumsum(self.times), int(self.times.sum())
        last = last if rows is None else min(rows, last)
        step = max(_PIECE_CELLS // max(self.distinct.width, 1), 1)
        for start in range(0, last, step):
            yield self.distinct[np.searchsorted(ends, np.arange(start, min(start + step, last)), side="right")]


def count_equal(batches: Iterable[pl.DataFrame], schema: pl.Schema) -> EqualRows | Iterator[pl.DataFrame]:
    """Count equal rows; where few are equal, or values that differ count as equal, return all rows as they came."""
    rest = iter(batches)
    if not schema or any(not _is_exact(dtype) for dtype in schema.values()):
        return rest
    times, found, rows = unused("times", schema), None, 0
    for batch in rest:
        if found is None and not _repeats(batch):
            return chain([batch], rest)
        new = batch.group_by(map(exactly, batch.columns)).agg(pl.len().cast(pl.Int64).alias(times))
        found = new if found is None else _added(pl.concat([found, new]), times)
        rows += batch.height
        if found.height * _REPEATS > rows or found.height * found.width > _MOST_CELLS:
            return chain(_split(found, times).pieces(), rest)
    return rest if found is None else _split(found, times)


def rows_repeat(times: Iterable[int], rows: float) -> bool:
    """Estimate whether rows occur several times on average, given how often each of some sampled ones does.

    Of n rows drawn from d equally frequent ones, n² / 2d pairs are equal, which gives d. Where some are more frequent
    than others there are more pairs, and the average is lower than estimated: a waste of time, but no more.
    """
    counts = np.fromiter(times, dtype=np.float64)
    return float((counts * (counts - 1)).sum()) * rows >= _REPEATS * float(counts.sum()) ** 2


def _repeats(batch: pl.DataFrame) -> bool:
    sample = batch.gather_every(max(batch.height // _SAMPLE, 1))
    times = sample.group_by(map(exactly, sample.columns)).agg(pl.len().alias(unused("times", sample.schema)))
    return rows_repeat(times.to_series(-1).to_list(), batch.height)


def _added(counted: pl.DataFrame, times: str) -> pl.DataFrame:
    keys = [exactly(name) for name in counted.columns if name != times]
    return counted.group_by(keys).agg(pl.col(times).sum())


def _split(counted: pl.DataFrame, times: str) -> EqualRows:
    return EqualRows(counted.drop(times), counted[times].to_numpy())


def _is_exact(dtype: pl.DataType) -> bool:
    """Whether only the same values count as equal, unlike 0.0 and -0.0; lists and records may hold anything."""
    return not (dtype.is_float() or dtype.is_nested() or dtype in (pl.Object, pl.Null))
