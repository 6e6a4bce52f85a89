"""Infeasible problems: why no release keeps the promises, and the nearest change that would help."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import DiscreetError, InfeasibleError
from discreet.problem import Problem
from discreet.runtime.plurals import amount

if TYPE_CHECKING:
    from discreet.solve import Budget, Solution

__all__ = ["infeasible", "no_point"]

_MOST_TRIES = 2_000
"""At most this many combinations of limits are tried."""


def infeasible(problem: Problem, solution: Solution) -> InfeasibleError:
    """Return the error for a problem that was proven infeasible, with ways out."""
    promised = " and ".join(model.shown for model in problem.privacy)
    kind, smallest = problem.suppression, solution.smallest_budget
    limits = _limits_that_work(problem)
    limited = [name for name, height, high in _level_limits(problem) if high < height]
    within = f" with the limits on the levels of {_listed(limited)}" if limits else ""
    ways = [" and ".join(f"'{name}' up to level {level}" for name, level in found.items()) for found in limits]
    if kind.hides_values:
        return InfeasibleError(
            f"No recoding keeps {promised}{within} and the suppression {kind.name}, under which every row stays; "
            f"{_let(ways)}promise less, or choose violating-records, class-records or a budget.",
            limits=limits,
        )
    stay = "" if problem.kept is None else f" that {kind.name} leaves"
    table, unit = (problem.table.units, ("person", "people")) if problem.limit_of_people else (problem.table, ("row",))
    if problem.profile and not problem.limit_of_people:
        smallest = None  # it was counted in rows, and no budget of people follows from that
    at_most = f"at most {problem.limit:,} of {amount(table.n, *unit)}{stay}"
    if problem.limit >= table.n or (smallest is not None and smallest >= table.n):
        smallest = None  # an empty table is no release
        way_out = f"{'' if ways else 'allow coarser values or '}promise less: whatever the budget, no row could stay"
    elif smallest is not None and problem.kept is None:
        of_rows = "" if problem.people is None or problem.limit_of_people else ", of=rows"
        way_out = f"the smallest budget that can be met is {amount(smallest, *unit)}, as in budget({smallest}{of_rows})"
    else:
        way_out = "allow more suppression or coarser values, or promise less"
    return InfeasibleError(
        f"No recoding keeps {promised}{within} by suppressing {at_most}; {_let(ways)}{way_out}.",
        smallest_budget=smallest,
        limits=limits,
    )


def no_point(problem: Problem, complete: bool, budget: Budget) -> DiscreetError:
    """Return the error for a front without points: none keeps the promises, or there was no time to find one."""
    from discreet.solve import Solution, nothing_found

    if not complete:
        return nothing_found(budget)
    return infeasible(problem, Solution("infeasible", np.inf, np.inf))


def _let(ways: Sequence[str]) -> str:
    return f"the nearest limits that work let {', or '.join(ways)}; otherwise " if ways else ""


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _level_limits(problem: Problem) -> Iterator[tuple[str, int, int]]:
    """Yield the name, the height and the highest allowed level of each attribute."""
    for attribute, high in zip(problem.table.attributes, problem.highest, strict=True):
        yield attribute.name, attribute.height, high


def _limits_that_work(problem: Problem) -> list[dict[str, int]]:
    """Return the lowest sufficient limit of each attribute that can help alone; else the nearest combination.

    Empty if there is no limit, or if lifting all of them does not help.
    """
    from discreet.solve import Recoder, Released

    heights = [height for _, height, _ in _level_limits(problem)]
    names = problem.table.names
    limited = [i for i, (height, high) in enumerate(zip(heights, problem.highest, strict=True)) if high < height]
    recoder = Recoder(replace(problem, highest=tuple(heights)))

    def works(node: Sequence[int]) -> bool:
        return bool(np.isfinite(recoder.cost(Released.by_levels(problem.table, node))))

    if not limited or not works(heights):
        return []
    alone = []
    for i in limited:
        nodes = ([*problem.highest[:i], level, *problem.highest[i + 1 :]] for level in range(heights[i], -1, -1))
        level = heights[i] + 1
        while level - 1 > problem.highest[i] and works(next(nodes)):
            level -= 1
        if level <= heights[i]:
            alone.append({names[i]: level})
    if alone:
        return alone
    for node in _upwards(problem.highest, heights, limited):
        if works(node):
            return [{names[i]: node[i] for i in limited if node[i] > problem.highest[i]}]
    return []


def _upwards(start: Sequence[int], top: Sequence[int], limited: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield level vectors above another, nearest first."""
    heap, seen = [(0, tuple(start))], {tuple(start)}
    while heap and len(seen) < _MOST_TRIES:
        more, node = heapq.heappop(heap)
        yield node
        for i in limited:
            above = (*node[:i], node[i] + 1, *node[i + 1 :])
            if node[i] < top[i] and above not in seen:
                seen.add(above)
                heapq.heappush(heap, (more + 1, above))
