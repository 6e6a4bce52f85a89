"""The values of a sensitive column and how often the original table has each: what the audit compares with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines import to_lazy
from discreet.errors import AuditError, MissingColumnError
from discreet.schema import flat, make_domain

__all__ = ["Reference", "read_reference"]


@dataclass(frozen=True, eq=False)
class Reference:
    """The distinct values of a column, numbered in their order, with their number of rows in the original table."""

    column: str
    values: pl.Series
    codes: NDArray[np.int64]
    whole: NDArray[np.int64]
    ancestors: NDArray[np.int32] | None
    names: tuple[str, ...]

    def find(self, released: pl.Series) -> NDArray[np.int64]:
        """Return the number of each released value."""
        distinct = released.unique()
        known = as_written(distinct, self.values.dtype)
        code = known.replace_strict(self.values, self.codes, default=-1, return_dtype=pl.Int64)
        lost = known.is_null() & distinct.is_not_null()
        if lost.any() or (code == -1).any():
            raise AuditError(
                f"Column '{self.column}' of the release holds values that the original table lacks.", column=self.column
            )
        return released.replace_strict(distinct, code, return_dtype=pl.Int64).to_numpy()


def read_reference(
    column: str,
    reference: Any,
    released: pl.Series,
    count: NDArray[np.int64],
    hierarchy: Any = None,
    type: Any = None,  # noqa: A002
) -> Reference:
    """Make the reference of one column from a table, from counted values, or from the release itself.

    ``reference`` maps columns to frames of distinct values and their counts; or it is a table; or None.
    """
    if isinstance(reference, Mapping):
        counted = reference[column]
    elif reference is not None:
        counted = _count(to_lazy(reference), column)
    else:
        counted = _sum(pl.DataFrame({"value": released, "rows": count}))
    values, rows = counted.to_series(0), counted.to_series(1).to_numpy()
    domain = make_domain(column, values, hierarchy if hierarchy is not None else flat(), type=type)
    present, codes = np.unique(domain.codes, return_inverse=True)
    whole = np.zeros(present.size, dtype=np.int64)
    np.add.at(whole, codes, rows)
    ancestors = None if hierarchy is None else domain.ancestors[:, present]
    names = tuple(str(domain.labels[0][leaf] or "") for leaf in present.tolist())
    return Reference(column, values, codes.astype(np.int64), whole, ancestors, names)


def as_written(values: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return values with the type they had before they went through a file; null where that cannot be.

    >>> as_written(pl.Series(["17", "4"]), pl.Int64()).to_list()
    [17, 4]
    """
    if values.dtype == dtype:
        return values
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    if values.dtype != pl.String or not (dtype.is_temporal() or dtype == pl.Boolean):
        return values.cast(dtype, strict=False)
    if dtype == pl.Boolean:
        return values.replace_strict({"true": True, "false": False}, default=None, return_dtype=pl.Boolean)
    if dtype == pl.Date:
        return values.str.to_date("%Y-%m-%d", strict=False)
    if isinstance(dtype, pl.Datetime):
        clock = values.str.replace("T", " ", literal=True).str.to_datetime("%Y-%m-%d %H:%M:%S%.f%#z" if dtype.time_zone else "%Y-%m-%d %H:%M:%S%.f", strict=False)
        return clock.cast(dtype, strict=False)
    return values.cast(dtype, strict=False)


def _count(frame: pl.LazyFrame, column: str) -> pl.DataFrame:
    schema = frame.collect_schema()
    if column not in schema:
        raise MissingColumnError(column, schema.names())
    counted = frame.select(value=pl.col(column)).group_by("value").agg(rows=pl.len()).collect(engine="streaming")
    return _sum(counted)


def _sum(counted: pl.DataFrame) -> pl.DataFrame:
    """Merge what is one value here: NaN and null, categories and their text."""
    value = pl.col("value")
    dtype = counted.schema["value"]
    if dtype.is_float():
        value = value.fill_nan(None)
    elif isinstance(dtype, pl.Categorical | pl.Enum):
        value = value.cast(pl.String)
    return counted.group_by(value).agg(pl.col("rows").cast(pl.Int64).sum())
