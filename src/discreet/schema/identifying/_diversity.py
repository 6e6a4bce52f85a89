"""Suggestions about a sensitive column: a sensible l, and values that are nearly the same."""

from __future__ import annotations

import polars as pl

__all__ = ["near_duplicates", "suggest_diversity"]

_USUAL = 3
"""The default suggestion."""
_ROUNDING = 1e-9
"""Numbers whose relative difference is less than this are the same but for rounding."""


def suggest_diversity(distinct: int, most_frequent: float = 0.0) -> int | None:
    """Return a sensible l for ``distinct-l``: at most the number of distinct values; None if none makes sense.

    ``most_frequent`` is the share of the rows that have the most frequent value. Where nearly all have it, few classes
    can hold three values, and two is proposed.

    >>> suggest_diversity(12), suggest_diversity(2), suggest_diversity(1), suggest_diversity(5, 0.95)
    (3, 2, None, 2)
    """
    if distinct < 2:
        return None
    return min(distinct, 2 if most_frequent > 0.9 else _USUAL)


def near_duplicates(values: pl.Series) -> int:
    """Return how many of the distinct ``values`` differ from another one only in case, spaces or by rounding.

    Such values count as different ones for diversity, though they tell a reader the same. Numbers and dates that are
    close to each other are different values.

    >>> near_duplicates(pl.Series(["Flu", "flu ", "Cold"])), near_duplicates(pl.Series([0.1 + 0.2, 0.3, 0.31]))
    (2, 2)
    """
    known = values.drop_nulls()
    if known.dtype.is_float():
        known = known.filter(known.is_finite()).unique().sort()
        close = known.diff() <= _ROUNDING * pl.select(pl.max_horizontal(known.abs(), known.shift(1).abs())).to_series()
        return int((close | close.shift(-1)).fill_null(False).sum())
    if known.dtype == pl.String or isinstance(known.dtype, pl.Categorical | pl.Enum):
        known = known.cast(pl.String).unique()
        words = known.filter(known.str.contains(r"\p{L}"))
        alike = words.str.to_lowercase().str.replace_all(r"[\s_\-.]+", "")
        return int(alike.is_duplicated().sum())
    return 0
