"""Rows in an order that says nothing about the one they came in.

Rows are sorted by a keyed hash of their released values, and never by a random number drawn for their place: whoever
learns the key, or guesses the seed it was made from, can then tell nothing about the original order, because equal rows
are interchangeable. It also means that a key gives the same order however an engine delivers the rows.

Small tables are put in order in memory. Larger ones are first scattered over hidden files by the high bits of the hash,
which are then read, sorted and handed on one after the other.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, get_args

import polars as pl
from polars.io.plugins import register_io_source

from discreet._replacing import remove
from discreet.engines._names import exactly, unused
from discreet.errors import UsageError

__all__ = ["Order", "Shuffle", "order_of_rows", "shuffled"]

Order = Literal["random", "keep"]
IN_MEMORY = 1 << 22
"""Cells of a table that is put in order in memory."""
BUCKET_AIM = 1 << 22
"""Cells of a bucket, about, where the number of rows is known."""
BUCKET_CELLS = 1 << 25
"""Cells of a bucket that is sorted in memory; larger ones are scattered again."""
_FEW_BITS, _MANY_BITS = 2, 8
"""A table is scattered over two to the power of so many buckets, at least and at most."""
_BUFFERED_CELLS = 1 << 18
"""Cells of one bucket that are held until they are written."""
_AGAIN_BITS = 4
"""The same for a bucket that is scattered again."""
_CHUNK = 1 << 17


@dataclass(frozen=True)
class Shuffle:
    """A random order of rows; where there is none (None), rows are written in the order they have.

    >>> Shuffle.drawn(seed=7) == Shuffle.drawn(seed=7), Shuffle.drawn() == Shuffle.drawn()
    (True, False)
    """

    key: int
    """The key of the hash, of 63 bits, which every engine can take."""
    rows: int | None = None
    """How many rows will be written, if that is known."""
    coded: tuple[str, ...] = ()
    """Columns of text that are an Enum until the rows are in order."""

    @classmethod
    def drawn(cls, seed: int | None = None) -> Self:
        """Take the key from the seed of a job or, without one, from the operating system's secure source."""
        if seed is None:
            return cls(secrets.randbits(63))
        digest = hashlib.sha256(f"discreet row order {seed}".encode()).digest()
        return cls(int.from_bytes(digest[:8], "big") >> 1)

    @classmethod
    def of(cls, order: Order, seed: int | None = None) -> Self | None:
        """Return what a user chose: ``random``, or None for ``keep``."""
        if order not in get_args(Order):
            raise UsageError(f"The order of rows is random or keep, not '{order}'.", topic="parameter")
        return None if order == "keep" else cls.drawn(seed)

    def fits_in_memory(self, columns: int) -> bool:
        """Whether a table with so many columns is put in order in memory."""
        return self.rows is not None and self.rows * columns <= IN_MEMORY

    def bits(self, columns: int) -> int:
        """Return how many bits of the hash tell buckets apart, so that each can be held in memory."""
        if self.rows is None:
            return _MANY_BITS - 2
        return min(max((self.rows * columns // BUCKET_AIM).bit_length(), _FEW_BITS), _MANY_BITS)


def order_of_rows(frame: pl.LazyFrame, shuffle: Shuffle, columns: list[str]) -> pl.LazyFrame:
    """Return rows in the order they were written in, by the values of the ``columns`` that were written.

    Of equal rows any may have become any.
    """
    mark, chosen = _mark(frame.collect_schema()), frame.collect_schema()
    marked = frame.with_columns(_hashed(pl.Schema({name: chosen[name] for name in columns}), shuffle).alias(mark))
    order = _mixed(mark, shuffle.key) if shuffle.fits_in_memory(len(columns)) else pl.col(mark)
    return marked.sort(order).drop(mark).cast(dict.fromkeys(shuffle.coded, pl.String()))


@contextmanager
def shuffled(frame: pl.LazyFrame, shuffle: Shuffle | None, folder: Path) -> Iterator[pl.LazyFrame]:
    """Give out a plan for the rows of another in random order; ``folder`` is made for hidden files and removed."""
    if shuffle is None:
        yield frame
    elif shuffle.fits_in_memory(len(frame.collect_schema())):
        yield order_of_rows(frame.collect(engine="streaming").lazy(), shuffle, frame.collect_schema().names())
    else:
        try:
            yield _scattered(frame, shuffle, folder)
        finally:
            remove(folder)


def _mark(schema: pl.Schema) -> str:
    return unused("discreet_order", schema)


def _hashed(schema: pl.Schema, shuffle: Shuffle) -> pl.Expr:
    """Return the hash of the values of a row, of which no two kinds that can be told apart are the same."""
    values = []
    for column, dtype in schema.items():
        if dtype == pl.Object:  # hashed by where it is in memory
            continue
        category = isinstance(dtype, pl.Categorical | pl.Enum) and column not in shuffle.coded
        values.append(exactly(column).cast(pl.String) if category else exactly(column))
        if dtype.is_float():
            values.append(1 / exactly(column))  # 0.0 and -0.0 have the same hash
    if not values:
        return pl.lit(0, dtype=pl.UInt64)
    return pl.struct(value.alias(f"c{number}") for number, value in enumerate(values)).hash(shuffle.key)


def _mixed(mark: str, key: int) -> pl.Expr:
    """Return what equal rows are told apart by, so that they do not stand together: the number of each among them."""
    return pl.struct(pl.col(mark), pl.int_range(pl.len()).over(mark).alias("number")).hash(key)


def _scattered(frame: pl.LazyFrame, shuffle: Shuffle, folder: Path) -> pl.LazyFrame:
    """Run a plan, scatter its rows, and return a plan that hands them on bucket by bucket."""
    schema = frame.collect_schema()
    released = pl.Schema({name: pl.String() if name in shuffle.coded else dtype for name, dtype in schema.items()})
    mark = _mark(schema)
    bits = shuffle.bits(len(schema))
    _scatter(frame.with_columns(_hashed(schema, shuffle).alias(mark)), mark, folder, bits, 64 - bits)

    def buckets(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = list(map(exactly, schema if with_columns is None else with_columns))
        for bucket in _gathered(folder, mark, len(schema), bits, 64 - bits):
            rows = bucket.drop(mark).select(wanted).cast({name: released[name] for name in (with_columns or schema)})
            yield rows if predicate is None else rows.filter(predicate)

    return register_io_source(buckets, schema=released)


def _scatter(frame: pl.LazyFrame, mark: str, folder: Path, bits: int, lower: int) -> None:
    """Write rows to a file for each value of some bits of their hash, those above the ``lower`` ones."""
    folder.mkdir(mode=0o700)
    buckets = pl.PartitionBy(
        folder,
        key={"bucket": pl.col(mark) // (1 << lower) % (1 << bits)},
        include_key=False,
        approximate_bytes_per_file=None,
        file_path_provider=lambda part: f"{part.partition_keys.item()}.parquet",
    )
    group = max(_BUFFERED_CELLS // len(frame.collect_schema()), 1 << 8)
    frame.sink_parquet(
        buckets, compression="uncompressed", statistics=False, row_group_size=group, maintain_order=False
    )


def _gathered(folder: Path, mark: str, width: int, bits: int, lower: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of buckets by their hash."""
    for number in range(1 << bits):
        path, inner = folder / f"{number}.parquet", folder / str(number)
        if not path.exists():
            continue
        bucket = pl.scan_parquet(path, glob=False)
        if bucket.select(pl.len()).collect().item() * width <= BUCKET_CELLS:
            yield bucket.collect().sort(mark)
        elif bucket.select(pl.col(mark).min() == pl.col(mark).max()).collect().item():  # all rows are the same
            yield from bucket.collect_batches(chunk_size=_CHUNK, engine="streaming")
        else:
            if not inner.exists():
                _scatter(bucket, mark, inner, _AGAIN_BITS, lower - _AGAIN_BITS)
            yield from _gathered(inner, mark, width, _AGAIN_BITS, lower - _AGAIN_BITS)
