"""Back end for DuckDB relations, and files that DuckDB reads."""

from __future__ import annotations

import atexit
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from glob import escape
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from discreet.engines.files.table_file import TableFile
from discreet.engines.files.table_files import TableFiles
from discreet.engines.relation.relation import Join, Relation, check_names, left_joins
from discreet.engines.shuffle import Stream
from discreet.errors import Argument, DataError, DiscreetError, UsageError
from discreet.runtime.machine_limits import memory_limits, usable_cores
from discreet.runtime.private_folders import private_folder

__all__ = ["DuckDB", "hash_order", "read_file"]

_WHOLE = {"tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint"}
_SAME_IN_ARROW = _WHOLE | {"boolean", "float", "double", "decimal", "varchar", "enum", "date", "timestamp"}
"""Types that are the same in Arrow as in the Parquet file that DuckDB writes."""
_GROUP = 1 << 24
"""The bytes of a row group; each core holds one or two in memory until they are written."""


class DuckDB:
    """DuckDB relations, on any connection."""

    kind = "duckdb"
    what = "The DuckDB relation"
    libraries = frozenset({"duckdb", "_duckdb"})
    one_file = True

    def folds_case(self, native: Any) -> bool:
        """Return True: column names are case-insensitive."""
        return True

    def tells_nan(self, native: Any) -> bool:
        """Return True."""
        return True

    def renamed(self, native: Any, names: Sequence[str]) -> Any:
        """Rename the columns by position."""
        return native.project(", ".join(f"#{number} AS {_quoted(name)}" for number, name in enumerate(names, 1)))

    def upload(self, native: Any, table: pl.DataFrame) -> Any:
        """Upload the table to the connection of a relation, which only a query on the relation can reach.

        DuckDB finds it by the name of the variable, and keeps it alive as long as the new relation.
        """
        uploaded = table.cast({pl.Enum: pl.String}).to_arrow()  # noqa: F841
        enums = [
            f"CAST({_quoted(name)} AS ENUM({', '.join(map(_literal, dtype.categories))})) AS {_quoted(name)}"
            for name, dtype in table.schema.items()
            if isinstance(dtype, pl.Enum)
        ]
        columns = f"* REPLACE ({', '.join(enums)})" if enums else "*"
        return native.query(f"discreet_{secrets.token_hex(8)}", f"SELECT {columns} FROM uploaded")

    def left_joins(self, frame: nw.LazyFrame[Any], joins: Sequence[Join]) -> nw.LazyFrame[Any]:
        """Join one by one."""
        return left_joins(frame, joins)

    def as_numbers(self, native: Any, column: str) -> Any:
        """Cast what can be cast."""
        return native.project(f"* REPLACE (TRY_CAST({_quoted(column)} AS DOUBLE) AS {_quoted(column)})")

    def estimate(self, native: Any, names: Sequence[str]) -> list[int]:
        """Estimate the distinct values and count the known ones."""
        wanted = ["count(*)", *(f"{how}({name})" for name in names for how in ("approx_count_distinct", "count"))]
        return [int(figure) for figure in native.aggregate(", ".join(wanted)).fetchall()[0]]

    def some_values(self, native: Any, name: str, parts: int) -> Any:
        """Choose values by their hash."""
        return native.filter(f"hash({_quoted(name)}) % {parts} = 0")

    def shuffled(self, native: Any, key: int) -> Any:
        """Sort by DuckDB's own hash, which spills to disk what does not fit into memory; no Enum leaves."""
        rows = native.order(hash_order(zip(native.columns, map(str, native.types), strict=True), key))
        texts = [
            f"CAST({_quoted(name)} AS VARCHAR) AS {_quoted(name)}"
            for name, dtype in zip(native.columns, native.types, strict=True)
            if dtype.id == "enum"
        ]
        return rows.project(f"* REPLACE ({', '.join(texts)})") if texts else rows

    def stream(self, native: Any) -> Stream | None:
        """Stream the rows as Arrow, unless a type would be different in a Parquet file."""
        if not all(dtype.id in _SAME_IN_ARROW and str(dtype) != "JSON" for dtype in native.types):
            return None
        words = {
            name: pl.Series(dtype.children[0][1], dtype=pl.String)
            for name, dtype in zip(native.columns, native.types, strict=True)
            if dtype.id == "enum"
        }
        return Stream(_numbered(_no_rows(native)).schema, partial(_batches, native), words)

    def save(self, native: Any, path: Path) -> None:
        """Write one Parquet file, row group by row group; whole numbers Parquet has no form for become decimals."""
        wide = [
            f"CAST({_quoted(name)} AS DECIMAL(38, 0)) AS {_quoted(name)}"
            for name, dtype in zip(native.columns, native.types, strict=True)
            if dtype.id in ("hugeint", "uhugeint")
        ]
        rows = native.project(f"* REPLACE ({', '.join(wide)})") if wide else native
        asked = native.limit(0).aggregate("current_setting('preserve_insertion_order'), count(*)")
        ordered = asked.fetchall()[0][0]  # groups can only be cut by their size where the order need not be kept
        rows.write_parquet(str(path), compression="zstd", **({} if ordered else {"row_group_size_bytes": _GROUP}))

    def files(self, native: Any) -> list[Path]:
        """Return the files named in the text of the query."""
        named = re.findall(r"'((?:[^']|'')*)'", native.sql_query())
        paths = (Path(name.replace("''", "'").removeprefix("file://")) for name in named)
        return [match for path in paths for match in Path(path.anchor or ".").glob(str(path.relative_to(path.anchor)))]

    def quoted(self, name: str) -> str:
        """Quote a name."""
        return _quoted(name)

    def matches(self, text: str, pattern: str) -> str:
        """Match a pattern anywhere; patterns carry their own anchors."""
        return f"regexp_matches({text}, {_literal(pattern)})"

    def select(self, native: Any, expressions: Sequence[str], where: str = "", limit: int | None = None) -> Any:
        """Select expressions from some rows."""
        rows = native.filter(where) if where else native
        rows = rows.project(", ".join(expressions))
        return rows if limit is None else rows.limit(limit)

    def fetch(self, native: Any) -> pl.DataFrame:
        """Return rows as polars."""
        return pl.DataFrame(native.to_arrow_table())

    def type_name(self, dtype: pl.DataType) -> str:
        """Return the name of a type."""
        if isinstance(dtype, pl.Decimal):
            return f"DECIMAL(18, {dtype.scale})"
        return {
            pl.Boolean: "BOOLEAN",
            pl.Int64: "BIGINT",
            pl.Float64: "DOUBLE",
            pl.Date: "DATE",
            pl.Datetime: "TIMESTAMP",
        }[type(dtype)]

    def explain(self, text: str) -> DiscreetError | None:
        """Explain a lack of memory and disabled replacement scans."""
        if "Out of Memory" in text:
            return DiscreetError(
                "DuckDB needs more memory than it may take; set a higher ",
                Argument("memory_limit"),
                ".",
                topic="out-of-memory",
            )
        if "Table with name uploaded" in text:
            return UsageError(
                "The DuckDB connection does not look for tables in Python; allow it, as in "
                'connection.execute("SET python_enable_replacements = true").'
            )
        return None


def _numbered(batch: Any) -> pl.DataFrame:
    """Convert an Arrow batch, with the codes of columns that are a DuckDB Enum."""
    columns = zip(batch.schema.names, batch.columns, strict=True)
    return pl.DataFrame([pl.Series(name, getattr(column, "indices", column)) for name, column in columns])


def _batches(native: Any, rows: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of a relation; errors of DuckDB arrive as those of Arrow, and are converted back."""
    import duckdb

    try:
        yield from map(_numbered, native.to_arrow_reader(rows))
    except OSError as error:
        raise duckdb.Error(str(error)) from None


def _no_rows(native: Any) -> Any:
    """Return an empty Arrow batch with the columns of a relation."""
    import pyarrow as pa

    schema = native.limit(0).to_arrow_reader().schema
    return pa.record_batch([pa.nulls(0, field.type) for field in schema], schema=schema)


def hash_order(columns: Iterable[tuple[str, str]], key: int) -> str:
    """Return SQL for a keyed hash of some columns, given by name and type.

    >>> hash_order([("age", "INTEGER"), ("weight", "DOUBLE")], 7)
    'hash(7, "age", "weight", signbit("weight"))'
    """
    values = []
    for name, type_name in columns:
        values.append(_quoted(name))
        if type_name in ("FLOAT", "DOUBLE"):  # 0.0 and -0.0 have the same hash
            values.append(f"signbit({_quoted(name)})")
    return f"hash({', '.join([str(key), *values])})"


def read_file(file: TableFile | TableFiles, memory_limit: str | None = None) -> Relation:
    """Open a file, or several, on a connection of its own, which spills to disk what does not fit into memory.

    Spilled data holds original rows, so it goes to a private folder. DuckDB removes it with the last relation of the
    connection.
    """
    try:
        import duckdb
    except ImportError:
        raise UsageError(
            "DuckDB is not installed; install it, as in: pip install 'discreet[duckdb]'.", topic="missing-extra"
        ) from None
    if "" in file.columns:
        raise DataError(
            f"{file.name} has a column without a name, which duckdb cannot read; name it, or leave the engine out."
        )
    check_names(file.columns, DuckDB(), fold=True)
    settings: dict[str, Any] = {
        "temp_directory": str(_spill_folder() / secrets.token_hex(8)),
        "preserve_insertion_order": "false",
        "threads": usable_cores(),
    }
    limit = memory_limit or _part_of_memory()
    if limit is not None:
        settings["memory_limit"] = limit
    connection = duckdb.connect(config=settings)
    parts = zip(file.parts, file.folder_values, strict=True) if isinstance(file, TableFiles) else [(file, {})]
    rows = connection.sql(" UNION ALL ".join(_query(part, folders, file.columns) for part, folders in parts))
    return Relation(rows, DuckDB(), file.name)


def _part_of_memory() -> str | None:
    """Return a limit for DuckDB if this process has one; the rest is for counting and the search."""
    left = [limit.left for limit in memory_limits() if limit.kind != "machine"]
    return f"{min(left) * 2 // 5 >> 20}MiB" if left else None


def _query(file: TableFile, folders: Mapping[str, str | int | None], columns: Sequence[str]) -> str:
    """Return the query that reads the columns of a file, some of which come from the names of its ``folders``."""
    path = _literal(escape(str(file.path)))
    values = (f"{_value(folders[name])} AS {_quoted(name)}" if name in folders else _quoted(name) for name in columns)
    return f"SELECT {', '.join(values)} FROM {_reader(file, path)}"


def _value(value: str | int | None) -> str:
    return "NULL" if value is None else str(value) if isinstance(value, int) else _literal(value)


@cache
def _spill_folder() -> Path:
    """Return a private folder that is removed when the process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(private_folder())


def _reader(file: TableFile, path: str) -> str:
    """Return the call that reads a file the way polars does: delimited text stays text."""
    file.check_engine("duckdb")
    if file.format.kind == "parquet":
        return f"read_parquet({path})"
    if file.format.compression not in ("none", "gzip", "zstd") or file.format.kind not in ("csv", "jsonl"):
        raise file.unreadable_by("duckdb")
    packed = f"compression='{file.format.compression}'"
    if file.dialect is None:
        types = ", ".join(f"{_literal(name)}: '{dtype}'" for name, dtype in file.sql_types("duckdb").items())
        return f"read_json({path}, format='newline_delimited', columns={{{types}}}, {packed})"
    texts = ", ".join(f"{_literal(name)}: 'VARCHAR'" for name in file.columns)
    separator = _literal(file.dialect.separator)
    return (
        f"read_csv({path}, auto_detect=false, header=true, delim={separator}, quote='\"', escape='\"', nullstr='', "
        f"columns={{{texts}}}, {packed})"
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
