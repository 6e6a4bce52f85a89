"""Several tables about the same people, joined before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import polars as pl

from discreet.engines import relation_of, to_lazy
from discreet.errors import UsageError
from discreet.runtime.joined_tables import JoinedTables, check_tables, join_tables, no_table_error
from discreet.runtime.locations import is_url

__all__ = ["Joined", "join_given"]


class Joined(NamedTuple):
    """The tables of an evaluation, each joined from several if several were given."""

    tables: tuple[Any, ...]
    quasi_identifiers: Any
    """With those that say whether a person has rows in a table, where some people have none."""


def join_given(tables: Sequence[Any], quasi_identifiers: Any, person: str | None) -> Joined:
    """Return the tables of an evaluation, which are joined by ``person`` where they are mappings of several."""
    joined = [_join(table, person) if isinstance(table, Mapping) else None for table in tables]
    presence = dict.fromkeys(mark for each in joined if each is not None for mark in each.presence)
    quasi = quasi_identifiers
    if presence and quasi:
        named = quasi if isinstance(quasi, Mapping) else dict.fromkeys([quasi] if isinstance(quasi, str) else quasi)
        quasi = {**named, **presence}
    found = (table if each is None else each.without(presence) for table, each in zip(tables, joined, strict=True))
    return Joined(tuple(found), quasi)


def _join(tables: Mapping[str, Any], person: str | None) -> JoinedTables:
    check_tables(tables, person)
    return join_tables({name: _rows(name, table) for name, table in tables.items()}, person)


def _rows(name: str, table: Any) -> pl.DataFrame:
    """Read a table whole."""
    if (isinstance(table, str) and is_url(table)) or relation_of(table) is not None:
        raise UsageError(
            f"The table '{name}' is in a database or cluster, and several tables are joined in memory; give each as a "
            "file or a frame in memory, or join them there and give one table.",
            topic="several-tables",
        )
    try:
        return to_lazy(table).collect(engine="streaming")
    except UsageError:
        if isinstance(table, str | PathLike):
            raise
        raise no_table_error(name, table) from None
