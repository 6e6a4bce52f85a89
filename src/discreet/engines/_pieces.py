"""A group-by that holds one piece of the rows at a time, and what the pieces before it added up to.

The streaming engine of polars keeps the keys of all rows until the last one was seen, unless they are few. Here it
never sees more than a piece, so that memory is bounded by the piece and by the different keys, however many rows there
are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import polars as pl

from discreet._memory import check_room, within_memory
from discreet.engines._names import exactly

__all__ = ["Engine", "Pieces", "Total", "add_up", "in_batches", "in_slices", "totals_of", "whole"]

Engine = Literal["streaming", "in-memory"]
Pieces = Callable[[pl.LazyFrame], Iterable[pl.LazyFrame]]
"""How the plan for a table is cut into plans for pieces of it."""

PIECE_ROWS = 1 << 24
"""The rows of a piece, where a plan can begin anywhere."""
PIECE_BYTES = 1 << 29
"""The bytes of a piece, where a plan has to be run from its start."""
_PIECE_PART = 8
"""A piece takes one in so many parts of the memory that is left, at most..."""
_LEAST_PIECE = 1 << 24
"""... but so many bytes."""
_ROW_BYTES = PIECE_BYTES // PIECE_ROWS
"""The bytes of a row, where they are not known yet."""
_MERGED = 2
"""Adding a piece to those before takes so many times what both take."""
_BATCH_ROWS = 1 << 18


class Total(NamedTuple):
    """Something that is added up for each key: of the rows of a piece, and then of what pieces added up to."""

    of_rows: pl.Expr
    of_pieces: pl.Expr


def totals_of(weights: Sequence[pl.Expr], names: Sequence[str]) -> list[Total]:
    """Return what weights add up to under some names: their sum, of how many rows, and the least and the greatest."""
    ways = (pl.Expr.sum, pl.Expr.sum, pl.Expr.min, pl.Expr.max)
    return [Total(rows.alias(name), way(pl.col(name))) for rows, name, way in zip(weights, names, ways, strict=True)]


def whole(plan: pl.LazyFrame) -> Iterator[pl.LazyFrame]:
    """Leave the plan as it is: its rows are in memory already."""
    yield plan


def in_slices(plan: pl.LazyFrame, rows: int) -> Iterator[pl.LazyFrame]:
    """Cut the plan for a table of so many rows into plans for pieces; for files that can be read from any row on."""
    at_once = min(PIECE_ROWS, _piece_bytes() // _ROW_BYTES)
    if rows <= at_once:
        yield plan
        return
    for start in range(0, rows, at_once):
        yield plan.slice(start, at_once)


def in_batches(plan: pl.LazyFrame) -> Iterator[pl.LazyFrame]:
    """Run a plan once, and give its rows out in pieces."""
    piece: list[pl.DataFrame] = []
    held, cut = 0, False
    for batch in plan.collect_batches(chunk_size=_BATCH_ROWS, maintain_order=False, lazy=True, engine="streaming"):
        piece.append(batch)
        held += int(batch.estimated_size())
        if held >= _piece_bytes():
            yield pl.concat(piece).lazy()
            piece, held, cut = [], 0, True
    if piece or not cut:
        yield pl.concat([pl.DataFrame(schema=plan.collect_schema()), *piece]).lazy()


def _piece_bytes() -> int:
    """Return how large a piece may be by now."""
    return min(PIECE_BYTES, max(within_memory(PIECE_BYTES, _PIECE_PART), _LEAST_PIECE))


def add_up(pieces: Iterable[pl.LazyFrame], by: Sequence[str], totals: Sequence[Total], engine: Engine) -> pl.DataFrame:
    """Group pieces of a table by some columns, and return what is added up for each key."""
    keys = list(map(exactly, by))
    total: pl.DataFrame | None = None
    for piece in pieces:
        found = piece.group_by(keys).agg(each.of_rows for each in totals).collect(engine=engine)
        if total is None:
            total = found
        else:
            check_room(_MERGED * int(total.estimated_size() + found.estimated_size()))
            both = pl.concat([total, found]).lazy()
            total = both.group_by(keys).agg(each.of_pieces for each in totals).collect(engine=engine)
    assert total is not None
    return total
