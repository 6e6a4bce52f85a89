"""Files as the audit reads them: text, Parquet, Excel sheets, those of SPSS, Stata and SAS, and folders of them."""

from __future__ import annotations

import bz2
import glob
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from discreet.errors import DataError, DiscreetError, UsageError
from discreet.pipeline.audit.delimited_text import (
    DistinctRows,
    TextFile,
    check_rows,
    distinct_rows,
    explain_text,
    read_header,
    scan_text,
    trailing_blank_lines,
)
from discreet.pipeline.audit.excel import read_sheet
from discreet.pipeline.audit.library_errors import reading
from discreet.pipeline.audit.read_as import read_as
from discreet.pipeline.audit.statistics import STATISTICS, read_statistics
from discreet.pipeline.audit.table import check_columns, group, in_batches
from discreet.pipeline.audit.values import by_name
from discreet.runtime.machine_limits import within_memory
from discreet.runtime.table_path import ReadOptions, options_of, split_sheet
from discreet.runtime.unreadable_files import no_such_file, unknown_format

__all__ = ["FilesTable", "ReleasedFile", "files_at", "open_files"]

_KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "xlsx",
    **{f".{kind}": kind for kind in STATISTICS},
}
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
_SLICE_ROWS = 1 << 24
_ROW_BYTES = 32
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class ReleasedFile:
    """A file to audit and its format; a ``separator`` of None is found in the header."""

    path: Path
    kind: str
    compression: str = "none"
    separator: str | None = None
    wanted: tuple[str, ...] = ()
    """Columns the file should have, to find the separator."""
    categories: tuple[str, ...] = ()
    """Columns of delimited text known to have few values."""
    options: ReadOptions = field(default_factory=ReadOptions)
    """How to read the file."""

    @classmethod
    def named(cls, path: Path, wanted: Collection[str] = (), options: ReadOptions | None = None) -> ReleasedFile:
        """Return a file with the format that its name says."""
        suffixes = [suffix.lower() for suffix in path.suffixes]
        compression = _COMPRESSIONS.get(suffixes[-1], "none") if suffixes else "none"
        suffix = "".join(suffixes[-1:] if compression == "none" else suffixes[-2:-1])
        if suffix not in _KINDS:
            raise unknown_format(path, tuple(_KINDS)) if path.exists() else no_such_file(path)
        if compression != "none" and _KINDS[suffix] not in ("csv", "jsonl"):
            raise UsageError(
                f"'{path.name}' cannot be compressed once more; {suffix} files already are, so name it without."
            )
        separator = "\t" if suffix == ".tsv" else None
        return cls(path, _KINDS[suffix], compression, separator, tuple(wanted), options=options or ReadOptions())

    @property
    def name(self) -> str:
        """The name, quoted for messages."""
        return f"'{self.path.name}'"

    @cached_property
    def dialect(self) -> tuple[str, tuple[str, ...]]:
        """The separator and the columns of delimited text."""
        return read_header(self._text, self.separator, self.wanted)

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.dialect[1]) if self.kind == "csv" else self.schema.names()

    @cached_property
    def schema(self) -> pl.Schema:
        """The types of the columns."""
        return self.scan().collect_schema()

    def check(self) -> None:
        """Raise DataError if the file does not exist or is empty."""
        if not self.path.exists():
            raise no_such_file(self.path)
        if self.path.stat().st_size == 0:
            raise DataError(f"'{self.path.name}' is empty.", topic="no-rows")

    def check_rows(self) -> None:
        """Raise DataError if a row of delimited text does not fit the header."""
        if self.kind == "csv":
            with reading(self.name, self.explain):
                self._check_rows()

    def _check_rows(self) -> None:
        check_rows(self._text, *self.dialect, blank_end=self._rows is not None)

    def scan(self) -> pl.LazyFrame:
        """Return the rows as a lazy frame."""
        return self._meant.lazy() if self.options.changes_text else self._scan()

    def _scan(self) -> pl.LazyFrame:
        if self.kind == "csv":
            return scan_text(self._source, *self.dialect, self._rows, self.categories)
        if self.kind == "jsonl":
            known = self.__dict__.get("schema")  # inferring the types reads all lines
            return pl.scan_ndjson(self._source, schema=known, infer_schema_length=None)
        return pl.scan_parquet(self.path, glob=False) if self.kind == "parquet" else self._table.lazy()

    def pieces(self, read: Sequence[str]) -> Iterator[pl.LazyFrame]:
        """Yield some columns in pieces; Parquet can be read from any row on."""
        plan = self.scan().select(map(by_name, read))
        if self.kind != "parquet":
            yield from in_batches(plan) if self.kind in ("csv", "jsonl") else [plan]
            return
        rows = int(pl.scan_parquet(self.path, glob=False).select(pl.len()).collect().item())
        step = min(_SLICE_ROWS, max(within_memory(_SLICE_ROWS * _ROW_BYTES, 8) // _ROW_BYTES, 1 << 19))
        yield from [plan] if rows <= step else (plan.slice(start, step) for start in range(0, rows, step))

    @cached_property
    def distinct(self) -> DistinctRows | None:
        """The distinct rows of delimited text and how often each occurs, where finding them is fast."""
        if self.kind != "csv" or self.compression != "none" or self._rows is not None:
            return None
        if self.options.changes_text or not self.options.utf8:
            return None
        return distinct_rows(self.path, *self.dialect)

    def explain(self, text: str) -> DiscreetError | None:
        """Return the error in the file, given the message of polars; None if it is not known."""
        if self.kind == "csv" and ("more fields" in text or "in schema" in text):
            with reading(self.name):  # an error here has no further cause to look for
                self._check_rows()
        return explain_text(text, self.path) if self.kind in ("csv", "jsonl") else None

    @cached_property
    def _rows(self) -> int | None:
        """The number of rows if the file ends in empty lines, which polars would read as rows of nulls."""
        separator, columns = self.dialect
        if self.compression != "none" or len(columns) < 2:
            return None
        blank = trailing_blank_lines(self._text)
        if not blank:
            return None
        everything = scan_text(self._source, separator, columns, None)
        return max(0, int(everything.select(pl.len()).collect().item()) - blank)

    @property
    def _text(self) -> TextFile:
        return TextFile(self.path, self.compression, None if self.options.utf8 else self.options.encoding)

    @cached_property
    def _source(self) -> Path | bytes:
        """The path, or the content of a file that polars cannot decompress or decode."""
        if not self.options.utf8:
            with self._text.open() as stream:
                return stream.read()
        if self.compression != "bz2":
            return self.path
        try:
            return bz2.decompress(self.path.read_bytes())
        except ValueError:
            raise EOFError from None

    @cached_property
    def _table(self) -> pl.DataFrame:
        """The rows of a file that polars cannot scan."""
        if self.kind == "xlsx":
            return read_sheet(self.path, self.options.sheet)
        return read_statistics(self.path, self.kind, self.options)

    @cached_property
    def _meant(self) -> pl.DataFrame:
        """The rows as the options say they are meant."""
        return read_as(self._scan().collect(), self.options, self.name)


class FilesTable:
    """A table in one file, or in several with the same columns.

    ``folders`` are the columns that each file has by the names of its folders, such as ``year=2024``.
    """

    kind = "polars"

    def __init__(
        self, name: str, files: Sequence[ReleasedFile], folders: Sequence[Mapping[str, str | int | None]] = ()
    ) -> None:
        self.name = name
        self.files = list(files)
        for file in self.files:
            file.check()
        self.layout: str | None = "csv" if any(file.kind == "csv" for file in files) else files[0].kind
        self.folders = list(folders) or [{} for _ in files]
        with reading(name, self._explain):
            own = self.files[0].columns
            self.folders = [{key: folder[key] for key in folder if key not in own} for folder in self.folders]
            self.columns = [*own, *self.folders[0]]
            self._check_same()

    def check_rows(self) -> None:
        """Raise DataError if a row of delimited text does not fit its header."""
        for file in self.files:
            file.check_rows()

    def groups(self, by: Mapping[str, str], weights: str | None = None) -> pl.DataFrame:
        """Group the rows piece by piece."""
        check_columns(by, weights, self.columns)
        read = list(dict.fromkeys([*by.values(), *([] if weights is None else [weights])]))
        with reading(self.name, self._explain):
            if len(self.files) == 1 and not self.folders[0]:
                distinct = self.files[0].distinct if weights is None else None
                if distinct is not None:
                    return _group_distinct(*distinct, by)
                return group(self.files[0].pieces(read), self.files[0].schema, by, weights)
            plan = self.scan().select(map(by_name, read))
            return group(in_batches(plan), plan.collect_schema(), by, weights)

    def scan(self) -> pl.LazyFrame:
        """Return all rows as one lazy frame."""
        if len(self.files) == 1 and not self.folders[0]:
            return self.files[0].scan()
        types = {
            name: pl.String() if any(isinstance(folder[name], str) for folder in self.folders) else pl.Int64()
            for name in self.folders[0]
        }
        plans = []
        for file, folder in zip(self.files, self.folders, strict=True):
            values = [pl.lit(value, dtype=types[name]).alias(name) for name, value in folder.items()]
            plans.append(file.scan().with_columns(values).select(map(by_name, self.columns)))
        return pl.concat(plans, how="vertical_relaxed")

    def _check_same(self) -> None:
        for file, folder in zip(self.files, self.folders, strict=True):
            for column in {*self.columns} ^ {*file.columns, *folder}:
                has = "no" if column in self.columns else "a"
                other = "has" if column in self.columns else "has not"
                raise DataError(
                    f"'{file.path}' has {has} column '{column}', which '{self.files[0].path.name}' {other}; all files "
                    "of a table need the same columns.",
                    column=column,
                )

    def _explain(self, text: str) -> DiscreetError | None:
        found = (file.explain(text) for file in self.files if file.kind == "csv" or file.path.name in text)
        return next((error for error in found if error is not None), None)


def _group_distinct(table: pl.DataFrame, rows: pl.Series, by: Mapping[str, str]) -> pl.DataFrame:
    """Group the distinct rows of delimited text, given how often each occurs."""
    keys = table.select(by_name(column).alias(name) for name, column in by.items())
    return keys.with_columns(rows.alias("rows")).group_by(list(by)).agg(pl.col("rows").sum())


def open_files(path: str | PathLike[str], wanted: Collection[str] = ()) -> FilesTable:
    """Open the table in a file, in a folder, or in the files that match a pattern."""
    location, options = Path(path), options_of(path)
    if not location.is_dir() and not _is_pattern(path):
        file, sheet = split_sheet(path)
        options = options if sheet is None else replace(options, sheet=sheet)
        return FilesTable(f"'{file.name}'", [ReleasedFile.named(file, wanted, options)])
    files = files_at(path)
    if not files:
        raise DataError(
            f"There is no table in '{fspath(path)}'; it should hold files such as part-0.parquet.", topic="no-such-file"
        )
    root = location if location.is_dir() else _before_pattern(location)
    folders = _partition_columns(files, root)
    return FilesTable(f"'{location.name}'", [ReleasedFile.named(file, wanted, options) for file in files], folders)


def files_at(path: str | PathLike[str]) -> list[Path]:
    """Return the files in a folder, or those that match a pattern; hidden files are no part of a table."""
    location = Path(path)
    if location.is_dir():
        return sorted(_visible(location))
    found = (Path(name) for name in glob.glob(fspath(path), recursive=True))  # noqa: PTH207
    return sorted(file for each in found for file in ([each] if each.is_file() else _visible(each)))


def _visible(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (Path(parent, name) for name in names if not name.startswith((".", "_")))


def _is_pattern(path: str | PathLike[str]) -> bool:
    return glob.has_magic(fspath(path)) and not Path(path).exists()


def _before_pattern(path: Path) -> Path:
    parts = list(path.parts)
    first = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:first])


def _partition_columns(files: Sequence[Path], root: Path) -> list[dict[str, str | int | None]]:
    """Return the columns that each file has by the names of its folders, such as ``year=2024``.

    A column is numeric if every value is an integer in its usual form, without leading zeros.
    """
    columns: dict[str, pl.Series] = {}
    for i, file in enumerate(files):
        for folder in file.relative_to(root).parts[:-1]:
            name, equals, value = map(unquote, folder.partition("="))
            if equals and name:
                empty = pl.Series([None] * len(files), dtype=pl.String)
                columns.setdefault(name, empty)[i] = None if value == _NO_VALUE else value
    for name, texts in columns.items():
        numbers = texts.cast(pl.Int64, strict=False)
        if texts.null_count() < len(texts) and (numbers.cast(pl.String).eq_missing(texts)).all():
            columns[name] = numbers
    named = [{folder.partition("=")[0] for folder in file.relative_to(root).parts[:-1]} for file in files]
    return [
        {name: values[i] for name, values in columns.items() if name in set(map(unquote, own))}
        for i, own in enumerate(named)
    ]
