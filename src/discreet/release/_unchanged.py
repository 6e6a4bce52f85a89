"""How many rows of a released file are alone with their value of a column that was released as it is.

Counted from the file alone, so that whoever has it can count again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from discreet.engines import normalized, open_table
from discreet.release._undecided import share_text

__all__ = ["MOST_ROWS", "with_uniqueness"]

MOST_ROWS = 2_000_000
"""Values of larger files are not counted: of a column that numbers the rows all of them would have to be in memory."""


def with_uniqueness(files: Sequence[Path], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return each of some columns with the share of the rows of a file, or of several, that are alone with their value.

    The share is text, as reports have it; None where values are lists, records or bytes, or very many.
    """
    if not columns:
        return []
    plan = pl.concat([open_table(path).scan() for path in files])
    schema = plan.collect_schema()
    rows: int = plan.select(pl.len()).collect(engine="streaming").item()
    counted = [name for name in columns if rows <= MOST_ROWS and _is_countable(schema[name])]
    shares = {name: share_text(_share(plan, name, schema[name]), rows) for name in counted}
    return [{"name": name, "unique": shares.get(name)} for name in columns]


def _is_countable(dtype: pl.DataType) -> bool:
    return not (dtype.is_nested() or dtype in (pl.Object, pl.Binary))


def _share(plan: pl.LazyFrame, name: str, dtype: pl.DataType) -> float:
    """Return the share of the rows with a value whose value no other row has."""
    values = plan.select(normalized(name, dtype).alias("value")).drop_nulls()
    counts = values.group_by("value").len()
    alone = (pl.col("len") == 1).sum().alias("alone")
    found = counts.select(alone, pl.col("len").sum().alias("all")).collect(engine="streaming").row(0)
    return float(found[0] / found[1]) if found[1] else 0.0
