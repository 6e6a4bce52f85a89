"""The best cutting of points in a given order into groups of neighbours, by dynamic programming."""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import kernel
from discreet.kernels.covers import SET
from discreet.kernels.local_rates import Floats, Ints, Nodes, rate_at
from discreet.kernels.requirements import Requirement, holds, tally

__all__ = ["cut_classes"]

_FAR = 64
"""A run grows to at most so many times the fewest rows, unless it keeps no requirement before."""


@kernel
def _cut(
    codes: Ints, weights: Ints, shape: Ints, rate: Floats, node: Nodes, requirement: Requirement, order: Ints, histogram: Ints
) -> Ints:
    """Where the run of each end begins in the cheapest cutting of an order up to that end; -1 where there is none.

    A run that could be cut in two need not be looked at, for cutting it costs nothing.
    """
    n, m, k = order.size, shape.shape[0], requirement.smallest
    models = requirement.kind.size > 0
    best, begin = np.full(n + 1, np.inf), np.full(n + 1, -1)
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
                spare += weights[j]
            size += weights[j]
            if models:
                tally(requirement, j, weights[j], histogram)
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
                tally(requirement, order[p], -weights[order[p]], histogram)
    return begin


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
    for c in range(starts.size - 1):
        part = order[starts[c] : starts[c + 1]]
        size = 0
        for p in range(part.size):
            size += weights[part[p]]
        if size < requirement.smallest:
            continue
        begin = _cut(codes, weights, shape, rate, node, requirement, part, histogram)
        end = part.size
        while end > 0 and begin[end] < 0:
            end -= 1
        while end > 0:
            for p in range(begin[end], end):
                group[part[p]] = groups
            groups += 1
            end = begin[end]
    return groups
