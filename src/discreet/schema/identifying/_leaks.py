"""Identifiers in other columns, such as a name in a remark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

__all__ = ["Leak", "find_leaks"]

_LEAST = 0.005
"""The least share of rows with a part of their own identifier, beyond chance."""
_LONGEST_LIST = 20_000
"""The most values of an identifier that are searched for in every row."""
_WORD = r"[\p{L}\d][\p{L}\d'’@._-]*[\p{L}\d]"


class Leak(NamedTuple):
    """A column in which values of an identifier occur."""

    column: str
    identifier: str
    share: float
    """The share of rows with text in which one occurs."""


def find_leaks(table: pl.DataFrame, identifiers: Sequence[str], columns: Sequence[str]) -> list[Leak]:
    """Return the ``columns`` that hold values of ``identifiers``, at most one leak for each.

    A row's own identifier in its text is compared with chance, the identifier of another row. Identifiers of any row
    are found if they are long enough to be unmistakable.

    >>> table = pl.DataFrame({"name": ["Ann Lee", "Bo Cruz"], "remark": ["called Ann twice", "Cruz was late"]})
    >>> find_leaks(table, ["name"], ["remark"])
    [Leak(column='remark', identifier='name', share=1.0)]
    """
    found = []
    for column in columns:
        text = _text(table[column])
        for identifier in identifiers if text is not None else ():
            keys = _text(table[identifier])
            share = 0.0 if keys is None or text is None else _share(keys, text)
            if share:
                found.append(Leak(column, identifier, share))
                break
    return found


def _text(values: pl.Series) -> pl.Series | None:
    """Return a column as text; None if it cannot hold text."""
    dtype = values.dtype
    if isinstance(dtype, pl.Categorical | pl.Enum) or dtype.is_integer():
        values = values.cast(pl.String)
    return values if values.dtype == pl.String else None


def _share(keys: pl.Series, text: pl.Series) -> float:
    """Return the share of texts with an identifier; 0 if that may be chance."""
    both = pl.DataFrame({"key": keys, "text": text}).drop_nulls()
    if both.is_empty():
        return 0.0
    lower = both.select(pl.all().str.to_lowercase())
    own, other = _own(lower), _own(lower.with_columns(pl.col("key").shift(lower.height // 2 + 1).fill_null("")))
    anybody = _anybody(lower)
    if anybody:
        return max(anybody, own)
    return own if own >= _LEAST and own > 3 * other else 0.0


def _own(table: pl.DataFrame) -> float:
    """Return the share of the rows whose text holds a word of three letters or more of the row's own identifier."""
    words = pl.col("key").str.extract_all(_WORD).list.eval(pl.element().filter(pl.element().str.len_chars() >= 3))
    texts = pl.col("text").str.extract_all(_WORD)
    held = table.select((words.list.set_intersection(texts).list.len() > 0).mean()).item()
    return float(held or 0)


def _anybody(table: pl.DataFrame) -> float:
    """Return the share of rows whose text holds a whole identifier of any row that is unmistakable."""
    long = pl.col("key").str.len_chars()
    special = (pl.col("key").str.contains(r"\d") & (long >= 6)) | (pl.col("key").str.contains(r"\S\s+\S") & (long >= 8))
    keys = table.filter(special)["key"].unique().head(_LONGEST_LIST)
    if not len(keys) or len(keys) < 0.1 * table["key"].n_unique():
        return 0.0
    return float(table["text"].str.contains_any(keys.implode()).mean() or 0)  # type: ignore[arg-type]
