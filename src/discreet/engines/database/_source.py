"""Tables of a database as a source: GROUP BY and mapping joins run in the database, rows are not fetched for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

import polars as pl
from polars.io.plugins import register_io_source

from discreet._places import TableName, TableUrl
from discreet.engines._forget import forget_buffers
from discreet.engines._guard import reading
from discreet.engines._names import unused
from discreet.engines._recoding import Recoding
from discreet.engines._weights import ADDED, HEAVIEST, MILLION, check_type
from discreet.engines.database._connect import connect
from discreet.engines.database._recode import Recoded, recode_query
from discreet.engines.database._session import Column, Session, quoted
from discreet.errors import DataError, MissingColumnError

__all__ = ["DatabaseSource", "count_rows", "lookups"]


class DatabaseSource:
    """A table or view of a database. Every question opens a connection of its own and closes it."""

    read_again = True
    takes_codes = False
    separator = None

    def __init__(self, url: TableUrl) -> None:
        self.url = url
        self.kind = url.database
        with connect(url) as session:
            self._columns = session.known_columns(url.table)
        self.columns = [column.name for column in self._columns]
        self.opaque = frozenset(column.name for column in self._columns if column.opaque)
        self._rows: int | None = None

    @property
    def name(self) -> str:
        """The name of the table, quoted for messages."""
        return f"'{self.url.table}'"

    def count(self, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations and how many rows have each."""
        with self.guard(), connect(self.url) as session:
            counted = count_rows(session, self.url.table, self._columns, by, weights)
        self._rows = int(counted.to_series(len(by)).sum())
        return counted

    def first(self, columns: Sequence[str], rows: int) -> pl.DataFrame:
        """Return so many rows of some columns."""
        known = {column.name: column for column in self._columns}
        keys = [f"{known[name].read(quoted(name))} AS c{place}" for place, name in enumerate(columns)]
        table = quoted(self.url.table.schema, self.url.table.name)
        types = {f"c{place}": known[name].dtype for place, name in enumerate(columns)}
        with self.guard(), connect(self.url) as session:
            found = session.fetch(f"SELECT {', '.join(keys)} FROM {table} LIMIT {rows}", types)
        found.columns = list(columns)
        return found

    def figures(self, columns: Sequence[str]) -> dict[str, tuple[int, int, int, int]]:
        """Return for each column the number of rows, of those without a value, of values, and of values of one row."""
        known = {column.name: column for column in self._columns}
        table = quoted(self.url.table.schema, self.url.table.name)
        types = dict.fromkeys(("n", "missing", "distinct", "alone"), pl.Int64())
        found = {}
        with self.guard(), connect(self.url) as session:
            for name in columns:
                sizes = f"SELECT {known[name].read(quoted(name))} AS c, COUNT(*) AS n FROM {table} GROUP BY 1"
                sums = [
                    f"CAST(COALESCE(SUM({figure}), 0) AS BIGINT) AS {key}"
                    for key, figure in zip(
                        ('"n"', '"missing"', '"distinct"', '"alone"'),
                        (
                            "n",
                            "CASE WHEN c IS NULL THEN n ELSE 0 END",
                            "CASE WHEN c IS NULL THEN 0 ELSE 1 END",
                            "CASE WHEN c IS NOT NULL AND n = 1 THEN 1 ELSE 0 END",
                        ),
                        strict=True,
                    )
                ]
                found[name] = session.fetch(f"SELECT {', '.join(sums)} FROM ({sizes}) AS sizes", types).row(0)
        return found

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> pl.LazyFrame:
        """Return a plan of polars that has the database recode the rows, and fetches them, when it is run."""
        with connect(self.url) as session:
            types = self.recoded(session, recoding).columns
        return self._plan(types, recoding)

    def scan(self) -> pl.LazyFrame:
        """Return the table as a plan that fetches its rows when it is run."""
        return self._plan({column.name: column.dtype for column in self._columns}, Recoding())

    def collect(self, released: pl.LazyFrame) -> pl.DataFrame:
        """Run the plan."""
        return forget_buffers(released.collect(engine="streaming"))

    def guard(self) -> AbstractContextManager[None]:
        """Turn errors of reading what the database sent into a DataError."""
        return reading(self.name)

    def check_unchanged(self, session: Session) -> None:
        """Refuse a table that has not the columns and the number of rows any more that it had when it was counted."""
        columns = [column.name for column in session.columns(self.url.table)]
        rows = count_rows(session, self.url.table, self._columns, []).item() if columns == self.columns else -1
        if columns != self.columns or (self._rows is not None and rows != self._rows):
            raise DataError(f"{self.name} changed while it was being read; run the job again.", topic="input-changed")

    def recoded(self, session: Session, recoding: Recoding, only: Sequence[str] | None = None) -> Recoded:
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
                with lookups(session, recoded):
                    for batch in session.stream(recoded.query, {name: types[name] for name in wanted}):
                        rows = batch if n_rows is None else batch.head(n_rows)
                        n_rows = None if n_rows is None else n_rows - rows.height
                        yield rows if predicate is None else rows.filter(predicate)
                        if n_rows == 0:
                            return

        return register_io_source(batches, schema=dict(types))


def count_rows(
    session: Session, table: TableName, columns: Sequence[Column], by: Sequence[str], weights: str | None = None
) -> pl.DataFrame:
    """Have the database group a table by some columns and count; missing values are null.

    What ``weights`` add up to comes after the rows.
    """
    known = {column.name: column for column in columns}
    for name in (*by, *([] if weights is None else [weights])):
        if name not in known:
            raise MissingColumnError(name, known)
    keys = [f"{known[name].read(quoted(name))} AS c{place}" for place, name in enumerate(by)]
    sums = {} if weights is None else _sums(session, known[weights])
    counts = ["COUNT(*) AS n", *(f"{sql} AS {name}" for name, sql in sums.items())]
    query = f"SELECT {', '.join([*keys, *counts])} FROM {quoted(table.schema, table.name)}"
    if by:
        query += f" GROUP BY {', '.join(str(place + 1) for place in range(len(by)))}"
    types = {name: pl.Int64() if name in ADDED[:2] else pl.Float64() for name in sums}
    counted = session.fetch(
        query, {**{f"c{place}": known[name].dtype for place, name in enumerate(by)}, "n": pl.Int64(), **types}
    )
    counted.columns = [*by, *(unused(name, by) for name in ("rows", *sums))]
    return counted


def _sums(session: Session, column: Column) -> dict[str, str]:
    """Return SQL for what the weights in a column add up to."""
    text = column.dtype == pl.String
    check_type(column.name, number=column.dtype.is_numeric(), text=text)
    value = column.read(quoted(column.name))
    number = session.as_number(value) if text else f"CAST({value} AS DOUBLE PRECISION)"
    valid = f"CASE WHEN {number} >= 0 AND {number} <= {HEAVIEST} THEN {number} END"
    millionths = session.whole(f"({valid}) * {float(MILLION)} + 0.5")
    sums = f"CAST(SUM({millionths}) AS BIGINT)", f"COUNT({millionths})", f"MIN({valid})", f"MAX({valid})"
    return dict(zip(ADDED, sums, strict=True))


@contextmanager
def lookups(session: Session, recoded: Recoded) -> Iterator[None]:
    """Have the small tables a query needs while it is run."""
    for name, rows in recoded.lookups.items():
        session.create(name, rows.schema, temporary=True)
        session.load(name, rows.lazy())
        session.analyze(name)
    yield
    for name in recoded.lookups:
        session.execute(f"DROP TABLE {name}")
