"""Opens tables of all kinds with the reader they need."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from os import PathLike
from typing import Any

import polars as pl

from discreet.errors import UsageError
from discreet.pipeline.audit.files import FilesTable, ReleasedFile, open_files
from discreet.pipeline.audit.table import AuditedTable, FrameTable, LazyTable
from discreet.runtime.locations import TableUrl, is_url
from discreet.runtime.read_options import EngineChoice

__all__ = ["can_read_again", "open_table", "scan"]

_EAGER = ("polars", "pandas", "pyarrow")
"""Libraries of frames in memory."""


def open_table(
    data: Any, choice: EngineChoice | None = None, wanted: Collection[str] = (), *, categories: Collection[str] = ()
) -> AuditedTable:
    """Open the table in a file, a folder, a database or a frame of any kind.

    ``choice`` is the engine for files. ``wanted`` are columns the table should have; ``categories`` those known to have
    few values.
    """
    engine = choice or EngineChoice()
    if isinstance(data, str) and is_url(data):
        return _open_url(TableUrl.parse(data), engine)
    if isinstance(data, str | PathLike):
        return _open_path(data, engine, wanted)
    if isinstance(data, ReleasedFile):
        return FilesTable(data.name, [replace(data, categories=tuple(categories))])
    if callable(getattr(data, "groups", None)) and hasattr(data, "layout"):  # a table that is open already
        table: AuditedTable = data
        return table
    table = _open_frame(data)
    engine.check_frame(table.kind)
    return table


def can_read_again(data: Any) -> bool:
    """Whether a table is a file or a frame in memory, which returns the same rows when it is read again.

    A lazy plan, a database or a cluster might return others.
    """
    if isinstance(data, str | PathLike):
        return not is_url(data)
    return type(data).__module__.partition(".")[0] in _EAGER and not isinstance(data, pl.LazyFrame)


def scan(data: Any) -> pl.LazyFrame:
    """Return the rows of a file or folder as a lazy frame."""
    if isinstance(data, ReleasedFile):
        return data.scan()
    return (data if isinstance(data, FilesTable) else open_files(data)).scan()


def _open_url(url: TableUrl, engine: EngineChoice) -> AuditedTable:
    engine.check_database(url.database)
    if url.database == "spark":
        from discreet.pipeline.audit.engines import spark_table

        return spark_table(url, engine.spark)
    from discreet.pipeline.audit.databases import UrlTable

    return UrlTable(url)


def _open_path(path: str | PathLike[str], engine: EngineChoice, wanted: Collection[str]) -> AuditedTable:
    files = open_files(path, wanted)
    if engine.name == "duckdb":
        from discreet.pipeline.audit.engines import FilesInDuckdb

        return FilesInDuckdb(files, engine.memory_limit)
    if engine.name == "spark":
        from discreet.pipeline.audit.engines import files_in_spark

        return files_in_spark(files, engine.spark)
    files.check_rows()
    return files


def _open_frame(data: Any) -> AuditedTable:
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
    from discreet.pipeline.audit import relations

    kinds = {
        "duckdb": relations.DuckdbTable,
        "pyspark": relations.SparkTable,
        "pyspark_connect": relations.SparkTable,
        "ibis": relations.IbisTable,
    }
    name = frame.implementation.name.lower()
    if name not in kinds:
        raise UsageError(
            f"Lazy frames of {name} cannot be read; collect it to a frame in memory, "
            "or give one of polars, DuckDB, Spark or Ibis."
        )
    made: AuditedTable = kinds[name](data)
    return made
