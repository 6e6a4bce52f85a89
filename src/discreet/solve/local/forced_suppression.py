"""Rows that must be suppressed before any grouping can satisfy the models.

If the union of two ok classes is always ok, a table that is not ok as one class has no ok grouping either. Then rows
have to be suppressed first: as few as possible of each sensitive value, and of these the ones farthest from others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray
from discreet.errors import UnsupportedCombinationError
from discreet.problem import Classes, Problem
from discreet.problem.suppression.suppress_records import SuppressRecords
from discreet.problem.suppression.violating_records import ViolatingRecords
from discreet.runtime.integer_codes import add_up
from discreet.solve._base import Budget, Solution
from discreet.solve._requirements import value_of_each
from discreet.solve.local.alternatives import is_infeasible, nothing_found
from discreet.solve.local.bounds import row_bounds
from discreet.solve.local.pricing import make_solution
from discreet.solve.local.task import LocalGrouping, LocalTask, watched_columns

__all__ = ["Remainder", "suppress_all", "suppress_forced", "with_suppressed"]


class Remainder(NamedTuple):
    """The rest of a problem after some rows are suppressed."""

    problem: Problem | None
    """None if nothing was found that satisfies the models."""
    tuples: NDArray[np.int64]
    """Which tuple of the whole problem each tuple of the remainder is."""
    suppressed: NDArray[np.int64]
    """Suppressed rows of each tuple of the whole problem."""
    at_least: int
    """How many rows have to be suppressed in any case."""


def suppress_forced(task: LocalTask, budget: Budget) -> Remainder:
    """Suppress as few rows as the models of each sensitive column demand, until the remainder satisfies all of them.

    With one column that is the minimum, since the union of groups that satisfy the models does so too.
    """
    problem, table = task.problem, task.problem.table
    dear = row_bounds(task, budget) if problem.limit else np.zeros(table.tuples)
    left, at_least = table.weights.copy(), 0
    violating = ViolatingRecords()
    while True:
        before = int(left.sum())
        for name in watched_columns(problem):
            before_column = int(left.sum())
            models = [m for m in problem.privacy if not m.looks_at_sensitive or getattr(m, "attribute", None) == name]
            histogram = table.sensitive[name]
            value = value_of_each(histogram)
            value[value < 0] = histogram.cardinality  # rows of unknown value come last
            counts = add_up(value, left, histogram.cardinality + 1)
            whole = Classes(table, left.sum(keepdims=True), sensitive={name: counts[np.newaxis, :-1]})
            try:
                done = violating.apply(whole, models)
            except UnsupportedCombinationError:
                return Remainder(None, np.zeros(0, dtype=np.int64), table.weights, at_least)
            if done.removed is not None:
                if before == table.n and all(model.union_closed for model in models):
                    at_least = max(at_least, int(done.records[0]))
                everything = done.records[0] == before_column
                left -= _removed(left, value, dear, counts if everything else np.append(done.removed[0], 0))
        if int(left.sum()) == before or not left.any():
            break
    kept = np.flatnonzero(left)
    suppressed = table.weights - left
    allowed = problem.limit - int(suppressed.sum())
    if not kept.size or allowed < 0:
        return Remainder(None, kept, suppressed, at_least)
    reduced = replace(problem, table=_reduced(table, kept, left), suppression=SuppressRecords(allowed))
    return Remainder(reduced, kept, suppressed, at_least)


def with_suppressed(remainder: Remainder, grouping: LocalGrouping) -> LocalGrouping:
    """Return a grouping of the remainder as one of the whole problem."""
    out = np.flatnonzero(remainder.suppressed)
    return LocalGrouping(
        np.concatenate([remainder.tuples[grouping.tuple], out]),
        np.concatenate([grouping.group, np.full(out.size, -1)]),
        np.concatenate([grouping.count, remainder.suppressed[out]]),
    )


def suppress_all(task: LocalTask, remainder: Remainder) -> Solution:
    """Return the solution that suppresses every row, if that is allowed; else the problem is infeasible.

    Not even all rows together satisfy the compiled models, under which the union of two ok groups is ok. So there is no
    release if no row may be suppressed, or fewer than these models demand.
    """
    problem = task.problem
    if problem.limit < problem.table.n:
        if problem.limit and remainder.at_least <= problem.limit and not is_infeasible(problem):
            raise nothing_found()
        proven = len({getattr(model, "attribute", None) for model in problem.privacy} - {None}) == 1
        smallest = remainder.at_least if proven and remainder.at_least else None
        return Solution("infeasible", np.inf, np.inf, smallest_budget=smallest)
    tuples = np.arange(problem.table.tuples)
    return make_solution(task, LocalGrouping(tuples, np.full(tuples.size, -1), task.points.weights))


def _removed(
    left: NDArray[np.int64], value: NDArray[np.int64], dear: FloatArray, removed: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many rows of each tuple are removed if ``removed[v]`` of value v are; the dearest tuples go first."""
    order = np.lexsort((-dear, value))
    rows = left[order]
    before = np.cumsum(rows) - rows
    begins = np.flatnonzero(np.diff(value[order], prepend=-1))
    lengths = np.diff(np.append(begins, order.size))
    before -= np.repeat(before[begins], lengths)
    taken = np.zeros_like(left)
    taken[order] = np.clip(removed[value[order]] - before, 0, rows)
    return taken


def _reduced(table: CountTable, kept: NDArray[np.int64], left: NDArray[np.int64]) -> CountTable:
    """Return the table of the rows that are left, with the domains and the overall shares of the whole table."""
    some = table.some(kept)
    single = {
        name: replace(histogram, counts=np.repeat(left[kept], np.diff(histogram.offsets)))
        for name, histogram in some.sensitive.items()
        if (np.diff(histogram.offsets) <= 1).all()
    }
    return replace(some, attributes=table.attributes, weights=left[kept], sensitive={**some.sensitive, **single})
