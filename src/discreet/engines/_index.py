"""The index of a pandas frame, which a frame in memory takes along: what it holds, and which of it must not leave."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import polars as pl

__all__ = ["index_levels", "index_of", "named_by_index", "unnamed_columns", "unnamed_of", "without_levels"]


def index_levels(frame: Any) -> dict[str, pl.Series]:
    """Return the levels of the index of a frame by name; none where it only numbers the rows, or there is none.

    An index without a name is called ``index``, and a level without one ``level_0``, ``level_1``, as pandas does it.
    """
    index: Any = getattr(frame, "index", None)
    if not hasattr(index, "nlevels") or _is_default(index):
        return {}
    return {name: _values(name, index.get_level_values(place)) for place, name in enumerate(_names(index))}


def named_by_index(frame: Any, identifiers: Collection[str]) -> list[str]:
    """Return the levels of the index that are identifiers too: by their name, or because they hold the same values."""
    levels = index_levels(frame)
    if not levels:
        return []
    held = [_values(name, frame[name]).cast(pl.String, strict=False) for name in identifiers if name in frame.columns]
    return [
        name
        for name, values in levels.items()
        if name in identifiers or any(values.cast(pl.String, strict=False).equals(other) for other in held)
    ]


def unnamed_columns(frame: Any) -> dict[str, pl.Series]:
    """Return the columns of a frame of pandas that are not named by text, and so cannot be given a role, as text.

    >>> import pandas as pd
    >>> list(unnamed_columns(pd.DataFrame({"age": [30], 7: ["x"]})))
    ['7']
    """
    places = [place for place, name in enumerate(frame.columns) if not isinstance(name, str)]
    return {str(frame.columns[place]): _values(str(frame.columns[place]), frame.iloc[:, place]) for place in places}


def without_levels(frame: Any, levels: Collection[str]) -> Any:
    """Return a frame of pandas without some levels of its index; where none is left, its rows are numbered."""
    if not levels:
        return frame
    names = _names(frame.index)
    if all(name in levels for name in names):
        return frame.reset_index(drop=True)
    return frame.droplevel([place for place, name in enumerate(names) if name in levels])


def _is_default(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and index.name is None and index.start == 0 and index.step == 1


def _names(index: Any) -> list[str]:
    if index.nlevels == 1:
        return ["index" if index.name is None else str(index.name)]
    return [f"level_{place}" if name is None else str(name) for place, name in enumerate(index.names)]


def _values(name: str, values: Any) -> pl.Series:
    """Return values of pandas as polars; those it has no form for as text."""
    plain = values.to_series() if hasattr(values, "to_series") else values
    try:
        converted: pl.Series = pl.from_pandas(plain.reset_index(drop=True))
        return converted.alias(name)
    except Exception:
        missing = plain.isna().tolist()
        return pl.Series(name, [None if gone else str(value) for gone, value in zip(missing, plain, strict=True)])


def index_of(source: Any, identifiers: Sequence[str]) -> tuple[dict[str, pl.Series], list[str]]:
    """Return the levels of an index that leave with the rows of a source, and those that are identifiers and do not."""
    levels: Callable[[Sequence[str]], tuple[dict[str, pl.Series], list[str]]] | None
    levels = getattr(source, "index_levels", None)
    return ({}, []) if levels is None else levels(identifiers)


def unnamed_of(source: Any) -> dict[str, pl.Series]:
    """Return the columns of a source that are not named by text."""
    columns: Callable[[], dict[str, pl.Series]] | None = getattr(source, "unnamed_columns", None)
    return {} if columns is None else columns()
