"""Columns by their exact name, whatever it is: polars takes ``*`` and ``^…$`` for patterns."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl
from polars import selectors

__all__ = ["exactly", "unused"]


def exactly(column: str) -> pl.Expr:
    """Return the column of exactly this name.

    >>> pl.DataFrame({"*": [1], "age": [30]}).select(exactly("*")).columns
    ['*']
    """
    return selectors.by_name(column).as_expr()


def unused(name: str, taken: Collection[str]) -> str:
    """Return a column name that is not taken yet.

    >>> unused("rows", ["age", "rows"])
    'rows_'
    """
    while name in taken:
        name += "_"
    return name
