"""Where a release goes: a file, a folder of files or a table of a database, looked at before any work starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import polars as pl

from discreet._places import Place, TableUrl, is_url
from discreet._replacing import check_parent, check_target, leading_to, put_back
from discreet.engines import Format, Shuffle, files_of, files_read, format_of, relation_of
from discreet.errors import OutputError, UsageError

__all__ = [
    "KEPT_ORDER",
    "FolderOutput",
    "Output",
    "SparkOutput",
    "TableOutput",
    "Target",
    "Written",
    "check_apart",
    "check_output",
    "like_input",
    "place_files",
    "sources",
]

KEPT_ORDER = (
    "Rows leave in their original order, which may identify people: whoever has a list in the same order can go "
    "through both line by line; leave order=keep out to shuffle them."
)
"""The note on a release whose rows were not shuffled."""
_PARQUET = Format("parquet")
_PART = re.compile(r"part-\d{5,}\.parquet")
_WHERE = {"csv": "a CSV file", "jsonl": "JSON lines", "xlsx": "an Excel sheet", "parquet": "a Parquet file"}


@dataclass(frozen=True)
class Written:
    """A released table that was written to a place, and is read when it is asked for."""

    place: Place
    scan: Callable[[], pl.LazyFrame]
    lazy: bool = False
    shuffle: Shuffle | None = None
    """The random order its rows are in; None if they were kept in theirs."""
    by_engine: bool = False
    """Whether another engine than polars put them in order."""

    def read(self) -> pl.DataFrame | pl.LazyFrame:
        """Return the table as it is in its place."""
        return self.scan() if self.lazy else self.scan().collect(engine="streaming")


@dataclass(frozen=True)
class Output:
    """A file to be written, and its format."""

    path: Path
    format: Format
    shuffle: Shuffle | None = field(default_factory=Shuffle.drawn)
    """The order of the rows; None keeps theirs."""

    @property
    def place(self) -> Place:
        """Where it is."""
        return self.path

    @property
    def where(self) -> str:
        """What readers get, for messages."""
        return _WHERE[self.format.kind]

    @property
    def is_text(self) -> bool:
        """Whether values are written as text, so that their types do not matter."""
        return self.format.kind in ("csv", "jsonl")


@dataclass(frozen=True)
class FolderOutput:
    """A folder to be filled with Parquet files."""

    path: Path
    format: Format = _PARQUET
    shuffle: Shuffle | None = field(default_factory=Shuffle.drawn)
    """The order of the rows, which also says what part they are in; None keeps theirs."""

    @property
    def place(self) -> Place:
        """Where it is."""
        return f"{self.path}/"

    @property
    def where(self) -> str:
        """What readers get, for messages."""
        return _WHERE["parquet"]


@dataclass(frozen=True)
class TableOutput:
    """A table of a database, which can tell all values apart."""

    url: TableUrl
    format: None = None
    shuffle: Shuffle | None = field(default_factory=Shuffle.drawn)
    """The order the rows are inserted in; None keeps theirs."""

    @property
    def place(self) -> Place:
        """Where it is, without a password."""
        return str(self.url)

    @property
    def where(self) -> str:
        """What readers get, for messages."""
        return f"a {self.url.database} table"

    def scan(self) -> pl.LazyFrame:
        """Return the table as a plan that reads it when it is run."""
        from discreet.engines.database import DatabaseSource

        return DatabaseSource(self.url).scan()


@dataclass(frozen=True)
class SparkOutput(TableOutput):
    """A table of Spark."""

    def scan(self) -> pl.LazyFrame:
        """Return the rows of the table, which are fetched."""
        from discreet.engines._spark_table import scan_spark_table

        return scan_spark_table(self.url)


Target = Output | FolderOutput | TableOutput


def check_output(place: Place, data: Any, population: Any = None) -> Target:
    """Refuse what could not be written in the end: a missing folder, an unknown format, what is read itself."""
    if not isinstance(place, str | PathLike):
        raise UsageError(
            f"The output is a path or the URL of a table, not {type(place).__name__}; name it, as in 'safe.csv'.",
            topic="parameter",
        )
    if population is not None:
        check_output(place, population)
    if isinstance(place, str) and is_url(place):
        return _check_table(TableUrl.parse(place), data)
    if fspath(place).endswith("/"):
        return _check_folder(Path(place), data)
    path = Path(place)
    found = format_of(path)
    target = leading_to(path)
    if any(_same(target, source) for source in sources(data)):
        raise OutputError(
            f"The output '{path.name}' is the input itself; give the release another name.", topic="output-is-input"
        )
    if _is_read(target, data):
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


def _check_folder(path: Path, data: Any) -> FolderOutput:
    target = leading_to(path)
    if not target.name:
        raise OutputError("The output is the root of all folders; name a folder in it.", topic="output-folder")
    if any(source.resolve().is_relative_to(target) for source in sources(data)) or _is_read(target, data):
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
    if target.is_dir() and not all(_PART.fullmatch(entry.name) and entry.is_file() for entry in target.iterdir()):
        raise OutputError(
            f"The folder '{path}/' holds other things than the parts of a release, which would be lost; "
            "choose a new one.",
            topic="output-folder",
        )
    return FolderOutput(target)


def _check_table(url: TableUrl, data: Any) -> TableOutput:
    from discreet.engines.database import check_table, same_table

    if isinstance(data, str) and is_url(data) and same_table(TableUrl.parse(data), url):
        raise OutputError(
            f"The output '{url.table}' is the input itself; give the release another name.", topic="output-is-input"
        )
    if url.database == "spark":
        from discreet.engines._spark_table import check_spark_table

        check_spark_table(url)
        return SparkOutput(url)
    check_table(url)
    return TableOutput(url)


def check_apart(written: Sequence[Path], read: Sequence[Path]) -> None:
    """Refuse to write over a file that is read, or two things to one file."""
    for place, target in enumerate(written):
        if any(_same(target.resolve(), source) for source in read):
            raise OutputError(
                f"Writing '{target.name}' would overwrite a file that is read; give it another name.",
                topic="output-is-input",
            )
        if any(_same(target.resolve(), other) for other in written[:place]):
            raise OutputError(f"Two things would be written to '{target.name}'; give one of them another name.")


def like_input(output: Output, separator: str | None) -> Output:
    """Write delimited text with the separator of the input, unless the name of the output says otherwise."""
    if output.format.kind != "csv" or output.format.separator is not None or separator is None:
        return output
    return replace(output, format=replace(output.format, separator=separator))


def sources(data: Any) -> list[Path]:
    """Return the files data comes from, as far as they are known."""
    if isinstance(data, str | PathLike):
        return place_files(data)
    if isinstance(data, pl.LazyFrame):
        return files_read(data)
    relation = relation_of(data)
    return [] if relation is None else relation.backend.files(relation.native)


def place_files(place: Place) -> list[Path]:
    """Return the files a place stands for: those of a table, or that of a database."""
    if isinstance(place, str) and is_url(place):
        path = TableUrl.parse(place).path
        return [] if path is None else [path]
    return files_of(place)


def _is_read(target: Path, data: Any) -> bool:
    """Whether something new in this place would be read as a part of a folder or pattern of names."""
    if not isinstance(data, str | PathLike) or is_url(data):
        return False
    place = Path(data).resolve()
    if place.is_dir():
        return target.is_relative_to(place)
    deep = str(place).replace("**/", "*")
    return target.match(str(place)) or (deep != str(place) and fnmatch(str(target), deep))


def _same(target: Path, source: Path) -> bool:
    if target == source.resolve():
        return True
    return target.exists() and source.exists() and target.samefile(source)
