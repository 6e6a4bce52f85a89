"""From a solution in codes to a recoding in values: a small table per attribute, and classes to leave out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engines import Recoding, ValueMap

if TYPE_CHECKING:
    from discreet.counts import CountTable
    from discreet.schema import Domain
    from discreet.solve import Solution

__all__ = ["FEW", "make_recoding"]

FEW = 5_000
"""A column with no more distinct values than this is better read as categories."""


def make_recoding(
    solution: Solution,
    table: CountTable,
    domains: Mapping[str, Domain],
    *,
    drop: tuple[str, ...] = (),
    required: tuple[str, ...] = (),
) -> Recoding:
    """Return the recoding that carries out a solution.

    An attribute that stays at level 0 keeps its values and their type. Classes are told apart by their
    released values, of which those that are the same everywhere need not be looked at.
    """
    levels = solution.levels or (0,) * len(domains)
    maps, kept = {}, []
    for (column, domain), level in zip(domains.items(), levels, strict=True):
        released = domain.released(level)
        if released is domain.values:
            kept.append(column)
        else:
            maps[column] = ValueMap(domain.values, released)
    everything = bool(solution.suppressed.size) and bool(solution.suppressed.all())
    suppressed = None
    if solution.suppressed.any() and not everything:
        suppressed = _classes(solution, table, domains, maps)
    few = tuple(column for column, domain in domains.items() if len(domain.values) <= FEW)
    return Recoding(maps, tuple(kept), drop, required, suppressed, everything, few)


def _classes(
    solution: Solution, table: CountTable, domains: Mapping[str, Domain], maps: Mapping[str, ValueMap]
) -> pl.DataFrame:
    """Return the released values of the suppressed classes."""
    columns = []
    for number, (column, domain) in enumerate(domains.items()):
        released = maps[column].released if column in maps else domain.values
        if released.n_unique() == 1:
            continue
        example = np.zeros(domain.ancestors.shape[1], dtype=np.int64)
        example[domain.codes] = np.arange(domain.codes.size)
        leaves = table.codes[number, solution.suppressed]
        columns.append(released.gather(example[leaves]).alias(column))
    return pl.DataFrame(columns).unique()
