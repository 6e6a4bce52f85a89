"""A greedy release: again and again the row is taken that helps most for what its hidden cells cost."""

from __future__ import annotations

from collections import Counter

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.solve._base import Budget
from discreet.solve.cells.cover import CoverProgram, owned_columns
from discreet.solve.cells.matching import CellSets, CellTable, Hidden, is_valid
from discreet.solve.cells.start import mend_each

__all__ = ["cover_greedily"]

_CHECKED = 400
"""Of at most so many entries each is tried without afterwards."""


def cover_greedily(table: CellTable, sets: CellSets, budget: Budget) -> Hidden | None:
    """Return a valid release in which rows help each other; None if some tuples cannot be helped.

    Rows may only hide cells if they get enough matches by that alone, so that the order does not matter. A row that
    hides cells is worth the matches that others lack and get from it, and those that it does not lack any more. Whoever
    cannot be helped like that is mended in the end.
    """
    demands = [(int(t), 0) for t in table.violating]
    program = CoverProgram(table, sets, demands, range(table.tuples), shared=False, self_sufficient=True)
    columns = owned_columns(program)
    if not columns.tuple:
        return mend_each(table, sets, np.inf, budget)
    owner, price = np.array(columns.tuple), np.array(columns.price)
    sizes = np.array([helps.size for helps in columns.helps])
    helped, column = np.concatenate(columns.helps), np.repeat(np.arange(sizes.size), sizes)
    at = np.full(table.tuples, -1)
    at[table.violating] = np.arange(table.violating.size)
    lacking = table.k - table.rows[table.violating]
    left = table.rows.copy()
    hidden: Counter[tuple[int, int]] = Counter()
    while lacking.max(initial=0) > 0:
        helps = np.bincount(column, lacking[helped] > 0, sizes.size).astype(np.float64)
        worth = _worth(lacking, left, owner, at, helps)
        best = int(np.argmax(worth / price))
        if worth[best] <= 0 or budget.exhausted:  # nobody can help those who are left but themselves
            return mend_each(table, sets, np.inf, budget, hidden)
        u = int(owner[best])
        hidden[u, columns.cells[best]] += 1
        left[u] -= 1
        lacking[columns.helps[best]] -= 1
        if at[u] >= 0 and not left[u]:
            lacking[at[u]] = 0
    return _without_superfluous(table, hidden)


def _worth(lacking: IntArray, left: IntArray, owner: IntArray, at: IntArray, helped: FloatArray) -> FloatArray:
    """Return what one more row of each column is worth."""
    own = np.where(at[owner] >= 0, np.maximum(lacking[at[owner]], 0) / np.maximum(left[owner], 1), 0.0)
    return np.where(left[owner] > 0, helped + own, 0.0)


def _without_superfluous(table: CellTable, hidden: Counter[tuple[int, int]]) -> Hidden:
    """Return a release without rows that nobody needs any more, the dearest first."""
    if len(hidden) <= _CHECKED:
        for entry in sorted(hidden, key=lambda each: -table.price(each[1])):
            fewer = Counter(hidden)
            fewer[entry] -= 1
            fewer = +fewer
            if is_valid(table, fewer):
                hidden = fewer
    return hidden
