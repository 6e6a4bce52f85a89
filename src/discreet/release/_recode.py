"""From a solution in codes to a recoding in values: a small table per attribute, and what to leave out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engines import Counted, Parts, Recoding, Shares, ValueMap
from discreet.release._covers import cover_texts, middle_values

if TYPE_CHECKING:
    from discreet.counts import IntArray
    from discreet.solve import Groups, Inside, Solution

__all__ = ["FEW", "make_recoding"]

FEW = 5_000
"""A column with no more distinct values than this is better read as categories."""


def make_recoding(
    solution: Solution, counted: Counted, *, drop: tuple[str, ...] = (), required: tuple[str, ...] = ()
) -> Recoding:
    """Return the recoding that carries out a solution.

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
        suppressed = _classes(counted, maps, np.flatnonzero(solution.suppressed)).unique()
    if solution.inside is not None and solution.inside.example.size:
        parts = _parts(counted, maps, solution.inside)
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
    order = np.lexsort((groups.group, groups.tuple))
    tuples, group, count = groups.tuple[order], groups.group[order], groups.count[order]
    shares = np.bincount(tuples, minlength=table.tuples)
    alone = np.zeros(table.tuples, dtype=np.int64)
    alone[tuples] = group
    several = np.flatnonzero(shares[tuples] > 1)
    repeated = np.repeat(several, count[several])
    of_tuple = tuples[repeated]
    begins = np.flatnonzero(np.diff(of_tuple, prepend=-1))
    place = np.arange(of_tuple.size) - np.repeat(begins, np.diff(begins, append=of_tuple.size))
    dealt = pl.DataFrame({"tuple": of_tuple, "place": place, "group": group[repeated]})
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
    return Recoding(
        kept=tuple(kept),
        drop=drop,
        required=required,
        categories=few,
        shares=Shares(
            codes=codes,
            tuples={name: pl.Series(key) for name, key in keys.items()},
            group=pl.select(pl.when(pl.Series(shares == 1)).then(pl.Series(alone))).to_series(),
            dealt=dealt,
            shown=shown,
            groups=int(groups.group.max(initial=-1)) + 1,
        ),
    )


def _classes(counted: Counted, maps: Mapping[str, ValueMap], tuples: IntArray) -> pl.DataFrame:
    """Return the released values of the classes some tuples belong to, a row for each tuple."""
    columns = []
    for number, (column, domain) in enumerate(counted.domains.items()):
        released = maps[column].released if column in maps else domain.values
        if released.n_unique() == 1:
            continue
        example = np.zeros(domain.ancestors.shape[1], dtype=np.int64)
        example[domain.codes] = np.arange(domain.codes.size)
        columns.append(released.gather(example[counted.table.codes[number, tuples]]).alias(column))
    return pl.DataFrame(columns)


def _parts(counted: Counted, maps: Mapping[str, ValueMap], inside: Inside) -> Parts:
    """Return the parts of classes that are suppressed, in values."""
    part = np.arange(inside.example.size)
    entries = pl.DataFrame({"part": part, "count": inside.count, "code": inside.value.astype(np.int64)})
    cells = entries.join(counted.codes[inside.attribute], on="code").drop("code")
    label = None
    if inside.label is not None and counted.table.labels is not None:
        label = counted.table.labels.name
        labels = counted.codes[label].rename({"value": "label"})
        told = pl.DataFrame({"part": part, "code": inside.label.astype(np.int64)})
        cells = cells.join(told.join(labels, on="code").drop("code"), on="part")
    example = inside.example[cells["part"].to_numpy()]
    return Parts(inside.attribute, inside.records, _classes(counted, maps, example), cells, label)
