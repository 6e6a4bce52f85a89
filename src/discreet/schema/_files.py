"""Reading and writing the rows of a hierarchy as text files."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

from discreet.errors import DataError, UsageError, did_you_mean
from discreet.runtime.atomic_write import check_target, replacing
from discreet.runtime.locations import as_path
from discreet.runtime.table_path import split_sheet
from discreet.runtime.unreadable_files import no_such_file, not_utf8, without_text

__all__ = ["read_rows", "write_rows"]

_DELIMITERS = ";\t,"
_SPREADSHEETS = (".xlsm", ".xlsb", ".xls", ".ods")
_LEVEL_NAME = re.compile(r"level[ _-]?\d+", re.IGNORECASE)


def read_rows(
    path: str | PathLike[str], *, header: bool | None = None, delimiter: str | None = None
) -> tuple[list[list[str]], list[int], str]:
    """Return the rows of a file without its header, the line number of each, and the name of the file."""
    path, sheet = split_sheet(as_path(path, "A hierarchy"))
    if path.suffix.lower() == ".xlsx":
        rows, lines = _sheet(path, sheet)
    else:
        text = _text(path)
        mark = _delimiter(text) if delimiter is None else _one_character(delimiter)
        try:
            rows, lines = _parsed(text, mark)
        except csv.Error as error:
            raise DataError(
                f"Hierarchy '{path.name}' is not a readable table ({error}); correct the file.", topic="hierarchy-file"
            ) from None
    if rows and (_has_header(rows) if header is None else header):
        rows, lines = rows[1:], lines[1:]
    return rows, lines, path.name


def write_rows(path: str | PathLike[str], rows: Iterable[Sequence[str]], delimiter: str = ";") -> None:
    """Write rows to a file, gzipped if its name ends in ``.gz``; it appears when it is complete."""
    path = as_path(path, "A hierarchy")
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=_one_character(delimiter), lineterminator="\n").writerows(rows)
    data = buffer.getvalue().encode()
    target = check_target(path)
    with replacing(target) as unfinished:
        unfinished.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _sheet(path: Path, sheet: str | None) -> tuple[list[list[str]], list[int]]:
    """Return the rows of a sheet of an Excel file, the first unless one is named, and their numbers."""
    if not path.exists():
        raise no_such_file(path, "hierarchy file")
    if importlib.util.find_spec("fastexcel") is None:
        raise UsageError(
            "To read Excel files, install the extra: pip install 'discreet[excel]'.", topic="missing-extra"
        )
    import fastexcel

    try:
        book = fastexcel.read_excel(path)
        if sheet is not None and sheet not in book.sheet_names:
            hint = did_you_mean(sheet, book.sheet_names) or f"its sheets are {', '.join(book.sheet_names)}."
            raise UsageError(f"'{path.name}' has no sheet '{sheet}'; {hint}", topic="read-options")
        cells = book.load_sheet(0 if sheet is None else sheet, header_row=None, dtypes="string").to_polars()
    except fastexcel.FastExcelError:
        raise DataError(
            f"Hierarchy '{path.name}' cannot be read; it is damaged or no Excel file.", topic="hierarchy-file"
        ) from None
    rows = [["" if cell is None else cell for cell in row] for row in cells.iter_rows()]
    kept = [(row, number) for number, row in enumerate(rows, 1) if any(row)]
    return [row for row, _ in kept], [number for _, number in kept]


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        if path.suffix.lower() in _SPREADSHEETS:
            raise DataError(
                f"Hierarchy '{path.name}' is a spreadsheet; save its sheet as CSV (UTF-8), leaf first and one line per "
                f"value, and name '{path.stem}.csv'.",
                topic="hierarchy-file",
            )
        if b"\0" in data[:4096]:
            raise without_text(path, data)
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise no_such_file(path, "hierarchy file") from None
    except UnicodeDecodeError:
        raise not_utf8(path, data, is_table=False) from None
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise DataError(
            f"Hierarchy '{path.name}' cannot be read ({reason}); check the file.", topic="hierarchy-file"
        ) from None


def _parsed(text: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows, lines = [], []
    for row in reader:
        if row:
            rows.append(row)
            lines.append(reader.line_num)
    return rows, lines


def _delimiter(text: str) -> str:
    """Return the delimiter that cuts every line in two or more, if possible with the root ``*`` last."""
    fitting: list[tuple[bool, int, str]] = []
    for mark in _DELIMITERS:
        if mark in text:
            try:
                rows, _ = _parsed(text, mark)
            except csv.Error:
                continue
            if rows and min(map(len, rows)) > 1:
                fitting.append((rows[-1][-1] != "*", len(fitting), mark))
    return min(fitting)[2] if fitting else _DELIMITERS[0]


def _one_character(delimiter: str) -> str:
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise UsageError("The delimiter of a hierarchy file is one character, such as ';' or ','.")
    return delimiter


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names levels: ``level0``, …, or is the only one that does not end in the root."""
    first, others = rows[0], rows[1:]
    if all(_LEVEL_NAME.fullmatch(cell) for cell in first):
        return True
    ends = {row[-1] for row in others}
    return len(first) == max(map(len, rows)) > 1 and ends == {"*"} and first[-1] != "*"
