"""The nearest neighbours of points under the rates of covers, by a tree of boxes around them.

Each attribute has few cells, in an order in which covers are runs: ``rate`` tells what covers two cells at least, and
it never falls when the cells go apart. So of all cells of a box the one nearest to a point is also the cheapest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import inner_kernel, kernel

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

    order: NDArray[np.int32]
    """(points,) in which each box holds the points from ``first`` to before ``last``."""
    codes: NDArray[np.int16]
    """(points, m) in that order."""
    first: Ints
    last: Ints
    child: Ints
    """-1 for a box that is not split."""
    split: NDArray[np.int16]
    """The attribute a box is split by."""
    edge: NDArray[np.int16]
    """In that attribute, the greatest cell of a first child, and the least of a second."""
    low: NDArray[np.int16]
    """(boxes, m)"""
    high: NDArray[np.int16]
    depth: int
    """No box is under more boxes than this."""


class _Moved(NamedTuple):
    """Points that are moved about, and room for some of them."""

    order: NDArray[np.int32]
    codes: NDArray[np.int16]
    spare_order: NDArray[np.int32]
    spare_codes: NDArray[np.int16]
    count: Ints


@inner_kernel
def _split(moved: _Moved, a: int, b: int, i: int, low: int, high: int) -> int:  # moved OUT
    """Bring the smaller codes to the front, equal ones together, as near half as can be; returns where they end."""
    order, codes, count = moved.order, moved.codes, moved.count
    for c in range(high - low + 1):
        count[c] = 0
    for p in range(a, b):
        count[codes[p, i] - low] += 1
    cut, below = low, count[0]
    while cut + 1 < high and abs(2 * (below + count[cut + 1 - low]) - (b - a)) < abs(2 * below - (b - a)):
        cut += 1
        below += count[cut - low]
    front, rest = a, 0
    for p in range(a, b):
        if codes[p, i] <= cut:
            order[front] = order[p]
            for c in range(codes.shape[1]):
                codes[front, c] = codes[p, c]
            front += 1
        else:
            moved.spare_order[rest] = order[p]
            for c in range(codes.shape[1]):
                moved.spare_codes[rest, c] = codes[p, c]
            rest += 1
    for p in range(rest):
        order[front + p] = moved.spare_order[p]
        for c in range(codes.shape[1]):
            codes[front + p, c] = moved.spare_codes[p, c]
    return front


@kernel
def build_boxes(cells: Cells) -> Boxes:
    """Split boxes where they are wide until they hold few points.

    Of two attributes as wide, the one with fewer cells is split: from one part to the other is a longer way there.
    """
    n, m = cells.codes.shape
    moved = _Moved(
        np.arange(n).astype(np.int32), cells.codes.copy(), np.empty(n, np.int32), np.empty((n, m), np.int16),
        np.zeros(cells.cells.max() if m > 0 else 0, np.int64),
    )  # fmt: skip
    codes, room = moved.codes, 64
    first, last, child = np.zeros(room, np.int64), np.zeros(room, np.int64), np.full(room, -1)
    split, edge = np.zeros(room, np.int16), np.zeros(room, np.int16)
    low, high = np.zeros((room, m), np.int16), np.zeros((room, m), np.int16)
    last[0] = n
    boxes, depth, waiting = 1, 2, [(0, 2)]
    while len(waiting) > 0:
        b, level = waiting.pop()
        depth = max(depth, level)
        begin, end = first[b], last[b]
        for i in range(m):
            low[b, i] = high[b, i] = codes[begin, i]
        for p in range(begin, end):
            for i in range(m):
                low[b, i], high[b, i] = min(low[b, i], codes[p, i]), max(high[b, i], codes[p, i])
        widest, most = -1, 0.0
        for i in range(m):
            rate = cells.rate[cells.start[i] + low[b, i] * cells.cells[i] + high[b, i]]
            if rate > 0.0 and rate / np.sqrt(np.float64(high[b, i] - low[b, i])) > most:
                widest, most = i, rate / np.sqrt(np.float64(high[b, i] - low[b, i]))
        if widest < 0 or end - begin <= BUCKET:
            continue
        if boxes + 2 > room:
            first, last = np.append(first, np.zeros(room, np.int64)), np.append(last, np.zeros(room, np.int64))
            child, split = np.append(child, np.full(room, -1)), np.append(split, np.zeros(room, np.int16))
            edge = np.append(edge, np.zeros(room, np.int16))
            low = np.concatenate((low, np.zeros((room, m), np.int16)))
            high = np.concatenate((high, np.zeros((room, m), np.int16)))
            room *= 2
        cut = _split(moved, begin, end, widest, np.int64(low[b, widest]), np.int64(high[b, widest]))
        child[b], split[b] = boxes, widest
        first[boxes], last[boxes] = begin, cut
        first[boxes + 1], last[boxes + 1] = cut, end
        edge[boxes], edge[boxes + 1] = low[b, widest], high[b, widest]
        for p in range(begin, cut):
            edge[boxes] = max(edge[boxes], codes[p, widest])
        for p in range(cut, end):
            edge[boxes + 1] = min(edge[boxes + 1], codes[p, widest])
        waiting.append((boxes + 1, level + 1))
        waiting.append((boxes, level + 1))
        boxes += 2
    return Boxes(
        moved.order, codes, first[:boxes], last[:boxes], child[:boxes], split[:boxes], edge[:boxes],
        low[:boxes], high[:boxes], depth,
    )  # fmt: skip


class _Search(NamedTuple):
    """The search for the neighbours of one point."""

    at: Ints
    """(m,) the cells of the point, and where their rates begin."""
    row: Ints
    near: Floats
    """(k + 1,) the rates of the nearest points so far, and the rows of each."""
    rows: Ints
    far: Floats
    """(m,) what the point costs at least together with any of the box at hand, by attribute."""
    waiting: Ints
    """(depth, 3) boxes not looked into yet, the length of the trail then, and the attribute that changes..."""
    least: Floats
    """(depth, 2) ... what all attributes cost there, and what the one that changes does."""
    trail: Ints
    """(depth,) attributes that changed on the way to the box at hand, and what they cost before."""
    trail_far: Floats


@inner_kernel
def _least(cells: Cells, boxes: Boxes, search: _Search, b: int) -> float:
    """What the point costs at least together with any point of a box."""
    total = 0.0
    for i in range(search.at.size):
        cell = min(max(search.at[i], np.int64(boxes.low[b, i])), np.int64(boxes.high[b, i]))
        total += cells.rate[search.row[i] + cell]
    return total


@inner_kernel
def _look(
    cells: Cells, weights: Ints, boxes: Boxes, search: _Search, b: int, k: int, found: int, total: int, most: float
) -> tuple[int, int, float]:  # search OUT
    """Look at the points of a box; return how many points are kept, their rows and the rate of the k-th row."""
    near, rows = search.near, search.rows
    for other in range(boxes.first[b], boxes.last[b]):
        if most <= 0.0:
            break
        new = 0.0
        for i in range(search.row.size):
            new += cells.rate[search.row[i] + boxes.codes[other, i]]
            if new >= most:
                break
        if new >= most:
            continue
        total += weights[other]
        while found > 0 and near[found - 1] >= new and total - rows[found - 1] >= k:
            found -= 1
            total -= rows[found]
        place = found
        while place > 0 and near[place - 1] > new:
            near[place], rows[place] = near[place - 1], rows[place - 1]
            place -= 1
        near[place], rows[place] = new, weights[other]
        found += 1
        if total >= k:
            most = near[found - 1]
    return found, total, most


@inner_kernel
def _change(search: _Search, trail: int, i: int, new: float) -> int:  # search OUT
    """Let an attribute cost something else, and remember what it cost; return the length of the trail."""
    if search.far[i] == new:
        return trail
    search.trail[trail], search.trail_far[trail] = i, search.far[i]
    search.far[i] = new
    return trail + 1


@inner_kernel
def _step_down(
    cells: Cells, boxes: Boxes, search: _Search, b: int, least: float, most: float, waits: int, trail: int
) -> tuple[int, float, int, int]:  # search OUT
    """Go to the nearer child, and let the other wait; return the child, what it costs, and what waits and changed."""
    c, i = boxes.child[b], np.int64(boxes.split[b])
    at, now, row = search.at[i], search.far[i], search.row[i]
    one = now if at <= boxes.edge[c] else cells.rate[row + boxes.edge[c]]
    two = now if at >= boxes.edge[c + 1] else cells.rate[row + boxes.edge[c + 1]]
    b, other = c, c + 1
    if two < one:
        b, other, one, two = other, b, two, one
    if least - now + two < most:
        search.waiting[waits, 0], search.waiting[waits, 1], search.waiting[waits, 2] = other, trail, i
        search.least[waits, 0], search.least[waits, 1] = least - now + two, two
        waits += 1
    return b, least - now + one, waits, _change(search, trail, i, one)


@inner_kernel
def _search_all(
    cells: Cells,
    weights: Ints,
    boxes: Boxes,
    search: _Search,
    k: int,
    visits: int,
    known: Floats,
    own: int,
    rates: Floats,  # OUT, and search
) -> None:
    """Search for the neighbours of all points of a box.

    On the way down only the attribute a box is split by changes what its children cost at least. What changed is
    remembered, and taken back on the way up.
    """
    for j in range(boxes.first[own], boxes.last[own]):
        if weights[j] >= k or known[j] <= 0.0:
            rates[j] = 0.0
            continue
        for i in range(search.at.size):
            search.at[i] = boxes.codes[j, i]
            search.row[i] = cells.start[i] + search.at[i] * cells.cells[i]
            search.far[i] = 0.0
        found, total, most = _look(cells, weights, boxes, search, own, k, 0, 0, known[j])
        waits, left, trail = 1, visits, 0
        search.waiting[0, 0], search.waiting[0, 1], search.waiting[0, 2] = 0, 0, 0
        search.least[0, 0], search.least[0, 1] = 0.0, 0.0
        while waits > 0 and left > 0:
            waits -= 1
            b, before, least = search.waiting[waits, 0], search.waiting[waits, 1], search.least[waits, 0]
            if least >= most:
                continue
            while trail > before:
                trail -= 1
                search.far[search.trail[trail]] = search.trail_far[trail]
            trail = _change(search, trail, search.waiting[waits, 2], search.least[waits, 1])
            while boxes.child[b] >= 0 and least < most:
                b, least, waits, trail = _step_down(cells, boxes, search, b, least, most, waits, trail)
                left -= 1
            left -= 1
            if least < most and b != own and _least(cells, boxes, search, b) < most:
                found, total, most = _look(cells, weights, boxes, search, b, k, found, total, most)
        for w in range(waits):
            most = min(most, search.least[w, 0])
        rates[j] = most


@kernel
def nearest_rates(
    cells: Cells,
    weights: Ints,
    boxes: Boxes,
    k: int,
    visits: int,
    known: Floats,
    begin: int,
    end: int,
    rates: Floats,  # OUT
) -> None:
    """Write what each point costs at least together with the k-th nearest row, itself counted.

    Points, their ``weights`` and what is ``known`` of them are in the order of the boxes. No k-th nearest row costs
    more than what is known; where that is infinite, it stays so if there are not k rows. This is for points in the
    boxes from ``begin`` to before ``end`` that are not split. After so many ``visits`` to boxes a search ends with what
    it knows: no box it has not looked into costs less than the least of those that wait.
    """
    m, depth = cells.cells.size, boxes.depth
    search = _Search(
        np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(k + 1), np.zeros(k + 1, np.int64), np.zeros(m),
        np.zeros((depth, 3), np.int64), np.zeros((depth, 2)), np.zeros(depth, np.int64), np.zeros(depth),
    )  # fmt: skip
    for own in range(begin, end):
        if boxes.child[own] < 0:
            _search_all(cells, weights, boxes, search, k, visits, known, own, rates)
