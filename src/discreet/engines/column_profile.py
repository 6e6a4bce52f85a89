"""Profiles of columns without a role: how many distinct values, how many rows are unique in theirs, and a sample.

A table in memory or on an engine is counted exactly up to :data:`EXACT` rows. For larger ones the number of distinct
values is estimated in one pass (HyperLogLog). Only where there are many is it worth knowing how many rows are unique,
which is estimated from a fraction of the *values* with all their rows. Databases count exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from discreet.engines.columns import exactly, normalized, unused
from discreet.schema.identifying import ColumnFacts

__all__ = ["EXACT", "FETCHED", "FEW", "ColumnProfiles", "countable", "profile_plan", "profile_rows"]

EXACT = 250_000
"""Most rows in memory that are counted exactly."""
SAMPLE = 10_000
"""The rows of a sample."""
FETCHED = 1_000
"""The most rows fetched from an engine or a database for a sample."""
FEW = 0.005
"""With fewer distinct values per row than this, next to no row is unique."""


@dataclass(frozen=True, eq=False)
class ColumnProfiles:
    """The profiles of some columns of a table."""

    facts: Mapping[str, ColumnFacts]
    """By column; columns of lists, records or bytes have none."""
    sample: pl.DataFrame
    """Rows of the table, with all requested columns that can be shown."""
    whole: bool
    """Whether the sample is the whole table."""


def countable(schema: Mapping[str, pl.DataType], columns: Sequence[str]) -> list[str]:
    """Return the columns whose values can be counted."""
    return [name for name in columns if not (schema[name].is_nested() or schema[name] in (pl.Object, pl.Binary))]


def profile_rows(table: pl.DataFrame, columns: Sequence[str]) -> ColumnProfiles:
    """Profile columns of a table in memory; the sample has all columns of the table."""
    rows = table.height
    step = -(-rows // SAMPLE) or 1
    sample = table.select(map(exactly, countable(table.schema, table.columns)))
    sample = sample.gather_every(step) if step > 1 else sample
    facts = {}
    for name in countable(table.schema, columns):
        values = table[name].fill_nan(None) if table[name].dtype.is_float() else table[name]
        if rows <= EXACT:
            facts[name] = ColumnFacts.of(name, values)
        else:
            distinct = min(int(values.to_frame().select(pl.all().approx_n_unique()).item()), rows)
            sizes = None if distinct < FEW * rows else _sizes_of_some(values.to_frame().lazy(), name, rows).collect()
            facts[name] = _estimate(ColumnFacts(name, rows, values.null_count(), distinct, 0, sample[name]), sizes)
    return ColumnProfiles(facts, sample, step == 1)


def profile_plan(plan: pl.LazyFrame, columns: Sequence[str]) -> ColumnProfiles:
    """Profile columns of a table that is not in memory.

    One pass yields the estimates and the sample, a second one counts columns of many values.
    """
    schema = plan.collect_schema()
    names = countable(schema, columns)
    if not countable(schema, schema.names()):
        return ColumnProfiles({}, pl.DataFrame(), whole=True)
    rows: int = plan.select(pl.len()).collect(engine="streaming").item()
    step = -(-rows // SAMPLE) or 1
    index = unused("row", schema)
    shown = [normalized(name, schema[name]) for name in countable(schema, schema.names())]
    every = plan.with_row_index(index).filter(pl.col(index) % step == 0).select(shown)
    if rows <= SAMPLE:
        return profile_rows(every.collect(engine="streaming"), names)
    keys = [normalized(name, schema[name]) for name in names]
    estimates = plan.select(
        [key.approx_n_unique().alias(f"d{number}") for number, key in enumerate(keys)]
        + [key.null_count().alias(f"n{number}") for number, key in enumerate(keys)]
        or [pl.len()]
    )
    found, sample = pl.collect_all([estimates, every], engine="streaming")
    many = [name for number, name in enumerate(names) if found[f"d{number}"][0] >= FEW * rows]
    counted = pl.collect_all([_sizes_of_some(plan, name, rows) for name in many], engine="streaming") if many else []
    sizes = dict(zip(many, counted, strict=True))
    facts = {}
    for number, name in enumerate(names):
        missing, distinct = found[f"n{number}"][0], min(found[f"d{number}"][0], rows)
        facts[name] = _estimate(ColumnFacts(name, rows, missing, distinct, 0, sample[name]), sizes.get(name))
    return ColumnProfiles(facts, sample, whole=False)


def _sizes_of_some(plan: pl.LazyFrame, name: str, rows: int) -> pl.LazyFrame:
    """Return the number of rows of each value in a fraction of the values, chosen by their hash."""
    part = max(1, rows // EXACT)
    key = exactly(name)
    values = plan.select(key).filter(key.is_not_null() & (key.hash(seed=0) % part == 0))
    return values.group_by(key.alias("value")).agg(pl.len().alias("rows")).select("rows")


def _estimate(facts: ColumnFacts, sizes: pl.DataFrame | None) -> ColumnFacts:
    """Return the facts as an estimate, which the ``sizes`` of some values make more precise."""
    facts = replace(facts, sample=facts.sample.drop_nulls().unique(), exact=False)
    if sizes is None:
        return facts
    part = max(1, facts.rows // EXACT)
    unique = int((sizes["rows"] == 1).sum())
    return replace(facts, distinct=min(sizes.height * part, facts.known), unique=min(unique * part, facts.known))
