"""The dialect of delimited text: its separator and header, and the first row that does not fit them."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from io import SEEK_END, BytesIO
from pathlib import Path

import polars as pl

from discreet.errors import DataError
from discreet.runtime.unreadable_files import not_utf8

__all__ = [
    "Dialect",
    "check_encoding",
    "find_ragged",
    "first_lines",
    "sniff",
    "split_lines",
    "trailing_blank_lines",
]

SEPARATORS = (",", ";", "\t", "|")
_HEAD = 50
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Dialect:
    """The separator of a file and the column names of its header."""

    separator: str
    columns: tuple[str, ...]


def check_encoding(path: Path) -> None:
    """Refuse a file that is not UTF-8, and say how to convert it."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                if decoder.getstate()[0] or not chunk.isascii():
                    decoder.decode(chunk)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise not_utf8(path) from None


def first_lines(source: Path) -> list[str]:
    """Return the first lines of a file that only polars can decompress."""
    return [line or "" for line in _lines(source).head(_HEAD).collect()["text"]]


def split_lines(start: bytes) -> list[str]:
    r"""Return the first lines of a file, given its first bytes.

    >>> split_lines(b"a,b\r\n1,2\r\n")
    ['a,b', '1,2']
    """
    lines = start.decode("utf-8-sig", errors="replace").split("\n")
    whole = lines[:-1] or lines
    return [line.removesuffix("\r") for line in whole[:_HEAD]]


def sniff(lines: Sequence[str], name: str, separator: str | None) -> Dialect:
    """Find the separator, unless it is given, and read the header."""
    if not lines or not any(lines):
        raise DataError(f"'{name}' is empty.", topic="no-rows")
    if "\r" in lines[0]:
        raise DataError(
            f"'{name}' ends its lines the way old Macs did; convert it first, as in: tr '\\r' '\\n'.",
            topic="file-format",
        )
    choices = [separator] if separator else [each for each in SEPARATORS if each in lines[0]] or [","]
    chosen = max(choices, key=lambda each: _agreement(lines, each))
    header = _rows(lines, chosen)[0]
    for column, times in Counter(header).items():
        if times > 1:
            problem = f"names the column '{column}' {times} times" if column else "has columns without a name"
            raise DataError(f"The header of '{name}' {problem}; give every column its own name.", column=column or None)
    return Dialect(chosen, tuple(header))


def find_ragged(source: Path | BytesIO, dialect: Dialect, blank_end: bool = False) -> tuple[int, int] | None:
    """Return the line number and the number of fields of the first row that does not fit the header.

    With ``blank_end``, empty lines at the end are not rows. A zero byte in the file raises an error of polars.
    """
    lines = _lines(source, strict=True).with_row_index("line", offset=1)
    text, expected = pl.col("text"), len(dialect.columns)
    if blank_end:
        last = lines.filter(text.is_not_null()).select(pl.col("line").max()).collect().item()
        lines = lines.head(last)
    if lines.select((text.str.count_matches('"', literal=True) % 2 == 1).any()).collect().item():
        return _find_ragged_slowly(lines.collect()["text"].to_list(), dialect)
    fields = text.str.replace_all('"[^"]*"', "").str.count_matches(dialect.separator, literal=True) + 1
    fields = fields.fill_null(1 if expected == 1 else 0)
    wrong = lines.select("line", fields=fields).filter(pl.col("fields") != expected).head(1).collect()
    return None if wrong.is_empty() else (int(wrong["line"][0]), int(wrong["fields"][0]))


def trailing_blank_lines(source: Path | BytesIO) -> int:
    """Count the empty lines at the end of a file."""
    with source.open("rb") if isinstance(source, Path) else source as stream:
        stream.seek(max(0, stream.seek(0, SEEK_END) - 4096))
        tail = stream.read().replace(b"\r\n", b"\n")
    return max(0, len(tail) - len(tail.rstrip(b"\n")) - 1)


def _lines(source: Path | BytesIO, *, strict: bool = False) -> pl.LazyFrame:
    """Scan a file line by line, without splitting fields; an empty line is null.

    A zero byte, which no table should hold, ends a line; with ``strict`` it is an error.
    """
    return pl.scan_csv(
        source,
        has_header=False,
        new_columns=["text"],
        separator="\x00",
        quote_char=None,
        infer_schema=False,
        truncate_ragged_lines=not strict,
        glob=False,
    )


def _rows(lines: Sequence[str], separator: str) -> list[list[str]]:
    try:
        return list(csv.reader([f"{line}\n" for line in lines], delimiter=separator))
    except csv.Error:
        return [lines[0].split(separator)]


def _agreement(lines: Sequence[str], separator: str) -> tuple[int, int]:
    counts = [len(row) for row in _rows(lines, separator)]
    return (sum(count == counts[0] for count in counts), counts[0])


def _find_ragged_slowly(lines: Sequence[str | None], dialect: Dialect) -> tuple[int, int] | None:
    """Find the same where quoted cells hold line breaks."""
    # To the csv module a carriage return ends a line; to polars it is a character like any other.
    rows = csv.reader((f"{line or ''}\n".replace("\r", " ") for line in lines), delimiter=dialect.separator)
    expected = len(dialect.columns)
    before = 0
    for row in rows:
        if len(row) != expected and not (expected == 1 and not row):
            return before + 1, len(row)
        before = rows.line_num
    return None
