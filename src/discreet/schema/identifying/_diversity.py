"""What can be said about a sensitive column before anything is asked of it."""

from __future__ import annotations

import polars as pl

__all__ = ["near_duplicates", "suggest_diversity"]

_USUAL = 3
"""The diversity that is proposed where nothing speaks against it."""


def suggest_diversity(distinct: int, most_frequent: float = 0.0) -> int | None:
    """Return a sensible l for ``distinct-l``: at most the number of distinct values; None where none makes sense.

    ``most_frequent`` is the share of the rows that have the most frequent value. Where nearly all have it, few classes
    can hold three values, and two is proposed.

    >>> suggest_diversity(12), suggest_diversity(2), suggest_diversity(1), suggest_diversity(5, 0.95)
    (3, 2, None, 2)
    """
    if distinct < 2:
        return None
    return min(distinct, 2 if most_frequent > 0.9 else _USUAL)


def near_duplicates(values: pl.Series) -> int:
    """Return how many of the distinct ``values`` differ from another one only in case, spaces or the last digits.

    Such values count as different ones for diversity, though they tell a reader the same.

    >>> near_duplicates(pl.Series(["Flu", "flu ", "Cold"])), near_duplicates(pl.Series([50_000.01, 50_000.02, 7.0]))
    (2, 2)
    """
    known = values.drop_nulls()
    if known.dtype.is_float():
        known = known.filter(known.is_finite()).unique()
        alike = known.round_sig_figs(4)
    elif known.dtype == pl.String or isinstance(known.dtype, pl.Categorical | pl.Enum):
        known = known.cast(pl.String).unique()
        alike = known.str.to_lowercase().str.replace_all(r"[\s_\-.]+", "")
        alike = alike.str.replace(r"^(.*\d{3}[.,]?\d*?)\d$", "${1}")
    elif known.dtype.is_integer():
        known = known.cast(pl.Int64, strict=False).drop_nulls()
        known = known.filter((known >= 1000) | (known <= -1000)).unique()
        alike = known // 10
    else:
        return 0
    return int(alike.is_duplicated().sum())
