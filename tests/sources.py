"""A table as every kind of data a user may bring: frames of several libraries, and files of several formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from discreet.engines import format_of, write_table

__all__ = ["FILES", "FRAMES", "Constructor", "make_file", "make_frame"]

Constructor = Callable[[pl.DataFrame], Any]

FRAMES = ("pandas", "pandas-nullable", "pandas-arrow", "polars", "polars-lazy", "pyarrow")
FILES = ("csv", "csv;", "tsv", "csv.gz", "csv.zst", "csv.bz2", "parquet", "jsonl", "ndjson.gz", "xlsx")


def make_frame(kind: str, table: pl.DataFrame) -> Any:
    if kind == "pandas":
        return table.to_pandas()
    if kind == "pandas-nullable":
        return table.to_pandas().convert_dtypes(dtype_backend="numpy_nullable")
    if kind == "pandas-arrow":
        return table.to_pandas(use_pyarrow_extension_array=True)
    if kind == "polars-lazy":
        return table.lazy()
    return table.to_arrow() if kind == "pyarrow" else table


def make_file(kind: str, table: pl.DataFrame, folder: Path) -> Path:
    if kind == "csv;":
        path = folder / "people.csv"
        table.write_csv(path, separator=";")
        return path
    path = folder / f"people.{kind}"
    write_table(table.lazy(), path, format_of(path))
    return path
