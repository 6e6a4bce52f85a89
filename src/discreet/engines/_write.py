"""Tables written to files in the format the name says, piece by piece where it allows that."""

from __future__ import annotations

import bz2
from pathlib import Path
from typing import Any

import polars as pl

from discreet.engines._excel import write_excel
from discreet.engines._formats import Format
from discreet.engines._guard import writing
from discreet.engines._held import check_types

__all__ = ["write_table"]


def write_table(frame: pl.LazyFrame, path: Path, layout: Format, name: str | None = None) -> None:
    """Run a plan and write its rows to a file.

    ``name`` is what to call the file in an error, where it will get another name when it is complete.
    """
    check_types(frame.collect_schema(), layout)
    with writing(f"'{name or path.name}'"):
        if layout.kind == "parquet":
            frame.sink_parquet(path)
        elif layout.kind == "xlsx":
            write_excel(frame, path)
        elif layout.compression == "bz2":
            with bz2.open(path, "wb") as stream:
                _write_text(frame, stream, layout, "uncompressed")
        else:
            _write_text(frame, path, layout, layout.compression.replace("none", "uncompressed"))


def _write_text(frame: pl.LazyFrame, target: Any, layout: Format, compression: Any) -> None:
    if layout.kind == "jsonl":
        frame.sink_ndjson(target, compression=compression, check_extension=False)
    else:
        frame.sink_csv(target, separator=layout.separator or ",", compression=compression, check_extension=False)
