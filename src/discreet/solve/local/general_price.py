"""The cost of a grouping under any cost and kind of suppression, from the definitions, and the solution made of it.

Groups that show the same values are one equivalence class to whoever reads them, and are merged before anything is
measured: sizes, labels and sensitive values are those of classes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.problem import Classes, Problem
from discreet.problem.costs.squared_error import SquaredError
from discreet.solve._base import GroupCovers, LocalRecoding
from discreet.solve.local.group_arrays import GroupArrays
from discreet.solve.local.microaggregation import representatives
from discreet.solve.local.task import LocalGrouping

__all__ = ["COVERS", "PricedGrouping", "class_prices", "number_by_shown", "price_grouping"]

COVERS = frozenset({"blocks", "block_leaves", "block_rows", "block_levels", "extent", "set_sizes"})
"""Arrays that depend on what a group shows."""


class PricedGrouping(NamedTuple):
    """A grouping whose groups are equivalence classes, what they show and cost, and whether the release is valid."""

    recoding: LocalRecoding
    classes: Classes | None
    cost: float
    suppressed_values: int
    valid: bool


def price_grouping(arrays: GroupArrays, grouping: LocalGrouping, show: str = "cover") -> PricedGrouping:
    """Merge groups that show the same, suppress values where the kind says so, and price the result."""
    problem = arrays.problem
    cost, table = problem.cost, problem.table
    grouping = _as_classes(arrays, grouping, show)
    kept, first = _by_group(grouping)
    gone = np.flatnonzero(grouping.group < 0)
    tuples, count = (array[np.concatenate([kept, gone])] for array in (grouping.tuple, grouping.count))
    begins = np.append(first, kept.size) if gone.size else first
    ok = np.ones(begins.size, dtype=np.bool_)
    ok[first.size :] = False
    every = arrays.cover(tuples, begins, count) if begins.size else None
    total = cost.worst(table) if every is None else cost.total(every.classes, ok)
    if not first.size:
        recoding = LocalRecoding(grouping.tuple, grouping.group, grouping.count, _no_covers(arrays), show)
        return PricedGrouping(recoding, None, total, 0, problem.limit >= table.n)
    groups = arrays.cover(grouping.tuple[kept], first, grouping.count[kept])
    recoding = LocalRecoding(grouping.tuple, grouping.group, grouping.count, groups.covers, show)
    within = grouping.suppressed <= problem.limit
    if not problem.suppression.hides_values:
        return PricedGrouping(recoding, groups.classes, total, 0, within and bool(problem.ok(groups.classes).all()))
    done = problem.suppression.apply(groups.classes, problem.privacy)
    values = int(done.values.sum())
    total += values * (cost.value_penalty(table) or 0.0)
    if values and done.removed is not None and problem.divided is not None:
        recoding = _hide(arrays, recoding, problem.divided, done.removed)
    return PricedGrouping(recoding, groups.classes, total, values, within and bool(done.feasible.all()))


def class_prices(problem: Problem, classes: Classes) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the cost of each class with its suppressed rows, and whether it may be published."""
    published = problem.cost.published(classes)
    if not problem.suppression.hides_values:
        return published, problem.ok(classes)
    done = problem.suppression.apply(classes, problem.privacy)
    return published + done.values * (problem.cost.value_penalty(problem.table) or 0.0), done.feasible


def number_by_shown(covers: list[GroupCovers]) -> IntArray:
    """Return a number for each group, the same for those that show the same."""
    random = np.random.default_rng(0)
    seen: list[NDArray[Any]] = []
    for cover in covers:
        if cover.form == "set":  # a set is identified by the sum of random numbers, one for each of its leaves
            drawn = random.integers(1 << 62, size=int(cover.leaves.max(initial=0)) + 1)
            seen.append(np.add.reduceat(drawn[cover.leaves], cover.first))
        else:
            seen += [cover.first, cover.second]
    number: IntArray = np.unique(np.stack(seen), axis=1, return_inverse=True)[1].reshape(-1)
    return number


def _as_classes(arrays: GroupArrays, grouping: LocalGrouping, show: str) -> LocalGrouping:
    """Merge groups that show the same; sort and add up the entries.

    If groups show single values in place of their covers, two that show the same are one class, but each still costs
    what its own cover, or its own mean, does. So they are merged only if the cost looks at neither.
    """
    problem = arrays.problem
    own = bool(COVERS & problem.cost.needs) or isinstance(problem.cost, SquaredError)
    of_covers = own and not problem.suppression.hides_values
    while True:
        grouping = _compact(grouping)
        kept, first = _by_group(grouping)
        if not first.size or (show != "cover" and of_covers):
            return grouping
        if show == "cover":
            number = number_by_shown(arrays.cover(grouping.tuple[kept], first, grouping.count[kept]).covers)
        else:
            number = _number_by_value(problem, grouping, show)
        if int(number.max()) + 1 == first.size:
            return grouping
        grouping = replace(grouping, group=np.where(grouping.group < 0, -1, number[grouping.group]))


def _number_by_value(problem: Problem, grouping: LocalGrouping, show: str) -> IntArray:
    groups = LocalRecoding(grouping.tuple, grouping.group, grouping.count, (), show)
    seen = []
    for attribute, codes in zip(problem.table.attributes, problem.table.codes, strict=True):
        shown = representatives(attribute.positions, codes, groups)
        whole = attribute.positions is not None and not (attribute.positions % 1 > 0).any()  # dates or integers
        seen.append(np.nan_to_num(np.rint(shown) if whole else shown, nan=np.inf))
    number: IntArray = np.unique(np.stack(seen), axis=1, return_inverse=True)[1].reshape(-1)
    return number


def _compact(grouping: LocalGrouping) -> LocalGrouping:
    """Sort entries by group and tuple, add up equal ones, and number groups without gaps."""
    width = int(grouping.tuple.max(initial=0)) + 1
    cells, entry = np.unique((grouping.group.astype(np.int64) + 1) * width + grouping.tuple, return_inverse=True)
    count = np.bincount(entry, weights=grouping.count, minlength=cells.size)
    numbers, group = np.unique(cells // width - 1, return_inverse=True)
    group = group.astype(np.int64) - (1 if numbers.size and numbers[0] < 0 else 0)
    return LocalGrouping(cells % width, group, np.rint(count).astype(np.int64))


def _by_group(grouping: LocalGrouping) -> tuple[IntArray, IntArray]:
    """Return the published entries, which are sorted by group, and where each group begins."""
    kept = np.flatnonzero(grouping.group >= 0)
    return kept, np.flatnonzero(np.diff(grouping.group[kept], prepend=-1))


def _no_covers(arrays: GroupArrays) -> list[GroupCovers]:
    none = np.zeros(0, dtype=np.int64)
    return [GroupCovers("node", none, none) for _ in arrays.columns]


def _hide(arrays: GroupArrays, recoding: LocalRecoding, attribute: str, removed: IntArray) -> LocalRecoding:
    """Return the recoding with the values that become unknown: ``removed[g, v]`` of value v in group g.

    If only some occurrences of a value are hidden, the first tuples lose theirs.
    """
    value = arrays.values[attribute][recoding.tuple]
    left = removed.astype(np.int64).copy()
    hides = np.zeros(recoding.tuple.size, dtype=np.int64)
    for e in np.flatnonzero((recoding.group >= 0) & (value >= 0)).tolist():
        g, v = recoding.group[e], value[e]
        hides[e] = min(int(left[g, v]), int(recoding.count[e]))
        left[g, v] -= hides[e]
    partly = np.flatnonzero((hides > 0) & (hides < recoding.count))
    count = np.where((hides > 0), hides, recoding.count)
    return replace(
        recoding,
        tuple=np.concatenate([recoding.tuple, recoding.tuple[partly]]),
        group=np.concatenate([recoding.group, recoding.group[partly]]),
        count=np.concatenate([count, recoding.count[partly] - hides[partly]]),
        hidden=np.concatenate([hides > 0, np.zeros(partly.size, dtype=np.bool_)]),
        attribute=attribute,
    )
