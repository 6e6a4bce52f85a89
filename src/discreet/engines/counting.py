"""From rows to a count table: one GROUP BY on the engine, then codes for the distinct values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from discreet.counts import CodedAttribute, CountTable, Histogram, Population
from discreet.engines.columns import exactly, is_category, unused
from discreet.engines.combined_columns import add_combined
from discreet.engines.files.formats import Format
from discreet.engines.format_limits import as_read_back
from discreet.engines.people import CountedPeople, CountedRows, ValueCodes, check_present, count_people_of_rows
from discreet.engines.polars.count import SmallIntegers, small_integers
from discreet.engines.population import collapse, everybody, joined_values
from discreet.engines.source import HoldsRows, Source
from discreet.engines.weights import Weighed, add_weights, weighed
from discreet.errors import Argument, DataError
from discreet.runtime.integer_codes import add_up, by_appearance, compact, first_of
from discreet.runtime.read_options import MissingSensitive
from discreet.schema import Domain, Schema, Type, make_domain
from discreet.schema.builders.flat import flat

__all__ = ["Counted", "Missing", "SensitiveKey", "SensitiveOptions", "count"]

Missing = Literal["value", "suppress", "error"]


class SensitiveKey(NamedTuple):
    """A sensitive column that is part of what identifies a tuple: its values, their codes, and that of each tuple."""

    values: pl.Series
    codes: NDArray[np.int64]
    of_tuples: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Counted:
    """A source, counted."""

    table: CountTable
    domains: Mapping[str, Domain]
    """The meaning of the codes, by quasi-identifier."""
    reference: Mapping[str, pl.DataFrame]
    """The distinct values of each sensitive column and the ``rows`` of each, or its people where those are counted.

    Of several spellings of a value, the first has all people.
    """
    codes: Mapping[str, pl.DataFrame]
    """The distinct values of each sensitive and class column and the ``code`` of each in its histogram.

    Missing values are included only if they count as a value.
    """
    missing: Mapping[str, int]
    """The number of rows without a value, by quasi-identifier."""
    dropped: int
    """The number of rows left out because a quasi-identifier is missing."""
    sensitive_keys: Mapping[str, SensitiveKey] = field(default_factory=dict)
    """The sensitive columns that identify tuples besides the quasi-identifiers."""
    people: pl.DataFrame | None = None
    """A population table, counted by the quasi-identifiers."""
    weighed: Weighed | None = None
    """The totals of the survey weights of each tuple."""
    dropped_people: int = 0
    """The number of people with such rows, where people are counted."""
    owners: CountedPeople | None = None
    """Whose rows they are, if promises count people; the table has them only if somebody has several rows."""


@dataclass(frozen=True)
class SensitiveOptions:
    """How sensitive columns are counted."""

    missing: MissingSensitive = "unknown"
    """Whether a missing value is a ``value``; rows with an ``unknown`` one are in no histogram of the column."""
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    written_as: Format | None = None
    """Values that are equal in a file of this format are counted as one."""
    keys: Sequence[str] = ()
    """The columns that distinguish tuples besides the quasi-identifiers."""
    always_people: bool = False
    """Whether the table has people even if every row is of another one."""


def count(
    source: Source,
    schema: Schema,
    *,
    missing: Missing = "value",
    without_hierarchy: Collection[str] = (),
    people: pl.DataFrame | None = None,
    sensitive: SensitiveOptions | None = None,
) -> Counted:
    """Count the distinct tuples of a source and the sensitive and class values of each.

    Quasi-identifiers ``without_hierarchy`` get no automatic one. ``people`` is a population as :func:`count_people`
    returns it; its values become part of the domains.
    """
    options = sensitive or SensitiveOptions()
    keys = list(schema.quasi_identifiers)
    values = [*schema.sensitive, *([] if schema.class_attribute is None else [schema.class_attribute])]
    by = list(dict.fromkeys([*keys, *values]))
    unit = [] if schema.unit is None else [schema.unit]
    real = list(dict.fromkeys(part for name in by for part in schema.parts.get(name, (name,))))
    real += unit
    groups = _groups(source, real, schema)
    size = groups.columns[len(real)]
    for column in unit:
        check_present(column, schema.role(column), groups, size)
    absent = {column: _missing_rows(groups, column, size) for column in keys if groups[column].null_count()}
    dropped = dropped_people = 0
    if missing == "suppress" and absent:
        known = _with_known(groups, absent)
        dropped = int(groups[size].sum()) - int(known[size].sum())
        if unit:
            lacking = pl.any_horizontal(exactly(column).is_null() for column in absent)
            dropped_people = groups.filter(lacking)[unit[0]].n_unique()
        groups = known
    written = {column: groups[column].unique() for column in options.keys}
    if options.written_as is not None:
        layout = options.written_as
        groups = groups.with_columns(as_read_back(groups[column], layout) for column in schema.sensitive_columns)
    rows = groups[size].to_numpy()
    owner = groups[unit[0]].to_numpy() if unit else None
    totals = None if schema.weights is None else weighed(schema.weights, groups, real)
    groups = add_combined(groups, schema.combined)
    factors = _factorize(groups.select(map(exactly, by)), rows, options.keys)
    del groups  # by far the largest thing here
    quasi = _code_quasi_identifiers(schema, factors, missing, without_hierarchy, people)
    sizes = [domain.ancestors.shape[1] for domain in quasi.domains.values()]
    split = [factors[column] for column in options.keys]
    index, tuples = collapse(
        [*quasi.of_groups, *(factor.positions for factor in split)], [*sizes, *(len(each.values) for each in split)]
    )
    tuples, split_codes = tuples[: len(sizes)], tuples[len(sizes) :]
    weights = add_up(index, rows, tuples.shape[1])
    if totals is not None:
        totals = _of_tuples(totals, index, weights.size)
    population = None
    if people is not None:
        population = everybody(tuples, quasi.of_people, people.to_series(-1).to_numpy(), sizes)
    elif totals is not None:
        population = Population(tuples, totals.people, np.arange(weights.size), estimated=True)
    unknown = set(schema.sensitive) if options.missing == "unknown" else set()
    counted = {
        column: _count_values(
            column,
            factors[column],
            _GroupRows(index, rows, weights.size),
            hierarchy=options.hierarchies.get(column),
            value_type=schema.types.get(column),
            missing_unknown=column in unknown,
        )
        for column in dict.fromkeys(values)
    }
    owners = None
    if owner is not None:
        coded = {name: ValueCodes(counted[name].entries.code, counted[name].entries.cardinality) for name in counted}
        of_rows = CountedRows(index, owner, rows, weights.size)
        owners = count_people_of_rows(unit[0], of_rows, {name: coded[name] for name in schema.sensitive})
    label = schema.class_attribute
    labels = None if label is None else counted[label].entries.with_missing()
    table = CountTable(
        attributes=tuple(
            _attribute(domain, codes, weights) for domain, codes in zip(quasi.domains.values(), tuples, strict=True)
        ),
        codes=tuples,
        weights=weights,
        sensitive={column: counted[column].histogram for column in schema.sensitive},
        labels=_labels(labels, counted[label].histogram) if label is not None and labels is not None else None,
        joint={} if labels is None else _Joint({name: counted[name].entries for name in schema.sensitive}, labels),
        population=population,
        people=None if owners is None or (owners.own_rows and not options.always_people) else owners.people,
    )
    return Counted(
        table,
        quasi.domains,
        reference={
            c: pl.DataFrame({"value": factors[c].values, "rows": _reference_rows(factors[c], counted[c], owners, c)})
            for c in schema.sensitive
        },
        codes={column: each.codes for column, each in counted.items()},
        missing=absent,
        dropped=dropped,
        sensitive_keys={
            column: SensitiveKey(written[column], _positions(written[column], factor.values, options.written_as), codes)
            for column, factor, codes in zip(options.keys, split, split_codes, strict=True)
        },
        people=people,
        weighed=totals,
        dropped_people=dropped_people,
        owners=owners,
    )


def _groups(source: Source, by: Sequence[str], schema: Schema) -> pl.DataFrame:
    """Count the rows of a source. A few rows in memory are left as they are: it is faster to encode them first.

    Text of quasi-identifiers may come as categories.
    """
    rows = None
    if isinstance(source, HoldsRows) and schema.weights is None:
        rows = source.rows(by, few_equal=schema.unit is not None)
    if rows is None:
        groups = source.count(by, schema.weights)
    else:
        coded = [name for name in by if is_category(rows.schema[name]) and name not in schema.quasi_identifiers]
        texts = [exactly(name).cast(pl.String) for name in by if name in coded or rows.schema[name] == pl.Null]
        groups = rows.with_columns(*texts, pl.lit(1, dtype=pl.Int64).alias(unused("rows", by)))
    if groups.is_empty():
        raise DataError("The data has no rows; there is nothing to release.", topic="no-rows")
    return groups


def _missing_rows(groups: pl.DataFrame, column: str, size: str) -> int:
    return int(groups[size].filter(groups[column].is_null()).sum())


def _with_known(groups: pl.DataFrame, columns: Collection[str]) -> pl.DataFrame:
    """Return the groups that have values in all of some columns."""
    known = groups.drop_nulls(selectors.by_name(*columns))
    if known.is_empty():
        raise DataError(
            "Every row has a missing quasi-identifier, so that ",
            Argument("missing", "suppress"),
            " leaves none.",
            topic="no-rows",
        )
    return known


class _QuasiIdentifiers(NamedTuple):
    """The domains of the quasi-identifiers, and their codes for each group of rows and each group of people."""

    domains: dict[str, Domain]
    of_groups: list[NDArray[Any]]
    of_people: dict[str, NDArray[Any]]


def _code_quasi_identifiers(
    schema: Schema,
    factors: Mapping[str, _Factor],
    missing: Missing,
    without_hierarchy: Collection[str],
    people: pl.DataFrame | None,
) -> _QuasiIdentifiers:
    """Make the domain of each quasi-identifier, which includes the values of the population."""
    coded = _QuasiIdentifiers({}, [], {})
    for column, hierarchy in schema.quasi_identifiers.items():
        factor = factors[column]
        values, rows, position = factor.values, factor.rows, None
        if people is not None:
            values, position = joined_values(column, factor.values, people[column])
            rows = np.pad(factor.rows, (0, len(values) - len(factor.values)))
        domain = make_domain(
            column,
            values,
            hierarchy,
            type=schema.types.get(column),
            missing=missing,
            rows=rows,
            needed=column not in without_hierarchy,
        )
        coded.domains[column] = domain
        coded.of_groups.append(factor.of_groups(domain.codes))
        if position is not None:
            coded.of_people[column] = domain.codes[position]
    return coded


def _attribute(domain: Domain, codes: NDArray[np.int32], weights: NDArray[np.int64]) -> CodedAttribute:
    """Return a quasi-identifier, given its codes and the weights of the tuples."""
    rows = add_up(codes, weights, domain.ancestors.shape[1])
    return CodedAttribute(
        domain.name,
        domain.ancestors,
        rows,
        domain.distances,
        domain.repeats,
        tree=bool(domain.text),
        labels=domain.labels,
    )


class _GroupRows(NamedTuple):
    """The tuple and the number of rows of each group, and the number of tuples."""

    tuple: NDArray[np.int64]
    rows: NDArray[np.int64]
    tuples: int


class _CountedValues(NamedTuple):
    """A sensitive or class column: the codes of its distinct values, those of the groups, and the histogram."""

    codes: pl.DataFrame
    entries: _ColumnEntries
    histogram: Histogram


def _count_values(
    column: str, factor: _Factor, groups: _GroupRows, *, hierarchy: Any, value_type: Type | None, missing_unknown: bool
) -> _CountedValues:
    """Count the values of a sensitive or class column; those that never occur get no code."""
    known = factor.values.is_not_null().to_numpy() | (not missing_unknown)
    code = np.full(known.size, -1)
    if not known.any():
        entries = _ColumnEntries(groups.tuple, factor.of_groups(code), 1, groups.rows, groups.tuples)
        ancestors = None if hierarchy is None else np.zeros((1, 1), dtype=np.int32)
        histogram = replace(_histogram(column, entries), labels=("",), ancestors=ancestors)
    else:
        domain = make_domain(
            column, factor.values.filter(known), hierarchy or flat(), type=value_type, rows=factor.rows[known]
        )
        present, code[known] = np.unique(domain.codes, return_inverse=True)
        entries = _ColumnEntries(groups.tuple, factor.of_groups(code), present.size, groups.rows, groups.tuples)
        histogram = replace(
            _histogram(column, entries),
            ancestors=None if hierarchy is None else _renumbered(domain.ancestors[:, present]),
            labels=tuple(str(domain.labels[0][leaf] or "") for leaf in present.tolist()),
            positions=None if domain.positions is None else domain.positions[present],
        )
    codes = pl.DataFrame({"value": factor.values, "code": code}).filter(known)
    return _CountedValues(codes, entries, histogram)


def _reference_rows(
    factor: _Factor, counted: _CountedValues, owners: CountedPeople | None, column: str
) -> NDArray[np.int64]:
    """Return the rows of each distinct value of a sensitive column, or the people who have it."""
    if owners is None:
        return factor.rows
    codes = counted.codes.select("value", "code").unique("code", keep="first", maintain_order=True)
    people = pl.Series(owners.people.sensitive[column].totals).gather(codes["code"].cast(pl.UInt32))
    return factor.values.replace_strict(codes["value"], people, default=0, return_dtype=pl.Int64).to_numpy()


def _of_tuples(groups: Weighed, index: NDArray[np.int64], size: int) -> Weighed:
    """Return the weight totals of tuples, given those of the groups they consist of."""
    lightest, heaviest = np.full(size, np.inf), np.zeros(size)
    np.minimum.at(lightest, index, groups.lightest)
    np.maximum.at(heaviest, index, groups.heaviest)
    return Weighed(add_weights(index, groups.people, size), lightest, heaviest)


def _positions(values: pl.Series, distinct: pl.Series, written_as: Format | None) -> NDArray[np.int64]:
    """Return the position of each value among the distinct ones, after it was written and read back."""
    same = values if written_as is None else as_read_back(values, written_as)
    return same.replace_strict(distinct, np.arange(len(distinct)), return_dtype=pl.Int64).to_numpy()


class _Factor(NamedTuple):
    """The distinct values of a column, the rows of each, and each group's value as a number.

    ``position[number]`` is the position among the distinct values.
    """

    values: pl.Series
    rows: NDArray[np.int64]
    numbers: NDArray[np.integer]
    position: NDArray[np.integer]

    def of_groups(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Return the code of each group's value, given those of the distinct values."""
        by_number: NDArray[Any] = codes[self.position]
        return np.asarray(by_number[self.numbers])

    @property
    def positions(self) -> NDArray[np.int32]:
        """The position of each group's value among the distinct ones."""
        return self.of_groups(np.arange(len(self.values), dtype=np.int32))


def _factorize(groups: pl.DataFrame, rows: NDArray[np.int64], in_order: Collection[str] = ()) -> dict[str, _Factor]:
    """Number the distinct values of each column; only those ``in_order`` are sorted."""
    small = small_integers(groups.select(exactly(column) for column in groups.columns if column not in in_order))
    factors = {column: _factor_integers(groups[column], numbers, rows) for column, numbers in small.items()}
    others = groups.select(
        exactly(column).cast(pl.String) if is_category(groups.schema[column]) else exactly(column)
        for column in groups.columns
        if column not in small
    )
    values = {column.name: column.unique() for column in others}
    values |= {column: values[column].sort() for column in in_order}
    positions = others.select(
        exactly(column).replace_strict(distinct, np.arange(len(distinct)), return_dtype=pl.Int32)
        for column, distinct in values.items()
    )
    for column, distinct in values.items():
        position = positions[column].to_numpy()
        factors[column] = _Factor(distinct, add_up(position, rows, len(distinct)), position, np.arange(len(distinct)))
    return factors


def _factor_integers(column: pl.Series, small: SmallIntegers, rows: NDArray[np.int64]) -> _Factor:
    """Return the distinct values of a column of small integers."""
    example = np.full(small.size, -1)
    example[small.numbers] = np.arange(len(column))
    occurs = example >= 0
    values = column[pl.Series(example[occurs], dtype=pl.UInt32)]
    text = values.cast(pl.String) if is_category(values.dtype) else values
    return _Factor(text, add_up(small.numbers, rows, small.size)[occurs], small.numbers, np.cumsum(occurs) - 1)


class _ColumnEntries(NamedTuple):
    """The groups as one column sees them: the tuple of each, the code of its value (-1 if unknown), and its rows."""

    tuple: NDArray[np.int64]
    code: NDArray[np.int64]
    cardinality: int
    rows: NDArray[np.int64]
    tuples: int

    def with_missing(self) -> _ColumnEntries:
        """Return the entries with one more code for unknown values, if there are any."""
        if (self.code >= 0).all():
            return self
        return self._replace(
            code=np.where(self.code < 0, self.cardinality, self.code), cardinality=self.cardinality + 1
        )


def _labels(entries: _ColumnEntries, known: Histogram) -> Histogram:
    """Return the histogram of class labels, in which a missing label comes last."""
    if entries.cardinality == known.cardinality:
        return known
    return replace(_histogram(known.name, entries), labels=(*known.labels, ""))


def _histogram(name: str, entries: _ColumnEntries) -> Histogram:
    """Count the values of each tuple."""
    size, tuples, code, rows = entries.cardinality, entries.tuple, entries.code, entries.rows
    known = code >= 0
    if not known.all():
        tuples, code, rows = tuples[known], code[known], rows[known]
    entry, count = compact(tuples * size + code, entries.tuples * size)
    example = first_of(entry, count)
    return Histogram(
        name=name,
        cardinality=size,
        offsets=np.searchsorted(tuples[example], np.arange(entries.tuples + 1)),
        values=code[example].astype(np.int32 if size < 2**31 else np.int64),
        counts=add_up(entry, rows, count),
        missing=int(entries.rows[~known].sum()),
    )


class _Joint(Mapping[str, Histogram]):
    """The joint histograms of sensitive columns and class labels, each made on first use.

    Few problems use them, and they take as long as any other column.
    """

    def __init__(self, entries: Mapping[str, _ColumnEntries], labels: _ColumnEntries) -> None:
        self._entries = entries
        self._labels = labels
        self._made: dict[str, Histogram] = {}

    def __getitem__(self, column: str) -> Histogram:
        if column not in self._made:
            value, label = self._entries[column], self._labels
            both = value._replace(
                code=np.where(value.code < 0, -1, value.code * label.cardinality + label.code),
                cardinality=value.cardinality * label.cardinality,
            )
            self._made[column] = _histogram(column, both)
        return self._made[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _renumbered(ancestors: NDArray[np.int32]) -> NDArray[np.int32]:
    """Number the blocks of each level from 0 by first appearance, without gaps."""
    numbered = np.empty_like(ancestors)
    for level, blocks in enumerate(ancestors):
        numbered[level] = by_appearance(blocks)
    return numbered
