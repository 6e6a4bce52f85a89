"""A sensitive column of the original and of the released table, in the same numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from discreet._numbers import add_up
from discreet.counts import IntArray
from discreet.evaluate._cells import Cells

__all__ = ["Secrets", "match_secrets"]

Entries = tuple[IntArray, IntArray, IntArray]


@dataclass(frozen=True, eq=False)
class Secrets:
    """The values of a sensitive column, the most frequent ones of the release first, and where they occur.

    ``original`` and ``released`` are entries sorted by class: a class, a value and how many rows of the class have it.
    Values that are missing or were made unknown have no entry in the release; ``known`` says how many rows of each
    released class had a known value before any were made unknown.
    """

    column: str
    values: int
    original: Entries
    released: Entries
    known: IntArray


def match_secrets(
    original: Cells, released: Cells, column: str, unknown: str | None, missing_sensitive: str = "unknown"
) -> Secrets:
    """Number the values of a sensitive column in both tables alike; ties go to the first in natural order."""
    group, value, count = released.histogram(column)
    texts = released.texts(column)
    there = texts.is_not_null().to_numpy() | (missing_sensitive == "value")
    told = there if unknown is None else there & texts.ne_missing(unknown).to_numpy()
    known = pl.concat([original.texts(column), texts.filter(told)]).unique(maintain_order=True)
    here = _places(texts, known)
    kept = told[value]
    rows = add_up(here[value[kept]], count[kept], len(known))
    rank = np.empty(len(known), dtype=np.int64)
    rank[np.argsort(-rows, kind="stable")] = np.arange(len(known))
    first_group, first_value, first_count = original.histogram(column)
    return Secrets(
        column=column,
        values=len(known),
        original=(first_group, rank[_places(original.texts(column), known)][first_value], first_count),
        released=(group[kept], rank[here[value[kept]]], count[kept]),
        known=add_up(group[there[value]], count[there[value]], released.sizes.size),
    )


def _places(texts: pl.Series, known: pl.Series) -> IntArray:
    places = texts.replace_strict(known, np.arange(len(known)), default=-1, return_dtype=pl.Int64)
    return places.to_numpy().astype(np.int64)
