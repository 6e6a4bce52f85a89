"""The search for groups of least squared error: starts, then annealing, region by region.

Small tables are one region. Larger ones start from MDAV by a tree, of all rows, and are annealed in regions of whole
groups, side by side; a further round takes other regions, so that no border stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from discreet.solve._base import Budget
from discreet.solve._parallel import in_parallel
from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.random import RandomState
from discreet.solve.kernels.requirements import Requirement
from discreet.solve.microaggregation.kernels.anneal import anneal_groups
from discreet.solve.microaggregation.kernels.groups import RowGroups, RowSpace
from discreet.solve.microaggregation.kernels.starts import cut_order, mdav_groups
from discreet.solve.microaggregation.kernels.tree import NearRows, outside_in_groups
from discreet.solve.microaggregation.rows import find_near, group_errors, make_tree

__all__ = [
    "AnnealingPlan",
    "RowProblem",
    "improve_groups",
    "near_rows",
    "start_groups",
    "tree_groups",
    "univariate_groups",
]

_GAMMAS = (0.0, 0.2, 1.1)
"""How readily V-MDAV extends groups: not at all, which is MDAV; for scattered rows; and for clusters."""
_SLICE = 1 << 18
"""Steps between two checks of the budget."""
_COLDER = 0.0005
"""The last temperature in relation to the first: in many tables most rows cost far less than some."""
_LAST = 20
"""Steps for each row at that temperature if the time is over."""
_JITTER = 0.5
"""How much the borders of regions vary from round to round."""


@dataclass(frozen=True)
class AnnealingPlan:
    """How much is done: ``rounds`` of regions of at most so many rows, with ``steps`` for each row in all of them."""

    region: int
    rounds: int
    steps: int
    near: int
    """The rows near each that steps draw from."""
    hot: float
    """The first temperature, in relation to what a row costs at the start."""

    @classmethod
    def make(cls, n: int, k: int, effort: str) -> AnnealingPlan:
        """Return the plan for n rows and groups of k."""
        factor = {"low": 0.1, "default": 1.0, "high": 7.0}[effort]
        near = max(30, 3 * k)
        if n <= _ONE_REGION:
            return cls(
                _ONE_REGION, 1, int(factor * np.clip(_STEPS // n, 800, 6000)), near, 6.0 if effort == "high" else 2.0
            )
        most = max(_PAIRS // n, 12)
        if n <= _LARGE:
            return cls(max(2048, 16 * k), 2, int(factor * 1000), min(near, most), 0.7)
        return cls(max(2048, 16 * k), 2, int(factor * 100), min(max(12, 2 * k), most), 0.3)


_VISITS = 1600
"""Leaves of a tree that are searched for the rows near one leaf, times coordinates, at most; in a region ..."""
_EVERY_LEAF = 1 << 62
"""... any number."""
_PAIRS = 24_000_000
"""Pairs of near rows in all, at most, unless a row has less than 12; they take 16 bytes each."""
_ONE_REGION = 4096
"""So many rows are one region."""
_STEPS = 4_000_000
"""Steps for a table of one region, unless a row gets less than 800 or more than 6000."""
_LARGE = 100_000
"""Above so many rows, little is done for each."""


def univariate_groups(x: Floats, k: int) -> Ints:
    """Return the optimal groups of rows with a single coordinate (Hansen and Mukherjee 2003)."""
    return _cut(x, np.argsort(x[:, 0], kind="stable"), k)


def _cut(x: Floats, order: Ints, k: int) -> Ints:
    begins = np.zeros(order.size, dtype=np.int64)
    runs = cut_order(x, order, k, begins)
    group = np.zeros(order.size, dtype=np.int64)
    group[order] = np.searchsorted(begins[:runs], np.arange(order.size), "right") - 1
    return group


def start_groups(x: Floats, k: int, plan: AnnealingPlan, budget: Budget) -> Ints:
    """Return groups of k to 2k - 1 rows: the best of MDAV, V-MDAV and the cut of an order, or MDAV by a tree.

    If the time is over, rows are cut in the order of the tree.
    """
    if x.shape[0] <= plan.region:
        return _start(x, k, plan, quick=budget.exhausted)
    if budget.exhausted:
        return _cut(x, make_tree(x, k).order, k)
    return tree_groups(x, k)


def tree_groups(x: Floats, k: int) -> Ints:
    """Return groups as MDAV makes them, by a tree."""
    tree, group = make_tree(x), np.zeros(x.shape[0], dtype=np.int64)
    far = np.argsort(-(x**2).sum(axis=1), kind="stable")
    outside_in_groups(x[tree.order], tree, far, k, _VISITS // x.shape[1] + 1, group)
    return group


def _start(x: Floats, k: int, plan: AnnealingPlan, *, quick: bool) -> Ints:
    starts = [_cut(x, make_tree(x, k).order, k)]
    if not quick:
        for gamma in _GAMMAS if plan.steps >= 500 else _GAMMAS[:1]:
            starts.append(np.zeros(x.shape[0], dtype=np.int64))
            mdav_groups(x, k, gamma, starts[-1])
    one = np.ones(x.shape[0], dtype=np.int64)
    return min(starts, key=lambda group: float(group_errors(x, group, one).sum()))


@dataclass(frozen=True, eq=False)
class RowProblem:
    """Rows to group: their coordinates, their points, and what every group must satisfy."""

    x: Floats
    point: Ints
    requirement: Requirement


def near_rows(x: Floats, plan: AnnealingPlan, budget: Budget) -> NearRows:
    """Return the rows near each that annealing may draw; none of rows that were not searched when the time was over."""
    return find_near(x, plan.near, budget, _EVERY_LEAF if x.shape[0] <= plan.region else _VISITS // x.shape[1] + 1)


def improve_groups(problem: RowProblem, group: Ints, plan: AnnealingPlan, budget: Budget, near: NearRows) -> Ints:
    """Return groups with no greater squared error that satisfy the requirement, as the groups given do."""
    random = budget.random()
    for number in range(plan.rounds):
        if budget.exhausted:
            break
        state = np.array([random.getrandbits(63) | 1], dtype=np.uint64)
        regions = _regions(problem.x, group, plan, 0.0 if number == 0 else _JITTER, state)
        places = _Places.make(regions, near.row)
        seeds = [random.getrandbits(63) | 1 for _ in regions]
        colder = replace(plan, hot=plan.hot / (1 + 2 * number))
        work = partial(_improve_region, problem, group, places, colder, budget)
        found = in_parallel(work, list(zip(regions, seeds, strict=True)), budget)
        group, used = np.zeros_like(group), 0
        for rows, part in zip(regions, found, strict=True):
            group[rows] = part + used
            used += int(part.max(initial=-1)) + 1
    return group


def _regions(x: Floats, group: Ints, plan: AnnealingPlan, jitter: float, state: RandomState) -> list[Ints]:
    """Divide the rows into regions of whole groups that are near each other."""
    if group.size <= plan.region:
        return [np.arange(group.size)]
    sizes = np.bincount(group)
    means = np.stack([np.bincount(group, weights=column) / sizes for column in x.T], axis=1)
    tree = make_tree(np.ascontiguousarray(means), max(plan.region * sizes.size // group.size, 2), jitter, state)
    leaf_of = np.zeros(sizes.size, dtype=np.int64)
    leaves = range(tree.begin.size // 2, tree.begin.size)
    for leaf in leaves:
        leaf_of[tree.order[tree.begin[leaf] : tree.end[leaf]]] = leaf - leaves.start
    of_row = leaf_of[group]
    order = np.argsort(of_row, kind="stable")
    ends = np.cumsum(np.bincount(of_row, minlength=len(leaves)))[:-1]
    return [rows for rows in np.split(order, ends) if rows.size]


@dataclass(frozen=True, eq=False)
class _Places:
    """Where each row is: the number of its region, and its place there; and the rows near it."""

    region: Ints
    place: Ints
    near: Ints

    @classmethod
    def make(cls, regions: list[Ints], near: Ints) -> _Places:
        """Return the places of all rows."""
        region, place = np.zeros(near.shape[0], dtype=np.int64), np.zeros(near.shape[0], dtype=np.int64)
        for number, rows in enumerate(regions):
            region[rows], place[rows] = number, np.arange(rows.size)
        return cls(region, place, near)

    def near_inside(self, rows: Ints) -> Ints:
        """Return the rows near each row of a region by their places in it; instead of rows outside the row itself."""
        near = self.near[rows]
        inside = (near >= 0) & (self.region[near] == self.region[rows[0]])
        return np.where(inside, self.place[near], np.arange(rows.size)[:, np.newaxis])


def _improve_region(
    problem: RowProblem, group: Ints, places: _Places, plan: AnnealingPlan, budget: Budget, region: tuple[Ints, int]
) -> Ints:
    """Return new groups of the rows of a region, annealed from a seed, or those they have if these are better."""
    rows, seed = region
    n, requirement = rows.size, problem.requirement
    x, before = np.ascontiguousarray(problem.x[rows]), _numbered(group[rows])
    one = np.ones(n, dtype=np.int64)
    error = float(group_errors(x, before, one).sum())
    if budget.exhausted or n < 2 * requirement.smallest or error <= 0.0:
        return before
    space = RowSpace(x, (x**2).sum(axis=1), places.near_inside(rows), problem.point[rows])
    groups = _row_groups(x, before, requirement)
    _anneal(space, groups, requirement, replace(plan, hot=plan.hot * error / n), seed, budget)
    return _numbered(groups.group) if float(group_errors(x, groups.group, one).sum()) < error else before


def _numbered(group: Ints) -> Ints:
    """Number groups without gaps."""
    return np.unique(group, return_inverse=True)[1].reshape(-1)


def _anneal(
    space: RowSpace, groups: RowGroups, requirement: Requirement, plan: AnnealingPlan, seed: int, budget: Budget
) -> None:  # groups OUT
    """Anneal in slices, between which the budget is checked; if it is exhausted, end with a quick descent."""
    n, state = space.square.size, np.array([seed], dtype=np.uint64)
    steps = plan.steps * n // plan.rounds
    slices = max(steps // _SLICE, 1)
    each, cooling = steps // slices, _COLDER ** (1 / slices)
    for number in range(slices):
        temperature = plan.hot * cooling**number
        if budget.exhausted:
            cold = plan.hot * _COLDER
            anneal_groups(space, groups, requirement, min(each, _LAST * n), cold, cold, state)
            return
        anneal_groups(space, groups, requirement, each, temperature, temperature * cooling, state)


def _row_groups(x: Floats, group: Ints, requirement: Requirement) -> RowGroups:
    """Return groups with room for changes; there are slots for as many groups as could be."""
    n, k = x.shape[0], requirement.smallest
    count = max(n // k, int(group.max()) + 1)
    rows = np.bincount(group, minlength=count)
    room = np.full(count, 2 * k - 1)
    if requirement.model.size:
        room = np.maximum(room, 2 * rows)
    begin = np.concatenate([[0], np.cumsum(room)])
    order = np.argsort(group, kind="stable")
    place = np.zeros(n, dtype=np.int64)
    place[order] = np.arange(n) - (np.cumsum(rows) - rows)[group[order]]
    member = np.zeros(begin[-1], dtype=np.int64)
    member[begin[group] + place] = np.arange(n)
    total = np.stack([np.bincount(group, weights=column, minlength=count) for column in x.T], axis=1)
    empty = np.flatnonzero(rows == 0)
    free = np.zeros(count + 1, dtype=np.int64)
    free[: empty.size + 1] = [empty.size, *empty]
    return RowGroups(
        group=group.copy(),
        place=place,
        member=member,
        begin=begin,
        rows=rows,
        total=np.ascontiguousarray(total),
        norm=(total**2).sum(axis=1),
        free=free,
        histogram=np.zeros(requirement.cells, dtype=np.int64),
        moved=np.zeros(2 * int(room.max()), dtype=np.int64),
    )
