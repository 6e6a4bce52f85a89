"""Repair of groups that break a privacy model the search does not know.

Solvers make groups that satisfy every built-in model. A user's own model is known only by its arrays; it is enforced
here, by merging groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.problem import Classes
from discreet.runtime.integer_codes import add_up
from discreet.solve._base import LocalRecoding
from discreet.solve._requirements import value_of_each
from discreet.solve.local.microaggregation import representatives
from discreet.solve.local.pricing import price
from discreet.solve.local.task import LocalGrouping, LocalTask, watched_columns

__all__ = ["groups_ok", "repair"]

_DENSE_CELLS = 1 << 25
"""Histograms of groups are made in portions of so many cells."""


def repair(task: LocalTask, grouping: LocalGrouping) -> LocalGrouping:
    """Merge groups that are not ok with their neighbours until all are; suppress what cannot be repaired.

    Groups that show the same values are one equivalence class to whoever reads them. That matters to models under which
    the union of two ok classes need not be ok: such groups are merged first.
    """
    group = grouping.group.astype(np.int64)
    while (group >= 0).any():
        if not task.problem.union_closed:
            same = _same_shown(task, LocalGrouping(grouping.tuple, group, grouping.count))
            group = np.where(group < 0, -1, same[group])
        now = LocalGrouping(grouping.tuple, group, grouping.count)
        ok = groups_ok(task, now)
        if ok.all():
            return now
        group = np.where(group < 0, -1, _merged(task, now, ok)[group])
    return LocalGrouping(grouping.tuple, group, grouping.count)


def groups_ok(task: LocalTask, grouping: LocalGrouping) -> NDArray[np.bool_]:
    """Return whether each group satisfies every model, by the models' own arrays."""
    problem = task.problem
    size = int(grouping.group.max()) + 1
    ok = np.ones(size, dtype=np.bool_)
    names = watched_columns(problem)
    widest = max((problem.table.sensitive[name].cardinality for name in names), default=1)
    step = max(1, _DENSE_CELLS // widest)
    for begin in range(0, size, step):
        part = np.flatnonzero((grouping.group >= begin) & (grouping.group < begin + step))
        count = min(step, size - begin)
        group, weights = grouping.group[part] - begin, grouping.count[part]
        sizes = add_up(group, weights, count)
        histograms = {}
        for name in names:
            histogram = problem.table.sensitive[name]
            value, width = value_of_each(histogram)[grouping.tuple[part]], histogram.cardinality + 1
            cells = np.bincount(group * width + value % width, weights=weights, minlength=count * width)
            histograms[name] = np.rint(cells).astype(np.int64).reshape(count, width)[:, :-1]  # the last is unknown
        ok[begin : begin + count] = problem.ok(Classes(problem.table, sizes, sensitive=histograms))
    return ok


def _same_shown(task: LocalTask, grouping: LocalGrouping) -> IntArray:
    """Return new numbers for groups, the same for those that show the same."""
    seen: list[NDArray[Any]] = []
    if task.show != "cover":
        groups = LocalRecoding(grouping.tuple, grouping.group, grouping.count, (), task.show)
        for attribute, codes in zip(task.problem.table.attributes, task.problem.table.codes, strict=True):
            shown = representatives(attribute.positions, codes, groups)
            whole = attribute.positions is not None and not (attribute.positions % 1 > 0).any()  # dates or integers
            seen.append(np.nan_to_num(np.rint(shown) if whole else shown, nan=np.inf))
        return _distinct(seen)
    random = np.random.default_rng(0)
    for cover in price(task, grouping).covers:
        if cover.form == "set":  # a set is identified by the sum of random numbers, one for each of its leaves
            drawn = random.integers(1 << 62, size=int(cover.leaves.max()) + 1)
            seen.append(np.add.reduceat(drawn[cover.leaves], cover.first))
        else:
            seen += [cover.first, cover.second]
    return _distinct(seen)


def _distinct(seen: list[NDArray[Any]]) -> IntArray:
    """Number groups by what is seen of them."""
    number: IntArray = np.unique(np.stack(seen), axis=1, return_inverse=True)[1].reshape(-1)
    return number


def _merged(task: LocalTask, grouping: LocalGrouping, ok: NDArray[np.bool_]) -> IntArray:
    """Return new numbers for groups: one that is not ok joins the next by lowest values; of a run, every other one.

    A single group that is not ok becomes -1.
    """
    classes = price(task, grouping).classes
    assert classes.low is not None
    order = np.lexsort(classes.low.T[::-1])
    if order.size == 1:
        return np.full(1, -1)
    rank = np.arange(order.size)
    run = rank - np.maximum.accumulate(np.where(ok[order], rank, -1))  # 1 for the first of several that are not ok
    merges = run % 2 == 1
    joins = np.concatenate([[False], merges[:-1]])
    joins[-1] |= merges[-1]
    merged = np.cumsum(~joins) - 1
    number = np.empty_like(merged)
    number[order] = merged
    return number
