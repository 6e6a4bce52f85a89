"""A recoding, and the plan by which every engine carries it out.

:class:`Recoding` says what happens to a table: which values are replaced, which rows are left out. :func:`make_plan`
turns it into a few small tables to look values up in, the same for every engine. The engines only translate:
polars into look-ups on arrays, relations into joins through narwhals, databases into one SQL query.

A plan never joins on values. Each value, null included, is first replaced by an integer code, so that a join on
several columns is a plain equality of integers and no engine can lose a row because its key is null.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import polars as pl

__all__ = [
    "UNKNOWN",
    "ClassParts",
    "GroupShares",
    "Lookup",
    "PartsPlan",
    "Recoding",
    "RecodingPlan",
    "SharesPlan",
    "ValueMap",
    "as_text",
    "make_plan",
]

UNKNOWN = "*"
"""How a suppressed sensitive value is released."""
_MAX_ENUM = 1000
"""The most categories of an Enum that replaces text."""
_INTEGERS_AND_FLOATS = (
    pl.Int8,
    pl.Int16,
    pl.Int32,
    pl.Int64,
    pl.UInt8,
    pl.UInt16,
    pl.UInt32,
    pl.UInt64,
    pl.Float32,
    pl.Float64,
)
"""Types that numpy has too."""


@dataclass(frozen=True, eq=False)
class ValueMap:
    """The released value of each distinct value of a column; null is one of them."""

    values: pl.Series
    released: pl.Series

    @property
    def constant(self) -> bool:
        """Whether all values are released as the same value, so that the column need not be read."""
        return self.released.n_unique() == 1

    @property
    def is_text(self) -> bool:
        """Whether text of few values is released."""
        return self.released.dtype == pl.String and 0 < self.released.drop_nulls().n_unique() <= _MAX_ENUM

    def coded(self) -> ValueMap:
        """Return the map with released text of few values as an Enum of them, in order."""
        if not self.is_text:
            return self
        return ValueMap(self.values, self.released.cast(pl.Enum(self.released.drop_nulls().unique().sort())))


@dataclass(frozen=True, eq=False)
class ClassParts:
    """Parts of equivalence classes that are suppressed while the rest of the class stays.

    A part is the rows of a class with one value of the sensitive ``column`` and, where given, one value of the
    column ``label``. ``classes`` and ``cells`` are read line by line: ``classes`` holds the released values that
    identify the class; ``cells`` holds the original ``value`` and ``label``, the number of the ``part`` (two spellings
    of one value are two lines of one part) and the ``count`` of its rows to suppress. With ``records``, the last
    ``count`` rows of the part in table order are left out. Otherwise its rows stay and their value becomes unknown.
    ``known`` lists all values of the sensitive column.

    With ``leaves`` a part is the rows of one original tuple: these are the codes of the values of each column, and
    ``classes`` holds the codes of the tuples.
    """

    column: str
    records: bool
    classes: pl.DataFrame
    cells: pl.DataFrame
    known: pl.Series
    label: str | None = None
    leaves: Mapping[str, ValueMap] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class GroupShares:
    """A local recoding: the group of each row, and the released values of each group.

    ``codes`` gives each distinct value of the key columns a code. Rows with equal codes form one tuple; ``tuples`` has
    the codes of each tuple, column by column, and ``group`` the group of its rows. Where the rows of a tuple are
    split between groups, ``group`` is the largest share, and ``dealt`` names the ``group`` of each other row by its
    ``tuple`` and its ``place`` (0, 1, …) among the rows of the tuple. Group -1 is left out. ``shown`` has the released
    values of each group for the columns that change.
    """

    codes: Mapping[str, ValueMap]
    tuples: Mapping[str, pl.Series]
    group: pl.Series
    dealt: pl.DataFrame
    shown: Mapping[str, pl.Series]
    groups: int
    """The number of groups."""
    hides: str | None = None
    """The sensitive column among ``shown`` in which some values become unknown."""
    part: pl.Series | None = None
    """Where values are hidden, groups are parts of classes by their sensitive value; one part of each class."""

    def shown_of(self, column: str) -> pl.Series | None:
        """Return what each class shows of a quasi-identifier; None if the column does not change."""
        shown = self.shown.get(column)
        return shown if shown is None or self.part is None else shown.gather(self.part)


@dataclass(frozen=True, eq=False)
class Recoding:
    """What happens to the columns and rows of a table; columns that are not mentioned stay untouched."""

    maps: Mapping[str, ValueMap] = field(default_factory=dict)
    """Columns whose values are replaced."""
    kept: tuple[str, ...] = ()
    """Quasi-identifiers that keep their values; only NaN becomes missing, and -0.0 becomes 0.0."""
    drop: tuple[str, ...] = ()
    """Columns that are left out."""
    required: tuple[str, ...] = ()
    """Columns in which a missing value removes the row."""
    suppressed: pl.DataFrame | None = None
    """Equivalence classes that are left out, by the released values that identify them."""
    parts: ClassParts | None = None
    """What is suppressed within classes that stay."""
    everything: bool = False
    """Whether all rows are left out."""
    categories: tuple[str, ...] = ()
    """Columns with few values, which may be read as categories to save memory."""
    shares: GroupShares | None = None
    """The groups of a local recoding, in which equal values may be released differently."""
    known: Mapping[str, pl.Series] = field(default_factory=dict)
    """All values of quasi-identifiers that keep them, as far as they are known."""
    left_out: Mapping[str, pl.Series] = field(default_factory=dict)
    """The numbers of people, by column, whose rows are all left out before anything else happens."""
    numbered: tuple[str, ...] = ()
    """Columns in which the recoding expects numbers of people; see :func:`discreet.engines.number_people`."""

    def coded(self, texts: Collection[str]) -> Recoding:
        """Return the recoding with released text of few values as an Enum.

        Rows to be sorted are much smaller then. Whoever writes them casts back to text. Of the columns that keep their
        values, only those in ``texts`` become an Enum.
        """
        if self.parts is not None:
            return self
        same = {column: ValueMap(values, values) for column, values in self.known.items() if column in texts}
        maps = {column: mapping.coded() for column, mapping in self.maps.items()}
        maps |= {column: mapping.coded() for column, mapping in same.items() if mapping.is_text}
        return replace(self, maps=maps, kept=tuple(column for column in self.kept if column not in maps))

    @property
    def codes(self) -> tuple[str, ...]:
        """The columns released as an Enum instead of text."""
        return tuple(column for column, mapping in self.maps.items() if mapping.released.dtype == pl.Enum)

    @property
    def keys(self) -> list[str]:
        """The columns the recoding has to read."""
        others = [] if self.parts is None else [self.parts.column, *filter(None, [self.parts.label])]
        others += [] if self.shares is None else list(self.shares.codes)
        return list(dict.fromkeys([*self.maps, *self.kept, *self.required, *self.left_out, *others]))

    @property
    def changed(self) -> list[str]:
        """The columns whose values are replaced, except columns in which some become unknown."""
        shown = [] if self.shares is None else [name for name in self.shares.shown if name != self.shares.hides]
        return [*self.maps, *shown]

    @property
    def looked_up(self) -> list[str]:
        """The columns looked up to replace values or to find suppressed classes."""
        return [*self.maps, *(c for c in self.kept if self.suppressed is not None and c in self.suppressed.columns)]

    @property
    def picks_rows(self) -> bool:
        """Whether some of several equal rows are treated differently, by their order."""
        return (self.parts is not None and self.parts.records) or (
            self.shares is not None and not self.shares.dealt.is_empty()
        )

    @property
    def looked_up_last(self) -> list[str]:
        """The columns whose values are replaced after the last row was left out."""
        return list(self.maps) if self.parts is None else []

    @property
    def hidden(self) -> list[str]:
        """The columns in which some values become unknown."""
        if self.shares is not None:
            return [] if self.shares.hides is None else [self.shares.hides]
        return [] if self.parts is None or self.parts.records else [self.parts.column]


class Lookup(NamedTuple):
    """A small table with one line per distinct value of a column; null is a value like any other.

    ``results`` are new columns, by name. If the table is ``complete``, it lists every value the column can have, and a
    row with another value belongs to a table that changed meanwhile. Otherwise the results of other values are null.
    """

    column: str
    values: pl.Series
    results: Mapping[str, pl.Series]
    complete: bool = True


class SharesPlan(NamedTuple):
    """How rows find their group: column codes, then the tuple, then the group and what it is released as."""

    codes: Sequence[Lookup]
    """The code of each key column."""
    tuples: pl.DataFrame
    """The codes of each tuple, its number ``tuple_id`` and the ``group_id`` of most of its rows."""
    dealt: pl.DataFrame | None
    """The ``group_id`` of the ``nth`` row (from 1) of a ``tuple_id``, where that is another group."""
    groups: pl.DataFrame
    """The released values of each ``group_id``, in columns named by ``shown``."""
    shown: Mapping[str, str]
    """For each column that changes, the name of its released values in ``groups``."""


class PartsPlan(NamedTuple):
    """How rows find the part of a class they belong to, if any."""

    column: str
    records: bool
    cells: Sequence[Lookup]
    """The codes of the sensitive value and the class label."""
    lines: pl.DataFrame
    """By the codes of class and cell: the ``part_id`` and how many rows of it are ``left_out``."""
    texts: Lookup
    """The sensitive values as text (``part_text``), to be released beside :data:`UNKNOWN`."""


class RecodingPlan(NamedTuple):
    """The steps of a recoding, in the order in which they are carried out.

    Rows with a missing ``required`` value and those of people ``left_out`` go; ``shares`` assigns groups; ``lookups``
    adds the released values, under the names in ``released``, and the codes of classes; ``constants`` need no look-up.
    Then ``no_rows`` are left, or the ``suppressed`` classes go, and finally ``parts`` of classes.
    """

    required: Sequence[str]
    left_out: Mapping[str, pl.Series]
    shares: SharesPlan | None
    lookups: Sequence[Lookup]
    released: Mapping[str, str]
    """For each looked-up column, the name of its released values."""
    constants: Mapping[str, pl.Series]
    """For each column released as a single value, that value as a series of length one."""
    no_rows: bool
    suppressed: pl.DataFrame | None
    """The codes of each suppressed class."""
    parts: PartsPlan | None


def make_plan(recoding: Recoding) -> RecodingPlan:
    """Return the steps that carry out a recoding."""
    parts = None if recoding.everything else recoding.parts
    suppressed = None if recoding.everything else recoding.suppressed
    leaves = {} if parts is None else parts.leaves
    same = {column: ValueMap(each.values, each.values) for column, each in leaves.items()}
    by_class = None if parts is None or leaves else parts.classes
    classes = _ClassCodes({"suppressed": suppressed, "parts": by_class}, {**same, **recoding.maps})
    lookups, released, constants = [], {}, {}
    for number, (column, mapping) in enumerate({**recoding.maps, **same, **recoding.maps}.items()):
        if mapping.constant and column not in classes.names and column not in leaves:
            constants[column] = mapping.released.head(1)
            continue
        results = {}
        if column in recoding.maps:
            released[column] = f"released_{number}"
            results[released[column]] = mapping.released
        if column in classes.names:  # the class of an original value is that of its released value
            results[classes.names[column]] = classes.of_released[column]
        if column in leaves:
            results[_leaf_code(leaves, column)] = leaves[column].released
        lookups.append(Lookup(column, mapping.values, results))
    for column, values in classes.kept.items():
        lookups.append(Lookup(column, values, {classes.names[column]: _count_up(values)}, complete=False))
    return RecodingPlan(
        required=recoding.required,
        left_out=recoding.left_out,
        shares=None if recoding.shares is None else _plan_shares(recoding.shares),
        lookups=lookups,
        released=released,
        constants=constants,
        no_rows=recoding.everything,
        suppressed=classes.tables.get("suppressed"),
        parts=None if parts is None else _plan_parts(parts, classes.tables.get("parts")),
    )


def _leaf_code(leaves: Mapping[str, ValueMap], column: str) -> str:
    """Return the name of the codes of the original values of a column."""
    return f"leaf_{list(leaves).index(column)}"


class _ClassCodes:
    """Codes for the released values by which equivalence classes are identified.

    ``tables`` has the given tables of classes with codes in place of values, ``of_released`` the code of each released
    value of a map, and ``kept`` the values of other columns, whose codes are their positions.
    """

    def __init__(self, tables: Mapping[str, pl.DataFrame | None], maps: Mapping[str, ValueMap]) -> None:
        frames = {name: frame for name, frame in tables.items() if frame is not None}
        columns = dict.fromkeys(column for frame in frames.values() for column in frame.columns)
        self.names = {column: f"class_{number}" for number, column in enumerate(columns)}
        self.of_released: dict[str, pl.Series] = {}
        self.kept: dict[str, pl.Series] = {}
        coded: dict[str, list[pl.Series]] = {name: [] for name in frames}
        for column, code in self.names.items():
            parts = {name: frame[column] for name, frame in frames.items() if column in frame.columns}
            dtype = next(iter(parts.values())).dtype
            released = [maps[column].released.cast(dtype)] if column in maps else []
            values, codes = _factorize(pl.concat([*parts.values(), *(each.alias(column) for each in released)]))
            for name, part in parts.items():
                coded[name].append(codes.head(len(part)).alias(code))
                codes = codes.slice(len(part))
            if released:
                self.of_released[column] = codes
            else:
                self.kept[column] = values
        self.tables = {name: pl.DataFrame(each) for name, each in coded.items()}


def _plan_shares(shares: GroupShares) -> SharesPlan:
    codes = {column: f"code_{number}" for number, column in enumerate(shares.codes)}
    shown = {column: f"shown_{number}" for number, column in enumerate(shares.shown)}
    dealt = shares.dealt.select(tuple_id="tuple", nth=pl.col("place") + 1, group_id="group")
    return SharesPlan(
        codes=[Lookup(column, each.values, {codes[column]: each.released}) for column, each in shares.codes.items()],
        tuples=pl.DataFrame(
            {
                **{code: shares.tuples[column] for column, code in codes.items()},
                "tuple_id": _count_up(shares.group),
                "group_id": shares.group,
            }
        ),
        dealt=None if dealt.is_empty() else dealt,
        groups=pl.DataFrame(
            {
                "group_id": pl.int_range(shares.groups, eager=True),
                **{shown[column]: values for column, values in shares.shown.items()},
            }
        ),
        shown=shown,
    )


def _plan_parts(parts: ClassParts, classes: pl.DataFrame | None) -> PartsPlan:
    if classes is None:
        classes = parts.classes.rename({column: _leaf_code(parts.leaves, column) for column in parts.classes.columns})
    columns = {"value": parts.column, **({} if parts.label is None else {"label": parts.label})}
    cells = {name: _factorize(parts.cells[name]) for name in columns}
    lines = pl.DataFrame(
        [
            *classes,
            *(codes.alias(f"cell_{name}") for name, (_, codes) in cells.items()),
            parts.cells["part"].alias("part_id"),
            parts.cells["count"].alias("left_out"),
        ]
    )
    texts = parts.known.to_frame("known").select(as_text(pl.col("known"), parts.known.dtype)).to_series()
    return PartsPlan(
        column=parts.column,
        records=parts.records,
        cells=[
            Lookup(columns[name], values, {f"cell_{name}": _count_up(values)}, complete=False)
            for name, (values, _) in cells.items()
        ],
        lines=lines,
        texts=Lookup(parts.column, parts.known, {"part_text": texts}),
    )


def as_text(values: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return normalized values as the text that is released beside :data:`UNKNOWN`."""
    return values.cast(pl.String).str.strip_suffix(".0") if dtype.is_float() else values.cast(pl.String)


def _count_up(values: pl.Series) -> pl.Series:
    return pl.int_range(len(values), eager=True)


def _factorize(values: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the distinct values, null among them, and the position there of each value.

    Expressions on a series cost more than all the rest where tables are small, so this is done with numpy.

    >>> values, codes = _factorize(pl.Series(["b", None, "b"]))
    >>> values.to_list(), codes.to_list()
    (['b', None], [0, 1, 0])
    """
    is_plain = values.dtype.is_temporal() or values.dtype in _INTEGERS_AND_FLOATS
    physical = (values if is_plain else values.cast(pl.String).cast(pl.Categorical)).to_physical()
    if not physical.null_count():
        _, first, codes = np.unique(physical.to_numpy(), return_index=True, return_inverse=True)
        return values.gather(first), pl.Series(codes)
    known = physical.is_not_null().to_numpy()
    _, first, found = np.unique(physical.drop_nulls().to_numpy(), return_index=True, return_inverse=True)
    codes = np.full(len(values), first.size)
    codes[known] = found
    return values.gather(np.append(np.flatnonzero(known)[first], np.flatnonzero(~known)[0])), pl.Series(codes)
