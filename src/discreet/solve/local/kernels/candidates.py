"""Candidates of each point: nearby points, whose groups local search tries.

Points that are close in one of several sort orders are compared, and the ones cheapest to be grouped with are kept. So
it takes O(orders x points x window x m), where all pairs would take O(points squared).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.arrays import Floats, Ints, Nodes
from discreet.solve.kernels.covers import Rates, rate_of
from discreet.solve.kernels.jit import inner_kernel, kernel

__all__ = ["CandidateSearch", "PairRates", "find_candidates"]


_WORTH = 0.01
"""A round that changes less than this share of all candidates is the last."""
_OLD, _FRESH, _NEXT = 0, 1, 2
"""Whether a candidate was found before the last round, in the last round, or in this one."""


class PairRates(NamedTuple):
    """What two points cost together, laid out for quick comparison.

    Attributes come in order of cost, the dearest first, so that a pair that is too dear is refused early; those with
    very many leaves come last.
    """

    codes: NDArray[np.int16]
    """(points, t) the leaf in each attribute of few leaves, or the number of its bit."""
    cells: Ints
    """(t,) how many leaves it has, and where its leaves x leaves rates begin in ``rate``; they are symmetric."""
    start: Ints
    rate: NDArray[np.float32]
    leaves: Nodes
    """(points, others) the leaf in each of the ``others``, whose cost ``rates`` know."""
    others: Ints
    rates: Rates


class CandidateSearch(NamedTuple):
    """How much work goes into the search for candidates."""

    window: int
    """Positions in each order in which to look."""
    count: int
    """Candidates of each point."""
    rounds: int
    """Rounds in which the candidates of candidates are compared, at most."""


class _Found(NamedTuple):
    """The candidates of all points, each (points, candidates), the cheapest first; -1 fills up."""

    near: Ints
    rate: Floats
    """What the point costs together with the candidate."""
    age: NDArray[np.int8]


@inner_kernel
def _keep(found: _Found, j: int, other: int, rate: float) -> bool:  # found OUT
    """Insert a point into the sorted candidates of point j, unless it is there; return whether it was inserted."""
    near, rates, age = found.near, found.rate, found.age
    count = near.shape[1]
    for c in range(count):
        if near[j, c] == other:
            return False
    c = count - 1
    while c > 0 and rates[j, c - 1] > rate:
        rates[j, c], near[j, c], age[j, c] = rates[j, c - 1], near[j, c - 1], age[j, c - 1]
        c -= 1
    rates[j, c], near[j, c], age[j, c] = rate, other, _NEXT
    return True


@inner_kernel
def _set_out(pairs: PairRates, j: int, row: Ints) -> None:  # row OUT
    """Find where the rates of a point together with others begin."""
    for t in range(row.size):
        row[t] = pairs.start[t] + pairs.cells[t] * np.int64(pairs.codes[j, t])


@inner_kernel
def _rate_together(pairs: PairRates, row: Ints, j: int, q: int, limit: float) -> float:
    """Return the cost of a row of a group of two points, summed up to the limit; ``row`` is set out for point j."""
    total = 0.0
    for t in range(row.size):
        total += pairs.rate[row[t] + pairs.codes[q, t]]
        if total >= limit:
            return total
    for x in range(pairs.others.size):
        low, high = pairs.leaves[j, x], pairs.leaves[q, x]
        if low != high:
            total += rate_of(pairs.rates, pairs.others[x], min(low, high), max(low, high))
            if total >= limit:
                break
    return total


@kernel
def find_candidates(pairs: PairRates, orders: Ints, search: CandidateSearch) -> Ints:
    """For each point the cheapest others among those near it in one of the orders, and their candidates' candidates.

    The cheapest come first; -1 fills up.
    """
    n, count = pairs.codes.shape[0], search.count
    row = np.empty(pairs.cells.size, np.int64)
    found = _Found(np.full((n, count), -1, np.int64), np.full((n, count), np.inf), np.zeros((n, count), np.int8))
    near, rate = found.near, found.rate
    for o in range(orders.shape[0]):
        for p in range(n):
            j = orders[o, p]
            _set_out(pairs, j, row)
            for q in range(p + 1, min(n, p + search.window + 1)):
                other = orders[o, q]
                limit = max(rate[j, count - 1], rate[other, count - 1])
                new = _rate_together(pairs, row, j, other, limit)
                if new < rate[j, count - 1]:
                    _keep(found, j, other, new)
                if new < rate[other, count - 1]:
                    _keep(found, other, j, new)
    stamp, own, own_age = np.full(n, -1, np.int64), np.empty(count, np.int64), np.empty(count, np.int8)
    for _ in range(search.rounds):
        for j in range(n):
            for c in range(count):
                found.age[j, c] = _FRESH if found.age[j, c] == _NEXT else _OLD
        kept = 0
        for j in range(n):
            kept += _join(pairs, found, j, row, stamp, own, own_age)
        if kept < _WORTH * n * count:
            break
    return near


@inner_kernel
def _join(
    pairs: PairRates, found: _Found, j: int, row: Ints, stamp: Ints, own: Ints, own_age: NDArray[np.int8]
) -> int:  # found, stamp, own, own_age OUT
    """Compare a point with the candidates of its candidates; return how many were better than what was known.

    Pairs unchanged since they were last compared are left out.
    """
    near, rate, age, kept = found.near, found.rate, found.age, 0
    count = own.size
    for c in range(count):
        own[c], own_age[c] = near[j, c], age[j, c]
        if own[c] >= 0:
            stamp[own[c]] = j
    stamp[j] = j
    _set_out(pairs, j, row)
    for c in range(count):
        between = own[c]
        if between < 0:
            break
        for d in range(count):
            other = near[between, d]
            if other < 0:
                break
            if stamp[other] == j or (own_age[c] != _FRESH and age[between, d] != _FRESH):
                continue
            stamp[other] = j
            limit = max(rate[j, count - 1], rate[other, count - 1])
            new = _rate_together(pairs, row, j, other, limit)
            if new < rate[j, count - 1]:
                kept += _keep(found, j, other, new)
            if new < rate[other, count - 1]:
                kept += _keep(found, other, j, new)
    return kept
