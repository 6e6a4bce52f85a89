"""The original and the released table, read row by row into places of distinct values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet._places import is_url
from discreet.counts import CountTable, IntArray
from discreet.engines import UNKNOWN, count, exactly, open_source, open_table, reading, relation_of, to_lazy
from discreet.engines._recoding import is_category, normalized
from discreet.errors import DataError, MissingColumnError, UsageError
from discreet.evaluate._attribute import Attribute
from discreet.evaluate._cover import Cells, Cover
from discreet.evaluate._released_as import ReleasedAs, bind, split
from discreet.evaluate._rows import link
from discreet.schema import Schema, as_hierarchy, make_domain, parts_of
from discreet.schema._column import plain, text_of

__all__ = ["Pair", "read_pair", "read_rows"]

_COMPARABLE = (pl.String, pl.Boolean, pl.Date, pl.Datetime)


@dataclass(frozen=True, eq=False)
class Pair:
    """The original and the released table, column by column, and which rows of both belong together."""

    schema: Schema
    counts: CountTable
    """The original table as costs see it."""
    before: Mapping[str, Cells]
    """The columns of the original table: quasi-identifiers first, then sensitive ones and the class attribute."""
    after: Mapping[str, Cells]
    """The same columns of the release."""
    link: NDArray[np.int64] | None
    """For each released row the number of its original row; None where that cannot be told."""
    suppressed_values: int
    """The values that became unknown in columns that are no quasi-identifiers."""
    rows: int
    """The number of released rows."""
    hierarchies: Mapping[str, Any]
    """The quasi-identifiers with what explains their released values."""
    unclear: tuple[str, ...]
    """The quasi-identifiers of which it cannot be told what their released values stand for."""

    @property
    def quasi_identifiers(self) -> list[str]:
        """The names of the quasi-identifiers."""
        return list(self.schema.quasi_identifiers)

    @cached_property
    def holds(self) -> bool:
        """Whether every released quasi-identifier covers the original one, as far as can be told."""
        if self.link is None:
            return not self.unclear
        pairs = [(self.before[name].places[self.link], self.after[name]) for name in self.quasi_identifiers]
        return all(bool(after.cover.holds(after.places, leaves).all()) for leaves, after in pairs)


def read_pair(
    original: Any,
    released: Any,
    *,
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any],
    sensitive: str | Sequence[str] = (),
    class_attribute: str | None = None,
    types: Mapping[str, Any] | None = None,
) -> Pair:
    """Read both tables, and find out which rows belong together."""
    released = getattr(released, "frame", released)
    there, left = open_source(original).columns, open_source(released).columns
    named = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    apart = list(dict.fromkeys(part for name in named for part in parts_of(name, there)))
    given, known = split(quasi_identifiers)
    schema = Schema.make(there, (), given, apart, class_attribute, types)
    quasi = list(schema.quasi_identifiers)
    columns = list(dict.fromkeys([*quasi, *schema.sensitive, *filter(None, [class_attribute])]))
    for column in columns:
        if column not in left:
            raise MissingColumnError(column, left)
    others = [column for column in there if column in left and column not in quasi]
    first, second = (_read(table, [*quasi, *others]) for table in (original, released))
    if not second.height:
        raise DataError("The released table has no rows; there is nothing to measure.", topic="no-rows")
    if second.height > first.height:
        raise UsageError(
            f"The released table has {second.height:,} rows and the original table {first.height:,}; a release has no "
            "more rows than the table it was made from, so name the original first and then the release.",
            topic="more-rows-released",
        )
    known = {name: tree.widened(first[name]) for name, tree in known.items()}
    schema, hierarchies = _explained(schema, known, first, second)
    bare = [name for name, hierarchy in schema.quasi_identifiers.items() if hierarchy is None]
    counted = count(open_source(first), schema, without_hierarchy=bare)
    before, after, unclear = {}, {}, []
    for name in columns:
        domain = counted.domains.get(name)
        if domain is None:
            domain = make_domain(name, first[name].unique(), type=schema.types.get(name), needed=False)
        attribute, leaves = Attribute(domain, known[name].values if name in known else None), domain.ancestors.shape[1]
        before[name] = Cells(attribute, Cover.identity(leaves), _replaced(first[name], domain.values, domain.codes))
        after[name], values = _cells(attribute, second[name])
        if name in quasi and attribute.unclear(values, after[name].rows, before[name].rows):
            unclear.append(name)
    hidden, told = 0, []
    for name in (name for name in others if name in first.columns and name in second.columns):
        if all(table[name].dtype.is_numeric() or table[name].dtype in _COMPARABLE for table in (first, second)):
            unknown, numbers = _compared(name, first[name], second[name])
            hidden += unknown
            told.append(numbers)
    found = link([(before[name], after[name]) for name in quasi], told)
    return Pair(schema, counted.table, before, after, found, hidden, second.height, hierarchies, tuple(unclear))


def _explained(
    schema: Schema, known: Mapping[str, ReleasedAs], first: pl.DataFrame, second: pl.DataFrame
) -> tuple[Schema, dict[str, Any]]:
    """Return the schema with automatic hierarchies where released values cannot be read without, and all of them."""
    trees: dict[str, Any] = {**schema.quasi_identifiers, **known}
    for name, tree in trees.items():
        if tree is None:
            values = first[name].value_counts(name="rows of each value")
            rows = values.to_series(1).to_numpy().astype(np.int64)
            _, found = bind(name, values.to_series(0), rows, None, schema.types.get(name), second[name].unique())
            trees[name] = None if found is None else as_hierarchy(found)
    given, _ = split(trees)
    return replace(schema, quasi_identifiers=given), trees


def read_rows(data: Any, like: Mapping[str, Cells]) -> dict[str, Cells]:
    """Read further rows of the same columns; a text that the original table does not know may be anything."""
    there = open_source(data).columns
    for name in like:
        if name not in there:
            raise MissingColumnError(name, there)
    frame = _read(data, list(like))
    if not frame.height:
        raise DataError("The table that is held out has no rows; there is nothing to test on.")
    found = {}
    for name, cells in like.items():
        column = frame[name]
        if not cells.numeric:
            column = text_of(plain(name, column))
            distinct = column.drop_nulls().unique()
            known = distinct.filter(cells.attribute.tree.find(distinct) >= 0)
            column = pl.select(pl.when(column.is_in(known.implode())).then(column)).to_series()
        found[name], _ = _cells(cells.attribute, column)
    return found


def _read(data: Any, columns: Sequence[str]) -> pl.DataFrame:
    """Return a table with its values as they are compared: no NaN, no negative zero, no categories."""
    if isinstance(data, str | PathLike) and not (isinstance(data, str) and is_url(data)):
        file = open_table(data)
        file.check_rows()
        with reading(file.name, file.explain):
            return _chosen(file.scan(), columns)
    relation = relation_of(data)
    if relation is not None:
        names = {relation.plain(column): column for column in columns}
        with relation.running():
            rows = relation.frame.select(name for name in names if name in relation.order).collect("polars").to_native()
        frame: pl.DataFrame = rows.rename(names, strict=False)
        return _chosen(frame.lazy(), frame.columns)
    with reading("The table"):
        return _chosen(to_lazy(data, columns), columns)


def _chosen(plan: pl.LazyFrame, columns: Sequence[str]) -> pl.DataFrame:
    types = plan.collect_schema()
    chosen = (exactly(c).cast(pl.String) if is_category(types[c]) else normalized(c, types[c]) for c in columns)
    return plan.select(chosen).collect(engine="streaming")


def _cells(attribute: Attribute, column: pl.Series) -> tuple[Cells, pl.Series]:
    """Return a column of a release as cells, and its distinct values."""
    values = column.unique().sort()  # the same each time, and so is what adding up rounds off
    cover = Cover.of(attribute, attribute.released(values))
    return Cells(attribute, cover, _replaced(column, values, np.arange(len(values)))), values


def _replaced(column: pl.Series, values: pl.Series, numbers: IntArray) -> NDArray[np.int64]:
    """Return the number of each row's value."""
    return column.replace_strict(values, numbers, return_dtype=pl.Int64).to_numpy().astype(np.int64)


def _compared(name: str, before: pl.Series, after: pl.Series) -> tuple[int, tuple[IntArray, IntArray]]:
    """Return how many values became unknown, and both columns as numbers that are equal where values are.

    An unknown value, which may be any, has the number -1.
    """
    texts = [text_of(plain(name, column)) for column in (before, after)]
    both = pl.concat([text.cast(pl.String) for text in texts])
    codes = both.rank("dense").fill_null(0).to_numpy().astype(np.int64)
    first, second = codes[: len(before)], codes[len(before) :]
    hidden = (texts[1] == UNKNOWN).fill_null(False).to_numpy()
    if (texts[0] == UNKNOWN).any():
        return 0, (first, second)
    return int(hidden.sum()), (first, np.where(hidden, -1, second))
