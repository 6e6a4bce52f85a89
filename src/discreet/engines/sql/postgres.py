"""PostgreSQL tables, through psycopg; rows are exchanged by COPY, as CSV that polars reads and writes."""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import polars as pl

from discreet.engines.sql.session import DatabaseColumn, Session, quoted
from discreet.errors import DataError, DiscreetError, OutputError, UsageError
from discreet.runtime.locations import TableName, TableUrl

__all__ = ["PostgresSession", "connect"]

_BYTES = 1 << 22
_LONGEST_NAME = 63

_TYPES: Mapping[str, pl.DataType] = {
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
_NAMES: Mapping[pl.DataType, str] = {
    **{dtype: name for name, dtype in _TYPES.items()},
    pl.Int8(): "smallint",
    pl.UInt8(): "smallint",
    pl.UInt16(): "integer",
    pl.UInt32(): "bigint",
    pl.UInt64(): "numeric(20, 0)",
    pl.Int128(): "numeric(39, 0)",
    pl.String(): "text",
    pl.Null(): "text",
}
_SETTINGS = "-c timezone=UTC -c datestyle=ISO -c intervalstyle=iso_8601 -c extra_float_digits=1 -c jit=off"


@contextmanager
def connect(url: TableUrl, *, write: bool = False) -> Iterator[PostgresSession]:
    """Connect to the server, and translate its errors, which never show the password.

    libpq supplies what the URL leaves out: PGPASSWORD, ~/.pgpass, PGHOST and so on.
    """
    if importlib.util.find_spec("psycopg") is None:
        raise UsageError(
            "To reach PostgreSQL, install the extra: pip install 'discreet[postgres]'.", topic="missing-extra"
        )
    import psycopg
    from psycopg.conninfo import make_conninfo

    options = dict(url.options)
    parameters: dict[str, Any] = {
        "host": url.host,
        "port": url.port,
        "user": url.user,
        "password": url.password,
        "dbname": url.name,
        "client_encoding": "UTF8",
        "application_name": "discreet",
        **options,
        "options": f"{options.get('options', '')} {_SETTINGS}".strip(),
    }
    try:
        address = make_conninfo(**{name: value for name, value in parameters.items() if value})
    except psycopg.ProgrammingError:
        raise UsageError(
            f"PostgreSQL does not know one of these settings of the URL: {', '.join(options)}; correct it."
        ) from None
    try:
        connection = psycopg.connect(address, autocommit=True)
    except psycopg.Error as error:
        raise _not_connected(url, error, write) from None
    try:
        yield PostgresSession(url, connection)
    except psycopg.Error as error:
        raise _explained(url, error, write) from None
    finally:
        connection.close()


class PostgresSession(Session):
    """A connection to a PostgreSQL server."""

    equal_text = ' COLLATE "C"'
    view_options = " WITH (security_barrier)"  # functions of readers do not see rows that the view leaves out

    def __init__(self, url: TableUrl, connection: Any) -> None:
        super().__init__(url)
        self.connection = connection

    def columns(self, table: TableName) -> list[DatabaseColumn]:
        """Return the columns."""
        found = self._rows(
            "SELECT attname, format_type(atttypid, NULL), format_type(atttypid, atttypmod), typtype "
            "FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid "
            f"WHERE attrelid = {_oid(table)} AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
        )
        return [_column(name, plain, full, kind == "e") for name, plain, full, kind in found]

    def tables(self) -> list[str]:
        """Return the names of tables and views."""
        found = self._rows(
            "SELECT nspname, relname, pg_table_is_visible(pg_class.oid) FROM pg_class "
            "JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relkind IN ('r', 'p', 'v', 'm', 'f') "
            "AND nspname NOT IN ('pg_catalog', 'information_schema')"
        )
        return [str(TableName(name, None if visible else schema)) for schema, name, visible in found]

    def position(self, table: TableName) -> str | None:
        """Return the physical position of the row."""
        return {"r": "ctid", "m": "ctid", "p": "(tableoid, ctid)"}.get(self._kind(table))

    def is_table(self, table: TableName) -> bool:
        """Whether this is not a view."""
        return self._kind(table) in ("r", "p")

    def identities(self, table: TableName, *, alone: bool = False) -> set[tuple[str, ...]]:
        """Return the start time of the server, which identifies it, the database, and the oid of each table.

        These are the table or view itself, what views read, partitions, and partitioned tables.
        """
        found = self._rows(
            f"WITH RECURSIVE used (oid) AS (SELECT pg_class.oid FROM pg_class WHERE oid = {_oid(table)} UNION "
            "SELECT links.other FROM used JOIN ("
            "SELECT ev_class AS one, refobjid AS other FROM pg_rewrite JOIN pg_depend ON objid = pg_rewrite.oid "
            "WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass "
            "UNION SELECT inhrelid, inhparent FROM pg_inherits UNION SELECT inhparent, inhrelid FROM pg_inherits"
            ") AS links ON links.one = used.oid) "
            "SELECT pg_postmaster_start_time()::text, current_database()::text, oid::text FROM used"
            + (f" WHERE oid = {_oid(table)}" if alone else "")
        )
        return {tuple(row) for row in found}

    def execute(self, statement: str) -> None:
        """Run a statement."""
        self.connection.execute(statement)

    def stream(self, query: str, schema: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """Yield the rows of a query; text is quoted, to tell empty text from a missing value."""
        names = [f"c{number}" for number in range(len(schema))]
        as_text = [name for name, dtype in zip(names, schema.values(), strict=True) if dtype == pl.String]
        force = f", FORCE_QUOTE ({', '.join(as_text)})" if as_text else ""
        # A last column that is never missing distinguishes a row of one missing value from an empty line.
        rows = f"SELECT q.*, 1 AS last FROM ({query}) AS q ({', '.join(names)})"
        buffer, size = [], 0
        with self.connection.cursor().copy(f"COPY ({rows}) TO STDOUT (FORMAT csv{force})") as copy:
            for line in copy:
                buffer.append(line)
                size += len(line)
                if size >= _BYTES:
                    yield _parsed(b"".join(buffer), schema)
                    buffer, size = [], 0
        if buffer:
            yield _parsed(b"".join(buffer), schema)

    def type_of(self, column: str, dtype: pl.DataType) -> str:
        """Return the SQL type."""
        if isinstance(dtype, pl.Decimal):
            return f"numeric({dtype.precision or 38}, {dtype.scale})"
        if isinstance(dtype, pl.Datetime):
            return f"timestamp {'with' if dtype.time_zone else 'without'} time zone"
        if isinstance(dtype, pl.Categorical | pl.Enum) or dtype == pl.Null:
            return "text"
        if dtype not in _NAMES:
            raise self.refused(column, "lists, records, bytes or durations")
        return _NAMES[dtype]

    def load(self, table: str, frame: pl.LazyFrame) -> None:
        """Add rows: polars writes CSV, which is streamed to the server."""
        with self.connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy:
            frame.sink_csv(_Pipe(copy), include_header=False)  # type: ignore[call-overload]

    def analyze(self, table: str) -> None:
        """Collect statistics."""
        self.execute(f"ANALYZE {table}")

    def as_number(self, text: str) -> str:
        """Cast what is spelled like a number."""
        written = "^\\s*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\\s*$"
        return f"CASE WHEN {text} ~ '{written}' THEN CAST({text} AS DOUBLE PRECISION) END"

    def shuffled(self, query: str, columns: Mapping[str, pl.DataType], key: int) -> str:
        """Sort by a hash of the row as text, which differs for all values, even 0.0 and -0.0."""
        row = "discreet_row"
        return f"SELECT {row}.* FROM ({query}) AS {row} ORDER BY hashtextextended(CAST(ROW({row}.*) AS text), {key})"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Begin, and commit or roll back; all queries see the database as it was at the beginning."""
        with self.connection.transaction():
            self.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield

    def make_private(self, table: TableName) -> None:
        """Revoke what default privileges grant to others."""
        others = self._rows(
            f"SELECT DISTINCT grantee::regrole::text FROM pg_class, aclexplode(relacl) WHERE oid = {_oid(table)} "
            "AND grantee <> relowner AND grantee <> 0"
        )
        for grantee in ("PUBLIC", *(name for (name,) in others)):
            self.execute(f"REVOKE ALL ON {quoted(table.schema, table.name)} FROM {grantee}")

    def rename(self, old: TableName, new: TableName) -> None:
        """Rename a table."""
        self.execute(f"ALTER TABLE {quoted(old.schema, old.name)} RENAME TO {quoted(new.name)}")

    def check_names(self, names: Any) -> None:
        """Refuse a name that PostgreSQL would cut off."""
        super().check_names(names)
        for name in names:
            if len(name.encode()) > _LONGEST_NAME:
                raise OutputError(
                    f"The name of column '{name}' is longer than {_LONGEST_NAME} bytes, the most PostgreSQL can keep; "
                    "shorten it.",
                    column=name,
                )

    def folded(self, name: str) -> str:
        """Return the name: PostgreSQL is case-sensitive."""
        return name

    def _kind(self, table: TableName) -> str:
        found = self._rows(f"SELECT relkind FROM pg_class WHERE oid = {_oid(table)}")
        return str(found[0][0]) if found else ""

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return list(self.connection.execute(query).fetchall())


class _Pipe(io.RawIOBase):
    """A file object that streams to the server."""

    def __init__(self, copy: Any) -> None:
        super().__init__()
        self._copy = copy

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._copy.write(bytes(data))
        return len(data)


def _column(name: str, plain: str, full: str, is_enum: bool) -> DatabaseColumn:
    dtype = _TYPES.get(plain)
    if dtype is not None and dtype.is_float():
        return DatabaseColumn(name, dtype, f"NULLIF({{}}, 'NaN'::{plain}) + 0::{plain}", exact=False)
    if dtype is not None:
        return DatabaseColumn(name, dtype)
    if plain == "numeric":
        size = re.fullmatch(r"numeric\((\d+),(\d+)\)", full)
        if size is not None and int(size[2]) <= int(size[1]) <= 38:
            known = f"CAST(NULLIF({{}}, 'NaN'::numeric) AS {full})"
            return DatabaseColumn(name, pl.Decimal(int(size[1]), int(size[2])), known, exact=False)
        text = "CAST(trim_scale(NULLIF({}, 'NaN'::numeric)) AS text) COLLATE \"C\""
        return DatabaseColumn(name, pl.String(), text, exact=False)
    exact = plain in ("text", "character varying")
    opaque = plain.endswith("[]") or plain in ("json", "jsonb", "bytea", "xml", "hstore")
    return DatabaseColumn(
        name, pl.String(), 'CAST({} AS text) COLLATE "C"', exact=exact, forgets=is_enum, opaque=opaque
    )


def _oid(table: TableName) -> str:
    name = quoted(table.schema, table.name).replace("'", "''")
    return f"to_regclass('{name}')"


def _parsed(text: bytes, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Parse the output of COPY."""
    raw = {f"c{number}": dtype if dtype.is_numeric() else pl.String() for number, dtype in enumerate(schema.values())}
    rows = pl.read_csv(text, has_header=False, schema={**raw, "last": pl.Int8()})
    try:
        return rows.select(
            _typed(f"c{number}", dtype).alias(name) for number, (name, dtype) in enumerate(schema.items())
        )
    except pl.exceptions.PolarsError:
        raise DataError(
            "A date or time is infinite or lies before the year 1; turn its column into text in a view, and read that."
        ) from None


def _typed(name: str, dtype: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if dtype == pl.Boolean:
        return column == "t"
    if dtype == pl.Date:
        return column.str.to_date("%Y-%m-%d")
    if dtype == pl.Time:
        return column.str.to_time("%H:%M:%S%.f")
    if isinstance(dtype, pl.Datetime):
        form = "%Y-%m-%d %H:%M:%S%.f" + ("%#z" if dtype.time_zone else "")
        return column.str.to_datetime(form, time_unit="us").cast(dtype)
    return column


def _not_connected(url: TableUrl, error: Any, write: bool) -> DiscreetError:
    kind = OutputError if write else DataError
    server = f"the PostgreSQL server at '{url.host or 'the default host'}{f':{url.port}' if url.port else ''}'"
    text, state = str(error), error.sqlstate
    if state == "28P01" or "password authentication failed" in text:
        return kind(f"{_capital(server)} refused the password of '{url.user}'; set PGPASSWORD or ~/.pgpass.")
    if "no password supplied" in text:
        return kind(f"{_capital(server)} wants a password; set PGPASSWORD or ~/.pgpass.")
    if state == "3D000" or re.search(r'database ".*" does not exist', text):
        return kind(f"There is no database '{url.name}' on {server}.")
    if state == "28000" or re.search(r'role ".*" does not exist|pg_hba.conf', text):
        return kind(f"{_capital(server)} does not let '{url.user}' in; check the user and pg_hba.conf.")
    if state == "53300":
        return kind(f"{_capital(server)} has too many connections; try again later.")
    return kind(f"{_capital(server)} cannot be reached; check that it runs, and its host and port.")


def _explained(url: TableUrl, error: Any, write: bool) -> DiscreetError:
    kind = OutputError if write else DataError
    state = error.sqlstate or ""
    if state == "42501":
        user = url.user or "the user"
        what = (
            f"make tables in the schema of '{url.table}'" if write else f"read '{url.table}' or make temporary tables"
        )
        return kind(f"'{user}' may not {what} in {url.where}; ask for the permission.")
    if state == "3F000":
        return kind(f"There is no schema '{url.table.schema}' in {url.where}; make it first.")
    if state == "2BP01":
        return kind(f"The table '{url.table}' cannot be replaced, because others depend on it; write to another name.")
    if state == "22021" or state == "22P05":
        return kind(f"A text holds a zero byte, which {url.where} cannot hold; remove it from the data.")
    if state.startswith("53"):
        return kind(f"The disk or the memory of the server is full: '{url.table}' was not written.")
    if state.startswith(("08", "57")) or not state:
        return kind(f"The connection to {url.where} was lost; nothing was left behind. Run the job again.")
    return kind(f"PostgreSQL could not complete the operation on {url.where} (SQLSTATE {state}).")


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
