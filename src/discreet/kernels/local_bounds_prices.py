"""Row prices that no box exceeds: go through all boxes, lower prices where they are too high, and remember where.

A box is a run of cells in each attribute. The prices of a box are too high if those of its k dearest rows sum to more
than k times its rate. Boxes are built attribute by attribute. What is in a box that is not yet narrowed in all attributes
holds what it will be narrowed to, and its rate so far is no more: if its prices are not too high now, they never are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.local_bounds import Cells

__all__ = ["CUTS", "DEPTH", "DONE", "ENTRIES", "Cuts", "Walk", "start_walk", "sweep", "walk_boxes"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DEPTH, CUTS, ENTRIES, BOXES, LOWERED = range(5)
"""Places in ``Walk.counters``."""
DONE = -1
"""The depth of a walk that is over."""
_ROUNDING = 1e-12


class Walk(NamedTuple):
    """Where a walk over all boxes stands: at each depth the points of a box, sorted by the attribute narrowed there."""

    order: Ints
    """(m,) the attribute narrowed at each depth."""
    reach: NDArray[np.int16]
    """Beside each rate of two cells the last cell the second could be exchanged for at no cost."""
    members: NDArray[np.int32]
    """(m, points)"""
    values: NDArray[np.int16]
    """(m, most cells) the cells that occur."""
    first: NDArray[np.int32]
    """(m, most cells + 1) where each of them begins in ``members``."""
    rows: Ints
    """(m, most cells + 1) rows in the cells before each."""
    dearest: Floats
    """(m, most cells) the highest price in each."""
    at: Ints
    """(m, 3) how many cells occur, and the first and last of the run looked at."""
    rate: Floats
    """(m, 2) the rate of the box so far, and the mean of its k highest prices."""
    point: Ints
    """(k + 1,) room for the dearest points of a box, and the rows of each that count."""
    taken: Ints
    spare: NDArray[np.int32]
    count: NDArray[np.int32]
    counters: Ints


class Cuts(NamedTuple):
    """Rows of boxes whose prices were once too high: for cut c the ``entries`` from ``first[c]`` on."""

    first: Ints
    point: NDArray[np.int32]
    rows: NDArray[np.int32]
    most: Floats
    """What the prices of these rows may sum to."""
    force: Floats
    """By how much each cut has lowered prices so far, per row."""


@kernel
def _dearest(
    cells: Cells, prices: Floats, members: NDArray[np.int32], k: int, point: Ints, rows: Ints
) -> int:  # point, rows OUT
    """Write the k rows of highest price, dearest first; returns how many points they are of."""
    found, total, least = 0, 0, -np.inf
    for j in members:
        price = prices[j]
        if price <= least:
            continue
        total += cells.weights[j]
        while found > 0 and prices[point[found - 1]] <= price and total - rows[found - 1] >= k:
            found -= 1
            total -= rows[found]
        place = found
        while place > 0 and prices[point[place - 1]] < price:
            point[place], rows[place] = point[place - 1], rows[place - 1]
            place -= 1
        point[place], rows[place] = j, cells.weights[j]
        found += 1
        if total >= k:
            least = prices[point[found - 1]]
    rows[found - 1] -= max(total - k, 0)
    return found


@kernel
def _sum(prices: Floats, point: Ints, rows: Ints, found: int) -> float:
    total = 0.0
    for x in range(found):
        total += rows[x] * prices[point[x]]
    return total


@kernel
def _lower(
    cells: Cells, prices: Floats, members: NDArray[np.int32], k: int, most: float, walk: Walk, cuts: Cuts
) -> None:  # prices, cuts OUT
    """Lower the dearest prices of a box, no further than they must be, and remember the rows."""
    point, rows, counters = walk.point, walk.taken, walk.counters
    while True:
        found = _dearest(cells, prices, members, k, point, rows)
        above = _sum(prices, point, rows, found) - most
        if above <= _ROUNDING * (1.0 + most):
            return
        counters[LOWERED] += 1
        norm = 0.0
        for x in range(found):
            norm += rows[x] * rows[x] / cells.weights[point[x]]
        force = above / norm
        for x in range(found):
            prices[point[x]] -= force * rows[x] / cells.weights[point[x]]
        c, e = counters[CUTS], counters[ENTRIES]
        if c + 1 < cuts.first.size and e + found <= cuts.point.size:
            for x in range(found):
                cuts.point[e + x], cuts.rows[e + x] = point[x], rows[x]
            cuts.first[c + 1] = e + found
            cuts.most[c], cuts.force[c] = most, force
            counters[CUTS], counters[ENTRIES] = c + 1, e + found


@kernel
def _open(cells: Cells, walk: Walk, depth: int, n: int, prices: Floats) -> None:
    """Sort the members of a box by the attribute of a depth, and find the cells that occur."""
    i = walk.order[depth]
    members, values, first, rows = walk.members[depth], walk.values[depth], walk.first[depth], walk.rows[depth]
    size = cells.cells[i]
    spare, count = walk.spare, walk.count
    for cell in range(size + 1):
        count[cell] = 0
    for x in range(n):
        spare[x] = members[x]
        count[cells.codes[members[x], i] + 1] += 1
    found = 0
    for cell in range(size):
        if count[cell + 1] > 0:
            values[found], first[found] = cell, count[cell]
            walk.dearest[depth, found] = -np.inf
            found += 1
        count[cell + 1] += count[cell]
    first[found] = n
    for x in range(n):
        cell = cells.codes[spare[x], i]
        members[count[cell]] = spare[x]
        count[cell] += 1
    rows[0] = 0
    for v in range(found):
        total, dearest = 0, -np.inf
        for x in range(first[v], first[v + 1]):
            total += cells.weights[members[x]]
            dearest = max(dearest, prices[members[x]])
        rows[v + 1] = rows[v] + total
        walk.dearest[depth, v] = dearest
    walk.at[depth, 0], walk.at[depth, 1], walk.at[depth, 2] = found, 0, -1


@kernel
def start_walk(cells: Cells, prices: Floats, walk: Walk) -> None:
    """Stand before the first box."""
    for j in range(cells.weights.size):
        walk.members[0, j] = j
    walk.counters[DEPTH] = 0
    walk.counters[BOXES] = 0
    walk.counters[LOWERED] = 0
    walk.rate[0, 0], walk.rate[0, 1] = 0.0, np.inf
    _open(cells, walk, 0, cells.weights.size, prices)


@kernel
def walk_boxes(cells: Cells, k: int, prices: Floats, walk: Walk, cuts: Cuts, steps: int) -> None:  # prices, walk, cuts OUT
    """Go on through the boxes for about so many steps, lowering prices; the walk is over when its depth says so."""
    m = cells.cells.size
    depth = walk.counters[DEPTH]
    while depth >= 0 and steps > 0:
        i = walk.order[depth]
        at, values, first, rows = walk.at[depth], walk.values[depth], walk.first[depth], walk.rows[depth]
        start, size = cells.start[i], cells.cells[i]
        found, a = at[0], at[1]
        if a == found:
            depth -= 1
            continue
        steps -= 1
        b = at[2] + 1 if at[2] >= a else a
        if b == found or rows[found] - rows[a] < k:
            at[1], at[2] = a + 1 if b == found else found, -1
            continue
        row = start + values[a] * size
        last = walk.reach[row + values[b]]
        while b + 1 < found and values[b + 1] <= last:
            b += 1
        at[2] = b
        own = cells.rate[row + values[b]]
        rate = walk.rate[depth, 0] + own
        if rate >= walk.rate[depth, 1]:
            at[1], at[2] = a + 1, -1
            continue
        if rows[b + 1] - rows[a] < k or (a > 0 and cells.rate[start + values[a - 1] * size + values[b]] <= own):
            continue
        dearest = -np.inf
        for v in range(a, b + 1):
            dearest = max(dearest, walk.dearest[depth, v])
        if dearest <= rate:
            continue
        members = walk.members[depth, first[a] : first[b + 1]]
        steps -= members.size
        walk.counters[BOXES] += 1
        points = _dearest(cells, prices, members, k, walk.point, walk.taken)
        mean = _sum(prices, walk.point, walk.taken, points) / k
        if mean <= rate + _ROUNDING:
            continue
        if depth + 1 == m:
            _lower(cells, prices, members, k, k * rate, walk, cuts)
            continue
        depth += 1
        for x in range(members.size):
            walk.members[depth, x] = members[x]
        walk.rate[depth, 0], walk.rate[depth, 1] = rate, mean
        steps -= members.size
        _open(cells, walk, depth, members.size, prices)
    walk.counters[DEPTH] = depth


@kernel
def sweep(cells: Cells, prices: Floats, cuts: Cuts, number: int, times: int) -> float:  # prices, cuts OUT
    """Let each cut in turn lower its prices if they are too high, or give back what it need not have lowered.

    Returns by how much prices changed in the last sweep.
    """
    moved = 0.0
    for _ in range(times):
        moved = 0.0
        for c in range(number):
            total, norm = -cuts.most[c], 0.0
            for e in range(cuts.first[c], cuts.first[c + 1]):
                total += cuts.rows[e] * prices[cuts.point[e]]
                norm += cuts.rows[e] * cuts.rows[e] / cells.weights[cuts.point[e]]
            force = max(total / norm, -cuts.force[c])
            if force == 0.0:
                continue
            moved += abs(force)
            cuts.force[c] += force
            for e in range(cuts.first[c], cuts.first[c + 1]):
                prices[cuts.point[e]] -= force * cuts.rows[e] / cells.weights[cuts.point[e]]
    return moved
