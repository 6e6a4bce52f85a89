"""Local recoding with polars: which group each row goes to, and what it shows, by look-ups in place of joins.

Everything but the place of a row among its like is told piece by piece, so that a table streams through. The columns
that tell tuples apart become one whole number, and tuples are found by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.engines._names import unused
from discreet.engines._recoding import Shares
from discreet.engines._tuples import Numbering, places_among

__all__ = ["share_out"]

Ints = NDArray[np.int64]


def share_out(frame: pl.LazyFrame, schema: pl.Schema, shares: Shares, code: Mapping[str, pl.Expr]) -> pl.LazyFrame:
    """Give every row the values its group shows; rows of suppressed groups are left out.

    ``code`` has the number of a row's value in each column that tells tuples apart. A row of no known tuple, which
    only a table has that changed meanwhile, is left out too: the audit will miss it.
    """
    mine, shared, place = (unused(name, schema) for name in ("tuple", "shared", "place"))
    frame = frame.with_columns(_tuple_of(shares, code).alias(mine))
    deal = _Deal.of(shares)
    if shares.dealt.is_empty():
        group = _look_up(pl.col(mine), deal.group)
    else:
        frame = frame.with_columns(_look_up(pl.col(mine), deal.shared).alias(shared))
        frame = frame.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over(shared).alias(place))
        group = pl.struct(mine, shared, place).map_batches(deal.groups_of, return_dtype=pl.Int32, is_elementwise=True)
    frame = frame.with_columns(group.alias(mine)).filter(pl.col(mine) >= 0)
    frame = frame.with_columns(_shown(pl.col(mine), values).alias(column) for column, values in shares.shown.items())
    return frame.drop([mine] if shares.dealt.is_empty() else [mine, shared, place])


class _Deal(NamedTuple):
    """Where the rows of each tuple go; the last is for rows of no known tuple."""

    group: NDArray[np.int32]
    """The group of most rows of each tuple."""
    shared: NDArray[np.int32]
    """The number of each tuple among those whose rows go to several groups, -1 for others."""
    first: Ints
    """(shared tuples + 1,) where the groups of the other rows of each begin in ``others``."""
    others: NDArray[np.int32]

    @classmethod
    def of(cls, shares: Shares) -> _Deal:
        dealt = shares.dealt.sort("tuple", "place")
        tuples, first = np.unique(dealt["tuple"].to_numpy(), return_index=True)
        shared = np.full(len(shares.group) + 1, -1, dtype=np.int32)
        shared[tuples] = np.arange(tuples.size)
        return cls(
            np.append(shares.group.to_numpy(), -1).astype(np.int32),
            shared,
            np.append(first, len(dealt)).astype(np.int64),
            dealt["group"].to_numpy().astype(np.int32),
        )

    def groups_of(self, rows: pl.Series) -> pl.Series:
        """Return the group of each row, given its tuple, the number of that and its place in the order of the table."""
        mine, shared, place = (column.to_numpy() for column in rows.struct.unnest())
        group = self.group[mine]
        some = np.flatnonzero(shared >= 0)
        at = self.first[shared[some]] + place[some]
        other = at < self.first[shared[some] + 1]
        group[some[other]] = self.others[at[other]]
        return pl.Series(group)


def _tuple_of(shares: Shares, code: Mapping[str, pl.Expr]) -> pl.Expr:
    """Return the tuple of a row, -1 if there is none such."""
    sizes = [
        int(max(codes.to_numpy().max(initial=0), shares.codes[column].released.to_numpy().max(initial=0))) + 1
        for column, codes in shares.tuples.items()
    ]
    numbering = Numbering(len(shares.group), zip((c.to_numpy() for c in shares.tuples.values()), sizes, strict=True))
    order = np.argsort(numbering.known)
    known, answer = numbering.known[order], np.append(order, -1)

    def look_up(rows: pl.Series) -> pl.Series:
        numbers = numbering.of(len(rows), (codes.to_numpy() for codes in rows.struct.unnest()))
        return pl.Series(answer[places_among(known, numbers)])

    return _piecewise(pl.struct([code[column].alias(column) for column in shares.tuples]), look_up, pl.Int64())


def _look_up(place: pl.Expr, values: NDArray[np.int32]) -> pl.Expr:
    return _piecewise(place, lambda some: pl.Series(values[some.to_numpy()]), pl.Int32())


def _shown(group: pl.Expr, values: pl.Series) -> pl.Expr:
    return _piecewise(group, values.gather, values.dtype)


def _piecewise(of: pl.Expr, answer: Callable[[pl.Series], pl.Series], kind: pl.DataType) -> pl.Expr:
    return of.map_batches(answer, return_dtype=kind, is_elementwise=True)
