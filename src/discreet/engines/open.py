"""Open a path, a table URL or a frame of any kind as a source.

Engines other than polars are imported only when a table needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engines.files.formats import Format
from discreet.engines.files.table_file import TableFile
from discreet.engines.files.table_files import TableFiles, open_table
from discreet.engines.polars.source import FileSource, LazySource, PolarsSource
from discreet.engines.relation.backends import is_wrapped, relation_of
from discreet.engines.source import Source
from discreet.runtime.locations import TableUrl, is_url
from discreet.runtime.machine_limits import check_memory
from discreet.runtime.read_options import EngineChoice

if TYPE_CHECKING:
    from discreet.engines.relation.relation import Relation

__all__ = ["Engine", "layout_of", "open_source", "scan_table", "to_lazy"]


@dataclass(frozen=True)
class Engine(EngineChoice):
    """A choice of engine that can open files."""

    def open(self, file: TableFile | TableFiles) -> Relation | None:
        """Return a file, or several, as a relation of the engine; None for polars, which needs none."""
        if self.name == "duckdb":
            from discreet.engines.relation.duckdb import read_file

            return read_file(file, self.memory_limit)
        if self.name == "spark":
            from discreet.engines.relation.spark import read_file as read_with_spark

            return read_with_spark(file, self.spark)
        return None


def open_source(data: Any, engine: Engine | None = None) -> Source:
    """Return the source for a path, a table URL, a lazy frame or a frame of any kind.

    An ``engine`` may be chosen for files.

    >>> open_source(pl.DataFrame({"age": [30, 30, 41]})).count(["age"]).sort("age").rows()
    [(30, 2), (41, 1)]
    """
    chosen = engine or Engine()
    if isinstance(data, str) and is_url(data):
        return _open_url(TableUrl.parse(data), chosen)
    if isinstance(data, str | PathLike):
        return _open_file(open_table(data), chosen)
    source = _open_frame(data)
    chosen.check_frame(source.kind)
    return source


def layout_of(source: Source) -> Format | None:
    """Return the format of the file that a source reads, with its separator; None for frames and databases."""
    file = getattr(source, "file", None)
    if file is None:
        return None
    found: Format = file.format
    return found if file.dialect is None else replace(found, separator=file.dialect.separator)


def _open_url(url: TableUrl, engine: Engine) -> Source:
    engine.check_database(url.database)
    if url.database == "spark":
        from discreet.engines.relation.source import RelationSource
        from discreet.engines.relation.spark import open_spark_table

        return RelationSource(open_spark_table(url, engine.spark))
    from discreet.engines.sql.source import DatabaseSource

    return DatabaseSource(url)


def _open_file(file: TableFile | TableFiles, engine: Engine) -> Source:
    relation = engine.open(file)
    if relation is None:
        check_memory(file.text_size)
        return FileSource(file)
    from discreet.engines.relation.source import RelationSource

    return RelationSource(relation, file=file)


def _open_frame(data: Any) -> Source:
    if isinstance(data, pl.LazyFrame):
        return LazySource(data)
    if isinstance(data, pl.DataFrame):
        return PolarsSource(data)
    relation = relation_of(data)
    if relation is not None:
        from discreet.engines.relation.source import RelationSource

        return RelationSource(relation, wrapped=is_wrapped(data))
    from discreet.engines.polars.frames import EagerSource

    return EagerSource(data)


def to_lazy(data: Any, columns: Sequence[str] | None = None) -> pl.LazyFrame:
    """Return a path, a table URL, a frame in memory or a lazy polars frame as a polars plan.

    Frames other than polars may be cut down to some columns.
    """
    if isinstance(data, str) and is_url(data):
        return scan_table(TableUrl.parse(data))
    if isinstance(data, str | PathLike):
        return open_table(data).scan()
    if isinstance(data, pl.LazyFrame):
        return data
    if isinstance(data, pl.DataFrame):
        return data.lazy()
    from discreet.engines.polars.frames import EagerSource

    return EagerSource(data).to_polars(columns).lazy()


def scan_table(url: TableUrl) -> pl.LazyFrame:
    """Return a database table as a polars plan that fetches its rows; a Spark table is fetched at once."""
    if url.database == "spark":
        from discreet.engines.relation.spark import scan_spark_table

        return scan_spark_table(url)
    from discreet.engines.sql.source import DatabaseSource

    return DatabaseSource(url).scan()
