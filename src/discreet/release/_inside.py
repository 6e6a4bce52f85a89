"""Parts of classes that are suppressed while the rest of the class stays, in values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engines import Counted, Parts, ValueMap

if TYPE_CHECKING:
    from discreet.counts import IntArray
    from discreet.solve import Inside

__all__ = ["class_values", "make_parts"]


def class_values(counted: Counted, maps: Mapping[str, ValueMap], tuples: IntArray) -> pl.DataFrame:
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


def make_parts(counted: Counted, maps: Mapping[str, ValueMap], inside: Inside, blocks: Sequence[IntArray]) -> Parts:
    """Return the parts of classes that are suppressed, in values.

    A class may show several values of a column that stays as it is, all but one of which were suppressed; a part then
    has a line for each.
    """
    entry, tuples = _tuples_of(counted, inside, blocks)
    part = np.arange(inside.example.size)
    entries = pl.DataFrame({"part": part, "count": inside.count, "code": inside.value.astype(np.int64)})
    cells = entries.join(counted.codes[inside.attribute], on="code").drop("code")
    label = None
    if inside.label is not None and counted.table.labels is not None:
        label = counted.table.labels.name
        labels = counted.codes[label].rename({"value": "label"})
        told = pl.DataFrame({"part": part, "code": inside.label.astype(np.int64)})
        cells = cells.join(told.join(labels, on="code").drop("code"), on="part")
    classes = class_values(counted, maps, tuples)
    place = {column: f"class{number}" for number, column in enumerate(classes.columns)}
    lines = pl.DataFrame({"part": entry}).hstack(classes.rename(place)).unique(maintain_order=True)
    both = lines.join(cells, on="part", maintain_order="left")
    known = counted.codes[inside.attribute]["value"]
    return Parts(
        inside.attribute,
        inside.records,
        both.select(pl.col(name).alias(column) for column, name in place.items()),
        both.select(cells.columns),
        known,
        label,
    )


def _tuples_of(counted: Counted, inside: Inside, blocks: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Return the tuples of the class each entry speaks of, with the number of the entry."""
    ids = counted.table.group(blocks).ids.astype(np.int64)
    order = np.argsort(ids, kind="stable")
    first = np.searchsorted(ids[order], ids[inside.example], side="left")
    length = np.searchsorted(ids[order], ids[inside.example], side="right") - first
    entry = np.repeat(np.arange(inside.example.size), length)
    within = np.arange(entry.size) - np.repeat(np.cumsum(length) - length, length)
    return entry, order[first[entry] + within]
