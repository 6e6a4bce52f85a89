"""The default for local recoding: groups by layers, improved by local search, region by region."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal, get_args

import numpy as np

from discreet.counts import FloatArray
from discreet.kernels.covers import SET
from discreet.kernels.local_order import split_regions
from discreet.kernels.local_rates import Ints, Nodes, rate_at, shape_of
from discreet.kernels.requirements import Requirement, holds
from discreet.problem._checks import one_of
from discreet.solve._base import SOLVERS, Budget
from discreet.solve._local_levels import make_levels
from discreet.solve._local_region import Ground, Plan, solve_region
from discreet.solve._local_solver import LocalSolver
from discreet.solve._local_task import Shares, Task
from discreet.solve._side_by_side import side_by_side

__all__ = ["Effort", "LocalSearchSolver"]

Effort = Literal["low", "default", "high"]

_REGION = 32_768
"""Points of a region, at most; regions are solved one by one."""
_FEW = 2048
"""So few points get all the effort there is, by default too: it takes no time."""
_MANY = 4 * _REGION
"""Points above which groups are regrouped once only by default."""
_LARGE = 8 * _REGION
"""Points above which the least is done for each by default."""
_CLOSER = 5.0
"""Rows of a group of k are closer together than the part of a range they are in, by about 1 + this / k."""
_PAIRS = 500
"""Pairs of points that tell how much an attribute matters."""


@SOLVERS.register
@dataclass(frozen=True)
class LocalSearchSolver(LocalSolver):
    """Puts rows into groups layer by layer, then moves, swaps and regroups them as long as that saves something.

    A layer recodes every attribute to one level; numbers are recoded to runs of 1, 2, 4, ... neighbours. From the
    cheapest layer to the dearest, every class of enough rows among those that have no group yet becomes one or
    more groups. Large tables are first split into regions where a split saves most.

    ``effort`` says how much work goes into each row: ``low``, ``default`` or ``high``.

    >>> LocalSearchSolver(effort="high").text
    'local(effort=high)'
    """

    name: ClassVar[str] = "local"
    baseline: ClassVar[bool] = False

    effort: Effort = "default"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.effort, "The effort of local", get_args(Effort))

    def groups(self, task: Task, requirement: Requirement, budget: Budget) -> Shares:
        """Group region by region; if Ctrl-C is pressed, what is not done yet is completed without further search."""
        try:
            return self._by_regions(task, requirement, budget)
        except KeyboardInterrupt:
            if budget.stop.is_set():  # it was pressed twice
                raise
            budget.stop.set()
            return self._by_regions(task, requirement, budget)

    def _by_regions(self, task: Task, requirement: Requirement, budget: Budget) -> Shares:
        """Group region by region; the result does not depend on how many are solved at once."""
        shape, leaves, k = shape_of(task.points), _leaves(task), requirement.smallest
        ground = Ground(
            task, requirement, make_levels(task, leaves), shape, leaves, _spread(task, shape), 1 + _CLOSER / k
        )
        regions = _regions(ground)
        limits = _limits(task, regions)
        plan, random = self._plan(leaves.shape[0], k), budget.random()
        seeds = [random.getrandbits(63) | 1 for _ in regions]

        def solve(region: int) -> Shares:
            return solve_region(ground, plan, regions[region], limits[region], seeds[region], budget)

        return _together(side_by_side(solve, range(len(regions)), budget))

    def _plan(self, n: int, k: int) -> Plan:
        if self.effort == "low":
            return Plan(visits=300, window=0, near=0, sweeps=0)
        if self.effort == "high" or n <= _FEW:
            steps = 2000 if self.effort == "high" else 1000
            return Plan(visits=3000, window=8, near=24, sweeps=8, rounds=6, steps=steps)
        if n > _LARGE:
            return Plan(visits=300, window=4, near=6, sweeps=2, first_visits=20, orders=4)
        if n > _REGION:
            if n > _MANY:
                return Plan(visits=600, window=6, near=12, sweeps=2, rounds=1, orders=5)
            return Plan(visits=600, window=6, near=16, sweeps=1, rounds=1, steps=32)
        return Plan(visits=1500, window=8, near=24, sweeps=2, rounds=2 if k > 25 else 3, steps=80)


def _leaves(task: Task) -> Nodes:
    """The leaf of each point in each attribute; for sets the number of its bit."""
    codes = task.points.codes
    leaves = np.empty(codes.shape, dtype=np.int32)
    for i, kind in enumerate(task.points.kind):
        leaves[:, i] = np.rint(np.log2(np.abs(codes[:, i].astype(np.float64)))) if kind == SET else codes[:, i]
    return leaves


def _spread(task: Task, shape: Ints) -> FloatArray:
    """What two rows far apart in the table cost in each attribute, on average."""
    points = task.points
    n, m = points.codes.shape
    one = np.linspace(0, n - 1, min(n, _PAIRS)).astype(np.int64)
    other = (one * 7919 + n // 2) % n
    found = np.zeros(m)
    for i in range(m):
        a, b = points.codes[one, i], points.codes[other, i]
        if points.kind[i] == SET:
            found[i] = float((a != b).mean()) * points.rate[points.start[i] + 2]
        else:
            low, high = np.minimum(a, b), np.maximum(a, b)
            found[i] = np.mean(
                [rate_at(shape, points.rate, points.node, i, x, y) for x, y in zip(low, high, strict=True)]
            )
    return found


def _regions(ground: Ground) -> list[Ints]:
    """Split the points; a part that cannot keep the requirement goes with the next, the last with the one before."""
    task, requirement, points = ground.task, ground.requirement, ground.task.points
    order, k = np.arange(points.weights.size), requirement.smallest
    starts = split_regions(
        ground.leaves, points.weights, ground.shape, points.rate, points.node, order, k, ground.children,
        max(_REGION, 16 * k),
    )  # fmt: skip
    regions: list[Ints] = []
    waiting = order[:0]
    for a, b in pairwise(starts):
        waiting = np.concatenate([waiting, order[a:b]])
        if _holds(task, requirement, waiting):
            regions.append(waiting)
            waiting = order[:0]
    if waiting.size:
        regions[-1:] = [np.concatenate([*regions[-1:], waiting])]
    while len(regions) > 1 and not _holds(task, requirement, regions[-1]):
        regions[-2:] = [np.concatenate(regions[-2:])]
    return regions


def _holds(task: Task, requirement: Requirement, members: Ints) -> bool:
    weights, histogram = task.points.weights[members], np.zeros(requirement.cells, dtype=np.int64)
    for column in requirement.values[members].T:
        np.add.at(histogram, column, weights)
    return bool(holds(requirement, int(weights.sum()), histogram))


def _limits(task: Task, regions: list[Ints]) -> list[int]:
    """How many rows each region may suppress: its part of the whole."""
    limit, n = task.problem.limit, task.problem.table.n
    ends = np.cumsum([0, *(int(task.points.weights[members].sum()) for members in regions)])
    parts: list[int] = np.diff([int(end) * limit // n for end in ends]).tolist()
    return parts


def _together(parts: list[Shares]) -> Shares:
    """The shares of all regions, with groups numbered through."""
    group, used = [], 0
    for part in parts:
        group.append(np.where(part.group < 0, -1, part.group + used))
        used += int(part.group.max(initial=-1)) + 1
    return Shares(
        np.concatenate([part.tuple for part in parts]),
        np.concatenate(group),
        np.concatenate([part.count for part in parts]),
    )
