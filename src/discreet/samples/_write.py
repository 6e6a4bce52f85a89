"""Writing made-up people to disk part by part: ten million need no more memory than a hundred thousand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from discreet._places import Place, is_url
from discreet.samples._people import check_size, chunks

__all__ = ["write_sample"]


def write_sample(path: Place, n: int = 1000, seed: int = 0) -> Place:
    """Write ``n`` made-up people to a file, in the format its suffix says, to a folder or to a table of a database.

    It appears under its name when it is complete. The same ``n`` and ``seed`` give the same bytes.
    """
    from discreet.release._output import check_output
    from discreet.release._staging import staging

    check_size(n, seed)
    target = replace(check_output(path, None), shuffle=None)  # nobody is among them

    def parts(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        yield from chunks(n, seed)

    people = register_io_source(parts, schema=next(chunks(0, seed)).schema)
    with staging(target, people) as staged:  # nobody is in it, and so nothing is promised about anybody
        staged.write(people)
    return path if is_url(path) else Path(path)
