"""Whether two names mean one table: databases fold capitals, add a default schema, and are reached in many ways."""

from __future__ import annotations

from discreet._places import TableName, TableUrl
from discreet.engines.database._connect import connect

__all__ = ["same_table"]

_DEFAULT_SCHEMA = {"sqlite": "main", "duckdb": "main", "spark": "default"}


def same_table(one: TableUrl, other: TableUrl) -> bool:
    """Whether two URLs mean the same table, so that writing one replaces the other; in doubt they do.

    A PostgreSQL server is asked, because one and the same is reached under many names and users.

    >>> known = TableUrl.parse("sqlite:///clinic.db?table=people")
    >>> same_table(known, TableUrl.parse("sqlite:///clinic.db?table=main.PEOPLE"))
    True
    >>> same_table(known, TableUrl.parse("sqlite:///clinic.db?table=safe"))
    False
    """
    if one == other:
        return True
    if one.database == other.database == "postgresql":
        found = _on_server(one)
        return found is not None and found == _on_server(other)
    if one.path is not None and other.path is not None:
        return one.same_file(other) and _folded(one) == _folded(other)
    return one.database == other.database == "spark" and _folded(one) == _folded(other)


def _folded(url: TableUrl) -> TableName:
    """Return a name as the database resolves it; folding more letters than it does errs on the safe side."""
    schema = url.table.schema or _DEFAULT_SCHEMA[url.database]
    return TableName(url.table.name.casefold(), schema.casefold())


def _on_server(url: TableUrl) -> tuple[str, ...] | None:
    with connect(url) as session:
        return session.identity(url.table)
