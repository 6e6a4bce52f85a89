"""The equivalence classes of a table: grouped by all released values, and again without the sensitive ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.release._audit._table import Table
from discreet.release._audit._values import joined
from discreet.release._audit._weights import MILLION, millionths_of

__all__ = ["Classes", "read_classes"]


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes with their sizes and, in long form, the sensitive values in each.

    Entry ``e`` says that ``count[e]`` rows of class ``group[e]`` have ``values[column][e]`` in each sensitive column.
    ``people`` is what the weights of each class add up to, if there are weights.
    """

    keys: pl.DataFrame
    sizes: NDArray[np.int64]
    group: NDArray[np.int64]
    count: NDArray[np.int64]
    values: Mapping[str, pl.Series]
    people: NDArray[np.float64] | None = None

    def translated(self, columns: Sequence[str], read_back: Callable[[str, pl.Series], pl.Series]) -> Classes:
        """Return the same classes with the values that were written; what was read as different stays different."""
        keys = [read_back(column, values) for column, values in zip(columns, self.keys, strict=True)]
        values = {column: read_back(column, values) for column, values in self.values.items()}
        return replace(self, keys=pl.DataFrame(dict(zip(self.keys.columns, keys, strict=True))), values=values)

    def attribute(self, parts: Sequence[str]) -> pl.Series:
        """Return the values of a column, or of several together."""
        if len(parts) == 1:
            return self.values[parts[0]]
        columns = pl.DataFrame({f"p{place}": self.values[part] for place, part in enumerate(parts)})
        return columns.select(joined([pl.col(name) for name in columns.columns])).to_series()

    def sizes_of(self, some: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how many rows each class has in some entries."""
        return np.bincount(self.group[some], self.count[some], self.sizes.size).astype(np.int64)


def read_classes(
    table: Table, columns: Sequence[str], attributes: Mapping[str, Sequence[str]], weights: str | None = None
) -> Classes:
    """Group a table by its quasi-identifiers and the columns of its sensitive attributes."""
    keys = {f"q{place}": column for place, column in enumerate(columns)}
    parts = dict.fromkeys(part for own in attributes.values() for part in own)
    secrets = {f"s{place}": column for place, column in enumerate(parts)}
    cells = table.groups({**keys, **secrets}, weights)
    if weights is not None:
        cells = cells.with_columns(millionths=pl.Series(millionths_of(weights, cells), dtype=pl.Float64))
    sums = [pl.col("rows").sum().alias("size"), *([] if weights is None else [pl.col("millionths").sum()])]
    grouped = cells.group_by(list(keys), maintain_order=True).agg("rows", *secrets, *sums)
    lengths = grouped["rows"].list.len().to_numpy().astype(np.int64)
    return Classes(
        keys=grouped.select(list(keys)),
        sizes=grouped["size"].to_numpy().astype(np.int64),
        group=np.repeat(np.arange(lengths.size, dtype=np.int64), lengths),
        count=grouped["rows"].explode().to_numpy().astype(np.int64),
        values={column: grouped[name].explode() for name, column in secrets.items()},
        people=None if weights is None else grouped["millionths"].to_numpy() / MILLION,
    )
