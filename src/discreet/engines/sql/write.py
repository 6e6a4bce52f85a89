"""Write database tables: created under another name in a transaction, audited, and only then renamed."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl

from discreet.engines.files.write import plan_of
from discreet.engines.recoding import Recoding
from discreet.engines.shuffle import Shuffle
from discreet.engines.sql.connect import connect
from discreet.engines.sql.session import Session, quoted
from discreet.engines.sql.source import DatabaseSource
from discreet.errors import OutputError
from discreet.runtime.atomic_write import check_parent, replacing_database
from discreet.runtime.locations import TableName, TableUrl
from discreet.runtime.private_folders import private_folder

__all__ = ["StagedTable", "check_table", "has_table", "replacing_table"]


class StagedTable:
    """A table under another name until it was audited; others cannot see it yet."""

    def __init__(self, session: Session, url: TableUrl) -> None:
        self.session = session
        self.url = url
        self.staging = TableName(f"discreet_{secrets.token_hex(6)}", url.table.schema)

    @property
    def name(self) -> str:
        """The name the table will have, quoted for messages."""
        return f"'{self.url.table}'"

    def write(self, data: Any, *, shuffle: Shuffle | None) -> None:
        """Create the table from a frame of any kind."""
        with private_folder() as folder, plan_of(data, folder / "rows", self.url.table.name, shuffle=shuffle) as plan:
            schema = plan.collect_schema()
            self.session.check_names(schema.names())
            self.session.create(self._quoted, schema)
            self.session.load(self._quoted, plan)

    def recode(self, source: DatabaseSource, recoding: Recoding, *, shuffle: Shuffle | None) -> None:
        """Create the table by recoding another of the same database; no row leaves it."""
        source.check_unchanged(self.session)
        recoded = source.recoded(self.session, recoding)
        query = recoded.query if shuffle is None else self.session.shuffled(recoded.query, recoded.columns, shuffle.key)
        with recoded.with_tables(self.session):
            self.session.execute(f"CREATE TABLE {self._quoted} AS {query}")

    @contextmanager
    def trial(self, table: pl.DataFrame) -> Iterator[TableName]:
        """Create a small table, yield its name, and drop it."""
        trial = StagedTable(self.session, self.url)
        self.session.create(trial._quoted, table.schema)
        self.session.load(trial._quoted, table.lazy())
        yield trial.staging
        self.session.execute(f"DROP TABLE {trial._quoted}")

    @property
    def _quoted(self) -> str:
        return quoted(self.staging.schema, self.staging.name)


@contextmanager
def replacing_table(url: TableUrl) -> Iterator[StagedTable]:
    """Yield a table to fill, which then replaces the one of that name if all goes well.

    A new database file appears only when it is complete.
    """
    if url.path is not None and not url.path.exists():
        with replacing_database(url.path.resolve()) as unfinished, _staged(url.moved_to(unfinished), url) as staged:
            yield staged
    else:
        with _staged(url, url) as staged:
            yield staged


@contextmanager
def _staged(location: TableUrl, url: TableUrl) -> Iterator[StagedTable]:
    with connect(location, write=True) as session, session.transaction():
        staged = StagedTable(session, url)
        yield staged
        if session.is_table(url.table):
            session.execute(f"DROP TABLE {quoted(url.table.schema, url.table.name)}")
        session.rename(staged.staging, url.table)


def check_table(url: TableUrl) -> None:
    """Refuse a target that cannot be written, by creating a table and rolling back."""
    if url.path is not None and not url.path.exists():
        check_parent(url.path)
        if url.table.schema not in (None, "main"):
            raise OutputError(
                f"There is no schema '{url.table.schema}' in {url.where}, which would be new; leave it out."
            )
        return
    if url.path is not None and not url.path.is_file():
        raise OutputError(f"'{url.path}' is no file; name that of a database.")
    with connect(url, write=True) as session:
        if session.columns(url.table) and not session.is_table(url.table):
            raise OutputError(f"'{url.table}' is a view, which is not replaced by a table; choose another name.")
        trial = TableName(f"discreet_{secrets.token_hex(6)}", url.table.schema)
        try:
            with session.transaction():
                session.create(quoted(trial.schema, trial.name), {"trial": pl.Int64()})
                raise _RollBack
        except _RollBack:
            pass


def has_table(url: TableUrl) -> bool:
    """Whether there is such a table already."""
    if url.path is not None and not url.path.exists():
        return False
    with connect(url) as session:
        return bool(session.columns(url.table))


class _RollBack(Exception):  # noqa: N818 - it ends a trial, and is no error
    """Ends a transaction that was only a trial."""
