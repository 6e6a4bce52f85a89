"""Tables on lazy engines: made from a polars table, and collected again for comparison."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest

ENGINES = ("duckdb", "ibis-duckdb", "ibis-sqlite", "spark")
_JAVA = Path("/usr/lib/jvm/java-17-openjdk-amd64")
_kept: dict[str, Any] = {}


def make_relation(kind: str, table: pl.DataFrame) -> Any:
    """The table on an engine; skips the test if the engine is not installed."""
    if kind == "duckdb":
        return duckdb().connect().from_arrow(table.to_arrow())
    if kind == "spark":
        return spark().createDataFrame(arrow_for_spark(table))
    ibis = pytest.importorskip("ibis", reason="ibis is not here; it comes with the extra ibis")
    if kind == "ibis-duckdb":
        duckdb()
    connection = getattr(ibis, kind.removeprefix("ibis-")).connect()
    return connection.create_table("people", table.to_arrow())


def arrow_for_spark(table: pl.DataFrame) -> Any:
    """Arrow table without unsigned numbers and categories, which Spark does not support."""
    unsigned = {name: pl.Int64 for name, dtype in table.schema.items() if dtype.is_unsigned_integer()}
    texts = {name: pl.String for name, dtype in table.schema.items() if isinstance(dtype, pl.Categorical | pl.Enum)}
    return table.cast({**unsigned, **texts}).to_arrow()


def duckdb() -> Any:
    return pytest.importorskip("duckdb", reason="DuckDB is not here; it comes with the extra duckdb")


def spark() -> Any:
    """A small local session, shared by all tests."""
    if "spark" not in _kept:
        pytest.importorskip("pyspark", reason="PySpark is not here; it comes with the extra spark")
        if "JAVA_HOME" not in os.environ and _JAVA.is_dir():
            os.environ["JAVA_HOME"] = str(_JAVA)
        if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
            pytest.skip("Spark needs Java 17 or newer; install it, or set JAVA_HOME")
        from pyspark.sql import SparkSession

        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.default.parallelism": "2",
            "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than a few rows do
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.adaptive.enabled": "false",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.network.timeout": "3600s",  # nothing is given up on a slow machine
            "spark.sql.broadcastTimeout": "3600",
            "spark.driver.memory": "512m",
            "spark.driver.maxResultSize": "1m",  # more than this is never brought to the driver
            "spark.sql.warehouse.dir": tempfile.mkdtemp(prefix="discreet-warehouse-"),
            "spark.sql.session.timeZone": "UTC",
            "spark.ui.showConsoleProgress": "false",
        }
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # the name of the machine may have no address
        builder = SparkSession.builder.master("local[2]").appName("discreet")
        for name, value in settings.items():
            builder = builder.config(name, value)
        _kept["spark"] = builder.getOrCreate()
        _kept["spark"].sparkContext.setLogLevel("ERROR")
    return _kept["spark"]


def rows_of(frame: Any) -> pl.DataFrame:
    """Collect a frame of any kind as polars."""
    wrapped = nw.from_native(frame)
    if isinstance(wrapped, nw.LazyFrame):
        return wrapped.collect("polars").to_native()
    return wrapped.to_polars()
