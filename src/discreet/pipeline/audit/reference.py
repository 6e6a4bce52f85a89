"""The reference of an audit: the sensitive values of the original table and how many rows have each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import AuditError
from discreet.pipeline.audit.files import FilesTable, open_files
from discreet.pipeline.audit.readers import can_read_again, open_table, scan
from discreet.pipeline.audit.table import AuditedTable, FrameTable, LazyTable
from discreet.pipeline.audit.values import as_type, comparable, joined, nan_as_null, readable
from discreet.schema import make_domain, parts_of
from discreet.schema.builders.flat import flat

__all__ = ["ReferenceValues", "make_reference", "missing_values", "original_counts", "recount"]


@dataclass(frozen=True, eq=False)
class ReferenceValues:
    """The distinct original values of a sensitive column, numbered in their order, and the rows of each."""

    column: str
    values: pl.Series
    codes: NDArray[np.int64]
    whole: NDArray[np.int64]
    ancestors: NDArray[np.int32] | None
    names: tuple[str, ...]
    positions: NDArray[np.float64] | None = None

    def find(self, released: pl.Series) -> NDArray[np.int64]:
        """Return the code of each released value; raise AuditError if the original table lacks one."""
        if released.is_empty():
            return np.zeros(0, dtype=np.int64)
        distinct = released.unique()
        if self.values.dtype == pl.String and distinct.dtype != pl.String:
            return self._find_typed(released, distinct)
        known = as_type(distinct, self.values.dtype)
        lost = known.is_null() & distinct.is_not_null()
        if known.dtype.is_float():
            known = known.fill_nan(None)
        code = known.replace_strict(self.values, self.codes, default=-1, return_dtype=pl.Int64)
        if lost.any() or (code == -1).any():
            raise self._strange()
        return released.replace_strict(distinct, code, return_dtype=pl.Int64).to_numpy()

    def _find_typed(self, released: pl.Series, distinct: pl.Series) -> NDArray[np.int64]:
        """Find released numbers, dates or booleans among the texts of the original table.

        Several texts may be the same value; then they have the same code, and the first is as good as any.
        """
        as_values = as_type(self.values, distinct.dtype)
        known = pl.DataFrame({"value": as_values, "text": self.values, "code": self.codes})
        known = known.filter(pl.col("value").is_not_null() | pl.col("text").is_null()).unique("value", keep="first")
        code = distinct.replace_strict(known["value"], known["code"], default=-1, return_dtype=pl.Int64)
        if (code == -1).any():
            raise self._strange()
        return released.replace_strict(distinct, code, return_dtype=pl.Int64).to_numpy()

    def _strange(self) -> AuditError:
        return AuditError(
            f"Column '{self.column}' of the release holds values that the original table lacks.", column=self.column
        )


def original_counts(
    column: str,
    reference: Any,
    released: pl.DataFrame,
    layout: str | None,
    parts: Sequence[str] = (),
    person: str | None = None,
) -> pl.DataFrame:
    """Return the distinct values of a sensitive attribute of the original table and the rows of each.

    With the column ``person``, the people who have each value are counted.

    ``reference`` is that table, or maps columns to their counts; without it the ``released`` counts are taken. Values
    that a file of the format ``layout`` cannot distinguish are merged. An attribute may consist of several ``parts``.
    """
    if isinstance(reference, Mapping):
        counted: pl.DataFrame = reference[column]
    elif reference is not None:
        counted = _count(reference, parts or (column,), layout, person)
    else:
        counted = released
    return _summed(counted.with_columns(readable(counted["value"], layout)))


def recount(
    data: Any,
    attributes: Sequence[str],
    *,
    required: Sequence[str] = (),
    layout: str | None = None,
    person: str | None = None,
) -> dict[str, pl.DataFrame]:
    """Count sensitive attributes of the original table afresh; empty if it cannot be read again.

    Rows without a value in a ``required`` column are skipped. With the column ``person``, people are counted.
    """
    if not attributes or not can_read_again(data):
        return {}
    is_file = isinstance(data, str | PathLike)
    table: AuditedTable = open_files(data) if is_file else FrameTable(data)
    if required:
        plan = scan(table) if isinstance(table, FilesTable) else FrameTable(data).plan()
        types = plan.collect_schema()
        known = [comparable(name, types[name]).is_not_null() for name in required]
        table = LazyTable(plan.filter(pl.all_horizontal(known)))
    parts = {name: parts_of(name, table.columns) if "+" in name else (name,) for name in attributes}
    return {name: _count(table, own, layout, person) for name, own in parts.items()}


def missing_values(values: pl.Series, original: pl.DataType) -> pl.Series:
    """Return which released values are missing; NaN counts as missing too where a file has numbers as text."""
    if not original.is_float() or values.dtype.is_float():
        return values.is_null()
    return values.is_null() | as_type(values, original).is_nan().fill_null(value=False)


def make_reference(column: str, counted: pl.DataFrame, hierarchy: Any = None, type: Any = None) -> ReferenceValues:  # noqa: A002
    """Number the values of a column in their order; a hierarchy may define it."""
    values, rows = counted.to_series(0), counted.to_series(1).to_numpy()
    if values.is_empty():
        none = np.zeros(0, dtype=np.int64)
        return ReferenceValues(column, values, none, none, None, ())
    domain = make_domain(column, values, hierarchy if hierarchy is not None else flat(), type=type)
    present, codes = np.unique(domain.codes, return_inverse=True)
    whole = np.zeros(present.size, dtype=np.int64)
    np.add.at(whole, codes, rows)
    ancestors = None if hierarchy is None else domain.ancestors[:, present]
    names = tuple(str(domain.labels[0][leaf] or "") for leaf in present.tolist())
    positions = None if domain.positions is None else domain.positions[present]
    return ReferenceValues(column, values, codes.astype(np.int64), whole, ancestors, names, positions)


def _count(reference: Any, parts: Sequence[str], layout: str | None, person: str | None = None) -> pl.DataFrame:
    """Count the values of a column of the original table, or of several columns combined."""
    names = {f"p{i}": part for i, part in enumerate(parts)}
    if person is not None:
        cells = open_table(reference, wanted=parts).groups({**names, "person": person})
        cells = cells.with_columns(readable(cells[name], layout) for name in names)
        counted = cells.group_by(list(names)).agg(pl.col("person").n_unique().cast(pl.Int64).alias("rows"))
    else:
        counted = nan_as_null(open_table(reference, wanted=parts).groups(names))
    if len(parts) == 1:
        return counted.rename({"p0": "value"})
    counted = counted.with_columns(readable(counted[name], layout) for name in names)
    return counted.select(value=joined([pl.col(name) for name in names]), rows="rows")


def _summed(counted: pl.DataFrame) -> pl.DataFrame:
    """Merge counts of the same value: NaN and null, categories and their text."""
    values = pl.col("value")
    dtype = counted.schema["value"]
    if dtype.is_float():
        values = values.fill_nan(None)
    elif isinstance(dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    return counted.group_by(values).agg(pl.col("rows").cast(pl.Int64).sum())
