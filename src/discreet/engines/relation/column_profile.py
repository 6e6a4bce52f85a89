"""Column profiles of a table on an engine: only figures and a small sample are fetched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import polars as pl

from discreet.engines.column_profile import EXACT, FETCHED, FEW, ColumnProfiles, profile_rows
from discreet.engines.relation.relation import Relation
from discreet.schema.identifying import ColumnFacts

__all__ = ["profile_relation"]

_LONGEST = 500
"""The most characters fetched of a text."""


def profile_relation(relation: Relation, columns: Sequence[str], beside: Sequence[str]) -> ColumnProfiles:
    """Have the engine estimate all columns at once, and count a fraction of the values of those that have many.

    Up to :data:`EXACT` rows, or without a hash to choose values by, all values are counted.
    """
    names = _countable(relation, columns)
    shown = _countable(relation, list(dict.fromkeys([*names, *beside])))
    with relation.running():
        first = _first_rows(relation, shown)
        if first.height <= FETCHED and shown:
            return profile_rows(first, names)
        keys = relation.frame.select(*(relation.key(name).alias(f"c{i}") for i, name in enumerate(names)))
        estimates = relation.backend.estimate(keys.to_native(), [f"c{i}" for i in range(len(names))]) if names else []
        rows, facts = estimates[0] if estimates else 0, {}
        parts = max(1, rows // EXACT)
        for i, name in enumerate(names):
            distinct, missing, unique, exact = estimates[1 + 2 * i], rows - estimates[2 + 2 * i], 0, False
            if distinct >= FEW * rows:
                some = relation.backend.some_values(keys.to_native(), f"c{i}", parts) if parts > 1 else None
                distinct, unique = _distinct_and_unique(keys if some is None else nw.from_native(some), f"c{i}")
                exact = some is None and unique > 0
                if some is not None:
                    distinct, unique = distinct * parts, min(unique * parts, rows - missing)
            sample = first[name].drop_nulls().unique()
            facts[name] = ColumnFacts(name, rows, missing, min(distinct, rows), unique, sample, exact=exact)
    return ColumnProfiles(facts, first.head(FETCHED), whole=False)


def _countable(relation: Relation, columns: Sequence[str]) -> list[str]:
    dtypes = {name: relation.dtypes[relation.plain(name)] for name in columns}
    return [name for name, dtype in dtypes.items() if not (dtype.is_nested() or dtype in (nw.Binary, nw.Object))]


def _first_rows(relation: Relation, columns: Sequence[str]) -> pl.DataFrame:
    """Fetch one row more than a sample has; long text is cut off, so that the sample stays small."""
    if not columns:
        return pl.DataFrame()
    keys = []
    for name in columns:
        key, plain = relation.key(name), relation.plain(name)
        keys.append((key.str.slice(0, _LONGEST) if relation.dtypes[plain] == nw.String else key).alias(plain))
    first: pl.DataFrame = relation.frame.select(*keys).head(FETCHED + 1).collect("polars").to_native()
    first.columns = list(columns)
    return first


def _distinct_and_unique(keys: nw.LazyFrame[Any], name: str) -> tuple[int, int]:
    """Return the number of distinct values of a column, and of those that occur in one row only."""
    sizes = keys.filter(~nw.col(name).is_null()).group_by(name).agg(rows=nw.len())
    shapes = sizes.select(once=nw.when(nw.col("rows") == 1).then(nw.lit(1)).otherwise(nw.lit(0)))
    found: pl.DataFrame = shapes.select(values=nw.len(), once=nw.col("once").sum()).collect("polars").to_native()
    return int(found["values"][0] or 0), int(found["once"][0] or 0)
