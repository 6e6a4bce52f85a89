"""The equivalence classes of a table: grouped with the sensitive values, and then again without them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.pipeline.audit.table import AuditedTable
from discreet.pipeline.audit.values import joined, nan_as_null
from discreet.pipeline.audit.weights import MILLION, millionths_of

__all__ = ["ReleasedClasses", "read_classes"]


@dataclass(frozen=True, eq=False)
class ReleasedClasses:
    """The equivalence classes with their sizes and, in long form, their sensitive values.

    Entry ``e`` says that ``count[e]`` rows of class ``group[e]`` have ``values[column][e]`` in each sensitive column.
    ``people`` is the sum of the survey weights of each class, if there are weights.
    """

    keys: pl.DataFrame
    sizes: NDArray[np.int64]
    group: NDArray[np.int64]
    count: NDArray[np.int64]
    values: Mapping[str, pl.Series]
    people: NDArray[np.float64] | None = None

    def translated(
        self, columns: Sequence[str], read_back: Callable[[str, pl.Series], pl.Series], secrets: Collection[str]
    ) -> ReleasedClasses:
        """Return the same classes with the values before writing, of some sensitive columns alone.

        Values that were read as different stay different.
        """
        keys = [read_back(column, values) for column, values in zip(columns, self.keys, strict=True)]
        values = {column: read_back(column, self.values[column]) for column in secrets}
        return replace(self, keys=pl.DataFrame(dict(zip(self.keys.columns, keys, strict=True))), values=values)

    def attribute(self, parts: Sequence[str]) -> pl.Series:
        """Return the values of an attribute of one column, or of several combined."""
        if len(parts) == 1:
            return self.values[parts[0]]
        columns = pl.DataFrame({f"p{i}": self.values[part] for i, part in enumerate(parts)})
        return columns.select(joined([pl.col(name) for name in columns.columns])).to_series()

    def sizes_of(self, entries: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the number of rows of each class in some entries."""
        return np.bincount(self.group[entries], self.count[entries], self.sizes.size).astype(np.int64)


def read_classes(
    table: AuditedTable, columns: Sequence[str], attributes: Mapping[str, Sequence[str]], weights: str | None = None
) -> ReleasedClasses:
    """Group a table by its quasi-identifiers and the columns of its sensitive attributes."""
    keys = {f"q{i}": column for i, column in enumerate(columns)}
    parts = dict.fromkeys(part for own in attributes.values() for part in own)
    secrets = {f"s{i}": column for i, column in enumerate(parts)}
    cells = table.groups({**keys, **secrets}, weights)
    if weights is not None:
        cells = cells.with_columns(millionths=pl.Series(millionths_of(weights, cells), dtype=pl.Float64))
    sums = [pl.col("rows").sum().alias("size"), *([] if weights is None else [pl.col("millionths").sum()])]
    cells = cells.with_columns(nan_as_null(cells.select(list(secrets))).get_columns())
    grouped = cells.group_by(list(keys), maintain_order=True).agg("rows", *secrets, *sums)
    lengths = grouped["rows"].list.len().to_numpy().astype(np.int64)
    return ReleasedClasses(
        keys=grouped.select(list(keys)),
        sizes=grouped["size"].to_numpy().astype(np.int64),
        group=np.repeat(np.arange(lengths.size, dtype=np.int64), lengths),
        count=grouped["rows"].explode().to_numpy().astype(np.int64),
        values={column: grouped[name].explode() for name, column in secrets.items()},
        people=None if weights is None else grouped["millionths"].to_numpy() / MILLION,
    )
