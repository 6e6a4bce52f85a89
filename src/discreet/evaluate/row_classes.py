"""The equivalence class of each row of a table, in the order of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines import relation_of, to_lazy
from discreet.errors import DataError, UsageError
from discreet.evaluate.classes import CountedClasses
from discreet.runtime.integer_codes import numbered
from discreet.runtime.locations import is_url

__all__ = ["class_of_rows", "draw_rows", "rows_in_order"]


def rows_in_order(table: Any, columns: Sequence[str]) -> pl.DataFrame:
    """Return some columns of a table, with its rows in order and NaN as a missing value."""
    if relation_of(table) is not None or (isinstance(table, str) and is_url(table)):
        raise UsageError("The rows of a database or cluster have no order; read them into a frame first.")
    frame = to_lazy(table)
    known = frame.collect_schema()
    for column in columns:
        if column not in known:
            raise UsageError(f"Column '{column}' is made of several columns; join them into one first.")
    floats = [name for name in columns if known[name].is_float()]
    return frame.select(columns).with_columns(pl.col(floats).fill_nan(None)).collect()


def draw_rows(rows: pl.DataFrame, person: str, seed: int) -> NDArray[np.int64]:
    """Return the numbers of one row of each person, drawn at random, in their order."""
    number = np.random.default_rng(seed).permutation(rows.height)
    shuffled = pl.DataFrame({"row": number, "person": rows[person].gather(number)})
    return shuffled.unique("person", keep="first", maintain_order=True)["row"].sort().to_numpy()


def class_of_rows(table: Any, classes: CountedClasses) -> NDArray[np.int64]:
    """Return the class of each row of a table that was counted, in the order of its rows; -1 if it has none."""
    rows = rows_in_order(table, classes.columns)
    codes = [_codes(rows[name], classes.values[name]) for name in classes.columns]
    both = (np.concatenate([own, code]) for own, code in zip(classes.codes, codes, strict=True))
    widths = (classes.width(name) for name in classes.columns)
    count = classes.sizes.size
    number, distinct = numbered(count + rows.height, zip(both, widths, strict=True))
    owner = np.full(distinct, -1, dtype=np.int64)
    owner[number[:count]] = np.arange(count)
    return np.asarray(owner[number[count:]])


def _codes(values: pl.Series, known: pl.Series) -> NDArray[np.int64]:
    """Return the index of each value among the known ones."""
    if values.dtype != known.dtype:
        values = values.cast(known.dtype)
    codes = values.replace_strict(known, np.arange(len(known)), default=None, return_dtype=pl.Int64)
    if codes.has_nulls():
        raise DataError(
            f"Column '{values.name}' has other values than were counted; read the table into a frame first."
        )
    return codes.to_numpy().astype(np.int64)
