"""Where not even all rows together keep the promises: rows that must go first, so that the rest does.

If the union of two ok classes is always ok, a table that is no ok class by itself has no ok grouping either. Where rows
may be suppressed, those go that are too many: the fewest of each sensitive value, and of these the ones farthest from
others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet._numbers import add_up
from discreet.counts import CountTable, FloatArray
from discreet.errors import UnsupportedCombinationError
from discreet.problem import Classes, Problem
from discreet.problem.suppression.suppress_records import SuppressRecords
from discreet.problem.suppression.violating_records import ViolatingRecords
from discreet.solve._base import Budget
from discreet.solve._local_bound import nearest_rates_of
from discreet.solve._local_task import Shares, Task
from discreet.solve._requirements import value_of_each

__all__ = ["Rest", "rest_of", "with_the_gone"]


class Rest(NamedTuple):
    """What stays of a problem if some rows go.

    ``problem`` is None if no rest was found that keeps the promises and ``at_least`` says how many rows have to go in
    any case.
    """

    problem: Problem | None
    tuples: NDArray[np.int64]
    """Which tuples of the whole problem those of the rest are."""
    gone: NDArray[np.int64]
    """How many rows of each tuple of the whole problem go."""
    at_least: int


def rest_of(task: Task, budget: Budget) -> Rest:
    """Take out as few rows as the models of each sensitive column ask for, until the rest keeps all of them.

    With one column these are the fewest that can go, since groups that keep the promises do so together.
    """
    problem, table = task.problem, task.problem.table
    dear = nearest_rates_of(task, budget) if problem.limit else np.zeros(table.tuples)
    left, at_least = table.weights.copy(), 0
    names = sorted({str(getattr(m, "attribute", "")) for m in problem.privacy} & set(table.sensitive))
    kind = ViolatingRecords()
    while True:
        before = int(left.sum())
        for name in names:
            before_column = int(left.sum())
            models = [m for m in problem.privacy if not m.looks_at_sensitive or getattr(m, "attribute", None) == name]
            histogram = table.sensitive[name]
            value = value_of_each(histogram)
            value[value < 0] = histogram.cardinality  # rows without a known value come last
            counts = add_up(value, left, histogram.cardinality + 1)
            whole = Classes(table, left.sum(keepdims=True), sensitive={name: counts[np.newaxis, :-1]})
            try:
                done = kind.apply(whole, models)
            except UnsupportedCombinationError:
                return Rest(None, np.zeros(0, dtype=np.int64), table.weights, at_least)
            if done.removed is not None:
                if before == table.n and all(model.union_closed for model in models):
                    at_least = max(at_least, int(done.records[0]))
                all_go = done.records[0] == before_column
                left -= _taken(left, value, dear, counts if all_go else np.append(done.removed[0], 0))
        if int(left.sum()) == before or not left.any():
            break
    stay = np.flatnonzero(left)
    gone = table.weights - left
    allowed = problem.limit - int(gone.sum())
    if not stay.size or allowed < 0:
        return Rest(None, stay, gone, at_least)
    reduced = replace(problem, table=_reduced(table, stay, left), suppression=SuppressRecords(allowed))
    return Rest(reduced, stay, gone, at_least)


def with_the_gone(rest: Rest, shares: Shares) -> Shares:
    """Return the shares of the rest as shares of the whole, in which the rows that go are suppressed."""
    out = np.flatnonzero(rest.gone)
    return Shares(
        np.concatenate([rest.tuples[shares.tuple], out]),
        np.concatenate([shares.group, np.full(out.size, -1)]),
        np.concatenate([shares.count, rest.gone[out]]),
    )


def _taken(
    left: NDArray[np.int64], value: NDArray[np.int64], dear: FloatArray, removed: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many rows of each tuple go if so many of each value do; the dearest tuples of a value go first."""
    order = np.lexsort((-dear, value))
    rows = left[order]
    before = np.cumsum(rows) - rows
    begins = np.flatnonzero(np.diff(value[order], prepend=-1))
    lengths = np.diff(np.append(begins, order.size))
    before -= np.repeat(before[begins], lengths)
    taken = np.zeros_like(left)
    taken[order] = np.clip(removed[value[order]] - before, 0, rows)
    return taken


def _reduced(table: CountTable, stay: NDArray[np.int64], left: NDArray[np.int64]) -> CountTable:
    """The table of the rows that are left; domains, and what is counted of the whole table in histograms, stay."""
    some = table.some(stay)
    single = {
        name: replace(histogram, counts=np.repeat(left[stay], np.diff(histogram.offsets)))
        for name, histogram in some.sensitive.items()
        if (np.diff(histogram.offsets) <= 1).all()
    }
    return replace(some, attributes=table.attributes, weights=left[stay], sensitive={**some.sensitive, **single})
