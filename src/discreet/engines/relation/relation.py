"""A table on an engine of its own: DuckDB, Spark, or a database reached through Ibis.

Each engine has a small back end for what it does differently; everything else is written once, with narwhals. Columns
have plain names here (c0, c1, …), so that reserved words, quotes, dots and capitals in names need no care.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import narwhals as nw
import polars as pl
from polars import selectors

from discreet.engines.recoding import Lookup
from discreet.engines.shuffle import Stream
from discreet.engines.weights import HEAVIEST, MILLION, TOTALS, check_type
from discreet.errors import DataError, DiscreetError, MissingColumnError
from discreet.runtime.atomic_write import not_written

__all__ = ["Backend", "Join", "Relation", "check_names", "dtype_of", "left_joins"]

_VALUE = "value"
"""The key column of an uploaded look-up table."""
_TOTALS = {
    "people": nw.col("millionths").sum(),
    "weighed": nw.col("millionths").count(),
    "lightest": nw.col("weight").min(),
    "heaviest": nw.col("weight").max(),
}
"""The aggregates of a weighted count."""
_TEXT = (nw.Categorical, nw.Enum, nw.Unknown, nw.Duration)


class Backend(Protocol):
    """What differs between engines."""

    @property
    def kind(self) -> str:
        """The name of the engine, as users give it."""

    @property
    def what(self) -> str:
        """What to call one of its tables in a message."""

    @property
    def libraries(self) -> frozenset[str]:
        """The packages that raise errors of the engine."""

    @property
    def one_file(self) -> bool:
        """Whether ``save`` writes a single file rather than a folder of files."""

    def folds_case(self, native: Any) -> bool:
        """Whether column names are case-insensitive."""

    def tells_nan(self, native: Any) -> bool:
        """Whether the engine has NaN."""

    def renamed(self, native: Any, names: Sequence[str]) -> Any:
        """Return the table with its columns renamed."""

    def upload(self, native: Any, table: pl.DataFrame) -> Any:
        """Bring a small table to the engine, to be joined with ``native``."""

    def left_joins(self, frame: nw.LazyFrame[Any], joins: Sequence[Join]) -> nw.LazyFrame[Any]:
        """Left-join small tables to a large one, without the key columns of the small ones."""

    def as_numbers(self, native: Any, column: str) -> Any:
        """Return the table with a text column cast to numbers, null where that fails."""

    def estimate(self, native: Any, names: Sequence[str]) -> list[int]:
        """Return the number of rows, then for each column an estimate of its distinct values and its known values."""

    def some_values(self, native: Any, name: str, parts: int) -> Any:
        """Return the rows of about one in ``parts`` values of a column; None if the engine has no hash to choose by."""

    def shuffled(self, native: Any, key: int) -> Any:
        """Return the rows sorted by a keyed hash of all their values; None if the engine has no such hash.

        Equal rows may end up next to each other.
        """

    def stream(self, native: Any) -> Stream | None:
        """Return the rows as polars batches; None if the engine cannot send them."""

    def save(self, native: Any, path: Path) -> None:
        """Run a plan and write its rows as Parquet."""

    def files(self, native: Any) -> list[Path]:
        """Return the files a plan reads, as far as the engine knows."""

    def explain(self, text: str) -> DiscreetError | None:
        """Return the error for a message of the engine; None for the general one."""


def dtype_of(values: pl.Series) -> Any:
    """Return the narwhals type of some values."""
    return nw.from_native(values, series_only=True).dtype


class Join(NamedTuple):
    """A small table on the engine, and for each key column of the rows that of the table."""

    table: nw.LazyFrame[Any]
    on: Mapping[str, str]


def left_joins(frame: nw.LazyFrame[Any], joins: Sequence[Join]) -> nw.LazyFrame[Any]:
    """Left-join small tables, one after the other."""
    for join in joins:
        frame = frame.join(join.table, left_on=list(join.on), right_on=list(join.on.values()), how="left")
    return frame


def check_names(columns: Sequence[str], backend: Backend, *, fold: bool) -> None:
    """Refuse duplicate column names, which with ``fold`` are compared without case."""
    taken: dict[str, str] = {}
    for column in columns:
        name = column.lower() if fold else column
        if name in taken:
            raise DataError(
                f"The columns '{taken[name]}' and '{column}' have the same name to {backend.kind}; rename one.",
                column=column,
            )
        taken[name] = column


class Relation:
    """A table that stays on its engine; ``file`` is the quoted name of the file it was opened from, if any."""

    def __init__(self, native: Any, backend: Backend, file: str | None = None) -> None:
        self.native = native
        self.file = file
        self.backend = backend
        self.columns = [str(name) for name in native.columns]
        check_names(self.columns, backend, fold=backend.folds_case(native))
        plain = [f"c{number}" for number in range(len(self.columns))]
        self._plain = dict(zip(self.columns, plain, strict=True))
        with self.running():
            self.frame: nw.LazyFrame[Any] = nw.from_native(backend.renamed(native, plain))
            self.dtypes: Mapping[str, Any] = dict(self.frame.collect_schema())
        self._tells_nan = backend.tells_nan(native)

    def plain(self, column: str) -> str:
        """Return the plain name of a column."""
        if column not in self._plain:
            raise MissingColumnError(column, self.columns)
        return self._plain[column]

    def key(self, column: str) -> nw.Expr:
        """Return a column the way its values are compared: NaN is missing, and -0.0 is 0.0."""
        name = self.plain(column)
        dtype, values = self.dtypes[name], nw.col(name)
        if dtype.is_nested() or dtype == nw.Binary:
            raise DataError(
                f"Column '{column}' holds lists, records or bytes, which cannot be grouped; "
                "turn it into text, numbers or dates first.",
                column=column,
            )
        if isinstance(dtype, _TEXT):
            return values.cast(nw.String)
        if not dtype.is_float():
            return values
        known = nw.when(~values.is_nan()).then(values) if self._tells_nan else values
        return nw.when(values == 0).then(nw.lit(0.0).cast(dtype)).otherwise(known)

    def key_name(self, column: str) -> str:
        """Return a name for :meth:`key`: the plain name if values are compared as they are."""
        name = self.plain(column)
        dtype = self.dtypes[name]
        return f"key_{name}" if dtype.is_float() or isinstance(dtype, _TEXT) else name

    @property
    def order(self) -> list[str]:
        """The plain names of the columns that rows can be sorted by."""
        return [
            name for name, dtype in self.dtypes.items() if not (dtype.is_nested() or dtype in (nw.Unknown, nw.Binary))
        ]

    def upload(self, table: pl.DataFrame) -> nw.LazyFrame[Any]:
        """Bring a small table to the engine."""
        uploaded: nw.LazyFrame[Any] = nw.from_native(self.backend.upload(self.native, table))
        return uploaded

    def groups(self, by: Mapping[str, str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations of some columns and the ``rows`` of each.

        ``by`` maps the names of the result to columns. A missing value is a value like any other. Totals of
        ``weights`` follow the rows.
        """
        with self.running():
            rows, sums = self._weighing(weights)
            keys = rows.select(*(self.key(column).alias(name) for name, column in by.items()), *sums)
            totals = {} if weights is None else _TOTALS
            counted: pl.DataFrame = keys.group_by(*by).agg(rows=nw.len(), **totals).collect("polars").to_native()
        whole = [pl.col(name).cast(pl.Int64) for name in ("rows", *([] if weights is None else TOTALS[:2]))]
        counted = counted.select(*by, *whole, *([] if weights is None else TOTALS[2:]))
        return counted.cast({selectors.by_dtype(pl.Null, pl.Categorical): pl.String})

    def _weighing(self, weights: str | None) -> tuple[nw.LazyFrame[Any], list[nw.Expr]]:
        """Return the rows, with weights that are text as numbers, and the expressions to be summed."""
        if weights is None:
            return self.frame, []
        name = self.plain(weights)
        dtype, frame = self.dtypes[name], self.frame
        text = isinstance(dtype, (nw.String, *_TEXT))
        check_type(weights, number=dtype.is_numeric(), text=text)
        if text:
            frame = nw.from_native(self.backend.as_numbers(frame.to_native(), name))
        weight = nw.col(name).cast(nw.Float64)
        valid = nw.when((weight >= 0) & (weight <= HEAVIEST)).then(weight)
        millionths = (valid * float(MILLION) + 0.5).floor().cast(nw.Int64)
        return frame, [millionths.alias("millionths"), valid.alias("weight")]

    def join(self, frame: nw.LazyFrame[Any], table: pl.DataFrame, on: Mapping[str, str]) -> nw.LazyFrame[Any]:
        """Left-join a small table on integer keys, none of them null."""
        return self.backend.left_joins(frame, [Join(self.upload(table), on)])

    def look_up(
        self, frame: nw.LazyFrame[Any], lookups: Sequence[Lookup], keys: Mapping[str, str]
    ) -> nw.LazyFrame[Any]:
        """Add the results of look-ups; ``keys`` names the key column of each looked-up column.

        No engine finds null in a join, so the results for null are added by a condition.
        """
        joins = []
        for lookup in lookups:
            table = pl.DataFrame({_VALUE: lookup.values, **lookup.results}).drop_nulls(_VALUE)
            if not table.is_empty():
                joins.append(Join(self.upload(table), {keys[lookup.column]: _VALUE}))
        if joins:
            frame = self.backend.left_joins(frame, joins)
        nulls = [result for lookup in lookups for result in _null_results(lookup, keys[lookup.column])]
        return frame.with_columns(*nulls) if nulls else frame

    @contextmanager
    def running(self) -> Iterator[None]:
        """Translate errors of the engine; its own messages may quote cells, and are never shown."""
        try:
            yield
        except DiscreetError:
            raise
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in self.backend.libraries:
                raise
            text = str(error)
            if type(error).__name__ == "InterruptException":  # DuckDB takes Ctrl-C for itself
                raise KeyboardInterrupt from None
            if "No space left" in text:
                raise not_written(self.backend.what, error) from None
            raise self.backend.explain(text) or self._not_run() from None

    def _not_run(self) -> DataError:
        if self.file is None:
            return DataError(f"{self.backend.what} cannot be run; run it by itself to see what is wrong with it.")
        return DataError(
            f"{self.file} cannot be read by {self.backend.kind}; leave the engine out to see what is wrong with it."
        )


def _null_results(lookup: Lookup, key: str) -> Iterator[nw.Expr]:
    """Yield the results of a look-up with that for null filled in."""
    null = lookup.values.is_null()
    if lookup.values.is_empty():  # of a table without rows
        for name, series in lookup.results.items():
            yield nw.lit(None, dtype=dtype_of(series)).alias(name)
    if not null.any():
        return
    absent = nw.col(key).is_null()
    for name, series in lookup.results.items():
        result = series.filter(null)[0]
        if null.all():  # there was nothing to join with
            yield nw.when(absent).then(nw.lit(result, dtype=dtype_of(series))).alias(name)
        elif result is not None:
            dtype = dtype_of(series) if series.dtype == pl.Enum else None
            yield nw.when(absent).then(nw.lit(result, dtype=dtype)).otherwise(nw.col(name)).alias(name)
