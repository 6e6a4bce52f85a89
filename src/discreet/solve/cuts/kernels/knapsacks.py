"""Least loss of a part: what must be suppressed until the rest is valid, as fractional knapsacks over its cells.

Whatever is published of a part is, taken together, within the thresholds (Observation 2 of the paper: a union of valid
classes is valid). So whole cells, single records or single values must go until the union is. Items may be taken in
part, which never costs more than whole ones; each bound is therefore at most the true loss. They replace section V-D,
which asks only how many records go (Lemma 3), by which cells are cheapest to take them from.
"""

from __future__ import annotations

import numpy as np

from discreet.solve.cuts.kernels.state import (
    VIOLATING_VALUES,
    Codes,
    CutCells,
    CutRules,
    CutWorkspace,
    Floats,
    KnapsackItem,
)
from discreet.solve.kernels.jit import inner_kernel
from discreet.solve.kernels.records import Records

__all__ = ["any_rows", "few_cells", "majority_rows", "single_records", "single_values", "whole_cells"]

_ROUNDING = 1e-9


@inner_kernel
def cheapest(item: Records[KnapsackItem], items: int, need: float) -> float:
    """Return the least cost of ``need`` units from items that may be taken in part.

    The optimum takes the cheapest units first. Few items are usually enough, so they come off a heap: O(n) to build,
    O(log n) for each item taken.

    IN/OUT: item, destroyed
    """
    # Sinking from the last inner node up makes a heap in linear time (Floyd 1964).
    for first in range(items // 2 - 1, -1, -1):
        sift(item, first, items)
    cost = 0.0
    while items > 0:
        price, units = item[0].price, item[0].units
        if units >= need:
            return cost + price * need
        cost += price * units
        need -= units
        # The last leaf takes the place of the root that was used up.
        items -= 1
        item[0].price, item[0].units = item[items].price, item[items].units
        sift(item, 0, items)
    return cost


@inner_kernel
def sift(item: Records[KnapsackItem], at: int, items: int) -> None:
    """Sink an item to its position in a heap with the cheapest on top."""
    price, units = item[at].price, item[at].units
    while True:
        child = 2 * at + 1
        if child >= items:
            break
        if child + 1 < items and item[child + 1].price < item[child].price:
            child += 1
        if item[child].price >= price:
            break
        item[at].price, item[at].units = item[child].price, item[child].units
        at = child
    item[at].price, item[at].units = price, units


@inner_kernel
def whole_cells(
    i: int, size: int, by_rows: bool, members: Codes, cells: CutCells, rules: CutRules, work: CutWorkspace
) -> float:
    """Bound the cost of taking whole cells out of a part until value ``i`` keeps its threshold.

    With n_i of n rows the excess is n_i - theta n, and a cell with c of r rows lowers it by its gain c - theta r. Cells
    without gain never help. The price of a cell is what suppression adds to its floor, or its rows (``by_rows``).

    IN: members, the cells of the part; work.hist, its histogram
    """
    theta, items = rules.theta[i], 0
    for e in members:
        cell = cells.record[e]
        gain = -theta * cell.rows
        for q in range(cell.first_entry, cell.end_entry):
            if rules.owner[cells.value[q]] == i:
                gain += cells.count[q]
        # A cell in which the value is rarer than theta allows raises the excess if it goes.
        if gain > 0:
            price = cell.rows if by_rows else cell.suppressed - cell.floor
            work.item[items].price, work.item[items].units = price / gain, gain
            items += 1
    return cheapest(work.item, items, work.hist[i] - theta * size)


@inner_kernel
def any_rows(need: float, single: bool, members: Codes, cells: CutCells, work: CutWorkspace) -> float:
    """Bound the cost of taking ``need`` rows out of a part, whatever they hold: single records, or whole cells.

    This is Theorem 6 with Corollary 7: the rows that are cheapest to suppress go.
    """
    for p in range(members.size):
        cell = cells.record[members[p]]
        price = cell.margin if single else (cell.suppressed - cell.floor) / cell.rows
        work.item[p].price, work.item[p].units = price, cell.rows
    return cheapest(work.item, members.size, need)


@inner_kernel
def single_records(i: int, members: Codes, cells: CutCells, work: CutWorkspace) -> float:
    """Bound the cost of taking ``work.need[i]`` records of value ``i`` out of a part."""
    items = 0
    for e in members:
        cell = cells.record[e]
        for q in range(cell.first_entry, cell.end_entry):
            if cells.value[q] == i:
                work.item[items].price, work.item[items].units = cell.margin, cells.count[q]
                items += 1
    return cheapest(work.item, items, float(work.need[i]))


@inner_kernel
def single_values(i: int, size: int, members: Codes, cells: CutCells, rules: CutRules, work: CutWorkspace) -> float:
    """Bound how often value ``i`` must become unknown in a part until it keeps its threshold where it is known.

    A class hides all occurrences of a value or none, so a cell with c of r rows lowers the excess by c - theta r and
    hides c of them. Without tight bounds this is Lemma 3.
    """
    theta = rules.theta[i]
    need = work.hist[i] - theta * size
    if rules.tight and theta * size < 1.0:
        return float(work.hist[i])  # no class, however large, may show a single one
    if not rules.tight:
        return np.ceil(need / (1.0 - theta) - _ROUNDING * size)
    items = 0
    for e in members:
        cell = cells.record[e]
        for q in range(cell.first_entry, cell.end_entry):
            if cells.value[q] == i:
                gain = cells.count[q] - theta * cell.rows
                if gain > 0:
                    work.item[items].price, work.item[items].units = cells.count[q] / gain, gain
                    items += 1
    return np.ceil(cheapest(work.item, items, need) - _ROUNDING * size)


@inner_kernel
def few_cells(
    union: float, values: int, size: int, members: Codes, cells: CutCells, rules: CutRules, work: CutWorkspace
) -> float:
    """Return the least loss of a part of two or three cells, by trying all ways to combine them.

    They form one class (which loses ``union``), or each is alone, or one is alone and the other two are together: no
    cut has any other choice. For the last case one cell is taken out of the histogram and put back.

    IN: work.hist, the histogram of the part with ``values`` values
    """
    hides = rules.suppression == VIOLATING_VALUES
    alone = 0.0
    for e in members:
        alone += cells.record[e].alone - cells.record[e].floor
    least = min(union, alone)
    if members.size == 2:
        return least
    for e in members:
        cell = cells.record[e]
        lost, rest, left = cell.alone - cell.floor, size - np.int64(cell.rows), 0
        for q in range(cell.first_entry, cell.end_entry):
            work.hist[rules.owner[cells.value[q]]] -= cells.count[q]
        violating = 0
        for j in range(values):
            i = work.touched[j]
            # Values of the other two cells as one class: all occurrences of a violating value are hidden.
            if work.hist[i] > np.floor(rules.theta[i] * rest):
                violating += work.hist[i]
            left += work.hist[i] > 0
        for q in range(cell.first_entry, cell.end_entry):
            work.hist[rules.owner[cells.value[q]]] += cells.count[q]
        if hides:
            least = min(least, lost + rules.value_penalty * violating)
        # The other two are ok together and lose nothing.
        elif violating == 0 and rest >= rules.smallest and left >= rules.distinct:
            least = min(least, lost)
        else:
            # They are not ok and go as a whole: the loss of all cells less that of this one.
            least = min(least, lost + union - (cell.suppressed - cell.floor))
    return least


@inner_kernel
def majority(sums: Floats, e: int, labels: int) -> int:
    """Return the most frequent class label of a cell."""
    top = 0
    for c in range(1, labels):
        if sums[e, c] > sums[e, top]:
            top = c
    return top


@inner_kernel
def majority_rows(values: int, labels: int, members: Codes, cells: CutCells, work: CutWorkspace) -> float:
    """Bound what taking ``work.need`` records of each value adds to the rows outside the majority label.

    Records outside the majority of their cell cost 1 either way, so they go for nothing. More of a value can be had by
    removing majority records at 1 each, or by making another label the majority of a cell, which costs the difference
    of the two label counts and frees up to ``gain`` records: only cells where that is cheaper than 1 are listed.

    IN/OUT: work.need, lowered by what goes for nothing
    """
    for e in members:
        cell = cells.record[e]
        top = majority(cells.sums, e, labels)
        for q in range(cell.first_entry, cell.end_entry):
            if cells.value[q] % labels != top:
                work.need[cells.value[q] // labels] -= cells.count[q]
    unmet = 0
    for j in range(values):
        unmet += max(0, work.need[work.touched[j]])
    if unmet == 0:
        return 0.0
    items = 0
    for e in members:
        cell = cells.record[e]
        top = majority(cells.sums, e, labels)
        price, units = 1.0, 0.0
        for c in range(labels):
            gain = 0.0
            for q in range(cell.first_entry, cell.end_entry):
                i = cells.value[q] // labels
                if c != top and work.need[i] > 0 and cells.value[q] % labels == top:
                    own = cells.count[q]
                    for r in range(cell.first_entry, cell.end_entry):
                        if cells.value[r] == i * labels + c:
                            own -= cells.count[r]
                    gain += max(0, own)
            if gain > 0:
                units = max(units, gain)
                price = min(price, (cells.sums[e, top] - cells.sums[e, c]) / gain)
        # Dearer than a majority record, of which there are enough at 1 each: the last item below.
        if price < 1.0:
            work.item[items].price, work.item[items].units = price, units
            items += 1
    work.item[items].price, work.item[items].units = 1.0, unmet
    return cheapest(work.item, items + 1, float(unmet))
