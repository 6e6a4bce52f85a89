"""The original and the released table, read column by column into codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray
from discreet.engines import (
    UNKNOWN,
    count,
    exactly,
    is_category,
    normalized,
    open_source,
    open_table,
    reading,
    relation_of,
    to_lazy,
)
from discreet.errors import DataError, MissingColumnError, UsageError
from discreet.evaluate.attribute import Attribute
from discreet.evaluate.released_as import ReleasedAs, bind, split
from discreet.evaluate.utility.covered_column import CoveredColumn, LeafCover
from discreet.runtime.locations import is_url
from discreet.schema import Schema, as_hierarchy, make_domain, parts_of, plain, text_of

__all__ = ["TablePair", "read_pair", "read_rows"]

_COMPARABLE = (pl.String, pl.Boolean, pl.Date, pl.Datetime)


@dataclass(frozen=True, eq=False)
class TablePair:
    """The original and the released table, and which rows of both belong together."""

    schema: Schema
    counts: CountTable
    """The original table as costs take it."""
    before: Mapping[str, CoveredColumn]
    """The columns of the original table: quasi-identifiers first, then sensitive ones and the class attribute."""
    after: Mapping[str, CoveredColumn]
    """The same columns of the release."""
    link: NDArray[np.int64] | None
    """The original row of each released row; None if it is unknown."""
    suppressed_values: int
    """The number of suppressed values in columns other than quasi-identifiers."""
    rows: int
    """The number of released rows."""
    hierarchies: Mapping[str, Any]
    """The quasi-identifiers with the hierarchies that explain their released values."""
    unclear: tuple[str, ...]
    """The quasi-identifiers with ambiguous released values."""

    @property
    def quasi_identifiers(self) -> list[str]:
        """The names of the quasi-identifiers."""
        return list(self.schema.quasi_identifiers)

    @cached_property
    def holds(self) -> bool:
        """Whether every released quasi-identifier covers the original value, as far as that is known."""
        if self.link is None:
            return not self.unclear
        pairs = [(self.before[name].codes[self.link], self.after[name]) for name in self.quasi_identifiers]
        return all(bool(after.cover.holds(after.codes, leaves).all()) for leaves, after in pairs)


def read_pair(
    original: Any,
    released: Any,
    *,
    quasi_identifiers: str | Sequence[str] | Mapping[str, Any],
    sensitive: str | Sequence[str] = (),
    class_attribute: str | None = None,
    types: Mapping[str, Any] | None = None,
) -> TablePair:
    """Read both tables and match their rows."""
    released = getattr(released, "frame", released)
    there, left = open_source(original).columns, open_source(released).columns
    named = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    parts = list(dict.fromkeys(part for name in named for part in parts_of(name, there)))
    given, known = split(quasi_identifiers)
    schema = Schema.make(there, (), given, parts, class_attribute, types)
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
        before[name] = CoveredColumn(
            attribute, LeafCover.identity(leaves), _codes(first[name], domain.values, domain.codes)
        )
        after[name], values = _covered(attribute, second[name])
        if name in quasi and attribute.unclear(values, after[name].rows, before[name].rows):
            unclear.append(name)
    hidden, unchanged = 0, []
    for name in (name for name in others if name in first.columns and name in second.columns):
        if all(table[name].dtype.is_numeric() or table[name].dtype in _COMPARABLE for table in (first, second)):
            unknown, codes = _compared(name, first[name], second[name])
            hidden += unknown
            unchanged.append(codes)
    matched = _match_rows([(before[name], after[name]) for name in quasi], unchanged)
    return TablePair(schema, counted.table, before, after, matched, hidden, second.height, hierarchies, tuple(unclear))


def _explained(
    schema: Schema, known: Mapping[str, ReleasedAs], first: pl.DataFrame, second: pl.DataFrame
) -> tuple[Schema, dict[str, Any]]:
    """Return the schema with automatic hierarchies where released values need one, and all hierarchies."""
    trees: dict[str, Any] = {**schema.quasi_identifiers, **known}
    for name, tree in trees.items():
        if tree is None:
            values = first[name].value_counts(name="rows of each value")
            rows = values.to_series(1).to_numpy().astype(np.int64)
            _, found = bind(name, values.to_series(0), rows, None, schema.types.get(name), second[name].unique())
            trees[name] = None if found is None else as_hierarchy(found)
    given, _ = split(trees)
    return replace(schema, quasi_identifiers=given), trees


def read_rows(data: Any, like: Mapping[str, CoveredColumn]) -> dict[str, CoveredColumn]:
    """Read further rows of the same columns; a text that the original table lacks is read as missing."""
    there = open_source(data).columns
    for name in like:
        if name not in there:
            raise MissingColumnError(name, there)
    frame = _read(data, list(like))
    if not frame.height:
        raise DataError("The held-out table has no rows; there is nothing to test on.")
    found = {}
    for name, known_column in like.items():
        column = frame[name]
        if not known_column.numeric:
            column = text_of(plain(name, column))
            distinct = column.drop_nulls().unique()
            known = distinct.filter(known_column.attribute.tree.find(distinct) >= 0)
            column = pl.select(pl.when(column.is_in(known.implode())).then(column)).to_series()
        found[name], _ = _covered(known_column.attribute, column)
    return found


def _read(data: Any, columns: Sequence[str]) -> pl.DataFrame:
    """Read columns with normalized values: NaN is missing, -0.0 is 0.0, and categories are text."""
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


def _covered(attribute: Attribute, column: pl.Series) -> tuple[CoveredColumn, pl.Series]:
    """Return a column of a release by what its values cover, and its distinct values."""
    values = column.unique().sort()  # so that sums are rounded alike each time
    cover = LeafCover.of(attribute, attribute.released(values))
    return CoveredColumn(attribute, cover, _codes(column, values, np.arange(len(values)))), values


def _codes(column: pl.Series, values: pl.Series, numbers: IntArray) -> NDArray[np.int64]:
    """Return the code of each row's value."""
    return column.replace_strict(values, numbers, return_dtype=pl.Int64).to_numpy().astype(np.int64)


def _compared(name: str, before: pl.Series, after: pl.Series) -> tuple[int, tuple[IntArray, IntArray]]:
    """Return the number of suppressed values, and codes of both columns that are equal where the values are.

    A suppressed value, which may have been any, has the code -1.
    """
    texts = [text_of(plain(name, column)) for column in (before, after)]
    both = pl.concat([text.cast(pl.String) for text in texts])
    codes = both.rank("dense").fill_null(0).to_numpy().astype(np.int64)
    first, second = codes[: len(before)], codes[len(before) :]
    hidden = (texts[1] == UNKNOWN).fill_null(False).to_numpy()
    if (texts[0] == UNKNOWN).any():
        return 0, (first, second)
    return int(hidden.sum()), (first, np.where(hidden, -1, second))


Pairs = Sequence[tuple[CoveredColumn, CoveredColumn]]
"""Columns before and after."""
Codes = Sequence[tuple[IntArray, IntArray]]
"""Codes of columns before and after."""
_FEW = 64


def _match_rows(quasi: Pairs, others: Codes) -> NDArray[np.int64] | None:
    """Return the original row of each released row; None if the order does not determine it.

    A released quasi-identifier (``quasi``) must cover the original value. The codes of other columns must be equal,
    unless the code after is -1. Each released row takes the first original row that fits, which finds a match whenever
    there is one. If the other columns were changed too, quasi-identifiers alone decide. If no row was left out but
    values do not cover the original ones, as with means, the others alone decide.
    """
    before, after = (quasi[0][side].codes.size for side in (0, 1))
    for used in [others, []] if others else [[]]:
        found = _in_order(quasi, used, before, after)
        if found is not None:
            return found
    return _in_order([], others, before, after) if others and before == after else None


def _in_order(quasi: Pairs, others: Codes, before: int, after: int) -> NDArray[np.int64] | None:
    found = np.empty(after, dtype=np.int64)
    row, shift, width = 0, 0, _FEW
    while row < after:
        if shift > before - after:
            return None
        rows = np.arange(row, min(row + width, after))
        fits = _fits(quasi, others, rows, rows + shift)
        run = rows.size if fits.all() else int(np.argmin(fits))
        found[row : row + run] = rows[:run] + shift
        row += run
        if run == rows.size:
            width *= 2
        else:
            shift = _next(quasi, others, row, row + shift + 1, row + before - after + 1) - row
            width = max(_FEW, width // 2)
    return found


def _next(quasi: Pairs, others: Codes, row: int, begin: int, end: int) -> int:
    """Return the first original row from ``begin`` to ``end`` that fits a released row; ``end`` if there is none."""
    width = _FEW
    while begin < end:
        originals = np.arange(begin, min(begin + width, end))
        fits = _fits(quasi, others, np.full(originals.size, row), originals)
        if fits.any():
            return int(originals[np.argmax(fits)])
        begin += width
        width *= 2
    return end


def _fits(quasi: Pairs, others: Codes, rows: IntArray, originals: IntArray) -> NDArray[np.bool_]:
    """Return for pairs of a released and an original row whether they fit."""
    fits = np.ones(rows.size, dtype=np.bool_)
    for before, after in others:
        fits &= (before[originals] == after[rows]) | (after[rows] == -1)
    for original, released in quasi:
        fits &= released.cover.holds(released.codes[rows], original.codes[originals])
    return fits
