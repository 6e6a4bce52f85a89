"""Outputs: a file, a folder of Parquet files or a database table, checked before any work starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import polars as pl

from discreet.engines import Format, Shuffle, files_read, format_of, relation_of, scan_table
from discreet.errors import Argument, OutputError, UsageError
from discreet.job.files import files_at
from discreet.runtime.atomic_write import check_parent, check_target, leading_to, put_back
from discreet.runtime.locations import TableLocation, TableUrl, is_url

__all__ = [
    "FolderOutput",
    "Output",
    "SparkOutput",
    "TableOutput",
    "TablesOutput",
    "Target",
    "Written",
    "check_distinct_files",
    "check_new_files",
    "check_output",
    "check_tables_output",
    "is_there",
    "like_input",
    "source_files",
]

_PARQUET = Format("parquet")
_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
"""How files of several tables may end."""
_PART = re.compile(r"part-\d{5,}\.parquet")
_FORMAT_NAMES = {
    "csv": "a CSV file",
    "jsonl": "JSON lines",
    "xlsx": "an Excel sheet",
    "parquet": "a Parquet file",
    "sav": "an SPSS file",
    "zsav": "an SPSS file",
    "por": "an SPSS portable file",
    "dta": "a Stata file",
    "xpt": "a SAS transport file",
}


@dataclass(frozen=True)
class Written:
    """A released table that was written, and is read on demand."""

    location: TableLocation
    scan: Callable[[], pl.LazyFrame]
    lazy: bool = False
    shuffle: Shuffle | None = None
    """The random order of its rows; None if they kept theirs."""
    by_engine: bool = False
    """Whether an engine other than polars shuffled the rows."""

    def read(self) -> pl.DataFrame | pl.LazyFrame:
        """Read the table."""
        return self.scan() if self.lazy else self.scan().collect(engine="streaming")


@dataclass(frozen=True)
class Output:
    """A file to write, and its format."""

    path: Path
    format: Format
    shuffle: Shuffle | None = field(default_factory=Shuffle.drawn)
    """The random order of the rows; None keeps theirs."""

    @property
    def location(self) -> TableLocation:
        """The path."""
        return self.path

    @property
    def format_name(self) -> str:
        """What readers get, for messages."""
        return _FORMAT_NAMES[self.format.kind]

    @property
    def is_text(self) -> bool:
        """Whether values are written as text, so that their types do not matter."""
        return self.format.kind in ("csv", "jsonl")


class _Folder:
    """A folder that is written as a whole."""

    path: Path
    format: Format

    @property
    def location(self) -> TableLocation:
        """The path, with the slash that marks a folder."""
        return f"{self.path}/"

    @property
    def format_name(self) -> str:
        """What readers get, for messages."""
        return _FORMAT_NAMES[self.format.kind]


@dataclass(frozen=True)
class FolderOutput(_Folder):
    """A folder to fill with Parquet files."""

    path: Path
    format: Format = _PARQUET
    shuffle: Shuffle | None = field(default_factory=Shuffle.drawn)
    """The random order of the rows, which also decides their file; None keeps theirs."""


@dataclass(frozen=True)
class TableOutput:
    """A table of a database, which keeps all values distinct."""

    url: TableUrl
    format: None = None
    shuffle: Shuffle | None = field(default_factory=Shuffle.drawn)
    """The random order in which rows are inserted; None keeps theirs."""

    @property
    def location(self) -> TableLocation:
        """The URL without its password."""
        return str(self.url)

    @property
    def format_name(self) -> str:
        """What readers get, for messages."""
        return f"a {self.url.database} table"

    def scan(self) -> pl.LazyFrame:
        """Return the table as a plan that reads it when it is run."""
        return scan_table(self.url)


@dataclass(frozen=True)
class SparkOutput(TableOutput):
    """A table of Spark."""


Target = Output | FolderOutput | TableOutput


@dataclass(frozen=True)
class TablesOutput(_Folder):
    """A folder with a file for each of several tables, all of one format, which appears as a whole."""

    path: Path
    format: Format
    outputs: Mapping[str, Output]
    """The file of each table."""
    shuffle: Shuffle | None = field(default_factory=Shuffle.drawn)
    """The random order of the rows of each table; None keeps theirs."""


def check_output(location: TableLocation, data: Any, population: Any = None, *, overwrite: bool = True) -> Target:
    """Refuse an output that could not be written in the end: a missing folder, an unknown format, the input itself.

    Without ``overwrite``, something that exists under this name is refused, too.
    """
    target = _checked(location, data, population)
    if not isinstance(overwrite, bool):
        raise UsageError("overwrite is true or false.", topic="parameter")
    if not overwrite and is_there(target):
        raise _exists(target.url.table if isinstance(target, TableOutput) else fspath(location))
    return target


def is_there(target: Target) -> bool:
    """Whether something exists under the name of an output, which would be replaced."""
    if isinstance(target, SparkOutput):
        from discreet.engines import has_spark_table

        return has_spark_table(target.url)
    if isinstance(target, TableOutput):
        from discreet.engines import has_table

        return has_table(target.url)
    if isinstance(target, FolderOutput):
        return target.path.is_dir() and any(target.path.iterdir())
    return target.path.exists()


def check_new_files(written: Iterable[Path]) -> None:
    """Refuse files that exist already."""
    for path in written:
        if path.exists():
            raise _exists(path)


def _exists(what: object) -> OutputError:
    return OutputError(
        f"'{what}' exists already, and nothing may be replaced (",
        Argument("overwrite", False),
        "); give the output another name.",
        topic="output-exists",
    )


def _checked(location: TableLocation, data: Any, population: Any) -> Target:
    if not isinstance(location, str | PathLike):
        raise UsageError(
            f"The output is a path or the URL of a table, not {type(location).__name__}; name it, as in 'safe.csv'.",
            topic="parameter",
        )
    if population is not None:
        _checked(location, population, None)
    if isinstance(location, str) and is_url(location):
        return _check_table(TableUrl.parse(location), data)
    if fspath(location).endswith("/"):
        return _check_folder(Path(location), data)
    path = Path(location)
    found = format_of(path)
    if found.kind == "sas7bdat":
        raise UsageError(
            f"'{path.name}' would be a file that only SAS writes; write a transport file instead, as in "
            f"'{path.stem}.xpt'.",
            topic="file-format",
        )
    target = leading_to(path)
    if any(_same_file(target, source) for source in source_files(data)):
        raise OutputError(
            f"The output '{path.name}' is the input itself; give the release another name.", topic="output-is-input"
        )
    if _would_be_read(target, data):
        raise OutputError(
            f"The output '{path.name}' would be a part of the input; write it to another folder.",
            topic="output-is-input",
        )
    if target.is_dir():
        raise OutputError(
            f"'{path}' is a folder; name a file in it, or end it in / to fill it with Parquet files.",
            topic="output-folder",
        )
    return Output(check_target(path), found)


def _check_folder(path: Path, data: Any, is_part: Callable[[str], object] = _PART.fullmatch) -> FolderOutput:
    """Check a folder to be replaced, which may hold nothing but parts of an earlier release."""
    target = leading_to(path)
    if not target.name:
        raise OutputError("The output is the root of all folders; name a folder in it.", topic="output-folder")
    holds_input = any(source.resolve().is_relative_to(target) for source in source_files(data))
    if holds_input or _would_be_read(target, data):
        raise OutputError(
            f"The folder '{path}/' holds the input or is a part of it; choose another.", topic="output-is-input"
        )
    check_parent(path)
    put_back(target)
    if target.exists() and not target.is_dir():
        raise OutputError(f"'{path}' is a file; name a folder, or leave the / out.")
    if target.is_mount():
        raise OutputError(
            f"'{path}' is a file system of its own, which cannot be replaced; name a folder in it.",
            topic="output-folder",
        )
    if target.is_dir() and not all(is_part(entry.name) and entry.is_file() for entry in target.iterdir()):
        raise OutputError(
            f"The folder '{path}/' holds other things than the parts of a release, which would be lost; "
            "choose a new one.",
            topic="output-folder",
        )
    return FolderOutput(target)


def check_tables_output(location: Any, tables: Mapping[str, Any], *, overwrite: bool = True) -> TablesOutput:
    """Refuse a folder for several tables that could not be written in the end.

    Files have the format of those that are read, if all are of one format of text or Parquet, and are Parquet
    otherwise.
    """
    if not isinstance(location, str | PathLike) or is_url(location) or not fspath(location).endswith("/"):
        raise OutputError(
            "Several tables are written to a folder, with a file for each; end the output in /, as in safe/.",
            topic="several-tables",
        )
    endings = {_ending(data) for data in tables.values()}
    ending = endings.pop() if len(endings) == 1 else ".parquet"
    files = {name: f"{name}{ending}" for name in tables}
    for data in tables.values():
        folder = _check_folder(Path(location), data, lambda name: name in files.values())
    if not isinstance(overwrite, bool):
        raise UsageError("overwrite is true or false.", topic="parameter")
    if not overwrite and is_there(folder):
        raise _exists(fspath(location))
    outputs = {name: Output(folder.path / file, format_of(Path(file))) for name, file in files.items()}
    return TablesOutput(folder.path, format_of(Path(f"table{ending}")), outputs)


def _ending(data: Any) -> str:
    """Return the ending of a file, if tables may be written in its format."""
    ending = "" if not isinstance(data, str | PathLike) or is_url(data) else Path(data).suffix.lower()
    return ending if ending in _ENDINGS else ".parquet"


def _check_table(url: TableUrl, data: Any) -> TableOutput:
    from discreet.engines import check_table, same_table

    if isinstance(data, str) and is_url(data) and same_table(TableUrl.parse(data), url):
        raise OutputError(
            f"The output '{url.table}' is the input itself; give the release another name.", topic="output-is-input"
        )
    if url.database == "spark":
        from discreet.engines import check_spark_table

        check_spark_table(url)
        return SparkOutput(url)
    check_table(url)
    return TableOutput(url)


def check_distinct_files(written: Sequence[Path], read: Sequence[Path]) -> None:
    """Refuse to overwrite a file that is read, or to write two things to one file."""
    for number, target in enumerate(written):
        if any(_same_file(target.resolve(), source) for source in read):
            raise OutputError(
                f"Writing '{target.name}' would overwrite a file that is read; give it another name.",
                topic="output-is-input",
            )
        if any(_same_file(target.resolve(), other) for other in written[:number]):
            raise OutputError(f"Two things would be written to '{target.name}'; give one of them another name.")


def like_input(output: Output, layout: Format | None) -> Output:
    """Write text with the separator and line ends of the input, and a file of SPSS, Stata or SAS with its labels."""
    return output if layout is None else replace(output, format=output.format.like(layout))


def source_files(data: Any) -> list[Path]:
    """Return the files that data comes from, as far as they are known."""
    if isinstance(data, str | PathLike):
        return files_at(data)
    if isinstance(data, pl.LazyFrame):
        return files_read(data)
    relation = relation_of(data)
    return [] if relation is None else relation.backend.files(relation.native)


def _would_be_read(target: Path, data: Any) -> bool:
    """Whether a new file here would become a part of the input, which is a folder or a pattern of names."""
    if not isinstance(data, str | PathLike) or is_url(data):
        return False
    path = Path(data).resolve()
    if path.is_dir():
        return target.is_relative_to(path)
    deep = str(path).replace("**/", "*")
    return target.match(str(path)) or (deep != str(path) and fnmatch(str(target), deep))


def _same_file(target: Path, source: Path) -> bool:
    if target == source.resolve():
        return True
    return target.exists() and source.exists() and target.samefile(source)
