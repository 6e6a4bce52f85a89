"""Row prices that no box exceeds: visit all boxes, lower prices that are too high, and remember them as cuts.

A box is a run of cells in each attribute. Its prices are too high if those of its k dearest rows sum to more than k
times its rate. Boxes are narrowed attribute by attribute. Narrowing further leaves fewer rows, and the rate grows: if
the prices of a box are not too high for its rate so far, they are not in any box within it. That is the bound of this
branch and bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.jit import kernel
from discreet.solve.kernels.records import Records
from discreet.solve.local.kernels.nearest import CellPoints

__all__ = [
    "BoxRun",
    "BoxWalk",
    "Cuts",
    "TopPoint",
    "WalkCounters",
    "cap_prices",
    "drop_idle",
    "rate_cuts",
    "start_walk",
    "sweep",
    "walk_boxes",
]

_ROUNDING = 1e-12


class WalkCounters:
    """The state of a walk as numbers."""

    depth: int  # -1 when the walk is over
    cuts: int  # how many cuts there are, and how many entries they have
    entries: int
    lowered: int  # how often prices were lowered
    steps: int  # work done in this walk


class BoxRun:
    """The run of cells at hand at one depth."""

    rate: float  # the rate of the box, without the attribute narrowed here
    highest: float  # the mean of its k highest prices
    cells: int  # how many cells occur
    first: int  # the first and the last cell of the run at hand, counted among those that occur
    last: int
    top_end: int  # ``top`` holds the points of the run before this cell, ...
    top_lowered: int  # ... as they were when prices had been lowered so often
    top_points: int  # how many points it holds, and how many rows
    top_rows: int


class TopPoint:
    """A point of high price."""

    point: int
    rows: int


class BoxWalk(NamedTuple):
    """The state of a walk over all boxes: at each depth the points of a box, sorted by the attribute narrowed there."""

    order: Ints
    """(m,) the attribute narrowed at each depth."""
    reach: NDArray[np.int16]
    """Beside each rate of two cells the last cell that the second may grow to at no cost."""
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
    run: Records[BoxRun]
    """(m,)"""
    top: Records[Any]
    """(m, k + 1) of TopPoint: the points of highest price in the run at hand, dearest first."""
    spare: NDArray[np.int32]
    count: NDArray[np.int32]
    counters: Records[WalkCounters]
    """One record."""


class Cuts(NamedTuple):
    """Rows of boxes whose prices were once too high: of cut c those at ``first[c]:first[c + 1]``."""

    first: Ints
    point: NDArray[np.int32]
    rows: NDArray[np.int32]
    most: Floats
    """What the prices of these rows may sum to."""
    force: Floats
    """By how much each cut has lowered prices so far, per row: its multiplier in the projection."""


@kernel
def _add(
    cells: CellPoints, prices: Floats, members: NDArray[np.int32], k: int, top: Records[TopPoint], run: BoxRun
) -> None:  # top, run OUT
    """Keep the points with the k rows of highest price, dearest first, after some more points have come."""
    found, total = run.top_points, run.top_rows
    least = prices[top[found - 1].point] if total >= k else -np.inf
    for j in members:
        price = prices[j]
        if price <= least:
            continue
        total += cells.weights[j]
        while found > 0 and prices[top[found - 1].point] <= price and total - top[found - 1].rows >= k:
            total -= top[found - 1].rows
            found -= 1
        at = found
        while at > 0 and prices[top[at - 1].point] < price:
            top[at].point, top[at].rows = top[at - 1].point, top[at - 1].rows
            at -= 1
        top[at].point, top[at].rows = j, cells.weights[j]
        found += 1
        if total >= k:
            least = prices[top[found - 1].point]
    run.top_points, run.top_rows = found, total


@kernel
def _sum(prices: Floats, k: int, top: Records[TopPoint], run: BoxRun) -> float:
    """The sum of the k highest prices."""
    found = run.top_points
    total = (k - run.top_rows) * prices[top[found - 1].point]
    for x in range(found):
        total += top[x].rows * prices[top[x].point]
    return total


@kernel
def _lower(
    cells: CellPoints, k: int, prices: Floats, members: NDArray[np.int32], most: float, walk: BoxWalk, cuts: Cuts
) -> None:  # prices, walk, cuts OUT
    """Lower the dearest prices of a box until its k highest sum to ``most``, and remember the rows as a cut.

    That is the projection onto the half-space sum of rows * price <= most, in the norm in which a point counts as often
    as it has rows. Other rows may be the dearest afterwards, hence the loop.
    """
    counters, depth = walk.counters[0], walk.order.size - 1
    top, run = walk.top[depth], walk.run[depth]
    while True:
        run.top_points, run.top_rows = 0, 0
        _add(cells, prices, members, k, top, run)
        above = _sum(prices, k, top, run) - most
        if above <= _ROUNDING * (1.0 + most):
            return
        counters.lowered += 1
        found = run.top_points
        top[found - 1].rows -= run.top_rows - k
        norm = 0.0
        for x in range(found):
            norm += top[x].rows * top[x].rows / cells.weights[top[x].point]
        force = above / norm
        for x in range(found):
            prices[top[x].point] -= force * top[x].rows / cells.weights[top[x].point]
        c, e = counters.cuts, counters.entries
        if c + 1 < cuts.first.size and e + found <= cuts.point.size:
            for x in range(found):
                cuts.point[e + x], cuts.rows[e + x] = top[x].point, top[x].rows
            cuts.first[c + 1] = e + found
            cuts.most[c], cuts.force[c] = most, force
            counters.cuts, counters.entries = c + 1, e + found


@kernel
def _open(cells: CellPoints, walk: BoxWalk, depth: int, n: int, prices: Floats) -> None:  # walk OUT
    """Sort the members of a box by the attribute of a depth, and find the cells that occur.

    Few points are sorted by insertion, many by counting: O(min(n**2, n + cells)).
    """
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
    run = walk.run[depth]
    run.cells, run.first, run.last, run.top_end = found, 0, -1, 0


@kernel
def start_walk(cells: CellPoints, prices: Floats, walk: BoxWalk) -> None:  # walk OUT
    """Begin with the box of all points."""
    for j in range(cells.weights.size):
        walk.members[0, j] = j
    walk.counters[0].depth = 0
    walk.counters[0].steps = 0
    walk.run[0].rate, walk.run[0].highest = 0.0, np.inf
    _open(cells, walk, 0, cells.weights.size, prices)


@kernel
def walk_boxes(
    cells: CellPoints, k: int, prices: Floats, walk: BoxWalk, cuts: Cuts, steps: int
) -> None:  # prices, walk, cuts OUT
    """Visit boxes for about so many steps, lowering prices; the walk is over when its depth is -1.

    Runs of an attribute are visited by first cell, then by last. Those that can be made longer at no cost are skipped:
    the longer one has all their rows at the same rate.
    """
    m, counters = cells.cells.size, walk.counters[0]
    depth, allowed = counters.depth, steps
    while depth >= 0 and steps > 0:
        i = walk.order[depth]
        run, values, first, rows = walk.run[depth], walk.values[depth], walk.first[depth], walk.rows[depth]
        start, size = cells.start[i], cells.cells[i]
        found, a = run.cells, run.first
        if a == found:
            depth -= 1
            continue
        steps -= 1
        b = run.last + 1 if run.last >= a else a
        if b == found or rows[found] - rows[a] < k:
            run.first, run.last, run.top_end = a + 1 if b == found else found, -1, 0
            continue
        row = start + values[a] * size
        last = walk.reach[row + values[b]]
        while b + 1 < found and values[b + 1] <= last:
            b += 1
        run.last = b
        own = cells.rate[row + values[b]]
        rate = run.rate + own
        if rate >= run.highest:  # longer runs cost even more
            run.first, run.last, run.top_end = a + 1, -1, 0
            continue
        if rows[b + 1] - rows[a] < k or (a > 0 and cells.rate[start + values[a - 1] * size + values[b]] <= own):
            continue
        dearest = -np.inf
        for v in range(a, b + 1):
            dearest = max(dearest, walk.dearest[depth, v])
        if dearest <= rate:
            continue
        members = walk.members[depth, first[a] : first[b + 1]]
        # As the run grows only the points of new cells are added to ``top``, unless prices have changed since.
        if run.top_end <= a or run.top_lowered != counters.lowered:
            run.top_points, run.top_rows, run.top_end, run.top_lowered = 0, 0, a, counters.lowered
        steps -= first[b + 1] - first[run.top_end]
        new = walk.members[depth, first[run.top_end] : first[b + 1]]
        _add(cells, prices, new, k, walk.top[depth], run)
        run.top_end = b + 1
        mean = _sum(prices, k, walk.top[depth], run) / k
        if mean <= rate + _ROUNDING:
            continue
        if depth + 1 == m:
            _lower(cells, k, prices, members, k * rate, walk, cuts)
            continue
        depth += 1
        for x in range(members.size):
            walk.members[depth, x] = members[x]
        walk.run[depth].rate, walk.run[depth].highest = rate, mean
        steps -= members.size
        _open(cells, walk, depth, members.size, prices)
    counters.depth = depth
    counters.steps += allowed - steps


@kernel
def cap_prices(cells: CellPoints, prices: Floats, most: float, walk: BoxWalk, cuts: Cuts) -> None:  # prices, cuts OUT
    """Lower all prices to ``most``, and remember that as cuts of one point each."""
    counters = walk.counters[0]
    for j in range(prices.size):
        c, e = counters.cuts, counters.entries
        if prices[j] > most:
            if c + 1 < cuts.first.size and e < cuts.point.size:
                cuts.point[e], cuts.rows[e] = j, cells.weights[j]
                cuts.first[c + 1] = e + 1
                cuts.most[c], cuts.force[c] = most * cells.weights[j], prices[j] - most
                counters.cuts, counters.entries = c + 1, e + 1
            prices[j] = most


@kernel
def rate_cuts(cells: CellPoints, k: int, most: float, cuts: Cuts, number: int) -> None:  # cuts OUT
    """Set what the prices of each cut's rows may sum to, after the cells or ``most`` have changed."""
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
def drop_idle(cuts: Cuts, walk: BoxWalk) -> None:  # cuts OUT
    """Forget the cuts that lower nothing."""
    counters, kept, entries = walk.counters[0], 0, 0
    for c in range(counters.cuts):
        if cuts.force[c] > 0.0:
            first, last = cuts.first[c], cuts.first[c + 1]
            for e in range(first, last):
                cuts.point[entries], cuts.rows[entries] = cuts.point[e], cuts.rows[e]
                entries += 1
            cuts.most[kept], cuts.force[kept] = cuts.most[c], cuts.force[c]
            kept += 1
            cuts.first[kept] = entries
    counters.cuts, counters.entries = kept, entries


@kernel
def sweep(cells: CellPoints, prices: Floats, cuts: Cuts, number: int, times: int) -> None:  # prices, cuts OUT
    """Let each cut in turn lower prices that are too high, or give back what it need not have lowered.

    These are Hildreth's projections: the multipliers ``force`` never become negative.
    """
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
