"""Local recoding of one region: groups by layers, then local search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray
from discreet.kernels.local_anneal import anneal
from discreet.kernels.local_cut import cut_classes
from discreet.kernels.local_groups import COUNT, GROUP, POINT, SIZE, SPARE, Groups, make_groups
from discreet.kernels.local_layers import layer_groups
from discreet.kernels.local_near import nearest
from discreet.kernels.local_order import split_order
from discreet.kernels.local_random import State
from discreet.kernels.local_rates import Ints
from discreet.kernels.local_regroup import regroup
from discreet.kernels.local_rest import place_rest
from discreet.kernels.local_search import dissolve_groups, move_shares
from discreet.kernels.requirements import Requirement
from discreet.solve._base import Budget
from discreet.solve._local_levels import Levels
from discreet.solve._local_task import Shares, Task, price

__all__ = ["Ground", "Plan", "solve_region"]

_STEPS = 1 << 17
"""Steps of annealing between two looks at the clock, at most."""
_HOT, _COLD = 0.65, 0.16
"""The temperatures annealing begins and ends with, as shares of what a group costs over the rows it needs."""
_BETWEEN, _LONG = 32, 25
"""Steps for each point between two times that all groups are regrouped during annealing; where groups need more rows
than so many, so that regrouping takes longer, there are more steps in proportion."""
_TIME = 0.85
"""The part of the time limit after which annealing is to be over."""
_WORTH = 1e-4
"""A sweep that saves less than this share of the cost is the last."""
_CHANGING = ("share", "first", "group", "cover", "each", "gone", "top", "mark", "active")
_AT_ONCE = 4096
"""Points or groups looked at between two looks at the clock."""
_FEW = 4096
"""So few points are grouped twice, from two different starts."""


@dataclass(frozen=True)
class Plan:
    """How much work goes into each point."""

    visits: int
    """Layers a point is looked at in, at most, on average."""
    window: int
    """Places in each order to look for near points in."""
    near: int
    """Near points to know of each point."""
    sweeps: int
    """How often to go through all points, at most."""
    rounds: int = 0
    """How often to regroup all groups at the end."""
    steps: int = 0
    """Steps of annealing for each point."""
    first_visits: int = 1000
    """Layers after which there are to be groups, or it is left at that."""
    orders: int = 64
    """Orders to look for near points in, at most."""


@dataclass(frozen=True, eq=False)
class Ground:
    """What all regions share."""

    task: Task
    requirement: Requirement
    levels: Levels
    shape: Ints
    leaves: NDArray[np.int32]
    """(points, m) the leaf of each point; for sets the number of its bit."""
    spread: FloatArray
    """(m,) what two rows drawn at random cost in each attribute."""
    children: float
    """How many times what nodes save counts in splits: rows in a part of a range are closer than the part is wide."""


def solve_region(ground: Ground, plan: Plan, members: Ints, limit: int, seed: int, budget: Budget) -> Shares:
    """Group the members; at most ``limit`` rows are suppressed."""
    points, k = ground.task.points, ground.requirement.smallest
    members = _in_order(ground, members)
    codes, weights = points.codes[members], points.weights[members]
    requirement = ground.requirement._replace(values=ground.requirement.values[members])
    leaves = ground.levels.leaves[members]
    starts = [_layers(ground, requirement, leaves, codes, weights, plan, budget)]
    if members.size <= _FEW:
        starts.append(_cut_whole(ground, requirement, codes, weights))
    near = np.zeros((members.size, 0), dtype=np.int64)
    if plan.sweeps and not budget.exhausted:
        dear = np.argsort(-ground.spread, kind="stable")
        orders = _orders(ground, leaves, dear, plan.orders)
        near = nearest(ground.shape, points.rate, points.node, codes, dear, orders, plan.window, plan.near)
    found = []
    for group in starts:
        groups = make_groups(
            codes, weights, ground.shape, points.rate, points.node, points.penalty, group, k, requirement.cells
        )
        place_rest(groups, requirement, near, weights)
        state = np.array([seed], dtype=np.uint64)
        found.append(_shares(_improved(ground, groups, requirement, near, plan, limit, state, budget), members))
    return found[0] if len(found) == 1 else min(found, key=lambda shares: price(ground.task, shares).cost)


def _in_order(ground: Ground, members: Ints) -> Ints:
    """The members, near ones together."""
    points, k, members = ground.task.points, ground.requirement.smallest, members.copy()
    split_order(ground.leaves, points.weights, ground.shape, points.rate, points.node, members, k, ground.children)
    return members


def _improved(
    ground: Ground,
    groups: Groups,
    requirement: Requirement,
    near: Ints,
    plan: Plan,
    limit: int,
    state: State,
    budget: Budget,
) -> Groups:
    """Move, swap and regroup as long as that saves something; at the end suppress what is cheaper suppressed."""
    if not near.size:
        return groups
    _descend(groups, requirement, near, plan.sweeps, 2 if plan.sweeps > 2 else 1, budget)
    if plan.steps:
        groups = _anneal(ground, groups, requirement, near, plan, state, budget)
    _regroup(ground, groups, near, requirement, plan.rounds, state, budget)
    if limit:
        groups.top[SPARE] = limit
        groups.active[:] = True
        _descend(groups, requirement, near, 8, 2, budget)
    return groups


def _cut_whole(ground: Ground, requirement: Requirement, codes: Ints, weights: Ints) -> Ints:
    """The group of each point if all of them, in their order, are cut as well as can be."""
    points, n = ground.task.points, weights.size
    group = np.full(n, -1)
    order, starts = np.arange(n), np.array([0, n])
    cut_classes(codes, weights, ground.shape, points.rate, points.node, requirement, order, starts, group, 0)
    return group


def _layers(
    ground: Ground,
    requirement: Requirement,
    leaves: NDArray[np.int32],
    codes: Ints,
    weights: Ints,
    plan: Plan,
    budget: Budget,
) -> Ints:
    """The group of each point, -1 where it has none yet."""
    points, levels, n = ground.task.points, ground.levels, weights.size
    visits = 0 if budget.exhausted else plan.visits * n
    found, classes = layer_groups(
        leaves, weights, levels.first, levels.price, levels.number, levels.joins, requirement, visits,
        plan.first_visits * n,
    )  # fmt: skip
    found = np.where(found < 0, classes, found)
    order = np.argsort(found, kind="stable")
    starts = np.flatnonzero(np.diff(found[order], prepend=-1, append=-1))
    group = np.full(n, -1)
    cut_classes(codes, weights, ground.shape, points.rate, points.node, requirement, order, starts, group, 0)
    return group


def _orders(ground: Ground, leaves: NDArray[np.int32], dear: Ints, most: int) -> Ints:
    """Orders in which near points stand together: by all attributes, the dearest first, but one of them last."""
    n = leaves.shape[0]
    orders = [np.arange(n)]
    for last in dear[: most - 1]:
        key, used = np.zeros(n, dtype=np.int64), 0
        for i in [*dear[dear != last], last]:
            bits = int(ground.levels.bits[i])
            if used + bits > 62:
                break
            key = (key << bits) | leaves[:, i]
            used += bits
        orders.append(np.argsort(key, kind="stable"))
    return np.stack(orders)


def _cost(groups: Groups) -> float:
    return float((groups.each * groups.group[:, SIZE]).sum())


def _descend(groups: Groups, requirement: Requirement, near: Ints, sweeps: int, dissolve: int, budget: Budget) -> None:
    """Go through the points again and again, in the first sweeps also through the groups, while that is worth it."""
    n, slots = near.shape[0], groups.group.shape[0]
    for sweep in range(sweeps):
        saved = 0.0
        for kernel, end in ((move_shares, n), (dissolve_groups, slots if sweep < dissolve else 0)):
            for begin in range(0, end, _AT_ONCE):
                if budget.exhausted:
                    return
                saved += kernel(groups, requirement, near, begin, min(begin + _AT_ONCE, end))
        if saved <= _WORTH * _cost(groups):
            return


def _anneal(
    ground: Ground, groups: Groups, requirement: Requirement, near: Ints, plan: Plan, state: State, budget: Budget
) -> Groups:
    """Return the better of the groups as they are and as they are after annealing.

    Annealing makes no new groups; regrouping in between does. Where time is short it cools faster.
    """
    n, k = near.shape[0], requirement.smallest
    unit = _cost(groups) / max(int((groups.group[:, SIZE] > 0).sum()), 1) / k
    if unit <= 0.0:
        return groups
    arrays = {name: each.copy() for name, each in groups._asdict().items() if name in _CHANGING}
    warm = groups._replace(**arrays)
    between = int(_BETWEEN * max(1.0, k / _LONG)) * n
    portion = min(_STEPS, between)
    portions = -(-plan.steps * n // portion)
    begun, cooled = budget.seconds, 0.0
    for number in range(1, portions + 1):
        if budget.exhausted or cooled >= 1.0:
            break
        until = max(number / portions, _time_used(budget, begun))
        hot, cold = (unit * _HOT * (_COLD / _HOT) ** part for part in (cooled, until))
        anneal(warm, requirement, near, portion, hot, cold, state)
        if number * portion // between > (number - 1) * portion // between:
            regroup(warm, requirement, near, ground.spread, 0, warm.group.shape[0], state)
        cooled = until
    warm.active[:] = True
    _descend(warm, requirement, near, 8, 2, budget)
    return min(groups, warm, key=_cost)


def _time_used(budget: Budget, begun: float) -> float:
    """How much of the time for annealing is over; 0 if there is no limit."""
    if budget.time_limit is None:
        return 0.0
    until = _TIME * budget.time_limit
    return 1.0 if budget.seconds >= until else (budget.seconds - begun) / (until - begun)


def _regroup(
    ground: Ground, groups: Groups, near: Ints, requirement: Requirement, rounds: int, state: State, budget: Budget
) -> None:
    """Regroup all groups so many times."""
    slots = groups.group.shape[0]
    for _ in range(rounds):
        for begin in range(0, slots, _AT_ONCE):
            if budget.exhausted:
                return
            regroup(groups, requirement, near, ground.spread, begin, min(begin + _AT_ONCE, slots), state)
        _descend(groups, requirement, near, 2, 0, budget)


def _shares(groups: Groups, members: Ints) -> Shares:
    there = np.flatnonzero(groups.share[:, POINT] >= 0)
    share = groups.share[there]
    gone = np.flatnonzero(groups.gone)
    used = np.zeros(groups.group.shape[0], dtype=np.bool_)
    used[share[:, GROUP]] = True
    number = (np.cumsum(used) - 1)[share[:, GROUP]]
    return Shares(
        members[np.concatenate([share[:, POINT], gone])],
        np.concatenate([number, np.full(gone.size, -1)]),
        np.concatenate([share[:, COUNT], groups.gone[gone]]),
    )
