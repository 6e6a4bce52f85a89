"""Whose rows were released, where the release itself does not say.

The column that says so does not leave. A private copy of the released rows that still has it, as numbers, is grouped
here; every combination of values must occur in it exactly as often as in what was written. It is held in memory alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import AuditError
from discreet.pipeline.audit.classes import ReleasedClasses, check_people, secret_columns
from discreet.pipeline.audit.readers import open_table
from discreet.pipeline.audit.table import FrameTable, LazyTable
from discreet.pipeline.audit.values import nan_as_null, plain

__all__ = ["AsRead", "RowOwners", "read_people"]

_LARGEST = 2**62
_FEW = 1 << 16
"""Keys below this, or below a few times their count, are looked up rather than sorted."""
_HELD_ROWS = 1 << 22
"""Up to this many rows of polars are held, because grouping them takes longer; they stay with the release."""
AsRead = Callable[[Mapping[str, pl.Series]], Mapping[str, pl.Series]]
"""Returns the distinct values of some columns as readers of the output find them, in the same order."""


@dataclass(frozen=True, eq=False)
class RowOwners:
    """The people behind released rows: ``person[i]`` has ``rows[i]`` rows with the values of line ``line[i]``."""

    values: Mapping[str, pl.Series]
    """The distinct values of each quasi-identifier and sensitive column."""
    lines: Mapping[str, NDArray[np.int64]]
    """The distinct combinations of these values: for each column, the position of the value of each line."""
    line: NDArray[np.int64]
    person: NDArray[np.int64]
    rows: NDArray[np.int64]

    def joined(
        self,
        classes: ReleasedClasses,
        columns: Sequence[str],
        attributes: Mapping[str, Sequence[str]],
        as_read: AsRead | None,
    ) -> ReleasedClasses:
        """Return classes that were read from the release, with the people who have rows of each entry.

        Raises AuditError if what was written has other rows than those whose people are known.
        """
        secrets = secret_columns(attributes)
        known = self.values if as_read is None else as_read(self.values)
        both = []
        for column, written in zip(columns, classes.keys.get_columns(), strict=True):
            own, other = _positions(known[column], written)
            both.append(np.concatenate([own[self.lines[column]], other[classes.group]]))
        for column in secrets:
            own, other = _positions(nan_as_null(known[column].to_frame()).to_series(), classes.values[column])
            both.append(np.concatenate([own[self.lines[column]], other]))
        number = _number([(codes, int(codes.max(initial=0)) + 1) for codes in both])
        of_lines, of_entries = np.split(number, [number.size - classes.group.size])
        found = np.full(int(number.max(initial=0)) + 1, -1, dtype=np.int64)
        found[of_entries] = np.arange(of_entries.size)
        entry = found[of_lines][self.line]
        if (entry < 0).any() or not np.array_equal(np.bincount(entry, self.rows, classes.count.size), classes.count):
            raise _other_rows()
        return classes.with_people(entry, self.person, self.rows)


def read_people(
    data: Any, columns: Sequence[str], secrets: Sequence[str], person: str, rows: int | None = None
) -> RowOwners:
    """Group released rows that still say whose they are; a few ``rows`` of polars are held as they are."""
    names = {f"c{i}": column for i, column in enumerate(dict.fromkeys([*columns, *secrets]))}
    table, wanted = open_table(data), {**names, "person": person}
    if isinstance(table, LazyTable | FrameTable) and rows is not None and rows <= _HELD_ROWS:
        cells = table.cells(wanted)
        times = pl.Series("rows", np.ones(cells.height, dtype=np.int64))
    else:
        cells = table.groups(wanted)
        times = cells["rows"].cast(pl.Int64)
    check_people(person, cells["person"], times)
    coded = {column: _coded(cells[name]) for name, column in names.items()}
    line = _number([(codes, width) for codes, width in coded.values()])
    first = np.zeros(int(line.max(initial=-1)) + 1, dtype=np.int64)
    first[line] = np.arange(line.size)
    values, lines = {}, {}
    for name, (column, (codes, width)) in zip(names, coded.items(), strict=True):
        example = np.full(width, -1, dtype=np.int64)
        example[codes[first]] = first
        occurs = example >= 0
        values[column] = plain(cells[name].gather(example[occurs]).to_frame()).to_series()
        lines[column] = (np.cumsum(occurs) - 1)[codes[first]]
    return RowOwners(values, lines, line, cells["person"].to_numpy().astype(np.int64), times.to_numpy())


def _coded(column: pl.Series) -> tuple[NDArray[Any], int]:
    """Return a small number for each value of a column, and a number that all of them are below.

    Text becomes categories first, which is several times as fast as comparing it.
    """
    is_coded = isinstance(column.dtype, pl.Categorical | pl.Enum)
    codes = (column if is_coded else column.cast(pl.String).cast(pl.Categorical)).to_physical()
    low, high = int(codes.min() or 0), int(codes.max() or 0)  # type: ignore[arg-type]
    if codes.null_count():
        codes = codes.cast(pl.Int64).fill_null(high + 1)
        high += 1
    numbers = codes.to_numpy()
    return (numbers - low if low else numbers), high - low + 1


def _number(columns: Sequence[tuple[NDArray[Any], int]]) -> NDArray[np.int64]:
    """Number the distinct rows from 0, given a code for each value of each column and a number it is below."""
    key, span = np.zeros(columns[0][0].size if columns else 0, dtype=np.int64), 1
    for codes, width in columns:
        if span * width >= _LARGEST:
            key = np.unique(key, return_inverse=True)[1].reshape(-1)
            span = int(key.max(initial=0)) + 1
        key = key * width + codes
        span *= width
    if span > 8 * key.size + _FEW:
        return np.unique(key, return_inverse=True)[1].reshape(-1)
    occurs = np.zeros(span, dtype=np.bool_)
    occurs[key] = True
    return (np.cumsum(occurs) - 1)[key]


def _positions(own: pl.Series, written: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a number for each value of two columns, equal for equal values; 0 for one that only the second has."""
    known, other = _same_type(own, written)
    distinct = known.unique()
    numbers = np.arange(1, len(distinct) + 1)
    if distinct.is_empty():
        return np.zeros(0, dtype=np.int64), np.zeros(len(other), dtype=np.int64)
    each = (values.replace_strict(distinct, numbers, default=0, return_dtype=pl.Int64) for values in (known, other))
    of_own, of_other = (values.to_numpy() for values in each)
    return of_own, of_other


def _same_type(own: pl.Series, other: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return two columns of the same values in a type in which they can be compared."""
    if own.dtype == other.dtype:
        return own, other
    numbers = own.dtype.is_numeric() and other.dtype.is_numeric()
    dtype = pl.Float64() if numbers else pl.String()
    return own.cast(dtype), other.cast(dtype)


def _other_rows() -> AuditError:
    return AuditError(
        "What was written has other rows than those whose people were counted. Nothing was released; please report "
        "this."
    )
