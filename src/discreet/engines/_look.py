"""A look at columns nobody decided about: how many values they have, how many rows are alone with theirs, a sample.

A table in memory is counted exactly up to :data:`EXACT` rows. Of a larger one the number of different values is
estimated in one pass (HyperLogLog); only where there are many is it worth knowing how many rows are alone, which is
estimated from a share of the *values* with all their rows. Engines and databases count exactly, where they are.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import polars as pl

from discreet.engines._names import exactly, unused
from discreet.engines._polars import FileSource, InMemorySource, LazySource
from discreet.engines._recoding import normalized
from discreet.engines._source import Source
from discreet.errors import DataError
from discreet.schema.identifying import ColumnFacts

__all__ = ["FETCHED", "FEW", "Look", "in_memory", "look_at"]

EXACT = 250_000
"""Up to so many rows in memory are counted exactly."""
SAMPLE = 10_000
"""So many rows are looked at one by one."""
FETCHED = 1_000
"""So many rows at most are fetched from an engine or a database for that."""
FEW = 0.005
"""Where there are fewer values per row than this, next to nobody is alone with one."""


_PLAIN = (str, int, float, Decimal, datetime.date, datetime.time, datetime.timedelta, UUID, np.generic)
"""Values that show what they are when they are written as text."""


@dataclass(frozen=True, eq=False)
class Look:
    """What a look at some columns found."""

    facts: Mapping[str, ColumnFacts]
    """By column; columns of lists, records or bytes are not among them."""
    sample: pl.DataFrame
    """Rows of the table, with all columns that were looked at and can be."""
    whole: bool
    """Whether the sample is the whole table."""


def look_at(source: Source, columns: Sequence[str], beside: Sequence[str] = ()) -> Look:
    """Count some columns of a source, each by itself, and take a sample of them and of those ``beside``."""
    if isinstance(source, InMemorySource):
        return in_memory(_as_polars(source, [*columns, *beside]), columns)
    if isinstance(source, FileSource):
        with source.guard():
            held = source._hold()
            wanted = list(dict.fromkeys([*columns, *beside]))
            if held is not None:
                return in_memory(held.select(map(exactly, wanted)), columns)
            return _in_passes(source.file.scan().select(map(exactly, wanted)), columns)
    if isinstance(source, LazySource):
        with source.guard():
            return _in_passes(source.frame.select(map(exactly, dict.fromkeys([*columns, *beside]))), columns)
    if hasattr(source, "relation"):
        from discreet.engines._look_engine import look_on_engine

        return look_on_engine(source.relation, columns, beside)
    return _counted(source, columns, beside)


def _as_polars(source: InMemorySource, columns: Sequence[str]) -> pl.DataFrame:
    """Return columns of a frame; those that mix types are looked at as text."""
    wanted, found = list(dict.fromkeys(columns)), {}
    with suppress(DataError):
        return source.to_polars(wanted)
    for column in wanted:
        try:
            found[column] = source.to_polars([column])[column]
        except DataError:
            values = source.frame.get_column(column).to_list()
            found[column] = _mixed(column, values)
    return pl.DataFrame(found)


def _mixed(column: str, values: Sequence[Any]) -> pl.Series:
    """Return values of several types as text, or as objects, which are not looked at, if one has parts."""
    if any(value is not None and not isinstance(value, _PLAIN) for value in values):
        return pl.Series(column, values, pl.Object)
    return pl.Series(column, [None if value is None else str(value) for value in values], pl.String)


def _usable(schema: Mapping[str, pl.DataType], columns: Sequence[str]) -> list[str]:
    """Return the columns whose values can be counted."""
    return [name for name in columns if not (schema[name].is_nested() or schema[name] in (pl.Object, pl.Binary))]


def in_memory(table: pl.DataFrame, columns: Sequence[str]) -> Look:
    """Look at a table in memory."""
    rows = table.height
    step = -(-rows // SAMPLE) or 1
    shown = _usable(table.schema, table.columns)
    sample = table.select(map(exactly, shown)).gather_every(step) if step > 1 else table.select(map(exactly, shown))
    facts = {}
    for name in _usable(table.schema, columns):
        values = table[name].fill_nan(None) if table[name].dtype.is_float() else table[name]
        if rows <= EXACT:
            facts[name] = ColumnFacts.of(name, values)
        else:
            known = values.null_count()
            distinct = min(int(values.to_frame().select(pl.all().approx_n_unique()).item()), rows)
            counted = None if distinct < FEW * rows else _some_values(values.to_frame().lazy(), name, rows).collect()
            facts[name] = _estimated(name, rows, known, distinct, counted, sample[name])
    return Look(facts, sample, step == 1)


def _in_passes(plan: pl.LazyFrame, columns: Sequence[str]) -> Look:
    """Look at a table that is not in memory: one pass for figures and the sample, one for columns of many values."""
    schema = plan.collect_schema()
    names = _usable(schema, columns)
    if not _usable(schema, schema.names()):
        return Look({}, pl.DataFrame(), whole=True)
    rows: int = plan.select(pl.len()).collect(engine="streaming").item()
    step = -(-rows // SAMPLE) or 1
    place = unused("row", schema)
    shown = [normalized(name, schema[name]) for name in _usable(schema, schema.names())]
    every = plan.with_row_index(place).filter(pl.col(place) % step == 0).select(shown)
    if rows <= SAMPLE:
        return in_memory(every.collect(engine="streaming"), names)
    keys = [normalized(name, schema[name]) for name in names]
    figures = plan.select(
        [key.approx_n_unique().alias(f"d{number}") for number, key in enumerate(keys)]
        + [key.null_count().alias(f"n{number}") for number, key in enumerate(keys)]
        or [pl.len()]
    )
    found, sample = pl.collect_all([figures, every], engine="streaming")
    many = [name for number, name in enumerate(names) if found[f"d{number}"][0] >= FEW * rows]
    counted = pl.collect_all([_some_values(plan, name, rows) for name in many], engine="streaming") if many else []
    closer = dict(zip(many, counted, strict=True))
    facts = {
        name: _estimated(name, rows, found[f"n{i}"][0], min(found[f"d{i}"][0], rows), closer.get(name), sample[name])
        for i, name in enumerate(names)
    }
    return Look(facts, sample, whole=False)


def _some_values(plan: pl.LazyFrame, name: str, rows: int) -> pl.LazyFrame:
    """Return how many rows have each of some of the values: those whose hash is a multiple of so many."""
    part = max(1, rows // EXACT)
    key = exactly(name)
    values = plan.select(key).filter(key.is_not_null() & (key.hash(seed=0) % part == 0))
    return values.group_by(key.alias("value")).agg(pl.len().alias("rows")).select("rows")


def _estimated(
    name: str, rows: int, missing: int, distinct: int, counted: pl.DataFrame | None, sample: pl.Series
) -> ColumnFacts:
    unique = 0
    if counted is not None:
        part = max(1, rows // EXACT)
        distinct = min(counted.height * part, rows - missing)
        unique = min(int((counted["rows"] == 1).sum()) * part, rows - missing)
    return ColumnFacts(name, rows, missing, distinct, unique, sample.drop_nulls().unique(), exact=False)


def _counted(source: Any, columns: Sequence[str], beside: Sequence[str]) -> Look:
    """Look at a table of a database: it counts, and sends the first rows."""
    schema = source.scan().collect_schema()
    names = [name for name in _usable(schema, columns) if name not in source.opaque]
    shown = [name for name in _usable(schema, list(dict.fromkeys([*names, *beside]))) if name not in source.opaque]
    sample: pl.DataFrame = source.first(shown, FETCHED + 1) if shown else pl.DataFrame()
    if sample.height <= FETCHED:
        return in_memory(sample, names)
    figures = source.figures(names)
    facts = {
        name: ColumnFacts(name, rows, missing, distinct, unique, sample[name].drop_nulls().unique())
        for name, (rows, missing, distinct, unique) in figures.items()
    }
    return Look(facts, sample.head(FETCHED), whole=False)
