"""Files that DuckDB or Spark reads, if that engine was chosen, and tables of Spark."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from contextlib import closing
from functools import reduce
from typing import Any

import polars as pl

from discreet.errors import DataError, UsageError, did_you_mean
from discreet.pipeline.audit.files import FilesTable, ReleasedFile
from discreet.pipeline.audit.relations import DuckdbTable, SparkTable, backticked, check_names, folds_case, quoted
from discreet.runtime.locations import TableName, TableUrl
from discreet.runtime.machine_limits import memory_limits, usable_cores
from discreet.runtime.private_folders import private_folder

__all__ = ["FilesInDuckdb", "files_in_spark", "spark_table"]

_TYPES = {pl.String: "VARCHAR", pl.Int64: "BIGINT", pl.Float64: "DOUBLE", pl.Boolean: "BOOLEAN"}


class FilesInDuckdb:
    """Files that DuckDB groups within a memory limit; the rest is spilled to a private folder."""

    kind = "duckdb"

    def __init__(self, files: FilesTable, memory_limit: str | None) -> None:
        try:
            import duckdb  # noqa: F401
        except ImportError:
            raise UsageError(
                "DuckDB is not installed; install it, as in: pip install 'discreet[duckdb]'.", topic="missing-extra"
            ) from None
        self.files = files
        self.layout = files.layout
        self.columns = files.columns
        self._limit = memory_limit or _part_of_memory()
        if "" in self.columns:
            raise DataError(
                f"{files.name} has a column without a name, which duckdb cannot read; name it, or leave the engine out."
            )
        check_names(self.columns, "duckdb", fold=True)
        self._query = " UNION ALL ".join(map(self._select, files.files, files.folders))

    def groups(self, by: Mapping[str, str], weights: str | None = None) -> pl.DataFrame:
        """Group the rows in DuckDB, on a connection of its own."""
        import duckdb

        with private_folder() as folder:
            settings: dict[str, Any] = {
                "temp_directory": str(folder),
                "preserve_insertion_order": "false",
                "threads": usable_cores(),
                **({} if self._limit is None else {"memory_limit": self._limit}),
            }
            with closing(duckdb.connect(config=settings)) as connection:
                try:
                    rows = connection.sql(self._query)
                except duckdb.Error:
                    raise DataError(
                        f"{self.files.name} cannot be read by duckdb; leave the engine out to see what is wrong "
                        "with it."
                    ) from None
                return DuckdbTable(rows, self.layout, self.files.name).groups(by, weights)

    def _select(self, file: ReleasedFile, folder: Mapping[str, str | int | None]) -> str:
        cells = (f"{_literal(folder[n])} AS {quoted(n)}" if n in folder else quoted(n) for n in self.columns)
        return f"SELECT {', '.join(cells)} FROM {_duckdb_reader(file)}"


def files_in_spark(files: FilesTable, spark: Any) -> SparkTable:
    """Return files as a table of a Spark session."""
    session = _session(spark)
    check_names(files.columns, "spark", fold=folds_case(session))
    parts = []
    for file, folder in zip(files.files, files.folders, strict=True):
        rows = _spark_reader(file, session)
        values = {name: _spark_literal(value) for name, value in folder.items()}
        parts.append(rows.withColumns(values) if values else rows)
    rows = reduce(lambda first, second: first.unionByName(second), parts)
    return SparkTable(rows, files.layout, files.name)


def spark_table(url: TableUrl, spark: Any = None) -> SparkTable:
    """Return a table or view of a Spark session."""
    port = "" if url.port is None else f":{url.port}"
    session = _session(spark or (f"spark://{url.host}{port}" if url.host else None))
    name = ".".join(backticked(part) for part in (url.table.schema, url.table.name) if part is not None)
    if not session.catalog.tableExists(name):
        known = [str(TableName(row["tableName"], url.table.schema)) for row in session.sql("SHOW TABLES").collect()]
        hint = did_you_mean(str(url.table), known) or "check the name, and its database if it has one."
        raise DataError(f"There is no table '{url.table}' in Spark; {hint}")
    return SparkTable(session.table(name), None, f"'{url.table}'")


def _session(spark: Any) -> Any:
    """Return the session that is given or active, or a new one on the cluster at an address or on this machine."""
    if not isinstance(spark, str | None):
        return spark
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError(
            "PySpark is not installed; install it, as in: pip install 'discreet[spark]'.", topic="missing-extra"
        ) from None
    if spark is None:
        session = SparkSession.getActiveSession()
        if session is not None:
            return session
    builder: Any = SparkSession.builder
    return builder.master(spark or "local[*]").appName("discreet").getOrCreate()


def _check_options(file: ReleasedFile, engine: str) -> None:
    if file.options.changes_text or not file.options.utf8:
        raise UsageError(
            f"{file.name} is read with options (na, decimal, encoding, date_format) that {engine} does not know; leave "
            "the engine out.",
            topic="read-options",
        )


def _duckdb_reader(file: ReleasedFile) -> str:
    _check_options(file, "duckdb")
    path = _literal(glob.escape(str(file.path)))
    if file.kind == "parquet":
        return f"read_parquet({path})"
    if file.compression == "bz2" or file.kind not in ("csv", "jsonl"):
        raise _other_form(file, "duckdb")
    packed = f"compression='{file.compression}'"
    if file.kind == "jsonl":
        types = ", ".join(f"{_literal(name)}: '{kind}'" for name, kind in _flat_types(file, "duckdb").items())
        return f"read_json({path}, format='newline_delimited', columns={{{types}}}, {packed})"
    separator, columns = file.dialect
    texts = ", ".join(f"{_literal(name)}: 'VARCHAR'" for name in columns)
    return (
        f"read_csv({path}, auto_detect=false, header=true, delim={_literal(separator)}, quote='\"', escape='\"', "
        f"nullstr='', columns={{{texts}}}, {packed})"
    )


def _spark_reader(file: ReleasedFile, session: Any) -> Any:
    _check_options(file, "spark")
    path = file.path.absolute().as_uri()
    if file.kind == "parquet":
        return session.read.parquet(path)
    if file.compression not in ("none", "gzip") or file.kind not in ("csv", "jsonl"):
        raise _other_form(file, "spark")
    if file.kind == "jsonl":
        return session.read.schema(_spark_schema(_flat_types(file, "spark"))).json(path)
    separator, columns = file.dialect
    options = {"header": True, "sep": separator, "quote": '"', "escape": '"', "multiLine": True, "mode": "FAILFAST"}
    reader = session.read.schema(_spark_schema(dict.fromkeys(columns, "VARCHAR"))).options(**options)
    return reader.options(nullValue="", emptyValue="").csv(path).replace("", None)


def _spark_schema(types: Mapping[str, str]) -> str:
    """Return a schema in the notation of Spark; its names of types differ in one."""
    return ", ".join(f"{backticked(name)} {kind.replace('VARCHAR', 'STRING')}" for name, kind in types.items())


def _spark_literal(value: str | int | None) -> Any:
    from pyspark.sql import functions

    return functions.lit(value).cast("bigint" if isinstance(value, int) else "string")


def _flat_types(file: ReleasedFile, engine: str) -> dict[str, str]:
    """Return the SQL types of JSON lines, as an engine would infer others."""
    if any(type(dtype) not in _TYPES for dtype in file.schema.values()):
        raise _other_form(file, engine)
    return {column: _TYPES[type(dtype)] for column, dtype in file.schema.items()}


def _other_form(file: ReleasedFile, engine: str) -> UsageError:
    return UsageError(
        f"{file.name} has a form that {engine} does not read here; leave the engine out, or write Parquet."
    )


def _part_of_memory() -> str | None:
    left = [limit.left for limit in memory_limits() if limit.kind != "machine"]
    return f"{min(left) * 2 // 5 >> 20}MiB" if left else None


def _literal(value: str | int | None) -> str:
    if value is None or isinstance(value, int):
        return "NULL" if value is None else str(value)
    return "'" + value.replace("'", "''") + "'"
