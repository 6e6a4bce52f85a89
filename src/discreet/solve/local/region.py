"""Local recoding of one region: groups by layers, then local search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray
from discreet.solve._base import Budget
from discreet.solve.kernels.arrays import Ints
from discreet.solve.kernels.covers import Points
from discreet.solve.kernels.random import RandomState
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.kernels.anneal import anneal
from discreet.solve.local.kernels.assign import assign_points
from discreet.solve.local.kernels.candidates import CandidateSearch, PairRates, find_candidates
from discreet.solve.local.kernels.cut import cut_classes
from discreet.solve.local.kernels.descent import dissolve_groups, move_shares
from discreet.solve.local.kernels.groups import LocalGroups, make_groups
from discreet.solve.local.kernels.layers import Levels, layer_groups
from discreet.solve.local.kernels.order import SplitRule, split_order
from discreet.solve.local.kernels.regroup import regroup
from discreet.solve.local.pricing import price
from discreet.solve.local.task import LocalGrouping, LocalTask

__all__ = ["EffortPlan", "SearchSpace", "solve_region"]

_STEPS = 1 << 17
"""Annealing steps between two checks of the budget, at most."""
_LUKEWARM, _HOT, _HOTTER = 0.08, 0.65, 1.6
"""The temperatures heating begins with and ends with at most, as shares of the mean cost of a group over the rows it
needs, and the factor from one to the next."""
_HEATING, _RISE = 2, 0.015
"""Annealing steps for each point at each of these temperatures, and the rise of the cost that is hot enough."""
_COOLED = 0.25
"""The temperature annealing ends with, as a share of the hottest."""
_BETWEEN, _LONG = 32, 25
"""Annealing steps for each point between two rounds of regrouping; more in proportion if groups need more rows than
``_LONG``, since regrouping takes longer then."""
_TIME = 0.85
"""The share of the time limit after which annealing is to be over."""
_WORTH = 1e-4
"""A sweep that saves less than this share of the cost is the last."""
_CHANGING = ("share", "first", "group", "suppressed", "counters", "active")
_AT_ONCE = 4096
"""Points or groups visited between two checks of the budget."""
_FEW = 4096
"""So few points are grouped twice, from two different starts."""


@dataclass(frozen=True)
class EffortPlan:
    """How much work goes into each point."""

    visits: int
    """Layers in which a point is visited, at most, on average."""
    window: int
    """Positions in each order in which to look for candidates."""
    near: int
    """Candidates of each point."""
    sweeps: int
    """Sweeps over all points, at most."""
    rounds: int = 0
    """Rounds of regrouping at the end."""
    steps: int = 0
    """Annealing steps for each point."""
    first_visits: int = 1000
    """Layers without any group after which no more are tried."""
    joins: int = 0
    """Rounds in which the candidates of candidates become candidates, at most."""
    orders: int = 64
    """Orders in which to look for candidates, at most."""


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """Data shared by all regions."""

    task: LocalTask
    requirement: Requirement
    levels: Levels
    leaves: NDArray[np.int32]
    """(points, m) the leaf of each point; for sets the number of its bit."""
    spread: FloatArray
    """(m,) what two rows drawn at random cost in each attribute."""
    rule: SplitRule
    pairs: PairRates


class _Region(NamedTuple):
    """What every step of the search in one region needs."""

    requirement: Requirement
    near: Ints
    """(points, candidates) the candidates of each point, the nearest first; -1 fills up."""
    spread: FloatArray
    state: RandomState
    budget: Budget


def solve_region(
    space: SearchSpace, plan: EffortPlan, members: Ints, limit: int, seed: int, budget: Budget
) -> LocalGrouping:
    """Group the members; at most ``limit`` rows are suppressed."""
    whole, members = space.task.points, members.copy()
    split_order(space.leaves, whole.weights, space.rule, members)
    points = whole._replace(codes=whole.codes[members], weights=whole.weights[members])
    requirement = space.requirement._replace(values=space.requirement.values[members])
    levels = space.levels._replace(leaves=space.levels.leaves[members])
    starts = [_layers(levels, points, requirement, plan, budget)]
    if members.size <= _FEW:
        starts.append(_cut(points, requirement, np.zeros(members.size, dtype=np.int64)))
    near = np.zeros((members.size, 0), dtype=np.int64)
    if plan.sweeps and not budget.exhausted:
        dear = np.argsort(-space.spread, kind="stable")
        orders = _orders(levels, dear, plan.orders)
        search = CandidateSearch(plan.window, plan.near, plan.joins)
        pairs = space.pairs._replace(codes=space.pairs.codes[members], leaves=space.pairs.leaves[members])
        near = find_candidates(pairs, orders, search)
    found = []
    for group in starts:
        state = np.array([seed], dtype=np.uint64)
        region = _Region(requirement, near, space.spread, state, budget)
        groups = make_groups(points, group, requirement.smallest, requirement.cells)
        assign_points(groups, requirement, near, points.weights)
        found.append(_grouping(_improved(region, groups, plan, limit), members))
    return found[0] if len(found) == 1 else min(found, key=lambda grouping: price(space.task, grouping).cost)


def _layers(levels: Levels, points: Points, requirement: Requirement, plan: EffortPlan, budget: Budget) -> Ints:
    """Return the group of each point, -1 if it has none yet: classes of layers, cut where that saves most."""
    n = points.weights.size
    visits = 0 if budget.exhausted else plan.visits * n
    found, classes = layer_groups(levels, points.weights, requirement, visits, plan.first_visits * n)
    return _cut(points, requirement, np.where(found < 0, classes, found))


def _cut(points: Points, requirement: Requirement, classes: Ints) -> Ints:
    """Return the group of each point after each class is cut in the order of its points; -1 if it cannot be."""
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.diff(classes[order], prepend=-1, append=-1))
    group = np.full(classes.size, -1)
    cut_classes(points, requirement, order, starts, group)
    return group


def _orders(levels: Levels, dear: Ints, most: int) -> Ints:
    """Return orders in which near points are neighbours: by all attributes, the dearest first but one of them last."""
    n = levels.leaves.shape[0]
    orders = [np.arange(n)]
    for last in dear[: most - 1]:
        key, used = np.zeros(n, dtype=np.int64), 0
        for i in [*dear[dear != last], last]:
            bits = int(levels.bits[i])
            if used + bits > 62:
                break
            key = (key << bits) | levels.leaves[:, i]
            used += bits
        orders.append(np.argsort(key, kind="stable"))
    return np.stack(orders)


def _improved(region: _Region, groups: LocalGroups, plan: EffortPlan, limit: int) -> LocalGroups:
    """Move, swap and regroup as long as that saves cost; at the end suppress what is cheaper suppressed."""
    if not region.near.size:
        return groups
    _descend(region, groups, plan.sweeps, 2 if plan.sweeps > 2 else 1)
    if plan.steps:
        groups = _anneal(region, groups, plan.steps)
    _regroup(region, groups, plan.rounds)
    if limit:
        groups.counters["budget"] = limit
        groups.active[:] = True
        _descend(region, groups, 8, 2)
    return groups


def _cost(groups: LocalGroups) -> float:
    return float((groups.group["rate"] * groups.group["rows"]).sum())


def _descend(region: _Region, groups: LocalGroups, sweeps: int, dissolve: int) -> None:
    """Sweep over the points, in the first ``dissolve`` sweeps also over the groups, while that is worth it."""
    n, slots = region.near.shape[0], groups.group.size
    for sweep in range(sweeps):
        saved = 0.0
        for kernel, end in ((move_shares, n), (dissolve_groups, slots if sweep < dissolve else 0)):
            for begin in range(0, end, _AT_ONCE):
                if region.budget.exhausted:
                    return
                saved += kernel(groups, region.requirement, region.near, begin, min(begin + _AT_ONCE, end))
        if saved <= _WORTH * _cost(groups):
            return


def _anneal(region: _Region, groups: LocalGroups, steps: int) -> LocalGroups:
    """Return the better of the groups as they are and after annealing.

    It heats until the cost has risen a little, which tells how hot is hot for this table: with many attributes the
    same temperature per row does far more harm than with few. From there on it cools. Annealing makes no new groups;
    regrouping in between does. If time is short it cools faster.
    """
    n, k, budget = region.near.shape[0], region.requirement.smallest, region.budget
    unit = _cost(groups) / max(int((groups.group["rows"] > 0).sum()), 1) / k
    if unit <= 0.0:
        return groups
    warm, begun = _copy(groups), budget.seconds
    hottest, taken = _heat(region, warm, unit)
    between = int(_BETWEEN * max(1.0, k / _LONG)) * n
    portion = min(_STEPS, between)
    portions = max(-(-(steps * n - taken) // portion), 1)
    cooled = 0.0
    for number in range(1, portions + 1):
        if budget.exhausted or cooled >= 1.0:
            break
        until = max(number / portions, _time_used(budget, begun))
        hot, cold = (hottest * _COOLED**part for part in (cooled, until))
        anneal(warm, region.requirement, region.near, portion, hot, cold, region.state)
        if number * portion // between > (number - 1) * portion // between:
            regroup(warm, region.requirement, region.near, region.spread, 0, warm.group.size, region.state)
        cooled = until
    warm.active[:] = True
    _descend(region, warm, 8, 2)
    return min(groups, warm, key=_cost)


def _heat(region: _Region, warm: LocalGroups, unit: float) -> tuple[float, int]:
    """Anneal at ever higher temperatures until the cost has risen; return the last one, and the steps taken."""
    steps, enough = _HEATING * region.near.shape[0], (1 + _RISE) * _cost(warm)
    temperature, taken = unit * _LUKEWARM, 0
    while temperature < unit * _HOT and not region.budget.exhausted:
        for begin in range(0, steps, _STEPS):
            some = min(_STEPS, steps - begin)
            anneal(warm, region.requirement, region.near, some, temperature, temperature, region.state)
        taken += steps
        if _cost(warm) > enough:
            break
        temperature *= _HOTTER
    return temperature, taken


def _copy(groups: LocalGroups) -> LocalGroups:
    arrays = {name: getattr(groups, name).copy() for name in _CHANGING}
    return groups._replace(covers=groups.covers._replace(cover=groups.covers.cover.copy()), **arrays)


def _time_used(budget: Budget, begun: float) -> float:
    """Return how much of the time for annealing is over; 0 without a limit."""
    if budget.time_limit is None:
        return 0.0
    until = _TIME * budget.time_limit
    return 1.0 if budget.seconds >= until else (budget.seconds - begun) / (until - begun)


def _regroup(region: _Region, groups: LocalGroups, rounds: int) -> None:
    """Regroup all groups so many times, each time followed by two sweeps."""
    slots = groups.group.size
    for _ in range(rounds):
        for begin in range(0, slots, _AT_ONCE):
            if region.budget.exhausted:
                return
            end = min(begin + _AT_ONCE, slots)
            regroup(groups, region.requirement, region.near, region.spread, begin, end, region.state)
        _descend(region, groups, 2, 0)


def _grouping(groups: LocalGroups, members: Ints) -> LocalGrouping:
    """Return the groups with the numbers of the points in the whole table, numbered without gaps."""
    share = groups.share[groups.share["point"] >= 0]
    suppressed = np.flatnonzero(groups.suppressed)
    used = np.zeros(groups.group.size, dtype=np.bool_)
    used[share["group"]] = True
    number = (np.cumsum(used) - 1)[share["group"]]
    return LocalGrouping(
        members[np.concatenate([share["point"], suppressed])],
        np.concatenate([number, np.full(suppressed.size, -1)]),
        np.concatenate([share["rows"], groups.suppressed[suppressed]]),
    )
