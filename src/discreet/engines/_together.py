"""Sensitive attributes that are several columns together, such as ``disease+stage``.

Their values are told as text: those of the columns with `` + `` between them. A plus sign in a value is doubled,
and a missing value is ``+none``, so that no two combinations have the same text. A combination is missing if all of
its values are: with one of them known it still tells something, and has to be counted lest a class be taken for one
about which nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from discreet.engines._names import exactly
from discreet.engines._source import Source
from discreet.schema import parts_of

__all__ = ["count_together", "put_together", "together"]


def together(columns: Sequence[pl.Expr]) -> pl.Expr:
    """Return the values of several columns as one text.

    >>> table = pl.DataFrame({"disease": ["flu", None, None], "stage": ["I+", "II", None]})
    >>> table.select(together([pl.col("disease"), pl.col("stage")])).to_series().to_list()
    ['flu + I++', '+none + II', None]
    """
    texts = [column.cast(pl.String).str.replace_all("+", "++", literal=True) for column in columns]
    joined = pl.concat_str([text.fill_null("+none") for text in texts], separator=" + ")
    return pl.when(pl.any_horizontal([text.is_not_null() for text in texts])).then(joined)


def put_together(counted: pl.DataFrame, attributes: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Add the attributes that are several columns, after all others."""
    added = {name: together([exactly(part) for part in parts]) for name, parts in attributes.items() if len(parts) > 1}
    return counted.with_columns(**added) if added else counted


def count_together(source: Source, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
    """Count as a source does, also by attributes that are several columns; what is counted may come in parts."""
    parts = {name: parts_of(name, source.columns) for name in by}
    real = list(dict.fromkeys(part for own in parts.values() for part in own))
    counted = source.count(real, weights)
    if real == list(by):
        return counted
    counts = counted.columns[len(real) :]
    return put_together(counted, parts).select(map(exactly, [*by, *counts]))
