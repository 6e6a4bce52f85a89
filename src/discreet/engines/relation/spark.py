"""Back end for Spark DataFrames, and the files and tables that Spark reads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import narwhals as nw
import polars as pl
from polars import selectors

from discreet.engines.columns import unused
from discreet.engines.files.table_file import TableFile
from discreet.engines.files.table_files import TableFiles
from discreet.engines.relation.relation import Join, Relation, check_names, left_joins
from discreet.errors import DataError, DiscreetError, UsageError, did_you_mean
from discreet.runtime.locations import TableName, TableUrl

__all__ = [
    "Spark",
    "cluster_of",
    "list_tables",
    "open_session",
    "open_spark_table",
    "quoted_name",
    "read_file",
    "scan_spark_table",
]


class Spark:
    """PySpark DataFrames."""

    kind = "spark"
    what = "The Spark DataFrame"
    libraries = frozenset({"pyspark", "py4j"})
    one_file = False

    def folds_case(self, native: Any) -> bool:
        """Ask the session."""
        return _folds_case(native.sparkSession)

    def tells_nan(self, native: Any) -> bool:
        """Return True."""
        return True

    def renamed(self, native: Any, names: Sequence[str]) -> Any:
        """Rename the columns by position."""
        return native.toDF(*names)

    def upload(self, native: Any, table: pl.DataFrame) -> Any:
        """Upload the table to the session; Spark has no unsigned integers."""
        return native.sparkSession.createDataFrame(table.cast({selectors.unsigned_integer(): pl.Int64}).to_arrow())

    def left_joins(self, frame: nw.LazyFrame[Any], joins: Sequence[Join]) -> nw.LazyFrame[Any]:
        """Join one by one."""
        return left_joins(frame, joins)

    def as_numbers(self, native: Any, column: str) -> Any:
        """Cast what can be cast."""
        from pyspark.sql import functions

        return native.withColumn(column, functions.expr(f"try_cast(trim(`{column}`) AS double)"))

    def estimate(self, native: Any, names: Sequence[str]) -> list[int]:
        """Estimate the distinct values and count the known ones."""
        from pyspark.sql import functions

        wanted = [how(name) for name in names for how in (functions.approx_count_distinct, functions.count)]
        return [int(figure) for figure in native.agg(functions.count("*"), *wanted).first()]

    def some_values(self, native: Any, name: str, parts: int) -> Any:
        """Choose values by their hash."""
        return native.where(f"xxhash64({quoted_name(name)}) % {parts} = 0")

    def shuffled(self, native: Any, key: int) -> Any:
        """Send each row to the task its hash says, which sorts its rows: a global sort would run the plan twice."""
        from pyspark.sql import functions, types

        values = []
        for field in native.schema.fields:
            column = functions.col(f"`{field.name.replace('`', '``')}`")
            if isinstance(field.dataType, types.FloatType | types.DoubleType):
                column = column.cast("string")  # 0.0 and -0.0 have the same hash
            elif not isinstance(field.dataType, types.AtomicType):
                column = functions.to_json(functions.struct(column))  # maps have none
            values.append(column)
        mark = unused("discreet_order", native.columns)
        marked = native.withColumn(mark, functions.xxhash64(functions.lit(key), *values))
        return marked.repartition(functions.col(mark)).sortWithinPartitions(mark).drop(mark)

    def stream(self, native: Any) -> None:
        """Return None: rows stay on the cluster."""
        return

    def save(self, native: Any, path: Path) -> None:
        """Have the executors write a folder of Parquet files."""
        native.write.parquet(path.absolute().as_uri())

    def files(self, native: Any) -> list[Path]:
        """Ask the plan."""
        return [Path(unquote(urlparse(name).path)) for name in native.inputFiles() if name.startswith("file:")]

    def quoted(self, name: str) -> str:
        """Quote a name."""
        return quoted_name(name)

    def matches(self, text: str, pattern: str) -> str:
        r"""Match a pattern; in Java ``$`` also matches before a final line break, ``\z`` does not."""
        return f"{text} RLIKE '{pattern.removesuffix('$')}\\\\z'"

    def select(self, native: Any, expressions: Sequence[str], where: str = "", limit: int | None = None) -> Any:
        """Select expressions from some rows."""
        rows = native.where(where) if where else native
        rows = rows.selectExpr(*expressions)
        return rows if limit is None else rows.limit(limit)

    def fetch(self, native: Any) -> pl.DataFrame:
        """Return rows as polars."""
        names = native.columns
        return pl.DataFrame([tuple(row) for row in native.collect()], schema=names, orient="row", strict=False)

    def type_name(self, dtype: pl.DataType) -> str:
        """Return the name of a type; times without a zone do not depend on the session."""
        if isinstance(dtype, pl.Decimal):
            return f"DECIMAL(18, {dtype.scale})"
        return {
            pl.Boolean: "BOOLEAN",
            pl.Int64: "BIGINT",
            pl.Float64: "DOUBLE",
            pl.Date: "DATE",
            pl.Datetime: "TIMESTAMP_NTZ",
        }[type(dtype)]

    def explain(self, text: str) -> DiscreetError | None:
        """Keep the general message."""
        return None


def read_file(file: TableFile | TableFiles, spark: Any = None) -> Relation:
    """Open a file, or several, in a session (see :func:`open_session`)."""
    session = open_session(spark)
    check_names(file.columns, Spark(), fold=_folds_case(session))
    if isinstance(file, TableFile):
        return Relation(_read(file, session), Spark(), file.name)
    from pyspark.sql import functions

    parts = []
    for part, folders in zip(file.parts, file.folder_values, strict=True):
        types = {name: "string" if file.schema[name] == pl.String else "bigint" for name in folders}
        values = {name: functions.lit(value).cast(types[name]) for name, value in folders.items()}
        parts.append(_read(part, session).withColumns(values) if values else _read(part, session))
    rows = reduce(lambda one, other: one.unionByName(other), parts)
    return Relation(rows.select(*map(quoted_name, file.columns)), Spark(), file.name)


def open_session(spark: Any) -> Any:
    """Return the given session, one on the cluster at this address, the active one, or a new local one."""
    if spark is not None and not isinstance(spark, str):
        return spark
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError(
            "PySpark is not installed; install it, as in: pip install 'discreet[spark]'.", topic="missing-extra"
        ) from None
    active = SparkSession.getActiveSession()
    if spark is None and active is not None:
        return active
    return SparkSession.builder.appName("discreet").master(spark or "local[*]").getOrCreate()


def open_spark_table(url: TableUrl, spark: Any = None) -> Relation:
    """Open a table or view in the given session or, without one, in that of the URL."""
    session = open_session(spark or cluster_of(url))
    name = quoted_name(url.table.schema, url.table.name)
    if not session.catalog.tableExists(name):
        known = [str(TableName(table, url.table.schema)) for table in list_tables(session, url.table.schema)]
        hint = did_you_mean(str(url.table), known) or "check the name, and its database if it has one."
        raise DataError(f"There is no table '{url.table}' in Spark; {hint}")
    return Relation(session.table(name), Spark(), f"'{url.table}'")


def scan_spark_table(url: TableUrl) -> pl.LazyFrame:
    """Fetch a table, and return it as a polars plan."""
    return pl.LazyFrame(pl.from_arrow(open_spark_table(url).native.toArrow()))


def cluster_of(url: TableUrl) -> str | None:
    """Return the address of the cluster in a URL."""
    if not url.host:
        return None
    return f"spark://{url.host}" + ("" if url.port is None else f":{url.port}")


def list_tables(session: Any, schema: str | None) -> list[str]:
    """Return the names of the tables of a database."""
    if schema is not None and not session.catalog.databaseExists(quoted_name(schema)):
        return []
    found = session.sql("SHOW TABLES" if schema is None else f"SHOW TABLES IN {quoted_name(schema)}").collect()
    return [str(row["tableName"]) for row in found]


def quoted_name(*parts: str | None) -> str:
    """Return a name as Spark SQL, such as that of a table with its database."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts if part is not None)


def _folds_case(session: Any) -> bool:
    return str(session.conf.get("spark.sql.caseSensitive")) != "true"


def _read(file: TableFile, session: Any) -> Any:
    """Read a file the way polars does: delimited text stays text, and empty cells are missing."""
    path = file.path.absolute().as_uri()
    file.check_engine("spark")
    if file.format.kind == "parquet":
        return session.read.parquet(path)
    if file.format.compression not in ("none", "gzip") or file.format.kind not in ("csv", "jsonl"):
        raise file.unreadable_by("spark")
    if file.dialect is None:
        return session.read.schema(_schema(file.sql_types("spark"))).json(path)
    texts = _schema(dict.fromkeys(file.columns, "VARCHAR"))
    options = {"header": True, "sep": file.dialect.separator, "quote": '"', "escape": '"', "multiLine": True}
    rows = session.read.schema(texts).options(**options, mode="FAILFAST", nullValue="", emptyValue="").csv(path)
    return rows.replace("", None)


def _schema(types: dict[str, str]) -> Any:
    from pyspark.sql import types as spark

    known = {
        "VARCHAR": spark.StringType(),
        "BIGINT": spark.LongType(),
        "DOUBLE": spark.DoubleType(),
        "BOOLEAN": spark.BooleanType(),
    }
    return spark.StructType([spark.StructField(name, known[dtype]) for name, dtype in types.items()])
