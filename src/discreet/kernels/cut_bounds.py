"""What cells and parts cost, and what the rows of a part come to at least, however it is split further.

Whichever recoding is chosen, each cell ends in one class. If the class is published, its rows cost no less than the
cell's floor. And what is published of a part, put together, is ok: so cells, records or values must go until the rest
is, which is a knapsack, bounded by its fractional relaxation.

Tuples of arrays are taken apart once and loops are inside kernels: handing them on costs more than a cell does.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import kernel
from discreet.kernels.cut_state import (
    ALONE,
    BEGIN,
    BOUND,
    CLASS_RECORDS,
    CLASS_VALUES,
    COST,
    DEAD,
    DISTINCT,
    END,
    FLOOR,
    FULL,
    GIVEN,
    GONE,
    HIGH,
    KEPT,
    KIND,
    KNAPSACK,
    LABELS,
    LIMIT,
    LOST,
    LOW,
    MARGIN,
    MINORITY,
    MIXED,
    NEED,
    NONE,
    PENALTY,
    PRICE,
    ROWS,
    SEPARABLE,
    SIZE,
    SMALLEST,
    SQUARES,
    START,
    STOP,
    SUMS,
    VALUE_PENALTY,
    VIOLATING_RECORDS,
    VIOLATING_VALUES,
    WRONG,
    Cells,
    Codes,
    Floats,
    Ints,
    Parts,
    Rules,
    Space,
    Tree,
)

__all__ = ["look_at", "price_cells"]

_ROUNDING = 1e-9
_FEW = 3
"""Parts of so many cells are bounded by all ways to put them together."""


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
def most_kept(hist: Ints, touched: Codes, values: int, theta: Floats, size: int) -> int:
    """Return the most rows of a class that can stay within the thresholds: Lemma 3, until nothing violates."""
    left = size
    while True:
        kept, free, share = 0, 0, 0.0
        for j in range(values):
            i = touched[j]
            cap = np.int64(np.floor(theta[i] * left))
            if hist[i] > cap:
                kept += cap
                share += theta[i]
            else:
                kept += hist[i]
                free += hist[i]
        if kept == left:
            return left
        if share < 1.0 - _ROUNDING:
            kept = min(kept, np.int64(np.floor(free / (1.0 - share) * (1 + _ROUNDING) + _ROUNDING)))
        left = kept


@kernel
def published(price: int, size: float, code: Codes, item: int, rate: Floats, sums: Floats, labels: int) -> float:
    """Return what a class costs if it is published."""
    if price == SQUARES:
        return size * size
    total = 0.0
    if price == MINORITY:
        for c in range(labels):
            total = max(total, sums[c])
        return size - total
    if price == SEPARABLE:
        for i in range(code.shape[1]):
            total += rate[code[item, i]]
        return total * size
    for i in range(code.shape[1]):
        total += rate[code[item, i]] * sums[i]
    return total


@kernel
def above_thresholds(values: int, size: int, theta: Floats, hist: Ints, touched: Codes) -> int:
    """Return how many values of a histogram exceed their threshold, and put those first."""
    found = 0
    for j in range(values):
        i = touched[j]
        if hist[i] > np.floor(theta[i] * size):
            touched[j] = touched[found]
            touched[found] = i
            found += 1
    return found


@kernel
def kept_majority(values: int, labels: int, hist: Ints, joint: Ints, need: Ints, touched: Codes) -> int:
    """Return how many records of one label can stay at most if ``need`` of each value go."""
    most = 0
    for c in range(labels):
        stay = 0
        for j in range(values):
            i = touched[j]
            own = joint[i * labels + c]
            stay += own - max(0, need[i] - (hist[i] - own))
        most = max(most, stay)
    return most


@kernel
def removed_cost(
    price: int,
    cost: float,
    high: float,
    size: int,
    kept: int,
    n: float,
    values: int,
    labels: int,
    theta: Floats,
    ws: Space,
) -> float:
    """Return what a class costs of which all but ``kept`` rows go, and set ``ws.need`` to how many of each value."""
    for j in range(values):
        i = ws.touched[j]
        ws.need[i] = ws.hist[i] - min(ws.hist[i], np.int64(np.floor(theta[i] * kept)))
    gone = float(size - kept)
    if price == SEPARABLE:
        return cost / size * kept + high / size * gone
    if price == SQUARES:
        return float(kept) * kept + n * gone
    return kept - kept_majority(values, labels, ws.hist, ws.joint, ws.need, ws.touched) + gone


@kernel
def price_cells(first: int, last: int, tree: Tree, cells: Cells, rules: Rules, ws: Space) -> None:
    """Set what the rows of cells cost: at least if published, as a class of their own, and suppressed.

    Cells whose rows published are known (not negative) have been priced.
    """
    facts, theta, owner = rules.facts, rules.theta, rules.owner
    number, link, value, count, sums = cells.number, cells.link, cells.value, cells.count, cells.sums
    hist, joint, need, touched = ws.hist, ws.joint, ws.need, ws.touched
    kind, price, labels = int(facts[KIND]), int(facts[PRICE]), int(facts[LABELS])
    n, smallest, distinct, penalty, value_penalty = (
        facts[ROWS],
        facts[SMALLEST],
        facts[DISTINCT],
        facts[PENALTY],
        facts[VALUE_PENALTY],
    )
    m, tight = cells.code.shape[1], facts[KNAPSACK] > 0.0
    by_label = kind == VIOLATING_RECORDS and price == MINORITY
    if price == GIVEN:
        return
    for e in range(first, last):
        if number[e, KEPT] >= 0.0:
            continue
        size = np.int64(number[e, SIZE])
        values = 0
        for q in range(link[e, START], link[e, STOP]):
            i = owner[value[q]]
            if hist[i] == 0:
                touched[values] = i
                values += 1
            hist[i] += count[q]
            if by_label:
                joint[value[q]] += count[q]
        low = published(price, number[e, SIZE], cells.code, e, tree.rate, sums[e], labels)
        exact = low
        high = sums[e, m] if price == SUMS else penalty * size
        margin = (high - low) / size
        if price == SQUARES:
            least = max(float(size), smallest) if tight else float(size)
            margin = n - max(least, 2.0 * size - 1.0)
            if kind <= CLASS_RECORDS and tight:
                # no ok class that holds this cell is smaller than its most frequent value allows
                for j in range(values):
                    if 0.0 < theta[touched[j]] < 1.0:
                        least = max(least, np.ceil(hist[touched[j]] / theta[touched[j]] - _ROUNDING))
            low = size * min(least, n)
            if kind == VIOLATING_RECORDS and 2 * size > n:
                half = np.floor(n / 2)
                low = min(low, half * half + n * (size - half))
                margin = 0.0
        above = above_thresholds(values, size, theta, hist, touched)
        fits = size >= smallest and values >= distinct
        alone, stay = low, size
        if not fits or above > 0:
            if kind == CLASS_RECORDS:
                alone, stay = high, 0
            elif kind == NONE or (kind != VIOLATING_RECORDS and not fits):
                alone = np.inf
            elif kind == VIOLATING_RECORDS:
                alone, stay = high, 0
                kept = most_kept(hist, touched, values, theta, size)
                if fits and kept >= smallest:
                    alone, stay = removed_cost(price, exact, high, size, kept, n, values, labels, theta, ws), kept
            elif kind == CLASS_VALUES:
                alone = low + value_penalty * size
            else:
                for j in range(above):
                    alone += value_penalty * hist[touched[j]]
        if kind == CLASS_VALUES:
            high = low + value_penalty * size
        number[e, LOW], number[e, ALONE], number[e, HIGH], number[e, MARGIN] = low, alone, high, max(0.0, margin)
        number[e, KEPT] = stay
        for j in range(values):
            i = touched[j]
            hist[i], need[i] = 0, 0
            if by_label:
                joint[i * labels : (i + 1) * labels] = 0


@kernel
def floors(begin: int, end: int, number: Floats, perm: Codes) -> float:
    """Return the sum of what the cells of a range cost at least if they are published."""
    total = 0.0
    for p in range(begin, end):
        total += number[perm[p], LOW]
    return total


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


@kernel
def single_cell(
    kind: int,
    price: int,
    labels: int,
    slot: int,
    e: int,
    code: Codes,
    number: Floats,
    sums: Floats,
    rate: Floats,
    out: Floats,
) -> None:
    """Set the numbers of a part that is a single cell: however it is split, its rows stay together."""
    size, low, alone, kept = number[e, SIZE], number[e, LOW], number[e, ALONE], number[e, KEPT]
    cost = published(price, size, code, slot, rate, sums[e], labels)
    wrong, gone = 0.0 if np.isfinite(alone) else 1.0, size - kept
    if wrong > 0.0:
        alone = low
    elif kind >= CLASS_VALUES:
        cost += alone - low
    elif kept == 0.0:
        cost = number[e, HIGH]
    elif gone > 0.0:
        cost = (cost * kept + number[e, HIGH] * gone) / size if price == SEPARABLE else alone
    out[BOUND], out[COST], out[LOST], out[GONE], out[WRONG], out[DEAD] = alone, cost, gone, gone, wrong, wrong
    out[FLOOR], out[MIXED], out[FULL] = low, 0.0, 1.0


@kernel
def look_at(
    first: int,
    last: int,
    listed: bool,
    active: Codes,
    tree: Tree,
    cells: Cells,
    parts: Parts,
    rules: Rules,
    ws: Space,
    perm: Codes,
    bounds: bool,
) -> None:
    """Set the cost of parts as classes and, with ``bounds``, what their rows come to at least.

    The parts are a range of the stack or, if ``listed``, a range of the active ones.
    """
    facts, theta, owner = rules.facts, rules.theta, rules.owner
    number, link, value, count, sums = cells.number, cells.link, cells.value, cells.count, cells.sums
    hist, joint, need, touched, added = ws.hist, ws.joint, ws.need, ws.touched, ws.sums
    kind, price, labels = int(facts[KIND]), int(facts[PRICE]), int(facts[LABELS])
    n, smallest, distinct, value_penalty = facts[ROWS], facts[SMALLEST], facts[DISTINCT], facts[VALUE_PENALTY]
    width, tight, limited = sums.shape[1], facts[KNAPSACK] > 0.0, facts[LIMIT] < facts[ROWS]
    by_label = kind == VIOLATING_RECORDS and price == MINORITY
    if price == GIVEN:
        for at in range(first, last):
            slot = active[at] if listed else at
            given_bound(kind, slot, number, parts.span, parts.number, ws.item, perm)
        return
    for at in range(first, last):
        slot = active[at] if listed else at
        begin, end = parts.span[slot, BEGIN], parts.span[slot, END]
        out = parts.number[slot]
        if end - begin == 1:
            single_cell(kind, price, labels, slot, perm[begin], parts.code, number, sums, tree.rate, out)
            continue
        values, rows, high, low = 0, 0.0, 0.0, 0.0
        for c in range(width):
            added[c] = 0.0
        for p in range(begin, end):
            e = perm[p]
            rows += number[e, SIZE]
            low += number[e, LOW]
            high += number[e, HIGH]
            for c in range(width):
                added[c] += sums[e, c]
            for q in range(link[e, START], link[e, STOP]):
                i = owner[value[q]]
                if hist[i] == 0:
                    touched[values] = i
                    values += 1
                hist[i] += count[q]
                if by_label:
                    joint[value[q]] += count[q]
        size = np.int64(rows)
        cost = published(price, rows, parts.code, slot, tree.rate, added, labels)
        above = above_thresholds(values, size, theta, hist, touched)
        fits = size >= smallest and values >= distinct
        kept = size
        if above > 0 and kind != VIOLATING_VALUES:
            kept = most_kept(hist, touched, values, theta, size)
        lost, gone, wrong, extra, full = 0.0, 0.0, 0.0, 0.0, 0.0
        if not fits or above > 0:
            if kind == NONE or (kind >= CLASS_VALUES and not fits):
                wrong = 1.0
            elif kind <= VIOLATING_RECORDS and (not fits or kept < smallest):
                cost, extra, gone, lost, full = high, high - low, rows, rows, 1.0
            elif kind in (CLASS_RECORDS, CLASS_VALUES):
                if kind == CLASS_RECORDS:
                    cost, gone, lost = high, rows, float(size - kept)
                else:
                    cost += value_penalty * size
                if bounds and tight and kept == 0:
                    extra, full = high - low, 1.0
                elif bounds and tight and end - begin <= _FEW and not limited:
                    extra = few_cells(high - low, values, size, begin, end, cells, rules, ws, perm)
                elif bounds and tight:
                    for j in range(above):
                        extra = max(extra, whole_cells(touched[j], size, False, begin, end, cells, rules, ws, perm))
                        if limited and kind == CLASS_RECORDS:
                            go = whole_cells(touched[j], size, True, begin, end, cells, rules, ws, perm)
                            lost = max(lost, np.ceil(go - _ROUNDING * rows))
                elif bounds:
                    extra = any_rows(float(size - kept), False, begin, end, number, ws.item, perm)
            elif kind == VIOLATING_RECORDS:
                gone = float(size - kept)
                lost = gone
                cost = removed_cost(price, cost, high, size, kept, n, values, labels, theta, ws)
                if bounds and price == MINORITY:
                    extra = majority_rows(values, labels, begin, end, cells, ws, perm)
                elif bounds and tight:
                    for j in range(values):
                        if need[touched[j]] > 0:
                            extra += single_records(touched[j], begin, end, cells, ws, perm)
                elif bounds:
                    extra = any_rows(gone, True, begin, end, number, ws.item, perm)
            else:
                together = 0.0
                for j in range(above):
                    together += value_penalty * hist[touched[j]]
                cost += together
                if bounds and tight and end - begin <= _FEW:
                    extra = few_cells(together, values, size, begin, end, cells, rules, ws, perm)
                elif bounds:
                    for j in range(above):
                        extra += value_penalty * single_values(touched[j], size, begin, end, cells, rules, ws, perm)
                full = 1.0 if extra >= value_penalty * size * (1.0 - _ROUNDING) else 0.0
        out[BOUND], out[COST], out[LOST], out[GONE] = low + extra, cost, lost, gone
        out[WRONG], out[DEAD] = wrong, wrong
        out[FLOOR], out[MIXED], out[FULL] = low, 0.0, full
        for j in range(values):
            i = touched[j]
            hist[i], need[i] = 0, 0
            if by_label:
                joint[i * labels : (i + 1) * labels] = 0


@kernel
def given_bound(kind: int, slot: int, number: Floats, span: Ints, told: Floats, item: Floats, perm: Codes) -> None:
    """Bound a part whose verdict, and whose cells' numbers, were told from outside."""
    begin, end, out = span[slot, BEGIN], span[slot, END], told[slot]
    out[LOST] = 0.0
    if end - begin == 1:
        alone = number[perm[begin], ALONE]
        out[BOUND] = alone if np.isfinite(alone) else number[perm[begin], LOW]
        out[LOST], out[DEAD] = out[GONE], out[WRONG]
        return
    out[BOUND] = floors(begin, end, number, perm)
    if out[NEED] == 0.0:
        return
    if kind in (CLASS_RECORDS, CLASS_VALUES):
        out[BOUND] += any_rows(out[NEED], False, begin, end, number, item, perm)
    elif kind == VIOLATING_RECORDS:
        out[BOUND] += any_rows(out[NEED], True, begin, end, number, item, perm)
    if kind in (CLASS_RECORDS, VIOLATING_RECORDS):
        out[LOST] = out[NEED]
