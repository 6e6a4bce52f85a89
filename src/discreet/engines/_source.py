"""What the flow asks of a source of rows: its columns, one GROUP BY and one recoding, on every engine."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from os import PathLike
from typing import Any, Protocol, runtime_checkable

import polars as pl

from discreet._memory import check_memory
from discreet._places import TableUrl, is_url
from discreet.engines._engine import Engine
from discreet.engines._files import TableFile
from discreet.engines._parts import TableFiles, open_table
from discreet.engines._polars import FileSource, LazySource, PolarsSource
from discreet.engines._recoding import Recoding
from discreet.engines._which import is_wrapped, relation_of

__all__ = ["HoldsRows", "Source", "open_source", "to_lazy"]


class Source(Protocol):
    """A table that can be counted and recoded where it is."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""

    @property
    def kind(self) -> str:
        """What the table is, for people: the format of a file or the library of a frame."""

    @property
    def read_again(self) -> bool:
        """Whether a release that was written to a file is read from there when somebody asks for it."""

    @property
    def takes_codes(self) -> bool:
        """Whether rows that are written may have an Enum in place of text until they are in order."""

    @property
    def separator(self) -> str | None:
        """The separator of a file of delimited text."""

    def count(self, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
        """Return the distinct combinations of some columns and, as last column, how many rows have each.

        A missing value (null, None, NaN) is a value like any other here, and comes back as null. What the survey
        ``weights`` of the rows add up to comes after that (:data:`discreet.engines._weights.ADDED`).
        """

    def recode(self, recoding: Recoding, *, to_text: bool = False) -> Any:
        """Return the released table as the kind of frame that came in; what came in is not changed.

        With ``to_text`` it will only be written as text, so that a plan need not care for types.
        """

    def collect(self, released: Any) -> Any:
        """Return the released table: the kind of frame that came in, and for a file that of the engine.

        What was lazy in polars is in memory then; what another engine holds stays a plan.
        """

    def guard(self) -> AbstractContextManager[None]:
        """Say in one sentence what goes wrong when a plan of this source is run."""


@runtime_checkable
class HoldsRows(Protocol):
    """A source that may have its rows in memory."""

    def rows(self, columns: Sequence[str]) -> pl.DataFrame | None:
        """Return some columns as their values are compared, or None where rows are many or elsewhere.

        Text may come as categories.
        """


def open_source(data: Any, engine: Engine | None = None) -> Source:
    """Return the source for a path, the URL of a table, a lazy frame or a frame of any kind.

    An ``engine`` may be chosen for files.

    >>> open_source(pl.DataFrame({"age": [30, 30, 41]})).count(["age"]).sort("age").rows()
    [(30, 2), (41, 1)]
    """
    chosen = engine or Engine()
    if isinstance(data, str) and is_url(data):
        return _open_table(TableUrl.parse(data), chosen)
    if isinstance(data, str | PathLike):
        return _open_file(open_table(data), chosen)
    source = _open_frame(data)
    chosen.check_frame(source.kind)
    return source


def _open_table(url: TableUrl, engine: Engine) -> Source:
    engine.check_database(url.database)
    if url.database == "spark":
        from discreet.engines._lazy import RelationSource
        from discreet.engines._spark_table import spark_table

        return RelationSource(spark_table(url, engine.spark))
    from discreet.engines.database import DatabaseSource

    return DatabaseSource(url)


def _open_file(file: TableFile | TableFiles, engine: Engine) -> Source:
    relation = engine.open(file)
    if relation is None:
        check_memory(file.text_size)
        return FileSource(file)
    from discreet.engines._lazy import RelationSource

    return RelationSource(relation, file=file)


def _open_frame(data: Any) -> Source:
    if isinstance(data, pl.LazyFrame):
        return LazySource(data)
    if isinstance(data, pl.DataFrame):
        return PolarsSource(data)
    relation = relation_of(data)
    if relation is not None:
        from discreet.engines._lazy import RelationSource

        return RelationSource(relation, wrapped=is_wrapped(data))
    from discreet.engines._frames import EagerSource

    return EagerSource(data)


def to_lazy(data: Any, columns: Sequence[str] | None = None) -> pl.LazyFrame:
    """Return a frame in memory, a lazy frame of polars or a table told by its place as a plan of polars.

    Frames may be cut down to some columns.
    """
    if isinstance(data, str) and is_url(data):
        url = TableUrl.parse(data)
        if url.database == "spark":
            from discreet.engines._spark_table import scan_spark_table

            return scan_spark_table(url)
        from discreet.engines.database import DatabaseSource

        return DatabaseSource(url).scan()
    if isinstance(data, str | PathLike):
        return open_table(data).scan()
    if isinstance(data, pl.LazyFrame):
        return data
    if isinstance(data, pl.DataFrame):
        return data.lazy()
    from discreet.engines._frames import EagerSource

    return EagerSource(data).to_polars(columns).lazy()
