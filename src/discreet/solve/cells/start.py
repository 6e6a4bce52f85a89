"""First releases: a few rows in which everything is hidden, or each row mended by itself."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.solve._base import Budget
from discreet.solve.cells.matching import CellSets, CellTable, Hidden, is_valid

__all__ = ["hide_everything", "mend_each", "spread_out"]


def hide_everything(table: CellTable) -> Hidden | None:
    """Return k rows or fewer in which every cell is hidden: they match all rows.

    k - 1 such rows are enough, since every row matches itself; fewer if no tuple that lacks rows has only one. So
    whatever the size of a table, its optimum costs at most (k - 1) times the sum of the prices. None if rows may not
    hide everything.
    """
    if table.most is not None and table.most < table.prices.size:
        return None
    safe = np.flatnonzero(table.rows >= table.k)
    order = [*safe[:1].tolist(), *table.violating[np.argsort(-table.rows[table.violating], kind="stable")].tolist()]
    hidden: Counter[tuple[int, int]] = Counter()
    for t in order:
        for _ in range(int(min(table.rows[t], table.k))):
            if is_valid(table, hidden):
                return hidden
            hidden[t, table.everything] += 1
    return hidden


def mend_each(
    table: CellTable, sets: CellSets, limit: float, budget: Budget, start: Hidden | None = None
) -> Hidden | None:
    """Return what is hidden if rows are mended one by one, each by the cheapest cells that give it k matches.

    Rows that were mended before, and what is hidden at the ``start``, help those that come later. None if it costs as
    much as ``limit`` or more, or if a row may not hide enough cells.
    """
    hidden: Counter[tuple[int, int]] = Counter(start or {})
    cost = table.cost(hidden)
    matched, shown = table.rows.copy(), table.rows.copy()
    for (u, cells), rows in hidden.items():
        differences = table.differences(u)
        matched += rows * ((differences != 0) & (differences & ~cells == 0))
        shown[u] -= rows
    for t in table.violating[np.argsort(-table.rows[table.violating], kind="stable")].tolist():
        differences = table.differences(t)
        for _ in range(int(shown[t])):
            if matched[t] >= table.k:
                break
            if budget.stop.is_set() or (budget.exhausted and np.isfinite(limit)):  # there is nothing else yet
                return None
            enough = _matches(table, hidden, t, sets) >= table.k
            if not enough.any():
                return None
            chosen = int(np.argmax(enough))
            cells = int(sets.masks[chosen])
            cost += float(sets.prices[chosen])
            if cost >= limit:
                return None
            hidden[t, cells] += 1
            matched += (differences != 0) & (differences & ~cells == 0)
    return hidden


def _matches(table: CellTable, hidden: Hidden, t: int, sets: CellSets) -> NDArray[np.int64]:
    """Return for each set of cells how many rows match a row of a tuple if these cells of it are hidden."""
    differences, found = table.differences(t), table.near_each(t, sets.masks)
    for (u, others), rows in hidden.items():
        apart = int(differences[u])
        found += rows * ((apart & ~sets.masks != 0) & (apart & ~(sets.masks | others) == 0))
    return found


def spread_out(table: CellTable, tuples: IntArray, most: int) -> list[int]:
    """Return some of the tuples, far from each other: what helps many of them has many hidden cells."""
    if tuples.size <= most:
        return [int(t) for t in tuples]
    nearest = np.full(tuples.size, table.prices.size + 1)
    chosen: list[int] = []
    at = int(np.argmin(table.rows[tuples]))
    while len(chosen) < most:
        chosen.append(int(tuples[at]))
        apart = np.bitwise_count(table.differences(chosen[-1])[tuples].astype(np.uint64)).astype(np.int64)
        np.minimum(nearest, apart, out=nearest)
        at = int(np.argmax(nearest))
    return chosen
