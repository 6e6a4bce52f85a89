"""Covers of groups that change, and what a row would cost after a member has joined or left.

For every group and attribute the *second* least and the second greatest leaf are kept beside the extremes (for sets the
values that occur at least twice). So the cover without any one member is known in O(1), without a look at the others.
That is what makes it cheap to try millions of moves.
"""

from __future__ import annotations

from typing import NamedTuple

from discreet.solve.kernels.arrays import Ints
from discreet.solve.kernels.covers import SET, Rates, rate_of
from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.kernels.records import Records

__all__ = [
    "Covers",
    "GroupCover",
    "cover_nothing",
    "cover_rate",
    "joined",
    "left",
    "price_of_exchange",
    "swapped",
    "swapped_at_best",
    "widen",
]


class GroupCover:
    """The cover of a group in one attribute, also without one of its members."""

    low: int  # the least leaf; for sets the mask of all values
    high: int  # the greatest leaf; not used for sets
    second_low: int  # the least leaf without a member at ``low``; for sets the mask of values that occur twice
    second_high: int  # the greatest leaf without a member at ``high``; not used for sets


_NO_LOW, _NO_HIGH = 1 << 60, -1
"""The extremes of nothing: any leaf is below the one and above the other."""


class Covers(NamedTuple):
    """The points of a region, what covers cost, and the covers of the groups."""

    codes: Ints
    """(points, m)"""
    rates: Rates
    cover: Records[GroupCover]
    """(groups, m)"""


@inner_kernel
def cover_nothing(covers: Covers, b: int, i: int) -> None:  # covers OUT
    """Empty the cover of group b in attribute i."""
    is_set, cover = covers.rates.attribute[i].kind == SET, covers.cover[b, i]
    cover.low = cover.second_low = 0 if is_set else _NO_LOW
    cover.high = cover.second_high = 0 if is_set else _NO_HIGH


@inner_kernel
def widen(covers: Covers, b: int, i: int, code: int) -> None:  # covers OUT
    """Cover one more member of group b in attribute i."""
    cover = covers.cover[b, i]
    if covers.rates.attribute[i].kind == SET:
        cover.second_low |= cover.low & code
        cover.low |= code
        return
    if code <= cover.low:
        cover.second_low = cover.low
        cover.low = code
    elif code < cover.second_low:
        cover.second_low = code
    if code >= cover.high:
        cover.second_high = cover.high
        cover.high = code
    elif code > cover.second_high:
        cover.second_high = code


@inner_kernel
def cover_rate(covers: Covers, b: int) -> float:
    """Return the cost of a row of group b."""
    total = 0.0
    for i in range(covers.rates.attribute.size):
        cover = covers.cover[b, i]
        total += rate_of(covers.rates, i, cover.low, cover.high)
    return total


@inner_kernel
def _with(is_set: bool, low: int, high: int, code: int) -> tuple[int, int]:
    """A cover of one attribute after a value has joined."""
    if is_set:
        return low | code, high
    return min(low, code), max(high, code)


@inner_kernel
def _without(covers: Covers, is_set: bool, b: int, i: int, code: int) -> tuple[int, int]:
    """The cover of group b in attribute i after a member with that value has left."""
    cover = covers.cover[b, i]
    low, high, second_low, second_high = cover.low, cover.high, cover.second_low, cover.second_high
    if is_set:
        return second_low | (low & ~code), high
    return (second_low if code == low else low), (second_high if code == high else high)


@inner_kernel
def joined(covers: Covers, b: int, j: int) -> float:
    """Return the cost of a row of group b after point j has joined."""
    total = 0.0
    for i in range(covers.rates.attribute.size):
        cover = covers.cover[b, i]
        low, high = _with(covers.rates.attribute[i].kind == SET, cover.low, cover.high, covers.codes[j, i])
        total += rate_of(covers.rates, i, low, high)
    return total


@inner_kernel
def left(covers: Covers, b: int, j: int) -> float:
    """Return the cost of a row of group b after its member j has left; there must be others."""
    total = 0.0
    for i in range(covers.rates.attribute.size):
        low, high = _without(covers, covers.rates.attribute[i].kind == SET, b, i, covers.codes[j, i])
        total += rate_of(covers.rates, i, low, high)
    return total


@inner_kernel
def swapped(covers: Covers, b: int, j: int, q: int) -> float:
    """Return the cost of a row of group b after its member j has left and point q has joined."""
    total = 0.0
    for i in range(covers.rates.attribute.size):
        is_set = covers.rates.attribute[i].kind == SET
        low, high = _without(covers, is_set, b, i, covers.codes[j, i])
        low, high = _with(is_set, low, high, covers.codes[q, i])
        total += rate_of(covers.rates, i, low, high)
    return total


@inner_kernel
def swapped_at_best(covers: Covers, b: int, j: int) -> float:
    """A lower bound on what a row of group b costs after some member has left and point j has joined.

    Whoever leaves, the second extremes stay covered: no cover that is left is narrower than they are.
    """
    total = 0.0
    for i in range(covers.rates.attribute.size):
        cover = covers.cover[b, i]
        is_set = covers.rates.attribute[i].kind == SET
        low, high = _with(is_set, cover.second_low, cover.second_high, covers.codes[j, i])
        total += rate_of(covers.rates, i, low, high)
    return total


@inner_kernel
def price_of_exchange(covers: Covers, a: int, b: int, j: int, q: int, rows_a: int, rows_b: int, limit: float) -> float:
    """What groups a and b cost together after point j went from a to b, and point q from b to a; q = -1 is nobody.

    ``rows_a`` and ``rows_b`` are the rows they have then. Rates are never negative, so adding up stops as soon as the
    limit is reached: most moves that are tried are refused after an attribute or two.
    """
    total = 0.0
    for i in range(covers.rates.attribute.size):
        code, is_set = covers.codes[j, i], covers.rates.attribute[i].kind == SET
        low, high = _without(covers, is_set, a, i, code)
        if q >= 0:
            low, high = _with(is_set, low, high, covers.codes[q, i])
        total += rows_a * rate_of(covers.rates, i, low, high)
        if q >= 0:
            low, high = _without(covers, is_set, b, i, covers.codes[q, i])
        else:
            low, high = covers.cover[b, i].low, covers.cover[b, i].high
        low, high = _with(is_set, low, high, code)
        total += rows_b * rate_of(covers.rates, i, low, high)
        if total >= limit:
            break
    return total
