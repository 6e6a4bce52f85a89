"""One way to open every database."""

from __future__ import annotations

from contextlib import AbstractContextManager

from discreet._places import TableUrl
from discreet.engines.database import _duckdb, _postgres, _sqlite
from discreet.engines.database._session import Session

__all__ = ["connect"]

_MODULES = {"duckdb": _duckdb.connect, "sqlite": _sqlite.connect, "postgresql": _postgres.connect}


def connect(url: TableUrl, *, write: bool = False) -> AbstractContextManager[Session]:
    """Open the database of a table, to read or also to write; a file that is not there is only made to write."""
    return _MODULES[url.database](url, write=write)
