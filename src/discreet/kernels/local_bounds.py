"""The nearest neighbours of points under the rates of covers, by a tree of boxes around them.

Each attribute has few cells, in an order in which covers are runs: ``rate`` tells what covers two cells at least, and
it never falls when the cells go apart. So of all cells of a box the one nearest to a point is also the cheapest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel

__all__ = ["BUCKET", "Boxes", "Cells", "build_boxes", "nearest_rates"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

BUCKET = 16
"""Boxes with so many points are not split."""


class Cells(NamedTuple):
    """Weighted points, and what covers two of their values at least."""

    codes: NDArray[np.int16]
    """(points, m) the cell of each point."""
    weights: Ints
    """(points,) rows of each point."""
    cells: Ints
    """(m,) how many cells each attribute has."""
    start: Ints
    """(m,) where its cells x cells rates begin in ``rate``; they are symmetric."""
    rate: Floats


class Boxes(NamedTuple):
    """A tree of boxes. Box 0 is around all points, the children of box b are ``child[b]`` and the box after it."""

    order: Ints
    """(points,) in which each box holds the points from ``first`` to before ``last``."""
    first: Ints
    last: Ints
    parent: Ints
    child: Ints
    """-1 for a box that is not split."""
    low: NDArray[np.int16]
    """(boxes, m)"""
    high: NDArray[np.int16]


@kernel
def _select(values: NDArray[np.int16], middle: int) -> int:
    """Return what would stand in the middle if the values were sorted; shuffles them."""
    low, high = 0, values.size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return values[middle]
    return values[middle]


@kernel
def _split(members: Ints, codes: NDArray[np.int16]) -> int:  # members OUT
    """Bring the smaller codes to the front, equal ones together, as near half as can be; returns how many."""
    middle = _select(codes[members], members.size // 2)
    below, above = 0, 0
    for j in members:
        below += codes[j] < middle
        above += codes[j] > middle
    if below == 0 or (above > 0 and members.size - above - below < abs(members.size - 2 * below)):
        middle += 1
    i, j = 0, members.size - 1
    while i <= j:
        if codes[members[i]] < middle:
            i += 1
        else:
            members[i], members[j] = members[j], members[i]
            j -= 1
    return i


@kernel
def build_boxes(cells: Cells) -> Boxes:
    """Split boxes where they are widest until they hold few points."""
    codes = cells.codes
    n, m = codes.shape
    room = 2 * n + 1
    order = np.arange(n)
    first, last = np.zeros(room, np.int64), np.zeros(room, np.int64)
    parent, child = np.full(room, -1), np.full(room, -1)
    low, high = np.zeros((64, m), np.int16), np.zeros((64, m), np.int16)
    last[0] = n
    boxes, b = 1, 0
    while b < boxes:
        if boxes + 2 > low.shape[0]:
            low = np.concatenate((low, np.zeros_like(low)))
            high = np.concatenate((high, np.zeros_like(high)))
        members = order[first[b] : last[b]]
        low[b], high[b] = codes[members[0]], codes[members[0]]
        for j in members:
            for i in range(m):
                low[b, i], high[b, i] = min(low[b, i], codes[j, i]), max(high[b, i], codes[j, i])
        widest, most = -1, 0.0
        for i in range(m):
            rate = cells.rate[cells.start[i] + low[b, i] * cells.cells[i] + high[b, i]]
            if rate > most:
                widest, most = i, rate
        if widest >= 0 and members.size > BUCKET:
            cut = first[b] + _split(members, codes[:, widest])
            child[b] = boxes
            first[boxes], last[boxes] = first[b], cut
            first[boxes + 1], last[boxes + 1] = cut, last[b]
            parent[boxes : boxes + 2] = b
            boxes += 2
        b += 1
    return Boxes(order, first[:boxes], last[:boxes], parent[:boxes], child[:boxes], low[:boxes], high[:boxes])


@kernel
def _push(bound: Floats, box: Ints, size: int, new: float, b: int) -> None:
    while size > 0 and bound[(size - 1) // 2] > new:
        bound[size], box[size] = bound[(size - 1) // 2], box[(size - 1) // 2]
        size = (size - 1) // 2
    bound[size], box[size] = new, b


@kernel
def _pop(bound: Floats, box: Ints, size: int) -> None:
    """Take the least from a heap of ``size``; what was last finds its place."""
    new, b, i = bound[size - 1], box[size - 1], 0
    while 2 * i + 1 < size - 1:
        c = 2 * i + 1
        if c + 1 < size - 1 and bound[c + 1] < bound[c]:
            c += 1
        if bound[c] >= new:
            break
        bound[i], box[i] = bound[c], box[c]
        i = c
    bound[i], box[i] = new, b


@kernel
def _least(cells: Cells, boxes: Boxes, at: Ints, row: Ints, b: int) -> float:
    """What a point costs at least together with any point of a box: ``row`` is where the rates of its cells begin."""
    total = 0.0
    for i in range(at.size):
        if at[i] < boxes.low[b, i]:
            total += cells.rate[row[i] + boxes.low[b, i]]
        elif at[i] > boxes.high[b, i]:
            total += cells.rate[row[i] + boxes.high[b, i]]
    return total


@kernel
def nearest_rates(cells: Cells, boxes: Boxes, k: int, visits: int, begin: int, end: int, rates: Floats) -> None:
    """Write what each point costs at least together with the k-th nearest row, itself counted.

    Points must be in the order of the boxes. This is for those in the boxes from ``begin`` to before ``end`` that are
    not split; infinite where there are not k rows. After so many ``visits`` to boxes a search ends with what it knows:
    no box it has not looked into costs less than the next.
    """
    m = cells.cells.size
    near, rows = np.zeros(k + 1), np.zeros(k + 1, np.int64)
    bound, box = np.zeros(visits + 64), np.zeros(visits + 64, np.int64)
    at, row = np.zeros(m, np.int64), np.zeros(m, np.int64)
    for own in range(begin, end):
        for j in range(boxes.first[own], boxes.last[own] if boxes.child[own] < 0 else 0):
            for i in range(m):
                at[i] = cells.codes[j, i]
                row[i] = cells.start[i] + at[i] * cells.cells[i]
            found, total, most = 0, 0, np.inf
            bound[0], box[0] = 0.0, own
            size, left, above = 1, visits, own
            while above > 0:  # all that is beside the way from the top
                other = 2 * boxes.child[boxes.parent[above]] + 1 - above
                least = _least(cells, boxes, at, row, other)
                if size == bound.size:
                    bound, box = np.append(bound, np.zeros(size)), np.append(box, np.zeros(size, np.int64))
                _push(bound, box, size, least, other)
                size += 1
                above = boxes.parent[above]
            while size > 0 and bound[0] < most and left > 0:
                b = box[0]
                _pop(bound, box, size)
                size -= 1
                left -= 1
                if boxes.child[b] >= 0:
                    for c in range(boxes.child[b], boxes.child[b] + 2):
                        least = _least(cells, boxes, at, row, c)
                        if least < most:
                            if size == bound.size:
                                bound, box = np.append(bound, np.zeros(size)), np.append(box, np.zeros(size, np.int64))
                            _push(bound, box, size, least, c)
                            size += 1
                    continue
                for other in range(boxes.first[b], boxes.last[b]):
                    new = 0.0
                    for i in range(m):
                        new += cells.rate[row[i] + cells.codes[other, i]]
                    if new >= most:
                        continue
                    total += cells.weights[other]
                    while found > 0 and near[found - 1] >= new and total - rows[found - 1] >= k:
                        found -= 1
                        total -= rows[found]
                    place = found
                    while place > 0 and near[place - 1] > new:
                        near[place], rows[place] = near[place - 1], rows[place - 1]
                        place -= 1
                    near[place], rows[place] = new, cells.weights[other]
                    found += 1
                    if total >= k:
                        most = near[found - 1]
            rates[j] = most if size == 0 else min(most, bound[0])
