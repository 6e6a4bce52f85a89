"""Tables of SQLite, DuckDB and PostgreSQL, grouped by one SELECT … GROUP BY in plain SQL."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from discreet.errors import DataError, DiscreetError, MissingColumnError, UsageError, did_you_mean
from discreet.pipeline.audit.relations import DuckdbTable, quoted
from discreet.pipeline.audit.values import comparable
from discreet.pipeline.audit.weights import check_weights, sql_sums
from discreet.runtime.locations import TableName, TableUrl
from discreet.runtime.private_folders import private_folder

__all__ = ["ReleasedTable", "UrlTable"]

_ROWS = 50_000
_PATIENCE = 10.0
"""Seconds to wait while others write to the same SQLite file."""
_SETTINGS = "-c timezone=UTC -c datestyle=ISO -c extra_float_digits=1 -c jit=off"
_POSTGRES: Mapping[str, pl.DataType] = {
    "boolean": pl.Boolean(),
    "smallint": pl.Int16(),
    "integer": pl.Int32(),
    "bigint": pl.Int64(),
    "real": pl.Float32(),
    "double precision": pl.Float64(),
    "date": pl.Date(),
    "time without time zone": pl.Time(),
    "timestamp without time zone": pl.Datetime("us"),
    "timestamp with time zone": pl.Datetime("us", "UTC"),
}


@dataclass(frozen=True)
class ReleasedTable:
    """A table of a database on an open connection; others may not see it yet."""

    database: str
    connection: Any
    table: TableName
    layout: str | None = None

    @property
    def kind(self) -> str:
        """The kind of database."""
        return self.database

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns; none if there is no such table."""
        if self.database == "sqlite":
            return list(_sqlite_columns(self.connection, self.table))
        if self.database == "postgresql":
            return list(_postgres_columns(self.connection, self.table))
        return list(map(str, self._relation.columns))

    def groups(self, by: Mapping[str, str], weights: str | None = None) -> pl.DataFrame:
        """Have the database group the rows."""
        for column in (*by.values(), *([] if weights is None else [weights])):
            if column not in self.columns:
                raise MissingColumnError(column, self.columns)
        if self.database == "sqlite":
            return _group_sqlite(self.connection, self.table, by, weights)
        if self.database == "postgresql":
            return _group_postgres(self.connection, self.table, by, weights)
        return DuckdbTable(self._relation).groups(by, weights)

    @cached_property
    def _relation(self) -> Any:
        return self.connection.sql(f"SELECT * FROM {_from(self.table)}")


class UrlTable:
    """A table given by its URL; every grouping opens a connection of its own."""

    layout: str | None = None

    def __init__(self, url: TableUrl) -> None:
        self.url = url
        self.kind = url.database
        with _connect(url) as connection:
            self.columns = self._opened(connection).columns

    def groups(self, by: Mapping[str, str], weights: str | None = None) -> pl.DataFrame:
        """Have the database group the rows."""
        with _connect(self.url) as connection:
            return self._opened(connection).groups(by, weights)

    def _opened(self, connection: Any) -> ReleasedTable:
        known = _tables(self.url.database, connection)
        table = self.url.table
        if not any(_same_table(self.url.database, table, schema, name, seen) for schema, name, seen in known):
            names = [str(TableName(name, None if seen else schema)) for schema, name, seen in known]
            hint = did_you_mean(str(table), names) or "check the name, and its schema if it has one."
            raise DataError(f"There is no table '{table}' in {self.url.where}; {hint}", topic="no-such-file")
        return ReleasedTable(self.url.database, connection, table)


def _from(table: TableName) -> str:
    return ".".join(quoted(part) for part in (table.schema, table.name) if part is not None)


def _same_table(database: str, table: TableName, schema: str, name: str, seen: bool) -> bool:
    """Whether an existing table is the wanted one; without a schema, it must be on the search path (``seen``)."""
    if database != "postgresql":
        table = TableName(table.name.lower(), None if table.schema is None else table.schema.lower())
        schema, name = schema.lower(), name.lower()
    return name == table.name and (seen if table.schema is None else schema == table.schema)


def _tables(database: str, connection: Any) -> list[tuple[str, str, bool]]:
    """Return schema and name of all tables and views, and whether they are found without the schema."""
    queries = {
        "sqlite": "SELECT 'main', name, 1 FROM sqlite_master WHERE type IN ('table', 'view')",
        "duckdb": "SELECT table_schema, table_name, table_schema = current_schema() FROM information_schema.tables "
        "WHERE table_catalog = current_database()",
        "postgresql": "SELECT nspname, relname, pg_table_is_visible(pg_class.oid) FROM pg_class "
        "JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relkind IN ('r', 'p', 'v', 'm', 'f') "
        "AND nspname NOT IN ('pg_catalog', 'information_schema')",
    }
    return [(row[0], row[1], bool(row[2])) for row in connection.execute(queries[database]).fetchall()]


def _sqlite_columns(connection: sqlite3.Connection, table: TableName) -> list[str]:
    schema = "" if table.schema is None else f"{quoted(table.schema)}."
    return [str(row[1]) for row in connection.execute(f"PRAGMA {schema}table_xinfo({quoted(table.name)})")]


def _group_sqlite(
    connection: sqlite3.Connection, table: TableName, by: Mapping[str, str], weights: str | None
) -> pl.DataFrame:
    """Group in SQLite, whose columns may mix types: a column gets the type that holds all its values."""
    keys = [f"{quoted(column)} COLLATE BINARY" for column in by.values()]
    sums = {"rows": "COUNT(*)"}
    if weights is not None:
        text = f"trim({quoted(weights)})"
        digits = f"{text} NOT GLOB '*[^0-9.]*' AND {text} GLOB '*[0-9]*' AND {text} NOT LIKE '%.%.%'"
        written = f"CASE WHEN {digits} THEN CAST({text} AS REAL) END"
        name = quoted(weights)
        number = f"CASE typeof({name}) WHEN 'text' THEN {written} WHEN 'blob' THEN NULL ELSE {name} END"
        sums |= sql_sums(f"({number})", "CAST({} AS INTEGER) * 1.0")
    order = ", ".join(str(i) for i in range(1, len(by) + 1))
    cursor = connection.execute(f"SELECT {', '.join([*keys, *sums.values()])} FROM {_from(table)} GROUP BY {order}")
    names, batches = [*by, *sums], []
    while rows := cursor.fetchmany(_ROWS):
        columns = zip(names, zip(*rows, strict=True), strict=True)
        batches.append(pl.DataFrame([_sqlite_values(name, values) for name, values in columns]))
    types = {name: _common([batch.schema[name] for batch in batches]) for name in names}
    types["rows"] = pl.Int64()
    cells = pl.concat([pl.DataFrame(schema=types), *(batch.cast(pl.Schema(types)) for batch in batches)])
    same = [comparable(name, cells.schema[name]).alias(name) for name in by]  # 1 and '1' are the same text
    return cells.with_columns(same).group_by(list(by)).agg(pl.exclude(list(by)).sum())


def _sqlite_values(name: str, values: tuple[Any, ...]) -> pl.Series:
    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {int}:
        return pl.Series(name, values, dtype=pl.Int64 if kinds else pl.Null)
    if kinds <= {int, float}:
        return pl.Series(name, [None if value is None else float(value) for value in values], dtype=pl.Float64)
    texts = (value.hex().upper() if isinstance(value, bytes) else value for value in values)
    return pl.Series(name, [None if text is None else str(text) for text in texts], dtype=pl.String)


def _common(types: list[pl.DataType]) -> pl.DataType:
    kinds = {*types} - {pl.Null()}
    if not kinds:
        return pl.String()
    if len(kinds) == 1:
        return kinds.pop()
    return pl.Float64() if pl.String() not in kinds else pl.String()


def _postgres_columns(connection: Any, table: TableName) -> dict[str, tuple[str, str]]:
    """Return the type of each column, without and with its size."""
    found = connection.execute(
        "SELECT attname, format_type(atttypid, NULL), format_type(atttypid, atttypmod) FROM pg_attribute "
        "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        (_from(table),),
    )
    return {name: (plain, full) for name, plain, full in found.fetchall()}


def _group_postgres(connection: Any, table: TableName, by: Mapping[str, str], weights: str | None) -> pl.DataFrame:
    types = _postgres_columns(connection, table)
    keys = {name: _postgres_key(column, *types[column]) for name, column in by.items()}
    sums = {"rows": "COUNT(*)"}
    if weights is not None:
        sums |= sql_sums(_postgres_number(weights, types[weights][0]))
        sums["millionths"] = f"CAST({sums['millionths']} AS double precision)"
    order = ", ".join(str(i) for i in range(1, len(by) + 1))
    wanted = ", ".join([*(sql for sql, _ in keys.values()), *sums.values()])
    schema: dict[str, Any] = {name: dtype for name, (_, dtype) in keys.items()}
    schema |= {name: pl.Float64() if name == "millionths" else pl.Int64() for name in sums}
    cursor = connection.execute(f"SELECT {wanted} FROM {_from(table)} GROUP BY {order}")
    batches = [pl.DataFrame(schema=schema)]
    while rows := cursor.fetchmany(_ROWS):
        batches.append(pl.DataFrame(rows, schema=schema, orient="row"))
    return pl.concat(batches)


def _postgres_key(column: str, plain: str, full: str) -> tuple[str, pl.DataType]:
    """Return SQL for the comparable values of a column, and their type."""
    name, dtype = quoted(column), _POSTGRES.get(plain)
    if dtype is not None and dtype.is_float():
        return f"{name} + 0::{plain}", dtype
    if dtype is not None:
        return name, dtype
    size = re.fullmatch(r"numeric\((\d+),(\d+)\)", full)
    if size is not None and int(size[2]) <= int(size[1]) <= 38:
        return f"NULLIF({name}, 'NaN'::numeric)", pl.Decimal(int(size[1]), int(size[2]))
    if plain == "numeric":
        return f"CAST(trim_scale(NULLIF({name}, 'NaN'::numeric)) AS text)", pl.String()
    return f'CAST({name} AS text) COLLATE "C"', pl.String()


def _postgres_number(column: str, plain: str) -> str:
    name = quoted(column)
    if plain in ("smallint", "integer", "bigint", "real", "double precision", "numeric"):
        return f"CAST({name} AS double precision)"
    check_weights(column, usable=plain in ("text", "character varying", "character"))
    written = "^\\s*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\\s*$"
    return f"(CASE WHEN {name} ~ '{written}' THEN CAST({name} AS double precision) END)"


@contextmanager
def _connect(url: TableUrl) -> Iterator[Any]:
    """Open a database to read; errors become one sentence, which never holds the password."""
    opened = {"sqlite": _open_sqlite, "duckdb": _open_duckdb, "postgresql": _open_postgres}[url.database]
    if url.path is not None and not url.path.is_file():
        raise DataError(f"There is no database '{url.path}'.", topic="no-such-file")
    with opened(url) as connection:
        yield connection


@contextmanager
def _open_sqlite(url: TableUrl) -> Iterator[Any]:
    path = Path(url.path or "")
    mode = "rw" if os.access(path, os.W_OK) else "ro"  # reading after a crash may have to roll back
    try:
        location = f"{path.resolve().as_uri()}?mode={mode}"
        with closing(sqlite3.connect(location, uri=True, isolation_level=None, timeout=_PATIENCE)) as connection:
            connection.execute("PRAGMA temp_store = MEMORY")  # so that no value gets into a temporary file
            yield connection
    except (sqlite3.Error, OverflowError) as error:
        raise _explained(url, str(error)) from None


@contextmanager
def _open_duckdb(url: TableUrl) -> Iterator[Any]:
    if importlib.util.find_spec("duckdb") is None or importlib.util.find_spec("pyarrow") is None:
        raise UsageError(
            "To open DuckDB files, install the extra: pip install 'discreet[duckdb]'.", topic="missing-extra"
        )
    import duckdb

    try:
        with private_folder() as folder, closing(duckdb.connect(str(url.path), read_only=True)) as connection:
            quoted_folder = str(folder).replace("'", "''")
            connection.execute(f"SET temp_directory = '{quoted_folder}'")
            connection.execute("SET TimeZone = 'UTC'")
            yield connection
    except duckdb.Error as error:
        raise _explained(url, str(error)) from None


@contextmanager
def _open_postgres(url: TableUrl) -> Iterator[Any]:
    if importlib.util.find_spec("psycopg") is None:
        raise UsageError(
            "To reach PostgreSQL, install the extra: pip install 'discreet[postgres]'.", topic="missing-extra"
        )
    import psycopg

    where = {"host": url.host, "port": url.port, "user": url.user, "password": url.password, "dbname": url.name}
    given = dict(url.options)
    settings: dict[str, Any] = {**where, "application_name": "discreet", **given}
    settings["options"] = f"{given.get('options', '')} {_SETTINGS}".strip()
    unknown = UsageError(f"PostgreSQL does not know one of these settings of the URL: {', '.join(given)}; correct it.")
    if not given.keys().isdisjoint(inspect.signature(psycopg.connect).parameters):  # which Python would take
        raise unknown
    try:
        with psycopg.connect(autocommit=True, **{key: value for key, value in settings.items() if value}) as connection:
            yield connection
    except psycopg.Error as error:
        raise unknown if "invalid connection option" in str(error) else _explained(url, str(error)) from None


def _explained(url: TableUrl, text: str) -> DiscreetError:
    if "not a database" in text or "malformed" in text or "not a valid DuckDB" in text or "corrupt" in text:
        return DataError(f"{url.where} is damaged or no {_NAMES[url.database]} file.")
    if "lock" in text or "busy" in text or "different configuration" in text:
        return DataError(f"{url.where} is in use by another program; wait until it is done, or close it.")
    if "permission denied" in text.lower() or "unable to open" in text:
        return DataError(f"{url.where} or its table '{url.table}' cannot be read; the permission is missing.")
    if "password" in text:
        return DataError(
            f"The server of {url.where} refused the password of '{url.user}'; set PGPASSWORD or ~/.pgpass."
        )
    if "infinity" in text or "year" in text:
        return DataError(
            "A date or time is infinite or lies before the year 1; turn its column into text in a view, and read that."
        )
    if "connection" in text:
        return DataError(f"The server of {url.where} cannot be reached; check that it runs, and its host and port.")
    return DataError(f"{_NAMES[url.database]} could not read '{url.table}' in {url.where}.")


_NAMES = {"sqlite": "SQLite", "duckdb": "DuckDB", "postgresql": "PostgreSQL"}
