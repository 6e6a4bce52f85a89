"""Which reader is for which table."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from os import PathLike
from typing import Any

import polars as pl

from discreet._choices import EngineChoice
from discreet._places import TableUrl, is_url
from discreet.errors import UsageError
from discreet.release._audit._files import FilesTable, ReleasedFile, open_files
from discreet.release._audit._table import FrameTable, LazyTable, Table

__all__ = ["open_table", "scan"]


def open_table(
    data: Any, choice: EngineChoice | None = None, wanted: Collection[str] = (), *, categories: Collection[str] = ()
) -> Table:
    """Return the table in a file, a folder, a database or a frame of any kind.

    An engine may be chosen for files. ``wanted`` are columns it should have; ``categories`` those known to have few
    values.
    """
    engine = choice or EngineChoice()
    if isinstance(data, str) and is_url(data):
        return _open_url(TableUrl.parse(data), engine)
    if isinstance(data, str | PathLike):
        return _open_path(data, engine, wanted)
    if isinstance(data, ReleasedFile):
        return FilesTable(data.name, [replace(data, categories=tuple(categories))])
    if type(data).__module__.startswith("discreet."):  # a table that is open already
        table: Table = data
        return table
    table = _open_frame(data)
    engine.check_frame(table.kind)
    return table


def scan(data: Any) -> pl.LazyFrame:
    """Return the rows of a file or folder as a plan of polars."""
    if isinstance(data, ReleasedFile):
        return data.scan()
    return (data if isinstance(data, FilesTable) else open_files(data)).scan()


def _open_url(url: TableUrl, engine: EngineChoice) -> Table:
    engine.check_database(url.database)
    if url.database == "spark":
        from discreet.release._audit._engines import spark_table

        return spark_table(url, engine.spark)
    from discreet.release._audit._databases import UrlTable

    return UrlTable(url)


def _open_path(path: str | PathLike[str], engine: EngineChoice, wanted: Collection[str]) -> Table:
    files = open_files(path, wanted)
    if engine.name == "duckdb":
        from discreet.release._audit._engines import FilesInDuckdb

        return FilesInDuckdb(files, engine.memory_limit)
    if engine.name == "spark":
        from discreet.release._audit._engines import files_in_spark

        return files_in_spark(files, engine.spark)
    files.check_rows()
    return files


def _open_frame(data: Any) -> Table:
    if type(data).__module__.partition(".")[0] == "narwhals":
        import narwhals as nw

        data = nw.to_native(data)
    if isinstance(data, pl.LazyFrame):
        return LazyTable(data)
    library = type(data).__module__.partition(".")[0]
    if library in ("polars", "pandas", "pyarrow"):
        return FrameTable(data)
    import narwhals as nw

    frame = nw.from_native(data, pass_through=True)
    if not isinstance(frame, nw.LazyFrame):
        return FrameTable(data)
    from discreet.release._audit import _relations

    kinds = {
        "duckdb": _relations.DuckdbTable,
        "pyspark": _relations.SparkTable,
        "pyspark_connect": _relations.SparkTable,
        "ibis": _relations.IbisTable,
    }
    name = frame.implementation.name.lower()
    if name not in kinds:
        raise UsageError(
            f"Lazy frames of {name} cannot be read; collect it to a frame in memory, "
            "or give one of polars, DuckDB, Spark or Ibis."
        )
    made: Table = kinds[name](data)
    return made
