"""Where rows are written before they have a name: a hidden file, a hidden folder, or a table of another name.

The only user that writes releases is :func:`discreet.release._publish.write_rows`, which audits them in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from discreet._places import TableName
from discreet._replacing import replacing, replacing_folder
from discreet._temporary import private_folder
from discreet.engines import Format, Recoding, open_file, open_table, plan_of, write_data, write_parts, write_table
from discreet.release._audit._files import ReleasedFile
from discreet.release._output import FolderOutput, Output, SparkOutput, TableOutput, Target, Written

if TYPE_CHECKING:
    from discreet.release._audit._databases import ReleasedTable

__all__ = ["Staged", "StagedInDatabase", "staging"]


class Staged(Protocol):
    """An output under a hidden name."""

    def write(self, data: Any) -> None:
        """Write the rows of a frame of any kind."""

    def reopened(self) -> Any:
        """Return what was written as the audit reads it, from the bytes."""

    def read_back(self, table: pl.DataFrame) -> pl.DataFrame | None:
        """Write a small table in the same format elsewhere and return it as it is read there, in any order.

        None where values come back as they are.
        """

    def finished(self) -> Written:
        """Return the output under the name it will have."""


@contextmanager
def staging(target: Target, data: Any) -> Iterator[Staged]:
    """Yield the output under a hidden name; it gets its own if all goes well, and nothing is left if not.

    ``data`` is what will be written, which tells the session of Spark.
    """
    if isinstance(target, SparkOutput):
        from discreet.engines._spark_table import replacing_spark_table

        with replacing_spark_table(target.url, data) as table:
            yield StagedInDatabase(target, table)
    elif isinstance(target, TableOutput):
        from discreet.engines.database import replacing_table

        with replacing_table(target.url) as table:
            yield StagedInDatabase(target, table)
    elif isinstance(target, FolderOutput):
        with replacing_folder(target.path) as unfinished:
            yield _StagedFolder(target, unfinished)
    else:
        with replacing(target.path) as unfinished:
            yield _StagedFile(target, unfinished)


class _StagedFile:
    """A file under a hidden name."""

    def __init__(self, output: Output, unfinished: Path) -> None:
        self.output = output
        self.unfinished = unfinished
        self._schema = pl.Schema()

    def write(self, data: Any) -> None:
        """Write the file."""
        layout, name, shuffle = self.output.format, self.output.path.name, self.output.shuffle
        self._schema = write_data(data, self.unfinished, layout, name, shuffle=shuffle)

    def reopened(self) -> ReleasedFile | pl.DataFrame:
        """Return the file for the audit; JSON lines without a line say nothing, not even which columns there are."""
        if not self.unfinished.stat().st_size:
            return pl.DataFrame(schema=self._schema)
        return _released(self.unfinished, self.output.format)

    def read_back(self, table: pl.DataFrame) -> pl.DataFrame | None:
        """Write another file; Parquet holds all values as they are."""
        if self.output.format.kind == "parquet":
            return None
        return _through_file(table, self.output.format)

    def finished(self) -> Written:
        """Return the file under its name."""
        path, layout, schema = self.output.path, self.output.format, self._schema
        if not self.unfinished.stat().st_size:
            return Written(self.output.place, pl.LazyFrame(schema=schema).lazy)
        return Written(self.output.place, partial(_scan, path, layout))


class _StagedFolder:
    """A folder under a hidden name."""

    def __init__(self, output: FolderOutput, unfinished: Path) -> None:
        self.output = output
        self.unfinished = unfinished

    def write(self, data: Any) -> None:
        """Write the parts."""
        name = self.output.path.name
        with plan_of(data, self.unfinished, name, shuffle=self.output.shuffle) as plan:
            write_parts(plan, self.unfinished, name)

    def reopened(self) -> Path:
        """Return the folder."""
        return self.unfinished

    def read_back(self, table: pl.DataFrame) -> None:
        """Return nothing: Parquet holds all values as they are."""

    def finished(self) -> Written:
        """Return the folder under its name."""
        path = self.output.path
        return Written(self.output.place, lambda: open_table(path).scan())


@dataclass
class StagedInDatabase:
    """A table of a database under another name."""

    output: TableOutput
    table: Any

    def write(self, data: Any) -> None:
        """Fill the table."""
        self.table.write(data, shuffle=self.output.shuffle)

    def recode(self, source: Any, recoding: Recoding) -> None:
        """Have the database fill it from a table of its own."""
        self.table.recode(source, recoding, shuffle=self.output.shuffle)

    def reopened(self) -> Any:
        """Return the table: a DataFrame of Spark, or one that is read through the connection that made it."""
        if isinstance(self.output, SparkOutput):
            return self.table.reopened()
        return self._released(self.table.staging)

    def read_back(self, table: pl.DataFrame) -> pl.DataFrame | None:
        """Make another table; Spark keeps the values of its types in Parquet, and refuses those of others."""
        if isinstance(self.output, SparkOutput):
            return None
        with self.table.trial(table) as name:
            columns = {f"c{place}": column for place, column in enumerate(table.columns)}
            return self._released(name).groups(columns).drop("rows").rename(columns)

    def _released(self, name: TableName) -> ReleasedTable:
        from discreet.release._audit._databases import ReleasedTable

        return ReleasedTable(self.output.url.database, self.table.session.connection, name)

    def finished(self) -> Written:
        """Return the table under its name."""
        return Written(self.output.place, self.output.scan)


def _scan(path: Path, layout: Format) -> pl.LazyFrame:
    return open_file(path, layout).scan()


def _released(path: Path, layout: Format) -> ReleasedFile:
    return ReleasedFile(path, layout.kind, layout.compression, layout.separator or ",")


def _through_file(table: pl.DataFrame, layout: Format) -> pl.DataFrame:
    with private_folder() as folder:
        write_table(table.lazy(), folder / "values", layout)
        return _released(folder / "values", layout).scan().collect()
