"""The best cutting of points in a given order into groups of neighbours, by dynamic programming."""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import kernel
from discreet.kernels.covers import SET
from discreet.kernels.local_rates import Floats, Ints, Nodes, rate_at
from discreet.kernels.requirements import Requirement, holds, tally

__all__ = ["cut_classes", "cut_order"]

_FAR = 64
"""A run grows to at most so many times the fewest rows, unless it keeps no requirement before."""


@kernel
def cut_order(
    codes: Ints,
    shape: Ints,
    rate: Floats,
    node: Nodes,
    requirement: Requirement,
    order: Ints,
    rows: Ints,
    histogram: Ints,
    best: Floats,  # OUT
    begin: Ints,  # OUT
) -> None:
    """Cut an order of points, of which ``rows`` count, as cheaply as possible, up to every place.

    ``best[end]`` is what the first ``end`` points cost, infinite if they cannot be cut so, and ``begin[end]`` where
    their last run begins. A run that could be cut in two need not be looked at, for cutting it costs nothing.
    """
    n, m, k = order.size, shape.shape[0], requirement.smallest
    models = requirement.kind.size > 0
    best[: n + 1], begin[: n + 1] = np.inf, -1
    best[0] = 0.0
    cover, rates = np.empty((m, 2), np.int64), np.empty(m)
    for end in range(1, n + 1):
        for i in range(m):
            cover[i, 0] = cover[i, 1] = codes[order[end - 1], i]
        rates[:] = 0.0
        each, size, spare, enough, first = 0.0, 0, 0, 0, end
        while first > 0 and (enough == 0 or spare < enough) and size < _FAR * k + enough:
            first -= 1
            j = order[first]
            for i in range(m):
                code = codes[j, i]
                if shape[i, 0] == SET:
                    if cover[i, 0] | code == cover[i, 0]:
                        continue
                    cover[i, 0] |= code
                elif code < cover[i, 0]:
                    cover[i, 0] = code
                elif code > cover[i, 1]:
                    cover[i, 1] = code
                else:
                    continue
                now = rate_at(shape, rate, node, i, cover[i, 0], cover[i, 1])
                each += now - rates[i]
                rates[i] = now
            if enough > 0:
                spare += rows[first]
            size += rows[first]
            if models:
                tally(requirement, j, rows[first], histogram)
            if size < k or (enough > 0 and best[first] + size * each >= best[end]):
                continue
            if not models or holds(requirement, size, histogram):
                if enough == 0:
                    enough = size if models else k
                if best[first] + size * each < best[end]:
                    best[end] = best[first] + size * each
                    begin[end] = first
        if models:
            for p in range(first, end):
                tally(requirement, order[p], -rows[p], histogram)


@kernel
def cut_classes(
    codes: Ints,
    weights: Ints,
    shape: Ints,
    rate: Floats,
    node: Nodes,
    requirement: Requirement,
    order: Ints,
    starts: Ints,
    group: Ints,  # OUT
    groups: int,
) -> int:
    """Cut each class order[starts[c]:starts[c + 1]] into groups, numbered from ``groups`` on; return the next number.

    Points of classes that cannot be cut so keep the group they have.
    """
    histogram = np.zeros(requirement.cells, np.int64)
    best, begin = np.empty(order.size + 1), np.empty(order.size + 1, np.int64)
    for c in range(starts.size - 1):
        part = order[starts[c] : starts[c + 1]]
        rows = weights[part]
        if rows.sum() < requirement.smallest:
            continue
        cut_order(codes, shape, rate, node, requirement, part, rows, histogram, best, begin)
        end = part.size
        while end > 0 and begin[end] < 0:
            end -= 1
        while end > 0:
            for p in range(begin[end], end):
                group[part[p]] = groups
            groups += 1
            end = begin[end]
    return groups
