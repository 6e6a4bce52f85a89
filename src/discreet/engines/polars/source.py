"""Tables that polars counts and recodes: frames in memory, lazy frames and files (the last two streaming)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from discreet.engines.column_profile import ColumnProfiles, profile_plan, profile_rows
from discreet.engines.columns import exactly
from discreet.engines.files.repeated_lines import read_repeated
from discreet.engines.files.table_file import TableFile
from discreet.engines.files.table_files import TableFiles
from discreet.engines.guards import LibraryError, reading
from discreet.engines.metadata import collect_alone, forget_buffers
from discreet.engines.polars.count import (
    MOST_ROWS,
    Pieces,
    check_keys,
    compared,
    count_column,
    count_rows,
    few_values,
    in_batches,
    in_slices,
    with_categories,
)
from discreet.engines.polars.people import check_numbered, distinct_people, numbered, numbers_of
from discreet.engines.polars.recode import recode
from discreet.engines.recoding import Recoding
from discreet.engines.text_types import OtherTypesError, Types, released_texts
from discreet.errors import DataError, DiscreetError
from discreet.runtime.machine_limits import within_memory

__all__ = ["FileSource", "InMemorySource", "LazySource", "PolarsSource", "files_read"]

HELD = 1 << 28
"""Text of up to this many bytes is held in memory between counting and recoding ..."""
_HELD_PART = 4
"""... and of up to this fraction (1 / n) of the memory that is left: the rest is for what is computed from it."""
WIDE = 1000
"""A small file with more columns than this is held too: every scan of it starts by reading the schema."""
_START = 1 << 14
"""Rows of a Parquet file sampled to find columns of few values."""


class InMemorySource(ABC):
    """A table in memory, whose columns are converted to polars when they are needed.

    Once its rows were asked for, text of few values is kept as categories, so that it is encoded only once.
    """

    read_again = False
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
        """Return the distinct combinations and the number of rows of each."""
        keys = self.to_polars(_with_weights(by, weights)).rechunk()  # grouping many chunks costs twice as much
        return count_rows(keys.lazy(), by, "in-memory", weights=weights)

    @abstractmethod
    def number_people(self, columns: Sequence[str]) -> None:
        """Replace the values of columns that say whose row it is by numbers; the given frame is not modified."""

    def rows(self, columns: Sequence[str], *, few_equal: bool = False) -> pl.DataFrame | None:
        """Return some columns of all rows if there are few, with text of few values as categories."""
        if len(self.frame) > _most_rows(few_equal):
            return None
        plain = self.to_polars(columns).rechunk()
        table = with_categories(plain)
        self._coded = {column.name: column for column in table if column.dtype != plain.schema[column.name]}
        return compared(table)

    def profile(self, columns: Sequence[str], beside: Sequence[str] = ()) -> ColumnProfiles:
        """Profile some columns."""
        return profile_rows(self._for_profile(list(dict.fromkeys([*columns, *beside]))), columns)

    def _for_profile(self, columns: Sequence[str]) -> pl.DataFrame:
        return self.to_polars(columns)

    def with_codes(self, recoding: Recoding) -> Recoding:
        """Return the recoding as it is: the released frame is handed out too."""
        return recoding

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

    def number_people(self, columns: Sequence[str]) -> None:
        """Replace the values of some columns by numbers."""
        check_keys(self.frame.schema, columns)
        for column in columns:
            check_numbered(self.frame[column])
        self.frame = self.frame.with_columns(numbers_of(self.frame[column]) for column in columns)

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> pl.DataFrame:
        """Return the released table."""
        coded = self.coded(recoding)
        released = recode(self.frame.with_columns(coded).lazy(), recoding, own=True).collect()
        again = [released[column.name].cast(pl.String) for column in coded if column.name in recoding.kept]
        if not to_text:
            again += self._narrowed(released, recoding)
        return forget_buffers(released.with_columns(again) if again else released, recoding.looked_up_last)

    def _narrowed(self, released: pl.DataFrame, recoding: Recoding) -> list[pl.Series]:
        """Return the unchanged Enum columns, narrowed to the categories that still occur."""
        others = {*recoding.changed, *recoding.hidden}
        narrowed = []
        for column, dtype in self.frame.schema.items():
            if isinstance(dtype, pl.Enum) and column in released.columns and column not in others:
                occurring = set(released[column].cast(pl.String).unique())
                values = [value for value in dtype.categories if value in occurring]
                narrowed.append(released[column].cast(pl.String).cast(pl.Enum(values)))
        return narrowed


class LazySource:
    """A polars LazyFrame, run with the streaming engine."""

    kind = "polars lazy"
    read_again = True
    separator = None

    def __init__(self, frame: pl.LazyFrame) -> None:
        self.frame = frame
        with self.guard():
            self.columns = frame.collect_schema().names()

    def count(self, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations and the number of rows of each."""
        with self.guard():
            return count_rows(self.frame, by, "streaming", pieces=in_batches, weights=weights)

    def number_people(self, columns: Sequence[str]) -> None:
        """Add to the plan that the values of some columns are replaced by numbers."""
        with self.guard():
            check_keys(self.frame.collect_schema(), columns)
            for column in columns:
                people = distinct_people(self.frame, column, _streamed)
                self.frame = numbered(self.frame, column, people)

    def profile(self, columns: Sequence[str], beside: Sequence[str] = ()) -> ColumnProfiles:
        """Profile some columns."""
        with self.guard():
            return profile_plan(self.frame.select(map(exactly, dict.fromkeys([*columns, *beside]))), columns)

    def with_codes(self, recoding: Recoding) -> Recoding:
        """Return the recoding with an Enum instead of text."""
        return recoding.coded(_texts(self.frame.collect_schema()))

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> pl.LazyFrame:
        """Return a plan for the released table."""
        return recode(self.frame, recoding)

    def collect(self, released: pl.LazyFrame) -> pl.LazyFrame:
        """Run the plan, and return the result as a lazy frame over memory."""
        return collect_alone(released).lazy()

    def guard(self) -> AbstractContextManager[None]:
        """Translate errors of the plan."""
        return _planning()


class FileSource:
    """A table in a file or in several.

    Parquet, and text too large to hold, is read once to count and once more to recode, never whole. Other text, and
    small files of very many columns, are read once and held compactly: parsing them again would cost more than all the
    rest.
    """

    read_again = True

    def __init__(self, file: TableFile | TableFiles) -> None:
        self.file = file
        self.kind = file.format.kind
        self.columns = list(file.columns)
        self.separator = file.dialect.separator if file.dialect else None
        self.types = Types()
        self._held: pl.DataFrame | None = None
        self._recoding: Recoding | None = None
        self._people: dict[str, pl.Series] = {}

    def count(self, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations and the number of rows of each."""
        with self.guard():
            held = self._hold()
            if held is not None:
                # The plan gets only these columns: resolving thousands of others takes longer than counting.
                table = pl.DataFrame([held[column] for column in _with_weights(by, weights)])
                if table.width == 1 and not table.dtypes[0].is_float():
                    return count_column(table.to_series())
                return count_rows(table.lazy(), by, "streaming", weights=weights)
            if self.file.dialect is None:
                return count_rows(self._coded(by), by, "streaming", pieces=_pieces_of(self.file), weights=weights)
            counted = count_rows(
                self._scan(), by, "streaming", pieces=in_batches, weights=weights, nulls_of=self.file.last
            )
            if counted.to_series(-1).any():
                self.file.check_rows()
            return counted[:, :-1]

    def number_people(self, columns: Sequence[str]) -> None:
        """Replace the values of some columns by numbers, in the rows that are held or in every scan."""
        with self.guard():
            held = self._hold()
            check_keys(self.file.scan().collect_schema() if held is None else held.schema, columns)
            if held is not None:
                for column in columns:
                    check_numbered(held[column])
                self._held = held.with_columns(numbers_of(held[column]) for column in columns)
            else:
                self._people |= {column: distinct_people(self.file.scan(), column, _streamed) for column in columns}

    def _scan(self, categories: Sequence[str] = ()) -> pl.LazyFrame:
        """Return a plan for the rows, with numbers in place of people."""
        plan = self.file.scan(categories)
        for column, people in self._people.items():
            plan = numbered(plan, column, people)
        return plan

    def rows(self, columns: Sequence[str], *, few_equal: bool = False) -> pl.DataFrame | None:
        """Return some columns of all rows if they are held and few, with text of few values as categories."""
        with self.guard():
            table = self._hold()
        if table is None or table.height > _most_rows(few_equal):
            return None
        return compared(pl.DataFrame([table[column] for column in columns]))

    def profile(self, columns: Sequence[str], beside: Sequence[str] = ()) -> ColumnProfiles:
        """Profile some columns."""
        wanted = list(map(exactly, dict.fromkeys([*columns, *beside])))
        with self.guard():
            held = self._hold()
            if held is not None:
                return profile_rows(held.select(wanted), columns)
            return profile_plan(self._scan().select(wanted), columns)

    def with_codes(self, recoding: Recoding) -> Recoding:
        """Return the recoding with an Enum instead of text; unchanged delimited text may turn out to be numbers."""
        return recoding.coded([] if self.file.schema is None else _texts(self.file.schema))

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> pl.LazyFrame:
        """Return a plan for the released table."""
        self._recoding = recoding
        frame = self._scan(recoding.categories) if self._held is None else self._held.lazy()
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
        """Translate errors of reading the file."""
        with reading(self.file.name, self._explain):
            yield

    def _explain(self, text: str) -> DiscreetError | None:
        if self.types.failed:
            return OtherTypesError("A column holds other values than its first rows.")
        return self.file.explain(text)

    def _hold(self) -> pl.DataFrame | None:
        """Return the table if it is small enough to hold; it is read on first use."""
        if self._held is None and self._is_small():
            self._held = self._read()
        return self._held

    def _is_small(self) -> bool:
        """Whether the table is held once it was read; a compressed file may expand eightfold."""
        if self.kind in ("csv", "jsonl"):
            return self.file.text_size <= within_memory(HELD, _HELD_PART)
        return len(self.columns) > WIDE and self.file.text_size * 8 <= within_memory(HELD, _HELD_PART)

    def _coded(self, by: Sequence[str]) -> pl.LazyFrame:
        """Return a scan with text of few values as categories: grouping then takes half the memory."""
        plan = self._scan()
        texts = [exactly(column) for column in by if plan.collect_schema().get(column) == pl.String]
        if self.kind != "parquet" or not texts:
            return plan
        few = few_values(plan.select(texts).head(_START).collect(engine="streaming"))
        return plan.with_columns(exactly(column).cast(pl.Categorical) for column in few)

    def _read(self) -> pl.DataFrame:
        few = few_values(self.file.sample())
        try:
            held = read_repeated(self.file, few) if isinstance(self.file, TableFile) else None
            if held is None:
                held = self.file.scan(few).collect(engine="streaming")
        except pl.exceptions.PolarsError:  # a column may have more values than its first rows promised
            held = self.file.scan().collect(engine="streaming")
        # polars pads short rows with nulls, so there is one only if the last column has nulls
        if self.file.dialect is not None and held[self.file.last].null_count():
            self.file.check_rows()
        return held


def _most_rows(few_equal: bool) -> int:
    """Return how many rows are encoded before equal ones are counted; more of them if ``few_equal`` rows are likely."""
    return MOST_ROWS << 4 if few_equal else MOST_ROWS


def _streamed(plan: pl.LazyFrame) -> pl.DataFrame:
    return plan.collect(engine="streaming")


def _with_weights(by: Sequence[str], weights: str | None) -> list[str]:
    return list(dict.fromkeys([*by, *([] if weights is None else [weights])]))


def _texts(schema: pl.Schema) -> list[str]:
    return [column for column, dtype in schema.items() if dtype == pl.String]


def _pieces_of(file: TableFile | TableFiles) -> Pieces:
    """Return how to cut a table into pieces: a Parquet file knows its rows and can be read from any of them on."""
    if file.format.kind != "parquet" or isinstance(file, TableFiles):
        return in_batches
    return partial(in_slices, rows=file.scan().select(pl.len()).collect().item())


def files_read(frame: pl.LazyFrame) -> list[Path]:
    """Return the files a plan reads, as far as polars knows them by name.

    This walks the plan node by node; in its printed form names run into each other, and most are left out.
    """
    found: list[str] = []
    with _planning():
        plan = frame._ldf.visit()
        open_nodes = [plan.get_node()]
        while open_nodes:
            plan.set_node(open_nodes.pop())
            open_nodes += plan.get_inputs()
            with suppress(NotImplementedError):  # a node without a Python form names no files
                found += getattr(plan.view_current_node(), "paths", ())
    return [Path(name.removeprefix("file://")) for name in found]


def _planning() -> AbstractContextManager[None]:
    return reading("The lazy frame", _explain_plan)


def _explain_plan(text: str) -> DataError | None:
    if "replace_strict" in text:
        return None
    return DataError("The lazy frame cannot be run; collect it by itself to see what is wrong with its plan.")
