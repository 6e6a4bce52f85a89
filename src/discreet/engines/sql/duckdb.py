"""Tables in DuckDB files; rows are exchanged as Arrow.

A relation keeps its connection open, and DuckDB refuses a second connection that differs in being able to write. So a
table given by URL is not opened as a relation: like other databases, it gets a new connection for each question.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl

from discreet.engines.relation.duckdb import hash_order
from discreet.engines.sql.session import DatabaseColumn, Session, quoted
from discreet.errors import DataError, DiscreetError, OutputError, UsageError
from discreet.runtime.locations import TableName, TableUrl
from discreet.runtime.private_folders import private_folder

__all__ = ["DuckdbSession", "connect"]

_ROWS = 100_000

_TYPES: Mapping[str, pl.DataType] = {
    "BOOLEAN": pl.Boolean(),
    "TINYINT": pl.Int8(),
    "SMALLINT": pl.Int16(),
    "INTEGER": pl.Int32(),
    "BIGINT": pl.Int64(),
    "UTINYINT": pl.UInt8(),
    "USMALLINT": pl.UInt16(),
    "UINTEGER": pl.UInt32(),
    "UBIGINT": pl.UInt64(),
    "HUGEINT": pl.Decimal(38, 0),
    "FLOAT": pl.Float32(),
    "DOUBLE": pl.Float64(),
    "VARCHAR": pl.String(),
    "DATE": pl.Date(),
    "TIME": pl.Time(),
    "TIMESTAMP": pl.Datetime("us"),
    "TIMESTAMP WITH TIME ZONE": pl.Datetime("us", "UTC"),
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}


@contextmanager
def connect(url: TableUrl, *, write: bool = False) -> Iterator[DuckdbSession]:
    """Open the file, and translate errors of the database."""
    if importlib.util.find_spec("duckdb") is None or importlib.util.find_spec("pyarrow") is None:
        raise UsageError(
            "To open DuckDB files, install the extra: pip install 'discreet[duckdb]'.", topic="missing-extra"
        )
    import duckdb

    path = Path(url.path or "")
    if not write and not path.is_file():
        raise DataError(f"There is no database '{path}'.", topic="no-such-file")
    try:
        with private_folder() as folder, closing(duckdb.connect(str(path), read_only=not write)) as connection:
            session = DuckdbSession(url, connection)
            session.execute(
                f"SET temp_directory = {_text(str(folder))}"
            )  # what does not fit into memory is spilled there
            session.execute("SET TimeZone = 'UTC'")
            yield session
    except duckdb.Error as error:
        raise _explained(url, error, write) from None


class DuckdbSession(Session):
    """A connection to a DuckDB file."""

    def __init__(self, url: TableUrl, connection: Any) -> None:
        super().__init__(url)
        self.connection = connection

    def columns(self, table: TableName) -> list[DatabaseColumn]:
        """Return the columns."""
        found = self._rows(
            "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = current_database() "
            f"AND lower(table_name) = lower({_text(table.name)}) AND {_in_schema(table)} ORDER BY column_index"
        )
        return [_column(name, type_name) for name, type_name in found]

    def tables(self) -> list[str]:
        """Return the names of tables and views."""
        found = self._rows(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = current_database()"
        )
        return [str(TableName(name, None if schema == "main" else schema)) for schema, name in found]

    def position(self, table: TableName) -> str | None:
        """Return the row id, unless a column has its name."""
        taken = any(column.name.lower() == "rowid" for column in self.columns(table))
        return None if taken or not self.is_table(table) else "rowid"

    def is_table(self, table: TableName) -> bool:
        """Whether this is not a view."""
        found = self._rows(
            "SELECT 1 FROM duckdb_tables() WHERE database_name = current_database() "
            f"AND lower(table_name) = lower({_text(table.name)}) AND {_in_schema(table)}"
        )
        return bool(found)

    def identities(self, table: TableName, *, alone: bool = False) -> set[tuple[str, ...]]:
        """Return schema and name of the table and of those a view scans, according to the query plan."""
        own = ((table.schema or "main").casefold(), table.name.casefold())
        if alone or not self.columns(table):
            return {own}
        plan = self._rows(f"EXPLAIN (FORMAT json) SELECT * FROM {quoted(table.schema, table.name)}")
        names = [json.loads(name) for name in re.findall(r'"Table": ("(?:[^"\\]|\\.)*")', str(plan[0][1]))]
        return {own, *(tuple(name.casefold().split(".")[-2:]) for name in names)}

    def execute(self, statement: str) -> None:
        """Run a statement."""
        self.connection.execute(statement).fetchall()

    def stream(self, query: str, schema: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """Yield the rows of a query."""
        reader = self.connection.sql(query).to_arrow_reader(_ROWS)
        for batch in reader:
            yield pl.DataFrame(batch).rename(dict(zip(batch.schema.names, schema, strict=True))).cast(pl.Schema(schema))

    def type_of(self, column: str, dtype: pl.DataType) -> str:
        """Return the SQL type."""
        if isinstance(dtype, pl.Decimal):
            return f"DECIMAL({dtype.precision or 38}, {dtype.scale})"
        if isinstance(dtype, pl.Datetime):
            return "TIMESTAMP WITH TIME ZONE" if dtype.time_zone else "TIMESTAMP"
        if isinstance(dtype, pl.Categorical | pl.Enum) or dtype == pl.Null:
            return "VARCHAR"
        if dtype == pl.Int128:
            return "HUGEINT"
        if dtype not in _NAMES:
            raise self.refused(column, "lists, records, bytes or durations")
        return _NAMES[dtype]

    def load(self, table: str, frame: pl.LazyFrame) -> None:
        """Add rows."""
        name = "discreet_batch"
        plain = frame.cast({pl.Categorical: pl.String, pl.Enum: pl.String, pl.Null: pl.String})
        plain = plain.cast({pl.Int128: pl.Decimal(38, 0)})  # Arrow has no whole numbers of 128 bits
        for batch in plain.collect_batches(chunk_size=_ROWS, engine="streaming"):
            self.connection.register(name, batch.to_arrow())
            self.execute(f"INSERT INTO {table} SELECT * FROM {name}")
            self.connection.unregister(name)

    def as_number(self, text: str) -> str:
        """Cast what can be cast."""
        return f"TRY_CAST({text} AS DOUBLE)"

    def shuffled(self, query: str, columns: Mapping[str, pl.DataType], key: int) -> str:
        """Sort by DuckDB's own hash."""
        types = ((name, "DOUBLE" if dtype.is_float() else "") for name, dtype in columns.items())
        return f"SELECT * FROM ({query}) ORDER BY {hash_order(types, key)}"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Begin, and commit or roll back."""
        self.execute("BEGIN TRANSACTION")
        try:
            yield
        except BaseException:
            self.execute("ROLLBACK")
            raise
        self._keep_log_private()
        self.execute("COMMIT")

    def _keep_log_private(self) -> None:
        """Create the write-ahead log with the mode of the database; DuckDB would make it readable to others."""
        path = Path(self.connection.execute("SELECT path FROM duckdb_databases() WHERE NOT internal").fetchall()[0][0])
        with suppress(FileExistsError):
            mode = stat.S_IMODE(path.stat().st_mode)
            os.close(os.open(path.with_name(path.name + ".wal"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))

    def rename(self, old: TableName, new: TableName) -> None:
        """Rename a table."""
        self.execute(f"ALTER TABLE {quoted(old.schema, old.name)} RENAME TO {quoted(new.name)}")

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return list(self.connection.execute(query).fetchall())


def _column(name: str, type_name: str) -> DatabaseColumn:
    dtype = _TYPES.get(type_name)
    if dtype is not None and dtype.is_float():
        return DatabaseColumn(name, dtype, f"NULLIF({{}}, 'NaN'::{type_name}) + 0::{type_name}", exact=False)
    if dtype == pl.String:
        return DatabaseColumn(name, pl.String(), "{} COLLATE C")
    if dtype is not None:
        return DatabaseColumn(name, dtype)
    decimal = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", type_name)
    if decimal is not None:
        return DatabaseColumn(name, pl.Decimal(int(decimal[1]), int(decimal[2])))
    opaque = type_name.endswith("]") or type_name.startswith(("STRUCT", "MAP", "UNION", "BLOB", "BIT", "JSON"))
    forgets = type_name.startswith("ENUM")
    return DatabaseColumn(name, pl.String(), "CAST({} AS VARCHAR)", exact=False, forgets=forgets, opaque=opaque)


def _in_schema(table: TableName) -> str:
    schema = "current_schema()" if table.schema is None else _text(table.schema)
    return f"lower(schema_name) = lower({schema})"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _explained(url: TableUrl, error: Exception, write: bool) -> DiscreetError:
    import duckdb

    text = str(error)
    kind = OutputError if write else DataError
    if "not a valid DuckDB" in text or "corrupt" in text:
        return kind(f"{url.where} is damaged or no DuckDB file.")
    if "lock" in text or "different configuration" in text:
        return kind(f"{url.where} is in use by another program or connection; close it there first.")
    if "No space left" in text:
        return kind(f"The disk is full: '{url.table}' was not written, and nothing was left behind; free some space.")
    if isinstance(error, duckdb.DependencyException):
        return kind(f"The table '{url.table}' cannot be replaced, because others depend on it; write to another name.")
    if isinstance(error, duckdb.OutOfMemoryException):
        return kind("DuckDB ran out of memory.")
    if isinstance(error, duckdb.IOException | duckdb.PermissionException):
        verb = "written to" if write else "read"
        return kind(f"{url.where} cannot be {verb}; the permission or its folder is missing.")
    if "schema" in text.lower() and "does not exist" in text:
        return kind(f"There is no schema '{url.table.schema}' in {url.where}; make it first.")
    return kind(f"DuckDB could not complete the operation on {url.where} ({type(error).__name__}).")
