"""Local recoding of one region: groups by layers, then local search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.kernels.local_cut import cut_classes
from discreet.kernels.local_groups import COUNT, GROUP, POINT, SPARE, Groups, make_groups
from discreet.kernels.local_layers import layer_groups
from discreet.kernels.local_near import nearest
from discreet.kernels.local_order import split_order
from discreet.kernels.local_rest import place_rest
from discreet.kernels.local_search import dissolve_groups, move_shares
from discreet.kernels.requirements import Requirement
from discreet.solve._base import Budget
from discreet.solve._local_levels import Levels
from discreet.solve._local_task import Shares, Task

__all__ = ["Ground", "Plan", "solve_region"]

_DISSOLVE = 2
"""Groups are dissolved in so many sweeps, the first; later it hardly ever saves anything."""
_AT_ONCE = 4096
"""Points or groups looked at between two looks at the clock."""


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
    """How often to go through all points."""


@dataclass(frozen=True, eq=False)
class Ground:
    """What all regions share."""

    task: Task
    requirement: Requirement
    levels: Levels
    shape: IntArray
    leaves: IntArray
    """(points, m) the leaf of each point; for sets the number of its bit."""
    spread: FloatArray
    """(m,) what two rows drawn at random cost in each attribute."""


def solve_region(ground: Ground, plan: Plan, members: IntArray, limit: int, budget: Budget) -> Shares:
    """Group the members; at most ``limit`` rows are suppressed."""
    points, k = ground.task.points, ground.requirement.smallest
    members = members.copy()
    split_order(ground.leaves, points.weights, ground.shape, points.rate, points.node, members, k, 1)
    codes, weights = points.codes[members], points.weights[members]
    requirement = ground.requirement._replace(values=ground.requirement.values[members])
    leaves = ground.levels.leaves[members]
    group, used = _layers(ground, requirement, leaves, codes, weights, 0 if budget.exhausted else plan.visits)
    near = np.zeros((members.size, 0), dtype=np.int64)
    if plan.sweeps and not budget.exhausted:
        orders = _orders(ground, leaves)
        near = nearest(ground.shape, points.rate, points.node, codes, orders, plan.window, plan.near)
    groups = make_groups(
        codes, weights, ground.shape, points.rate, points.node, points.penalty, group, k, requirement.cells
    )
    place_rest(groups, requirement, near, weights)
    _search(groups, requirement, near, plan.sweeps, budget)
    if limit:
        groups.top[SPARE] = limit
        groups.active[:] = True
        _search(groups, requirement, near, plan.sweeps, budget)
    return _shares(groups, members)


def _layers(
    ground: Ground,
    requirement: Requirement,
    leaves: NDArray[np.int32],
    codes: IntArray,
    weights: IntArray,
    visits: int,
) -> tuple[IntArray, int]:
    """The group of each point, -1 where it has none yet, and the number of groups."""
    points, levels, n = ground.task.points, ground.levels, weights.size
    found, classes = layer_groups(
        leaves, weights, levels.first, levels.price, levels.number, levels.joins, requirement, visits * n
    )
    found = np.where(found < 0, classes, found)
    order = np.argsort(found, kind="stable")
    starts = np.flatnonzero(np.diff(found[order], prepend=-1, append=-1))
    group = np.full(n, -1)
    used = cut_classes(
        codes, weights, ground.shape, points.rate, points.node, requirement, order, starts, group, 0
    )
    return group, used


def _orders(ground: Ground, leaves: NDArray[np.int32]) -> IntArray:
    """Orders in which near points stand together: by all attributes, the dearest first, but one of them last."""
    n, dear = leaves.shape[0], np.argsort(-ground.spread, kind="stable")
    orders = [np.arange(n)]
    for last in dear:
        key, used = np.zeros(n, dtype=np.int64), 0
        for i in [*dear[dear != last], last]:
            bits = int(ground.levels.bits[i])
            if used + bits > 62:
                break
            key = (key << bits) | leaves[:, i]
            used += bits
        orders.append(np.argsort(key, kind="stable"))
    return np.stack(orders)


def _search(
    groups: Groups, requirement: Requirement, near: IntArray, sweeps: int, budget: Budget
) -> None:
    """Go through points and groups again and again, as long as that is worth it."""
    n, slots = near.shape[0], groups.group.shape[0]
    for sweep in range(sweeps):
        saved = 0.0
        for kernel, end in ((move_shares, n), (dissolve_groups, slots if sweep < _DISSOLVE else 0)):
            for begin in range(0, end, _AT_ONCE):
                if budget.exhausted:
                    return
                saved += kernel(groups, requirement, near, begin, min(begin + _AT_ONCE, end))
        if saved <= 1e-4 * float(groups.each @ groups.group[:, 1]):
            return


def _shares(groups: Groups, members: IntArray) -> Shares:
    there = np.flatnonzero(groups.share[:, POINT] >= 0)
    share = groups.share[there]
    gone = np.flatnonzero(groups.gone)
    number = np.unique(share[:, GROUP], return_inverse=True)[1]
    return Shares(
        members[np.concatenate([share[:, POINT], gone])],
        np.concatenate([number, np.full(gone.size, -1)]),
        np.concatenate([share[:, COUNT], groups.gone[gone]]),
    )
