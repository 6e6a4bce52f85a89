"""Several tables about the same people, and the joined table that is searched and audited for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines import Format

__all__ = ["LinkedTable", "LinkedTables"]


@dataclass(frozen=True, eq=False)
class LinkedTable:
    """One of several tables: its columns and rows in the joined table."""

    name: str
    data: Any
    """The table as it was given."""
    columns: Mapping[str, str]
    """Its columns, and their names in the joined table."""
    rows: NDArray[np.int64]
    """The row of this table in each joined row; -1 where the person has none."""
    layout: Format | None = None
    """The format of its file, if it is one."""

    @cached_property
    def there(self) -> NDArray[np.bool_]:
        """Which joined rows have a row of this table."""
        return np.asarray(self.rows >= 0)

    @cached_property
    def examples(self) -> NDArray[np.int64]:
        """A joined row for each row of this table, in its order."""
        position = np.flatnonzero(self.there)
        return np.asarray(position[np.unique(self.rows[position], return_index=True)[1]])


@dataclass(frozen=True, eq=False)
class LinkedTables:
    """Tables linked by the column that says whose rows they are; the first has one row for each person."""

    person: str
    tables: tuple[LinkedTable, ...]
    presence: Mapping[str, str]
    """Quasi-identifiers that say whether a person has a row in a table, with that table; never generalized."""
    scheme: Any = None
    """The scheme as it was given, if it became one of each quasi-identifier."""

    @property
    def known_with(self) -> dict[str, str]:
        """For each column of a table in which some people have no row, the one that says whether a person has one.

        Without a row there is no value in the released tables, however general it is for others. So whoever knows a
        value of the column knows that there is a row.
        """
        mark = {table: name for name, table in self.presence.items()}
        tables = [table for table in self.tables if table.name in mark]
        return {
            column: mark[table.name] for table in tables for column in table.columns.values() if column != self.person
        }

    @property
    def given(self) -> list[Any]:
        """The tables as they were given."""
        return [table.data for table in self.tables]
