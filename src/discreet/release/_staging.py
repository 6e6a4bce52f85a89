"""Where rows are written before they have a name: a hidden file, a hidden folder, or a table of another name.

The only user that writes releases is :func:`discreet.release._publish.write_rows`, which audits them in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from discreet._replacing import replacing, replacing_folder
from discreet._temporary import private_folder
from discreet.engines import (
    Format,
    Recoding,
    TableFile,
    open_file,
    open_table,
    plan_of,
    write_data,
    write_parts,
    write_table,
)
from discreet.release._output import FolderOutput, Output, SparkOutput, TableOutput, Target, Written

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
        self._file: TableFile | None = None

    def write(self, data: Any) -> None:
        """Write the file."""
        layout, name, shuffle = self.output.format, self.output.path.name, self.output.shuffle
        self._schema = write_data(data, self.unfinished, layout, name, shuffle=shuffle)

    def reopened(self) -> TableFile:
        """Open the file; JSON lines without a line say nothing, not even which columns there are."""
        path, layout = self.unfinished, self.output.format
        if self._file is None and path.stat().st_size:
            self._file = open_file(path, layout)
        elif self._file is None:
            self._file = TableFile(path, layout, tuple(self._schema), table=pl.DataFrame(schema=self._schema))
        return self._file

    def read_back(self, table: pl.DataFrame) -> pl.DataFrame | None:
        """Write another file; Parquet holds all values as they are."""
        if self.output.format.kind == "parquet":
            return None
        return _through_file(table, self.output.format)

    def finished(self) -> Written:
        """Return the file under its name."""
        return Written(self.output.place, replace(self.reopened(), path=self.output.path).scan)


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

    def reopened(self) -> Any:
        """Open the folder."""
        return open_table(self.unfinished)

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
        """Return the table."""
        return self.table.reopened()

    def read_back(self, table: pl.DataFrame) -> pl.DataFrame | None:
        """Make another table."""
        return self.table.read_back(table)  # type: ignore[no-any-return]

    def finished(self) -> Written:
        """Return the table under its name."""
        return Written(self.output.place, self.output.scan)


def _through_file(table: pl.DataFrame, layout: Format) -> pl.DataFrame:
    with private_folder() as folder:
        write_table(table.lazy(), folder / "values", layout)
        return open_file(folder / "values", layout).scan().collect()
