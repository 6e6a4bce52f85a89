"""Sensitive columns: their values by class, compared with the original table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.engines import count_combined, open_source
from discreet.errors import AuditError
from discreet.evaluate.attribute import Attribute
from discreet.evaluate.candidates import Candidates
from discreet.evaluate.classes import CountedClasses, read_classes
from discreet.problem import Groups
from discreet.runtime.integer_codes import add_up
from discreet.schema import Domain, make_domain, plain, text_of
from discreet.schema.builders.flat import flat

__all__ = ["Entries", "MatchedValues", "SensitiveColumn", "covering_values", "match_values", "sensitive_groups"]

Entries = tuple[IntArray, IntArray, IntArray]
"""Sorted by class: a class, a value, and how many rows of the class have it."""


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive column, and how its values are read."""

    name: str
    hierarchy: Any = None
    type: Any = None
    unknown: str | None = None
    """The mark of a suppressed value."""
    missing_is_value: bool = False

    def masks(self, texts: pl.Series) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which distinct values were known before any was suppressed, and which are known now."""
        before = texts.is_not_null().to_numpy() | self.missing_is_value
        return before, before if self.unknown is None else before & texts.ne_missing(self.unknown).to_numpy()


def sensitive_groups(classes: CountedClasses, column: SensitiveColumn, original: Any = None) -> Groups:
    """Return the classes with their sensitive values, in the form that privacy models measure.

    Models that compare classes with the whole table compare with the ``original``, or else with the classes themselves.
    """
    group, value, count = classes.histogram(column.name)
    texts = classes.texts(column.name)
    before, now = column.masks(texts)
    released = classes.values[column.name].filter(now)
    if original is None:
        compared = pl.DataFrame({"value": released, "rows": classes.totals(column.name)[now]})
    elif classes.owners is not None:
        first = read_classes(open_source(original), (), [column.name], person=classes.owners.column)
        compared = pl.DataFrame({"value": first.values[column.name], "rows": first.totals(column.name)})
    else:
        counted = count_combined(open_source(original), [column.name])
        compared = counted.select(value=pl.col(counted.columns[0]), rows=pl.col(counted.columns[1]).cast(pl.Int64))
    if not column.missing_is_value:
        compared = compared.drop_nulls("value")
    code = np.full(len(texts), -1, dtype=np.int64)
    whole, ancestors, positions = np.zeros(0, dtype=np.int64), None, None
    names: tuple[str, ...] = ()
    if compared.height:
        hierarchy = flat() if column.hierarchy is None else column.hierarchy
        domain = make_domain(column.name, compared["value"], hierarchy, type=column.type)
        present, code_of = np.unique(domain.codes, return_inverse=True)
        whole = add_up(code_of, compared["rows"].to_numpy(), present.size)
        ancestors = None if column.hierarchy is None else domain.ancestors[:, present]
        names = tuple(str(domain.labels[0][leaf] or "") for leaf in present.tolist())
        positions = None if domain.positions is None else domain.positions[present]
        code[now] = np.searchsorted(present, _leaves(released, domain))
    kept = now[value]
    width = max(whole.size, 1)
    keys, entry = np.unique(group[kept] * width + code[value[kept]], return_inverse=True)
    return Groups(
        sizes=classes.sizes,
        group=keys // width,
        value=keys % width,
        count=add_up(entry, count[kept], keys.size),
        whole=whole,
        ancestors=ancestors,
        names=names,
        known=classes.known(column.name, before),
        hides=column.unknown is not None,
        positions=positions,
        of_people=classes.owners is not None,
        suppressed=None if classes.owners is None else classes.known(column.name, before & ~now),
    )


def _leaves(released: pl.Series, domain: Domain) -> IntArray:
    """Return the leaf of each released value; raise AuditError if the original table lacks one."""
    known = domain.values
    if released.dtype == known.dtype:
        leaves = released.replace_strict(known, domain.codes, default=-1, return_dtype=pl.Int64).to_numpy()
    else:
        texts = text_of(plain(domain.name, released))
        leaves = Attribute(domain).tree.find(texts).astype(np.int64)
        leaves[texts.is_null().to_numpy()] = domain.ancestors.shape[1] - 1 if known.null_count() else -1
    if (leaves < 0).any():
        raise AuditError(
            f"Column '{domain.name}' of the release holds values that the original table lacks.", column=domain.name
        )
    return leaves


@dataclass(frozen=True, eq=False)
class MatchedValues:
    """The values of a sensitive column in both tables under the same numbers, the most frequent released value first.

    Values that are missing or suppressed have no entry in ``released``; ``known`` is the number of rows of each
    released class that had a value before any was suppressed.
    """

    column: str
    values: int
    original: Entries
    released: Entries
    known: IntArray


def match_values(original: CountedClasses, released: CountedClasses, column: SensitiveColumn) -> MatchedValues:
    """Number the values of a sensitive column in both tables alike; ties go to the first in natural order."""
    group, value, count = released.histogram(column.name)
    texts = released.texts(column.name)
    before, now = column.masks(texts)
    known = pl.concat([original.texts(column.name), texts.filter(now)]).unique(maintain_order=True)
    here = _positions(texts, known)
    kept = now[value]
    rows = add_up(here[value[kept]], count[kept], len(known))
    rank = np.empty(len(known), dtype=np.int64)
    rank[np.argsort(-rows, kind="stable")] = np.arange(len(known))
    first_group, first_value, first_count = original.histogram(column.name)
    return MatchedValues(
        column=column.name,
        values=len(known),
        original=(first_group, rank[_positions(original.texts(column.name), known)][first_value], first_count),
        released=(group[kept], rank[here[value[kept]]], count[kept]),
        known=add_up(group[before[value]], count[before[value]], released.sizes.size),
    )


def _positions(texts: pl.Series, known: pl.Series) -> IntArray:
    positions = texts.replace_strict(known, np.arange(len(known)), default=-1, return_dtype=pl.Int64)
    return positions.to_numpy().astype(np.int64)


def covering_values(candidates: Candidates, released: Entries, values: int) -> FloatArray:
    """Return how many released rows with each sensitive value cover the people of each original class."""
    group, value, count = released
    size = int(group.max(initial=-1)) + 2
    first, last = np.searchsorted(group, np.arange(size)), np.searchsorted(group, np.arange(size), "right")
    found = np.zeros((candidates.length.size, values))
    for some, index, covering in candidates.found():
        covering = np.minimum(covering, size - 1)
        length = last[covering] - first[covering]
        owner = np.repeat(some[index], length)
        entry = (
            np.arange(owner.size) - np.repeat(np.cumsum(length) - length, length) + np.repeat(first[covering], length)
        )
        np.add.at(found, (owner, value[entry]), count[entry])
    return found
