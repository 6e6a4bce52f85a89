"""A recoding as every engine carries it out: small tables of values, and never a row as a Python object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl
from polars import selectors

from discreet.engines._generalize import generalized, is_category, looked_up
from discreet.engines._names import exactly, unused

__all__ = ["UNKNOWN", "Parts", "Recoding", "Shares", "ValueMap", "as_text", "is_category", "normalized", "recode"]

UNKNOWN = "*"
"""How a sensitive value that was suppressed is written."""
_FEW = 1000
"""The most values of an Enum that is made of text."""


@dataclass(frozen=True, eq=False)
class ValueMap:
    """What each distinct value of a column (null is one) is released as."""

    values: pl.Series
    released: pl.Series

    @property
    def constant(self) -> bool:
        """Whether all values are released as the same one, so that the column need not even be read."""
        return self.released.n_unique() == 1


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of classes that are suppressed while the rest of the class stays.

    A part is the rows of a class that have one value of the sensitive ``column`` and, where it is told, one of the
    column ``label``. Line by line, ``classes`` holds the released values of the columns that tell classes apart, and
    ``cells`` the ``value`` and the ``label`` as they were before, the number of the ``part`` the line speaks of (two
    spellings of one value are two lines of one part) and the ``count`` of its rows to suppress: with ``records`` the
    last so many, in the order of the table, are left out; else all of them stay and their value becomes unknown.
    ``known`` has all values of the sensitive column.
    """

    column: str
    records: bool
    classes: pl.DataFrame
    cells: pl.DataFrame
    known: pl.Series
    label: str | None = None


@dataclass(frozen=True, eq=False)
class Shares:
    """A local recoding: which rows go to which group, and what each group shows.

    Rows with the same values of the columns in ``codes`` (the number of each distinct value) are one tuple: those
    numbers are in ``tuples``, column by column, and ``group`` has the group its rows go to. Where they are shared
    between groups that is the largest share, and ``dealt`` names the ``group`` of each row of the ``tuple`` that goes
    elsewhere, by its ``place`` in the order of the table. Group -1 is left out. ``shown`` has what each group shows of
    the columns that change.
    """

    codes: Mapping[str, ValueMap]
    tuples: Mapping[str, pl.Series]
    group: pl.Series
    dealt: pl.DataFrame
    shown: Mapping[str, pl.Series]
    groups: int
    """How many groups there are."""


@dataclass(frozen=True, eq=False)
class Recoding:
    """What happens to the columns and rows of a table; columns that are not mentioned stay untouched."""

    maps: Mapping[str, ValueMap] = field(default_factory=dict)
    """Columns that get other values."""
    kept: tuple[str, ...] = ()
    """Quasi-identifiers that keep their values; only NaN becomes missing, and -0.0 becomes 0.0."""
    drop: tuple[str, ...] = ()
    """Columns that are left out."""
    required: tuple[str, ...] = ()
    """Columns in which a missing value means that the row is left out."""
    suppressed: pl.DataFrame | None = None
    """Classes that are left out: the released values of the columns that tell classes apart."""
    parts: Parts | None = None
    """What is suppressed inside classes that stay."""
    everything: bool = False
    """Whether all rows are left out."""
    categories: tuple[str, ...] = ()
    """Columns with few values, which may be read as categories to save memory."""
    shares: Shares | None = None
    """Which rows go to which group, where equal values may be released differently."""

    def coded(self) -> Recoding:
        """Return the same with released text of few values as an Enum of these, in order.

        Rows that are to be sorted are smaller then by far. Whoever writes them makes text of it again.
        """
        if self.parts is not None:
            return self
        maps = {}
        for column, mapping in self.maps.items():
            distinct = mapping.released.drop_nulls().unique().sort()
            if mapping.released.dtype == pl.String and 0 < len(distinct) <= _FEW:
                mapping = ValueMap(mapping.values, mapping.released.cast(pl.Enum(distinct)))
            maps[column] = mapping
        return replace(self, maps=maps)

    @property
    def codes(self) -> tuple[str, ...]:
        """The columns that are released as an Enum in place of text."""
        return tuple(column for column, mapping in self.maps.items() if mapping.released.dtype == pl.Enum)

    @property
    def keys(self) -> list[str]:
        """The columns the recoding has to look at."""
        told = [] if self.parts is None else [self.parts.column, *filter(None, [self.parts.label])]
        told += [] if self.shares is None else list(self.shares.codes)
        return list(dict.fromkeys([*self.maps, *self.kept, *self.required, *told]))

    @property
    def changed(self) -> list[str]:
        """The columns that get other values."""
        return [*self.maps, *([] if self.shares is None else self.shares.shown)]

    @property
    def looked_up(self) -> list[str]:
        """The columns whose values are looked up to release other values or to find classes that are left out."""
        return [*self.maps, *(c for c in self.kept if self.suppressed is not None and c in self.suppressed.columns)]

    @property
    def picks_rows(self) -> bool:
        """Whether of rows with equal values some are treated in another way, by their order."""
        return (self.parts is not None and self.parts.records) or (
            self.shares is not None and not self.shares.dealt.is_empty()
        )

    @property
    def looked_up_last(self) -> list[str]:
        """The columns that get other values, after which no row is left out any more."""
        return list(self.maps) if self.parts is None else []

    @property
    def hidden(self) -> list[str]:
        """The columns of which some values become unknown."""
        return [] if self.parts is None or self.parts.records else [self.parts.column]


def normalized(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as its values are compared: NaN is missing, and there is no negative zero."""
    if dtype.is_float():
        known = exactly(column).fill_nan(None)
        return pl.when(known == 0.0).then(pl.lit(0.0, dtype=dtype)).otherwise(known).alias(column)
    return exactly(column).cast(pl.String) if dtype == pl.Null else exactly(column)


def recode(frame: pl.LazyFrame, recoding: Recoding, *, own: bool = False) -> pl.LazyFrame:
    """Add the recoding to a plan; rows and columns keep their order.

    With ``own`` the text of the columns :attr:`Recoding.looked_up_last` is in buffers of its own.
    """
    schema = frame.collect_schema()
    key = {column: normalized(column, schema[column]) for column in recoding.keys}
    if recoding.required:
        frame = frame.filter(pl.all_horizontal(key[column].is_not_null() for column in recoding.required))
    if recoding.shares is not None:
        from discreet.engines._sharing import share_out

        told = {c: looked_up(key[c], schema[c], mapping) for c, mapping in recoding.shares.codes.items()}
        frame = share_out(frame, schema, recoding.shares, told)
    parts = None if recoding.everything else recoding.parts
    if parts is not None:  # a class label may be a quasi-identifier too, and is needed as it was
        before = {"value": parts.column, "label": parts.label}
        frame = frame.with_columns(key[c].alias(unused(name, schema)) for name, c in before.items() if c is not None)
    if recoding.everything:
        frame = frame.head(0)
    # The type of an Enum lists all its values, those of suppressed rows too.
    texts = [
        exactly(c).cast(_without_lists_of_values(dtype))
        for c, dtype in schema.items()
        if _without_lists_of_values(dtype) != dtype and c not in (*recoding.maps, *recoding.drop)
    ]
    frame = generalized(frame.drop(selectors.by_name(*recoding.drop)), recoding, key, own=own)
    if parts is not None:
        frame = _without_parts(frame, schema, recoding, parts)
    return frame.with_columns(texts) if texts else frame


def _without_lists_of_values(dtype: pl.DataType) -> pl.DataType:
    """Return a type with text in place of an Enum, also inside of lists and records."""
    if isinstance(dtype, pl.Enum):
        return pl.String()
    if isinstance(dtype, pl.List):
        return pl.List(_without_lists_of_values(pl.Series(dtype=dtype.inner).dtype))
    if isinstance(dtype, pl.Array):
        return pl.Array(_without_lists_of_values(pl.Series(dtype=dtype.inner).dtype), dtype.shape)
    if isinstance(dtype, pl.Struct):
        return pl.Struct(
            {field.name: _without_lists_of_values(pl.Series(dtype=field.dtype).dtype) for field in dtype.fields}
        )
    return dtype


def _class_key(column: str, schema: pl.Schema, recoding: Recoding) -> pl.Expr:
    """Return a column, after the values were mapped, as classes are told apart by it."""
    done = column in recoding.maps or schema[column].is_float()
    return exactly(column) if done else normalized(column, schema[column])


def _categories(columns: Sequence[str], schema: pl.Schema, recoding: Recoding) -> list[pl.Expr]:
    """Return what must become categories in a table of classes, because it is that in the rows too."""
    return [exactly(c).cast(schema[c]) for c in columns if c in recoding.kept and is_category(schema[c])]


def _without_parts(frame: pl.LazyFrame, schema: pl.Schema, recoding: Recoding, parts: Parts) -> pl.LazyFrame:
    """Suppress parts of classes: one join tells which part each row is in, if any."""
    place = {column: unused(f"class{number}", schema) for number, column in enumerate(parts.classes.columns)}
    cell = {name: unused(name, schema) for name in parts.cells.columns}
    by = [*place.values(), *(cell[name] for name in ("value", "label") if name in cell)]
    classes = parts.classes.with_columns(_categories(parts.classes.columns, schema, recoding)).rename(place)
    origin = {"value": parts.column, "label": parts.label}
    typed = [pl.col(n).cast(schema[c]) for n, c in origin.items() if c is not None and is_category(schema[c])]
    lines = pl.concat([classes, parts.cells.with_columns(typed).rename(cell)], how="horizontal")
    frame = frame.with_columns(_class_key(column, schema, recoding).alias(name) for column, name in place.items())
    frame = frame.join(lines.lazy(), on=by, how="left", nulls_equal=True, maintain_order="left")
    part = pl.col(cell["part"])
    if parts.records:
        from_the_end = pl.int_range(pl.len(), 0, -1).over(part)
        frame = frame.filter(part.is_null() | (from_the_end > pl.col(cell["count"])))
    else:
        known = as_text(normalized(parts.column, schema[parts.column]), schema[parts.column])
        value = pl.when(part.is_null()).then(known).otherwise(pl.lit(UNKNOWN))
        frame = frame.with_columns(value.alias(parts.column))
    return frame.drop(*place.values(), *cell.values())


def as_text(values: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return normalized values as the text that stands beside the one for unknown values."""
    return values.cast(pl.String).str.strip_suffix(".0") if dtype.is_float() else values.cast(pl.String)
