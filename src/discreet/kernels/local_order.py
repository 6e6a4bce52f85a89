"""An order of points in which near ones stand together, by splitting again and again where most cost is saved.

A split sends the points with leaves low..high of one attribute to the front. That is the lower part of a range, or one
child of the lowest node above all points. A split saves the rows in front times what the attribute's rate falls for
them, and likewise for the others. There is only so much to split until groups are small, so what counts is what a split
saves for each bit it takes, that is, for its entropy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.kernels._numba import inner_kernel, kernel
from discreet.kernels.covers import RANGE, SET, TABLE, TREE
from discreet.kernels.local_rates import Floats, Ints, Nodes, rate_at

__all__ = ["split_order", "split_regions"]

_BINS = 512
"""At most so many places for a cut of one attribute are compared at a time."""
_FEW = 32
"""So few points are sorted; more are counted by leaf."""
_MANY = 256
"""With so many points it is worth looking ahead."""
_HALVINGS = 20
_SAMPLE = 8192
"""So many points tell by which attribute to split a larger part."""


class _Room(NamedTuple):
    """Room to compare cuts in: the bins of one attribute, and what was found for each."""

    low: Ints
    high: Ints
    weight: Ints
    price: Floats
    least: Ints
    """(m,) the least leaf, and the greatest..."""
    most: Ints
    whole: Floats
    """(m,) ... and what a row costs that covers both, -1 if they are the same."""
    front: Ints
    """(m, 2) the leaves that are best sent to the front, ..."""
    saved: Floats
    """(m, 2) ... what that saves for each bit, and what it does to part all children; -1 if that cannot be."""
    bits: Floats
    """(m,) the bits it takes to part all children."""


@kernel
def _make_room(m: int) -> _Room:
    bins = np.int64(_BINS)
    return _Room(
        np.empty(bins, np.int64), np.empty(bins, np.int64), np.empty(bins, np.int64), np.empty((4, bins)),
        np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m), np.empty((m, 2), np.int64), np.empty((m, 2)),
        np.empty(m),
    )  # fmt: skip


@inner_kernel
def _price_cuts(shape: Ints, rate: Floats, node: Nodes, i: int, bins: int, room: _Room) -> None:  # room OUT
    """What a row costs below each cut, above it, right around it, and in the bin before it.

    Kinds are written out, for a call each time would take much longer.
    """
    low, high, price = room.low, room.high, room.price
    kind, start, leaves = shape[i, 0], shape[i, 1], shape[i, 2]
    least, most = low[0], high[bins - 1]
    if kind == SET:
        for b in range(bins - 1):
            price[0, b] = rate[start + high[b] - least + 1]
            price[1, b] = rate[start + most - low[b + 1] + 1]
            price[2, b], price[3, b] = np.inf, 0.0
        return
    if kind == TABLE:
        for b in range(bins - 1):
            price[0, b] = rate[start + least * leaves + high[b]]
            price[1, b] = rate[start + low[b + 1] * leaves + most]
            price[2, b], price[3, b] = rate[start + high[b] * leaves + low[b + 1]], 0.0
        return
    if kind == RANGE and rate[start + most] >= rate[start + least]:
        for b in range(bins - 1):
            price[0, b] = rate[start + high[b]] - rate[start + least]
            price[1, b] = rate[start + most] - rate[start + low[b + 1]]
            price[2, b], price[3, b] = rate[start + low[b + 1]] - rate[start + high[b]], 0.0
        return
    for b in range(bins - 1):
        price[0, b] = rate_at(shape, rate, node, i, least, high[b])
        price[1, b] = rate_at(shape, rate, node, i, low[b + 1], most)
        price[2, b] = rate_at(shape, rate, node, i, high[b], low[b + 1])
        price[3, b] = rate_at(shape, rate, node, i, low[b], high[b])


@inner_kernel
def _bits(part: int, total: int) -> float:
    """What a part adds to the entropy of a split."""
    return -part / total * np.log2(part / total) if part > 0 else 0.0


@inner_kernel
def _best_cut(i: int, bins: int, k: int, room: _Room) -> None:  # room OUT
    """Find the run of bins that is best sent to the front, what that saves for each bit, and what all children do.

    Bin b has ``weight[b]`` rows with leaves ``low[b]``..``high[b]``. Both sides are to have k rows; the nearer to the
    middle the better.
    """
    low, high, weight, price, whole = room.low, room.high, room.weight, room.price, room.whole[i]
    total = 0
    for b in range(bins):
        total += weight[b]
    best, saved, first, last, front = -1.0, -1.0, low[0], low[0], 0
    before, child, child_low, child_price = 0, 0, low[0], 0.0
    all_saved, bits, small = 0.0, 0.0, 0
    for b in range(bins):
        before += weight[b]
        child += weight[b]
        if b < bins - 1:
            child_price = max(child_price, price[3, b])
            if before >= k and total - before >= k:
                gain = total * whole - before * price[0, b] - (total - before) * price[1, b]
                worth = gain * gain * gain / (np.float64(before) * (total - before))
                if worth > best:
                    best, saved, first, last, front = worth, gain, low[0], high[b], before
            if price[2, b] < whole - 1e-12:
                child_price = max(child_price, price[2, b])
                continue
        elif child == total:
            break
        if child >= k and total - child >= k:  # a child ends here
            gain = child * (whole - child_price)
            worth = gain * gain * gain / (np.float64(child) * (total - child))
            if worth > best:
                best, saved, first, last, front = worth, gain, child_low, high[b], child
            all_saved += gain
            bits += _bits(child, total)
        else:
            small += child
        if b < bins - 1:
            child, child_low, child_price = 0, low[b + 1], 0.0
    room.front[i, 0], room.front[i, 1] = first, last
    room.bits[i] = bits + _bits(small, total)
    room.saved[i, 0] = saved / (_bits(front, total) + _bits(total - front, total)) if best >= 0.0 else -1.0
    room.saved[i, 1] = all_saved / room.bits[i] if best >= 0.0 and all_saved > 0.0 else -1.0


@inner_kernel
def _sort_few(rows: Nodes, weights: Ints, a: int, b: int, i: int, room: _Room) -> int:  # room OUT
    """Make a bin of each leaf that occurs in rows[a:b], by sorting; return how many."""
    low, high, weight, bins = room.low, room.high, room.weight, 0
    for p in range(a, b):
        leaf = rows[p, i]
        q = bins
        while q > 0 and low[q - 1] > leaf:
            q -= 1
        if q > 0 and low[q - 1] == leaf:
            weight[q - 1] += weights[p]
            continue
        for r in range(bins, q, -1):
            low[r] = high[r] = low[r - 1]
            weight[r] = weight[r - 1]
        low[q] = high[q] = leaf
        weight[q] = weights[p]
        bins += 1
    return bins


@inner_kernel
def _children(shape: Ints, node: Nodes, i: int, least: int, most: int) -> int:
    """Where the children of the lowest node above two leaves of a large tree stand; -1 if there are too many."""
    if shape[i, 0] != TREE:
        return -1
    above, leaves = shape[i, 3], shape[i, 2]
    while node[above + least] != node[above + most]:
        above += leaves
    above -= leaves
    return above if node[above + most] - node[above + least] < _BINS else -1


@inner_kernel
def _count_many(
    rows: Nodes, weights: Ints, a: int, b: int, i: int, shape: Ints, node: Nodes, room: _Room
) -> int:  # room OUT
    """Count rows[a:b] by leaf, or if there are too many by node or by runs of leaves; return how many bins."""
    low, high, weight, least, most = room.low, room.high, room.weight, room.least[i], room.most[i]
    children, shift = _children(shape, node, i, least, most), 0
    if children >= 0:
        bins = node[children + most] - node[children + least] + 1
    else:
        bins = min(_BINS, 2 * (b - a))
        while (most - least) >> shift >= bins:
            shift += 1
        bins = ((most - least) >> shift) + 1
    for q in range(bins):
        weight[q], low[q], high[q] = 0, most, least
    if children < 0 and shift == 0:
        for p in range(a, b):
            weight[rows[p, i] - least] += weights[p]
        for q in range(bins):
            low[q] = high[q] = least + q
    else:
        for p in range(a, b):
            leaf = np.int64(rows[p, i])
            q = node[children + leaf] - node[children + least] if children >= 0 else (leaf - least) >> shift
            weight[q] += weights[p]
            low[q], high[q] = min(low[q], leaf), max(high[q], leaf)
    used = 0
    for q in range(bins):
        if weight[q] > 0:
            weight[used], low[used], high[used] = weight[q], low[q], high[q]
            used += 1
    return used


@inner_kernel
def _measure(rows: Nodes, weights: Ints, a: int, b: int, shape: Ints, rate: Floats, node: Nodes, room: _Room) -> int:
    """Find the least and the greatest leaf of each attribute in rows[a:b] and what a row costs then; count rows."""
    least, most, whole = room.least, room.most, room.whole
    m, total = shape.shape[0], 0
    for i in range(m):
        least[i] = most[i] = rows[a, i]
    for p in range(a, b):
        total += weights[p]
        for i in range(m):
            leaf = np.int64(rows[p, i])
            least[i], most[i] = min(least[i], leaf), max(most[i], leaf)
    for i in range(m):
        if least[i] == most[i]:
            whole[i] = -1.0
        elif shape[i, 0] == SET:
            whole[i] = rate[shape[i, 1] + most[i] - least[i] + 1]
        else:
            whole[i] = rate_at(shape, rate, node, i, least[i], most[i])
    return total


@inner_kernel
def _worth_parting(m: int, total: float, k: int, children: float, room: _Room) -> int:
    """The attribute of whose children most is saved, if they will be parted before groups are small; else -1.

    Each bit of a split halves what is left, so that there are some to be spent until groups have k rows. They go where
    they save most: to part children always as much, to cut a range half as much each time. Children that will be
    parted are best parted at once, while there are still enough rows of each.
    """
    spare = np.log2(total / k)
    low, high = 0.0, 0.0
    for i in range(m):
        high = max(high, room.saved[i, 0], children * room.saved[i, 1])
    for _ in range(_HALVINGS):
        least, used = (low + high) / 2, 0.0
        for i in range(m):
            if children * room.saved[i, 1] >= least:
                used += room.bits[i]
            elif room.saved[i, 0] > least:
                used += 1.0 + np.log2(room.saved[i, 0] / least)
        if used > spare:
            low = least
        else:
            high = least
    found = -1
    for i in range(m):
        if children * room.saved[i, 1] >= high and (found < 0 or room.saved[i, 1] > room.saved[found, 1]):
            found = i
    return found


@inner_kernel
def _best_split(
    rows: Nodes,
    weights: Ints,
    a: int,
    b: int,
    times: int,
    shape: Ints,
    rate: Floats,
    node: Nodes,
    k: int,
    children: float,
    room: _Room,
) -> int:  # room OUT
    """The attribute to split rows[a:b] by, -1 if they are all alike; all there is to split are so many times as many.

    What children save counts ``children`` times: rows in a part of a range are closer together than the part is wide.
    """
    whole, saved, m = room.whole, room.saved, shape.shape[0]
    total = _measure(rows, weights, a, b, shape, rate, node, room)
    widest, many = 0, b - a > _MANY
    for i in range(1, m):
        widest = i if whole[i] > whole[widest] else widest
    enough = k if total >= 2 * k else 1
    while True:
        best, found = -1.0, -1
        for i in range(m):
            saved[i, 0] = saved[i, 1] = -1.0
        for turn in range(-1, m):  # the widest first: then others can hardly save more than they cost
            i = widest if turn < 0 else turn
            if whole[i] < 0.0 or turn == widest or (not many and total * whole[i] <= best):
                continue
            if b - a <= _FEW:
                bins = _sort_few(rows, weights, a, b, i, room)
            else:
                bins = _count_many(rows, weights, a, b, i, shape, node, room)
            _price_cuts(shape, rate, node, i, bins, room)
            _best_cut(i, bins, enough, room)
            worth = max(saved[i, 0], children * saved[i, 1])
            if worth > best:
                best, found = worth, i
        if many and found >= 0:
            parted = _worth_parting(m, np.float64(total) * times, k, children, room)
            found = parted if parted >= 0 else found
        if found >= 0 or enough == 1:
            return found
        enough = 1


@kernel
def split_regions(
    leaves: Nodes,
    weights: Ints,
    shape: Ints,
    rate: Floats,
    node: Nodes,
    order: Ints,  # IN OUT
    k: int,
    children: float,
    largest: int,
) -> Ints:
    """Arrange ``order`` by splits until every part has at most ``largest`` points; return where the parts begin.

    Some of its points tell by which attribute a large part is split, and all of them where.
    """
    n, m = order.size, shape.shape[0]
    room = _make_room(m)
    rows, rows_weights = np.empty((_SAMPLE, m), np.int32), np.empty(_SAMPLE, np.int64)
    column, column_weights, spare = np.empty((n, 1), np.int32), np.empty(n, np.int64), np.empty(n, np.int64)
    starts = [0]
    stack = [(0, n)]
    while len(stack) > 0:
        a, b = stack.pop()
        attribute, first, last = -1, 0, 0
        if b - a > largest:
            count, step = 0, (b - a + _SAMPLE - 1) // _SAMPLE
            for p in range(a + step // 2, b, step):
                j = order[p]
                rows_weights[count] = weights[j]
                for i in range(m):
                    rows[count, i] = leaves[j, i]
                count += 1
            attribute = _best_split(rows, rows_weights, 0, count, step, shape, rate, node, k, children, room)
            if attribute >= 0:
                for p in range(a, b):
                    column[p, 0], column_weights[p] = leaves[order[p], attribute], weights[order[p]]
                one = shape[attribute : attribute + 1]
                _best_split(column, column_weights, a, b, 1, one, rate, node, k, children, room)
                first, last = room.front[0]
        if attribute < 0:
            starts.append(b)
            continue
        front = rest = 0
        for p in range(a, b):
            j = order[p]
            if first <= column[p, 0] <= last:
                order[a + front] = j
                front += 1
            else:
                spare[rest] = j
                rest += 1
        order[a + front : b] = spare[:rest]
        stack.append((a + front, b))
        stack.append((a, a + front))
    return np.array(starts)


@kernel
def split_order(
    leaves: Nodes,
    weights: Ints,
    shape: Ints,
    rate: Floats,
    node: Nodes,
    order: Ints,  # IN OUT
    k: int,
    children: float,
) -> None:
    """Arrange ``order`` by splits until all parts are single points, or all of a part are alike.

    Points are moved about with all their leaves, so that a part lies together in memory.
    """
    n, m = order.size, shape.shape[0]
    room = _make_room(m)
    rows, rows_weights = leaves[order], weights[order]
    spare, spare_weights, spare_order = np.empty_like(rows), np.empty_like(rows_weights), np.empty_like(order)
    stack = [(0, n)]
    while len(stack) > 0:
        a, b = stack.pop()
        if b - a <= 2:
            continue
        attribute = _best_split(rows, rows_weights, a, b, 1, shape, rate, node, k, children, room)
        if attribute < 0:
            continue
        first, last = room.front[attribute]
        front, rest = a, 0
        for p in range(a, b):
            if first <= rows[p, attribute] <= last:
                order[front], rows_weights[front] = order[p], rows_weights[p]
                for i in range(m):
                    rows[front, i] = rows[p, i]
                front += 1
            else:
                spare_order[rest], spare_weights[rest] = order[p], rows_weights[p]
                for i in range(m):
                    spare[rest, i] = rows[p, i]
                rest += 1
        order[front:b], rows_weights[front:b] = spare_order[:rest], spare_weights[:rest]
        rows[front:b] = spare[:rest]
        stack.append((front, b))
        stack.append((a, front))
