"""An order of points in which near ones are neighbours, by splitting again and again where that saves most.

A split sends the points with leaves low..high of one attribute to the front: the lower part of a range, or one child of
the lowest node above all points. It saves, for the rows on each side, what the attribute's rate falls for them. There
is only so much to split until groups are small, so what counts is what a split saves for each bit of its entropy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.solve.kernels.arrays import Ints, Nodes
from discreet.solve.kernels.covers import RANGE, SET, TABLE, TREE, Rates, rate_of
from discreet.solve.kernels.jit import inner_kernel, kernel
from discreet.solve.kernels.records import Records, layout

__all__ = ["SplitRule", "split_order", "split_regions"]

_BINS = 512
"""At most so many cuts of one attribute are compared at a time."""
_FEW = 32
"""So few points are sorted; more are counted by leaf."""
_MANY = 256
"""With so many points it is worth looking ahead."""
_HALVINGS = 20
_SAMPLE = 8192
"""So many points decide by which attribute to split a larger part."""


class _Bin:
    """Neighbouring leaves of an attribute."""

    low: int  # the least leaf, and the greatest
    high: int
    rows: int
    below: float  # what a row costs in this bin and all before it
    above: float  # ... in all after it
    across: float  # ... in a cover of this bin's last leaf and the next one's first
    within: float  # ... in this bin alone


_BIN = layout(_Bin)


class _Split:
    """The best split by an attribute."""

    least: int  # the least leaf of the points, and the greatest
    most: int
    whole: float  # what a row costs that covers both; -1 if they are the same
    front_low: int  # the leaves that are best sent to the front, ...
    front_high: int
    saved: float  # ... and what that saves for each bit; -1 if no split is possible
    children_saved: float  # what it saves for each bit to separate all children; -1 if impossible
    children_bits: float  # the bits that takes


_SPLIT = layout(_Split)


class SplitRule(NamedTuple):
    """What decides on splits."""

    rates: Rates
    k: int
    """Both sides should have so many rows."""
    children: float
    """How many times the savings by nodes count: rows in a part of a range are closer than the part is wide."""


class _Workspace(NamedTuple):
    """Scratch space: the bins of one attribute, and what was found for each attribute."""

    bin: Records[_Bin]
    split: Records[_Split]


@kernel
def _make_workspace(m: int) -> _Workspace:
    return _Workspace(np.empty(_BINS, _BIN), np.empty(m, _SPLIT))


@inner_kernel
def _price_cuts(rates: Rates, i: int, count: int, bins: Records[_Bin]) -> None:  # bins OUT
    """Find what a row costs below and above the cut after each bin, across the cut, and in the bin.

    The kinds are written out, since a call of ``rate_of`` for each would take several times as long. Bins of single
    leaves cost nothing within; for sets no two values have a node in common but the root.
    """
    rate, attribute = rates.rate, rates.attribute[i]
    kind, start, leaves = attribute.kind, attribute.start, attribute.leaves
    least, most = bins[0].low, bins[count - 1].high
    if kind == SET:
        for b in range(count - 1):
            bins[b].below = rate[start + bins[b].high - least + 1]
            bins[b].above = rate[start + most - bins[b + 1].low + 1]
            bins[b].across, bins[b].within = np.inf, 0.0
        return
    if kind == TABLE:
        for b in range(count - 1):
            bins[b].below = rate[start + least * leaves + bins[b].high]
            bins[b].above = rate[start + bins[b + 1].low * leaves + most]
            bins[b].across, bins[b].within = rate[start + bins[b].high * leaves + bins[b + 1].low], 0.0
        return
    if kind == RANGE and rate[start + most] >= rate[start + least]:  # no missing values among them
        for b in range(count - 1):
            bins[b].below = rate[start + bins[b].high] - rate[start + least]
            bins[b].above = rate[start + most] - rate[start + bins[b + 1].low]
            bins[b].across, bins[b].within = rate[start + bins[b + 1].low] - rate[start + bins[b].high], 0.0
        return
    for b in range(count - 1):
        bins[b].below = rate_of(rates, i, least, bins[b].high)
        bins[b].above = rate_of(rates, i, bins[b + 1].low, most)
        bins[b].across = rate_of(rates, i, bins[b].high, bins[b + 1].low)
        bins[b].within = rate_of(rates, i, bins[b].low, bins[b].high)


@inner_kernel
def _bits(part: int, total: int) -> float:
    """Return the contribution of a part to the entropy of a split: -p log2 p."""
    return -part / total * np.log2(part / total) if part > 0 else 0.0


@inner_kernel
def _best_cut(bins: Records[_Bin], count: int, k: int, split: _Split) -> None:  # split OUT
    """Find the best run of bins to send to the front, its saving per bit, and that of all children.

    Candidates are the bins up to a cut, and each child of the lowest common node: children end where the rate across a
    cut is that of the whole. Both sides are to have k rows. Of all cuts the one with the highest
    saved**3 / (rows * other rows) is taken, which needs no logarithm and prefers cuts near the middle.
    """
    whole, total = split.whole, 0
    for b in range(count):
        total += bins[b].rows
    best, saved, first, last, front = -1.0, -1.0, bins[0].low, bins[0].low, 0
    before, child, child_low, child_price = 0, 0, bins[0].low, 0.0
    all_saved, bits, small = 0.0, 0.0, 0
    for b in range(count):
        before += bins[b].rows
        child += bins[b].rows
        if b < count - 1:
            child_price = max(child_price, bins[b].within)
            if before >= k and total - before >= k:
                gain = total * whole - before * bins[b].below - (total - before) * bins[b].above
                worth = gain * gain * gain / (np.float64(before) * (total - before))
                if worth > best:
                    best, saved, first, last, front = worth, gain, bins[0].low, bins[b].high, before
            if bins[b].across < whole - 1e-12:
                child_price = max(child_price, bins[b].across)
                continue
        elif child == total:
            break
        if child >= k and total - child >= k:  # a child ends here
            gain = child * (whole - child_price)
            worth = gain * gain * gain / (np.float64(child) * (total - child))
            if worth > best:
                best, saved, first, last, front = worth, gain, child_low, bins[b].high, child
            all_saved += gain
            bits += _bits(child, total)
        else:
            small += child
        if b < count - 1:
            child, child_low, child_price = 0, bins[b + 1].low, 0.0
    split.front_low, split.front_high = first, last
    split.children_bits = bits + _bits(small, total)
    split.saved = saved / (_bits(front, total) + _bits(total - front, total)) if best >= 0.0 else -1.0
    split.children_saved = all_saved / split.children_bits if best >= 0.0 and all_saved > 0.0 else -1.0


@inner_kernel
def _sort_few(rows: Nodes, weights: Ints, a: int, b: int, i: int, bins: Records[_Bin]) -> int:  # bins OUT
    """Make a bin of each leaf that occurs in rows[a:b], by insertion; return how many."""
    count = 0
    for p in range(a, b):
        leaf = rows[p, i]
        q = count
        while q > 0 and bins[q - 1].low > leaf:
            q -= 1
        if q > 0 and bins[q - 1].low == leaf:
            bins[q - 1].rows += weights[p]
            continue
        for r in range(count, q, -1):
            bins[r].low = bins[r].high = bins[r - 1].low
            bins[r].rows = bins[r - 1].rows
        bins[q].low = bins[q].high = leaf
        bins[q].rows = weights[p]
        count += 1
    return count


@inner_kernel
def _children(rates: Rates, i: int, least: int, most: int) -> int:
    """Where the children of the lowest node above two leaves of a large tree begin; -1 if there are too many."""
    attribute, node = rates.attribute[i], rates.node
    if attribute.kind != TREE:
        return -1
    above, leaves = attribute.node_start, attribute.leaves
    while node[above + least] != node[above + most]:
        above += leaves
    above -= leaves
    return above if node[above + most] - node[above + least] < _BINS else -1


@inner_kernel
def _count_many(
    rows: Nodes, weights: Ints, a: int, b: int, rates: Rates, i: int, workspace: _Workspace
) -> int:  # workspace.bin OUT
    """Count rows[a:b] by leaf; if there are too many leaves by node, or by runs of 2**shift leaves. Return the bins."""
    bins, node, least, most = workspace.bin, rates.node, workspace.split[i].least, workspace.split[i].most
    children, shift = _children(rates, i, least, most), 0
    if children >= 0:
        count = node[children + most] - node[children + least] + 1
    else:
        count = min(_BINS, 2 * (b - a))
        while (most - least) >> shift >= count:
            shift += 1
        count = ((most - least) >> shift) + 1
    for q in range(count):
        bins[q].rows, bins[q].low, bins[q].high = 0, most, least
    if children < 0 and shift == 0:
        for p in range(a, b):
            bins[rows[p, i] - least].rows += weights[p]
        for q in range(count):
            bins[q].low = bins[q].high = least + q
    else:
        for p in range(a, b):
            leaf = np.int64(rows[p, i])
            own = bins[node[children + leaf] - node[children + least] if children >= 0 else (leaf - least) >> shift]
            own.rows += weights[p]
            own.low, own.high = min(own.low, leaf), max(own.high, leaf)
    used = 0
    for q in range(count):
        if bins[q].rows > 0:
            bins[used].rows, bins[used].low, bins[used].high = bins[q].rows, bins[q].low, bins[q].high
            used += 1
    return used


@inner_kernel
def _measure(rows: Nodes, weights: Ints, a: int, b: int, rates: Rates, split: Records[_Split]) -> int:  # split OUT
    """Find the least and the greatest leaf of each attribute in rows[a:b], and their rate; return the rows."""
    m, total = rates.attribute.size, 0
    for i in range(m):
        split[i].least = split[i].most = rows[a, i]
    for p in range(a, b):
        total += weights[p]
        for i in range(m):
            leaf, own = np.int64(rows[p, i]), split[i]
            own.least, own.most = min(own.least, leaf), max(own.most, leaf)
    for i in range(m):
        own = split[i]
        if own.least == own.most:
            own.whole = -1.0
        elif rates.attribute[i].kind == SET:
            own.whole = rates.rate[rates.attribute[i].start + own.most - own.least + 1]
        else:
            own.whole = rate_of(rates, i, own.least, own.most)
    return total


@inner_kernel
def _worth_separating(total: float, rule: SplitRule, split: Records[_Split]) -> int:
    """The attribute whose children save most, if they will be separated before groups are small; else -1.

    Each bit of a split halves what is left, so there are log2(rows / k) bits to spend until groups have k rows. They go
    where they save most: always as much to separate children, but half as much each time a range is cut. The price of a
    bit at which they are just used up is found by bisection. Children worth that price are best separated at once,
    while there are still enough rows of each.
    """
    m, children, spare = split.size, rule.children, np.log2(total / rule.k)
    low, high = 0.0, 0.0
    for i in range(m):
        high = max(high, split[i].saved, children * split[i].children_saved)
    for _ in range(_HALVINGS):
        least, used = (low + high) / 2, 0.0
        for i in range(m):
            if children * split[i].children_saved >= least:
                used += split[i].children_bits
            elif split[i].saved > least:
                used += 1.0 + np.log2(split[i].saved / least)
        if used > spare:
            low = least
        else:
            high = least
    found = -1
    for i in range(m):
        saved = split[i].children_saved
        if children * saved >= high and (found < 0 or saved > split[found].children_saved):
            found = i
    return found


@inner_kernel
def _best_split(
    rows: Nodes, weights: Ints, a: int, b: int, times: int, rule: SplitRule, workspace: _Workspace
) -> int:  # workspace OUT
    """The attribute to split rows[a:b] by; -1 if all are alike.

    If rows[a:b] are a sample, the part to be split is ``times`` as large. The widest attribute comes first: small parts
    then skip attributes that cannot save more, even if they were to cost nothing afterwards.
    """
    rates, k, split = rule.rates, rule.k, workspace.split[: rule.rates.attribute.size]
    m, total = split.size, _measure(rows, weights, a, b, rates, split)
    widest, many = 0, b - a > _MANY
    for i in range(1, m):
        widest = i if split[i].whole > split[widest].whole else widest
    enough = k if total >= 2 * k else 1
    while True:
        best, found = -1.0, -1
        for i in range(m):
            split[i].saved = split[i].children_saved = -1.0
        for turn in range(-1, m):
            i = widest if turn < 0 else turn
            if split[i].whole < 0.0 or turn == widest or (not many and total * split[i].whole <= best):
                continue
            if b - a <= _FEW:
                bins = _sort_few(rows, weights, a, b, i, workspace.bin)
            else:
                bins = _count_many(rows, weights, a, b, rates, i, workspace)
            _price_cuts(rates, i, bins, workspace.bin)
            _best_cut(workspace.bin, bins, enough, split[i])
            worth = max(split[i].saved, rule.children * split[i].children_saved)
            if worth > best:
                best, found = worth, i
        if many and found >= 0:
            separated = _worth_separating(np.float64(total) * times, rule, split)
            found = separated if separated >= 0 else found
        if found >= 0 or enough == 1:
            return found
        enough = 1


@kernel
def split_regions(leaves: Nodes, weights: Ints, rule: SplitRule, order: Ints, largest: int) -> Ints:  # order IN OUT
    """Arrange ``order`` by splits until every part has at most ``largest`` points; return where the parts begin.

    A sample decides by which attribute a large part is split, and all of its points where.
    """
    n, m = order.size, rule.rates.attribute.size
    workspace = _make_workspace(m)
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
            attribute = _best_split(rows, rows_weights, 0, count, step, rule, workspace)
            if attribute >= 0:
                for p in range(a, b):
                    column[p, 0], column_weights[p] = leaves[order[p], attribute], weights[order[p]]
                rates = Rates(rule.rates.attribute[attribute : attribute + 1], rule.rates.rate, rule.rates.node)
                alone = SplitRule(rates, rule.k, rule.children)
                _best_split(column, column_weights, a, b, 1, alone, workspace)
                first, last = workspace.split[0].front_low, workspace.split[0].front_high
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
def split_order(leaves: Nodes, weights: Ints, rule: SplitRule, order: Ints) -> None:  # order IN OUT
    """Arrange ``order`` by splits until every part is a single point, or all of its points are alike.

    Points are moved with all their leaves, so that a part lies together in memory. O(points x m) for each level of
    splits.
    """
    n, m = order.size, rule.rates.attribute.size
    workspace = _make_workspace(m)
    rows, rows_weights = leaves[order], weights[order]
    spare, spare_weights, spare_order = np.empty_like(rows), np.empty_like(rows_weights), np.empty_like(order)
    stack = [(0, n)]
    while len(stack) > 0:
        a, b = stack.pop()
        if b - a <= 2:
            continue
        attribute = _best_split(rows, rows_weights, a, b, 1, rule, workspace)
        if attribute < 0:
            continue
        first, last = workspace.split[attribute].front_low, workspace.split[attribute].front_high
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
