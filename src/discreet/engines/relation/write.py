"""Write Spark tables by URL, complete or not at all."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from discreet.engines.files.write import plan_of
from discreet.engines.relation.backends import relation_of
from discreet.engines.relation.spark import Spark, cluster_of, list_tables, open_session, quoted_name
from discreet.engines.shuffle import Shuffle
from discreet.errors import DiscreetError, OutputError
from discreet.runtime.locations import TableName, TableUrl
from discreet.runtime.private_folders import private_folder

__all__ = ["StagedSparkTable", "check_spark_table", "has_spark_table", "replacing_spark_table"]

_MARK = "__discreet_[0-9a-f]{12}"
"""The suffix of the name of a staged table."""
_OURS = re.compile(f"{_MARK}/?$")
"""Matches the folder of a staged table."""


def check_spark_table(url: TableUrl) -> None:
    """Refuse a target that cannot be replaced, and clean up after a process that was killed."""
    session = open_session(cluster_of(url))
    name = _quoted(url.table)
    if url.table.schema is not None and not session.catalog.databaseExists(quoted_name(url.table.schema)):
        raise OutputError(f"There is no database '{url.table.schema}' in Spark; make it first.")
    if session.catalog.tableExists(name) and not _is_table(session, name):
        raise OutputError(f"'{url.table}' is a view, which is not replaced by a table; choose another name.")
    _clear_up(session, url.table)


def has_spark_table(url: TableUrl) -> bool:
    """Whether Spark has such a table already."""
    return bool(open_session(cluster_of(url)).catalog.tableExists(_quoted(url.table)))


class StagedSparkTable:
    """A table under another name until it was audited.

    Its files are in a folder that is not named after the table. Spark would move such a folder with every renaming,
    and a process killed meanwhile would leave a table without files.
    """

    def __init__(self, url: TableUrl, session: Any) -> None:
        self.url = url
        self.session = session
        self.staging = TableName(f"{url.table.name}__discreet_{secrets.token_hex(6)}", url.table.schema)

    def write(self, data: Any, *, shuffle: Shuffle | None) -> None:
        """Have the executors write the rows of a frame of any kind."""
        relation = relation_of(data)
        if relation is not None and relation.backend.kind == "spark":
            self._save(relation.native, shuffle)
            return
        with private_folder() as folder:
            rows = folder / "rows.parquet"
            with plan_of(data, rows, self.url.table.name, shuffle=None) as plan:
                plan.sink_parquet(rows)
            self._save(self.session.read.parquet(rows.absolute().as_uri()), shuffle)

    def _save(self, rows: Any, shuffle: Shuffle | None) -> None:
        if shuffle is not None:
            rows = Spark().shuffled(rows, shuffle.key)
        database = self.session.catalog.getDatabase(
            quoted_name(self.url.table.schema or self.session.catalog.currentDatabase())
        )
        folder = f"{database.locationUri.rstrip('/')}/{self.staging.name}"
        rows.write.format("parquet").option("path", folder).saveAsTable(_quoted(self.staging))

    def reopened(self) -> Any:
        """Return what was written as a DataFrame."""
        return self.session.table(_quoted(self.staging))


@contextmanager
def replacing_spark_table(url: TableUrl, data: Any = None) -> Iterator[StagedSparkTable]:
    """Yield a table to fill, which then replaces the one of that name if all goes well.

    Spark has no transactions over several statements: the old table is renamed first, gets its name back if the new one
    cannot be renamed, and is dropped in the end. The name never belongs to anything but a complete table.
    """
    relation = None if data is None else relation_of(data)
    session = relation.native.sparkSession if relation is not None and relation.backend.kind == "spark" else None
    staged = StagedSparkTable(url, session or open_session(cluster_of(url)))
    name, aside = _quoted(url.table), TableName(f"{staged.staging.name}_old", url.table.schema)
    try:
        with _running(url):
            yield staged
            replaced = staged.session.catalog.tableExists(name)
            if replaced:
                _rename(staged.session, url.table, aside)
            try:
                _rename(staged.session, staged.staging, url.table)
            except Exception:
                if replaced:
                    _rename(staged.session, aside, url.table)
                raise
    finally:
        for left in (staged.staging, aside):
            _drop(staged.session, left)


def _clear_up(session: Any, table: TableName) -> None:
    """Clean up after a process that was killed between renaming two tables.

    If nothing has the name now, the old table gets it back; else it was replaced, and is dropped.
    """
    aside = re.compile(f"{re.escape(table.name.lower())}{_MARK}_old")
    for name in list_tables(session, table.schema):
        if aside.fullmatch(name.lower()):
            left = TableName(name, table.schema)
            if session.catalog.tableExists(_quoted(table)):
                _drop(session, left)
            else:
                _rename(session, left, table)


@contextmanager
def _running(url: TableUrl) -> Iterator[None]:
    """Translate errors of Spark; its own messages may quote cells, and are never shown."""
    try:
        yield
    except DiscreetError:
        raise
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in Spark.libraries:
            raise
        raise OutputError(
            f"Spark could not write the table '{url.table}', and nothing was left behind ({type(error).__name__})."
        ) from None


def _rename(session: Any, old: TableName, new: TableName) -> None:
    session.sql(f"ALTER TABLE {_quoted(old)} RENAME TO {_quoted(new)}")


def _drop(session: Any, table: TableName) -> None:
    """Drop a table, and delete its files if it was a staged one; other files are up to Spark."""
    if not session.catalog.tableExists(_quoted(table)):
        return
    described = session.sql(f"DESCRIBE TABLE EXTENDED {_quoted(table)}").collect()
    folder = next((str(row["data_type"]) for row in described if row["col_name"] == "Location"), "")
    session.sql(f"DROP TABLE IF EXISTS {_quoted(table)}")
    java = getattr(session, "_jvm", None)  # a session of Spark Connect has none, and the files stay
    if java is not None and _OURS.search(folder):
        path = java.org.apache.hadoop.fs.Path(folder)
        path.getFileSystem(session._jsc.hadoopConfiguration()).delete(path, True)


def _is_table(session: Any, name: str) -> bool:
    return str(session.catalog.getTable(name).tableType) in ("MANAGED", "EXTERNAL")


def _quoted(table: TableName) -> str:
    return quoted_name(table.schema, table.name)
