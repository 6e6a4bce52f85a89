"""Write tables to files, piece by piece where the format allows."""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from io import BytesIO
from itertools import repeat
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engines.equal_rows import EqualRows
from discreet.engines.files.excel import write_excel
from discreet.engines.files.formats import STATISTICS, Format
from discreet.engines.format_limits import check_types
from discreet.engines.guards import writing
from discreet.engines.open import to_lazy
from discreet.engines.relation.backends import relation_of
from discreet.engines.shuffle import Shuffle, Stream, shuffled
from discreet.errors import OutputError
from discreet.runtime.atomic_write import remove, rows_beside

if TYPE_CHECKING:
    from discreet.engines.relation.relation import Relation

__all__ = ["plan_of", "write_data", "write_parts", "write_table"]

_PARQUET = Format("parquet")
_GROUP_ROWS = 1 << 17
"""The rows of a row group, which is all that is held of a Parquet file while it is written."""
_BLOCK = 1 << 16
"""The approximate number of bytes of equal lines that are written at once."""
_PART_ROWS = 1 << 23
"""The rows of each file in a folder."""


def write_data(data: Any, path: Path, layout: Format, name: str | None = None, *, shuffle: Shuffle | None) -> pl.Schema:
    """Write a frame of any kind to a file, and return its schema; other engines write Parquet themselves."""
    relation = relation_of(data)
    if relation is not None:
        _check_durations(relation)
    if relation is not None and layout.kind == "parquet" and relation.backend.one_file:
        with relation.running(), writing(f"'{name or path.name}'"):
            if _saved(relation, shuffle, path):
                return pl.scan_parquet(path, glob=False).collect_schema()
    with _rows_of(data, path, name or path.name, shuffle) as rows:
        if isinstance(rows, EqualRows):
            write_equal(rows, path, layout, name)
            return rows.distinct.schema
        write_table(rows, path, layout, name)
        return rows.collect_schema()


@contextmanager
def plan_of(data: Any, target: Path, name: str, *, shuffle: Shuffle | None) -> Iterator[pl.LazyFrame]:
    """Yield a frame of any kind as a polars plan, with its rows in random order if a ``shuffle`` is given.

    The rows of another engine pass through a hidden file or folder beside the target, which the engine writes.
    """
    with _rows_of(data, target, name, shuffle) as rows:
        yield rows.plan() if isinstance(rows, EqualRows) else rows


@contextmanager
def _rows_of(data: Any, target: Path, name: str, shuffle: Shuffle | None) -> Iterator[pl.LazyFrame | EqualRows]:
    relation = relation_of(data)
    if relation is not None:
        _check_durations(relation)
    rows = rows_beside(target)
    if relation is None:
        with writing(f"'{name}'"), _ordered(data, shuffle, rows) as ordered:
            yield ordered
    else:
        with relation.running(), writing(f"'{name}'"), _sent(relation, shuffle, rows) as ordered:
            yield ordered


def _ordered(data: Any, shuffle: Shuffle | None, rows: Path) -> AbstractContextManager[pl.LazyFrame | EqualRows]:
    """Yield a frame that polars can take, in random order if a ``shuffle`` is given."""
    if shuffle is None:
        return nullcontext(to_lazy(data))
    is_plan = isinstance(data, pl.LazyFrame | str | PathLike)  # a frame in memory knows its number of rows
    return shuffled(to_lazy(data), shuffle if is_plan else replace(shuffle, rows=len(data)), rows)


@contextmanager
def _sent(relation: Relation, shuffle: Shuffle | None, rows: Path) -> Iterator[pl.LazyFrame | EqualRows]:
    """Yield the rows of an engine, which pass through a hidden file or folder."""
    try:
        saved = _saved(relation, shuffle, rows)
        if shuffle is None or saved:
            yield pl.scan_parquet(rows / "*.parquet" if rows.is_dir() else rows, glob=rows.is_dir())
            return
        rows.mkdir(mode=0o700)
        stream = relation.backend.stream(relation.native)
        if stream is None:
            relation.backend.save(relation.native, rows / "rows.parquet")
            stream = Stream.of(pl.scan_parquet(rows / "rows.parquet", glob=False))
        with shuffled(stream, shuffle, rows / "buckets") as plan:
            yield plan
    finally:
        remove(rows)


def _saved(relation: Relation, shuffle: Shuffle | None, path: Path) -> bool:
    """Have an engine write its rows in order; False if polars has to sort them, or does so with less work."""
    if shuffle is not None and relation.backend.stream(relation.native) is not None:
        return False
    rows = relation.native if shuffle is None else relation.backend.shuffled(relation.native, shuffle.key)
    if rows is None:
        return False
    try:
        relation.backend.save(rows, path)
    except Exception as error:
        if shuffle is None or type(error).__name__ != "OutOfMemoryException":  # DuckDB holds more than its limit allows
            raise
        remove(path)
        return False
    return True


def _check_durations(relation: Relation) -> None:
    """Refuse durations of an engine, which few programs can read from Parquet."""
    import narwhals as nw

    for column in relation.columns:
        if isinstance(relation.dtypes[relation.plain(column)], nw.Duration):
            raise OutputError(
                f"Column '{column}' holds durations, which cannot be written; turn it into text or numbers first, or "
                "leave the column out by naming it as an identifier.",
                column=column,
            )


def write_table(frame: pl.LazyFrame, path: Path, layout: Format, name: str | None = None) -> None:
    """Run a plan and write its rows to a file.

    ``name`` is what to call the file in an error, if that is not its final name.
    """
    check_types(frame.collect_schema(), layout)
    with writing(f"'{name or path.name}'"):
        if layout.kind == "parquet":
            frame.sink_parquet(path, row_group_size=_GROUP_ROWS)
        elif layout.kind == "xlsx":
            write_excel(frame, path)
        elif layout.kind in STATISTICS:
            from discreet.engines.files.write_statistics import write_statistics

            write_statistics(frame, path, layout)
        elif layout.compression == "bz2":
            with bz2.open(path, "wb") as stream:
                _write_text(frame, stream, layout, "uncompressed")
        else:
            _write_text(frame, path, layout, layout.compression.replace("none", "uncompressed"))


def write_equal(rows: EqualRows, path: Path, layout: Format, name: str | None = None) -> None:
    """Write distinct rows as often as they occur; plain text is formatted once for each."""
    if layout.kind not in ("csv", "jsonl") or layout.compression != "none":
        write_table(rows.plan(), path, layout, name)
        return
    check_types(rows.distinct.schema, layout)
    content = BytesIO()
    _write_text(rows.distinct.lazy(), content, layout, "uncompressed")
    *lines, _ = content.getvalue().split(b"\n")
    header = lines[: len(lines) - rows.distinct.height]
    if len(header) != (layout.kind == "csv"):  # a cell holds a line break
        write_table(rows.plan(), path, layout, name)
        return
    with writing(f"'{name or path.name}'"), path.open("wb") as stream:
        stream.writelines(line + b"\n" for line in header)
        for line, times in zip(lines[len(header) :], rows.times.tolist(), strict=True):
            block = (line + b"\n") * min(times, _BLOCK // (len(line) + 1) + 1)
            whole, rest = divmod(times * (len(line) + 1), len(block))
            stream.writelines(repeat(block, whole))
            stream.write(block[:rest])


def write_parts(frame: pl.LazyFrame, folder: Path, name: str, rows: int = _PART_ROWS) -> None:
    """Run a plan and write its rows to Parquet files in a folder, in order and ``rows`` to each."""
    check_types(frame.collect_schema(), _PARQUET)
    parts = pl.PartitionBy(
        folder,
        max_rows_per_file=rows,
        approximate_bytes_per_file=None,
        file_path_provider=lambda part: f"part-{part.index_in_partition:05}.parquet",
    )
    with writing(f"'{name}'"):
        frame.sink_parquet(parts, row_group_size=_GROUP_ROWS)


def _write_text(frame: pl.LazyFrame, target: Any, layout: Format, compression: Any) -> None:
    if layout.kind == "jsonl":
        frame.sink_ndjson(target, compression=compression, check_extension=False)
    else:
        frame.sink_csv(
            target,
            separator=layout.separator or ",",
            line_terminator="\r\n" if layout.crlf else "\n",
            include_bom=layout.bom,
            compression=compression,
            check_extension=False,
        )
