"""Other groupings, for when repair suppresses more rows than allowed.

The search knows a user's own model only by its smallest class. Repair may then suppress too many rows though a valid
release exists. So other groupings are tried: one found without suppression, all rows as one group, and in small tables
every grouping, which also proves it if there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.errors import NothingFoundError
from discreet.problem import Classes, Problem
from discreet.problem.suppression.suppress_records import SuppressRecords
from discreet.solve._base import Budget
from discreet.solve.local.pricing import price
from discreet.solve.local.repair import groups_ok, repair
from discreet.solve.local.task import LocalGrouping, LocalTask, make_task, watched_columns

__all__ = ["find_alternative", "is_infeasible", "nothing_found"]

GroupSearch = Callable[[LocalTask, Budget], LocalGrouping]

_FEW_ROWS = 12
"""Tables of so many rows are searched exhaustively: 3**12 pairs of a set of rows and a group in it."""


def nothing_found() -> NothingFoundError:
    """Return the error for a search without a result and without a proof that there is none."""
    return NothingFoundError(
        "The search found no release that keeps the promises, and no proof that there is none; "
        "allow more suppression, promise less, or try another solver or scheme."
    )


def find_alternative(task: LocalTask, search: GroupSearch, budget: Budget) -> LocalGrouping | None:
    """Return groups that satisfy every model within the suppression budget; None if it is certain there are none.

    Raises NothingFoundError if neither was found out.
    """
    if is_infeasible(task.problem):
        return None
    repaired = (repair(task, grouping) for grouping in _other_groupings(task, search, budget))
    found = [grouping for grouping in repaired if _fits(task, grouping)]
    if task.problem.table.n <= _FEW_ROWS:
        best = _best_of_all(task)
        if best is None:
            return None
        best = repair(task, best)
        found += [best] if _fits(task, best) else []
    if not found:
        raise nothing_found()
    return min(found, key=lambda grouping: price(task, grouping).cost)


def is_infeasible(problem: Problem) -> bool:
    """Return whether it is certain that no grouping satisfies the models within the suppression budget.

    If more rows never make a class fail, or the union of two ok classes is ok, then whatever is published would be ok
    as one class.
    """
    table = problem.table
    counts = {name: table.sensitive[name] for name in watched_columns(problem)}
    histograms = {
        name: np.bincount(h.values, weights=h.counts, minlength=h.cardinality).astype(np.int64)[np.newaxis]
        for name, h in counts.items()
    }
    whole = Classes(table, np.array([table.n], dtype=np.int64), sensitive=histograms)
    if problem.limit >= table.n or bool(problem.ok(whole)[0]):
        return False
    if problem.superset_closed:
        return True
    return problem.union_closed and max(int(problem.fewest_removed(whole)[0]), 1) > problem.limit


def _fits(task: LocalTask, grouping: LocalGrouping) -> bool:
    lost, rows, limit = grouping.suppressed, task.problem.table.n, task.problem.limit
    return lost <= limit and (lost < rows or limit >= rows)


def _other_groupings(task: LocalTask, search: GroupSearch, budget: Budget) -> Iterator[LocalGrouping]:
    """Yield other groupings: by the same search without suppression, and all rows as one group."""
    problem = task.problem
    if problem.limit:
        yield search(make_task(replace(problem, suppression=SuppressRecords(0))), budget)
    tuples = np.arange(problem.table.tuples)
    yield LocalGrouping(tuples, np.zeros(tuples.size, dtype=np.int64), problem.table.weights)


def _best_of_all(task: LocalTask) -> LocalGrouping | None:
    """Return the cheapest grouping of a small table into groups that are ok; None if there is none.

    Sets of rows are bit masks. For every set and every number of suppressed rows the cheapest grouping is kept: the
    first row of the set is suppressed, or in a group with others of the set. Whatever is published consists of classes
    that are ok, so no grouping means no release.
    """
    row = np.repeat(np.arange(task.problem.table.tuples), task.problem.table.weights)
    n, limit = row.size, min(task.problem.limit, row.size)
    sets = np.arange(1, 1 << n)
    which, member = np.nonzero((sets[:, np.newaxis] >> np.arange(n)) & 1)
    every = LocalGrouping(row[member], which, np.ones(which.size, dtype=np.int64))
    ok = groups_ok(task, every)
    cost = task.problem.cost.published(price(task, every).classes)
    groups: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    for mask, each in zip(sets[ok].tolist(), cost[ok].tolist(), strict=True):
        groups[(mask & -mask).bit_length() - 1].append((mask, each))
    best = np.full((1 << n, limit + 1), np.inf)
    best[0, 0] = 0.0
    step = np.zeros((1 << n, limit + 1), dtype=np.int64)
    """The group of the first row of a set; 0 if that row is suppressed."""
    for mask in range(1, 1 << n):
        low = mask & -mask
        best[mask, 1:] = best[mask ^ low, :-1] + task.points.penalty
        for group, each in groups[low.bit_length() - 1]:
            if group & mask == group:
                better = best[mask ^ group] + each < best[mask]
                best[mask, better] = best[mask ^ group, better] + each
                step[mask, better] = group
    last = best[-1]
    if not np.isfinite(last).any():
        return None
    return _traced(row, step, int(last.argmin()))


def _traced(row: NDArray[np.int64], step: NDArray[np.int64], suppressed: int) -> LocalGrouping:
    """Follow the steps from the set of all rows."""
    group_of, mask, number = np.full(row.size, -1, dtype=np.int64), step.shape[0] - 1, 0
    while mask:
        taken = int(step[mask, suppressed])
        if taken:
            group_of[[bit for bit in range(row.size) if taken >> bit & 1]] = number
            number += 1
        else:
            suppressed -= 1
        mask ^= taken or mask & -mask
    tuples, counts = np.unique(np.stack([group_of, row]), axis=1, return_counts=True)
    return LocalGrouping(tuples[1], tuples[0], counts)
