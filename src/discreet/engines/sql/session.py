"""The interface to a database: its columns, the rows of a query, and new tables.

A session is one connection, open within a ``with`` block; nothing stays open while a search runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import polars as pl

from discreet.errors import DataError, OutputError, did_you_mean
from discreet.runtime.locations import TableName, TableUrl

__all__ = ["DatabaseColumn", "Session", "quoted"]


@dataclass(frozen=True)
class DatabaseColumn:
    """A column of a table: its polars type, and the SQL to read it."""

    name: str
    dtype: pl.DataType
    form: str = "{}"
    """SQL that converts the column to that type; NaN is missing, and -0.0 is 0.0."""
    exact: bool = True
    """Whether values that are equal in that form are equal in the table too."""
    forgets: bool = False
    """Whether the column must be released in that form, because its type lists values, also those of left-out rows."""
    opaque: bool = False
    """Whether values are lists, records or bytes, whose text says nothing."""

    number: str | None = None
    """SQL for the number of the person a row is about, which takes the place of the values."""

    def read(self, reference: str) -> str:
        """Return SQL for the values, given SQL for the column."""
        return self.form.format(reference)

    @property
    def key(self) -> str:
        """SQL for the values in a query on the table itself."""
        return self.number or self.read(quoted(self.name))

    def numbered(self) -> DatabaseColumn:
        """Return the column with the numbers of people in place of its values."""
        value = self.read(quoted(self.name))
        number = f"CASE WHEN {value} IS NOT NULL THEN DENSE_RANK() OVER (ORDER BY {value}) END"
        return DatabaseColumn(self.name, pl.Int64(), number=f"CAST({number} AS BIGINT)")


class Session(ABC):
    """An open connection to a database."""

    equal_text = ""
    """The collation that makes text equal only if it is identical."""
    view_options = ""
    """SQL after the name of a new view."""

    def __init__(self, url: TableUrl) -> None:
        self.url = url

    @abstractmethod
    def columns(self, table: TableName) -> list[DatabaseColumn]:
        """Return the columns of a table or view, in order; none if it does not exist."""

    @abstractmethod
    def tables(self) -> list[str]:
        """Return the names of all tables and views, as they are written in a URL."""

    @abstractmethod
    def position(self, table: TableName) -> str | None:
        """Return SQL for the position of a row in its table; None for a view."""

    @abstractmethod
    def is_table(self, table: TableName) -> bool:
        """Whether this is a table, which can be replaced, and not a view."""

    @abstractmethod
    def identities(self, table: TableName, *, alone: bool = False) -> set[tuple[str, ...]]:
        """Return unique identities of a table, or of a view and all that it reads; none if it does not exist.

        Replacing any of them changes what is read. With ``alone`` only the table itself is returned.
        """

    @abstractmethod
    def execute(self, statement: str) -> None:
        """Run a statement without a result."""

    @abstractmethod
    def stream(self, query: str, schema: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """Yield the rows of a query in batches with this schema."""

    @abstractmethod
    def type_of(self, column: str, dtype: pl.DataType) -> str:
        """Return the SQL type for a polars type, or raise the error of :meth:`refused`."""

    @abstractmethod
    def load(self, table: str, frame: pl.LazyFrame) -> None:
        """Insert the rows of a plan, in batches, into a table (a quoted name) with the same columns."""

    def analyze(self, table: str) -> None:  # noqa: B027 - most need not do this
        """Prepare a new table for joins, if the database would plan them badly otherwise."""

    @abstractmethod
    def as_number(self, text: str) -> str:
        """Return SQL that casts text to a number, null where that fails."""

    def whole(self, number: str) -> str:
        """Return SQL for the integer part of a number that is not negative."""
        return f"CAST(FLOOR({number}) AS BIGINT)"

    @abstractmethod
    def shuffled(self, query: str, columns: Mapping[str, pl.DataType], key: int) -> str:
        """Return a query for the same rows, sorted by a keyed hash of all their values."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Run a block in a transaction, rolled back if it fails."""

    @abstractmethod
    def rename(self, old: TableName, new: TableName) -> None:
        """Rename a table within its schema."""

    def fetch(self, query: str, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
        """Return all rows of a query."""
        return pl.concat([pl.DataFrame(schema=schema), *self.stream(query, schema)])

    def make_private(self, table: TableName) -> None:  # noqa: B027 - most have no users
        """Let only the owner read a table."""

    def create(self, table: str, schema: Mapping[str, pl.DataType], *, temporary: bool = False) -> None:
        """Create an empty table; the name is quoted already."""
        columns = ", ".join(f"{quoted(name)} {self.type_of(name, dtype)}" for name, dtype in schema.items())
        self.execute(f"CREATE {'TEMPORARY ' if temporary else ''}TABLE {table} ({columns})")

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse column names that are empty, or the same to the database."""
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
        """Return a column name the way the database compares it; most ignore case."""
        return name.lower()

    def known_columns(self, table: TableName) -> list[DatabaseColumn]:
        """Return the columns of a table, or raise an error if it does not exist."""
        columns = self.columns(table)
        if columns:
            return columns
        hint = did_you_mean(str(table), self.tables()) or "check the name, and its schema if it has one."
        raise DataError(f"There is no table '{table}' in {self.url.where}; {hint}", topic="no-such-file")

    def refused(self, column: str, what: str) -> OutputError:
        """Return the error for a column that the database has no type for."""
        return OutputError(
            f"Column '{column}' holds {what}, which a {self.url.database} table cannot hold; turn it into text first, "
            "or leave the column out by naming it as an identifier.",
            column=column,
        )


def quoted(*parts: str | None) -> str:
    """Return a name as SQL, in its exact spelling.

    >>> quoted("hospital", "people")
    '"hospital"."people"'
    """
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts if part is not None)
