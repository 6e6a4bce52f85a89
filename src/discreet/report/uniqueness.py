"""How unique the values of unchanged columns are, counted from the released file so that anybody can count again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from discreet.engines import normalized, open_table
from discreet.report.numbers import rounded_percent

__all__ = ["MOST_ROWS", "with_uniqueness"]

MOST_ROWS = 2_000_000
"""Larger files are not counted: all values of a column that numbers the rows would have to fit into memory."""


def with_uniqueness(files: Sequence[Path], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the columns of a table in one file or several, each with its share of unique values.

    The share is text, as in reports; None where values are lists, structs or bytes, or where there are too many rows.
    """
    if not columns:
        return []
    plan = pl.concat([open_table(path).scan() for path in files])
    schema = plan.collect_schema()
    rows: int = plan.select(pl.len()).collect(engine="streaming").item()
    counted = [name for name in columns if rows <= MOST_ROWS and _is_countable(schema[name])]
    shares = {name: rounded_percent(_share(plan, name, schema[name]), rows) for name in counted}
    return [{"name": name, "unique": shares.get(name)} for name in columns]


def _is_countable(dtype: pl.DataType) -> bool:
    return not (dtype.is_nested() or dtype in (pl.Object, pl.Binary))


def _share(plan: pl.LazyFrame, name: str, dtype: pl.DataType) -> float:
    """Return the share of the non-missing values that occur once."""
    values = plan.select(normalized(name, dtype).alias("value")).drop_nulls()
    counts = values.group_by("value").len()
    alone = (pl.col("len") == 1).sum().alias("alone")
    found = counts.select(alone, pl.col("len").sum().alias("all")).collect(engine="streaming").row(0)
    return float(found[0] / found[1]) if found[1] else 0.0
