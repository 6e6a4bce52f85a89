"""Row prices that no box exceeds: go through all boxes, lower prices where they are too high, and remember where.

A box is a run of cells in each attribute. The prices of a box are too high if those of its k dearest rows sum to more
than k times its rate. Boxes are narrowed attribute by attribute: further narrowing leaves fewer rows, and the rate
grows. So if the prices of a box are not too high for its rate so far, they are not in any box within.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels._numba import kernel
from discreet.kernels.local_bounds import Cells

__all__ = [
    "COUNTERS",
    "CUTS",
    "DEPTH",
    "ENTRIES",
    "STEPS",
    "Cuts",
    "Walk",
    "cap_prices",
    "drop_idle",
    "rate_cuts",
    "start_walk",
    "sweep",
    "walk_boxes",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DEPTH, CUTS, ENTRIES, LOWERED, STEPS = range(5)
"""Places in ``Walk.counters``: the depth, -1 when the walk is over, what the cuts hold, and work done so far."""
COUNTERS = 5
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
    """(m, 5) how many cells occur, the first and last of the run looked at, the cell before which ``top`` ends, and how
    often prices had been lowered when it was found."""
    rate: Floats
    """(m, 2) the rate of the box so far, and the mean of its k highest prices."""
    top: Ints
    """(m, k + 2, 2) the points of highest price in the run looked at."""
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
def _add(cells: Cells, prices: Floats, members: NDArray[np.int32], k: int, top: Ints) -> None:  # top OUT
    """Keep the points with the k rows of highest price, dearest first, after some more points have come.

    ``top[0]`` tells how many points and how many rows these are, the others the points and the rows of each.
    """
    found, total = top[0]
    least = prices[top[found, 0]] if total >= k else -np.inf
    for j in members:
        price = prices[j]
        if price <= least:
            continue
        total += cells.weights[j]
        while found > 0 and prices[top[found, 0]] <= price and total - top[found, 1] >= k:
            total -= top[found, 1]
            found -= 1
        place = found + 1
        while place > 1 and prices[top[place - 1, 0]] < price:
            top[place, 0], top[place, 1] = top[place - 1, 0], top[place - 1, 1]
            place -= 1
        top[place, 0], top[place, 1] = j, cells.weights[j]
        found += 1
        if total >= k:
            least = prices[top[found, 0]]
    top[0, 0], top[0, 1] = found, total


@kernel
def _sum(prices: Floats, k: int, top: Ints) -> float:
    """Sum of the k highest prices."""
    found = top[0, 0]
    total = (k - top[0, 1]) * prices[top[found, 0]]
    for x in range(1, found + 1):
        total += top[x, 1] * prices[top[x, 0]]
    return total


@kernel
def _lower(
    cells: Cells, prices: Floats, members: NDArray[np.int32], k: int, most: float, top: Ints, walk: Walk, cuts: Cuts
) -> None:  # prices, cuts OUT
    """Lower the dearest prices of a box, no further than they must be, and remember the rows."""
    counters = walk.counters
    while True:
        top[0] = 0
        _add(cells, prices, members, k, top)
        above = _sum(prices, k, top) - most
        if above <= _ROUNDING * (1.0 + most):
            return
        counters[LOWERED] += 1
        found = top[0, 0]
        top[found, 1] -= top[0, 1] - k
        norm = 0.0
        for x in range(1, found + 1):
            norm += top[x, 1] * top[x, 1] / cells.weights[top[x, 0]]
        force = above / norm
        for x in range(1, found + 1):
            prices[top[x, 0]] -= force * top[x, 1] / cells.weights[top[x, 0]]
        c, e = counters[CUTS], counters[ENTRIES]
        if c + 1 < cuts.first.size and e + found <= cuts.point.size:
            for x in range(found):
                cuts.point[e + x], cuts.rows[e + x] = top[x + 1, 0], top[x + 1, 1]
            cuts.first[c + 1] = e + found
            cuts.most[c], cuts.force[c] = most, force
            counters[CUTS], counters[ENTRIES] = c + 1, e + found


@kernel
def _open(cells: Cells, walk: Walk, depth: int, n: int, prices: Floats) -> None:
    """Sort the members of a box by the attribute of a depth, and find the cells that occur."""
    i = walk.order[depth]
    members, values, first, rows = walk.members[depth], walk.values[depth], walk.first[depth], walk.rows[depth]
    found = 0
    if n < cells.cells[i]:
        for x in range(1, n):
            new, y = members[x], x
            while y > 0 and cells.codes[members[y - 1], i] > cells.codes[new, i]:
                members[y] = members[y - 1]
                y -= 1
            members[y] = new
        for x in range(n):
            cell = cells.codes[members[x], i]
            if found == 0 or cell != values[found - 1]:
                values[found], first[found] = cell, x
                found += 1
    else:
        spare, count = walk.spare, walk.count
        count[:] = 0
        for x in range(n):
            spare[x] = members[x]
            count[cells.codes[members[x], i] + 1] += 1
        for cell in range(cells.cells[i]):
            if count[cell + 1] > 0:
                values[found], first[found] = cell, count[cell]
                found += 1
            count[cell + 1] += count[cell]
        for x in range(n):
            cell = cells.codes[spare[x], i]
            members[count[cell]] = spare[x]
            count[cell] += 1
    first[found] = n
    rows[0] = 0
    for v in range(found):
        total, dearest = 0, -np.inf
        for x in range(first[v], first[v + 1]):
            total += cells.weights[members[x]]
            dearest = max(dearest, prices[members[x]])
        rows[v + 1] = rows[v] + total
        walk.dearest[depth, v] = dearest
    walk.at[depth, 0], walk.at[depth, 1], walk.at[depth, 2], walk.at[depth, 3] = found, 0, -1, 0


@kernel
def start_walk(cells: Cells, prices: Floats, walk: Walk) -> None:
    """Stand before the first box."""
    for j in range(cells.weights.size):
        walk.members[0, j] = j
    walk.counters[DEPTH] = 0
    walk.counters[STEPS] = 0
    walk.rate[0, 0], walk.rate[0, 1] = 0.0, np.inf
    _open(cells, walk, 0, cells.weights.size, prices)


@kernel
def walk_boxes(
    cells: Cells, k: int, prices: Floats, walk: Walk, cuts: Cuts, steps: int
) -> None:  # prices, walk, cuts OUT
    """Go on through the boxes for about so many steps, lowering prices; the walk is over when its depth says so."""
    m = cells.cells.size
    depth, allowed = walk.counters[DEPTH], steps
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
            at[1], at[2], at[3] = a + 1 if b == found else found, -1, 0
            continue
        row = start + values[a] * size
        last = walk.reach[row + values[b]]
        while b + 1 < found and values[b + 1] <= last:
            b += 1
        at[2] = b
        own = cells.rate[row + values[b]]
        rate = walk.rate[depth, 0] + own
        if rate >= walk.rate[depth, 1]:
            at[1], at[2], at[3] = a + 1, -1, 0
            continue
        if rows[b + 1] - rows[a] < k or (a > 0 and cells.rate[start + values[a - 1] * size + values[b]] <= own):
            continue
        dearest = -np.inf
        for v in range(a, b + 1):
            dearest = max(dearest, walk.dearest[depth, v])
        if dearest <= rate:
            continue
        members = walk.members[depth, first[a] : first[b + 1]]
        top = walk.top[depth]
        if at[3] <= a or at[4] != walk.counters[LOWERED]:
            top[0], at[3], at[4] = 0, a, walk.counters[LOWERED]
        steps -= first[b + 1] - first[at[3]]
        _add(cells, prices, walk.members[depth, first[at[3]] : first[b + 1]], k, top)
        at[3] = b + 1
        mean = _sum(prices, k, top) / k
        if mean <= rate + _ROUNDING:
            continue
        if depth + 1 == m:
            _lower(cells, prices, members, k, k * rate, top, walk, cuts)
            continue
        depth += 1
        for x in range(members.size):
            walk.members[depth, x] = members[x]
        walk.rate[depth, 0], walk.rate[depth, 1] = rate, mean
        steps -= members.size
        _open(cells, walk, depth, members.size, prices)
    walk.counters[DEPTH] = depth
    walk.counters[STEPS] += allowed - steps


@kernel
def cap_prices(cells: Cells, prices: Floats, most: float, walk: Walk, cuts: Cuts) -> None:  # prices, cuts OUT
    """Lower all prices to ``most``, and remember it as cuts of one point each."""
    counters = walk.counters
    for j in range(prices.size):
        c, e = counters[CUTS], counters[ENTRIES]
        if prices[j] > most:
            if c + 1 < cuts.first.size and e < cuts.point.size:
                cuts.point[e], cuts.rows[e] = j, cells.weights[j]
                cuts.first[c + 1] = e + 1
                cuts.most[c], cuts.force[c] = most * cells.weights[j], prices[j] - most
                counters[CUTS], counters[ENTRIES] = c + 1, e + 1
            prices[j] = most


@kernel
def rate_cuts(cells: Cells, k: int, most: float, cuts: Cuts, number: int) -> None:  # cuts OUT
    """Write what the prices of each cut's rows may sum to, after the cells or ``most`` have changed."""
    for c in range(number):
        rows = 0
        for e in range(cuts.first[c], cuts.first[c + 1]):
            rows += cuts.rows[e]
        if rows != k:  # all rows of one point, which would cost nothing if they were k
            cuts.most[c] = most * rows
            continue
        rate = 0.0
        for i in range(cells.cells.size):
            low = high = cells.codes[cuts.point[cuts.first[c]], i]
            for e in range(cuts.first[c], cuts.first[c + 1]):
                code = cells.codes[cuts.point[e], i]
                low, high = min(low, code), max(high, code)
            rate += cells.rate[cells.start[i] + low * cells.cells[i] + high]
        cuts.most[c] = k * rate


@kernel
def drop_idle(cuts: Cuts, walk: Walk) -> None:  # cuts OUT
    """Forget the cuts that lower nothing."""
    kept, entries = 0, 0
    for c in range(walk.counters[CUTS]):
        if cuts.force[c] > 0.0:
            first, last = cuts.first[c], cuts.first[c + 1]
            for e in range(first, last):
                cuts.point[entries], cuts.rows[entries] = cuts.point[e], cuts.rows[e]
                entries += 1
            cuts.most[kept], cuts.force[kept] = cuts.most[c], cuts.force[c]
            kept += 1
            cuts.first[kept] = entries
    walk.counters[CUTS], walk.counters[ENTRIES] = kept, entries


@kernel
def sweep(cells: Cells, prices: Floats, cuts: Cuts, number: int, times: int) -> None:  # prices, cuts OUT
    """Let each cut in turn lower its prices if they are too high, or give back what it need not have lowered."""
    for _ in range(times):
        for c in range(number):
            total, norm = -cuts.most[c], 0.0
            for e in range(cuts.first[c], cuts.first[c + 1]):
                total += cuts.rows[e] * prices[cuts.point[e]]
                norm += cuts.rows[e] * cuts.rows[e] / cells.weights[cuts.point[e]]
            force = max(total / norm, -cuts.force[c])
            if force == 0.0:
                continue
            cuts.force[c] += force
            for e in range(cuts.first[c], cuts.first[c + 1]):
                prices[cuts.point[e]] -= force * cuts.rows[e] / cells.weights[cuts.point[e]]
