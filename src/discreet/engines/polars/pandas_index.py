"""The index of a pandas frame, which is released with its rows unless it identifies people."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import polars as pl

__all__ = ["index_levels", "index_of", "named_by_index", "unnamed_columns", "unnamed_of", "without_levels"]


def index_levels(frame: Any) -> dict[str, pl.Series]:
    """Return the levels of the index of a frame by name; none for a default index, or without an index.

    As in pandas, an unnamed index is called ``index`` and an unnamed level ``level_0``, ``level_1``, and so on.
    """
    index: Any = getattr(frame, "index", None)
    if not hasattr(index, "nlevels") or _is_default(index):
        return {}
    return {name: _values(name, index.get_level_values(number)) for number, name in enumerate(_names(index))}


def named_by_index(frame: Any, identifiers: Collection[str]) -> list[str]:
    """Return the levels that are identifiers, by their name or because they hold the values of one."""
    levels = index_levels(frame)
    if not levels:
        return []
    known = [_values(name, frame[name]).cast(pl.String, strict=False) for name in identifiers if name in frame.columns]
    return [
        name
        for name, values in levels.items()
        if name in identifiers or any(values.cast(pl.String, strict=False).equals(other) for other in known)
    ]


def unnamed_columns(frame: Any) -> dict[str, pl.Series]:
    """Return the columns of a pandas frame whose names are not text, so that they cannot have a role.

    >>> import pandas as pd
    >>> list(unnamed_columns(pd.DataFrame({"age": [30], 7: ["x"]})))
    ['7']
    """
    unnamed = [(number, str(name)) for number, name in enumerate(frame.columns) if not isinstance(name, str)]
    return {name: _values(name, frame.iloc[:, number]) for number, name in unnamed}


def without_levels(frame: Any, levels: Collection[str]) -> Any:
    """Return a pandas frame without some levels of its index; if none is left, it gets a default index."""
    if not levels:
        return frame
    names = _names(frame.index)
    if all(name in levels for name in names):
        return frame.reset_index(drop=True)
    return frame.droplevel([number for number, name in enumerate(names) if name in levels])


def _is_default(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and index.name is None and index.start == 0 and index.step == 1


def _names(index: Any) -> list[str]:
    if index.nlevels == 1:
        return ["index" if index.name is None else str(index.name)]
    return [f"level_{number}" if name is None else str(name) for number, name in enumerate(index.names)]


def _values(name: str, values: Any) -> pl.Series:
    """Return pandas values as polars, or as text if polars has no type for them."""
    plain = values.to_series() if hasattr(values, "to_series") else values
    try:
        converted: pl.Series = pl.from_pandas(plain.reset_index(drop=True))
        return converted.alias(name)
    except Exception:
        missing = plain.isna().tolist()
        return pl.Series(name, [None if gone else str(value) for gone, value in zip(missing, plain, strict=True)])


def index_of(source: Any, identifiers: Sequence[str]) -> tuple[dict[str, pl.Series], list[str]]:
    """Return the index levels that are released with the rows of a source, and the names of identifying ones."""
    levels: Callable[[Sequence[str]], tuple[dict[str, pl.Series], list[str]]] | None
    levels = getattr(source, "index_levels", None)
    return ({}, []) if levels is None else levels(identifiers)


def unnamed_of(source: Any) -> dict[str, pl.Series]:
    """Return the columns of a source whose names are not text."""
    columns: Callable[[], dict[str, pl.Series]] | None = getattr(source, "unnamed_columns", None)
    return {} if columns is None else columns()
