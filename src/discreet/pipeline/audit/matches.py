"""Rows that match where a hidden cell is equal to every value, counted from scratch.

Classes are sorted by which of their cells are hidden. For two such patterns, classes match if they agree in all columns
that neither hides, which one grouping by these columns finds. So p patterns of n classes take O(p · n), not O(n²).
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["count_matches", "has_hidden"]

_MARK = "*"


def count_matches(keys: pl.DataFrame, sizes: NDArray[np.int64], *, missing: bool = False) -> NDArray[np.int64]:
    """Return how many rows match the rows of each class, themselves included.

    A cell is hidden if it is ``*``, and with ``missing`` also if it has no value.

    >>> table = pl.DataFrame({"sex": ["m", "m", "*"], "age": [30, 40, 40]})
    >>> count_matches(table, np.array([1, 1, 1])).tolist()
    [1, 2, 2]
    """
    hidden = np.array([has_hidden(keys[name], missing=missing).to_numpy() for name in keys.columns], dtype=np.bool_)
    codes = keys.select(pl.all().rank("dense").fill_null(0).cast(pl.Int64))
    table = codes.with_columns(row=np.arange(sizes.size), rows=sizes)
    patterns, of_class = np.unique(hidden.T, axis=0, return_inverse=True)
    parts = [table.filter(pl.Series(of_class.reshape(-1) == p)) for p in range(len(patterns))]
    found = np.zeros(sizes.size, dtype=np.int64)
    for pattern, part in zip(patterns, parts, strict=True):
        for other, others in zip(patterns, parts, strict=True):
            shown = [name for name, hides in zip(keys.columns, pattern | other, strict=True) if not hides]
            found[part["row"].to_numpy()] += _matching(part, others, shown)
    return found


def _matching(part: pl.DataFrame, others: pl.DataFrame, shown: list[str]) -> NDArray[np.int64]:
    """Return how many rows of the others agree with each class in the columns shown."""
    if not shown:
        return np.full(part.height, int(others["rows"].sum()), dtype=np.int64)
    counts = others.group_by(shown).agg(matches=pl.col("rows").sum())
    joined = part.join(counts, on=shown, how="left", maintain_order="left")
    return joined["matches"].fill_null(0).to_numpy().astype(np.int64)


def has_hidden(values: pl.Series, *, missing: bool) -> pl.Series:
    """Return which cells of a column are hidden."""
    text = values.dtype == pl.String
    marked = values.eq_missing(_MARK) if text else pl.repeat(False, len(values), dtype=pl.Boolean, eager=True)
    return marked | values.is_null() if missing else marked
