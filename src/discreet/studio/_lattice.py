"""Neighbours of the released node in the lattice, and the equivalence classes each would have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.runtime.integer_codes import add_up, distinct, numbered
from discreet.schema import Domain

__all__ = ["leaves_of", "steps"]


def steps(
    counted: pl.DataFrame,
    domains: Mapping[str, Domain],
    levels: Mapping[str, int],
    least: int,
    person: str | None = None,
) -> list[dict[str, Any]]:
    """Neighbours one level up or down, each with its smallest class and the rows in classes of fewer than ``least``.

    ``counted`` holds the distinct combinations of values and, as its last column, their number of rows. With the column
    ``person``, classes are as large as they have people.
    """
    weights = counted.to_series(-1).to_numpy()
    owners = None if person is None else counted[person].rank("dense").to_numpy().astype(np.int64)
    leaves = {column: leaves_of(counted[column], domain) for column, domain in domains.items()}
    found = []
    for column, domain in domains.items():
        for change in (-1, 1):
            level = levels[column] + change
            if 0 <= level <= domain.height:
                rows, sizes = _sizes(leaves, domains, {**levels, column: level}, weights, owners)
                found.append(
                    {
                        "column": column,
                        "level": level,
                        "change": change,
                        "classes": len(sizes),
                        "smallest": int(sizes.min()),
                        "small_rows": int(rows[sizes < least].sum()),
                    }
                )
    return found


def leaves_of(values: pl.Series, domain: Domain) -> NDArray[np.int64]:
    """Return the leaf of each value."""
    leaf_of = pl.DataFrame({"value": domain.values, "leaf": domain.codes.astype(np.int64)})
    joined = (
        values.alias("value").to_frame().join(leaf_of, on="value", how="left", nulls_equal=True, maintain_order="left")
    )
    return joined["leaf"].to_numpy()


def _sizes(
    leaves: Mapping[str, NDArray[np.int64]],
    domains: Mapping[str, Domain],
    levels: Mapping[str, int],
    weights: NDArray[np.int64],
    owners: NDArray[np.int64] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of each class, and its size."""
    blocks = {column: domain.ancestors[levels[column]] for column, domain in domains.items()}
    codes = ((block[leaves[column]], int(block.max(initial=0)) + 1) for column, block in blocks.items())
    group = numbered(len(weights), codes)[0].astype(np.int64)
    rows = add_up(group, weights)
    if owners is None:
        return rows, rows
    people = int(owners.max(initial=0)) + 1
    return rows, np.bincount(distinct(group * people + owners) // people, minlength=rows.size)
