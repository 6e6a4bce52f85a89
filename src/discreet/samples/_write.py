"""Writing made-up people to disk part by part: ten million need no more memory than a hundred thousand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from discreet._replacing import check_target, replacing
from discreet.engines import format_of, write_table
from discreet.samples._people import check_size, chunks

__all__ = ["write_sample"]


def write_sample(path: str | Path, n: int = 1000, seed: int = 0) -> Path:
    """Write ``n`` made-up people to a file, in the format its suffix says, as .csv, .csv.gz or .parquet.

    The file appears under its name when it is complete. The same ``n`` and ``seed`` give the same bytes.
    """
    path = Path(path)
    check_size(n, seed)
    layout = format_of(path)
    check_target(path.resolve())

    def parts(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        yield from chunks(n, seed)

    people = register_io_source(parts, schema=next(chunks(0, seed)).schema)
    with replacing(path.resolve()) as unfinished:
        write_table(people, unfinished, layout, path.name)
    return path
