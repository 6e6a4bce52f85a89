"""Rows in an order that says nothing about the one they came in.

Rows are sorted by a keyed hash of their released values, and never by a random number drawn for their place: anyone who
learns the key, or guesses the seed it was made from, can then tell nothing about the original order, because equal rows
are interchangeable. It also means that a key gives the same order however an engine delivers the rows.

Small tables are put in order in memory. Of larger ones it is enough to sort the distinct rows if these are few. Others
are first scattered over hidden files by the high bits of the hash, which are then read, sorted and handed on one after
the other. Text of few values is a number until then: moving text about costs more than all the rest.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Literal, Self, get_args

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from discreet.engines.columns import exactly, is_category, unused
from discreet.engines.equal_rows import EqualRows, count_equal
from discreet.errors import UsageError
from discreet.runtime.atomic_write import remove

__all__ = ["Order", "Shuffle", "Stream", "order_of_rows", "shuffled"]

Order = Literal["random", "keep"]
IN_MEMORY = 1 << 22
"""Most cells of a table that is sorted in memory."""
BUCKET_AIM = 1 << 22
"""Approximate number of cells of a bucket, where the number of rows is known."""
_FEW_BITS = 2
"""Least number of bits that select a bucket when a table is scattered."""
_BATCH_CELLS, _BATCH_ROWS = 1 << 22, 1 << 12
"""Approximate number of cells scattered at once, and the least number of rows."""


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
        """Whether a table with this many columns is sorted in memory."""
        return self.rows is not None and self.rows * columns <= IN_MEMORY

    def bits(self, columns: int) -> int:
        """Return how many bits of the hash select the bucket, so that each bucket fits into memory."""
        if self.rows is None:
            return MOST_BITS - 2
        return min(max((self.rows * columns // BUCKET_AIM).bit_length(), _FEW_BITS), MOST_BITS)


@dataclass(frozen=True)
class Stream:
    """Rows as an engine hands them out, batch by batch and in any order."""

    schema: pl.Schema
    """The types columns have in the batches."""
    batches: Callable[[int], Iterable[pl.DataFrame]]
    """Runs the plan and yields its rows in batches of about this many."""
    words: Mapping[str, pl.Series] = field(default_factory=dict)
    """The distinct text of columns that hold indices into it."""

    @classmethod
    def of(cls, plan: pl.LazyFrame, coded: Iterable[str] = ()) -> Self:
        """Return the rows of a plan of polars, in which the ``coded`` columns are an Enum and released as text."""
        schema = plan.collect_schema()
        return cls(
            schema,
            lambda rows: plan.collect_batches(chunk_size=rows, maintain_order=False, lazy=True, engine="streaming"),
            {name: dtype.categories for name in coded if isinstance(dtype := schema[name], pl.Enum)},
        )

    @property
    def released(self) -> pl.Schema:
        """The types columns are released with."""
        return pl.Schema({name: pl.String() if name in self.words else dtype for name, dtype in self.schema.items()})

    @property
    def rows_at_once(self) -> int:
        """About how many rows of a batch can be held in memory several times."""
        return max(_BATCH_CELLS // max(len(self.schema), 1), _BATCH_ROWS)

    def numbered(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return rows with numbers in place of categories, which would be listed in every piece of a file."""
        categories = [exactly(name).to_physical() for name, dtype in self.schema.items() if is_category(dtype)]
        return rows.with_columns(categories) if categories else rows

    def as_released(self, column: pl.Series) -> pl.Series:
        """Return the numbers of a column in the form that is hashed."""
        words, dtype = self.words.get(column.name), self.schema[column.name]
        if words is not None:
            return words.gather(column.to_physical()).alias(column.name)  # several times as fast as a cast
        return column.cat.to(dtype) if is_category(dtype) and column.dtype != dtype else column


def order_of_rows(frame: pl.LazyFrame, shuffle: Shuffle, columns: list[str]) -> pl.LazyFrame:
    """Return rows in the order they were written in, by the values of the ``columns`` that were written.

    Of equal rows any may have become any.
    """
    mark, chosen = _mark(frame.collect_schema()), frame.collect_schema()
    marked = frame.with_columns(_hashed(pl.Schema({name: chosen[name] for name in columns}), shuffle).alias(mark))
    order = _mixed(mark, shuffle.key) if shuffle.fits_in_memory(len(columns)) else pl.col(mark)
    return marked.sort(order).drop(mark)


@contextmanager
def shuffled(rows: pl.LazyFrame | Stream, shuffle: Shuffle, folder: Path) -> Iterator[pl.LazyFrame | EqualRows]:
    """Give out the rows of a plan in random order; ``folder`` is made for hidden files and removed."""
    stream = rows if isinstance(rows, Stream) else Stream.of(rows, shuffle.coded)
    if shuffle.fits_in_memory(len(stream.schema)):
        held = pl.concat([pl.DataFrame(schema=stream.schema), *stream.batches(stream.rows_at_once)])
        ordered = order_of_rows(held.lazy(), shuffle, stream.schema.names()).collect()
        yield pl.DataFrame(list(map(stream.as_released, ordered))).lazy()
    else:
        found = count_equal(stream.batches(stream.rows_at_once), stream.schema)
        if isinstance(found, EqualRows):
            yield _in_order(found, stream, shuffle)
            return
        try:
            yield _scattered(found, stream, shuffle, folder)
        finally:
            remove(folder)


def _mark(schema: pl.Schema) -> str:
    return unused("discreet_order", schema)


def _hashed(schema: pl.Schema, shuffle: Shuffle) -> pl.Expr:
    """Return the keyed hash of the values of a row; up to collisions, only equal rows have the same."""
    values = []
    for column, dtype in schema.items():
        if dtype == pl.Object:  # hashed by where it is in memory
            continue
        if is_category(dtype):
            coded = column in shuffle.coded  # by the order of the text; others by the order they came in
            values.append(exactly(column).to_physical() if coded else exactly(column).cast(pl.String))
        else:
            values.append(exactly(column))
        if dtype.is_float():
            values.append(1 / exactly(column))  # 0.0 and -0.0 have the same hash
    if not values:
        return pl.lit(0, dtype=pl.UInt64)
    return pl.struct(value.alias(f"c{number}") for number, value in enumerate(values)).hash(shuffle.key)


def _mixed(mark: str, key: int) -> pl.Expr:
    """Return a hash of each row and its number among its equals, so that equal rows are not adjacent."""
    return pl.struct(pl.col(mark), pl.int_range(pl.len()).over(mark).alias("number")).hash(key)


def _in_order(rows: EqualRows, stream: Stream, shuffle: Shuffle) -> EqualRows:
    """Return distinct rows in the order of their hash, as they are released."""
    marks = rows.distinct.lazy().select(_hashed(stream.schema, shuffle)).collect().to_series()
    order = np.argsort(marks.to_numpy())
    return EqualRows(pl.DataFrame(list(map(stream.as_released, rows.distinct[order]))), rows.times[order])


def _scattered(batches: Iterable[pl.DataFrame], stream: Stream, shuffle: Shuffle, folder: Path) -> pl.LazyFrame:
    """Scatter rows, and return a plan that hands them on bucket by bucket."""
    mark, released = _mark(stream.schema), stream.released
    bits = shuffle.bits(len(released))
    buckets = Buckets(folder, mark, bits, 64 - bits)
    hashed = _hashed(stream.schema, shuffle).alias(mark)
    buckets.scatter(stream.numbered(batch.with_columns(hashed)) for batch in batches)

    def in_order(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = released.names() if with_columns is None else with_columns
        for numbers in buckets.in_order() if n_rows is None else _first(buckets.in_order(), n_rows):
            rows = pl.DataFrame([stream.as_released(numbers[name]) for name in wanted])
            yield rows if predicate is None else rows.filter(predicate)

    return register_io_source(in_order, schema=released)


def _first(pieces: Iterable[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """Yield the first ``rows`` rows."""
    for piece in pieces:
        yield piece.head(rows)
        rows -= piece.height
        if rows <= 0:
            return


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
