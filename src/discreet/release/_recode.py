"""From a solution in codes to a recoding in values: a small table per attribute, and what to leave out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engines import Counted, Recoding, Shares, ValueMap
from discreet.release._covers import cover_texts, middle_values
from discreet.release._inside import class_values, make_parts

if TYPE_CHECKING:
    from discreet.counts import IntArray
    from discreet.solve import Groups, Solution

__all__ = ["FEW", "make_recoding"]

FEW = 5_000
"""A column with no more distinct values than this is better read as categories."""


def make_recoding(
    solution: Solution, counted: Counted, *, drop: tuple[str, ...] = (), required: tuple[str, ...] = ()
) -> Recoding:
    """Return the recoding that carries out a solution, with names as the domains have them.

    An attribute whose values all stay apart keeps them and their type. Classes are told apart by their
    released values, of which those that are the same everywhere need not be looked at.
    """
    if solution.groups is not None:
        return _local_recoding(solution.groups, counted, drop, required)
    maps, kept = {}, []
    for number, (column, domain) in enumerate(counted.domains.items()):
        if solution.levels is not None:
            released = domain.released(solution.levels[number])
        else:
            released = domain.released_as(solution.blocks[number])
        if released is domain.values:
            kept.append(column)
        else:
            maps[column] = ValueMap(domain.values, released)
    everything = bool(solution.suppressed.size) and bool(solution.suppressed.all())
    suppressed = parts = None
    if solution.suppressed.any() and not everything:
        suppressed = class_values(counted, maps, np.flatnonzero(solution.suppressed)).unique()
    if solution.inside is not None and solution.inside.example.size:
        parts = make_parts(counted, maps, solution.inside, solution.blocks)
    few = tuple(column for column, domain in counted.domains.items() if len(domain.values) <= FEW)
    return Recoding(maps, tuple(kept), drop, required, suppressed, parts, everything, few)


def _local_recoding(groups: Groups, counted: Counted, drop: tuple[str, ...], required: tuple[str, ...]) -> Recoding:
    """Return the recoding that carries out a local solution: which tuple goes where, and what each group shows."""
    domains, table = counted.domains, counted.table
    codes = {name: ValueMap(domain.values, pl.Series(domain.codes)) for name, domain in domains.items()}
    keys: dict[str, IntArray] = {name: table.codes[number] for number, name in enumerate(domains)}
    for name, apart in counted.apart.items():
        codes[name] = ValueMap(apart.values, pl.Series(apart.codes))
        keys[name] = apart.places
    shown, kept = {}, []
    for number, ((name, domain), cover) in enumerate(zip(domains.items(), groups.covers, strict=True)):
        if groups.show == "cover":
            text = cover_texts(domain, cover)
        else:
            text = middle_values(domain, table.codes[number], groups)
        if text is None:
            kept.append(name)
        else:
            shown[name] = text
    few = tuple(column for column, domain in domains.items() if len(domain.values) <= FEW)
    size = int(groups.group.max(initial=-1)) + 1
    group, dealt = _dealt(groups, size, list(shown.values()))
    return Recoding(
        kept=tuple(kept),
        drop=drop,
        required=required,
        categories=few,
        shares=Shares(
            codes=codes,
            tuples={name: pl.Series(key) for name, key in keys.items()},
            group=group,
            dealt=dealt,
            shown=shown,
            groups=size,
        ),
    )


def _dealt(groups: Groups, size: int, shown: Sequence[pl.Series]) -> tuple[pl.Series, pl.DataFrame]:
    """Return the group most rows of each tuple go to, and where the others go.

    Groups that show the same are one here, so that few rows have to be named one by one: a tuple with many rows lends
    some to groups of others, and its own groups show the same. Only tuples in several groups have to be looked at.
    """
    several = np.bincount(groups.tuple)[groups.tuple] > 1
    group = np.full(int(groups.tuple.max(initial=-1)) + 1, -1, dtype=np.int64)
    group[groups.tuple] = groups.group
    concerned = np.unique(groups.group[several & (groups.group >= 0)])
    same = np.append(np.arange(size), -1)
    if shown and concerned.size:
        columns = pl.DataFrame({f"shown{number}": values.gather(concerned) for number, values in enumerate(shown)})
        first = pl.col("group").first().over(columns.columns)
        same[concerned] = columns.with_columns(group=pl.Series(concerned)).select(first).to_series().to_numpy()
    entries = {"tuple": groups.tuple, "group": same[groups.group], "count": groups.count}
    lines = (
        pl.DataFrame({name: values[several] for name, values in entries.items()})
        .group_by("tuple", "group")
        .agg(pl.col("count").sum())
        .sort("tuple", "count", "group", descending=[False, True, False])
    )
    largest = pl.col("tuple").is_first_distinct()
    most = lines.filter(largest)
    group[most["tuple"].to_numpy()] = most["group"].to_numpy()
    others = lines.filter(~largest).select(pl.exclude("count").repeat_by("count")).explode("tuple", "group")
    place = pl.int_range(pl.len(), dtype=pl.Int64).over("tuple").alias("place")
    return pl.Series(group), others.select("tuple", place, "group")
