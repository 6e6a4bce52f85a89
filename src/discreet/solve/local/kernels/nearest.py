"""Nearest neighbours of points under the rates of covers, by a tree of boxes.

Every attribute has few *cells*, in an order in which covers are runs: ``rate`` is a lower bound on what covers two
cells, and never falls as they move apart. So of all cells of a box the one nearest to a point is also the cheapest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import Records, layout

__all__ = ["BoxTree", "CellPoints", "build_boxes", "nearest_rates"]

_BUCKET = 16
"""Boxes of so many points are not split."""


class _Box:
    """A box of the tree."""

    first: int  # the points of the box are first:last
    last: int
    child: int  # the children are ``child`` and ``child + 1``; -1 if the box is not split
    split: int  # the attribute the box is split by
    edge: int  # in the attribute its parent is split by: the cell that faces the sibling


_BOX = layout(_Box)


class _Waiting:
    """A box that was put off."""

    box: int
    trail: int  # the length of the trail when the box was put off
    attribute: int  # the attribute its parent is split by, and what that costs at least in the box
    rate: float
    least: float  # what all attributes cost at least in the box


_WAITING = layout(_Waiting)


class _Trail:
    """The rate of an attribute before a step down the tree."""

    attribute: int
    rate: float


_TRAIL = layout(_Trail)


class _Near:
    """A point near the one at hand."""

    rate: float
    rows: int


_NEAR = layout(_Near)


class CellPoints(NamedTuple):
    """Weighted points, and a lower bound on what covers two of their values."""

    codes: NDArray[np.int16]
    """(points, m) the cell of each point."""
    weights: Ints
    """(points,) rows of each point."""
    cells: Ints
    """(m,) how many cells each attribute has."""
    start: Ints
    """(m,) where its cells x cells rates begin in ``rate``; they are symmetric."""
    rate: Floats


class BoxTree(NamedTuple):
    """A k-d tree of boxes. Box 0 holds all points; the two children of a box are next to each other."""

    order: NDArray[np.int32]
    """(points,) the points, box by box."""
    codes: NDArray[np.int16]
    """(points, m) their cells, in that order."""
    weights: Ints
    """(points,) their rows, in that order."""
    box: Records[_Box]
    low: NDArray[np.int16]
    """(boxes, m) the least cell, and the greatest."""
    high: NDArray[np.int16]
    depth: int
    """The height of the tree, plus 2."""


class _Sorting(NamedTuple):
    """Points that are being sorted into boxes, and scratch space for as many."""

    order: NDArray[np.int32]
    codes: NDArray[np.int16]
    spare_order: NDArray[np.int32]
    spare_codes: NDArray[np.int16]
    count: Ints


@inner_kernel
def _split(sorting: _Sorting, a: int, b: int, i: int, low: int, high: int) -> int:  # sorting OUT
    """Bring the points of the smaller cells to the front, as near half of them as possible; return where they end."""
    order, codes, count = sorting.order, sorting.codes, sorting.count
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
            sorting.spare_order[rest] = order[p]
            for c in range(codes.shape[1]):
                sorting.spare_codes[rest, c] = codes[p, c]
            rest += 1
    for p in range(rest):
        order[front + p] = sorting.spare_order[p]
        for c in range(codes.shape[1]):
            codes[front + p, c] = sorting.spare_codes[p, c]
    return front


@kernel
def build_boxes(cells: CellPoints) -> BoxTree:
    """Split boxes in their widest attribute until they hold few points; O(points x m) for each level.

    Of two attributes of the same width the one with fewer cells is split: its parts are farther from each other.
    """
    n, m = cells.codes.shape
    sorting = _Sorting(
        np.arange(n).astype(np.int32),
        cells.codes.copy(),
        np.empty(n, np.int32),
        np.empty((n, m), np.int16),
        np.zeros(cells.cells.max() if m > 0 else 0, np.int64),
    )
    codes, most = sorting.codes, 64
    box = np.zeros(most, _BOX)
    low, high = np.zeros((most, m), np.int16), np.zeros((most, m), np.int16)
    box[0].last = n
    boxes, depth, waiting = 1, 2, [(0, 2)]
    while len(waiting) > 0:
        b, level = waiting.pop()
        depth = max(depth, level)
        begin, end = box[b].first, box[b].last
        box[b].child = -1
        for i in range(m):
            low[b, i] = high[b, i] = codes[begin, i]
        for p in range(begin, end):
            for i in range(m):
                low[b, i], high[b, i] = min(low[b, i], codes[p, i]), max(high[b, i], codes[p, i])
        widest, width = -1, 0.0
        for i in range(m):
            rate = cells.rate[cells.start[i] + low[b, i] * cells.cells[i] + high[b, i]]
            if rate > 0.0 and rate / np.sqrt(np.float64(high[b, i] - low[b, i])) > width:
                widest, width = i, rate / np.sqrt(np.float64(high[b, i] - low[b, i]))
        if widest < 0 or end - begin <= _BUCKET:
            continue
        if boxes + 2 > most:
            box = np.concatenate((box, np.zeros(most, _BOX)))
            low = np.concatenate((low, np.zeros((most, m), np.int16)))
            high = np.concatenate((high, np.zeros((most, m), np.int16)))
            most *= 2
        cut = _split(sorting, begin, end, widest, np.int64(low[b, widest]), np.int64(high[b, widest]))
        box[b].child, box[b].split = boxes, widest
        one, two = box[boxes], box[boxes + 1]
        one.first, one.last, one.edge = begin, cut, low[b, widest]
        two.first, two.last, two.edge = cut, end, high[b, widest]
        for p in range(begin, cut):
            one.edge = max(one.edge, np.int64(codes[p, widest]))
        for p in range(cut, end):
            two.edge = min(two.edge, np.int64(codes[p, widest]))
        waiting.append((boxes + 1, level + 1))
        waiting.append((boxes, level + 1))
        boxes += 2
    weights = cells.weights[sorting.order]
    return BoxTree(sorting.order, codes, weights, box[:boxes], low[:boxes], high[:boxes], depth)


class _NeighbourSearch(NamedTuple):
    """The search for the k nearest rows of one point."""

    k: int
    visits: int
    """Boxes to visit at most."""
    cell: Ints
    """(m,) the cells of the point, and where their rates begin."""
    row: Ints
    near: Records[_Near]
    """(k + 1,) the nearest points so far, and the rows of each."""
    least: Floats
    """(m,) what the point costs at least together with any point of the box at hand, by attribute."""
    waiting: Records[_Waiting]
    """(depth,) a stack of boxes put off."""
    trail: Records[_Trail]
    """(depth,) attributes whose ``least`` changed on the path to the box at hand, and what it was before."""


class _Nearest(NamedTuple):
    """How many points and rows are in ``near``, and the rate of the k-th row, or what is known of it."""

    points: int
    rows: int
    rate: float


@inner_kernel
def _box_rate(cells: CellPoints, tree: BoxTree, search: _NeighbourSearch, b: int) -> float:
    """Return a lower bound on the cost of the point together with any point of a box."""
    total = 0.0
    for i in range(search.cell.size):
        cell = min(max(search.cell[i], np.int64(tree.low[b, i])), np.int64(tree.high[b, i]))
        total += cells.rate[search.row[i] + cell]
    return total


@inner_kernel
def _visit(
    cells: CellPoints, tree: BoxTree, search: _NeighbourSearch, b: int, nearest: _Nearest
) -> _Nearest:  # search.near OUT
    """Compare the points of a box with the nearest so far.

    ``near`` is sorted, and shrinks from the end as long as k rows are left.
    """
    near, k, found, total, most = search.near, search.k, nearest.points, nearest.rows, nearest.rate
    for other in range(tree.box[b].first, tree.box[b].last):
        if most <= 0.0:
            break
        new = 0.0
        for i in range(search.row.size):
            new += cells.rate[search.row[i] + tree.codes[other, i]]
            if new >= most:
                break
        if new >= most:
            continue
        rows = tree.weights[other]
        total += rows
        while found > 0 and near[found - 1].rate >= new and total - near[found - 1].rows >= k:
            found -= 1
            total -= near[found].rows
        at = found
        while at > 0 and near[at - 1].rate > new:
            near[at].rate, near[at].rows = near[at - 1].rate, near[at - 1].rows
            at -= 1
        near[at].rate, near[at].rows = new, rows
        found += 1
        if total >= k:
            most = near[found - 1].rate
    return _Nearest(found, total, most)


@inner_kernel
def _change(search: _NeighbourSearch, trail: int, i: int, new: float) -> int:  # search OUT
    """Set what an attribute costs at least, and remember what it was; return the length of the trail."""
    if search.least[i] == new:
        return trail
    search.trail[trail].attribute, search.trail[trail].rate = i, search.least[i]
    search.least[i] = new
    return trail + 1


@inner_kernel
def _step_down(
    cells: CellPoints,
    tree: BoxTree,
    search: _NeighbourSearch,
    b: int,
    least: float,
    most: float,
    waits: int,
    trail: int,
) -> tuple[int, float, int, int]:  # search OUT
    """Go to the nearer child and put off the other; return the child, its least rate, and both stacks' lengths."""
    near, i = tree.box[b].child, tree.box[b].split
    cell, now, row = search.cell[i], search.least[i], search.row[i]
    near_rate = now if cell <= tree.box[near].edge else cells.rate[row + tree.box[near].edge]
    far = near + 1
    far_rate = now if cell >= tree.box[far].edge else cells.rate[row + tree.box[far].edge]
    if far_rate < near_rate:
        near, far, near_rate, far_rate = far, near, far_rate, near_rate
    if least - now + far_rate < most:
        wait = search.waiting[waits]
        wait.box, wait.trail, wait.attribute = far, trail, i
        wait.least, wait.rate = least - now + far_rate, far_rate
        waits += 1
    return near, least - now + near_rate, waits, _change(search, trail, i, near_rate)


@inner_kernel
def _search_box(
    cells: CellPoints, tree: BoxTree, search: _NeighbourSearch, own: int, known: Floats, rates: Floats
) -> None:  # rates, search OUT
    """Search for the neighbours of all points of a box, beginning in the box itself.

    On the way down, only the attribute by which a box is split changes what its children cost at least, so a step takes
    O(1) (Arya and Mount's incremental distances). Changes are on a trail, and undone on the way up.
    """
    for j in range(tree.box[own].first, tree.box[own].last):
        if tree.weights[j] >= search.k or known[j] <= 0.0:
            rates[j] = 0.0
            continue
        for i in range(search.cell.size):
            search.cell[i] = tree.codes[j, i]
            search.row[i] = cells.start[i] + search.cell[i] * cells.cells[i]
            search.least[i] = 0.0
        nearest = _visit(cells, tree, search, own, _Nearest(0, 0, known[j]))
        waits, left, trail = 1, search.visits, 0
        root = search.waiting[0]
        root.box, root.trail, root.attribute, root.rate, root.least = 0, 0, 0, 0.0, 0.0
        while waits > 0 and left > 0:
            waits -= 1
            wait = search.waiting[waits]
            b, before, least = wait.box, wait.trail, wait.least
            if least >= nearest.rate:
                continue
            while trail > before:
                trail -= 1
                search.least[search.trail[trail].attribute] = search.trail[trail].rate
            trail = _change(search, trail, wait.attribute, wait.rate)
            while tree.box[b].child >= 0 and least < nearest.rate:
                b, least, waits, trail = _step_down(cells, tree, search, b, least, nearest.rate, waits, trail)
                left -= 1
            left -= 1
            if least < nearest.rate and b != own and _box_rate(cells, tree, search, b) < nearest.rate:
                nearest = _visit(cells, tree, search, b, nearest)
        most = nearest.rate
        for w in range(waits):
            most = min(most, search.waiting[w].least)
        rates[j] = most


@kernel
def nearest_rates(
    cells: CellPoints,
    tree: BoxTree,
    k: int,
    visits: int,
    known: Floats,  # (points,) IN, in the order of the tree
    begin: int,
    end: int,
    rates: Floats,  # (points,) OUT, in the order of the tree
) -> None:
    """Write what each point costs at least together with its k-th nearest row, the point itself counted.

    This is for points in the boxes ``begin:end`` that are not split. No k-th nearest row costs more than what is
    ``known``; if that is infinite, it stays so where there are not k rows. After so many ``visits`` to boxes a search
    ends with a rate that is certain: no box that was put off costs less than the least of them.
    """
    m, depth = cells.cells.size, tree.depth
    search = _NeighbourSearch(
        k,
        visits,
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(k + 1, _NEAR),
        np.zeros(m),
        np.zeros(depth, _WAITING),
        np.zeros(depth, _TRAIL),
    )
    for own in range(begin, end):
        if tree.box[own].child < 0:
            _search_box(cells, tree, search, own, known, rates)
