"""Sensitive attributes that combine several columns, such as ``disease+stage``.

Their values are text: those of the columns, joined by `` + ``. A plus sign within a value is doubled, and a missing
value is ``+none``, so that no two combinations have the same text. A combination is missing only if all of its values
are: as long as one is known it discloses something, and has to be counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from discreet.engines.columns import exactly
from discreet.engines.source import Source
from discreet.schema import parts_of

__all__ = ["add_combined", "count_combined"]


def _combined(columns: Sequence[pl.Expr]) -> pl.Expr:
    """Return the values of several columns as one text.

    >>> table = pl.DataFrame({"disease": ["flu", None, None], "stage": ["I+", "II", None]})
    >>> table.select(_combined([pl.col("disease"), pl.col("stage")])).to_series().to_list()
    ['flu + I++', '+none + II', None]
    """
    texts = [column.cast(pl.String).str.replace_all("+", "++", literal=True) for column in columns]
    joined = pl.concat_str([text.fill_null("+none") for text in texts], separator=" + ")
    return pl.when(pl.any_horizontal([text.is_not_null() for text in texts])).then(joined)


def add_combined(counted: pl.DataFrame, attributes: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Append the attributes that combine several columns."""
    added = {name: _combined([exactly(part) for part in parts]) for name, parts in attributes.items() if len(parts) > 1}
    return counted.with_columns(**added) if added else counted


def count_combined(source: Source, by: Sequence[str], weights: str | None = None) -> pl.DataFrame:
    """Count like ``source.count``, also by attributes that combine several columns; a key may occur more than once."""
    parts = {name: parts_of(name, source.columns) for name in by}
    real = list(dict.fromkeys(part for own in parts.values() for part in own))
    counted = source.count(real, weights)
    if real == list(by):
        return counted
    counts = counted.columns[len(real) :]
    return add_combined(counted, parts).select(map(exactly, [*by, *counts]))
