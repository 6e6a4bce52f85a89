"""Local recoding by any cost and suppression: groups found in kernels for a simpler problem, then priced as they are.

The simpler problem has the same rows and a cost that kernels know. Its groups are good groups of near rows, and they
satisfy the models. What the asked cost makes of them is found out through arrays, and local search through the same
arrays improves them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.counts import CodedAttribute, CountTable, IntArray
from discreet.errors import NothingFoundError
from discreet.problem import Cost, Problem
from discreet.problem.costs.certainty import Certainty
from discreet.problem.costs.loss import Loss
from discreet.problem.costs.precision import Precision
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.problem.suppression import Suppression
from discreet.problem.suppression.class_records import ClassRecords
from discreet.problem.suppression.suppress_records import SuppressRecords
from discreet.solve._base import Budget, Progress, ProgressCallback, Solution
from discreet.solve.local.alternatives import nothing_found
from discreet.solve.local.bounds import nearest_bound
from discreet.solve.local.general_bounds import general_bound, smallest_group
from discreet.solve.local.general_price import PricedGrouping, price_grouping
from discreet.solve.local.group_arrays import GroupArrays
from discreet.solve.local.improve import highest_cells, improve
from discreet.solve.local.microaggregation import squared_error
from discreet.solve.local.task import LocalGrouping, make_task

__all__ = ["is_compiled", "solve_general"]

GroupFinder = Callable[[Problem, Budget], LocalGrouping | None]
"""Returns groups that satisfy a problem that kernels know; None if it is certain that there are none."""


def is_compiled(problem: Problem) -> bool:
    """Return whether kernels know the whole problem: its cost, its suppression, and no limits on levels."""
    return type(problem.cost) in (Certainty, Loss, Precision) and not (
        problem.suppression.hides_values or _is_limited(problem)
    )


def _is_limited(problem: Problem) -> bool:
    each = zip(problem.table.attributes, problem.lowest, problem.highest, strict=True)
    return any(low > 0 or high < attribute.height for attribute, low, high in each)


def solve_general(
    problem: Problem, find: GroupFinder, rounds: int, budget: Budget, progress: ProgressCallback | None
) -> Solution:
    """Return the best of several groupings, improved for so many rounds, with a lower bound."""
    arrays = GroupArrays(problem)
    show = problem.schemes[0].shows
    found: list[tuple[float, LocalGrouping]] = []
    for start in _starts(problem, find, budget):
        if start is None:
            return Solution("infeasible", np.inf, np.inf)
        priced = price_grouping(arrays, start, show)
        if priced.valid:
            found.append((priced.cost, start))
    if not found:
        raise nothing_found()
    grouping = min(found, key=lambda each: each[0])[1]
    if show == "cover" or problem.union_closed:
        grouping = improve(arrays, grouping, rounds, budget, show)
    priced = price_grouping(arrays, grouping, show)
    trace = [Progress(budget.seconds, priced.cost, 0.0, 1)]
    if progress is not None:
        progress(trace[-1])
    bound = min(_bound(arrays, budget), priced.cost)
    trace.append(Progress(budget.seconds, priced.cost, bound, 1))
    if progress is not None:
        progress(trace[-1])
    return _solution(problem, priced, bound, trace)


def _solution(problem: Problem, priced: PricedGrouping, bound: float, trace: list[Progress]) -> Solution:
    groups = priced.recoding
    stats: dict[str, Any] = {}
    error = squared_error(problem.table, groups) if groups.show == "mean" else None
    if error is not None:
        stats["squared_error"] = error
    return Solution(
        status="optimal" if priced.cost <= bound else "feasible",
        cost=priced.cost,
        lower_bound=bound,
        groups=groups,
        suppressed_rows=int(groups.count[groups.group < 0].sum()),
        suppressed_values=priced.suppressed_values,
        classes=int(groups.group.max(initial=-1)) + 1,
        stats=stats,
        trace=tuple(trace),
    )


def _bound(arrays: GroupArrays, budget: Budget) -> float:
    """Return a lower bound; costs that kernels know have one for large tables too, limits on levels left aside."""
    problem = arrays.problem
    bound = general_bound(arrays, budget)
    if type(problem.cost) in (Certainty, Loss, Precision):
        fewest = KAnonymity(smallest_group(problem))
        plain = replace(_simpler(problem, (fewest,), SuppressRecords(problem.limit)), cost=problem.cost)
        bound = max(bound, nearest_bound(make_task(_unlimited(plain, problem.table)), budget))
    return bound


# --- groups to start from -------------------------------------------------------------------------------------------


def _starts(problem: Problem, find: GroupFinder, budget: Budget) -> Iterator[LocalGrouping | None]:
    """Yield groupings that satisfy the models; None first if it is certain that there are none.

    Where values may be hidden, one grouping keeps to all models, so that nothing is, and one only to those that do not
    look at sensitive values. Where labels count, one grouping has the same label within each group.
    """
    cells = highest_cells(problem)
    kind = problem.suppression
    if kind.hides_values:
        others = tuple(model for model in problem.privacy if not model.looks_at_sensitive) or (KAnonymity(1),)
        yield _in_cells(_simpler(problem, others, SuppressRecords(0)), cells, find, budget)
    else:
        whole = kind if kind.is_budget or kind.name == "none" else ClassRecords()
        yield _in_cells(_simpler(problem, problem.privacy, whole), cells, find, budget)
    for privacy, other in _further(problem, cells):
        try:
            start = _in_cells(_simpler(problem, privacy, SuppressRecords(0)), other, find, budget)
        except NothingFoundError:
            continue
        if start is not None:
            yield start


def _further(problem: Problem, cells: IntArray) -> Iterator[tuple[Any, IntArray]]:
    labels = problem.table.labels
    if problem.suppression.hides_values and any(model.looks_at_sensitive for model in problem.privacy):
        yield problem.privacy, cells
    if labels is not None and "labels" in problem.cost.needs:
        privacy = problem.privacy
        if problem.suppression.hides_values:
            privacy = tuple(model for model in privacy if not model.looks_at_sensitive) or (KAnonymity(1),)
        yield privacy, np.unique(cells * labels.cardinality + labels.values, return_inverse=True)[1].reshape(-1)


def _in_cells(problem: Problem, cells: IntArray, find: GroupFinder, budget: Budget) -> LocalGrouping | None:
    """Find groups in each cell by itself, beyond which none may go; None if there are certainly none.

    A cell is searched without suppression first, and with what is left of the budget if it must be.
    """
    if not cells.any():
        return find(problem, budget)
    parts, left, offset = [], problem.limit, 0
    for cell in range(int(cells.max()) + 1):
        tuples = np.flatnonzero(cells == cell)
        found = _in_cell(problem, tuples, left, find, budget)
        if found is None:
            if left == problem.limit:
                return None
            raise nothing_found()
        left -= found.suppressed
        group = np.where(found.group < 0, -1, found.group + offset)
        offset = max(offset, int(group.max(initial=-1)) + 1)
        parts.append(LocalGrouping(tuples[found.tuple], group, found.count))
    return LocalGrouping(
        np.concatenate([part.tuple for part in parts]),
        np.concatenate([part.group for part in parts]),
        np.concatenate([part.count for part in parts]),
    )


def _in_cell(problem: Problem, tuples: IntArray, left: int, find: GroupFinder, budget: Budget) -> LocalGrouping | None:
    some = problem.table.some(tuples)
    table = replace(some, attributes=problem.table.attributes)
    all_out = LocalGrouping(np.arange(some.tuples), np.full(some.tuples, -1, dtype=np.int64), some.weights)
    if some.n < problem.smallest_class:
        return all_out if some.n <= left else None
    for limit in dict.fromkeys((0, min(left, some.n))):
        try:
            found = find(replace(problem, table=table, suppression=SuppressRecords(limit)), budget)
        except NothingFoundError:
            if limit == min(left, some.n):
                raise
            continue
        if found is not None:
            return found
    return None


def _simpler(problem: Problem, privacy: Any, kind: Suppression) -> Problem:
    """Return the problem with a cost that kernels know and no limits; leaves are those of the lowest levels."""
    table = _lifted(problem.table, problem.lowest)
    return _unlimited(replace(problem, privacy=tuple(privacy), suppression=kind, cost=_known_cost(problem.cost)), table)


def _unlimited(problem: Problem, table: CountTable) -> Problem:
    heights = tuple(attribute.height for attribute in table.attributes)
    return replace(problem, table=table, lowest=tuple(0 for _ in heights), highest=heights)


def _known_cost(cost: Cost) -> Cost:
    """Return the cost itself if kernels know it, or LM with the same weights."""
    if type(cost) in (Certainty, Loss, Precision):
        return cost
    return Loss(weights=dict(getattr(cost, "weights", None) or {}))


def _lifted(table: CountTable, lowest: tuple[int, ...]) -> CountTable:
    """Return the table with the blocks of the lowest levels as leaves."""
    if not any(lowest):
        return table
    attributes, codes = [], []
    for attribute, leaves, low in zip(table.attributes, table.codes, lowest, strict=True):
        attributes.append(_lifted_attribute(attribute, low) if low else attribute)
        codes.append(attribute.ancestors[low, leaves])
    return replace(table, attributes=tuple(attributes), codes=np.stack(codes).astype(np.int32))


def _lifted_attribute(attribute: CodedAttribute, low: int) -> CodedAttribute:
    _, example = np.unique(attribute.ancestors[low], return_index=True)
    return replace(
        attribute,
        ancestors=attribute.ancestors[low:, example],
        rows=attribute.block_rows[low],
        positions=None,
        repeats=None if attribute.repeats is None else attribute.repeats[low:],
        labels=attribute.labels[low:],
    )
