"""Make tables safe for spreadsheets, which run text that starts with ``=`` and the like as a formula."""

from __future__ import annotations

from typing import Any

import polars as pl
from polars import selectors

from discreet.engines.open import to_lazy

__all__ = ["count_formulas", "without_formulas"]

_LIKE_FORMULA = "^'*[=+\\-@\\t\\r\\n]"
"""What some program takes for a formula. Leading apostrophes are included, so that escaping stays reversible."""
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
"""Signed numbers are not formulas."""


def without_formulas(data: Any) -> pl.LazyFrame:
    """Prefix every text and column name that starts like a formula with an apostrophe.

    Different values stay different.

    >>> without_formulas(pl.DataFrame({"a": ["=1+1", "-5", "x"]})).collect()["a"].to_list()
    ["'=1+1", '-5', 'x']
    """
    frame = to_lazy(data)
    schema = frame.collect_schema()
    names = pl.Series("name", schema.names(), dtype=pl.String)
    safe = names.to_frame().select(_safe(pl.col("name"))).to_series().to_list()
    texts = frame.with_columns(selectors.categorical().cast(pl.String), selectors.enum().cast(pl.String))
    renamed = {old: new for old, new in zip(schema.names(), safe, strict=True) if old != new}
    return texts.with_columns(_safe(selectors.string())).rename(renamed)


def count_formulas(data: Any) -> int:
    """Count the cells of a table that start like a formula."""
    frame = to_lazy(data)
    texts = frame.select(selectors.string(), selectors.categorical().cast(pl.String), selectors.enum().cast(pl.String))
    if not texts.collect_schema():
        return 0
    found = texts.select(_is_formula(pl.all()).sum()).collect(engine="streaming")
    return int(sum(found.row(0)))


def _is_formula(text: pl.Expr) -> pl.Expr:
    return text.str.contains(_LIKE_FORMULA) & ~text.str.contains(_NUMBER)


def _safe(text: pl.Expr) -> pl.Expr:
    return pl.when(_is_formula(text)).then(pl.lit("'") + text).otherwise(text).name.keep()
