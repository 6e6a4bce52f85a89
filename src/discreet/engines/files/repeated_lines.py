"""Read delimited text in which many rows are equal: lines are numbered as a whole, and each distinct one parsed once.

Splitting lines into cells is by far the most expensive part of reading. A table about many people with coarse values
has few distinct rows, and equal lines are equal rows as long as no cell holds a line break.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from discreet.engines.equal_rows import rows_repeat
from discreet.engines.files.table_file import TableFile

__all__ = ["read_repeated"]

_LEAST = 1 << 22
"""The bytes of a file for which it is worth finding out whether rows repeat."""
_PLACES, _BLOCK = 32, 1 << 15
"""The number of places in a file where lines are sampled, and the bytes read at each."""


def read_repeated(file: TableFile, categories: Sequence[str]) -> pl.DataFrame | None:
    """Read a file whose rows repeat; None if they do not, or if lines of the file may not be rows."""
    plain = file.dialect is not None and file.format.compression == "none" and file.rows is None
    plain = plain and file.content is None and not file.converted
    if not plain or not _rows_repeat(file.path):
        return None
    try:
        lines = _lines(file.path)
    except pl.exceptions.PolarsError:  # reading it in the usual way says what is wrong
        return None
    if lines.is_empty() or lines.null_count():
        return None
    numbers = lines.to_physical().to_numpy()
    example = np.zeros(int(numbers.max()) + 1, dtype=np.int64)
    example[numbers] = np.arange(numbers.size)
    distinct = lines.gather(example).cast(pl.String)
    if distinct.str.contains('["\r]').any():  # a cell may hold a line break, or would lose a second carriage return
        return None
    table = file.parse("\n".join(["", *distinct, ""]).encode(), categories)  # the first line is the header's place
    return table.rechunk()[numbers] if table.height == len(distinct) else None


def _lines(path: Path) -> pl.Series:
    """Return the lines after the header as categories; an empty line is null, a zero byte is an error."""
    line = pl.Categorical(pl.Categories.random("lines", pl.UInt32))
    plan = pl.scan_csv(
        path, has_header=False, skip_rows=1, separator="\x00", quote_char=None, schema={"line": line}, glob=False
    )
    return plan.collect(engine="streaming").to_series().rechunk()


def _rows_repeat(path: Path) -> bool:
    """Estimate from lines of many places whether rows repeat."""
    size = path.stat().st_size
    if size < _LEAST:
        return False
    sample: list[bytes] = []
    with path.open("rb") as stream:
        for start in np.linspace(0, max(size - _BLOCK, 0), _PLACES).astype(np.int64).tolist():
            stream.seek(start)
            sample += stream.read(_BLOCK).split(b"\n")[1:-1]
    if not sample or any(b'"' in line for line in sample):
        return False
    return rows_repeat(Counter(sample).values(), size * len(sample) / (_PLACES * _BLOCK))
