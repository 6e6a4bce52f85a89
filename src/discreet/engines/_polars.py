"""Count and recode with polars: frames in memory, lazy frames and files (the last two streaming)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from discreet._memory import within_memory
from discreet.engines._files import TableFile
from discreet.engines._forget import collect_alone, forget_buffers
from discreet.engines._guard import LibraryError, reading
from discreet.engines._names import exactly, unused
from discreet.engines._parts import TableFiles
from discreet.engines._pieces import Engine, Pieces, Total, add_up, in_batches, in_slices, totals_of, whole
from discreet.engines._recoding import Recoding, is_category, normalized, recode
from discreet.engines._typing import OtherTypesError, Types, released_texts
from discreet.engines._weights import ADDED, of_polars
from discreet.engines._whole_numbers import MOST_ROWS, few_values, with_categories
from discreet.errors import DataError, DiscreetError

__all__ = ["FileSource", "InMemorySource", "LazySource", "PolarsSource", "count_rows", "files_read", "pieces_of"]

HELD = 1 << 28
"""Text of up to this many bytes is held in memory between counting and recoding."""
_HELD_PART = 4
"""... and of up to one in so many parts of the memory that is left: the rest is for what is made of it."""
WIDE = 1000
"""A small file that has more columns than this is held too: each look at it begins with a look at all of them."""
_START = 1 << 14
"""Rows of a Parquet file that are looked at to find columns of few values."""


class InMemorySource(ABC):
    """A table in memory, whose columns are looked at as polars.

    Text of few values is kept as categories once its rows were asked for, so that it is told apart only once.
    """

    read_again = False
    takes_codes = False
    separator = None

    def __init__(self, frame: Any, columns: Sequence[str]) -> None:
        self.frame = frame
        self.columns = list(columns)
        self._coded: dict[str, pl.Series] = {}

    @abstractmethod
    def to_polars(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns as polars."""

    @abstractmethod
    def recode(self, recoding: Recoding, *, to_text: bool = False) -> Any:
        """Return the released table."""

    def count(self, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations and how many rows have each."""
        wanted = dict.fromkeys([*by, *([] if weights is None else [weights])])
        keys = self.to_polars(list(wanted)).rechunk()  # grouping many chunks costs twice as much
        return count_rows(keys.lazy(), by, "in-memory", weights=weights)

    def rows(self, columns: Sequence[str]) -> pl.DataFrame | None:
        """Return some columns of all rows if they are few, with text of few values as categories."""
        if len(self.frame) > MOST_ROWS:
            return None
        plain = self.to_polars(columns).rechunk()
        table = with_categories(plain)
        self._coded = {column.name: column for column in table if column.dtype != plain.schema[column.name]}
        return compared(table)

    def coded(self, recoding: Recoding) -> list[pl.Series]:
        """Return the columns that are looked up and known as categories."""
        return [self._coded[column] for column in recoding.looked_up if column in self._coded]

    def collect(self, released: Any) -> Any:
        """Return the released table as it is."""
        return released

    def guard(self) -> AbstractContextManager[None]:
        """Do nothing: the table was read already."""
        return nullcontext()


class PolarsSource(InMemorySource):
    """A polars DataFrame."""

    kind = "polars"
    frame: pl.DataFrame

    def __init__(self, frame: pl.DataFrame) -> None:
        super().__init__(frame, frame.columns)

    def to_polars(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns as they are."""
        return self.frame.select(map(exactly, columns))

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> pl.DataFrame:
        """Return the released table."""
        coded = self.coded(recoding)
        released = recode(self.frame.with_columns(coded).lazy(), recoding, own=True).collect()
        again = [released[column.name].cast(pl.String) for column in coded if column.name in recoding.kept]
        if not to_text:
            again += self._narrowed(released, recoding)
        return forget_buffers(released.with_columns(again) if again else released, recoding.looked_up_last)

    def _narrowed(self, released: pl.DataFrame, recoding: Recoding) -> list[pl.Series]:
        """Return the columns that were an Enum and hold values of it, as one of those values that are released."""
        others = {*recoding.changed, *recoding.hidden}
        narrowed = []
        for column, dtype in self.frame.schema.items():
            if isinstance(dtype, pl.Enum) and column in released.columns and column not in others:
                there = set(released[column].cast(pl.String).unique())
                values = [value for value in dtype.categories if value in there]
                narrowed.append(released[column].cast(pl.String).cast(pl.Enum(values)))
        return narrowed


class LazySource:
    """A polars LazyFrame, run with the streaming engine."""

    kind = "polars lazy"
    read_again = True
    takes_codes = True
    separator = None

    def __init__(self, frame: pl.LazyFrame) -> None:
        self.frame = frame
        with self.guard():
            self.columns = frame.collect_schema().names()

    def count(self, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations and how many rows have each."""
        with self.guard():
            return count_rows(self.frame, by, "streaming", pieces=in_batches, weights=weights)

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> pl.LazyFrame:
        """Return a plan for the released table."""
        return recode(self.frame, recoding)

    def collect(self, released: pl.LazyFrame) -> pl.LazyFrame:
        """Run the plan, and return the result as a lazy frame over memory."""
        return collect_alone(released).lazy()

    def guard(self) -> AbstractContextManager[None]:
        """Turn errors of the plan into a DataError."""
        return _planning()


class FileSource:
    """A table in a file or in several.

    Parquet, and text too large to hold, is read once to count and once more to recode, never whole. Other
    text, and small files of very many columns, are read once and held as compactly as can be: parsing them again
    would cost more than all the rest.
    """

    read_again = True
    takes_codes = True

    def __init__(self, file: TableFile | TableFiles) -> None:
        self.file = file
        self.kind = file.format.kind
        self.columns = list(file.columns)
        self.separator = file.dialect.separator if file.dialect else None
        self.types = Types()
        self._held: pl.DataFrame | None = None
        self._recoding: Recoding | None = None

    def count(self, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations and how many rows have each."""
        with self.guard():
            held = self._hold()
            if held is not None:
                # The plan sees these columns alone: looking at all of very many takes longer than counting.
                seen = dict.fromkeys([*by, *([] if weights is None else [weights])])
                table = pl.DataFrame([held[column] for column in seen])
                if len(seen) == 1 and not table.dtypes[0].is_float():
                    return _count_one(table.to_series())
                return count_rows(table.lazy(), by, "streaming", weights=weights)
            if self.file.dialect is None:
                return count_rows(self._coded(by), by, "streaming", pieces=pieces_of(self.file), weights=weights)
            counted = count_rows(
                self.file.scan(), by, "streaming", pieces=in_batches, weights=weights, look_at=self.file.last
            )
            if counted.to_series(-1).any():
                self.file.check_rows()
            return counted[:, :-1]

    def rows(self, columns: Sequence[str]) -> pl.DataFrame | None:
        """Return some columns of all rows if they are held and few, with text of few values as categories."""
        with self.guard():
            table = self._hold()
        if table is None or table.height > MOST_ROWS:
            return None
        return compared(pl.DataFrame([table[column] for column in columns]))

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> pl.LazyFrame:
        """Return a plan for the released table."""
        self._recoding = recoding
        frame = self.file.scan(recoding.categories) if self._held is None else self._held.lazy()
        plan = recode(frame, recoding)
        if self.file.dialect is None:
            return plan
        plan = self.types.applied(plan, released_texts(plan.collect_schema(), recoding))
        return plan if to_text else plan.cast({pl.Categorical: pl.String})

    def collect(self, released: pl.LazyFrame) -> pl.DataFrame:
        """Run the plan."""
        try:
            return collect_alone(released)
        except LibraryError:
            if not self.types.failed or self._recoding is None:
                raise
        return collect_alone(self.recode(self._recoding))

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turn errors of reading the file into a DataError."""
        with reading(self.file.name, self._explain):
            yield

    def _explain(self, text: str) -> DiscreetError | None:
        if self.types.failed:
            return OtherTypesError("A column holds other values than its first rows.")
        return self.file.explain(text)

    def _hold(self) -> pl.DataFrame | None:
        """Return the table if it is one that is held; it is read when it is first asked for."""
        if self._held is None and self._is_small():
            self._held = self._read()
        return self._held

    def _is_small(self) -> bool:
        """Whether the table is held once it was read; a compressed file may hold eight times of what it takes."""
        if self.kind in ("csv", "jsonl"):
            return self.file.text_size <= within_memory(HELD, _HELD_PART)
        return len(self.columns) > WIDE and self.file.text_size * 8 <= within_memory(HELD, _HELD_PART)

    def _coded(self, by: Sequence[str]) -> pl.LazyFrame:
        """Return the plan with text of few values, by its start, as categories: grouping takes half the memory then."""
        plan = self.file.scan()
        texts = [exactly(column) for column in by if plan.collect_schema().get(column) == pl.String]
        if self.kind != "parquet" or not texts:
            return plan
        few = few_values(plan.select(texts).head(_START).collect(engine="streaming"))
        return plan.with_columns(exactly(column).cast(pl.Categorical) for column in few)

    def _read(self) -> pl.DataFrame:
        few = few_values(self.file.sample())
        try:
            held = self.file.scan(few).collect(engine="streaming")
        except pl.exceptions.PolarsError:  # a column may have more values than its start promised
            held = self.file.scan().collect(engine="streaming")
        # polars fills up short rows with nulls, so one can only be where the last column has nulls
        if self.file.dialect is not None and held[self.file.last].null_count():
            self.file.check_rows()
        return held


def pieces_of(file: TableFile | TableFiles) -> Pieces:
    """Return how a table is read piece by piece: one file of Parquet tells its rows, and can be read from any on."""
    if file.format.kind != "parquet" or isinstance(file, TableFiles):
        return in_batches
    return partial(in_slices, rows=file.scan().select(pl.len()).collect().item())


def files_read(frame: pl.LazyFrame) -> list[Path]:
    """Return the files a plan reads, as far as polars knows them by name.

    The plan is walked node by node: in its printed form names run into each other, and most are left out.
    """
    found: list[str] = []
    with _planning():
        plan = frame._ldf.visit()
        open_nodes = [plan.get_node()]
        while open_nodes:
            plan.set_node(open_nodes.pop())
            open_nodes += plan.get_inputs()
            with suppress(NotImplementedError):  # a node without a form in Python is none that names files
                found += getattr(plan.view_current_node(), "paths", ())
    return [Path(name.removeprefix("file://")) for name in found]


def _planning() -> AbstractContextManager[None]:
    return reading("The lazy frame", _explain_plan)


def _explain_plan(text: str) -> DataError | None:
    if "replace_strict" in text:
        return None
    return DataError("The lazy frame cannot be run; collect it by itself to see what is wrong with its plan.")


def count_rows(
    frame: pl.LazyFrame,
    by: Sequence[str],
    engine: Engine,
    *,
    pieces: Pieces = whole,
    weights: str | None = None,
    look_at: str | None = None,
) -> pl.DataFrame:
    """Group a plan by some columns and count, piece by piece; what ``weights`` add up to comes after the rows.

    The last column then says whether one to ``look_at`` has a missing value.
    """
    schema = frame.collect_schema()
    plan = frame.with_columns(_compared(schema, by))
    rows = unused("rows", by)
    totals = [Total(pl.len().cast(pl.Int64).alias(rows), pl.col(rows).sum())]
    read = dict.fromkeys(by)
    if weights is not None:
        _check_name(weights)
        totals += _sums(weights, schema, [*by, rows])
        read[weights] = None
    if look_at is not None:
        short = unused("short", schema)
        plan = plan.with_columns(exactly(look_at).is_null().alias(short))
        totals.append(Total(pl.col(short).any(), pl.col(short).any()))
        read[short] = None
    counted = add_up(pieces(plan.select(map(exactly, read))), by, totals, engine).rechunk()
    texts = [column for column in by if is_category(schema[column]) or schema[column] == pl.Null]
    return counted.with_columns(exactly(column).cast(pl.String) for column in texts)


def compared(table: pl.DataFrame) -> pl.DataFrame:
    """Return rows as their values are compared, after a look at whether they can be."""
    columns = _compared(table.schema, table.columns)
    return table.with_columns(columns) if columns else table


def _compared(schema: pl.Schema, by: Sequence[str]) -> list[pl.Expr]:
    """Return the columns that are compared as other values than they have."""
    for column in by:
        _check_name(column)
        _check_dtype(column, schema[column])
    return [normalized(column, schema[column]) for column in by if schema[column].is_float()]


def _count_one(values: pl.Series) -> pl.DataFrame:
    """Do the same for one column without a plan: where there are thousands, making plans takes all the time."""
    _check_name(values.name)
    _check_dtype(values.name, values.dtype)
    counted = values.value_counts(name=unused("rows", [values.name]))
    distinct, sizes = counted.get_columns()
    if is_category(values.dtype) or values.dtype == pl.Null:
        distinct = distinct.cast(pl.String)
    return pl.DataFrame([distinct, sizes.cast(pl.Int64)])


def _sums(weights: str, schema: pl.Schema, taken: Sequence[str]) -> list[Total]:
    """Return what is added up of a column of weights."""
    return totals_of(of_polars(weights, schema[weights]), [unused(name, taken) for name in ADDED])


def _check_name(column: str) -> None:
    if column in ("", "*") or (column.startswith("^") and column.endswith("$")):
        what = "reads like a pattern" if column else "is empty"
        raise DataError(f"The name of column '{column}' {what}; rename it first.", column=column)


def _check_dtype(column: str, dtype: pl.DataType) -> None:
    if dtype.is_nested() or isinstance(dtype, pl.Object | pl.Binary):
        raise DataError(
            f"Column '{column}' holds lists, records or bytes, which cannot be grouped; "
            "turn it into text, numbers or dates first.",
            column=column,
        )
