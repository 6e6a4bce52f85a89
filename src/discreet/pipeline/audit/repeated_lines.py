"""Delimited text in which many lines are equal: each is read, and each distinct one is parsed, once.

Released rows are equal to several others in their quasi-identifiers at least, and often altogether. Comparing whole
lines takes a fraction of the time of splitting them into cells. Equal lines are equal rows; this needs one line for
every row, so a file with a quotation mark, whose cells may hold line breaks, is left to the usual reader. So is one
with carriage returns within lines, as polars removes one at the end whenever it reads a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from discreet.pipeline.audit.delimited_text import scan_text

__all__ = ["DistinctRows", "distinct_rows"]

_START = 1 << 14
"""Lines looked at first."""
_BATCH = 1 << 18
"""Lines read at once."""
_REPEATS = 4
"""How often a line occurs on average where it is worth comparing whole lines."""

DistinctRows = tuple[pl.DataFrame, pl.Series]
"""The distinct rows of a table, and how often each occurs."""


def distinct_rows(path: Path, separator: str, columns: Sequence[str]) -> DistinctRows | None:
    """Return the distinct rows of a file; None if few lines are equal, or if lines may not be rows."""
    try:
        counted = _distinct_lines(path)
    except pl.exceptions.PolarsError:  # the usual reader will say what is wrong
        return None
    if counted is None:
        return None
    lines = counted["line"]
    if lines.null_count() or lines.str.contains('["\r]').any():
        return None
    text = "\n".join(["", *lines, ""])  # the first line is where the header would be
    table = scan_text(text.encode(), separator, columns, None).collect()
    return (table, counted["rows"]) if table.height == counted.height else None


def _distinct_lines(path: Path) -> pl.DataFrame | None:
    """Return the distinct lines after the header and how often each occurs; None if few are equal."""
    # No cell holds a zero byte, so every line has one field. An empty line is null.
    plan = pl.scan_csv(
        path, has_header=False, skip_rows=1, separator="\x00", quote_char=None, schema={"line": pl.String()}, glob=False
    )
    start = plan.head(_START).collect(engine="streaming").to_series()
    if start.n_unique() * _REPEATS > len(start):
        return None
    counted, rows = pl.DataFrame(schema={"line": pl.String(), "rows": pl.Int64()}), 0
    for batch in plan.collect_batches(chunk_size=_BATCH, maintain_order=True, lazy=True, engine="streaming"):
        runs = batch.to_series().rle().struct.unnest()  # equal lines of a shuffled file are mostly adjacent
        found = runs.select(line="value", rows=pl.col("len").cast(pl.Int64))
        counted = pl.concat([counted, found]).group_by("line").agg(pl.col("rows").sum())
        rows += batch.height
        if counted.height * _REPEATS > rows:
            return None
    return counted
