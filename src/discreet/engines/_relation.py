"""A table on an engine that does the work itself: DuckDB, Spark, or a database behind Ibis.

What differs between them is in a small file for each; all the rest is said once, through narwhals. Columns go by plain
names here (c0, c1, …), so that reserved words, quotes, dots and capitals in names need no care.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import narwhals as nw
import polars as pl
from polars import selectors

from discreet._replacing import not_written
from discreet.engines._weights import ADDED, HEAVIEST, MILLION, check_type
from discreet.errors import DataError, DiscreetError, MissingColumnError

__all__ = ["Backend", "Join", "LookUp", "Relation", "check_names", "dtype_of", "left_joins"]

VALUE = "value"
"""The column of a small table that is looked up in."""
_ADDED = {
    "people": nw.col("millionths").sum(),
    "weighed": nw.col("millionths").count(),
    "lightest": nw.col("weight").min(),
    "heaviest": nw.col("weight").max(),
}
"""What is added to a count where there are weights."""
_TEXT = (nw.Categorical, nw.Enum, nw.Unknown, nw.Duration)


class Backend(Protocol):
    """What an engine does in its own way."""

    @property
    def kind(self) -> str:
        """The name of the engine, as users give it."""

    @property
    def what(self) -> str:
        """What a table of it is called in a sentence."""

    @property
    def libraries(self) -> frozenset[str]:
        """The packages whose errors are errors of the engine."""

    @property
    def one_file(self) -> bool:
        """Whether ``save`` writes one file; if not, it is a folder of files."""

    def folds_case(self, native: Any) -> bool:
        """Whether two names of columns that differ in capitals alone are the same to the engine."""

    def tells_nan(self, native: Any) -> bool:
        """Whether the engine knows a number that is none."""

    def renamed(self, native: Any, names: Sequence[str]) -> Any:
        """Return the same columns under other names."""

    def upload(self, native: Any, table: pl.DataFrame) -> Any:
        """Return a small table as one that can be joined with this one."""

    def left_joins(self, frame: nw.LazyFrame[Any], joins: Sequence[Join]) -> nw.LazyFrame[Any]:
        """Add what small tables say to the rows of a large one, without the columns they are joined on."""

    def as_numbers(self, native: Any, column: str) -> Any:
        """Return the rows with a column of text as numbers, null where it is none."""

    def estimate(self, native: Any, names: Sequence[str]) -> list[int]:
        """Return the number of rows, and for each column about how many values it has and in how many rows one."""

    def shuffled(self, native: Any, key: int) -> Any:
        """Return the rows sorted by a hash of a key and all their values; None where the engine has no such hash.

        Rows that are the same in all columns may stand together.
        """

    def save(self, native: Any, path: Path) -> None:
        """Run a plan and write its rows as Parquet."""

    def files(self, native: Any) -> list[Path]:
        """Return the files a plan reads, as far as the engine tells."""

    def explain(self, text: str) -> DiscreetError | None:
        """Say what went wrong, knowing what the engine said."""


def dtype_of(values: pl.Series) -> Any:
    """Return the type of some values, as narwhals has it."""
    return nw.from_native(values, series_only=True).dtype


class LookUp(NamedTuple):
    """What a small table answers for each value of a column; null is a value like any other."""

    key: str
    values: pl.Series
    answers: Mapping[str, pl.Series]

    def known(self) -> pl.DataFrame:
        """Return the table without the line for null."""
        table = pl.DataFrame({VALUE: self.values, **self.answers})
        return table.filter(pl.col(VALUE).is_not_null())

    def of_null(self) -> Iterator[nw.Expr]:
        """Yield the answers with that for null put in."""
        null = self.values.is_null()
        if not null.any():
            return
        absent = nw.col(self.key).is_null()
        for name, series in self.answers.items():
            answer = series.filter(null)[0]
            if null.all():  # of no other value anything is known, and there is nothing to join with
                yield nw.when(absent).then(nw.lit(answer, dtype=dtype_of(series))).alias(name)
            elif answer is not None:
                dtype = dtype_of(series) if series.dtype == pl.Enum else None
                yield nw.when(absent).then(nw.lit(answer, dtype=dtype)).otherwise(nw.col(name)).alias(name)


class Join(NamedTuple):
    """A small table on the engine, and which of its columns have the values of which columns of the rows."""

    table: nw.LazyFrame[Any]
    on: Mapping[str, str]


def left_joins(frame: nw.LazyFrame[Any], joins: Sequence[Join]) -> nw.LazyFrame[Any]:
    """Join with small tables, one after the other."""
    for join in joins:
        frame = frame.join(join.table, left_on=list(join.on), right_on=list(join.on.values()), how="left")
    return frame


def check_names(columns: Sequence[str], backend: Backend, *, fold: bool) -> None:
    """Refuse names that are one name to an engine; ``fold`` says whether capitals do not tell them apart."""
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
    """A table that is not read but worked on where it is; ``file`` is the name of the file it stands for, if any."""

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
        """Return a column as its values are compared: NaN is missing, and there is no negative zero."""
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

    def same_as_key(self, column: str) -> bool:
        """Whether the values of a column are compared as they are."""
        dtype = self.dtypes[self.plain(column)]
        return not (dtype.is_float() or isinstance(dtype, _TEXT))

    @property
    def order(self) -> list[str]:
        """The columns, by plain name, by which rows can be put in an order that is always the same."""
        return [
            name for name, dtype in self.dtypes.items() if not (dtype.is_nested() or dtype in (nw.Unknown, nw.Binary))
        ]

    def upload(self, table: pl.DataFrame) -> nw.LazyFrame[Any]:
        """Bring a small table to the engine."""
        uploaded: nw.LazyFrame[Any] = nw.from_native(self.backend.upload(self.native, table))
        return uploaded

    def groups(self, by: Mapping[str, str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations of some columns and how many ``rows`` have each, all that ever comes here.

        ``by`` says which column is to go under which name. A missing value is a value like any other. What ``weights``
        add up to comes after the rows.
        """
        with self.running():
            rows, sums = self._weighing(weights)
            keys = rows.select(*(self.key(column).alias(name) for name, column in by.items()), *sums)
            added = {} if weights is None else _ADDED
            counted: pl.DataFrame = keys.group_by(*by).agg(rows=nw.len(), **added).collect("polars").to_native()
        whole = [pl.col(name).cast(pl.Int64) for name in ("rows", *([] if weights is None else ADDED[:2]))]
        counted = counted.select(*by, *whole, *([] if weights is None else ADDED[2:]))
        return counted.cast({selectors.by_dtype(pl.Null, pl.Categorical): pl.String})

    def _weighing(self, weights: str | None) -> tuple[nw.LazyFrame[Any], list[nw.Expr]]:
        """Return the rows, of which a column of weights told as text is numbers, and the weights to be added up."""
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
        """Add what a small table says; the keys are numbers, of which null is none."""
        return self.backend.left_joins(frame, [Join(self.upload(table), on)])

    def look_up(self, frame: nw.LazyFrame[Any], tables: Sequence[LookUp]) -> nw.LazyFrame[Any]:
        """Add the answers of some tables; an engine never finds null in a join, so that its answer is said apart."""
        known = [table for table in tables if table.values.null_count() < len(table.values)]
        if known:
            joins = [Join(self.upload(table.known()), {table.key: VALUE}) for table in known]
            frame = self.backend.left_joins(frame, joins)
        nulls = [answer for table in tables for answer in table.of_null()]
        return frame.with_columns(*nulls) if nulls else frame

    @contextmanager
    def running(self) -> Iterator[None]:
        """Say in one sentence what goes wrong on the engine; what it says may quote cells, and is never shown."""
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
            f"{self.file} cannot be read by {self.backend.kind}; leave the engine out to hear what is wrong with it."
        )
