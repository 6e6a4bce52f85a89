"""Several tables about the same people, joined as whoever gets all of them joins them: by the column of people.

The first table has one row for each person. In the joined table every person has a row for each combination of the rows
of the other tables, without values where there are none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import polars as pl

from discreet.errors import Argument, DataError, UsageError
from discreet.runtime.plurals import amount, either

__all__ = ["JoinedTables", "check_tables", "comparable_keys", "join_tables", "no_table_error"]

_NAME = re.compile(r"\w[\w -]*")


class JoinedTables(NamedTuple):
    """Several tables, and what they are joined."""

    joined: pl.DataFrame
    """With a column for each table but the first that says whether a person has rows in it, as in ``any visits``."""
    frames: Mapping[str, pl.DataFrame]
    """The tables under the names that their columns have in the joined one."""
    presence: tuple[str, ...]
    """Those of these columns that say of some people that they have none."""

    def without(self, others: Collection[str]) -> pl.DataFrame:
        """Return the joined table, without columns that say of everybody that there are rows, but for some others."""
        marks = (f"any {name}" for name in self.frames)
        return self.joined.drop(mark for mark in marks if mark in self.joined.columns and mark not in others)


def check_tables(tables: Mapping[Any, Any], person: str | None) -> None:
    """Refuse a mapping that does not name several tables, or does not say what links them."""
    for name in tables:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise UsageError(
                f"'{name}' is no name for a table; use letters, digits and spaces, as in visits.",
                topic="several-tables",
            )
    if len(tables) < 2:
        raise UsageError(
            "A mapping names several tables, and this one has "
            f"{either(len(tables), 'a single one', 'none')}; give a single table by itself.",
            topic="several-tables",
        )
    if person is None:
        raise UsageError(
            "Several tables are linked by the column that says whose rows they are; name it with ",
            Argument("person"),
            ".",
            topic="several-tables",
        )


def no_table_error(name: str, data: Any) -> UsageError:
    """Return the error for something in a mapping of tables that is none."""
    kind = "None" if data is None else f"of type {type(data).__name__}"
    return UsageError(
        f"The table '{name}' is {kind}, which cannot be read; give the path of a file, or a frame of pandas, polars or "
        "pyarrow.",
        topic="several-tables",
    )


def join_tables(tables: Mapping[str, pl.DataFrame], person: str | None) -> JoinedTables:
    """Join tables; refuse rows of people who are not in the first one, or are there several times.

    >>> people = pl.DataFrame({"id": [1, 2], "sex": ["f", "m"]})
    >>> join_tables({"people": people, "visits": pl.DataFrame({"id": [1, 1], "age": [30, 31]})}, "id").joined.rows()
    [(1, 'f', 30, 'yes'), (1, 'f', 31, 'yes'), (2, 'm', None, 'no')]
    """
    check_tables(tables, person)
    assert person is not None
    for name, frame in tables.items():
        if person not in frame.columns:
            raise DataError(
                f"The table '{name}' has no column '{person}', which links the tables.",
                column=person,
                topic="several-tables",
            )
    times = Counter(column for frame in tables.values() for column in frame.columns if column != person)
    frames = {
        name: frame.rename({column: f"{name}.{column}" for column in frame.columns if times[column] > 1})
        for name, frame in tables.items()
    }
    people, *others = frames
    joined = frames[people]
    if joined[person].null_count() or joined[person].n_unique() < joined.height:
        raise DataError(
            f"The table '{people}' does not have one row for each person in '{person}'; name the table of people "
            "first.",
            column=person,
            topic="several-tables",
        )
    absent = []
    for name in others:
        mark = f"any {name}"
        own, joined = _comparable(frames[name], joined, person, (name, people))
        lost = own.join(joined, on=person, how="anti").height
        if lost:
            raise DataError(
                f"The table '{name}' has {amount(lost, 'row')} of people who are not in '{people}'.",
                column=person,
                topic="several-tables",
            )
        joined = joined.join(
            own.with_columns(pl.lit("yes").alias(mark)), on=person, how="left", maintain_order="left_right"
        )
        if joined[mark].null_count():
            absent.append(mark)
        joined = joined.with_columns(joined[mark].fill_null("no"))
    return JoinedTables(joined, frames, tuple(absent))


def _comparable(
    own: pl.DataFrame, joined: pl.DataFrame, person: str, names: tuple[str, str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return two tables whose people can be compared; refuse those whose types have nothing in common."""
    keys = comparable_keys(own[person], joined[person])
    if keys is None:
        raise DataError(
            f"'{names[0]}.{person}' holds {own[person].dtype} and '{names[1]}.{person}' holds {joined[person].dtype}, "
            "which cannot be compared; make them the same type.",
            column=person,
            topic="several-tables",
        )
    return own.with_columns(keys[0]), joined.with_columns(keys[1])


def comparable_keys(own: pl.Series, other: pl.Series) -> tuple[pl.Series, pl.Series] | None:
    """Return the values of two columns in a type in which equal ones are equal; None if there is none.

    Text equals a whole number if it is the number as it is usually written: CSV files have no types, and others do.

    >>> keys = comparable_keys(pl.Series(["7", "07"]), pl.Series([7.0, 8.0]))
    >>> [each.to_list() for each in keys or ()]
    [['7', '07'], ['7', '8']]
    """
    first, second = _plain(own), _plain(other)
    if first.dtype == second.dtype:
        return first, second
    if first.dtype.is_numeric() and second.dtype.is_numeric():
        return first.cast(pl.Float64), second.cast(pl.Float64)
    text, number = (first, second) if first.dtype == pl.String else (second, first)
    if text.dtype == pl.String and number.dtype.is_integer():
        return first.cast(pl.String), second.cast(pl.String)
    return None


def _plain(keys: pl.Series) -> pl.Series:
    """Return text as text, and whole numbers as integers."""
    if isinstance(keys.dtype, pl.Categorical | pl.Enum):
        return keys.cast(pl.String)
    if keys.dtype.is_float():
        known = keys.fill_nan(None)
        whole = bool(((known == known.round()) & (known.abs() < 2**53)).all())
        return known.cast(pl.Int64) if whole else known
    if keys.dtype.is_integer():
        narrow = keys.cast(pl.Int64, strict=False)
        return narrow if narrow.null_count() == keys.null_count() else keys
    return keys
