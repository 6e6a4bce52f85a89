"""Files of SPSS (.sav, .zsav, .por), Stata (.dta) and SAS (.sas7bdat, .xpt), which need an extra.

Numbers are codes and stay codes; their labels are in the dictionary. Empty text is missing, because these formats have
no other missing text. Stata's and SAS's special missing values (``.a``, ``.Z``) are missing values.
"""

from __future__ import annotations

import datetime
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from discreet.engines.columns import exactly
from discreet.engines.files.dictionary import Dictionary, Family, ValueKind, kind_of_values
from discreet.engines.files.formats import FormatKind
from discreet.engines.files.weight_variable import read_weight
from discreet.errors import Argument, DataError, UsageError
from discreet.runtime.machine_limits import within_memory

__all__ = ["FAMILIES", "StatisticsFile", "needs_pyreadstat", "open_statistics", "size_of_statistics"]

FAMILIES: dict[FormatKind, Family] = {
    "sav": "spss",
    "zsav": "spss",
    "por": "spss",
    "dta": "stata",
    "sas7bdat": "sas",
    "xpt": "sas",
}
"""The program whose formats and labels a file has."""
_READERS = {
    "sav": "read_sav",
    "zsav": "read_sav",
    "por": "read_por",
    "dta": "read_dta",
    "sas7bdat": "read_sas7bdat",
    "xpt": "read_xport",
}
_HELD = 1 << 28
_CELL_BYTES = 16
_CHUNK_CELLS = 1 << 21
"""The cells read at once: the reader holds each as a Python object."""
_EXACT = 2.0**53
"""Numbers are floating-point, which is exact for integers up to this one."""


@dataclass(frozen=True)
class StatisticsFile:
    """A file of a statistics program: its dictionary, its types, and its rows if they are few."""

    dictionary: Dictionary
    schema: pl.Schema
    scan: Callable[[], pl.LazyFrame]
    """Return a plan that reads the rows, piece by piece if there are many."""


def open_statistics(path: Path, kind: FormatKind, encoding: str | None = None, *, codes: bool = True) -> StatisticsFile:
    """Open a file; a damaged one raises EOFError.

    A column of numbers is of integers if all of them are, which takes reading the file once. With ``codes``,
    missing-value codes of SPSS are values; without, they are missing.
    """
    needs_pyreadstat("read")
    read = partial(_read, path, kind, encoding, codes)
    with _errors(path):
        _, meta = read(metadataonly=True)
    names = list(meta.column_names)
    chunk = max(1, _CHUNK_CELLS // max(1, len(names)))
    whole = set(names)
    types: dict[str, pl.DataType] = {}
    pieces, cells, few = [], 0, within_memory(_HELD, 4) // _CELL_BYTES
    special: set[str] = set()
    for piece, named in _pieces(path, read, meta, chunk):
        special.update(named)
        for column in piece:
            if column.name not in types or column.null_count() < len(column):  # without values it may seem a number
                types[column.name] = column.dtype
            if column.name in whole and not _is_whole(column):
                whole.discard(column.name)
        cells += piece.height * piece.width
        if cells <= few:
            pieces.append(piece)
    schema = pl.Schema({name: pl.Int64() if name in whole else types[name] for name in names})
    dictionary = _dictionary(
        meta, kind, {name: kind_of_values(dtype) for name, dtype in schema.items()}, path, codes=codes
    )
    dictionary = replace(dictionary, special_missing=tuple(name for name in names if name in special))
    if cells <= few:
        table = pl.concat([piece.cast(schema) for piece in pieces]) if pieces else pl.DataFrame(schema=schema)
        return StatisticsFile(dictionary, schema, table.lazy)
    return StatisticsFile(dictionary, schema, partial(_scan, path, read, meta, chunk, schema))


def size_of_statistics(path: Path, kind: FormatKind) -> tuple[int, int]:
    """Return the rows and columns of a file without reading them; a .por file does not say its rows, which are 0."""
    needs_pyreadstat("read")
    with _errors(path):
        _, meta = _read(path, kind, None, True, metadataonly=True)
    return meta.number_rows or 0, len(meta.column_names)


def needs_pyreadstat(verb: str) -> None:
    """Refuse to go on without the extra."""
    if importlib.util.find_spec("pyreadstat") is None:
        raise UsageError(
            f"To {verb} files of SPSS, Stata and SAS, install the extra: pip install 'discreet[stats]'.",
            topic="missing-extra",
        )


def _read(path: Path, kind: FormatKind, encoding: str | None, codes: bool, **options: Any) -> tuple[pl.DataFrame, Any]:
    import pyreadstat

    if kind in ("sav", "zsav", "dta", "sas7bdat"):
        options["user_missing"] = codes
    if kind != "por" and encoding is not None:
        options["encoding"] = encoding
    table, meta = getattr(pyreadstat, _READERS[kind])(path, output_format="polars", **options)
    return table, meta


def _pieces(
    path: Path,
    read: Callable[..., tuple[pl.DataFrame, Any]],
    meta: Any,
    chunk: int,
    columns: Sequence[str] | None = None,
) -> Iterator[tuple[pl.DataFrame, list[str]]]:
    """Yield some rows at a time, and which columns have special missing values in them.

    A .por file does not say how many rows it has, and is read at once.
    """
    rows = meta.number_rows
    options = {} if columns is None else {"usecols": list(columns)}
    for offset in range(0, max(rows or 0, 1), chunk if rows is not None else 1):
        limit = {} if rows is None else {"row_offset": offset, "row_limit": chunk}
        with _errors(path):
            table, _ = read(**options, **limit)
        yield _plain(table, meta), [column.name for column in table if _has_special(column, meta)]


def _plain(table: pl.DataFrame, meta: Any) -> pl.DataFrame:
    """Return numbers as Float64, and empty text as missing."""
    columns = []
    for column in table:
        kind: ValueKind = "text" if meta.readstat_variable_types.get(column.name) == "string" else "number"
        columns.append(_plain_column(column, kind))
    return pl.DataFrame(columns)


def _has_special(column: pl.Series, meta: Any) -> bool:
    """Whether a column of numbers or dates has special missing values, which are read as letters."""
    if meta.readstat_variable_types.get(column.name) == "string":
        return False
    return column.dtype == pl.String or (column.dtype == pl.Object and any(isinstance(value, str) for value in column))


def _plain_column(column: pl.Series, kind: ValueKind) -> pl.Series:
    if column.dtype == pl.Object:  # numbers or dates, with missing-value codes between them
        dates = any(isinstance(value, datetime.date) for value in column)
        wanted = datetime.date if dates else int | float
        known = [value if isinstance(value, wanted) else None for value in column]
        return pl.Series(column.name, known, strict=False) if dates else pl.Series(column.name, known, dtype=pl.Float64)
    if kind == "number" and column.dtype == pl.String:  # nothing but special missing values
        return pl.Series(column.name, [None] * len(column), dtype=pl.Float64)
    if kind == "text":
        return column.cast(pl.String).replace("", None)
    if column.dtype == pl.Null or column.dtype.is_numeric():
        return column.cast(pl.Float64).fill_nan(None)
    return column


def _is_whole(column: pl.Series) -> bool:
    """Whether all numbers of a column are integers that a float holds exactly."""
    if column.dtype != pl.Float64:
        return False
    known = column.drop_nulls()
    return bool((known.is_finite() & (known == known.floor()) & (known.abs() <= _EXACT)).all())


def _scan(
    path: Path, read: Callable[..., tuple[pl.DataFrame, Any]], meta: Any, chunk: int, schema: pl.Schema
) -> pl.LazyFrame:
    """Return a plan that reads the columns it needs, piece by piece."""
    from polars.io.plugins import register_io_source

    def rows(
        columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        names = schema.names() if columns is None else columns
        for piece, _special in _pieces(path, read, meta, chunk, names):
            typed = piece.select(exactly(name).cast(schema[name]) for name in names)
            if most is not None:
                typed = typed.head(most)
                most -= typed.height
            yield typed if predicate is None else typed.filter(predicate)
            if most == 0:
                return

    return register_io_source(rows, schema=schema)


def _dictionary(meta: Any, kind: FormatKind, kinds: dict[str, ValueKind], path: Path, *, codes: bool) -> Dictionary:
    return Dictionary(
        family=FAMILIES[kind],
        kinds=kinds,
        file_label=meta.file_label or "",
        table_name=meta.table_name,
        column_labels={name: label for name, label in meta.column_names_to_labels.items() if label},
        value_labels={name: dict(labels) for name, labels in meta.variable_value_labels.items()},
        missing_codes={name: _codes(each) for name, each in meta.missing_ranges.items()} if codes else {},
        formats={name: text for name, text in meta.original_variable_types.items() if text},
        measures={
            name: text for name, text in meta.variable_measure.items() if text in ("nominal", "ordinal", "scale")
        },
        widths=dict(meta.variable_display_width) if FAMILIES[kind] == "spss" else {},
        weight=read_weight(path, meta) if kind in ("sav", "zsav") else None,
    )


def _codes(codes: Sequence[Any]) -> list[Any]:
    """Return single codes as themselves; the reader gives text by its first and last value, which are the same."""
    return [code["lo"] if isinstance(code, dict) and isinstance(code["lo"], str) else code for code in codes]


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Translate errors of the reader, whose messages are never shown."""
    from pyreadstat import PyreadstatError, ReadstatError

    try:
        yield
    except (PyreadstatError, ReadstatError, OverflowError, ValueError) as error:
        text = str(error)
        if "encoding" in text or "convert string" in text:
            raise DataError(
                f"'{path.name}' has text in another encoding than it says; name the right one, as in ",
                Argument("encoding", "latin1"),
                ".",
                topic="read-options",
            ) from None
        raise EOFError from None
