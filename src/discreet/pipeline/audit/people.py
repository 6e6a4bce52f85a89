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

__all__ = ["RowOwners", "read_people"]

_LARGEST = 2**62
_HELD_ROWS = 1 << 22
"""Up to this many rows of polars are held, because grouping them takes longer; they stay with the release."""
Through = Callable[[pl.DataFrame], pl.DataFrame | None]
"""Writes a small table in the format of the output and reads it; None if nothing changes."""


@dataclass(frozen=True, eq=False)
class RowOwners:
    """The people behind released rows: ``person[i]`` has ``rows[i]`` rows with the values of line ``line[i]``."""

    columns: tuple[str, ...]
    """The quasi-identifiers and sensitive columns."""
    lines: pl.DataFrame
    """The distinct combinations of their values, under the names ``c0``, ``c1``, …"""
    line: NDArray[np.int64]
    person: NDArray[np.int64]
    rows: NDArray[np.int64]

    def joined(
        self,
        classes: ReleasedClasses,
        columns: Sequence[str],
        attributes: Mapping[str, Sequence[str]],
        through: Through | None,
    ) -> ReleasedClasses:
        """Return classes that were read from the release, with the people who have rows of each entry.

        Raises AuditError if what was written has other rows than those whose people are known.
        """
        secrets = secret_columns(attributes)
        names = [f"c{self.columns.index(column)}" for column in (*columns, *secrets)]
        written = [
            *(values.gather(classes.group) for values in classes.keys.get_columns()),
            *(classes.values[column] for column in secrets),
        ]
        known = self._as_read(through).select(names)
        known = known.with_columns(nan_as_null(known.select(names[len(columns) :])).get_columns())
        pairs = [_same_type(own, other) for own, other in zip(known.get_columns(), written, strict=True)]
        lines = pl.DataFrame({name: own for name, (own, _) in zip(names, pairs, strict=True)})
        entries = pl.DataFrame({name: other for name, (_, other) in zip(names, pairs, strict=True)})
        found = lines.join(
            entries.with_row_index("entry"), on=names, how="left", nulls_equal=True, maintain_order="left"
        )["entry"]
        if len(found) != lines.height or found.null_count():
            raise _other_rows()
        entry = found.to_numpy().astype(np.int64)[self.line]
        if not np.array_equal(np.bincount(entry, self.rows, classes.count.size), classes.count):
            raise _other_rows()
        return classes.with_people(entry, self.person, self.rows)

    def _as_read(self, through: Through | None) -> pl.DataFrame:
        """Return the lines as readers of the output find them."""
        numbered = self.lines.with_row_index("number").cast({"number": pl.Int64})
        back = None if through is None or self.lines.is_empty() else through(numbered)
        return self.lines if back is None else back.sort(pl.col("number").cast(pl.Int64)).drop("number")


def read_people(
    data: Any, columns: Sequence[str], secrets: Sequence[str], person: str, rows: int | None = None
) -> RowOwners:
    """Group released rows that still say whose they are; a few ``rows`` of polars are held as they are."""
    names = {f"c{i}": column for i, column in enumerate(dict.fromkeys([*columns, *secrets]))}
    table, wanted = open_table(data), {**names, "person": person}
    if isinstance(table, LazyTable | FrameTable) and rows is not None and rows <= _HELD_ROWS:
        cells = table.cells(wanted).with_columns(rows=pl.lit(1, dtype=pl.Int64))
    else:
        cells = table.groups(wanted)
    check_people(person, cells["person"], cells["rows"])
    first, line = _lines(cells.select(list(names)))
    return RowOwners(
        tuple(names.values()),
        plain(cells.select(list(names))[first]),
        line,
        cells["person"].to_numpy().astype(np.int64),
        cells["rows"].to_numpy().astype(np.int64),
    )


def _lines(table: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct rows of a table: return the first row of each number, and the number of each row.

    Each column becomes numbers first, which is several times as fast as grouping by texts.
    """
    key, width = np.zeros(table.height, dtype=np.int64), 1
    for column in table:
        is_coded = isinstance(column.dtype, pl.Categorical | pl.Enum)
        coded = column if is_coded else column.cast(pl.String).cast(pl.Categorical)
        code = coded.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        low, high = int(code.min(initial=0)), int(code.max(initial=0))
        if width * (high - low + 1) >= _LARGEST:
            key = np.unique(key, return_inverse=True)[1].reshape(-1)
            width = int(key.max(initial=0)) + 1
        if width * (high - low + 1) >= _LARGEST:
            code = np.unique(code, return_inverse=True)[1].reshape(-1)
            low, high = 0, int(code.max(initial=0))
        key = key * (high - low + 1) + (code - low)
        width *= high - low + 1
    _, first, line = np.unique(key, return_index=True, return_inverse=True)
    return first, line.reshape(-1)


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
