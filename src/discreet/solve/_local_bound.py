"""What no grouping of the rows can cost less than: bounds for local recoding, with their proofs.

Both bounds know of the privacy models only how few rows a group may have. Whatever else the models ask makes fewer
groups valid, and the bounds stay true. Both look at points with few cells per attribute, whose rates are never above
the true ones (:mod:`discreet.solve._local_cells`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from discreet.counts import FloatArray
from discreet.kernels.local_bounds import Cells, build_boxes, nearest_rates
from discreet.kernels.local_bounds_prices import (
    COUNTERS,
    CUTS,
    DEPTH,
    STEPS,
    Cuts,
    Walk,
    cap_prices,
    drop_idle,
    rate_cuts,
    start_walk,
    sweep,
    walk_boxes,
)
from discreet.problem import Problem
from discreet.solve._base import Budget
from discreet.solve._local_cells import coarsen, make_cells, merge, reach, runs
from discreet.solve._local_task import Shares, Task, make_task, price
from discreet.solve._side_by_side import side_by_side
from discreet.solve._warm_up import two_rows, warm_up

__all__ = ["nearest_bound", "nearest_rates_of", "prepare", "price_bound"]

_RELATIVE, _ABSOLUTE = 1e-9, 1e-11
"""Prices are lowered by so much at the end, far more than what rounding can add to sums of them."""
_AT_A_TIME = 500
"""Boxes of points between two looks at the clock."""
_VISITS = 10_000
"""How many boxes the search for the neighbours of one point may look into at most..."""
_ALL_VISITS = 50_000_000
"""... and the searches for those of all points..."""
_FEWEST_VISITS = 400
"""... but for so many each..."""
_ONE_IN, _POOR, _IN_VAIN = 16, 0.15, 10
"""... unless one search in so many proves less than this share of what a known release costs: then so many."""
_STEPS = 10_000_000
"""Steps of a walk over boxes between two looks at the clock."""
_WALK = 600_000_000
"""Steps after which a walk is given up."""
_ALL_STEPS = 1_000_000_000
"""Steps after which no new walk begins."""
_CUTS, _ENTRIES = 400_000, 4_000_000
"""How many cuts are remembered, and how many points in all of them."""
_SWEEPS = 40
"""Times that all cuts are gone through before a walk."""
_FIRST = 1.5
"""The prices tried first, as a multiple of what the nearest neighbours prove."""
_WIDTHS = (16, 32, 64, 128)
"""Ranges are first looked at in so few cells, then in more."""
_SMALL, _TINY = 3e-2, 1e-3
"""Gains of a walk, as shares of the bound, after which cells are made smaller, and after which the search ends."""


@cache
def prepare(*, prices: bool = True) -> None:
    """Compile the kernels, or load them: those of the nearest neighbours, or those of prices too."""
    task = make_task(Problem.build(two_rows(), privacy="k(2)", cost="LM", scheme="local"))
    cells = make_cells(task)
    if prices:
        warm_up(lambda: _Search(task, Budget(), cells, np.inf).run())
    else:
        warm_up(lambda: _nearest(cells, task.k, Budget()))


def nearest_bound(task: Task, budget: Budget, known: FloatArray | None = None) -> float:
    """Return a bound from how far each row's nearest neighbours are.

    A row's group holds at least k - 1 other rows, one of which is no nearer than its k-th nearest row, itself counted.
    The group's cover covers both, and costs the row no less than the cover of these two alone. Covers of single
    values cost nothing, so rows that occur k times add nothing. A row that is suppressed costs more than any cover.

    It is one search per distinct row, which is quicker where a release is ``known`` in which a row of each point costs
    so much: in its group are k rows that are no farther. In large tables a search ends early, with a lower rate that is
    sure; if the time is over, rows not looked at count 0.
    """
    with budget.paused():
        prepare(prices=False)
    cells = make_cells(task)
    return _value(task, cells, _nearest(cells, task.k, budget, known))


def nearest_rates_of(task: Task, budget: Budget) -> FloatArray:
    """Return what a row of each point costs at least; see :func:`nearest_bound`."""
    with budget.paused():
        prepare(prices=False)
    return _nearest(make_cells(task), task.k, budget)


def price_bound(task: Task, budget: Budget, shares: Shares | None = None) -> tuple[float, FloatArray]:
    """Return a bound from row prices, and the prices: one for each point, which all its rows have.

    A box is what a cover covers. The prices are such that in every box with at least k rows the k highest prices
    sum to at most k times the box's rate. A group of s >= k rows lies in its cover's box. The mean of its prices is at
    most the mean of its k highest, which is at most that of the k highest in the box, which is at most the rate: the
    prices of a group sum to no more than s times the rate, what the group costs. Every row is in one group, so all
    prices sum to no more than what any grouping costs. This is the dual of the linear program that covers each row
    exactly once by groups, so prices may be negative. A row that is suppressed costs the penalty instead: of the rows
    with the highest prices, as many as may go count no more than the penalty.

    The prices begin with the nearest neighbours and are raised again and again, by about as much for each row; a
    walk over all boxes then lowers those that are too high, by the least sum of squares, and remembers the rows that
    were in the way. From what was remembered the next step is made (a proximal point method, in which the
    projections are Hildreth's). After each whole walk the prices are proven; the best of them are returned.
    Ranges of many values are first looked at in few cells. With the groups of a known release in ``shares``, the search
    also ends when nothing is left to prove.
    """
    with budget.paused():
        prepare(prices=True)
    cells, of = merge(make_cells(task))
    cost = np.inf if shares is None else price(task, shares).cost
    search = _Search(task, budget, cells, cost * (1 - 2 * _RELATIVE))
    search.run()
    return search.value, (search.best - _margin(search.best))[of]


def _margin(prices: FloatArray) -> FloatArray:
    return _RELATIVE * np.abs(prices) + _ABSOLUTE


def _value(task: Task, cells: Cells, prices: FloatArray) -> float:
    """Return what the prices prove: their sum, less what suppression may save, less a margin."""
    sure = prices - _margin(prices)
    total = float((cells.weights * sure).sum())
    above = np.flatnonzero(sure > task.points.penalty)
    above = above[np.argsort(-sure[above], kind="stable")]
    before = np.cumsum(cells.weights[above]) - cells.weights[above]
    rows = np.clip(task.problem.limit - before, 0, cells.weights[above])
    return max(total - float((rows * (sure[above] - task.points.penalty)).sum()), 0.0)


def _nearest(cells: Cells, k: int, budget: Budget, known: FloatArray | None = None) -> FloatArray:
    """Return what each point costs at least together with the k-th nearest row."""
    boxes = build_boxes(cells)
    weights, rates = cells.weights[boxes.order], np.zeros(boxes.order.size)
    most = np.full(rates.size, np.inf) if known is None else known[boxes.order] * (1 + _RELATIVE)
    visits = min(max(_ALL_VISITS // max(rates.size, 1), _FEWEST_VISITS), _VISITS)

    def look(begins: Sequence[int], visits: int) -> None:
        def portion(begin: int) -> None:
            if not budget.exhausted:
                end = min(begin + _AT_A_TIME, boxes.first.size)
                nearest_rates(cells, weights, boxes, k, visits, most, begin, end, rates)

        side_by_side(portion, begins, budget)

    portions = range(0, boxes.first.size, _AT_A_TIME)
    some = portions[::_ONE_IN] if known is not None and len(portions) > _ONE_IN else portions[:0]
    if len(some):
        look(some, visits)
        if rates.sum() < _POOR * most[rates > 0.0].sum():
            visits = _IN_VAIN
    look([portion for portion in portions if portion not in some], visits)
    found = np.empty_like(rates)
    found[boxes.order] = rates
    return found


class _Search:
    """Prices that rise: the best proven ones, and those tried next with what stands in their way."""

    def __init__(self, task: Task, budget: Budget, cells: Cells, enough: float) -> None:
        self.task, self.budget, self.k, self.enough = task, budget, task.k, enough
        self.cells, self.weights = cells, cells.weights
        self.best = np.minimum(_nearest(cells, task.k, budget), task.points.penalty)
        self.value = _value(task, cells, self.best)
        self.steps = 0
        self.cuts = Cuts(
            first=np.zeros(_CUTS + 1, dtype=np.int64),
            point=np.zeros(_ENTRIES, dtype=np.int32),
            rows=np.zeros(_ENTRIES, dtype=np.int32),
            most=np.zeros(_CUTS),
            force=np.zeros(_CUTS),
        )
        self.counters = np.zeros(COUNTERS, dtype=np.int64)

    def run(self) -> None:
        """Raise prices until it is hardly worth it, or the time is over."""
        prices = _FIRST * self.best
        stages = _stages(self.cells)
        before, step = self.best, 0.0
        for number, cells in enumerate(stages):
            walk = self._walk_over(cells)
            last, idle = number == len(stages) - 1, 0
            while idle < (2 if last else 1):
                known = self.value
                most = self._highest(prices)
                rate_cuts(cells, self.k, most, self.cuts, self.counters[CUTS])
                sweep(cells, prices, self.cuts, self.counters[CUTS], _SWEEPS)
                cap_prices(cells, prices, most, walk, self.cuts)
                if not self._prove(cells, walk, prices):
                    return
                last = last or self.counters[STEPS] > _WALK // 4
                after = prices
                grown = min(2 * step, 2 * self._mean()) if step else self._mean() / 2
                if step:
                    prices = after + (after - before) * grown / step
                    self.cuts.force[: self.counters[CUTS]] *= grown / step
                    drop_idle(self.cuts, walk)
                else:
                    prices = after + grown
                    self.cuts.force[: self.counters[CUTS]] = 0.0
                before, step = after, grown
                idle = idle + 1 if self.value - known <= (_TINY if last else _SMALL) * self.value else 0
            if last:
                return

    def _highest(self, prices: FloatArray) -> float:
        """Return what no price need exceed: higher ones are no more than as many rows as may be suppressed."""
        if not self.task.problem.limit:
            return np.inf
        order = np.argsort(-prices, kind="stable")
        rank = int(np.searchsorted(np.cumsum(self.weights[order]), self.task.problem.limit, side="right"))
        return max(self.task.points.penalty, float(prices[order[rank]]) if rank < order.size else 0.0)

    def _mean(self) -> float:
        return float((self.weights * np.abs(self.best)).sum()) / float(self.weights.sum())

    def _prove(self, cells: Cells, walk: Walk, prices: FloatArray) -> bool:
        """Lower prices until they are proven, and keep them if they are the best; returns whether to go on."""
        start_walk(cells, prices, walk)
        while self.counters[DEPTH] >= 0:
            if self.budget.exhausted or self.counters[STEPS] > _WALK:
                return False
            walk_boxes(cells, self.k, prices, walk, self.cuts, _STEPS)
        value = _value(self.task, cells, prices)
        if value > self.value:
            self.best, self.value = prices.copy(), value
        self.steps += int(self.counters[STEPS])
        return self.steps < _ALL_STEPS and self.value < self.enough

    def _walk_over(self, cells: Cells) -> Walk:
        n, m = cells.codes.shape
        most = int(cells.cells.max())
        return Walk(
            order=np.argsort([runs(cells, i) for i in range(m)], kind="stable"),
            reach=reach(cells),
            members=np.zeros((m, n), dtype=np.int32),
            values=np.zeros((m, most), dtype=np.int16),
            first=np.zeros((m, most + 1), dtype=np.int32),
            rows=np.zeros((m, most + 1), dtype=np.int64),
            dearest=np.zeros((m, most)),
            at=np.zeros((m, 5), dtype=np.int64),
            rate=np.zeros((m, 2)),
            top=np.zeros((m, self.k + 2, 2), dtype=np.int64),
            spare=np.zeros(n, dtype=np.int32),
            count=np.zeros(most + 1, dtype=np.int32),
            counters=self.counters,
        )


def _stages(cells: Cells) -> list[Cells]:
    """Return the points with few cells per attribute, then with more, then with all."""
    coarse = [coarsen(cells, width) for width in _WIDTHS]
    return [stage for stage in coarse if (stage.cells < cells.cells).any()] + [cells]
