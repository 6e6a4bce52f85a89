"""Connect to a database by URL, and tell whether two URLs name the same table."""

from __future__ import annotations

from contextlib import AbstractContextManager

from discreet.engines.sql import duckdb as _duckdb
from discreet.engines.sql import postgres as _postgres
from discreet.engines.sql import sqlite as _sqlite
from discreet.engines.sql.session import Session
from discreet.runtime.locations import TableName, TableUrl

__all__ = ["connect", "same_table"]

_CONNECT = {"duckdb": _duckdb.connect, "sqlite": _sqlite.connect, "postgresql": _postgres.connect}
_DEFAULT_SCHEMA = {"sqlite": "main", "duckdb": "main", "spark": "default"}


def connect(url: TableUrl, *, write: bool = False) -> AbstractContextManager[Session]:
    """Open the database of a table; a missing file is created only to ``write``."""
    return _CONNECT[url.database](url, write=write)


def same_table(read: TableUrl, written: TableUrl) -> bool:
    """Whether writing one table replaces the other, or one that a view reads; in doubt it does.

    Databases fold case and add a default schema. A PostgreSQL server is asked for its identity, because it can be
    reached under many names and users.

    >>> known = TableUrl.parse("sqlite:///clinic.db?table=people")
    >>> same_table(known, TableUrl.parse("sqlite:///clinic.db?table=main.PEOPLE"))
    True
    >>> same_table(known, TableUrl.parse("sqlite:///clinic.db?table=safe"))
    False
    """
    if read == written:
        return True
    if read.database == written.database == "postgresql":
        return bool(_identities(read) & _identities(written, alone=True))
    if read.path is not None and read.same_file(written):
        if _folded(read) == _folded(written):
            return True
        exists = read.database == written.database and read.path.is_file()
        return exists and bool(_identities(read) & _identities(written, alone=True))
    return read.database == written.database == "spark" and _folded(read) == _folded(written)


def _folded(url: TableUrl) -> TableName:
    """Return the full name without case; folding more letters than the database does errs on the safe side."""
    schema = url.table.schema or _DEFAULT_SCHEMA[url.database]
    return TableName(url.table.name.casefold(), schema.casefold())


def _identities(url: TableUrl, *, alone: bool = False) -> set[tuple[str, ...]]:
    with connect(url) as session:
        return session.identities(url.table, alone=alone)
