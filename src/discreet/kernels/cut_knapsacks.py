"""How little a part can lose: what must go until the rest is ok, as knapsacks over its cells.

What is published of a part, put together, is ok. So whole cells, single records or single values go until it is; items
may be taken in part, which never costs more. Parts of very few cells are bounded by all ways to put them together.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import kernel
from discreet.kernels.cut_state import (
    ALONE,
    DISTINCT,
    HIGH,
    KIND,
    KNAPSACK,
    LOW,
    MARGIN,
    SIZE,
    SMALLEST,
    START,
    STOP,
    VALUE_PENALTY,
    VIOLATING_VALUES,
    Cells,
    Codes,
    Floats,
    Rules,
    Space,
)

__all__ = ["any_rows", "few_cells", "majority_rows", "single_records", "single_values", "whole_cells"]

_ROUNDING = 1e-9


@kernel
def cheapest(item: Floats, items: int, need: float) -> float:
    """Return the least cost of getting ``need`` from items (price of one unit, units) that may be taken in part.

    Most of the time a few of the cheapest are enough, so they are taken off a heap.
    """
    for first in range(items // 2 - 1, -1, -1):
        sift(item, first, items)
    cost = 0.0
    while items > 0:
        price, units = item[0, 0], item[0, 1]
        if units >= need:
            return cost + price * need
        cost += price * units
        need -= units
        items -= 1
        item[0, 0], item[0, 1] = item[items, 0], item[items, 1]
        sift(item, 0, items)
    return cost


@kernel
def sift(item: Floats, at: int, items: int) -> None:
    """Let an item sink to its place in a heap with the cheapest on top."""
    price, units = item[at, 0], item[at, 1]
    while True:
        child = 2 * at + 1
        if child >= items:
            break
        if child + 1 < items and item[child + 1, 0] < item[child, 0]:
            child += 1
        if item[child, 0] >= price:
            break
        item[at, 0], item[at, 1] = item[child, 0], item[child, 1]
        at = child
    item[at, 0], item[at, 1] = price, units


@kernel
def whole_cells(
    i: int, size: int, rows: bool, begin: int, end: int, cells: Cells, rules: Rules, ws: Space, perm: Codes
) -> float:
    """Bound what it costs to take whole cells out of a part until value ``i`` keeps to its threshold.

    What counts is what suppressing a cell adds to its floor, or the rows that go.
    """
    number, link, value, count, owner, item = cells.number, cells.link, cells.value, cells.count, rules.owner, ws.item
    theta, items = rules.theta[i], 0
    for p in range(begin, end):
        e = perm[p]
        gain = -theta * number[e, SIZE]
        for q in range(link[e, START], link[e, STOP]):
            if owner[value[q]] == i:
                gain += count[q]
        if gain > 0:
            price = number[e, SIZE] if rows else number[e, HIGH] - number[e, LOW]
            item[items, 0], item[items, 1] = price / gain, gain
            items += 1
    return cheapest(item, items, ws.hist[i] - theta * size)


@kernel
def any_rows(need: float, single: bool, begin: int, end: int, number: Floats, item: Floats, perm: Codes) -> float:
    """Bound what it costs to take rows out of a part, whatever they hold: whole cells, or single records."""
    for p in range(begin, end):
        e = perm[p]
        price = number[e, MARGIN] if single else (number[e, HIGH] - number[e, LOW]) / number[e, SIZE]
        item[p - begin, 0], item[p - begin, 1] = price, number[e, SIZE]
    return cheapest(item, end - begin, need)


@kernel
def single_records(i: int, begin: int, end: int, cells: Cells, ws: Space, perm: Codes) -> float:
    """Bound what it costs to take ``ws.need`` records of value ``i`` out of a part."""
    number, link, value, count, item = cells.number, cells.link, cells.value, cells.count, ws.item
    items = 0
    for p in range(begin, end):
        e = perm[p]
        for q in range(link[e, START], link[e, STOP]):
            if value[q] == i:
                item[items, 0], item[items, 1] = number[e, MARGIN], count[q]
                items += 1
    return cheapest(item, items, float(ws.need[i]))


@kernel
def single_values(i: int, size: int, begin: int, end: int, cells: Cells, rules: Rules, ws: Space, perm: Codes) -> float:
    """Bound how often value ``i`` must become unknown until it keeps to its threshold where it is known."""
    number, link, value, count, item = cells.number, cells.link, cells.value, cells.count, ws.item
    theta = rules.theta[i]
    need = ws.hist[i] - theta * size
    if rules.facts[KNAPSACK] > 0.0 and theta * size < 1.0:
        return float(ws.hist[i])  # no class is large enough for a single one
    if rules.facts[KNAPSACK] == 0.0:
        return np.ceil(need / (1.0 - theta) - _ROUNDING * size)
    items = 0
    for p in range(begin, end):
        e = perm[p]
        for q in range(link[e, START], link[e, STOP]):
            if value[q] == i:
                gain = count[q] - theta * number[e, SIZE]
                if gain > 0:
                    item[items, 0], item[items, 1] = count[q] / gain, gain
                    items += 1
    return np.ceil(cheapest(item, items, need) - _ROUNDING * size)


@kernel
def few_cells(
    together: float, values: int, size: int, begin: int, end: int, cells: Cells, rules: Rules, ws: Space, perm: Codes
) -> float:
    """Return what two or three cells lose at least: together, which is given, each alone, or one alone."""
    number, link, value, count = cells.number, cells.link, cells.value, cells.count
    hist, touched, theta, owner, facts = ws.hist, ws.touched, rules.theta, rules.owner, rules.facts
    hides = int(facts[KIND]) == VIOLATING_VALUES
    apart = 0.0
    for p in range(begin, end):
        apart += number[perm[p], ALONE] - number[perm[p], LOW]
    least = min(together, apart)
    if end - begin == 2:
        return least
    for p in range(begin, end):
        e = perm[p]
        lost, rest, left = number[e, ALONE] - number[e, LOW], size - np.int64(number[e, SIZE]), 0
        for q in range(link[e, START], link[e, STOP]):
            hist[owner[value[q]]] -= count[q]
        wrong = 0
        for j in range(values):
            i = touched[j]
            if hist[i] > np.floor(theta[i] * rest):
                wrong += hist[i]
            left += hist[i] > 0
        for q in range(link[e, START], link[e, STOP]):
            hist[owner[value[q]]] += count[q]
        if hides:
            least = min(least, lost + facts[VALUE_PENALTY] * wrong)
        elif wrong == 0 and rest >= facts[SMALLEST] and left >= facts[DISTINCT]:
            least = min(least, lost)
        else:
            least = min(least, lost + together - (number[e, HIGH] - number[e, LOW]))
    return least


@kernel
def majority(sums: Floats, e: int, labels: int) -> int:
    """Return the most frequent label of a cell."""
    top = 0
    for c in range(1, labels):
        if sums[e, c] > sums[e, top]:
            top = c
    return top


@kernel
def majority_rows(values: int, labels: int, begin: int, end: int, cells: Cells, ws: Space, perm: Codes) -> float:
    """Bound what taking ``ws.need`` records of each value out of a part adds to the rows outside majorities.

    Records outside the majority of their cell go for nothing. More of a value can be had by taking records of the
    majority, which cost 1 each, or by letting another label be a cell's majority.
    """
    need, item, link, value, count, sums = ws.need, ws.item, cells.link, cells.value, cells.count, cells.sums
    for p in range(begin, end):
        e = perm[p]
        top = majority(sums, e, labels)
        for q in range(link[e, START], link[e, STOP]):
            if value[q] % labels != top:
                need[value[q] // labels] -= count[q]
    unmet = 0
    for j in range(values):
        unmet += max(0, need[ws.touched[j]])
    if unmet == 0:
        return 0.0
    items = 0
    for p in range(begin, end):
        e = perm[p]
        top = majority(sums, e, labels)
        price, units = 1.0, 0.0
        for c in range(labels):
            gain = 0.0
            for q in range(link[e, START], link[e, STOP]):
                i = value[q] // labels
                if c != top and need[i] > 0 and value[q] % labels == top:
                    own = count[q]
                    for r in range(link[e, START], link[e, STOP]):
                        if value[r] == i * labels + c:
                            own -= count[r]
                    gain += max(0, own)
            if gain > 0:
                units = max(units, gain)
                price = min(price, (sums[e, top] - sums[e, c]) / gain)
        if price < 1.0:
            item[items, 0], item[items, 1] = price, units
            items += 1
    item[items, 0], item[items, 1] = 1.0, unmet
    return cheapest(item, items + 1, float(unmet))
