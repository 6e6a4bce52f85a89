"""Warnings of direct identifiers, by the list of the HIPAA Safe Harbor rule."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, Literal

import polars as pl

from discreet.engines import open_source, open_table, reading, relation_of, to_lazy
from discreet.runtime.locations import is_url
from discreet.schema import known_texts, sightings

__all__ = ["IdentifierWarning", "identifier_warnings"]

_SAMPLE = 10_000
"""The number of rows, from the start of the table, that are examined."""


@dataclass(frozen=True)
class IdentifierWarning:
    """A column that may identify people, or that is more precise than the HIPAA Safe Harbor rule allows."""

    column: str
    kind: str
    found_in: Literal["name", "contents"]
    message: str

    def to_dict(self) -> dict[str, Any]:
        """Return the warning as plain data."""
        return asdict(self)


def identifier_warnings(data: Any) -> tuple[IdentifierWarning, ...]:
    """Warn of each column that may identify people, by its name or its first values; no value is shown."""
    sample = _sample(data)
    found = [warning for column in sample.columns for warning in _warnings(column, sample[column])]
    return tuple(found)


def _warnings(column: str, values: pl.Series) -> list[IdentifierWarning]:
    return [_warning(column, sighting.kind, sighting.found_in) for sighting in sightings(column, known_texts(values))]


def _warning(column: str, kind: str, found_in: Literal["name", "contents"]) -> IdentifierWarning:
    by = "by its name" if found_in == "name" else "by its contents"
    message = f"Column '{column}' seems to hold {kind}, judging {by}; the HIPAA Safe Harbor rule has them removed."
    return IdentifierWarning(column, kind, found_in, message)


def _sample(data: Any) -> pl.DataFrame:
    """Return the first rows of a table of any kind; columns of mixed types come without values."""
    relation = relation_of(data)
    if is_url(data):
        source = open_source(data)
        relation = getattr(source, "relation", None)
        if relation is None:
            with source.guard():
                return to_lazy(data).head(_SAMPLE).collect(engine="streaming")
    if relation is not None:
        with relation.running():
            first: pl.DataFrame = relation.frame.head(_SAMPLE).collect("polars").to_native()
        return first.rename(dict(zip(first.columns, relation.columns, strict=True)))
    if isinstance(data, str | PathLike):
        file = open_table(data)
        with reading(file.name, file.explain):
            return file.scan().head(_SAMPLE).collect(engine="streaming")
    if isinstance(data, pl.LazyFrame | pl.DataFrame):
        with reading("The frame"):
            return to_lazy(data).head(_SAMPLE).collect()
    return _first_of_frame(data)


def _first_of_frame(data: Any) -> pl.DataFrame:
    from discreet.engines import EagerSource
    from discreet.errors import DataError

    source = EagerSource(data)
    start = EagerSource(source.frame.head(_SAMPLE))

    def column(name: str) -> pl.Series:
        try:
            return start.to_polars([name])[name]
        except DataError:
            return pl.Series(name, [None] * start.frame.shape[0], dtype=pl.String)

    return pl.DataFrame({name: column(name) for name in source.columns})
