"""Rows sorted by a hash outside of memory: scattered over files by its high bits, and sorted file by file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl

__all__ = ["MOST_BITS", "Buckets"]

HELD_CELLS = 1 << 25
"""Cells of a bucket that is sorted in memory; larger ones are scattered again."""
MOST_BITS = 8
"""The most bits that select a bucket; each bucket has a file that is open until all rows are scattered."""
_AGAIN_BITS = 4
"""Bits that select a part of a bucket that is scattered again."""


@dataclass
class _Bucket:
    """Rows in a file, piece by piece."""

    path: Path
    rows: int = 0
    sizes: list[int] = field(default_factory=list)
    """The bytes of each piece, which is a stream of Arrow by itself."""
    parts: Buckets | None = None
    """The same rows, scattered again."""

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Read one piece after the other."""
        with self.path.open("rb") as file:
            for size in self.sizes:
                yield pl.read_ipc_stream(file.read(size))


class Buckets:
    """Rows in files, one for each value of some ``bits`` of their hash, those above the ``lower`` ones.

    The hash is the column ``mark``. The ``folder`` is made, and nobody else can look into it.
    """

    def __init__(self, folder: Path, mark: str, bits: int, lower: int) -> None:
        folder.mkdir(mode=0o700)
        self._mark, self._bits, self._lower = mark, bits, lower
        self._buckets = [_Bucket(folder / f"{number}.arrows") for number in range(1 << bits)]

    def scatter(self, batches: Iterable[pl.DataFrame]) -> None:
        """Write the rows of some batches to the files."""
        with ExitStack() as held:
            files = [held.enter_context(bucket.path.open("wb")) for bucket in self._buckets]
            for batch in batches:
                number = (batch[self._mark].to_numpy() >> np.uint64(self._lower)) & np.uint64((1 << self._bits) - 1)
                number = number.astype(np.uint8)  # which are sorted by counting them
                rows = batch.rechunk()[np.argsort(number, kind="stable")]
                ends = np.cumsum(np.bincount(number, minlength=len(files))).tolist()
                for bucket, file, start, end in zip(self._buckets, files, [0, *ends[:-1]], ends, strict=True):
                    if start < end:
                        piece = BytesIO()
                        rows[start:end].write_ipc_stream(piece)
                        bucket.sizes.append(file.write(piece.getbuffer()))
                        bucket.rows += end - start

    def in_order(self) -> Iterator[pl.DataFrame]:
        """Read the rows by their hash; those with the same one come in any order."""
        for bucket in self._buckets:
            pieces = bucket.pieces()
            first = next(pieces, None)
            if first is None:
                continue
            if bucket.rows * first.width <= HELD_CELLS:
                rows = pl.concat([first, *pieces], rechunk=True)
                yield rows[np.argsort(rows[self._mark].to_numpy())]
            elif self._is_one(bucket):
                yield from bucket.pieces()
            else:
                yield from self._parts(bucket).in_order()

    def _is_one(self, bucket: _Bucket) -> bool:
        """Whether all rows of a bucket have the same hash."""
        ends = {end for piece in bucket.pieces() for end in (piece[self._mark].min(), piece[self._mark].max())}
        return len(ends) == 1

    def _parts(self, bucket: _Bucket) -> Buckets:
        """Scatter a bucket by the bits that follow."""
        if bucket.parts is None:
            bits = min(_AGAIN_BITS, self._lower)
            bucket.parts = Buckets(bucket.path.with_suffix(""), self._mark, bits, self._lower - bits)
            bucket.parts.scatter(bucket.pieces())
        return bucket.parts
