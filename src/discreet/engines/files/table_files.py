"""A table in many files: a folder or a glob pattern, with columns from folder names such as ``year=2024``."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from discreet.engines.columns import exactly
from discreet.engines.files.dialect import Dialect
from discreet.engines.files.formats import Format, format_of
from discreet.engines.files.table_file import TableFile, open_file
from discreet.errors import DataError, DiscreetError, UsageError
from discreet.runtime.table_path import options_of, split_sheet

__all__ = ["TableFiles", "files_of", "open_table"]

FolderValues = dict[str, str | int | None]

_MISSING = "__HIVE_DEFAULT_PARTITION__"
"""The value in the folder name of rows without a value."""


@dataclass(frozen=True)
class TableFiles:
    """A table in files that all have the same columns, in any order; not read yet."""

    path: Path
    parts: tuple[TableFile, ...]
    columns: tuple[str, ...]
    folder_values: tuple[FolderValues, ...]
    """For each part, the columns given by the names of its folders."""
    schema: pl.Schema

    @property
    def name(self) -> str:
        """The name of the folder or pattern, quoted for messages."""
        return f"'{self.path.name}'"

    @property
    def format(self) -> Format:
        """The format of the files: delimited text, the most limited one, if one of them is that."""
        formats = [part.format for part in self.parts]
        return next((each for each in formats if each.kind == "csv"), formats[0])

    @property
    def dialect(self) -> Dialect | None:
        """The dialect of the first file of delimited text, if any."""
        return next((part.dialect for part in self.parts if part.dialect is not None), None)

    @property
    def last(self) -> str:
        """The last column that is in the files."""
        return self.parts[0].columns[-1]

    @property
    def text_size(self) -> int:
        """An estimate of the bytes of text to read."""
        return sum(part.text_size for part in self.parts)

    def scan(self, categories: Sequence[str] = ()) -> pl.LazyFrame:
        """Return one plan that reads the files, one after the other, when it is run.

        ``categories`` are ignored: those of two files would not be compatible.
        """
        scans = []
        for part, folders in zip(self.parts, self.folder_values, strict=True):
            values = [pl.lit(value, dtype=self.schema[column]).alias(column) for column, value in folders.items()]
            plan = part.scan().with_columns(values).select(map(exactly, self.columns))
            other = [column for column, dtype in (part.schema or {}).items() if dtype != self.schema[column]]
            scans.append(plan.with_columns(exactly(column).cast(self.schema[column]) for column in other))
        return pl.concat(scans)

    def explain(self, text: str) -> DiscreetError | None:
        """Return the error for a message of polars; None for the general one."""
        found = (part.explain(text) for part in self.parts if part.dialect is not None or part.path.name in text)
        return next((error for error in found if error is not None), None)

    def check_rows(self) -> None:
        """Raise a DataError if a row of delimited text has more or fewer fields than the header."""
        for part in self.parts:
            part.check_rows()

    def sample(self) -> pl.DataFrame:
        """Return nothing: columns are not held as categories."""
        return pl.DataFrame()


def open_table(path: str | PathLike[str], known: Format | None = None) -> TableFile | TableFiles:
    """Open a table in a file, in the files of a folder or in those that match a pattern, without reading it."""
    options = options_of(path)
    if not Path(path).is_dir() and not _is_pattern(path):
        return open_file(path, known, options)
    files = files_of(path)
    if not files:
        raise DataError(
            f"There is no table in '{fspath(path)}'; it should hold files such as part-0.parquet.", topic="no-such-file"
        )
    if len(files) == 1 and not _folder_values(files[0], _root(path)):
        return open_file(files[0], options=options)
    parts = [open_file(file, options=options) for file in files]
    folders = _typed([_folder_values(file, _root(path)) for file in files])
    for part, values in zip(parts, folders, strict=True):
        _check_columns(part, values, parts[0], folders[0])
    folders = [{column: value for column, value in each.items() if column not in parts[0].columns} for each in folders]
    schema = pl.Schema({column: _common_type(column, parts) for column in parts[0].columns})
    for column in folders[0]:
        text = any(isinstance(each[column], str) for each in folders)
        schema[column] = pl.String() if text else pl.Int64()
    return TableFiles(Path(path), tuple(parts), tuple(schema), tuple(folders), schema)


def files_of(path: str | PathLike[str]) -> list[Path]:
    """Return the files of a table: the path itself, the files of a folder, or those that match a pattern.

    Hidden files, and those whose names start with an underscore, are not part of a table.
    """
    if Path(path).is_dir():
        return sorted(_tables_in(Path(path)))
    if not _is_pattern(path):
        return [split_sheet(path)[0]]
    found = (Path(name) for name in glob.glob(fspath(path), recursive=True))  # noqa: PTH207
    return sorted(file for each in found for file in ([each] if each.is_file() else _tables_in(each)))


def _tables_in(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in names:
            if not name.startswith((".", "_")):
                file = Path(parent, name)
                try:
                    format_of(file)
                except UsageError:
                    raise UsageError(
                        f"'{file}' is in the folder and no table; move it, or name the files by a pattern, as in "
                        f"'{folder / '*.parquet'}'."
                    ) from None
                yield file


def _is_pattern(path: str | PathLike[str]) -> bool:
    return glob.has_magic(fspath(path)) and not Path(path).exists()


def _root(path: str | PathLike[str]) -> Path:
    """Return the folder below which folder names give columns: the part of the path before any pattern."""
    if Path(path).is_dir():
        return Path(path)
    plain = []
    for part in Path(path).parts:
        if glob.has_magic(part):
            break
        plain.append(part)
    return Path(*plain)


def _folder_values(file: Path, root: Path) -> FolderValues:
    folders = [part.partition("=") for part in file.relative_to(root).parts[:-1]]
    values = {unquote(name): unquote(value) for name, equals, value in folders if equals and name}
    return {name: None if value == _MISSING else value for name, value in values.items()}


def _typed(folders: list[FolderValues]) -> list[FolderValues]:
    """Convert columns whose values all are integers without leading zeros."""
    names = {name for each in folders for name in each}
    texts = {name: [value for each in folders if isinstance(value := each.get(name), str)] for name in names}
    whole = {name for name, values in texts.items() if values and all(map(_is_whole, values))}
    return [
        {name: int(value) if name in whole and value is not None else value for name, value in each.items()}
        for each in folders
    ]


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and len(digits) < 19 and str(int(text)) == text


def _check_columns(part: TableFile, folders: FolderValues, first: TableFile, first_folders: FolderValues) -> None:
    """Refuse a file whose columns are not those of the first one."""
    own, wanted = {*part.columns, *folders}, {*first.columns, *first_folders}
    for column in (*first.columns, *first_folders):
        if column not in own:
            raise DataError(
                f"'{part.path}' has no column '{column}', which '{first.path.name}' has; all files of a table need "
                "the same columns.",
                column=column,
            )
    for column in (*part.columns, *folders):
        if column not in wanted:
            raise DataError(
                f"'{part.path}' has a column '{column}', which '{first.path.name}' has not; all files of a table need "
                "the same columns.",
                column=column,
            )


def _common_type(column: str, parts: list[TableFile]) -> pl.DataType:
    """Return a type that fits a column in all files, or refuse the files."""
    types = [(part, pl.String() if part.schema is None else part.schema[column]) for part in parts]
    first, common = types[0]
    for part, dtype in types[1:]:
        wider = _wider(common, dtype)
        if wider is None:
            raise DataError(
                f"Column '{column}' is {_kind(dtype)} in '{part.path}' and {_kind(common)} in '{first.path.name}'; "
                "all files of a table need the same types.",
                column=column,
            )
        common = wider
    return common


def _wider(first: pl.DataType, other: pl.DataType) -> pl.DataType | None:
    if first == other or other == pl.Null:
        return first
    if first == pl.Null:
        return other
    texts = (pl.String, pl.Categorical, pl.Enum)
    if isinstance(first, texts) and isinstance(other, texts):
        return pl.String()
    if (first.is_numeric() and other.is_numeric()) or (
        isinstance(first, pl.Datetime) and isinstance(other, pl.Datetime)
    ):
        try:
            both = [pl.Series([], dtype=first), pl.Series([], dtype=other)]
            return pl.concat([each.to_frame("x") for each in both], how="vertical_relaxed").schema["x"]
        except pl.exceptions.PolarsError:
            return None
    return None


def _kind(dtype: pl.DataType) -> str:
    return "text" if isinstance(dtype, pl.String) else f"of type {dtype}"
