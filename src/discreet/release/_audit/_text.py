"""Delimited text as the audit reads it: every cell is text, an empty one is missing, quotes are those of RFC 4180."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import polars as pl

from discreet._words import amount
from discreet.errors import DataError

__all__ = ["check_rows", "explain_text", "read_header", "scan_text", "trailing_blank_lines"]

_SEPARATORS = ",;\t|"
_START = 1 << 18


def read_header(
    path: Path, compression: str, separator: str | None, wanted: Collection[str]
) -> tuple[str, tuple[str, ...]]:
    """Return the separator and the column names.

    A separator that is not known is the one with which the header names all ``wanted`` columns, and else the one that
    makes most columns.
    """
    start = _start(path, compression)
    line = start.split("\n", 1)[0].removesuffix("\r")
    if not start.strip("\r\n"):
        raise DataError(f"'{path.name}' is empty.", topic="no-rows")
    if "\r" in line:
        raise DataError(
            f"'{path.name}' ends its lines the way old Macs did; convert it first, as in: tr '\\r' '\\n'.",
            topic="file-format",
        )
    found = {mark: _first_row(start, mark) for mark in ([separator] if separator else _SEPARATORS)}
    chosen = max(found, key=lambda mark: (set(wanted) <= set(found[mark]), len(found[mark])))
    names = found[chosen]
    for column, times in Counter(names).items():
        if times > 1:
            said = f"names the column '{column}' {times} times" if column else "has columns without a name"
            raise DataError(
                f"The header of '{path.name}' {said}; give every column its own name.", column=column or None
            )
    return chosen, tuple(names)


def scan_text(
    source: Path | bytes, separator: str, columns: Sequence[str], rows: int | None, categories: Collection[str] = ()
) -> pl.LazyFrame:
    """Return the rows as a plan; columns with few values may be read as ``categories``, which takes less memory."""
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


def trailing_blank_lines(path: Path) -> int:
    """Return the number of empty lines at the end of a file."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - 4096))
        tail = stream.read().replace(b"\r\n", b"\n")
    return max(0, len(tail) - len(tail.rstrip(b"\n")) - 1)


def check_rows(source: Path | bytes, separator: str, columns: Sequence[str], name: str, *, blank_end: bool) -> None:
    """Raise a DataError if a row has more or fewer fields than the header; empty lines at the end may be no rows."""
    lines = _lines(source).with_row_index("line", offset=1)
    text, expected = pl.col("text"), len(columns)
    try:
        if blank_end:
            lines = lines.head(lines.filter(text.is_not_null()).select(pl.col("line").max()).collect().item())
        open_quote = text.str.count_matches('"', literal=True) % 2 == 1
        fields = text.str.replace_all('"[^"]*"', "").str.count_matches(separator, literal=True) + 1
        fields = fields.fill_null(1 if expected == 1 else 0)
        wrong = (
            lines.filter((fields != expected) | open_quote).select("line", fields).head(1).collect(engine="streaming")
        )
        found = None if wrong.is_empty() else wrong.row(0)
        if found is not None and lines.select(open_quote.any()).collect(engine="streaming").item():
            found = _ragged(lines.collect()["text"].to_list(), separator, expected)
    except pl.exceptions.PolarsError as error:
        if _is_encoding(str(error)):
            raise
        raise DataError(
            f"{name} holds zero bytes, so it is no text; remove them or export it anew.", topic="file-format"
        ) from None
    if found is not None:
        raise DataError(
            f"Line {found[0]} of {name} has {amount(found[1], 'field')} where the header has {expected}; "
            "correct the line and try again.",
            topic="file-format",
        )


def explain_text(text: str, name: str) -> DataError | None:
    """Return what is wrong with a file, given what polars said about it."""
    if _is_encoding(text):
        return DataError(
            f"'{name}' is not UTF-8; convert it first, as in: iconv -f WINDOWS-1252 -t UTF-8 '{name}' > 'utf8-{name}'.",
            topic="file-format",
        )
    if "could not parse" in text:
        return DataError(
            f"'{name}' has a quotation mark that is never closed; correct it and try again.", topic="file-format"
        )
    return None


def _is_encoding(text: str) -> bool:
    return "utf-8" in text or "utf8" in text


def _start(path: Path, compression: str) -> str:
    if compression == "zstd":
        lines = _lines(path, strict=False).head(20).collect()["text"]
        return "\n".join(line or "" for line in lines) + "\n"
    opener = {"gzip": gzip.open, "bz2": bz2.open}.get(compression, open)
    with opener(path, "rb") as stream:  # type: ignore[operator]
        return bytes(stream.read(_START)).decode("utf-8-sig", errors="replace")


def _first_row(start: str, separator: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(start, newline=""), delimiter=separator))
    except csv.Error:
        return start.split("\n", 1)[0].split(separator)


def _lines(source: Path | bytes, *, strict: bool = True) -> pl.LazyFrame:
    """Scan the lines of a file; an empty one is null. A line ends at a zero byte, which is an error if ``strict``."""
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


def _ragged(lines: Sequence[str | None], separator: str, expected: int) -> tuple[int, int] | None:
    """Return the first line that does not fit, where quoted cells hold line breaks."""
    rows = csv.reader((f"{line or ''}\n" for line in lines), delimiter=separator)
    before = 0
    for row in rows:
        if len(row) != expected and not (expected == 1 and not row):
            return before + 1, len(row)
        before = rows.line_num
    return None
