"""The default solver for local recoding: groups by layers, improved by local search, region by region."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal, get_args

import numpy as np

from discreet.counts import FloatArray
from discreet.runtime.arguments import one_of
from discreet.solve._base import SOLVERS, Budget
from discreet.solve._parallel import in_parallel
from discreet.solve.kernels.arrays import Ints, Nodes
from discreet.solve.kernels.covers import BITS, SET, TABLE, Rates, rate_of
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.local.base import LocalSolver, satisfied_by
from discreet.solve.local.kernels.candidates import PairRates
from discreet.solve.local.kernels.order import SplitRule, split_regions
from discreet.solve.local.levels import make_levels
from discreet.solve.local.region import EffortPlan, SearchSpace, solve_region
from discreet.solve.local.task import LocalGrouping, LocalTask

__all__ = ["Effort", "LocalSearchSolver"]

Effort = Literal["low", "default", "high"]

_REGION = 32_768
"""Points of a region, at most; regions are solved one by one."""
_FEW = 2048
"""So few points get the highest effort by default too: it takes no time."""
_FEW_ATTRIBUTES = 8
"""Up to so many attributes, orders of the points find candidates that are near enough."""
_MANY = 4 * _REGION
"""Above so many points, groups are regrouped only once by default."""
_LARGE = 8 * _REGION
"""Above so many points, the least is done for each by default."""
_CLOSER = 5.0
"""Rows of a group of k are closer together than the part of a range they are in, by about 1 + this / k."""
_PAIRS = 500
"""Pairs of points that show how much an attribute matters."""


@SOLVERS.register
@dataclass(frozen=True)
class LocalSearchSolver(LocalSolver):
    """Puts rows into groups layer by layer, then moves, swaps and regroups them as long as that saves cost.

    A layer recodes every attribute to one level; numbers are recoded to runs of 1, 2, 4, ... neighbours. From the
    cheapest layer to the dearest, every class of enough rows among those that have no group yet becomes one or
    more groups. Large tables are first split into regions where a split saves most.

    ``effort`` says how much work goes into each row: ``low``, ``default`` or ``high``.

    >>> LocalSearchSolver(effort="high").text
    'local(effort=high)'
    """

    name: ClassVar[str] = "local"
    examples: ClassVar[tuple[str, ...]] = ("local", "local(effort=high)", "local(bound=prices)")
    title: ClassVar[str] = "Local search"
    summary: ClassVar[str] = "A good release with a bound, for each group by itself."
    reason: ClassVar[str] = (
        "Every group of rows may be made coarser by itself, which keeps most; a proven bound says how far from the "
        "best it can be at most."
    )
    rank: ClassVar[int] = 40
    baseline: ClassVar[bool] = False
    sees_key_sets: ClassVar[bool] = True
    sees_key_sets_of_people: ClassVar[bool] = True

    effort: Effort = "default"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.effort, "The effort of local", get_args(Effort))

    @property
    def regroupings(self) -> int:
        """How often groups are regrouped afterwards if the cost or the suppression is not known to kernels."""
        return {"low": 20, "default": 240, "high": 1500}[self.effort]

    def groups(self, task: LocalTask, requirement: Requirement, budget: Budget) -> LocalGrouping:
        """Find groups; after Ctrl-C what is not done yet is completed without further search."""
        try:
            return self._find_groups(task, requirement, budget)
        except KeyboardInterrupt:
            if budget.stop.is_set():  # it was pressed twice
                raise
            budget.stop.set()
            return self._find_groups(task, requirement, budget)

    def _find_groups(self, task: LocalTask, requirement: Requirement, budget: Budget) -> LocalGrouping:
        """Group region by region; the result does not depend on how many are solved at once."""
        leaves, k = _leaves(task), requirement.smallest
        rule = SplitRule(task.points.rates, k, 1 + _CLOSER / k)
        spread = _spread(task)
        pairs = _pair_rates(task, leaves, np.argsort(-spread, kind="stable"))
        space = SearchSpace(task, requirement, make_levels(task, leaves), leaves, spread, rule, pairs)
        regions = _regions(space)
        limits = _limits(task, regions)
        plan, random = self._plan(leaves.shape[0], leaves.shape[1], k), budget.random()
        seeds = [random.getrandbits(63) | 1 for _ in regions]

        def solve(region: int) -> LocalGrouping:
            return solve_region(space, plan, regions[region], limits[region], seeds[region], budget)

        return _concatenated(in_parallel(solve, range(len(regions)), budget))

    def _plan(self, n: int, m: int, k: int) -> EffortPlan:
        """Return how much to do for so many points of so many attributes.

        With few attributes, candidates of candidates are rows like those found already, and groups end up worse.
        """
        many = m > _FEW_ATTRIBUTES
        if self.effort == "low":
            return EffortPlan(visits=300, window=0, near=0, sweeps=0)
        if self.effort == "high" or n <= _FEW:
            steps = 2000 if self.effort == "high" else 1000
            return EffortPlan(visits=3000, window=8, near=24, sweeps=8, rounds=6, steps=steps, joins=8 * many)
        if n > _LARGE:
            return EffortPlan(visits=300, window=4, near=6, sweeps=2, first_visits=20, orders=4)
        if n > _REGION:
            if n > _MANY:
                return EffortPlan(visits=600, window=6, near=12, sweeps=2, rounds=1, orders=5)
            return EffortPlan(visits=600, window=6, near=16, sweeps=1, rounds=1, steps=32, joins=2 * many)
        rounds = 2 if k > 25 else 3
        return EffortPlan(visits=1500, window=8, near=24, sweeps=2, rounds=rounds, steps=112, joins=4 * many)


def _leaves(task: LocalTask) -> Nodes:
    """Return the leaf of each point in each attribute; for sets the number of its bit."""
    codes = task.points.codes
    leaves = np.empty(codes.shape, dtype=np.int32)
    for i, kind in enumerate(task.points.rates.attribute["kind"]):
        leaves[:, i] = np.rint(np.log2(np.abs(codes[:, i].astype(np.float64)))) if kind == SET else codes[:, i]
    return leaves


def _spread(task: LocalTask) -> FloatArray:
    """Return what two rows far from each other in the table cost in each attribute, on average."""
    points, rates = task.points, task.points.rates
    n, m = points.codes.shape
    first = np.linspace(0, n - 1, min(n, _PAIRS)).astype(np.int64)
    second = (first * 7919 + n // 2) % n
    found = np.zeros(m)
    for i in range(m):
        a, b = points.codes[first, i], points.codes[second, i]
        if rates.attribute[i].kind == SET:
            found[i] = float((a != b).mean()) * rates.rate[rates.attribute[i].start + 2]
        else:
            low, high = np.minimum(a, b), np.maximum(a, b)
            found[i] = np.mean([rate_of(rates, i, x, y) for x, y in zip(low, high, strict=True)])
    return found


def _pair_rates(task: LocalTask, leaves: Nodes, dear: Ints) -> PairRates:
    """Return what two points cost together: tables of the attributes with few leaves, and the others as they are."""
    rates = task.points.rates
    few = [i for i in dear if rates.attribute[i].kind in (TABLE, SET)]
    tables = [_pair_table(rates, i) for i in few]
    cells = np.array([len(table) for table in tables], dtype=np.int64)
    others = np.array([i for i in dear if i not in few], dtype=np.int64)
    return PairRates(
        codes=leaves[:, few].astype(np.int16),
        cells=cells,
        start=np.cumsum(cells**2) - cells**2,
        rate=np.concatenate([np.zeros(0), *(table.ravel() for table in tables)]).astype(np.float32),
        leaves=np.ascontiguousarray(leaves[:, others]),
        others=others,
        rates=rates,
    )


def _pair_table(rates: Rates, i: int) -> FloatArray:
    """Return what any two leaves of an attribute of few leaves cost, or any two bits of a set."""
    start, size = int(rates.attribute[i].start), int(rates.attribute[i].leaves)
    if rates.attribute[i].kind == SET:
        return float(rates.rate[start + 2]) * (1 - np.eye(min(size, BITS)))
    upper = np.triu(rates.rate[start : start + size**2].reshape(size, size), 1)
    return np.asarray(upper + upper.T)


def _regions(space: SearchSpace) -> list[Ints]:
    """Split the points; a part that does not satisfy the requirement joins the next one, the last the one before."""
    weights = space.task.points.weights
    order, k = np.arange(weights.size), space.requirement.smallest
    starts = split_regions(space.leaves, weights, space.rule, order, max(_REGION, 16 * k))
    regions: list[Ints] = []
    waiting = order[:0]
    for a, b in pairwise(starts):
        waiting = np.concatenate([waiting, order[a:b]])
        if _satisfied(space, waiting):
            regions.append(waiting)
            waiting = order[:0]
    if waiting.size:
        regions[-1:] = [np.concatenate([*regions[-1:], waiting])]
    while len(regions) > 1 and not _satisfied(space, regions[-1]):
        regions[-2:] = [np.concatenate(regions[-2:])]
    return regions


def _satisfied(space: SearchSpace, members: Ints) -> bool:
    requirement = space.requirement._replace(values=space.requirement.values[members])
    return satisfied_by(requirement, space.task.points.weights[members])


def _limits(task: LocalTask, regions: list[Ints]) -> list[int]:
    """Return how many rows each region may suppress, in proportion to its rows."""
    limit, n = task.problem.limit, task.problem.table.n
    ends = np.cumsum([0, *(int(task.points.weights[members].sum()) for members in regions)])
    parts: list[int] = np.diff([int(end) * limit // n for end in ends]).tolist()
    return parts


def _concatenated(parts: list[LocalGrouping]) -> LocalGrouping:
    """Return the groupings of all regions as one."""
    group, used = [], 0
    for part in parts:
        group.append(np.where(part.group < 0, -1, part.group + used))
        used += int(part.group.max(initial=-1)) + 1
    return LocalGrouping(
        np.concatenate([part.tuple for part in parts]),
        np.concatenate(group),
        np.concatenate([part.count for part in parts]),
    )
