"""Delimited text as the audit reads it (RFC 4180): every cell is text, and an empty cell is missing.

Rows are checked on the raw bytes. A separator or line break counts unless an odd number of quotation marks precedes it,
which also holds for doubled quotation marks and for line breaks within cells.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.runtime.plurals import amount
from discreet.runtime.unreadable_files import encoding_of, not_utf8, without_text

__all__ = [
    "DistinctRows",
    "TextFile",
    "check_rows",
    "distinct_rows",
    "explain_text",
    "read_header",
    "scan_text",
    "trailing_blank_lines",
]

_SEPARATORS = ",;\t|"
_START = 1 << 18
_CHUNK = 1 << 21
_LONGEST = 1 << 28
"""No row has more bytes than this."""
_QUOTE, _LINE_FEED, _RETURN = b'"\n\r'


class TextFile(NamedTuple):
    """A file of delimited text."""

    path: Path
    compression: str = "none"
    encoding: str | None = None
    """The encoding, if it is not UTF-8."""

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open it to read bytes, decompressed and in UTF-8."""
        if self.encoding is not None:
            with TextFile(self.path, self.compression).open() as stream:
                yield io.BytesIO(self._decoded(stream.read()))
            return
        if self.compression == "zstd":  # which only polars reads
            yield io.BytesIO("".join(f"{line}\n" for line in _lines(self.path)).encode())
            return
        openers = {"gzip": gzip.open, "bz2": bz2.open, "none": open}
        with openers[self.compression](self.path, "rb") as stream:  # type: ignore[operator]
            yield stream

    def _decoded(self, content: bytes) -> bytes:
        try:
            return content.decode(str(self.encoding)).removeprefix("\ufeff").encode()
        except UnicodeError:
            raise DataError(
                f"'{self.path.name}' is not text in the encoding {self.encoding}; it may be "
                f"{encoding_of(content[:4096])}.",
                topic="read-options",
            ) from None


def read_header(file: TextFile, separator: str | None, wanted: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """Return the separator and the column names.

    An unknown separator is the one with which the header names all ``wanted`` columns, or else most columns.
    """
    name = file.path.name
    if file.compression == "zstd":
        start = "\n".join(_lines(file.path).head(20)) + "\n"
    else:
        with file.open() as stream:
            start = stream.read(_START).decode("utf-8-sig", errors="replace")
    line = start.split("\n", 1)[0].removesuffix("\r")
    if not start.strip("\r\n"):
        raise DataError(f"'{name}' is empty.", topic="no-rows")
    if "\r" in line:
        raise DataError(
            f"'{name}' ends its lines the way old Macs did; convert it first, as in: tr '\\r' '\\n'.",
            topic="file-format",
        )
    found = {mark: _first_row(start, mark) for mark in ([separator] if separator else _SEPARATORS)}
    chosen = max(found, key=lambda mark: (set(wanted) <= set(found[mark]), len(found[mark])))
    (column, times), *_ = Counter(found[chosen]).most_common(1)
    if times > 1:
        problem = f"names the column '{column}' {times} times" if column else "has columns without a name"
        raise DataError(f"The header of '{name}' {problem}; give every column its own name.", column=column or None)
    return chosen, tuple(found[chosen])


def scan_text(
    source: Path | bytes, separator: str, columns: Sequence[str], rows: int | None, categories: Collection[str] = ()
) -> pl.LazyFrame:
    """Return a plan of the rows; columns with few values may be read as ``categories``, which takes less memory."""
    few = pl.Categorical(pl.Categories.random("audit", pl.UInt32))
    return pl.scan_csv(
        source,
        has_header=False,
        skip_rows=1,
        separator=separator,
        quote_char='"',
        schema={column: few if column in categories else pl.String() for column in columns},
        null_values=[""],
        n_rows=rows,
        glob=False,
    )


def trailing_blank_lines(file: TextFile) -> int:
    """Return the number of empty lines at the end of a file."""
    with file.open() as stream:
        stream.seek(max(0, stream.seek(0, io.SEEK_END) - 4096))
        lines = stream.read().split(b"\n")
    breaks = next((i for i, line in enumerate(reversed(lines)) if line.strip(b"\r")), len(lines))
    return max(0, breaks - 1)


def check_rows(file: TextFile, separator: str, columns: Sequence[str], *, blank_end: bool) -> None:
    """Raise DataError for the first row with more or fewer fields than the header, and for anything but UTF-8 text.

    With ``blank_end``, empty lines at the end are not rows.
    """
    name, expected, blank = file.path.name, len(columns), 0
    for lines, fields in _counted_fields(file, ord(separator)):
        if blank and fields.any():  # the empty line is not at the end
            raise _ragged(blank, 0, name, expected)
        wrong = np.flatnonzero(np.maximum(fields, 1) != 1 if expected == 1 else fields != expected)
        if wrong.size and (fields[wrong[0] :].any() or not blank_end):
            raise _ragged(int(lines[wrong[0]]), int(fields[wrong[0]]), name, expected)
        if wrong.size:
            blank = blank or int(lines[wrong[0]])


def _counted_fields(file: TextFile, separator: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield for some rows at a time the line each begins in, and its number of fields; 0 for an empty line."""
    name, decoder = file.path.name, codecs.getincrementaldecoder("utf-8")()
    rest, start, line = b"", b"", 1
    with file.open() as stream:
        while True:
            chunk = stream.read(max(_CHUNK, len(rest)))
            start = start or chunk[:4096]
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError:
                raise not_utf8(file.path, start) from None
            if b"\0" in chunk:
                raise without_text(file.path, start)
            if not chunk and not rest:
                return
            content = np.frombuffer(rest + (chunk or b"\n"), dtype=np.uint8)
            breaks = content == _LINE_FEED
            marks = content == separator
            if (content == _QUOTE).any():
                outside = (np.cumsum(content == _QUOTE, dtype=np.int32) & 1) == 0
                ends, marks = np.flatnonzero(breaks & outside), marks & outside
            else:
                ends = np.flatnonzero(breaks)
            if ends.size:
                starts = np.append(0, ends[:-1] + 1)
                fields = np.diff(np.cumsum(marks, dtype=np.int64)[ends], prepend=0) + 1
                length = ends - starts
                fields[(length == 0) | ((length == 1) & (content[starts] == _RETURN))] = 0
                counted = np.cumsum(breaks, dtype=np.int64)
                yield line + np.append(0, counted[ends[:-1]]), fields
                line += int(counted[ends[-1]])
                rest = content[ends[-1] + 1 :].tobytes()
            else:
                rest = content.tobytes()
            if len(rest) > (_LONGEST if chunk else 0):
                raise _never_closed(name)


def _ragged(line: int, fields: int, name: str, expected: int) -> DataError:
    return DataError(
        f"Line {line} of '{name}' has {amount(fields, 'field')} where the header has {expected}; "
        "correct the line and try again.",
        topic="file-format",
    )


def explain_text(text: str, path: Path) -> DataError | None:
    """Return the error in a file, given the message of polars; None if it is not known."""
    if "utf-8" in text or "utf8" in text:
        return not_utf8(path)
    return _never_closed(path.name) if "could not parse" in text else None


def _never_closed(name: str) -> DataError:
    return DataError(
        f"'{name}' has a quotation mark that is never closed; correct it and try again.", topic="file-format"
    )


def _first_row(start: str, separator: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(start, newline=""), delimiter=separator))
    except csv.Error:
        return start.split("\n", 1)[0].split(separator)


def _lines(path: Path) -> pl.Series:
    """Return the lines of a file that polars decompresses."""
    return pl.scan_lines(path, glob=False).collect().to_series()


_SAMPLED = 1 << 14
"""Lines looked at before all others."""
_BATCH = 1 << 18
"""Lines read at once."""
_REPEATS = 4
"""How often a line occurs on average where it is worth comparing whole lines."""

DistinctRows = tuple[pl.DataFrame, pl.Series]
"""The distinct rows of a table, and how often each occurs."""


def distinct_rows(path: Path, separator: str, columns: Sequence[str]) -> DistinctRows | None:
    """Return the distinct rows of a file; None if few lines are equal, or if lines may not be rows.

    Released rows often repeat. Comparing whole lines takes a fraction of the time of splitting them into cells. Equal
    lines are equal rows as long as every row is one line, so a file with a quotation mark, whose cells may hold line
    breaks, is left to the usual reader. So is one with carriage returns within lines, as polars removes one at the end
    whenever it reads a line.
    """
    try:
        counted = _distinct_lines(path)
    except pl.exceptions.PolarsError:  # the usual reader will say what is wrong
        return None
    if counted is None:
        return None
    lines = counted["line"]
    if lines.null_count() or lines.str.contains('["\r]').any():
        return None
    text = "\n".join(["", *lines, ""])  # the first line is where the header would be
    table = scan_text(text.encode(), separator, columns, None).collect()
    return (table, counted["rows"]) if table.height == counted.height else None


def _distinct_lines(path: Path) -> pl.DataFrame | None:
    """Return the distinct lines after the header and how often each occurs; None if few are equal."""
    # No cell holds a zero byte, so every line has one field. An empty line is null.
    plan = pl.scan_csv(
        path, has_header=False, skip_rows=1, separator="\x00", quote_char=None, schema={"line": pl.String()}, glob=False
    )
    start = plan.head(_SAMPLED).collect(engine="streaming").to_series()
    if start.n_unique() * _REPEATS > len(start):
        return None
    counted, rows = pl.DataFrame(schema={"line": pl.String(), "rows": pl.Int64()}), 0
    for batch in plan.collect_batches(chunk_size=_BATCH, maintain_order=True, lazy=True, engine="streaming"):
        runs = batch.to_series().rle().struct.unnest()  # equal lines of a shuffled file are mostly adjacent
        found = runs.select(line="value", rows=pl.col("len").cast(pl.Int64))
        counted = pl.concat([counted, found]).group_by("line").agg(pl.col("rows").sum())
        rows += batch.height
        if counted.height * _REPEATS > rows:
            return None
    return counted
