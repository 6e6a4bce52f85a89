"""Tables on an engine of their own, which groups them: DuckDB relations, Spark DataFrames and Ibis tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from discreet.errors import DataError, UsageError
from discreet.pipeline.audit.library_errors import running
from discreet.pipeline.audit.table import check_columns
from discreet.pipeline.audit.values import plain, ungroupable
from discreet.pipeline.audit.weights import HEAVIEST, MILLION, check_weights, sql_sums

__all__ = ["DuckdbTable", "IbisTable", "SparkTable", "backticked", "check_names", "folds_case", "quoted"]

_DUCKDB_PLAIN = {"BOOLEAN", "DATE", "TIME", *("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), *("UTINYINT", "USMALLINT")}
_DUCKDB_PLAIN |= {"UINTEGER", "UBIGINT", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S"}
_DUCKDB_PLAIN |= {"TIMESTAMP WITH TIME ZONE"}
_NOT_RUN = "cannot be run; run it by itself to see what is wrong with it."


def quoted(name: str) -> str:
    """Quote a name for SQL.

    >>> quoted("age")
    '"age"'
    """
    return '"' + name.replace('"', '""') + '"'


class DuckdbTable:
    """A DuckDB relation, on any connection."""

    kind = "duckdb"

    def __init__(self, relation: Any, layout: str | None = None, file: str | None = None) -> None:
        self.relation = relation
        self.layout = layout
        self.columns = [str(name) for name in relation.columns]
        check_names(self.columns, "duckdb", fold=True)
        self._types = dict(zip(self.columns, map(str, relation.types), strict=True))
        self._what = "The DuckDB relation" if file is None else file
        self._way_out = _NOT_RUN if file is None else _other_engine("duckdb")

    def groups(self, by: Mapping[str, str], weights: str | None = None) -> pl.DataFrame:
        """Have DuckDB group the rows."""
        check_columns(by, weights, self.columns)
        keys = [f"{self._key(column)} AS {name}" for name, column in by.items()]
        sums = {"rows": "count(*)"}
        if weights is not None:
            kind = self._types[weights]
            check_weights(weights, usable=_is_number(kind) or kind == "VARCHAR" or kind.startswith("ENUM"))
            keys.append(f"TRY_CAST(CAST({quoted(weights)} AS VARCHAR) AS DOUBLE) AS weight")
            sums |= sql_sums("weight")
        wanted = ", ".join([*by, *(f"{sql} AS {name}" for name, sql in sums.items())])
        with running(self._what, frozenset({"duckdb", "_duckdb"}), self._way_out):
            grouped = self.relation.project(", ".join(keys)).aggregate(wanted, ", ".join(by))
            return plain(pl.DataFrame(grouped.to_arrow_table())).cast({"rows": pl.Int64})

    def _key(self, column: str) -> str:
        name, kind = quoted(column), self._types[column]
        if kind in ("FLOAT", "DOUBLE"):
            return f"CASE WHEN {name} = 0 THEN CAST(0 AS {kind}) ELSE {name} END"
        if kind == "VARCHAR":
            return f"{name} COLLATE C"
        if kind in ("HUGEINT", "UHUGEINT"):
            return f"CAST({name} AS DECIMAL(38, 0))"
        if kind in _DUCKDB_PLAIN or (kind.startswith("DECIMAL") and not kind.endswith("]")):
            return name
        if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION", "BLOB")):
            raise ungroupable(column)
        return f"CAST({name} AS VARCHAR)"


class SparkTable:
    """A Spark DataFrame."""

    kind = "spark"

    def __init__(self, frame: Any, layout: str | None = None, file: str | None = None) -> None:
        self.frame = frame
        self.layout = layout
        self.columns = [str(name) for name in frame.columns]
        self._what = "The Spark DataFrame" if file is None else file
        self._way_out = _NOT_RUN if file is None else _other_engine("spark")
        check_names(self.columns, "spark", fold=folds_case(frame.sparkSession))

    def groups(self, by: Mapping[str, str], weights: str | None = None) -> pl.DataFrame:
        """Have Spark group the rows."""
        from pyspark.sql import functions

        check_columns(by, weights, self.columns)
        with running(self._what, frozenset({"pyspark", "py4j"}), self._way_out):
            types = {field.name: field.dataType.typeName() for field in self.frame.schema.fields}
            keys = [_spark_key(column, types[column]).alias(name) for name, column in by.items()]
            sums = {"rows": "count(*)"}
            if weights is not None:
                kind = types[weights]
                check_weights(weights, usable=kind == "string" or kind in _SPARK_NUMBERS)
                keys.append(
                    functions.expr(f"try_cast(trim(CAST({backticked(weights)} AS string)) AS double)").alias("w")
                )
                sums |= sql_sums("w")
            wanted = [functions.expr(sql).alias(name) for name, sql in sums.items()]
            grouped = self.frame.select(*keys).groupBy(*by).agg(*wanted)
            return plain(pl.DataFrame(grouped.toArrow())).cast({"rows": pl.Int64})


class IbisTable:
    """An Ibis table, in any database."""

    kind = "ibis"
    layout: str | None = None

    def __init__(self, table: Any) -> None:
        self.table = table
        self.columns = [str(name) for name in table.columns]

    def groups(self, by: Mapping[str, str], weights: str | None = None) -> pl.DataFrame:
        """Have the database group the rows."""
        check_columns(by, weights, self.columns)
        libraries = frozenset({"ibis", "duckdb", "_duckdb", "sqlite3", "psycopg", "psycopg2", "pyarrow"})
        with running("The Ibis table", libraries, _NOT_RUN):
            keys = {name: self._key(column) for name, column in by.items()}
            if weights is not None:
                keys["weight"] = self._weight(weights)
            rows = self.table.select(**keys)
            sums = {"rows": rows.count()}
            if weights is not None:
                sums["millionths"] = (rows.weight * float(MILLION) + 0.5).floor().cast("float64").sum()
                sums["weighed"] = rows.weight.count()
            grouped = rows.group_by(list(by)).aggregate(**sums)
            return plain(pl.DataFrame(grouped.to_pyarrow())).cast({"rows": pl.Int64})

    def _key(self, column: str) -> Any:
        import ibis

        values = self.table[column]
        dtype = values.type()
        if dtype.is_nested() or dtype.is_binary():
            raise ungroupable(column)
        if dtype.is_floating():
            return ibis.ifelse(values == 0, ibis.literal(0.0, type=dtype), values)
        simple = dtype.is_numeric() or dtype.is_boolean() or dtype.is_string() or dtype.is_date() or dtype.is_time()
        return values if simple or dtype.is_timestamp() or dtype.is_null() else values.cast("string")

    def _weight(self, column: str) -> Any:
        import ibis
        from ibis.expr.operations import TryCast

        weight = self.table[column]
        check_weights(column, usable=weight.type().is_numeric() or weight.type().is_string())
        if weight.type().is_string():
            if not self.table.get_backend().has_operation(TryCast):
                raise UsageError(
                    "The survey weights are text, which this database cannot try to read; make them numbers."
                )
            weight = weight.try_cast("float64")
        weight = weight.cast("float64")
        return ibis.ifelse((weight >= 0) & (weight <= HEAVIEST), weight, ibis.null("float64"))


_SPARK_NUMBERS = {"byte", "short", "integer", "long", "float", "double", "decimal"}


def _spark_key(column: str, kind: str) -> Any:
    from pyspark.sql import functions

    values = functions.col(backticked(column))
    if kind in ("array", "map", "struct", "binary", "variant"):
        raise ungroupable(column)
    if kind in ("float", "double"):
        zero = functions.lit(0.0).cast(kind)
        return functions.when(values == 0, zero).otherwise(values)
    if kind in _SPARK_NUMBERS or kind in ("boolean", "date", "timestamp", "timestamp_ntz"):
        return values
    return values.cast("string")


def _is_number(kind: str) -> bool:
    return kind in ("FLOAT", "DOUBLE") or ("INT" in kind and not kind.endswith("]")) or kind.startswith("DECIMAL(")


def check_names(columns: Sequence[str], engine: str, *, fold: bool) -> None:
    """Raise DataError if an engine takes two names for the same; ``fold`` says whether it ignores case."""
    names = [column.lower() for column in columns] if fold else list(columns)
    repeated = next((i for i, name in enumerate(names) if name in names[:i]), None)
    if repeated is not None:
        first, second = columns[names.index(names[repeated])], columns[repeated]
        raise DataError(
            f"The columns '{first}' and '{second}' have the same name to {engine}; rename one.", column=second
        )


def folds_case(session: Any) -> bool:
    """Whether a Spark session ignores the case of names."""
    return str(session.conf.get("spark.sql.caseSensitive")) != "true"


def _other_engine(engine: str) -> str:
    return f"cannot be read by {engine}; leave the engine out to see what is wrong with it."


def backticked(name: str) -> str:
    """Quote a name for Spark."""
    return f"`{name.replace('`', '``')}`"
