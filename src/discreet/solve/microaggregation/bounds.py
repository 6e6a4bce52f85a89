"""Lower bounds on the squared error of all groupings; the proof is in ``kernels/prices.py``."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from discreet.counts import CodedAttribute, CountTable, IntArray
from discreet.problem import Problem
from discreet.problem.costs.squared_error import SquaredError
from discreet.solve._base import Budget
from discreet.solve._kernel_loading import warm_up
from discreet.solve.kernels.arrays import Floats
from discreet.solve.kernels.records import record
from discreet.solve.microaggregation.kernels.prices import (
    Climb,
    PricedPoints,
    price_points,
    raise_potentials,
    share_pairs,
)
from discreet.solve.microaggregation.kernels.starts import cut_order
from discreet.solve.microaggregation.kernels.tree import NearRows
from discreet.solve.microaggregation.rows import coordinates, find_near, group_errors

__all__ = ["BOUND", "compile_ahead", "few_rows", "price_bound", "squared_error_bound", "univariate_bound"]

BOUND = "bound of squared errors"
"""The program with the kernels of the bounds."""

_SAFE = 1e-9
"""Bounds are lowered by this share, far more than rounding can amount to."""
_NEAR, _LEAST_NEAR, _PAIRS = 60, 12, 1 << 22
"""Points listed with each, for small k and in large tables; and pairs that are listed in all, at most."""
_VISITS, _LEAST_VISITS, _ALL_VISITS = 400, 100, 40_000_000
"""Leaves of the tree that are searched for the nearest points of one, at most and at least; and for those of all."""
_SMALL = 1e-4
"""The climb ends with steps so small in relation to the potentials."""
_ROUNDS, _ALL_ROUNDS, _WORK = 20, 2000, 300_000_000
"""Rounds between two checks of the budget; all rounds; and pairs that are looked at in them, at most."""


def squared_error_bound(
    problem: Problem, cost: SquaredError, k: int, budget: Budget, *, tight: bool = True, near: NearRows | None = None
) -> float:
    """Return a number that no valid grouping costs less than; for a single coordinate it is the optimum for k alone.

    ``near`` are the nearest points of each, if they are known.
    """
    with budget.paused():
        compile_ahead()
    x = coordinates(problem.table, cost)
    if x.shape[1] == 1 and not problem.limit and problem.table.n >= k:
        return univariate_bound(problem, x, k)
    return price_bound(problem, cost, k, budget, tight=tight, near=near)


def price_bound(
    problem: Problem, cost: SquaredError, k: int, budget: Budget, *, tight: bool = True, near: NearRows | None = None
) -> float:
    """Return a number that no grouping costs less than; unless ``tight`` the quick one by nearest neighbours alone."""
    x, weights = coordinates(problem.table, cost), problem.table.weights
    n = weights.size
    if k <= 1 or n <= 1:
        return 0.0
    wide = int(np.clip(_PAIRS // n, max(_LEAST_NEAR, k), max(_NEAR, 3 * k))) if tight else k
    if near is None or near.row.shape[1] < min(wide, n - 1):
        near = find_near(x, wide, budget, int(np.clip(_ALL_VISITS // n, _LEAST_VISITS, _VISITS)))
    near = _nearer(near, wide)
    if near.row.shape[1] == n - 1:
        near.beyond[near.row[:, -1] >= 0] = np.inf  # all points are listed
    quick = _with_suppression(problem, x, _nearest_prices(near, weights, k))
    if not tight or budget.exhausted:
        return quick
    points = _priced(near, weights, k)
    climb, rounds = record(Climb, step=float(points.best.mean()) / 2, value=price_points(points, points.best, k)), 0
    while rounds < _ALL_ROUNDS and rounds * near.row.size < _WORK and not budget.exhausted:
        raise_potentials(points, k, _ROUNDS, climb)
        rounds += _ROUNDS
        if climb.step < _SMALL * points.best.mean():
            break
    price_points(points, points.best, k)
    return max(quick, _with_suppression(problem, x, points.price))


def _nearer(near: NearRows, wide: int) -> NearRows:
    """Return the first so many points near each."""
    if near.row.shape[1] <= wide:
        return near
    beyond = np.minimum(near.beyond, near.away[:, wide])
    return NearRows(np.ascontiguousarray(near.row[:, :wide]), np.ascontiguousarray(near.away[:, :wide]), beyond)


@cache
def compile_ahead() -> None:
    """Load the kernels of the bounds, or compile them the first time ever."""

    def bound() -> None:
        for problem in few_rows():
            price_bound(problem, SquaredError(), 2, Budget(seed=1))
            univariate_bound(problem, coordinates(problem.table, SquaredError()), 2)

    warm_up(BOUND, bound)


def few_rows() -> list[Problem]:
    """Return problems of a few rows for which all kernels are called: of one number, and of two."""
    number = np.array([0.0, 1.0, 3.0, 6.0, 10.0])
    each = np.arange(number.size, dtype=np.int32)
    one = CodedAttribute("q", each[np.newaxis], np.ones(number.size, dtype=np.int64), number, tree=False)
    other = replace(one, name="r", positions=number[::-1].copy())
    return [
        Problem.build(
            CountTable(columns, np.stack([each] * len(columns)), np.ones(number.size, dtype=np.int64)),
            privacy="k(2)",
            cost="SSE",
            scheme="local(show=mean)",
        )
        for columns in ((one,), (one, other))
    ]


def univariate_bound(problem: Problem, x: Floats, k: int) -> float:
    """Return the least squared error of groups of at least k rows with one coordinate: that of a cut of their order."""
    order = np.argsort(x[:, 0], kind="stable")
    rows = np.repeat(order, problem.table.weights[order])
    begins = np.zeros(rows.size, dtype=np.int64)
    runs = cut_order(x, rows, k, begins)
    group = np.searchsorted(begins[:runs], np.arange(rows.size), "right") - 1
    return float(group_errors(x[rows], group, np.ones(rows.size, dtype=np.int64)).sum()) * (1 - _SAFE)


def _nearest_prices(near: NearRows, weights: IntArray, k: int) -> Floats:
    """Return what a row of each point costs at least: 1 / (2k) of the squared distances of its k - 1 nearest rows.

    A group of s rows costs 1 / (2s) of the squared distances of all ordered pairs; that of a row's s - 1 nearest rows
    is least for s = k.
    """
    lacking = np.maximum(k - weights, 0)
    total = np.zeros(weights.size)
    for r in range(near.row.shape[1]):
        listed = near.row[:, r] >= 0
        rows = np.where(listed, np.minimum(lacking, weights[near.row[:, r]]), 0)
        total += rows * np.where(listed, np.minimum(near.away[:, r], near.beyond), 0.0)
        lacking -= rows
    total += lacking * np.where(np.isfinite(near.beyond), near.beyond, 0.0)
    return total / (2 * k)


def _with_suppression(problem: Problem, x: Floats, price: Floats) -> float:
    """Return the sum of the prices of all rows, less what suppression may save, less a margin for rounding.

    A suppressed row costs its squared distance from the mean of the table, which is 0 in all coordinates.
    """
    weights = problem.table.weights
    saved = price - (x**2).sum(axis=1)
    order = np.flatnonzero(saved > 0)
    order = order[np.argsort(-saved[order], kind="stable")]
    before = np.cumsum(weights[order]) - weights[order]
    rows = np.clip(problem.limit - before, 0, weights[order])
    total = float(weights @ price) - float(rows @ saved[order])
    return max(total - _SAFE * float(weights @ np.abs(price)), 0.0)


def _priced(near: NearRows, weights: IntArray, k: int) -> PricedPoints:
    """Return points with potentials to start from: half the distance of the row that completes a group of k."""
    n, wide = near.row.shape
    potential = np.zeros(n)
    rows = weights.astype(np.int64).copy()
    for r in range(wide):
        reached = rows >= k
        listed = near.row[:, r] >= 0
        potential = np.where(~reached & listed, np.minimum(near.away[:, r], near.beyond) / 2, potential)
        rows += np.where(listed, weights[near.row[:, r]], 0)
    potential[~np.isfinite(potential)] = 0.0
    share = np.ones((n, wide))
    share_pairs(near, share)
    zeros = np.zeros(n)
    return PricedPoints(weights.astype(np.int64), near, share, potential, potential.copy(), zeros, zeros.copy())
