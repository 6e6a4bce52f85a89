"""A table in one file: opened without reading it whole, and checked as far as is cheap."""

from __future__ import annotations

import bz2
import codecs
import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from io import BytesIO
from os import PathLike
from pathlib import Path

import polars as pl

from discreet.engines.files.conversions import conversions
from discreet.engines.files.dialect import (
    Dialect,
    check_encoding,
    find_ragged,
    first_lines,
    sniff,
    split_lines,
    trailing_blank_lines,
)
from discreet.engines.files.excel import read_excel
from discreet.engines.files.formats import STATISTICS, Format, format_of
from discreet.engines.guards import reading
from discreet.errors import Argument, DataError, UsageError
from discreet.runtime.plurals import amount
from discreet.runtime.table_path import ReadOptions, options_of, split_sheet
from discreet.runtime.unreadable_files import encoding_of, no_such_file, not_utf8, without_text

__all__ = ["TableFile", "open_file", "possible_options"]

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_START = 1 << 18
"""The bytes read to find out the dialect."""
_SQL_TYPES = {pl.String: "VARCHAR", pl.Int64: "BIGINT", pl.Float64: "DOUBLE", pl.Boolean: "BOOLEAN"}


@dataclass(frozen=True)
class TableFile:
    """A table in a file, not read yet. Delimited text stays text, and an empty cell is missing."""

    path: Path
    format: Format
    columns: tuple[str, ...]
    dialect: Dialect | None = None
    rows: int | None = None
    """The number of rows, if the file ends in empty lines."""
    content: bytes | None = field(default=None, repr=False)
    """The decompressed file, if polars cannot decompress it."""
    schema: pl.Schema | None = None
    """The types of the columns, if finding them means reading the file."""
    read: Callable[[], pl.LazyFrame] | None = field(default=None, repr=False)
    """Returns a plan for the rows, if polars cannot scan the format."""
    converted: tuple[pl.Expr, ...] = field(default=(), repr=False)
    """How columns are read, where options say so."""

    @property
    def name(self) -> str:
        """The name of the file, quoted for messages."""
        return f"'{self.path.name}'"

    @property
    def last(self) -> str:
        """The last column."""
        return self.columns[-1]

    @property
    def text_size(self) -> int:
        """An estimate of the bytes of text to read."""
        return self.path.stat().st_size * (1 if self.format.compression == "none" else 8)

    def scan(self, categories: Sequence[str] = ()) -> pl.LazyFrame:
        """Return a plan that reads the file when it is run.

        Reading columns with few values as ``categories`` saves memory and time.
        """
        if self.converted:
            return replace(self, converted=()).scan().with_columns(self.converted)
        if self.read is not None:
            return self.read()
        if self.dialect is not None:
            return _scan_csv(self._source(), self.dialect, self.rows, categories)
        if self.format.kind == "jsonl":
            return pl.scan_ndjson(self._source(), schema=self.schema, infer_schema_length=None)
        return pl.scan_parquet(self.path, glob=False)

    def explain(self, text: str) -> DataError | None:
        """Return the error for a message of polars; None for the general one."""
        if "utf-8" in text or "utf8" in text:
            return not_utf8(self.path, self._start())
        if self.dialect is not None and ("more fields" in text or "in schema" in text):
            self.check_rows()
        if self.dialect is not None and "could not parse" in text:
            return DataError(
                f"{self.name} has a quotation mark that is never closed; correct it and try again.", topic="file-format"
            )
        return None

    def check_rows(self) -> None:
        """Raise a DataError if a row of delimited text has more or fewer fields than the header."""
        if self.dialect is None:
            return
        try:
            found = find_ragged(self._source(), self.dialect, self.rows is not None)
        except pl.exceptions.PolarsError:
            raise without_text(self.path, self._start()) from None
        if found is not None:
            line, fields = found
            raise DataError(
                f"Line {line} of {self.name} has {amount(fields, 'field')} where the header has "
                f"{len(self.columns)}; correct the line and try again.",
                topic="file-format",
            )

    def sample(self) -> pl.DataFrame:
        """Return the first rows of delimited text; none if finding them takes parsing."""
        start = self._start()
        if self.dialect is None or b'"' in start:
            return pl.DataFrame()
        whole_lines = start[: start.rfind(b"\n") + 1]
        if whole_lines.count(b"\n") < 2:
            return pl.DataFrame()
        return self.parse(whole_lines)

    def parse(self, text: bytes, categories: Sequence[str] = ()) -> pl.DataFrame:
        """Parse delimited text as if it were this file; its first line is skipped like a header."""
        assert self.dialect is not None
        return _scan_csv(BytesIO(text), self.dialect, None, categories).collect()

    def sql_types(self, engine: str) -> dict[str, str]:
        """Return the SQL types of the columns of a JSON lines file, for another engine to read it with."""
        found = {}
        for column, dtype in (self.schema or {}).items():
            if type(dtype) not in _SQL_TYPES:
                raise self.unreadable_by(engine)
            found[column] = _SQL_TYPES[type(dtype)]
        return found

    def check_engine(self, engine: str) -> None:
        """Refuse to let another engine read a file with options that it does not know."""
        if self.converted or (self.content is not None and self.format.compression == "none"):
            raise UsageError(
                f"{self.name} is read with options (na, decimal, encoding, date_format) that {engine} does not know; "
                "leave the engine out.",
                topic="read-options",
            )

    def unreadable_by(self, engine: str) -> UsageError:
        """Return the error for a file that another engine cannot read."""
        return UsageError(
            f"{self.name} has a format that {engine} cannot read; leave the engine out, or convert it to Parquet."
        )

    def _start(self) -> bytes:
        """Return the first bytes, decompressed."""
        if self.content is not None:
            return self.content[:_START]
        if self.format.compression == "zstd":
            return b""
        opener = gzip.open if self.format.compression == "gzip" else open
        with opener(self.path, "rb") as stream:
            return bytes(stream.read(_START))

    def _source(self) -> Path | BytesIO:
        return self.path if self.content is None else BytesIO(self.content)


def open_file(path: str | PathLike[str], known: Format | None = None, options: ReadOptions | None = None) -> TableFile:
    """Open a table in a file: find its format, unless given, and its columns without reading it whole."""
    options = options_of(path) if options is None else options
    file, sheet = split_sheet(path)
    options = options if sheet is None else replace(options, sheet=sheet)
    if file.is_dir():
        raise DataError(f"'{file}' is a folder; name a file in it.", topic="no-such-file")
    if not file.exists():
        raise no_such_file(file)
    found = known or format_of(file)
    if file.stat().st_size == 0:
        raise DataError(f"'{file.name}' is empty.", topic="no-rows")
    _check_fetched(file)
    _check_options(file, found, options)
    content = _decompress(file) if found.compression == "bz2" else None
    content = content if options.utf8 or found.kind in STATISTICS else _decoded(file, found, content, options)
    table = TableFile(file, found, (), content=content)
    with reading(table.name, table.explain):
        opened = _opened(table, options)
        if options.changes_text:
            changed = conversions(opened.scan(), options, opened.name)
            opened = replace(opened, converted=tuple(changed))
        return opened


def _opened(table: TableFile, options: ReadOptions) -> TableFile:
    """Find the columns of a file."""
    file, found = table.path, table.format
    if found.kind == "csv":
        return _open_csv(table)
    if found.kind == "xlsx":
        table = replace(table, read=read_excel(file, options.sheet).lazy)
    if found.kind in STATISTICS:
        from discreet.engines.files.statistics import open_statistics

        codes = options.missing_codes == "keep"
        about = open_statistics(file, found.kind, options.encoding, codes=codes)
        table = replace(table, read=about.scan, format=replace(found, dictionary=about.dictionary))
    schema = table.scan().collect_schema()
    return replace(table, columns=tuple(schema.names()), schema=schema)


def _check_fetched(file: Path) -> None:
    """Refuse what Git LFS leaves in place of a large file: it reads as a harmless table of one column."""
    with reading(f"'{file.name}'"), file.open("rb") as stream:
        pointer = stream.read(len(_LFS_POINTER)) == _LFS_POINTER
    if pointer:
        raise DataError(
            f"'{file.name}' is a pointer of Git LFS in place of the table; fetch the table with git lfs pull.",
            topic="file-format",
        )


def possible_options(found: Format) -> tuple[str, ...]:
    """Return the names of the reading options that a format can have.

    >>> from discreet.engines import format_of
    >>> possible_options(format_of(Path("people.csv"))), possible_options(format_of(Path("people.xlsx")))
    (('na', 'decimal', 'encoding', 'date_format'), ('na', 'decimal', 'date_format', 'sheet'))
    """
    impossible = {
        "decimal": found.kind in ("parquet", *STATISTICS),
        "encoding": found.kind in ("parquet", "xlsx"),
        "sheet": found.kind != "xlsx",
        "missing_codes": found.kind not in ("sav", "zsav"),
    }
    return tuple(item.name for item in fields(ReadOptions) if not impossible.get(item.name))


_ONLY = {
    "sheet": "Excel files have sheets",
    "encoding": "text files have an encoding",
    "decimal": "text and Excel files can have decimal commas",
    "missing_codes": "SPSS files declare missing-value codes",
}
"""What has an option that not all formats have."""


def _check_options(file: Path, found: Format, options: ReadOptions) -> None:
    """Refuse options that are about another format."""
    possible = possible_options(found)
    for name in options.to_dict():
        if name not in possible:
            raise UsageError(
                f"Only {_ONLY[name]}, and '{file.name}' is not one; leave ",
                Argument(name),
                " out.",
                topic="read-options",
            )


def _decoded(file: Path, found: Format, content: bytes | None, options: ReadOptions) -> bytes:
    """Return the text of a file in another encoding as UTF-8."""
    assert options.encoding is not None
    if found.compression == "zstd":
        raise UsageError(
            f"'{file.name}' is compressed by zstd, and can be read in UTF-8 only; decompress it first.",
            topic="read-options",
        )
    with reading(f"'{file.name}'"):
        raw = gzip.decompress(file.read_bytes()) if found.compression == "gzip" else content or file.read_bytes()
    try:
        return raw.decode(options.encoding).removeprefix("\ufeff").encode()
    except UnicodeError:
        raise DataError(
            f"'{file.name}' is not text in the encoding {options.encoding}; it may be {encoding_of(raw[:4096])}.",
            topic="read-options",
        ) from None


def _open_csv(table: TableFile) -> TableFile:
    if table.format.compression == "none":
        if table.content is None:
            check_encoding(table.path)
        if b"\0" in (start := table._start()):
            raise without_text(table.path, start)
    lines = first_lines(table.path) if table.format.compression == "zstd" else split_lines(table._start())
    dialect = sniff(lines, table.path.name, table.format.separator)
    start = table._start()
    bom, crlf = start.startswith(codecs.BOM_UTF8), start.split(b"\n", 1)[0].endswith(b"\r")
    layout = replace(table.format, bom=bom, crlf=crlf)
    opened = replace(table, columns=dialect.columns, dialect=dialect, format=layout)
    if table.format.compression == "none" and len(dialect.columns) > 1:
        blank = trailing_blank_lines(table.path if table.content is None else BytesIO(table.content))
        if blank:
            rows = opened.scan().select(pl.len()).collect().item()
            return replace(opened, rows=max(0, rows - blank))
    return opened


def _scan_csv(source: Path | BytesIO, dialect: Dialect, rows: int | None, categories: Sequence[str]) -> pl.LazyFrame:
    few = frozenset(categories)
    return pl.scan_csv(
        source,
        has_header=False,
        skip_rows=1,
        separator=dialect.separator,
        schema={column: _few() if column in few else pl.String() for column in dialect.columns},
        null_values=[""],
        n_rows=rows,
        glob=False,
    )


def _few() -> pl.Categorical:
    """Return a type for columns with at most 65,535 distinct values, at two bytes a cell."""
    return pl.Categorical(pl.Categories.random("discreet", pl.UInt16))


def _decompress(path: Path) -> bytes:
    with reading(f"'{path.name}'"):
        try:
            return bz2.decompress(path.read_bytes())
        except ValueError:
            raise EOFError from None
