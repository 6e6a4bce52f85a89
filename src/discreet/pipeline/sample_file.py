"""Synthetic people written to disk in chunks: ten million need no more memory than a hundred thousand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from discreet.pipeline.output import check_output
from discreet.pipeline.staging import staging
from discreet.runtime.locations import TableLocation, is_url
from discreet.samples import check_size, chunks, visit_chunks

__all__ = ["write_sample"]


def write_sample(
    path: TableLocation,
    n: int = 1000,
    seed: int = 0,
    *,
    visits: bool = False,
    part: Callable[[pl.DataFrame], pl.DataFrame] = pl.DataFrame.clone,
) -> TableLocation:
    """Write ``n`` synthetic people to a file, in the format of its suffix, to a folder or to a table of a database.

    With ``visits``, write that many visits instead. ``part`` returns what of each chunk is written.

    It appears under its name when it is complete. The same ``n`` and ``seed`` give the same bytes.
    """
    check_size(n, seed)
    make = visit_chunks if visits else chunks
    target = replace(check_output(path, None), shuffle=None)  # these people do not exist: nothing to hide or promise

    def parts(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        yield from map(part, make(n, seed))

    people = register_io_source(parts, schema=part(next(make(0, seed))).schema)
    with staging(target, people) as staged:
        staged.write(people)
    return path if is_url(path) else Path(path)
