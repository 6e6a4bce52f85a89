"""Whether two names mean one table: databases fold capitals, add a default schema, and are reached in many ways."""

from __future__ import annotations

from discreet._places import TableName, TableUrl
from discreet.engines.database._connect import connect

__all__ = ["same_table"]

_DEFAULT_SCHEMA = {"sqlite": "main", "duckdb": "main", "spark": "default"}


def same_table(read: TableUrl, written: TableUrl) -> bool:
    """Whether writing one table replaces the other, or one of those it shows if it is a view; in doubt it does.

    A PostgreSQL server is asked which it is, because one and the same is reached under many names and users.

    >>> known = TableUrl.parse("sqlite:///clinic.db?table=people")
    >>> same_table(known, TableUrl.parse("sqlite:///clinic.db?table=main.PEOPLE"))
    True
    >>> same_table(known, TableUrl.parse("sqlite:///clinic.db?table=safe"))
    False
    """
    if read == written:
        return True
    if read.database == written.database == "postgresql":
        return bool(_made_of(read) & _made_of(written, alone=True))
    if read.path is not None and read.same_file(written):
        if _folded(read) == _folded(written):
            return True
        there = read.database == written.database and read.path.is_file()
        return there and bool(_made_of(read) & _made_of(written, alone=True))
    return read.database == written.database == "spark" and _folded(read) == _folded(written)


def _folded(url: TableUrl) -> TableName:
    """Return a name as the database resolves it; folding more letters than it does errs on the safe side."""
    schema = url.table.schema or _DEFAULT_SCHEMA[url.database]
    return TableName(url.table.name.casefold(), schema.casefold())


def _made_of(url: TableUrl, *, alone: bool = False) -> set[tuple[str, ...]]:
    with connect(url) as session:
        return session.made_of(url.table, alone=alone)
