"""Several released tables, read and joined as whoever gets all of them does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import polars as pl

from discreet.errors import Argument, UsageError
from discreet.pipeline.audit.files import ReleasedFile
from discreet.pipeline.audit.readers import scan
from discreet.pipeline.audit.table import FrameTable, uniqueness
from discreet.runtime.joined_tables import JoinedTables, check_tables, join_tables, no_table_error
from discreet.runtime.locations import is_url
from discreet.runtime.read_options import EngineChoice

__all__ = ["read_tables", "uniqueness_of_tables"]


def read_tables(tables: Mapping[str, Any], person: str | None, engine: EngineChoice | None = None) -> JoinedTables:
    """Read and join tables; refuse rows of people who are not in the first one, or are there several times."""
    if engine is not None and engine.name not in ("auto", "polars"):
        raise UsageError(
            f"Several tables are joined in memory, not by {engine.name}; leave out ",
            Argument("engine"),
            ".",
            topic="several-tables",
        )
    check_tables(tables, person)
    return join_tables({name: _rows(name, table) for name, table in tables.items()}, person)


def _rows(name: str, table: Any) -> pl.DataFrame:
    """Read a table whole."""
    if isinstance(table, str) and is_url(table):
        raise UsageError(
            f"The table '{name}' is in a database, and several tables are joined in memory; give it as a file or a "
            "frame.",
            topic="several-tables",
        )
    if isinstance(table, ReleasedFile | str | PathLike):
        return scan(table).collect(engine="streaming")
    if isinstance(table, pl.LazyFrame):
        return table.collect(engine="streaming")
    if isinstance(table, pl.DataFrame):
        return table
    import narwhals as nw

    try:
        frame: pl.DataFrame = nw.from_native(table, eager_only=True).to_polars()
    except TypeError:
        raise no_table_error(name, table) from None
    return frame


def uniqueness_of_tables(
    tables: JoinedTables, columns: Sequence[str], unchanged: Sequence[str]
) -> tuple[dict[str, float], float | None]:
    """Return the share of rows that columns released unchanged single out, each in its own table, and all of a table.

    In the joined table a value of a person would occur as often as the person has rows.
    """
    each: dict[str, float] = {}
    together: list[float] = []
    for frame in tables.frames.values():
        own, share = uniqueness(FrameTable(frame), [name for name in columns if name in frame.columns], unchanged)
        each |= own
        together += [] if share is None else [share]
    return each, max(together, default=None)
