"""A look at columns nobody decided about, on an engine that holds the table: only figures and a sample come here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import polars as pl

from discreet.engines._look import FETCHED, FEW, Look, in_memory
from discreet.engines._relation import Relation
from discreet.schema.identifying import ColumnFacts

__all__ = ["look_on_engine"]

_LONGEST = 500
"""Characters of a text that are looked at."""


def look_on_engine(relation: Relation, columns: Sequence[str], beside: Sequence[str]) -> Look:
    """Have an engine count: an estimate of all columns at once, and those of many values exactly."""
    names = [name for name in columns if not _cannot(relation.dtypes[relation.plain(name)])]
    shown = [name for name in dict.fromkeys([*names, *beside]) if not _cannot(relation.dtypes[relation.plain(name)])]
    with relation.running():
        first: pl.DataFrame = (
            relation.frame.select(*(_sampled(relation, name).alias(relation.plain(name)) for name in shown))
            .head(FETCHED + 1)
            .collect("polars")
            .to_native()
            if shown
            else pl.DataFrame()
        )
        first.columns = shown
        if first.height <= FETCHED and shown:
            return in_memory(first, names)
        keys = relation.frame.select(*(relation.key(name).alias(f"c{i}") for i, name in enumerate(names)))
        estimates = relation.backend.estimate(keys.to_native(), [f"c{i}" for i in range(len(names))]) if names else []
        rows, facts = estimates[0] if estimates else 0, {}
        for i, name in enumerate(names):
            distinct, missing, unique = estimates[1 + 2 * i], rows - estimates[2 + 2 * i], 0
            if distinct >= FEW * rows:
                distinct, unique = _alone(keys, f"c{i}")
            facts[name] = ColumnFacts(
                name, rows, missing, min(distinct, rows), unique, first[name].drop_nulls().unique(), exact=bool(unique)
            )
    return Look(facts, first.head(FETCHED), whole=False)


def _sampled(relation: Relation, name: str) -> nw.Expr:
    """Return a column as it is fetched: of long text its beginning, so that the sample stays small."""
    key = relation.key(name)
    return key.str.slice(0, _LONGEST) if relation.dtypes[relation.plain(name)] == nw.String else key


def _cannot(dtype: Any) -> bool:
    return bool(dtype.is_nested() or dtype in (nw.Binary, nw.Object))


def _alone(keys: nw.LazyFrame[Any], name: str) -> tuple[int, int]:
    """Return how many values a column has, and how many of them in one row only."""
    sizes = keys.filter(~nw.col(name).is_null()).group_by(name).agg(rows=nw.len())
    shapes = sizes.select(once=nw.when(nw.col("rows") == 1).then(nw.lit(1)).otherwise(nw.lit(0)))
    found: pl.DataFrame = shapes.select(values=nw.len(), once=nw.col("once").sum()).collect("polars").to_native()
    return int(found["values"][0] or 0), int(found["once"][0] or 0)
