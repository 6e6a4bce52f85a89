"""What every database is asked for: its columns, the rows of a query, and tables made from rows.

A session is one connection, open for as long as a ``with`` lasts; nothing is held open while a search runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import polars as pl

from discreet._places import TableName, TableUrl
from discreet.errors import DataError, OutputError, did_you_mean

__all__ = ["Column", "Session", "quoted"]


@dataclass(frozen=True)
class Column:
    """A column of a table: what its values are for polars, and how a query has to ask for them."""

    name: str
    dtype: pl.DataType
    form: str = "{}"
    """SQL that makes values of that type of the column; NaN is missing, and there is no negative zero."""
    exact: bool = True
    """Whether what is the same in that form cannot be told apart in the table either."""
    forgets: bool = False
    """Whether the column must be released in that form, because its type lists values (of rows that go, too)."""

    opaque: bool = False
    """Whether values are lists, records or bytes, which are text only here and say nothing as such."""

    def read(self, reference: str) -> str:
        """Return SQL for the values, given SQL for the column."""
        return self.form.format(reference)


class Session(ABC):
    """An open connection to a database."""

    equal_text = ""
    """What makes text equal only if it is the same, whatever the collation of its column."""

    def __init__(self, url: TableUrl) -> None:
        self.url = url

    @abstractmethod
    def columns(self, table: TableName) -> list[Column]:
        """Return the columns of a table or view, in order; none if there is no such table."""

    @abstractmethod
    def tables(self) -> list[str]:
        """Return the names of all tables and views, as they are written in a URL."""

    @abstractmethod
    def position(self, table: TableName) -> str | None:
        """Return SQL for the place of a row in its table; None for a view, whose rows have none."""

    @abstractmethod
    def is_table(self, table: TableName) -> bool:
        """Whether this is a table, which can be replaced, and no view."""

    @abstractmethod
    def made_of(self, table: TableName, *, alone: bool = False) -> set[tuple[str, ...]]:
        """Return what tells a table from all others, of itself and of the tables a view shows; none if it is not there.

        Whoever replaces one of them replaces what is read. With ``alone`` it is only the table itself.
        """

    @abstractmethod
    def execute(self, statement: str) -> None:
        """Run a statement that returns nothing."""

    @abstractmethod
    def stream(self, query: str, schema: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """Yield the rows of a query, some at a time; the types are those its columns have for polars."""

    @abstractmethod
    def type_of(self, column: str, dtype: pl.DataType) -> str:
        """Return the SQL type for values of a type of polars, or raise what :meth:`refused` returns."""

    @abstractmethod
    def load(self, table: str, frame: pl.LazyFrame) -> None:
        """Add the rows of a plan to a table (a quoted name) that has the same columns, some at a time."""

    def analyze(self, table: str) -> None:  # noqa: B027 - most need not be told
        """Have the database look at a new table, where it would join it badly without."""

    @abstractmethod
    def as_number(self, text: str) -> str:
        """Return SQL for text as a number, null where it is none."""

    def whole(self, number: str) -> str:
        """Return SQL for a number, 0 or more, without what is behind the point."""
        return f"CAST(FLOOR({number}) AS BIGINT)"

    @abstractmethod
    def shuffled(self, query: str, columns: Mapping[str, pl.DataType], key: int) -> str:
        """Return a query for the same rows, sorted by a hash of a key and all their values."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Do all that is done inside or, if it fails, nothing of it."""

    @abstractmethod
    def rename(self, old: TableName, new: TableName) -> None:
        """Give a table another name in the same schema."""

    def fetch(self, query: str, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
        """Return all rows of a query."""
        return pl.concat([pl.DataFrame(schema=schema), *self.stream(query, schema)])

    def create(self, table: str, schema: Mapping[str, pl.DataType], *, temporary: bool = False) -> None:
        """Make an empty table; the name is quoted already."""
        columns = ", ".join(f"{quoted(name)} {self.type_of(name, dtype)}" for name, dtype in schema.items())
        self.execute(f"CREATE {'TEMPORARY ' if temporary else ''}TABLE {table} ({columns})")

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse columns the database would take for one and the same, or cannot name."""
        seen: dict[str, str] = {}
        for name in names:
            if not name:
                raise OutputError("A column has no name, which a database needs; give it one.")
            other = seen.setdefault(self.folded(name), name)
            if other != name:
                raise OutputError(
                    f"The columns '{other}' and '{name}' are the same name for {self.url.database}; rename one.",
                    column=name,
                )

    def folded(self, name: str) -> str:
        """Return a column name as the database compares it: most do not look at the case."""
        return name.lower()

    def known_columns(self, table: TableName) -> list[Column]:
        """Return the columns of a table that has to be there."""
        columns = self.columns(table)
        if columns:
            return columns
        hint = did_you_mean(str(table), self.tables()) or "check the name, and its schema if it has one."
        raise DataError(f"There is no table '{table}' in {self.url.where}; {hint}", topic="no-such-file")

    def refused(self, column: str, what: str) -> OutputError:
        """Return the error for a column the database has no type for."""
        return OutputError(
            f"Column '{column}' holds {what}, which a {self.url.database} table cannot hold; turn it into text first, "
            "or leave the column out by naming it as an identifier.",
            column=column,
        )


def quoted(*parts: str | None) -> str:
    """Return a name as SQL, exactly as it is written.

    >>> quoted("hospital", "people")
    '"hospital"."people"'
    """
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts if part is not None)
