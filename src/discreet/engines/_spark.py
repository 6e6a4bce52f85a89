"""What Spark does in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import narwhals as nw
import polars as pl
from polars import selectors

from discreet.engines._files import TableFile
from discreet.engines._flat import flat_types, not_read
from discreet.engines._names import unused
from discreet.engines._parts import TableFiles
from discreet.engines._relation import Join, Relation, check_names, left_joins
from discreet.errors import DiscreetError, UsageError

__all__ = ["Spark", "open_session", "read_file"]


class Spark:
    """DataFrames of PySpark."""

    kind = "spark"
    what = "The Spark DataFrame"
    libraries = frozenset({"pyspark", "py4j"})
    one_file = False

    def folds_case(self, native: Any) -> bool:
        """Ask the session."""
        return _folds_case(native.sparkSession)

    def tells_nan(self, native: Any) -> bool:
        """Return True: there is NaN."""
        return True

    def renamed(self, native: Any, names: Sequence[str]) -> Any:
        """Name the columns by their places."""
        return native.toDF(*names)

    def upload(self, native: Any, table: pl.DataFrame) -> Any:
        """Bring the table to the session; Spark knows no unsigned numbers."""
        return native.sparkSession.createDataFrame(table.cast({selectors.unsigned_integer(): pl.Int64}).to_arrow())

    def left_joins(self, frame: nw.LazyFrame[Any], joins: Sequence[Join]) -> nw.LazyFrame[Any]:
        """Join one by one."""
        return left_joins(frame, joins)

    def as_numbers(self, native: Any, column: str) -> Any:
        """Cast what can be cast."""
        from pyspark.sql import functions

        return native.withColumn(column, functions.expr(f"try_cast(trim(`{column}`) AS double)"))

    def estimate(self, native: Any, names: Sequence[str]) -> list[int]:
        """Return the number of rows, and for each column about how many values it has and in how many rows one."""
        from pyspark.sql import functions

        wanted = [how(name) for name in names for how in (functions.approx_count_distinct, functions.count)]
        return [int(figure) for figure in native.agg(functions.count("*"), *wanted).first()]

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

    def save(self, native: Any, path: Path) -> None:
        """Have the executors write a folder of Parquet files."""
        native.write.parquet(path.absolute().as_uri())

    def files(self, native: Any) -> list[Path]:
        """Ask the plan."""
        return [Path(unquote(urlparse(name).path)) for name in native.inputFiles() if name.startswith("file:")]

    def quoted(self, name: str) -> str:
        """Quote a name."""
        return _quoted(name)

    def matches(self, text: str, pattern: str) -> str:
        """Match a pattern; to Java a line break after the end is no more text, unless it is told so."""
        return f"{text} RLIKE '{pattern.removesuffix('$')}\\\\z'"

    def select(self, native: Any, expressions: Sequence[str], where: str = "", limit: int | None = None) -> Any:
        """Select from some rows."""
        rows = native.where(where) if where else native
        rows = rows.selectExpr(*expressions)
        return rows if limit is None else rows.limit(limit)

    def fetch(self, native: Any) -> pl.DataFrame:
        """Return rows as polars."""
        names = native.columns
        return pl.DataFrame([tuple(row) for row in native.collect()], schema=names, orient="row", strict=False)

    def type_name(self, dtype: pl.DataType) -> str:
        """Return the name of a type; times without a zone are those of no session."""
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
        """Leave it at the general sentence."""
        return None


def read_file(file: TableFile | TableFiles, spark: Any = None) -> Relation:
    """Open a file, or several, in a session, which may be given by its cluster's address, or be the one there is."""
    session = open_session(spark)
    check_names(file.columns, Spark(), fold=_folds_case(session))
    if isinstance(file, TableFile):
        return Relation(_read(file, session), Spark(), file.name)
    from pyspark.sql import functions

    parts = []
    for part, told in zip(file.parts, file.told, strict=True):
        types = {name: "string" if file.schema[name] == pl.String else "bigint" for name in told}
        values = {name: functions.lit(value).cast(types[name]) for name, value in told.items()}
        parts.append(_read(part, session).withColumns(values) if values else _read(part, session))
    rows = reduce(lambda one, other: one.unionByName(other), parts)
    return Relation(rows.select(*map(_quoted, file.columns)), Spark(), file.name)


def open_session(spark: Any) -> Any:
    """Return the session given, one on the cluster of this address, the one there is, or a new one on this machine."""
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


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _folds_case(session: Any) -> bool:
    return str(session.conf.get("spark.sql.caseSensitive")) != "true"


def _read(file: TableFile, session: Any) -> Any:
    """Read a file the way polars does: cells of delimited text are text, and empty ones are missing."""
    path = file.path.absolute().as_uri()
    if file.format.kind == "parquet":
        return session.read.parquet(path)
    if file.format.compression not in ("none", "gzip") or file.format.kind not in ("csv", "jsonl"):
        raise not_read(file, "spark")
    if file.dialect is None:
        return session.read.schema(_schema(flat_types(file, "spark"))).json(path)
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
