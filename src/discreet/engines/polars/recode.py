"""Carry out a recoding with polars: look-ups on arrays, batch by batch, without a join.

Each value is looked up once. Its position among the distinct values of the column gives both the released value and
the code of its equivalence class. Apart from the few steps that count rows in table order, everything works on one
batch at a time, so tables of any size stream through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from discreet.engines.columns import exactly, is_category, normalized, unused
from discreet.engines.metadata import own_text
from discreet.engines.polars.tuples import TupleCodes, positions_among
from discreet.engines.recoding import UNKNOWN, Lookup, PartsPlan, Recoding, RecodingPlan, SharesPlan, as_text, make_plan

__all__ = ["recode"]

Ints = NDArray[np.int64]
FindPositions = Callable[[pl.Series], pl.Series]
_NOT_FOUND = 2**32 - 1
_MAX_ENUM = 1 << 16
"""The most values of text that are looked up through an Enum."""


def recode(frame: pl.LazyFrame, recoding: Recoding, *, own: bool = False) -> pl.LazyFrame:
    """Add a recoding to a plan; rows and columns keep their order.

    With ``own`` the text of the columns :attr:`Recoding.looked_up_last` gets buffers of its own.
    """
    plan = make_plan(recoding)
    schema = frame.collect_schema()
    key = {column: normalized(column, schema[column]) for column in recoding.keys}
    if plan.required:
        frame = frame.filter(pl.all_horizontal(key[column].is_not_null() for column in plan.required))
    for column, people in plan.left_out.items():
        frame = frame.filter(~exactly(column).is_in(people.implode(), nulls_equal=True))
    if plan.shares is not None:
        frame = _assign_groups(frame, schema, plan.shares, key)
    if plan.no_rows:
        frame = frame.head(0)
    # An Enum lists all its categories, including those of suppressed rows.
    texts = [
        exactly(c).cast(_without_enums(dtype))
        for c, dtype in schema.items()
        if _without_enums(dtype) != dtype and c not in (*recoding.maps, *recoding.drop)
    ]
    cells = {} if plan.parts is None else {unused(f"cell{n}", schema): each for n, each in enumerate(plan.parts.cells)}
    frame = frame.with_columns(key[lookup.column].alias(name) for name, lookup in cells.items())
    frame = frame.drop(selectors.by_name(*recoding.drop))
    floats = [key[c] for c in (*recoding.maps, *recoding.kept) if schema[c].is_float()]
    part = _PartColumns(unused("part_id", schema), unused("left_out", schema))
    frame = _generalize(frame.with_columns(floats), plan, cells, part, own=own)
    if plan.parts is not None:
        frame = _suppress_parts(frame, schema[plan.parts.column], plan.parts, part)
    return frame.with_columns(texts) if texts else frame


class _PartColumns(NamedTuple):
    """The names of two columns of rows: the part of a class they belong to (-1 for none), and its rows to leave out."""

    part_id: str
    left_out: str


def _generalize(
    frame: pl.LazyFrame, plan: RecodingPlan, cells: Mapping[str, Lookup], part: _PartColumns, *, own: bool
) -> pl.LazyFrame:
    """Add the released values, leave out suppressed classes, and find the parts that rows belong to.

    ``cells`` are the columns that hold the original sensitive value and label; they are consumed.
    """
    columns = [column for column in frame.collect_schema() if column not in cells]
    if plan.lookups or plan.suppressed is not None or plan.parts is not None:
        frame = frame.drop(selectors.by_name(*plan.constants))
        schema = frame.collect_schema()
        generalizer = _Generalizer(plan, cells, schema, part, own=own)
        new = {name: dtype for name, dtype in schema.items() if name not in cells}
        new |= {column: values.dtype for column, values in generalizer.released.items()}
        if plan.parts is not None:
            new |= dict.fromkeys(part, pl.Int64())
            columns += part
        frame = frame.map_batches(
            generalizer, schema=new, predicate_pushdown=False, projection_pushdown=False, streamable=True
        )
    frame = frame.with_columns(
        pl.lit(value[0], dtype=value.dtype).alias(column) for column, value in plan.constants.items()
    )
    return frame.select(map(exactly, columns))


class _Generalizer:
    """Generalizes one batch of rows after the other."""

    def __init__(
        self, plan: RecodingPlan, cells: Mapping[str, Lookup], schema: pl.Schema, part: _PartColumns, *, own: bool
    ) -> None:
        lookups = {lookup.column: lookup for lookup in plan.lookups} | dict(cells)
        self.released = {column: lookups[column].results[name] for column, name in plan.released.items()}
        self._gather = _gather_own if own else pl.Series.gather
        self._find = {column: _position_finder(each, schema[column]) for column, each in lookups.items()}
        self._codes = {
            name: (column, codes)
            for column, lookup in lookups.items()
            for name, codes in lookup.results.items()
            if name not in plan.released.values()
        }
        self._replaced = selectors.by_name(*self.released, *cells)
        self._columns = [column for column in schema if column not in cells]
        self._suppressed = None if plan.suppressed is None else _RowTuples(plan.suppressed, self._codes)
        self._parts = None
        if plan.parts is not None:
            lines = plan.parts.lines
            self._parts = _RowTuples(lines.drop("part_id", "left_out"), self._codes)
            self._columns += part
            self._part = {
                part.part_id: np.append(lines["part_id"].to_numpy(), -1),
                part.left_out: np.append(lines["left_out"].to_numpy(), -1),
            }

    def __call__(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Return the released rows of a batch."""
        positions: Mapping[str, pl.Series] = {column: find(batch[column]) for column, find in self._find.items()}
        rows = batch.drop(self._replaced)
        height = batch.height
        if self._suppressed is not None:
            stays = ~self._suppressed.contains(height, positions)
            rows, height = rows.filter(stays), int(stays.sum())
            positions = {column: position.filter(stays) for column, position in positions.items()}
        new = [self._gather(values, positions[column]).alias(column) for column, values in self.released.items()]
        if self._parts is not None:
            line = self._parts.index(height, positions)
            new += [pl.Series(name, values[line]) for name, values in self._part.items()]
        return rows.with_columns(new).select(map(exactly, self._columns))


class _RowTuples:
    """A table of tuples of codes, in which rows are found by the positions of their values in look-up tables.

    ``codes`` has, for each column of the table, the column of the rows it belongs to and the code at each position.
    """

    def __init__(self, table: pl.DataFrame, codes: Mapping[str, tuple[str, pl.Series]]) -> None:
        self._columns: list[tuple[str, Ints]] = []
        sizes = []
        for name in table.columns:
            column, by_position = codes[name]
            # One code more, which no tuple has, for the position past the end.
            unknown = max(_largest(by_position), _largest(table[name])) + 1
            self._columns.append((column, np.append(by_position.to_numpy(), unknown)))
            sizes.append(unknown + 1)
        self._tuples = TupleCodes(table.height, zip((column.to_numpy() for column in table), sizes, strict=True))

    @cached_property
    def _known_tuples(self) -> pl.Series:
        return pl.Series(self._tuples.known).implode()

    @cached_property
    def _index(self) -> _TupleIndex:
        return _TupleIndex(self._tuples)

    def _rows(self, positions: Mapping[str, pl.Series]) -> Iterator[Ints]:
        return (codes[positions[column].to_numpy()] for column, codes in self._columns)

    def contains(self, rows: int, positions: Mapping[str, pl.Series]) -> pl.Series:
        """Return for each row whether its tuple is in the table."""
        return pl.Series(self._tuples.of_rows(rows, self._rows(positions))).is_in(self._known_tuples)

    def index(self, rows: int, positions: Mapping[str, pl.Series]) -> Ints:
        """Return for each row the index of its tuple in the table, -1 if it is not there."""
        return self._index.of_rows(rows, self._rows(positions))


class _TupleIndex:
    """Finds the index of each row's tuple among known ones."""

    def __init__(self, tuples: TupleCodes) -> None:
        self._tuples = tuples
        self._order = np.argsort(tuples.known)
        self._ordered = tuples.known[self._order]

    def of_rows(self, rows: int, columns: Iterable[NDArray[np.integer]]) -> Ints:
        """Return the index of the tuple of each row, -1 for an unknown tuple."""
        return np.append(self._order, -1)[positions_among(self._ordered, self._tuples.of_rows(rows, columns))]


def _largest(codes: pl.Series) -> int:
    return int(codes.max() or 0)  # type: ignore[arg-type]


def _position_finder(lookup: Lookup, dtype: pl.DataType) -> FindPositions:
    """Return a function from values to their positions in a look-up table.

    A value that is not listed is an error if the table is complete; else its position is one past the end.
    """
    values = lookup.values.cast(dtype) if is_category(dtype) else lookup.values
    positions = pl.Series(np.arange(len(values), dtype=np.uint32))
    past_end = len(values)

    def by_value(some: pl.Series) -> pl.Series:
        if some.is_empty():  # replace_strict would return it with the type it has
            return pl.Series(some.name, [], dtype=pl.UInt32)
        if lookup.complete:
            return some.replace_strict(values, positions, return_dtype=pl.UInt32)
        return some.replace_strict(values, positions, default=past_end, return_dtype=pl.UInt32)

    if dtype == pl.String and lookup.complete and 0 < values.drop_nulls().len() <= _MAX_ENUM:
        return _find_by_enum(values, by_value)
    if not is_category(dtype):
        return by_value
    not_found = _NOT_FOUND if lookup.complete else past_end
    physical = values.to_physical()
    unknown = int(physical.max() or 0) + 1  # type: ignore[arg-type]
    position_of = np.full(unknown + 2, not_found, dtype=np.uint32)  # the last is for null
    position_of[_filled(physical, unknown + 1)] = np.arange(len(values))

    def by_category(some: pl.Series) -> pl.Series:
        codes = some.to_physical()
        if some.null_count() or int(codes.max() or 0) > unknown:  # type: ignore[arg-type]
            found = position_of[_filled(codes.cast(pl.UInt32).clip(upper_bound=unknown), unknown + 1)]
        else:
            found = position_of[codes.to_numpy()]
        return by_value(some) if lookup.complete and found.max(initial=0) == not_found else pl.Series(found)

    return by_category


def _find_by_enum(values: pl.Series, by_value: FindPositions) -> FindPositions:
    """Find text of few values by its code in an Enum, which polars does faster than by value."""
    known = pl.Enum(values.drop_nulls())
    position = pl.Series(np.flatnonzero(values.is_not_null()), dtype=pl.UInt32)
    if values.null_count():
        position = position.extend(pl.Series(np.flatnonzero(values.is_null()), dtype=pl.UInt32))

    def by_code(some: pl.Series) -> pl.Series:
        codes = some.cast(known, strict=False).to_physical().cast(pl.UInt32)
        missing = some.null_count()
        if codes.null_count() > missing or (missing and not values.null_count()):
            return by_value(some)  # raises the error
        return position.gather(codes.fill_null(len(known.categories)) if missing else codes)

    return by_code


def _filled(codes: pl.Series, missing: int) -> NDArray[np.integer]:
    return (codes.cast(pl.Int64).fill_null(missing) if codes.null_count() else codes).to_numpy()


def _gather_own(values: pl.Series, positions: pl.Series) -> pl.Series:
    """Gather values so that no buffer of the result holds text of other values."""
    if values.dtype != pl.String:
        return values.gather(positions)
    numbers = (positions if positions.dtype.is_integer() else positions.cast(pl.UInt32)).to_numpy()  # none has no type
    occurs = np.zeros(len(values), dtype=np.bool_)
    occurs[numbers] = True
    rank = (np.cumsum(occurs, dtype=np.int64) - 1).astype(np.uint32)
    return own_text(values.gather(np.flatnonzero(occurs))).gather(rank[numbers])


def _suppress_parts(frame: pl.LazyFrame, dtype: pl.DataType, parts: PartsPlan, names: _PartColumns) -> pl.LazyFrame:
    """Leave out the last rows of each part, or make the sensitive values of its rows unknown."""
    part = pl.col(names.part_id)
    if parts.records:
        from_the_end = pl.int_range(pl.len(), 0, -1).over(part)
        frame = frame.filter((part < 0) | (from_the_end > pl.col(names.left_out)))
    else:
        known = as_text(normalized(parts.column, dtype), dtype)
        frame = frame.with_columns(pl.when(part < 0).then(known).otherwise(pl.lit(UNKNOWN)).alias(parts.column))
    return frame.drop(names)


def _without_enums(dtype: pl.DataType) -> pl.DataType:
    """Return a type with text in place of an Enum, also within lists and structs."""
    if isinstance(dtype, pl.Enum):
        return pl.String()
    if isinstance(dtype, pl.List):
        return pl.List(_without_enums(pl.Series(dtype=dtype.inner).dtype))
    if isinstance(dtype, pl.Array):
        return pl.Array(_without_enums(pl.Series(dtype=dtype.inner).dtype), dtype.shape)
    if isinstance(dtype, pl.Struct):
        return pl.Struct({field.name: _without_enums(pl.Series(dtype=field.dtype).dtype) for field in dtype.fields})
    return dtype


def _assign_groups(
    frame: pl.LazyFrame, schema: pl.Schema, shares: SharesPlan, key: Mapping[str, pl.Expr]
) -> pl.LazyFrame:
    """Give every row the released values of its group; rows of suppressed groups are left out.

    A row of an unknown tuple, which only a table that changed meanwhile has, is left out too: the audit will miss it.
    """
    tuple_id, split, nth = (unused(name, schema) for name in ("tuple_id", "split", "nth"))
    frame = frame.with_columns(_tuple_of(shares, key, schema).alias(tuple_id))
    deal = _Deal.of(shares)
    if shares.dealt is None:
        group = _element(deal.group, pl.col(tuple_id))
    else:
        frame = frame.with_columns(_element(deal.split, pl.col(tuple_id)).alias(split))
        frame = frame.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over(split).alias(nth))
        group = _by_batch(pl.struct(tuple_id, split, nth), deal.groups_of, pl.Int32())
    frame = frame.with_columns(group.alias(tuple_id)).filter(pl.col(tuple_id) >= 0)
    frame = frame.with_columns(
        _by_batch(pl.col(tuple_id), shares.groups[name].gather, shares.groups[name].dtype).alias(column)
        for column, name in shares.shown.items()
    )
    return frame.drop([tuple_id] if shares.dealt is None else [tuple_id, split, nth])


def _tuple_of(shares: SharesPlan, key: Mapping[str, pl.Expr], schema: pl.Schema) -> pl.Expr:
    """Return the tuple of each row, -1 if it is unknown."""
    names = [name for lookup in shares.codes for name in lookup.results]
    largest = (
        max(_largest(codes), _largest(shares.tuples[name]))
        for lookup in shares.codes
        for name, codes in lookup.results.items()
    )
    columns = zip((shares.tuples[name].to_numpy() for name in names), (size + 1 for size in largest), strict=True)
    index = _TupleIndex(TupleCodes(shares.tuples.height, columns))

    def find(rows: pl.Series) -> pl.Series:
        return pl.Series(index.of_rows(len(rows), (codes.to_numpy() for codes in rows.struct.unnest())))

    codes = [_code(lookup, key[lookup.column], schema[lookup.column]) for lookup in shares.codes]
    return _by_batch(pl.struct(codes), find, pl.Int64())


def _code(lookup: Lookup, key: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return the code of each value of a column."""
    ((name, codes),) = lookup.results.items()
    if codes.n_unique() == 1:
        return pl.lit(codes[0], dtype=codes.dtype).alias(name)
    find = _position_finder(lookup, dtype)
    return _by_batch(key, lambda some: codes[find(some)], codes.dtype).alias(name)


class _Deal(NamedTuple):
    """The groups of the rows of each tuple; the last tuple is that of rows without a known one."""

    group: NDArray[np.int32]
    """The group of most rows of each tuple."""
    split: NDArray[np.int32]
    """The number of each tuple among those whose rows are split between groups, -1 for others."""
    first: Ints
    """(split tuples + 1,) where the groups of the other rows of each begin in ``others``."""
    others: NDArray[np.int32]

    @classmethod
    def of(cls, shares: SharesPlan) -> _Deal:
        split = np.full(shares.tuples.height + 1, -1, dtype=np.int32)
        first, others = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32)
        if shares.dealt is not None:
            dealt = shares.dealt.sort("tuple_id", "nth")
            tuples, starts = np.unique(dealt["tuple_id"].to_numpy(), return_index=True)
            split[tuples] = np.arange(tuples.size)
            first = np.append(starts, len(dealt)).astype(np.int64)
            others = dealt["group_id"].to_numpy().astype(np.int32)
        return cls(np.append(shares.tuples["group_id"].to_numpy(), -1).astype(np.int32), split, first, others)

    def groups_of(self, rows: pl.Series) -> pl.Series:
        """Return the group of each row, given its tuple, its number among split ones, and the row's position in it."""
        tuple_id, split, nth = (column.to_numpy() for column in rows.struct.unnest())
        group = self.group[tuple_id]
        some = np.flatnonzero(split >= 0)
        at = self.first[split[some]] + nth[some]
        other = at < self.first[split[some] + 1]
        group[some[other]] = self.others[at[other]]
        return pl.Series(group)


def _element(values: NDArray[np.int32], index: pl.Expr) -> pl.Expr:
    """Return the element at each index; -1 is the last."""
    return _by_batch(index, lambda some: pl.Series(values[some.to_numpy()]), pl.Int32())


def _by_batch(values: pl.Expr, function: Callable[[pl.Series], pl.Series], dtype: pl.DataType) -> pl.Expr:
    """Apply a function batch by batch; as a native expression, polars would hold the whole column."""
    return values.map_batches(function, return_dtype=dtype, is_elementwise=True)
