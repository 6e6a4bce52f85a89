"""Tables of any shape, made from a seed: skewed columns that depend on each other a little, as those of people do."""

from __future__ import annotations

import numpy as np
import polars as pl

__all__ = ["nested_widths", "table"]

_SHARED = 0.6
"""How much of each column comes from what a row's columns have in common."""


def table(rows: int, attributes: int, distinct: int, *, seed: int = 1) -> pl.DataFrame:
    """Return whole numbers 0 .. distinct-1 in columns a0, a1, …; every number occurs where there are rows enough."""
    rng = np.random.default_rng(seed)
    common = rng.standard_normal(rows)
    columns = {}
    for number in range(attributes):
        own = rng.standard_normal(rows)
        place = 1 / (1 + np.exp(-1.7 * (_SHARED * common + np.sqrt(1 - _SHARED**2) * own)))
        values = np.minimum((place**2 * distinct).astype(np.int64), distinct - 1)
        some = rng.permutation(rows)[:distinct]
        values[some] = np.arange(some.size)
        columns[f"a{number}"] = values
    return pl.DataFrame(columns)


def nested_widths(distinct: int, levels: int) -> list[int]:
    """Return the interval widths of so many levels between the values and the root, growing evenly.

    >>> nested_widths(1000, 2)
    [10, 100]
    """
    step = max(2, round(distinct ** (1 / (levels + 1))))
    return [step**level for level in range(1, levels + 1)]
