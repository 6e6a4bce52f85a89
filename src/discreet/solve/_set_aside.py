"""Rows that must be suppressed before any grouping of a table can keep the privacy models.

If the union of two ok classes is always ok, a table that is no ok class by itself has no ok grouping either. Where rows
may be suppressed, those go that are too many: the fewest of each sensitive value, and of these the ones farthest from
others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.problem import Classes, Problem
from discreet.problem.suppression.suppress_records import SuppressRecords
from discreet.problem.suppression.violating_records import ViolatingRecords
from discreet.solve._base import Budget
from discreet.solve._local_bound import nearest_rates_of
from discreet.solve._local_task import Shares, Task

__all__ = ["join", "set_aside", "without"]


def set_aside(task: Task, budget: Budget) -> IntArray | None:
    """Return how many rows of each tuple are to go, no more than may; None where no way was found."""
    problem = task.problem
    dear, stay = nearest_rates_of(task, budget), problem.table.weights.copy()
    columns = dict.fromkeys(str(model.attribute) for model in problem.privacy if hasattr(model, "attribute"))
    while True:
        before = int(stay.sum())
        for column in columns:
            _drop(problem, column, dear, stay)
        after = int(stay.sum())
        if problem.table.n - after > problem.limit or after < problem.smallest_class:
            return None
        if before == after:
            return np.asarray(problem.table.weights - stay)


def _drop(problem: Problem, column: str, dear: FloatArray, stay: IntArray) -> None:  # stay IN OUT
    """Let as few rows go as the models of one sensitive column ask for, those that are dearest first."""
    histogram = problem.table.sensitive[column]
    value = histogram.values[histogram.offsets[:-1]]
    counts = np.rint(np.bincount(value, weights=stay, minlength=histogram.cardinality)).astype(np.int64)
    whole = Classes(problem.table, np.array([counts.sum()]), sensitive={column: counts[np.newaxis]})
    broken = [model for model in problem.privacy if getattr(model, "attribute", None) == column]
    broken = [model for model in broken if not model.ok(whole).all() and (model.limits_values or model.favors_even)]
    if not broken:
        return
    removed = ViolatingRecords().apply(whole, broken).removed
    assert removed is not None
    for code in np.flatnonzero(removed[0]):
        mine = np.flatnonzero(value == code)
        mine = mine[np.argsort(-dear[mine], kind="stable")]
        earlier = np.cumsum(stay[mine]) - stay[mine]
        stay[mine] -= np.clip(removed[0, code] - earlier, 0, stay[mine])


def without(problem: Problem, gone: IntArray) -> tuple[Problem, IntArray]:
    """Return the problem without some rows of each tuple, and which tuples are left; domains stay what they were."""
    table, stay = problem.table, problem.table.weights - gone
    kept = np.flatnonzero(stay)
    rest = table.some(kept)
    part = CountTable(
        table.attributes,
        rest.codes,
        stay[kept],
        {name: replace(histogram, counts=stay[kept]) for name, histogram in rest.sensitive.items()},
    )
    return replace(problem, table=part, suppression=SuppressRecords(problem.limit - int(gone.sum()))), kept


def join(shares: Shares, kept: IntArray, gone: IntArray) -> Shares:
    """Return the groups of what was left, with the tuples numbered as in the whole table and the others suppressed."""
    lost = shares.group < 0
    more = gone.copy()
    np.add.at(more, kept[shares.tuple[lost]], shares.count[lost])
    out = np.flatnonzero(more)
    return Shares(
        np.concatenate([kept[shares.tuple[~lost]], out]),
        np.concatenate([shares.group[~lost], np.full(out.size, -1)]),
        np.concatenate([shares.count[~lost], more[out]]),
    )
