"""The best cut of points in a given order into groups of neighbours, by dynamic programming."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.covers import ATTRIBUTE_COVER, SET, Points, Rates, rate_of
from discreet.solve.kernels.jit import kernel
from discreet.solve.kernels.requirements import Requirement, holds, tally

__all__ = ["CutTable", "cut_classes", "cut_order"]

_LONGEST = 64
"""A run grows to at most so many times the fewest rows, unless it satisfies the requirement only later."""


class CutTable(NamedTuple):
    """What :func:`cut_order` finds, and the scratch space it needs."""

    best: Floats
    """``best[end]``: what the first ``end`` points cost; infinite if they cannot be cut."""
    begin: Ints
    """``begin[end]``: where the last run of these points begins; -1 if they cannot be cut."""
    histogram: Ints
    """Scratch space, all 0."""


@kernel
def cut_order(
    codes: Ints, rates: Rates, requirement: Requirement, order: Ints, rows: Ints, table: CutTable
) -> None:  # table OUT
    """Cut an order of points, each with ``rows`` that count, into runs that satisfy the requirement, at least cost.

    best[end] = min over begin of best[begin] + rows of the run * its rate. A run grows backwards from its end, and
    stops once it could be cut in two, since the covers of the parts never cost more than that of the whole. If only the
    number of rows matters, that is exact; with other models the part in front has as many rows as satisfied the
    requirement behind, which need not mean that it does. O(points x run length x m).
    """
    n, m, k = order.size, rates.attribute.size, requirement.smallest
    best, begin, histogram = table.best, table.begin, table.histogram
    models = requirement.model.size > 0
    best[: n + 1], begin[: n + 1] = np.inf, -1
    best[0] = 0.0
    cover, rate = np.empty(m, ATTRIBUTE_COVER), np.empty(m)
    for end in range(1, n + 1):
        for i in range(m):
            cover[i].low = cover[i].high = codes[order[end - 1], i]
        rate[:] = 0.0
        # ``enough`` rows satisfy the requirement, and ``spare`` are in the run beyond them.
        total, size, spare, enough, first = 0.0, 0, 0, 0, end
        while first > 0 and (enough == 0 or spare < enough) and size < _LONGEST * k + enough:
            first -= 1
            j = order[first]
            for i in range(m):
                code, own = codes[j, i], cover[i]
                if rates.attribute[i].kind == SET:
                    if own.low | code == own.low:
                        continue
                    own.low |= code
                elif code < own.low:
                    own.low = code
                elif code > own.high:
                    own.high = code
                else:
                    continue
                now = rate_of(rates, i, own.low, own.high)
                total += now - rate[i]
                rate[i] = now
            if enough > 0:
                spare += rows[first]
            size += rows[first]
            if models:
                tally(requirement, j, rows[first], histogram)
            if size < k or (enough > 0 and best[first] + size * total >= best[end]):
                continue
            if not models or holds(requirement, size, histogram):
                if enough == 0:
                    enough = size if models else k
                if best[first] + size * total < best[end]:
                    best[end] = best[first] + size * total
                    begin[end] = first
        if models:
            for p in range(first, end):
                tally(requirement, order[p], -rows[p], histogram)


@kernel
def cut_classes(points: Points, requirement: Requirement, order: Ints, starts: Ints, group: Ints) -> None:  # group OUT
    """Cut each class order[starts[c]:starts[c + 1]] into groups, numbered from 0 on.

    Points of classes that cannot be cut keep the group they have.
    """
    n, groups = order.size, 0
    table = CutTable(np.empty(n + 1), np.empty(n + 1, np.int64), np.zeros(requirement.cells, np.int64))
    for c in range(starts.size - 1):
        part = order[starts[c] : starts[c + 1]]
        rows = points.weights[part]
        if rows.sum() < requirement.smallest:
            continue
        cut_order(points.codes, points.rates, requirement, part, rows, table)
        end = part.size
        while end > 0 and table.begin[end] < 0:
            end -= 1
        while end > 0:
            for p in range(table.begin[end], end):
                group[part[p]] = groups
            groups += 1
            end = table.begin[end]
