"""Local recoding whose groups stay inside given parts of the table.

Other releases may divide people into parts, each of which has to keep the promises wherever it occurs. Whatever groups
do so, the parts of a group keep the promises by themselves, and rates are monotone: to take a group apart by these
parts never costs more. So nothing is lost by searching part by part, and lower bounds of the parts add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from discreet.counts import CountTable, IntArray
from discreet.problem import Problem, Suppression
from discreet.problem.suppression.suppress_records import SuppressRecords
from discreet.solve._base import Budget, Progress, Solution
from discreet.solve.local.alternatives import nothing_found
from discreet.solve.local.bounds import nearest_bound
from discreet.solve.local.pricing import make_solution, price
from discreet.solve.local.task import LocalGrouping, make_task

__all__ = ["TablePart", "solve_divided"]


@dataclass(frozen=True, eq=False)
class TablePart:
    """Some tuples of a count table, and what may become of their rows."""

    tuples: IntArray
    becomes: Literal["groups", "one group", "suppressed"] = "groups"
    may_go: bool = False
    """Whether rows of ``groups`` may be suppressed, as far as the problem allows it."""


def solve_divided(
    problem: Problem,
    parts: Sequence[TablePart],
    solve: Callable[[Problem], Solution],
    budget: Budget,
    *,
    additive: bool,
) -> Solution:
    """Return groups that stay inside the parts, each found by ``solve`` for the part alone.

    ``additive`` says that valid groups can be taken apart by the parts. Then, if no part had to become one group, the
    bounds of all parts add up to a lower bound on the cost of every valid grouping.
    """
    found = [_solve_part(problem, part, solve) for part in parts]
    grouping = _joined(found)
    if grouping.suppressed > problem.limit:
        raise nothing_found()
    task = make_task(problem)
    bound = nearest_bound(task, budget)
    if additive and not any(part.becomes == "one group" for part in parts):
        bound = max(bound, sum(_bound(problem, part, each, budget) for part, each in zip(parts, found, strict=True)))
    priced = price(task, grouping)
    now = Progress(budget.seconds, priced.cost, min(bound, priced.cost), 1)
    return make_solution(task, grouping, bound, [now], priced)


@dataclass(frozen=True, eq=False)
class _SolvedParts:
    grouping: LocalGrouping
    bound: float = 0.0


def _solve_part(problem: Problem, part: TablePart, solve: Callable[[Problem], Solution]) -> _SolvedParts:
    rows = problem.table.weights[part.tuples]
    if part.becomes != "groups":
        number = -1 if part.becomes == "suppressed" else 0
        return _SolvedParts(LocalGrouping(part.tuples, np.full_like(part.tuples, number), rows))
    solution = solve(_part_of(problem, part, 0 if not part.may_go else problem.limit))
    groups = solution.groups
    if groups is None:
        raise nothing_found()
    return _SolvedParts(LocalGrouping(part.tuples[groups.tuple], groups.group, groups.count), solution.lower_bound)


def _part_of(problem: Problem, part: TablePart, limit: int) -> Problem:
    """Return the problem of a part; domains, and with them the rates of covers, stay those of the whole table."""
    some: CountTable = replace(problem.table.some(part.tuples), attributes=problem.table.attributes)
    suppression: Suppression = SuppressRecords(min(limit, some.n))
    return replace(problem, table=some, whole=some, suppression=suppression)


def _bound(problem: Problem, part: TablePart, found: _SolvedParts, budget: Budget) -> float:
    """Return a lower bound on what the rows of a part cost, if as many of them may be suppressed as of the table."""
    if part.becomes == "suppressed" or part.may_go or not problem.limit:
        return found.bound
    return nearest_bound(make_task(_part_of(problem, part, problem.limit)), budget)


def _joined(found: Sequence[_SolvedParts]) -> LocalGrouping:
    """Return the groupings of all parts as one."""
    group, used = [], 0
    for each in found:
        group.append(np.where(each.grouping.group < 0, -1, each.grouping.group + used))
        used += int(each.grouping.group.max(initial=-1)) + 1
    return LocalGrouping(
        np.concatenate([each.grouping.tuple for each in found]),
        np.concatenate(group).astype(np.int64),
        np.concatenate([each.grouping.count for each in found]),
    )
