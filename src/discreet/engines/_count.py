"""From rows to a count table: one GROUP BY on the engine, then codes for the distinct values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from discreet._choices import MissingSensitive
from discreet._numbers import add_up, by_appearance
from discreet.counts import CodedAttribute, CountTable, Histogram, Population
from discreet.engines._formats import Format
from discreet.engines._held import held
from discreet.engines._names import exactly, unused
from discreet.engines._people import collapse, everybody, joined_values
from discreet.engines._recoding import is_category
from discreet.engines._source import HoldsRows, Source
from discreet.engines._together import put_together
from discreet.engines._weights import Weighed, add_weights, weighed
from discreet.engines._whole_numbers import Whole, whole_numbers
from discreet.errors import DataError
from discreet.schema import Domain, Schema, flat, make_domain

__all__ = ["Counted", "Missing", "MissingSensitive", "count"]

Missing = Literal["value", "suppress", "error"]


class Apart(NamedTuple):
    """A sensitive column that tells tuples apart: its distinct values, the code of each, and that of each tuple."""

    values: pl.Series
    codes: NDArray[np.int64]
    places: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Counted:
    """A source, counted. ``domains`` says for each quasi-identifier what its codes mean.

    ``reference`` holds the distinct values of each sensitive column and how many rows have each; ``codes`` the
    distinct values of each sensitive and class column and the code of each in its histogram, missing values only
    where they count as one; ``missing`` the number of rows without a value, by quasi-identifier; ``dropped`` the
    number of rows left out for that.
    """

    table: CountTable
    domains: Mapping[str, Domain]
    reference: Mapping[str, pl.DataFrame]
    codes: Mapping[str, pl.DataFrame]
    missing: Mapping[str, int]
    dropped: int
    apart: Mapping[str, Apart] = field(default_factory=dict)
    """The sensitive columns that tell tuples apart too."""
    people: pl.DataFrame | None = None
    """A table of the population, counted by the quasi-identifiers."""
    weighed: Weighed | None = None
    """What the survey weights of each tuple add up to, and the least and the greatest of them."""


def count(
    source: Source,
    schema: Schema,
    *,
    missing: Missing = "value",
    missing_sensitive: MissingSensitive = "unknown",
    hierarchies: Mapping[str, Any] | None = None,
    written_as: Format | None = None,
    without_hierarchy: Collection[str] = (),
    apart: Sequence[str] = (),
    people: pl.DataFrame | None = None,
) -> Counted:
    """Count the distinct tuples of a source and the sensitive and class values that go with them.

    ``hierarchies`` are those of sensitive columns, where they have one. Sensitive values that a file
    ``written_as`` this format cannot tell apart are counted as one. Quasi-identifiers ``without_hierarchy`` need none,
    so that none is made where none is given. Tuples are told ``apart`` by these sensitive columns too. ``people`` are
    those of a population, as :func:`count_people` counts them; what they have is part of each column's domain.
    Rows whose sensitive value is missing are in no histogram of that column, unless ``missing_sensitive`` says that it
    is a ``value``.
    """
    keys = list(schema.quasi_identifiers)
    values = [*schema.sensitive, *([] if schema.class_attribute is None else [schema.class_attribute])]
    by = list(dict.fromkeys([*keys, *values]))
    real = list(dict.fromkeys(part for name in by for part in schema.parts.get(name, (name,))))
    groups = _groups(source, real, schema)
    if groups.is_empty():
        raise DataError("The data has no rows; there is nothing to release.", topic="no-rows")
    weight = groups.columns[len(real)]
    absent = {column: _missing_rows(groups, column, weight) for column in keys if groups[column].null_count()}
    dropped = 0
    if missing == "suppress" and absent:
        known = groups.drop_nulls(selectors.by_name(*absent))
        dropped = int(groups[weight].sum()) - int(known[weight].sum())
        groups = known
        if groups.is_empty():
            raise DataError(
                "Every row has a missing quasi-identifier, so that missing='suppress' leaves none.", topic="no-rows"
            )
    written = {column: groups[column].unique() for column in apart}
    if written_as is not None:
        groups = groups.with_columns(held(groups[column], written_as) for column in schema.sensitive_columns)
    rows = groups[weight].to_numpy()
    weighing = None if schema.weights is None else weighed(schema.weights, groups, real)
    groups = put_together(groups, schema.combined)
    factors = _factorize(groups.select(map(exactly, by)), rows, apart)
    del groups  # by far the largest thing here
    domains, codes, theirs = {}, [], {}
    for column, hierarchy in schema.quasi_identifiers.items():
        factor = factors[column]
        occurring, counted = factor.values, factor.rows
        if people is not None:
            occurring, place = joined_values(column, factor.values, people[column])
            counted = np.pad(factor.rows, (0, len(occurring) - len(factor.values)))
        domain = make_domain(
            column,
            occurring,
            hierarchy,
            type=schema.types.get(column),
            missing=missing,
            rows=counted,
            needed=column not in without_hierarchy,
        )
        domains[column] = domain
        codes.append(factor.of_groups(domain.codes))
        if people is not None:
            theirs[column] = domain.codes[place]
    sizes = [domain.ancestors.shape[1] for domain in domains.values()]
    told = [factors[column] for column in apart]
    index, tuples = collapse([*codes, *(f.places for f in told)], [*sizes, *(len(f.values) for f in told)])
    tuples, places = tuples[: len(sizes)], tuples[len(sizes) :]
    weights = add_up(index, rows, tuples.shape[1])
    if weighing is not None:
        weighing = _of_tuples(weighing, index, tuples.shape[1])
    population = None
    if people is not None:
        population = everybody(tuples, theirs, people.to_series(-1).to_numpy(), sizes)
    elif weighing is not None:
        population = Population(tuples, weighing.people, np.arange(tuples.shape[1]), estimated=True)
    histograms, reference, coded = {}, {}, {}
    entries: dict[str, _Entries] = {}
    unknown = missing_sensitive == "unknown"
    for column in dict.fromkeys(values):
        factor, own = factors[column], (hierarchies or {}).get(column)
        reference[column] = pl.DataFrame({"value": factor.values, "rows": factor.rows})
        there = factor.values.is_not_null().to_numpy() | (not unknown or column not in schema.sensitive)
        code = np.full(there.size, -1)
        coded[column] = pl.DataFrame({"value": factor.values, "code": code}).filter(there)
        if not there.any():
            entries[column] = _Entries(index, factor.of_groups(code), 1, rows, weights.size)
            tree = None if own is None else np.zeros((1, 1), dtype=np.int32)
            histograms[column] = replace(_counted(column, entries[column]), labels=("",), ancestors=tree)
            continue
        domain = make_domain(
            column,
            factor.values.filter(there),
            own or flat(),
            type=schema.types.get(column),
            rows=factor.rows[there],
        )
        present, code[there] = np.unique(domain.codes, return_inverse=True)
        coded[column] = coded[column].with_columns(code=code[there])
        entries[column] = _Entries(index, factor.of_groups(code), present.size, rows, weights.size)
        histograms[column] = _histogram(domain, present, entries[column], own is not None)
    label = schema.class_attribute
    labels = None if label is None else entries[label].with_missing()
    table = CountTable(
        attributes=tuple(
            CodedAttribute(
                name,
                domain.ancestors,
                add_up(tuples[i], weights, domain.ancestors.shape[1]),
                domain.distances,
                domain.repeats,
                tree=bool(domain.text),
                labels=domain.labels,
            )
            for i, (name, domain) in enumerate(domains.items())
        ),
        codes=tuples,
        weights=weights,
        sensitive={column: histograms[column] for column in schema.sensitive},
        labels=_labels(labels, histograms[label]) if label is not None and labels is not None else None,
        joint={} if labels is None else _Joint(entries, schema.sensitive, labels),
        population=population,
    )
    originals = {column: reference[column] for column in schema.sensitive}
    divided = {
        column: Apart(written[column], _places(written[column], factor.values, written_as), place)
        for column, factor, place in zip(apart, told, places, strict=True)
    }
    return Counted(table, domains, originals, coded, absent, dropped, divided, people, weighing)


def _groups(source: Source, by: Sequence[str], schema: Schema) -> pl.DataFrame:
    """Count the rows of a source. Few rows in memory are not counted yet: numbering their values comes first then.

    Text of quasi-identifiers may come as categories.
    """
    rows = source.rows(by) if isinstance(source, HoldsRows) and schema.weights is None else None
    if rows is None:
        return source.count(by, schema.weights)
    coded = [name for name in by if is_category(rows.schema[name]) and name not in schema.quasi_identifiers]
    texts = [exactly(name).cast(pl.String) for name in by if name in coded or rows.schema[name] == pl.Null]
    return rows.with_columns(*texts, pl.lit(1, dtype=pl.Int64).alias(unused("rows", by)))


def _of_tuples(groups: Weighed, index: NDArray[np.int64], size: int) -> Weighed:
    """Return the weights of tuples, of which the groups are parts."""
    lightest, heaviest = np.full(size, np.inf), np.zeros(size)
    np.minimum.at(lightest, index, groups.lightest)
    np.maximum.at(heaviest, index, groups.heaviest)
    return Weighed(add_weights(index, groups.people, size), lightest, heaviest)


def _places(values: pl.Series, distinct: pl.Series, written_as: Format | None) -> NDArray[np.int64]:
    """Return the place of each value among the distinct ones, some of which a file may not tell apart."""
    same = values if written_as is None else held(values, written_as)
    return same.replace_strict(distinct, np.arange(len(distinct)), return_dtype=pl.Int64).to_numpy()


def _missing_rows(groups: pl.DataFrame, column: str, weight: str) -> int:
    return int(groups[weight].filter(groups[column].is_null()).sum())


class _Factor(NamedTuple):
    """The distinct values of a column, how many rows have each, and each group's value as a number.

    ``place`` says for each number which of the distinct values it stands for.
    """

    values: pl.Series
    rows: NDArray[np.int64]
    numbers: NDArray[np.integer]
    place: NDArray[np.integer]

    def of_groups(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Return the code of each group's value, by those of the distinct values."""
        by_number: NDArray[Any] = codes[self.place]
        return np.asarray(by_number[self.numbers])

    @property
    def places(self) -> NDArray[np.int32]:
        """The place of each group's value among the distinct ones."""
        return self.of_groups(np.arange(len(self.values), dtype=np.int32))


def _factorize(groups: pl.DataFrame, rows: NDArray[np.int64], in_order: Collection[str] = ()) -> dict[str, _Factor]:
    """Number the distinct values of each column; their order differs, but for some columns."""
    whole = whole_numbers(groups.select(exactly(column) for column in groups.columns if column not in in_order))
    factors = {column: _by_numbers(groups[column], numbers, rows) for column, numbers in whole.items()}
    others = groups.select(
        exactly(column).cast(pl.String) if is_category(groups.schema[column]) else exactly(column)
        for column in groups.columns
        if column not in whole
    )
    values = {column.name: column.unique() for column in others}
    values |= {column: values[column].sort() for column in in_order}
    places = others.select(
        exactly(column).replace_strict(distinct, np.arange(len(distinct)), return_dtype=pl.Int32)
        for column, distinct in values.items()
    )
    for column, distinct in values.items():
        place = places[column].to_numpy()
        factors[column] = _Factor(distinct, add_up(place, rows, len(distinct)), place, np.arange(len(distinct)))
    return factors


def _by_numbers(column: pl.Series, whole: Whole, rows: NDArray[np.int64]) -> _Factor:
    """Return the distinct values of a column that is whole numbers."""
    example = np.full(whole.size, -1)
    example[whole.numbers] = np.arange(len(column))
    there = example >= 0
    values = column[pl.Series(example[there], dtype=pl.UInt32)]
    text = values.cast(pl.String) if is_category(values.dtype) else values
    return _Factor(text, add_up(whole.numbers, rows, whole.size)[there], whole.numbers, np.cumsum(there) - 1)


class _Entries(NamedTuple):
    """The groups seen from one column: the tuple and the value each belongs to, -1 if not known, and its rows."""

    tuple: NDArray[np.int64]
    code: NDArray[np.int64]
    cardinality: int
    rows: NDArray[np.int64]
    tuples: int

    def with_missing(self) -> _Entries:
        """Return the same with one more value for the groups whose value is not known, if there are any."""
        if (self.code >= 0).all():
            return self
        return self._replace(
            code=np.where(self.code < 0, self.cardinality, self.code), cardinality=self.cardinality + 1
        )


def _labels(entries: _Entries, known: Histogram) -> Histogram:
    """Return the histogram of class labels, among which a missing one is the last."""
    if entries.cardinality == known.cardinality:
        return known
    return replace(_counted(known.name, entries), labels=(*known.labels, ""))


def _histogram(domain: Domain, present: NDArray[np.int32], entries: _Entries, tree: bool) -> Histogram:
    """Count the values that occur with each tuple; leaves that never occur get no code."""
    return replace(
        _counted(domain.name, entries),
        ancestors=_renumbered(domain.ancestors[:, present]) if tree else None,
        labels=tuple(str(domain.labels[0][leaf] or "") for leaf in present.tolist()),
    )


def _counted(name: str, entries: _Entries) -> Histogram:
    size, known = entries.cardinality, entries.code >= 0
    keys, entry = np.unique((entries.tuple * size + entries.code)[known], return_inverse=True)
    return Histogram(
        name=name,
        cardinality=size,
        offsets=np.searchsorted(keys, np.arange(entries.tuples + 1) * size),
        values=(keys % size).astype(np.int32 if size < 2**31 else np.int64),
        counts=add_up(entry, entries.rows[known], keys.size),
        missing=int(entries.rows[~known].sum()),
    )


class _Joint(Mapping[str, Histogram]):
    """The sensitive columns counted together with the class labels, each when it is first asked for.

    Few problems ask, and counting takes as long as for any other column.
    """

    def __init__(self, entries: Mapping[str, _Entries], sensitive: Sequence[str], labels: _Entries) -> None:
        self._entries = {column: entries[column] for column in sensitive}
        self._sensitive = tuple(sensitive)
        self._labels = labels
        self._made: dict[str, Histogram] = {}

    def __getitem__(self, column: str) -> Histogram:
        if column not in self._sensitive:
            raise KeyError(column)
        if column not in self._made:
            value, label = self._entries[column], self._labels
            both = value._replace(
                code=np.where(value.code < 0, -1, value.code * label.cardinality + label.code),
                cardinality=value.cardinality * label.cardinality,
            )
            self._made[column] = _counted(column, both)
        return self._made[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sensitive)

    def __len__(self) -> int:
        return len(self._sensitive)


def _renumbered(ancestors: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the blocks of each level numbered from 0 by first appearance, without gaps."""
    numbered = np.empty_like(ancestors)
    for level, blocks in enumerate(ancestors):
        numbered[level] = by_appearance(blocks)
    return numbered
