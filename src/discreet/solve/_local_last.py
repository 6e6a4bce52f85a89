"""What is tried when the groups of a local solver cannot be mended within the budget of suppression.

Groups are searched by the compiled models. A model of the user's own is only known by its arrays and is kept by
mending, which may suppress more rows than allowed though there is a way. So other groupings are tried: those found
without suppressing anything, all rows as one group, and in small tables every grouping there is, which also proves it
if there is none.
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
from discreet.solve._local_task import Shares, Task, groups_ok, make_task, mended, price

__all__ = ["last_resort", "never"]

_FEW_ROWS = 12
"""Tables of so many rows are searched through: 3 ** 12 pairs of a set of rows and a group in it."""

Grouper = Callable[[Task, Budget], Shares]


def last_resort(task: Task, group: Grouper, budget: Budget) -> Shares | None:
    """Return groups that keep every model within the budget of suppression; None if there are none.

    Raises a NothingFoundError where neither was found out.
    """
    if never(task.problem):
        return None
    tried = (mended(task, shares) for shares in _others(task, group, budget))
    found = [shares for shares in tried if _fits(task, shares)]
    if task.problem.table.n <= _FEW_ROWS:
        best = _best_of_all(task)
        if best is None:
            return None
        best = mended(task, best)
        found += [best] if _fits(task, best) else []
    if not found:
        raise NothingFoundError(
            "The search found no release that keeps the promises, and no proof that there is none; "
            "allow more suppression, promise less, or try another solver or scheme."
        )
    return min(found, key=lambda shares: price(task, shares).cost)


def never(problem: Problem) -> bool:
    """Whether it is certain that no grouping keeps the models within the budget of suppression.

    If more rows never make a class fail, or two classes that are ok are so together, whatever is published of the table
    would be ok as one class.
    """
    table = problem.table
    names = sorted({str(getattr(model, "attribute", "")) for model in problem.privacy} & set(table.sensitive))
    counts = {name: table.sensitive[name] for name in names}
    own = {
        name: np.bincount(h.values, weights=h.counts, minlength=h.cardinality).astype(np.int64)[np.newaxis]
        for name, h in counts.items()
    }
    whole = Classes(table, np.array([table.n], dtype=np.int64), sensitive=own)
    if problem.limit >= table.n or bool(problem.ok(whole)[0]):
        return False
    if problem.superset_closed:
        return True
    return problem.union_closed and max(int(problem.fewest_removed(whole)[0]), 1) > problem.limit


def _fits(task: Task, shares: Shares) -> bool:
    lost = int(shares.count[shares.group < 0].sum())
    return lost <= task.problem.limit and (lost < task.problem.table.n or task.problem.limit >= task.problem.table.n)


def _others(task: Task, group: Grouper, budget: Budget) -> Iterator[Shares]:
    """Yield other groupings to begin with: by the same search without suppressing any row, and all rows together."""
    problem = task.problem
    if problem.limit:
        yield group(make_task(replace(problem, suppression=SuppressRecords(0))), budget)
    tuples = np.arange(problem.table.tuples)
    yield Shares(tuples, np.zeros(tuples.size, dtype=np.int64), problem.table.weights)


def _best_of_all(task: Task) -> Shares | None:
    """Return the cheapest way to put the rows of a small table into groups that are ok; None if there is none.

    Rows are bits of a number. For every set of rows the cheapest grouping with each number of suppressed rows is
    kept; the first row of a set is suppressed, or is in a group with others of the set. What is published is made of
    classes that are ok, so that no grouping here means no release.
    """
    row = np.repeat(np.arange(task.problem.table.tuples), task.problem.table.weights)
    n, limit = row.size, min(task.problem.limit, row.size)
    sets = np.arange(1, 1 << n)
    which, member = np.nonzero((sets[:, np.newaxis] >> np.arange(n)) & 1)
    every = Shares(row[member], which, np.ones(which.size, dtype=np.int64))
    ok = groups_ok(task, every)
    priced = price(task, every)
    cost = task.problem.cost.published(priced.classes)
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


def _traced(row: NDArray[np.int64], step: NDArray[np.int64], suppressed: int) -> Shares:
    """Return the groups that the steps lead to, from the set of all rows on."""
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
    return Shares(tuples[1], tuples[0], counts)
