"""Several released tables, joined as whoever gets all of them joins them: by the column of people.

The first table has one row for each person. In the joined table every person has a row for each combination of the rows
of the other tables, without values where there are none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import polars as pl

from discreet.errors import Argument, DataError, UsageError
from discreet.pipeline.audit.files import ReleasedFile
from discreet.pipeline.audit.readers import scan
from discreet.pipeline.audit.table import FrameTable
from discreet.pipeline.audit.uniqueness import uniqueness
from discreet.pipeline.audit.values import by_name
from discreet.runtime.locations import is_url
from discreet.runtime.plurals import amount
from discreet.runtime.read_options import EngineChoice

__all__ = ["ReleasedTables", "read_tables"]


class ReleasedTables(NamedTuple):
    """Several tables that were read, and what they are joined."""

    joined: pl.DataFrame
    frames: Mapping[str, pl.DataFrame]
    """The tables under the names that their columns have in the joined one."""
    presence: tuple[str, ...]
    """Columns that say whether a person has rows in a table, if some people have none."""


def read_tables(tables: Mapping[str, Any], person: str | None, engine: EngineChoice | None = None) -> ReleasedTables:
    """Read and join tables; refuse rows of people who are not in the first one, or are there several times."""
    if engine is not None and engine.name not in ("auto", "polars"):
        raise UsageError(
            f"Several tables are joined in memory, not by {engine.name}; leave out ",
            Argument("engine"),
            ".",
            topic="several-tables",
        )
    if person is None:
        raise UsageError(
            "Several tables are linked by the column that says whose rows they are; name it with ",
            Argument("person"),
            ".",
            topic="several-tables",
        )
    read = {name: _rows(name, table) for name, table in tables.items()}
    for name, frame in read.items():
        if person not in frame.columns:
            raise DataError(
                f"The table '{name}' has no column '{person}', which links the tables.",
                column=person,
                topic="several-tables",
            )
    times = Counter(column for frame in read.values() for column in frame.columns if column != person)
    frames = {
        name: frame.rename({column: f"{name}.{column}" for column in frame.columns if times[column] > 1})
        for name, frame in read.items()
    }
    people, *others = frames
    joined = frames[people]
    if joined[person].null_count() or joined[person].n_unique() < joined.height:
        raise DataError(
            f"The table '{people}' does not have one row for each person in '{person}'; name the table of people "
            "first.",
            column=person,
            topic="several-tables",
        )
    absent = []
    for name in others:
        own, mark = frames[name], f"any {name}"
        if own[person].dtype != joined[person].dtype:
            own, joined = (frame.with_columns(by_name(person).cast(pl.String)) for frame in (own, joined))
        lost = own.join(joined, on=person, how="anti").height
        if lost:
            raise DataError(
                f"The table '{name}' has {amount(lost, 'row')} of people who are not in '{people}'.",
                column=person,
                topic="several-tables",
            )
        joined = joined.join(own.with_columns(pl.lit("yes").alias(mark)), on=person, how="left")
        if joined[mark].null_count():
            absent.append(mark)
        joined = joined.with_columns(by_name(mark).fill_null("no"))
    return ReleasedTables(joined, frames, tuple(absent))


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

    frame: pl.DataFrame = nw.from_native(table, eager_only=True).to_polars()
    return frame


def uniqueness_of_tables(
    tables: ReleasedTables, columns: Sequence[str], unchanged: Sequence[str]
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
