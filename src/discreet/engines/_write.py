"""Tables written to files in the format the name says, piece by piece where it allows that."""

from __future__ import annotations

import bz2
import shutil
from pathlib import Path
from typing import Any

import polars as pl

from discreet.engines._excel import write_excel
from discreet.engines._formats import Format
from discreet.engines._guard import writing
from discreet.engines._held import check_types
from discreet.engines._relation import relation_of
from discreet.engines._source import to_lazy

__all__ = ["write_data", "write_table"]


def write_data(data: Any, path: Path, layout: Format, name: str | None = None) -> pl.Schema:
    """Write a frame of any kind to a file, and return the types of its columns.

    An engine writes Parquet itself; what it cannot write as one file, or in another format, goes through a hidden
    folder beside the target.
    """
    relation = relation_of(data)
    if relation is None:
        plan = to_lazy(data)
        write_table(plan, path, layout, name)
        return plan.collect_schema()
    with relation.running(), writing(f"'{name or path.name}'"):
        if layout.kind == "parquet" and relation.backend.one_file:
            relation.backend.save(relation.native, path)
            return pl.scan_parquet(path, glob=False).collect_schema()
        rows = path.with_name(f"{path.name}.rows.part")
        try:
            relation.backend.save(relation.native, rows)
            plan = pl.scan_parquet(rows / "*.parquet" if rows.is_dir() else rows, glob=rows.is_dir())
            write_table(plan, path, layout, name)
            return plan.collect_schema()
        finally:
            shutil.rmtree(rows, ignore_errors=True) if rows.is_dir() else rows.unlink(missing_ok=True)


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
