"""What an engine alone needs: group a Parquet file by some columns, and write it again.

``bare_engine.py ENGINE SOURCE TARGET COLUMN...``
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    engine, source, target, *columns = sys.argv[1:]
    {"polars": polars, "duckdb": duckdb, "spark": spark}[engine](source, target, columns)


def polars(source: str, target: str, columns: list[str]) -> None:
    import polars as pl

    rows = pl.scan_parquet(source)
    print(rows.group_by(columns).len().collect(engine="streaming").height)
    rows.sink_parquet(target)


def duckdb(source: str, target: str, columns: list[str]) -> None:
    import duckdb as engine

    connection = engine.connect(config={"preserve_insertion_order": "false"})
    rows = connection.read_parquet(source)
    names = ", ".join(f'"{name}"' for name in columns)
    print(rows.aggregate(f"{names}, count(*)").to_arrow_table().num_rows)
    rows.write_parquet(target, compression="zstd")


def spark(source: str, target: str, columns: list[str]) -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").appName("bare").getOrCreate()
    rows = session.read.parquet(source)
    print(rows.groupBy(*columns).count().toArrow().num_rows)
    rows.write.parquet(Path(target).absolute().as_uri())


if __name__ == "__main__":
    main()
