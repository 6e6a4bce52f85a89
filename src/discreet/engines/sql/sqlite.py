"""Tables in SQLite files. In SQLite each value has a type of its own; that of a column is only a preference."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import polars as pl

from discreet.engines.format_limits import is_plain
from discreet.engines.sql.session import DatabaseColumn, Session, quoted
from discreet.errors import DataError, DiscreetError, OutputError
from discreet.runtime.locations import TableName, TableUrl

__all__ = ["SqliteSession", "connect"]

_ROWS = 50_000
_ARGUMENTS = 50
"""Columns hashed at once; some builds of SQLite take no more than 100 arguments."""
_PATIENCE = 10.0
"""Seconds to wait for other writers."""


@contextmanager
def connect(url: TableUrl, *, write: bool = False) -> Iterator[SqliteSession]:
    """Open the file, and translate errors of the database."""
    path = Path(url.path or "")
    if not write and not path.is_file():
        raise DataError(f"There is no database '{path}'.", topic="no-such-file")
    # A reader must be able to roll back what a killed program had begun.
    mode = "rwc" if write else "rw" if os.access(path, os.W_OK) else "ro"
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            timeout=_PATIENCE,
            check_same_thread=False,  # polars fetches from threads of its own, one at a time
        )
        try:
            connection.execute("PRAGMA temp_store = MEMORY")  # no data in temporary files
            yield SqliteSession(url, connection)
        finally:
            connection.close()
    except (sqlite3.Error, OverflowError) as error:
        raise _explained(url, error, write) from None


class SqliteSession(Session):
    """A connection to a SQLite file."""

    def __init__(self, url: TableUrl, connection: sqlite3.Connection) -> None:
        super().__init__(url)
        self.connection = connection

    def columns(self, table: TableName) -> list[DatabaseColumn]:
        """Return the columns; each has the common type of its values."""
        if table.schema not in (None, "main", "temp"):
            return []
        names = [str(row[1]) for row in self._rows(f"PRAGMA {self._schema(table)}table_xinfo({quoted(table.name)})")]
        if not names:
            return []
        kinds = ", ".join(f"typeof({quoted(name)})" for name in names)
        found = self._rows(f"SELECT DISTINCT {kinds} FROM {quoted(table.schema, table.name)}")
        return [_column(name, {row[number] for row in found}) for number, name in enumerate(names)]

    def tables(self) -> list[str]:
        """Return the names of tables and views."""
        found = self._rows(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        )
        return [str(TableName(name)) for (name,) in found]

    def position(self, table: TableName) -> str | None:
        """Return the row id, unless all its names are taken or the table has none."""
        if not self.is_table(table):
            return None
        taken = {str(row[1]).lower() for row in self._rows(f"PRAGMA table_xinfo({quoted(table.name)})")}
        name = next((name for name in ("rowid", "_rowid_", "oid") if name not in taken), None)
        if name is None:
            return None
        try:
            self._rows(f"SELECT {name} FROM {quoted(table.schema, table.name)} LIMIT 0")
        except sqlite3.OperationalError:
            return None
        return name

    def is_table(self, table: TableName) -> bool:
        """Whether this is not a view."""
        found = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)"
        return bool(self.connection.execute(found, [table.name]).fetchone()[0])

    def identities(self, table: TableName, *, alone: bool = False) -> set[tuple[str, ...]]:
        """Return the names of the table and of those a view reads, reported by SQLite while it prepares a query."""
        found: set[tuple[str, ...]] = {(table.name.casefold(),)}
        if alone:
            return found

        def seen(action: int, name: str | None, *_: Any) -> int:
            if action == sqlite3.SQLITE_READ and name:
                found.add((name.casefold(),))
            return sqlite3.SQLITE_OK

        self.connection.set_authorizer(seen)
        try:
            self._rows(f"SELECT * FROM {quoted(table.schema, table.name)} LIMIT 0")
        except sqlite3.OperationalError:
            return set()
        finally:
            self.connection.set_authorizer(None)
        return found

    def execute(self, statement: str) -> None:
        """Run a statement."""
        self.connection.execute(statement)

    def stream(self, query: str, schema: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """Yield the rows of a query."""
        cursor = self.connection.execute(query)
        while rows := cursor.fetchmany(_ROWS):
            try:
                yield pl.DataFrame(rows, schema=dict(schema), orient="row", strict=True)
            except (TypeError, pl.exceptions.PolarsError):
                raise DataError(
                    f"The table '{self.url.table}' changed while it was being read; run the job again.",
                    topic="input-changed",
                ) from None

    def type_of(self, column: str, dtype: pl.DataType) -> str:
        """Return the preferred type of a column; decimals are stored as text, which loses nothing."""
        if dtype.is_integer() or dtype == pl.Boolean:
            return "INTEGER"
        if dtype.is_float():
            return "REAL"
        if not is_plain(dtype):
            raise self.refused(column, "lists, records, bytes or durations")
        return {pl.Date: "DATE", pl.Datetime: "TIMESTAMP"}.get(type(dtype), "TEXT")

    def load(self, table: str, frame: pl.LazyFrame) -> None:
        """Add rows; dates and times become ISO text."""
        schema = frame.collect_schema()
        texts = [
            pl.nth(number).cast(pl.String)
            for number, dtype in enumerate(schema.dtypes())
            if not (dtype.is_integer() or dtype.is_float() or dtype == pl.Boolean)
        ]
        marks = ", ".join("?" * len(schema))
        wide = [name for name, dtype in schema.items() if dtype in (pl.UInt64, pl.Int128, pl.UInt128)]
        for batch in frame.with_columns(texts).collect_batches(chunk_size=_ROWS, engine="streaming"):
            for column in wide:
                if batch[column].cast(pl.Int64, strict=False).null_count() > batch[column].null_count():
                    raise self.refused(column, "whole numbers of more than 64 bits")
            self.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", batch.rows())

    def as_number(self, text: str) -> str:
        """Cast text of digits and at most one point; SQLite would cast the start of any text."""
        plain = f"trim({text})"
        digits = f"{plain} NOT GLOB '*[^0-9.]*' AND {plain} GLOB '*[0-9]*' AND {plain} NOT LIKE '%.%.%'"
        return f"CASE WHEN {digits} THEN CAST({plain} AS REAL) END"

    def whole(self, number: str) -> str:
        """Truncate; not every SQLite has FLOOR."""
        return f"CAST({number} AS INTEGER)"

    def shuffled(self, query: str, columns: Mapping[str, pl.DataType], key: int) -> str:
        """Sort by a hash of our own, as SQLite has none; the rows are sorted in memory."""
        self.connection.create_function("discreet_hash", -1, _hash, deterministic=True)
        names = [f"r.{quoted(name)}" for name in columns]
        order = str(key)
        for start in range(0, len(names), _ARGUMENTS):
            order = f"discreet_hash({', '.join([order, *names[start : start + _ARGUMENTS]])})"
        return f"SELECT * FROM ({query}) AS r ORDER BY {order}"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Begin, and commit or roll back; others can read meanwhile."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        finally:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def analyze(self, table: str) -> None:
        """Index a table by its columns, keys first: SQLite does not always build an index for a join."""
        names = ", ".join(quoted(str(row[1])) for row in self._rows(f"PRAGMA table_info({table})"))
        self.execute(f"CREATE INDEX temp.{table}_index ON {table} ({names})")

    def rename(self, old: TableName, new: TableName) -> None:
        """Rename a table."""
        self.execute(f"ALTER TABLE {quoted(old.schema, old.name)} RENAME TO {quoted(new.name)}")

    def _schema(self, table: TableName) -> str:
        return "" if table.schema is None else f"{quoted(table.schema)}."

    def _rows(self, query: str) -> list[tuple[str, ...]]:
        return self.connection.execute(query).fetchall()


def _hash(*values: Any) -> int:
    """Return 64 bits that depend on all values and their types."""
    return int.from_bytes(blake2b(repr(values).encode(errors="surrogatepass"), digest_size=8).digest(), signed=True)


def _column(name: str, types: set[str]) -> DatabaseColumn:
    kinds = types - {"null"}
    if kinds and kinds <= {"integer"}:
        return DatabaseColumn(name, pl.Int64())
    if kinds and kinds <= {"integer", "real"}:
        return DatabaseColumn(name, pl.Float64(), "CAST({} AS REAL) + 0.0", exact=False)
    if kinds <= {"text"}:
        return DatabaseColumn(name, pl.String(), "CAST({} AS TEXT) COLLATE BINARY")
    text = "CASE typeof({0}) WHEN 'blob' THEN hex({0}) ELSE CAST({0} AS TEXT) END"
    return DatabaseColumn(name, pl.String(), text, exact=False, opaque="blob" in kinds)


def _explained(url: TableUrl, error: Exception, write: bool) -> DiscreetError:
    text = str(error)
    kind = OutputError if write else DataError
    if isinstance(error, OverflowError):
        return OutputError("A whole number is larger than SQLite can hold; turn its column into text first.")
    if "unknown database" in text:
        return kind(f"There is no schema '{url.table.schema}' in {url.where}; leave it out.")
    if "not a database" in text or "malformed" in text:
        return kind(f"{url.where} is damaged or no SQLite file.")
    if "locked" in text or "busy" in text:
        return kind(f"{url.where} is in use by another program; wait until it is done, or close it.")
    if "readonly" in text or "unable to open" in text or "permission" in text:
        return kind(
            f"{url.where} cannot be {'written to' if write else 'read'}; the permission or its folder is missing."
        )
    if "full" in text:
        return kind(f"The disk is full: '{url.table}' was not written, and nothing was left behind; free some space.")
    return kind(f"SQLite could not complete the operation on {url.where} ({type(error).__name__}).")
