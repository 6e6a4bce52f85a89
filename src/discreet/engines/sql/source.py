"""A database table as a source: GROUP BY and joins run in the database, rows are fetched only for a release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

import polars as pl
from polars.io.plugins import register_io_source

from discreet.engines.column_profile import FETCHED, ColumnProfiles, countable, profile_rows
from discreet.engines.guards import reading
from discreet.engines.metadata import forget_buffers
from discreet.engines.people import check_marks
from discreet.engines.recoding import Recoding
from discreet.engines.sql.connect import connect
from discreet.engines.sql.count import count_marks, count_rows, count_values, first_rows
from discreet.engines.sql.recode import RecodeQuery, recode_query
from discreet.engines.sql.session import Session
from discreet.errors import DataError
from discreet.runtime.locations import TableUrl
from discreet.schema.identifying import ColumnFacts

__all__ = ["DatabaseSource"]


class DatabaseSource:
    """A table or view of a database. Every question opens a connection of its own and closes it."""

    read_again = True
    separator = None

    def __init__(self, url: TableUrl) -> None:
        self.url = url
        self.kind = url.database
        with connect(url) as session:
            self._columns = session.known_columns(url.table)
        self.columns = [column.name for column in self._columns]
        self._rows: int | None = None

    @property
    def name(self) -> str:
        """The name of the table, quoted for messages."""
        return f"'{self.url.table}'"

    def count(self, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations and the number of rows of each."""
        with self.guard(), connect(self.url) as session:
            counted = count_rows(session, self.url.table, self._columns, by, weights)
        self._rows = int(counted.to_series(len(by)).sum())
        return counted

    def number_people(self, columns: Sequence[str]) -> None:
        """Have every query number the values of some columns."""
        for column in self._columns:
            if column.name in columns and column.opaque:
                raise DataError(
                    f"Column '{column.name}' holds lists, records or bytes, which cannot be grouped; "
                    "turn it into text, numbers or dates first.",
                    column=column.name,
                )
        with self.guard(), connect(self.url) as session:
            for column in self._columns:
                if column.name in columns and column.number is None:
                    check_marks(column.name, count_marks(session, self.url.table, column))
        self._columns = [column.numbered() if column.name in columns else column for column in self._columns]

    def profile(self, columns: Sequence[str], beside: Sequence[str] = ()) -> ColumnProfiles:
        """Profile some columns: the database counts, and sends the first rows."""
        known = {column.name: column for column in self._columns}
        schema = {name: column.dtype for name, column in known.items() if not column.opaque}
        names = countable(schema, [name for name in columns if name in schema])
        shown = countable(schema, [name for name in dict.fromkeys([*names, *beside]) if name in schema])
        if not shown:
            return profile_rows(pl.DataFrame(), names)
        with self.guard(), connect(self.url) as session:
            sample = first_rows(session, self.url.table, [known[name] for name in shown], FETCHED + 1)
            if sample.height <= FETCHED:
                return profile_rows(sample, names)
            facts = {}
            for name in names:
                rows, missing, distinct, unique = count_values(session, self.url.table, known[name])
                values = sample[name].drop_nulls().unique()
                facts[name] = ColumnFacts(name, rows, missing, distinct, unique, values)
        return ColumnProfiles(facts, sample.head(FETCHED), whole=False)

    def with_codes(self, recoding: Recoding) -> Recoding:
        """Return the recoding as it is: databases take no Enum."""
        return recoding

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> pl.LazyFrame:
        """Return a polars plan that, when run, has the database recode the rows and fetches them."""
        with connect(self.url) as session:
            types = self.recoded(session, recoding).columns
        return self._plan(types, recoding)

    def scan(self) -> pl.LazyFrame:
        """Return the table as a polars plan that fetches its rows when it is run."""
        return self._plan({column.name: column.dtype for column in self._columns}, Recoding())

    def collect(self, released: pl.LazyFrame) -> pl.DataFrame:
        """Run the plan."""
        return forget_buffers(released.collect(engine="streaming"))

    def guard(self) -> AbstractContextManager[None]:
        """Translate errors of reading what the database sent."""
        return reading(self.name)

    def check_unchanged(self, session: Session) -> None:
        """Refuse a table whose columns or number of rows changed since it was counted."""
        columns = [column.name for column in session.columns(self.url.table)]
        rows = count_rows(session, self.url.table, self._columns, []).item() if columns == self.columns else -1
        if columns != self.columns or (self._rows is not None and rows != self._rows):
            raise DataError(f"{self.name} changed while it was being read; run the job again.", topic="input-changed")

    def recoded(self, session: Session, recoding: Recoding, only: Sequence[str] | None = None) -> RecodeQuery:
        """Return the query that carries out a recoding of the table."""
        return recode_query(session, self.url.table, self._columns, recoding, only=only)

    def _plan(self, types: Mapping[str, pl.DataType], recoding: Recoding) -> pl.LazyFrame:
        def batches(
            with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _: int | None
        ) -> Iterator[pl.DataFrame]:
            wanted = list(types) if with_columns is None else with_columns
            with connect(self.url) as session:
                self.check_unchanged(session)
                recoded = self.recoded(session, recoding, wanted)
                with recoded.with_tables(session):
                    for batch in session.stream(recoded.query, {name: types[name] for name in wanted}):
                        rows = batch if n_rows is None else batch.head(n_rows)
                        n_rows = None if n_rows is None else n_rows - rows.height
                        yield rows if predicate is None else rows.filter(predicate)
                        if n_rows == 0:
                            return

        return register_io_source(batches, schema=dict(types))
