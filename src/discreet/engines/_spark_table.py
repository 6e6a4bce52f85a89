"""Tables of Spark told by URL: read where they are, and written complete or not at all."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl

from discreet._places import TableName, TableUrl
from discreet._temporary import private_folder
from discreet.engines._relation import Relation
from discreet.engines._shuffle import Shuffle
from discreet.engines._spark import Spark, open_session
from discreet.engines._which import relation_of
from discreet.engines._write import plan_of
from discreet.errors import DataError, DiscreetError, OutputError, did_you_mean

__all__ = ["StagedSparkTable", "check_spark_table", "replacing_spark_table", "scan_spark_table", "spark_table"]

_MARK = "__discreet_[0-9a-f]{12}"
"""What follows the name of a table in the name of one that is to get it."""
_OURS = re.compile(f"{_MARK}/?$")
"""How the name of a folder ends that we made for the files of a table."""


def spark_table(url: TableUrl, spark: Any = None) -> Relation:
    """Open a table or view in a session: the one given, that of the URL's cluster, the one there is, or a new one."""
    session = open_session(spark or _cluster(url))
    name = _quoted(url.table)
    if not session.catalog.tableExists(name):
        known = [str(TableName(table, url.table.schema)) for table in _listed(session, url.table.schema)]
        hint = did_you_mean(str(url.table), known) or "check the name, and its database if it has one."
        raise DataError(f"There is no table '{url.table}' in Spark; {hint}")
    return Relation(session.table(name), Spark(), f"'{url.table}'")


def scan_spark_table(url: TableUrl) -> pl.LazyFrame:
    """Return a table as a plan of polars; its rows are fetched."""
    rows = spark_table(url).native.toArrow()
    return pl.LazyFrame(pl.from_arrow(rows))


def check_spark_table(url: TableUrl) -> None:
    """Refuse a target that cannot be replaced in the end."""
    session = open_session(_cluster(url))
    name = _quoted(url.table)
    if url.table.schema is not None and not session.catalog.databaseExists(_part(url.table.schema)):
        raise OutputError(f"There is no database '{url.table.schema}' in Spark; make it first.")
    if session.catalog.tableExists(name) and not _is_table(session, name):
        raise OutputError(f"'{url.table}' is a view, which is not replaced by a table; choose another name.")
    _clear_up(session, url.table)


class StagedSparkTable:
    """A table under another name, which gets its own once it was audited.

    Its files are in a folder that Spark does not name by the table. It would move that with every change of the name,
    and who is killed meanwhile leaves a table without files.
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
            _part(self.url.table.schema or self.session.catalog.currentDatabase())
        )
        folder = f"{database.locationUri.rstrip('/')}/{self.staging.name}"
        rows.write.format("parquet").option("path", folder).saveAsTable(_quoted(self.staging))

    def reopened(self) -> Any:
        """Return what was written as a DataFrame."""
        return self.session.table(_quoted(self.staging))


@contextmanager
def replacing_spark_table(url: TableUrl, data: Any = None) -> Iterator[StagedSparkTable]:
    """Give out a table to fill; it gets its name, and replaces the one that has it, if all goes well.

    Spark has no transactions over several statements: what has the name is put aside first, comes back if the new table
    does not get it, and is dropped in the end. At no moment does the name stand for anything but a complete table.
    """
    relation = None if data is None else relation_of(data)
    session = relation.native.sparkSession if relation is not None and relation.backend.kind == "spark" else None
    staged = StagedSparkTable(url, session or open_session(_cluster(url)))
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
    """Undo what a process that was killed while two tables changed places left: a table put aside.

    Where nothing has the name now, what was put aside gets it back; else it was replaced, and is dropped.
    """
    aside = re.compile(f"{re.escape(table.name.lower())}{_MARK}_old")
    for name in _listed(session, table.schema):
        if aside.fullmatch(name.lower()):
            left = TableName(name, table.schema)
            if session.catalog.tableExists(_quoted(table)):
                _drop(session, left)
            else:
                _rename(session, left, table)


@contextmanager
def _running(url: TableUrl) -> Iterator[None]:
    """Say in one sentence what goes wrong in Spark; what it says may quote cells, and is never shown."""
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


def _cluster(url: TableUrl) -> str | None:
    """Return the address of the cluster a URL names."""
    if not url.host:
        return None
    return f"spark://{url.host}" + ("" if url.port is None else f":{url.port}")


def _rename(session: Any, old: TableName, new: TableName) -> None:
    session.sql(f"ALTER TABLE {_quoted(old)} RENAME TO {_quoted(new)}")


def _drop(session: Any, table: TableName) -> None:
    """Drop a table if it is there, and the files that we made of it; those of others Spark deletes if it manages it."""
    if not session.catalog.tableExists(_quoted(table)):
        return
    described = session.sql(f"DESCRIBE TABLE EXTENDED {_quoted(table)}").collect()
    folder = next((str(row["data_type"]) for row in described if row["col_name"] == "Location"), "")
    session.sql(f"DROP TABLE IF EXISTS {_quoted(table)}")
    virtual_machine = getattr(session, "_jvm", None)  # a session of Spark Connect has none, and the files stay
    if virtual_machine is not None and _OURS.search(folder):
        path = virtual_machine.org.apache.hadoop.fs.Path(folder)
        path.getFileSystem(session._jsc.hadoopConfiguration()).delete(path, True)


def _is_table(session: Any, name: str) -> bool:
    return str(session.catalog.getTable(name).tableType) in ("MANAGED", "EXTERNAL")


def _listed(session: Any, schema: str | None) -> list[str]:
    """Return the names of the tables of a database."""
    if schema is not None and not session.catalog.databaseExists(_part(schema)):
        return []
    found = session.sql("SHOW TABLES" if schema is None else f"SHOW TABLES IN {_part(schema)}").collect()
    return [str(row["tableName"]) for row in found]


def _quoted(table: TableName) -> str:
    return ".".join(_part(part) for part in (table.schema, table.name) if part is not None)


def _part(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
