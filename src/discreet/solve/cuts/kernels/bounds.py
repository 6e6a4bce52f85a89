"""Prices of cells, and cost and lower bound of parts.

In every reachable cut each cell ends up in one class. If that class is published, the cell's rows cost at least its
floor, their price at the most specific cut (Lemma 2). A part costs at least the sum of its cells' floors, plus the
least loss that makes what is published valid: Lemma 3 and Theorems 4 to 6, tightened in ``knapsacks``.

Loops stay inside the kernels, and what they call does not count references: a call that does costs more than a cell.
"""

from __future__ import annotations

import numpy as np

from discreet.solve.cuts.kernels.knapsacks import (
    any_rows,
    few_cells,
    majority_rows,
    single_records,
    single_values,
    whole_cells,
)
from discreet.solve.cuts.kernels.state import (
    CLASS_RECORDS,
    CLASS_VALUES,
    EXTERNAL,
    MINORITY,
    NONE,
    SEPARABLE,
    SQUARES,
    SUMS,
    VIOLATING_RECORDS,
    VIOLATING_VALUES,
    Codes,
    CutArrays,
    CutCell,
    CutCells,
    CutPart,
    CutRules,
    CutWorkspace,
    Floats,
    Ints,
)
from discreet.solve.kernels.jit import inner_kernel, kernel

__all__ = ["evaluate_parts", "price_cells"]

_ROUNDING = 1e-9
_FEW = 3
"""Parts of up to so many cells are bounded exactly, by all ways to combine them."""


@inner_kernel
def most_kept(hist: Ints, touched: Codes, values: int, theta: Floats, size: int) -> int:
    """Return the most rows of a class that can stay within all thresholds: Lemma 3, repeated until nothing violates.

    If n rows stay, value i keeps at most floor(theta_i n) of its own. That caps n again, so the cap is a fixed point
    from above. Where the thresholds of the violating values add up to s < 1, n <= free + s n, hence n <= free/(1-s);
    this jump saves most rounds.
    """
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


@inner_kernel
def published(rules: CutRules, rows: float, codes: Codes, rate: Floats, sums: Floats) -> float:
    """Return the price of a published class with these values and sums."""
    if rules.price == SQUARES:
        return rows * rows
    total = 0.0
    if rules.price == MINORITY:
        for c in range(rules.labels):
            total = max(total, sums[c])
        return rows - total
    if rules.price == SEPARABLE:
        for i in range(codes.size):
            total += rate[codes[i]]
        return total * rows
    for i in range(codes.size):
        total += rate[codes[i]] * sums[i]
    return total


@inner_kernel
def add_entries(
    cell: CutCell, values: int, by_label: bool, cells: CutCells, rules: CutRules, work: CutWorkspace
) -> int:
    """Add a cell to the histogram, and to the one by label; returns how many values occur by now.

    OUT: work.hist, work.joint, work.touched
    """
    for q in range(cell.first_entry, cell.end_entry):
        i = rules.owner[cells.value[q]]
        if work.hist[i] == 0:
            work.touched[values] = i
            values += 1
        work.hist[i] += cells.count[q]
        if by_label:
            work.joint[cells.value[q]] += cells.count[q]
    return values


@inner_kernel
def clear(values: int, by_label: bool, rules: CutRules, work: CutWorkspace) -> None:
    """Reset the histograms, and what must go of each value."""
    for j in range(values):
        i = work.touched[j]
        work.hist[i], work.need[i] = 0, 0
        if by_label:
            for c in range(i * rules.labels, (i + 1) * rules.labels):
                work.joint[c] = 0


@inner_kernel
def above_thresholds(values: int, size: int, theta: Floats, hist: Ints, touched: Codes) -> int:
    """Return how many values exceed their threshold, and move those to the front of ``touched``."""
    found = 0
    for j in range(values):
        i = touched[j]
        if hist[i] > np.floor(theta[i] * size):
            touched[j] = touched[found]
            touched[found] = i
            found += 1
    return found


@inner_kernel
def hidden_values(above: int, values: int, size: int, rules: CutRules, work: CutWorkspace) -> int:
    """Return how many values of a class become unknown, given that ``touched[:above]`` are too frequent.

    With ``rules.ambiguous`` the least frequent values it shows are added until a guess among the candidates, the values
    that may be too frequent and are not shown, is within the threshold of each.

    OUT: work.touched, the hidden values first; work.need, 1 for each
    """
    theta, hist, touched, need = rules.theta, work.hist, work.touched, work.need
    hidden = 0
    for j in range(above):
        hidden += hist[touched[j]]
    if not rules.ambiguous:
        return hidden
    for j in range(above):
        need[touched[j]] = 1
    for end in range(above, values):
        found, least = 0, 1.0
        for i in range(theta.size):
            if hidden > np.floor(theta[i] * size) and (hist[i] == 0 or need[i] == 1):
                found += 1
                least = min(least, theta[i])
        if np.floor(least * found) >= 1:
            break
        rarest = end
        for j in range(end + 1, values):
            i, k = touched[j], touched[rarest]
            if hist[i] < hist[k] or (hist[i] == hist[k] and i < k):
                rarest = j
        i = touched[rarest]
        touched[rarest] = touched[end]
        touched[end] = i
        need[i] = 1
        hidden += hist[i]
    return hidden


@inner_kernel
def kept_majority(values: int, labels: int, work: CutWorkspace) -> int:
    """Return how many records of one label can stay at most if ``work.need`` of each value go.

    Records of other labels go first.
    """
    most = 0
    for c in range(labels):
        stay = 0
        for j in range(values):
            i = work.touched[j]
            own = work.joint[i * labels + c]
            stay += own - max(0, work.need[i] - (work.hist[i] - own))
        most = max(most, stay)
    return most


@inner_kernel
def removed_cost(
    cost: float, suppressed: float, size: int, kept: int, values: int, rules: CutRules, work: CutWorkspace
) -> float:
    """Return the cost of a class with all but ``kept`` rows suppressed.

    IN: cost, suppressed: of all its rows, published and suppressed
    OUT: work.need, how many rows of each value go
    """
    for j in range(values):
        i = work.touched[j]
        work.need[i] = work.hist[i] - min(work.hist[i], np.int64(np.floor(rules.theta[i] * kept)))
    gone = float(size - kept)
    if rules.price == SEPARABLE:
        return cost / size * kept + suppressed / size * gone
    if rules.price == SQUARES:
        return float(kept) * kept + rules.rows * gone
    return kept - kept_majority(values, rules.labels, work) + gone


@kernel
def price_cells(state: CutArrays, first: int, last: int) -> None:
    """Price the cells of a range of the stack: floor, cost as a class of its own, and cost if suppressed.

    Cells with ``kept`` >= 0 are priced already: a merge of one cell only shifts its prices.
    """
    tree, cells, rules, work = state.tree, state.cells, state.rules, state.work
    kind, price, n = rules.suppression, rules.price, rules.rows
    by_label = kind == VIOLATING_RECORDS and price == MINORITY
    if price == EXTERNAL:
        return
    for e in range(first, last):
        cell = cells.record[e]
        if cell.kept >= 0.0:
            continue
        size = np.int64(cell.rows)
        values = add_entries(cell, 0, by_label, cells, rules, work)
        floor = published(rules, cell.rows, cells.code[e], tree.rate, cells.sums[e])
        exact = floor
        suppressed = cells.sums[e, cells.code.shape[1]] if price == SUMS else rules.penalty * size
        margin = (suppressed - floor) / size
        if price == SQUARES:
            # A row costs the size of its class, which is at least the size of the cell and the smallest valid size.
            least = max(float(size), rules.smallest) if rules.tight else float(size)
            # Removing one row of a class of n rows saves n^2 - (n-1)^2 = 2n - 1 at most.
            margin = n - max(least, 2.0 * size - 1.0)
            if kind <= CLASS_RECORDS and rules.tight:
                # A valid class with h rows of a value has at least h / theta rows.
                for j in range(values):
                    i = work.touched[j]
                    if 0.0 < rules.theta[i] < 1.0:
                        least = max(least, np.ceil(work.hist[i] / rules.theta[i] - _ROUNDING))
            floor = size * min(least, n)
            if kind == VIOLATING_RECORDS and 2 * size > n:
                # Beyond half of the table, removing records pays by itself: x^2 + n (size - x) is least at x = n / 2.
                half = np.floor(n / 2)
                floor = min(floor, half * half + n * (size - half))
                margin = 0.0
        above = above_thresholds(values, size, rules.theta, work.hist, work.touched)
        fits = size >= rules.smallest and values >= rules.distinct
        alone, stay = floor, size
        if not fits or above > 0:
            if kind == CLASS_RECORDS:
                alone, stay = suppressed, 0
            elif kind == NONE or (kind != VIOLATING_RECORDS and not fits):
                alone = np.inf
            elif kind == VIOLATING_RECORDS:
                alone, stay = suppressed, 0
                kept = most_kept(work.hist, work.touched, values, rules.theta, size)
                if fits and kept >= rules.smallest:
                    alone, stay = removed_cost(exact, suppressed, size, kept, values, rules, work), kept
            elif kind == CLASS_VALUES:
                alone = floor + rules.value_penalty * size
            else:
                alone += rules.value_penalty * hidden_values(above, values, size, rules, work)
        if kind == CLASS_VALUES:
            suppressed = floor + rules.value_penalty * size
        cell.floor, cell.alone, cell.suppressed, cell.margin = floor, alone, suppressed, max(0.0, margin)
        cell.kept = stay
        clear(values, by_label, rules, work)


@inner_kernel
def single_cell(state: CutArrays, s: int, e: int) -> None:
    """Evaluate a part that is a single cell: no cut splits it, so its loss is known exactly (section V-A, homogeneous).

    Only its price still changes with the cut: the bound uses the cell's values, the cost those of the part.
    """
    rules, cell, part = state.rules, state.cells.record[e], state.parts.record[s]
    alone = cell.alone
    cost = published(rules, cell.rows, state.parts.code[s], state.tree.rate, state.cells.sums[e])
    wrong, gone = 0.0 if np.isfinite(alone) else 1.0, cell.rows - cell.kept
    if wrong > 0.0:
        alone = cell.floor
    elif rules.suppression >= CLASS_VALUES:
        cost += alone - cell.floor
    elif cell.kept == 0.0:
        cost = cell.suppressed
    elif gone > 0.0:
        cost = (cost * cell.kept + cell.suppressed * gone) / cell.rows if rules.price == SEPARABLE else alone
    part.bound, part.cost, part.lost, part.gone, part.wrong, part.dead = alone, cost, gone, gone, wrong, wrong
    part.floor, part.mixed, part.full = cell.floor, 0.0, 1.0


@inner_kernel
def external_bound(part: CutPart, members: Codes, cells: CutCells, rules: CutRules, work: CutWorkspace) -> None:
    """Bound a part whose verdict, and whose cells' prices, were evaluated outside (Theorems 4 and 6)."""
    part.lost = 0.0
    if members.size == 1:
        cell = cells.record[members[0]]
        part.bound = cell.alone if np.isfinite(cell.alone) else cell.floor
        part.lost, part.dead = part.gone, part.wrong
        return
    floors = 0.0
    for e in members:
        floors += cells.record[e].floor
    part.bound = floors
    if part.need == 0.0:
        return
    kind = rules.suppression
    if kind in (CLASS_RECORDS, CLASS_VALUES):
        part.bound += any_rows(part.need, False, members, cells, work)
    elif kind == VIOLATING_RECORDS:
        part.bound += any_rows(part.need, True, members, cells, work)
    if kind in (CLASS_RECORDS, VIOLATING_RECORDS):
        part.lost = part.need


@kernel
def evaluate_parts(state: CutArrays, first: int, last: int, from_active: bool, bounds: bool) -> None:
    """Set the cost of parts as single classes and, with ``bounds``, the least cost of their rows in any reachable cut.

    IN: first, last: a range of the stack of parts or, with ``from_active``, of the active positions
    """
    cells, parts, rules, work = state.cells, state.parts, state.rules, state.work
    perm, active = state.stacks.perm, state.stacks.active
    kind, price = rules.suppression, rules.price
    width, limited = cells.sums.shape[1], rules.limit < rules.rows
    by_label = kind == VIOLATING_RECORDS and price == MINORITY
    for at in range(first, last):
        s = active[at] if from_active else at
        part = parts.record[s]
        begin, end = part.begin, part.end
        if price == EXTERNAL:
            external_bound(part, perm[begin:end], cells, rules, work)
            continue
        if end - begin == 1:
            single_cell(state, s, perm[begin])
            continue
        members = perm[begin:end]
        values, rows, suppressed, floor = 0, 0.0, 0.0, 0.0
        for c in range(width):
            work.sums[c] = 0.0
        for p in range(begin, end):
            e = perm[p]
            cell = cells.record[e]
            rows += cell.rows
            floor += cell.floor
            suppressed += cell.suppressed
            for c in range(width):
                work.sums[c] += cells.sums[e, c]
            values = add_entries(cell, values, by_label, cells, rules, work)
        size = np.int64(rows)
        cost = published(rules, rows, parts.code[s], state.tree.rate, work.sums)
        above = above_thresholds(values, size, rules.theta, work.hist, work.touched)
        fits = size >= rules.smallest and values >= rules.distinct
        kept = size
        if above > 0 and kind != VIOLATING_VALUES:
            kept = most_kept(work.hist, work.touched, values, rules.theta, size)
        lost, gone, wrong, extra, full = 0.0, 0.0, 0.0, 0.0, 0.0
        if not fits or above > 0:
            if kind == NONE or (kind >= CLASS_VALUES and not fits):
                wrong = 1.0
            elif kind <= VIOLATING_RECORDS and (not fits or kept < rules.smallest):
                # No subset of the part is valid: too few rows or values in all, or too few within the thresholds.
                cost, extra, gone, lost, full = suppressed, suppressed - floor, rows, rows, 1.0
            elif kind in (CLASS_RECORDS, CLASS_VALUES):
                if kind == CLASS_RECORDS:
                    cost, gone, lost = suppressed, rows, float(size - kept)
                else:
                    cost += rules.value_penalty * size
                if bounds and rules.tight and kept == 0:
                    extra, full = suppressed - floor, 1.0
                elif bounds and rules.tight and end - begin <= _FEW and not limited:
                    extra = few_cells(suppressed - floor, values, size, members, cells, rules, work)
                elif bounds and rules.tight:
                    # Each violating value gives a bound by itself; the same cells may serve several, so no sum.
                    for j in range(above):
                        i = work.touched[j]
                        extra = max(extra, whole_cells(i, size, False, members, cells, rules, work))
                        if limited and kind == CLASS_RECORDS:
                            go = whole_cells(i, size, True, members, cells, rules, work)
                            lost = max(lost, np.ceil(go - _ROUNDING * rows))
                elif bounds and kind == CLASS_VALUES:
                    # Theorem 5: Lemma 3 for each value by itself.
                    for j in range(above):
                        hidden = single_values(work.touched[j], size, members, cells, rules, work)
                        extra += rules.value_penalty * hidden
                elif bounds:
                    extra = any_rows(float(size - kept), False, members, cells, work)
            elif kind == VIOLATING_RECORDS:
                gone = float(size - kept)
                lost = gone
                cost = removed_cost(cost, suppressed, size, kept, values, rules, work)
                if bounds and not rules.tight and price in (SQUARES, MINORITY):
                    # Theorem 4: prices depend on which records stay, so that Corollary 7 does not apply.
                    extra = max(0.0, gone * rules.penalty - floor)
                elif bounds and price == MINORITY:
                    extra = majority_rows(values, rules.labels, members, cells, work)
                elif bounds and rules.tight:
                    # Records of different values are different records: here the bounds add up.
                    for j in range(values):
                        if work.need[work.touched[j]] > 0:
                            extra += single_records(work.touched[j], members, cells, work)
                elif bounds:
                    extra = any_rows(gone, True, members, cells, work)
            else:
                # Bounds count the values that are too frequent: whatever else is hidden only costs more.
                union = rules.value_penalty * hidden_values(above, values, size, rules, work)
                cost += union
                if bounds and rules.tight and end - begin <= _FEW:
                    extra = few_cells(union, values, size, members, cells, rules, work)
                elif bounds:
                    for j in range(above):
                        hidden = single_values(work.touched[j], size, members, cells, rules, work)
                        extra += rules.value_penalty * hidden
                full = 1.0 if extra >= rules.value_penalty * size * (1.0 - _ROUNDING) else 0.0
        part.bound, part.cost, part.lost, part.gone = floor + extra, cost, lost, gone
        part.wrong, part.dead = wrong, wrong
        part.floor, part.mixed, part.full = floor, 0.0, full
        clear(values, by_label, rules, work)
