"""Files that polars opened and another engine reads: what such an engine must be told about them."""

from __future__ import annotations

import polars as pl

from discreet.engines._files import TableFile
from discreet.errors import UsageError

__all__ = ["flat_types", "not_read"]

_TYPES = {pl.String: "VARCHAR", pl.Int64: "BIGINT", pl.Float64: "DOUBLE", pl.Boolean: "BOOLEAN"}


def flat_types(file: TableFile, engine: str) -> dict[str, str]:
    """Return the types of the columns of a file of JSON lines, in SQL."""
    found = {}
    for column, dtype in (file.schema or {}).items():
        if type(dtype) not in _TYPES:
            raise not_read(file, engine)
        found[column] = _TYPES[type(dtype)]
    return found


def not_read(file: TableFile, engine: str) -> UsageError:
    """Return the error for a file another engine does not read."""
    return UsageError(
        f"{file.name} is of a form that {engine} does not read here; leave the engine out, or write Parquet."
    )
