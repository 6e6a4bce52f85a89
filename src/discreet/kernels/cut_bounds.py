"""What cells and parts cost, and what the rows of a part come to at least, however it is split further.

Whichever recoding is chosen, each cell ends in one class. If the class is published, its rows cost no less than the
cell's floor. What a part loses beyond the floors of its cells is bounded in :mod:`discreet.kernels.cut_knapsacks`.

Tuples of arrays are taken apart once and loops are inside kernels: handing them on costs more than a cell does.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels._numba import kernel
from discreet.kernels.cut_knapsacks import (
    any_rows,
    few_cells,
    majority_rows,
    single_records,
    single_values,
    whole_cells,
)
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
def add_entries(
    begin: int,
    end: int,
    values: int,
    by_label: bool,
    value: Codes,
    count: Ints,
    owner: Codes,
    hist: Ints,
    joint: Ints,
    touched: Codes,
) -> int:
    """Add entries to a histogram, and to the one that tells labels apart; returns how many values it has now."""
    for q in range(begin, end):
        i = owner[value[q]]
        if hist[i] == 0:
            touched[values] = i
            values += 1
        hist[i] += count[q]
        if by_label:
            joint[value[q]] += count[q]
    return values


@kernel
def clear(values: int, labels: int, by_label: bool, hist: Ints, joint: Ints, need: Ints, touched: Codes) -> None:
    """Empty the histograms, and what must go of each value."""
    for j in range(values):
        i = touched[j]
        hist[i], need[i] = 0, 0
        if by_label:
            joint[i * labels : (i + 1) * labels] = 0


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
        values = add_entries(link[e, START], link[e, STOP], 0, by_label, value, count, owner, hist, joint, touched)
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
        clear(values, labels, by_label, hist, joint, need, touched)


@kernel
def floors(begin: int, end: int, number: Floats, perm: Codes) -> float:
    """Return the sum of what the cells of a range cost at least if they are published."""
    total = 0.0
    for p in range(begin, end):
        total += number[perm[p], LOW]
    return total


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
            values = add_entries(
                link[e, START], link[e, STOP], values, by_label, value, count, owner, hist, joint, touched
            )
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
        clear(values, labels, by_label, hist, joint, need, touched)


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
