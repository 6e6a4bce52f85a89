"""Lower bounds on the cost of every grouping, with their proofs.

Both bounds use only the smallest class size of the privacy models. Whatever else the models demand leaves fewer groups
valid, and the bounds stay true. Both look at points with few cells per attribute, whose rates are never above the true
ones (:mod:`discreet.solve.local.bound_cells`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from discreet.counts import FloatArray
from discreet.problem import Problem
from discreet.solve._base import Budget
from discreet.solve._kernel_loading import two_rows, warm_up
from discreet.solve._parallel import in_parallel
from discreet.solve.kernels.records import records
from discreet.solve.local.bound_cells import coarsen, count_runs, free_growth, make_cells, merge_equal
from discreet.solve.local.kernels.dual_prices import (
    BoxRun,
    BoxWalk,
    Cuts,
    TopPoint,
    WalkCounters,
    cap_prices,
    drop_idle,
    rate_cuts,
    start_walk,
    sweep,
    walk_boxes,
)
from discreet.solve.local.kernels.nearest import CellPoints, build_boxes, nearest_rates
from discreet.solve.local.pair_bound import pair_prices
from discreet.solve.local.pricing import price
from discreet.solve.local.task import LocalGrouping, LocalTask, make_task

__all__ = ["NEAREST", "compile_ahead", "nearest_bound", "price_bound", "row_bounds"]

NEAREST = "bound by nearest rows"
"""The program with the kernels of :func:`nearest_bound`."""
_RELATIVE, _ABSOLUTE = 1e-9, 1e-11
"""Prices are lowered by so much at the end, far more than rounding can add to their sums."""
_AT_A_TIME = 100
"""Boxes of points between two checks of the budget."""
_VISITS = 10_000
"""Boxes that the search for the neighbours of one point may visit at most..."""
_ALL_VISITS = 50_000_000
"""... and the searches for those of all points..."""
_FEWEST_VISITS = 400
"""... but for so many each..."""
_ONE_IN, _POOR, _IN_VAIN = 16, 0.15, 10
"""... unless one search in so many proves less than this share of what a known release costs: then so many."""
_FAR_MORE = 2.0
"""If pairs prove so many times what nearest neighbours do, there are too many attributes to walk over boxes."""
_STEPS = 10_000_000
"""Steps of a walk over boxes between two checks of the budget."""
_WALK = 600_000_000
"""Steps after which a walk is given up."""
_ALL_STEPS = 1_000_000_000
"""Steps after which no new walk begins."""
_CUTS, _ENTRIES = 400_000, 4_000_000
"""How many cuts are remembered, and how many points in all of them."""
_SWEEPS = 40
"""Rounds of projections onto all cuts before a walk."""
_FIRST = 1.5
"""The prices tried first, as a multiple of what the nearest neighbours prove."""
_WIDTHS = (16, 32, 64, 128)
"""Ranges are first coarsened to so few cells, then to more."""
_SMALL, _TINY = 3e-2, 1e-3
"""Gains of a walk, as shares of the bound, after which cells are refined, and after which the search ends."""


@cache
def compile_ahead(*, prices: bool = True) -> None:
    """Compile or load the kernels of the nearest neighbours, or with ``prices`` all of them."""

    def bound_two_rows() -> None:
        task = make_task(Problem.build(two_rows(), privacy="k(2)", cost="LM", scheme="local"))
        cells = make_cells(task)
        if prices:
            PriceSearch(task, Budget(), cells, np.inf).run()
            pair_prices(task, cells, Budget())
        else:
            _nearest(cells, task.k, Budget())

    warm_up("bound by prices" if prices else NEAREST, bound_two_rows)


def nearest_bound(task: LocalTask, budget: Budget, known: FloatArray | None = None) -> float:
    """Return a bound from how far each row is from its nearest neighbours.

    The group of a row holds at least k - 1 others, one of which is no nearer than its k-th nearest row, itself counted.
    The cover of the group covers both, and costs the row no less than the cover of these two alone. Covers of single
    values cost nothing, so rows that occur k times add nothing. A suppressed row costs more than any cover.

    There is one search per distinct row. It is quicker if a release is ``known`` in which a row of each point costs so
    much, for k rows are no farther than that. In large tables a search ends early with a lower rate that is certain;
    rows not searched for when the time is over count 0.
    """
    with budget.paused():
        compile_ahead(prices=False)
    cells = make_cells(task)
    return _value(task, cells, _nearest(cells, task.k, budget, known))


def row_bounds(task: LocalTask, budget: Budget) -> FloatArray:
    """Return what a row of each point costs at least; see :func:`nearest_bound`."""
    with budget.paused():
        compile_ahead(prices=False)
    return _nearest(make_cells(task), task.k, budget)


def price_bound(task: LocalTask, budget: Budget, grouping: LocalGrouping | None = None) -> tuple[float, FloatArray]:
    """Return a bound from row prices, and the price of each point, which all its rows have.

    A box is what a cover covers. Prices are valid if in every box of at least k rows the k highest prices sum to at
    most k times the rate of the box. A group of s >= k rows lies in the box of its cover. The mean of its prices is at
    most the mean of its k highest, which is at most that of the k highest in the box, which is at most the rate: so the
    prices of a group sum to at most s times the rate, which is its cost. Every row is in one group, hence all prices
    sum to no more than any grouping costs. This is the dual of the linear program that covers each row exactly once by
    groups, so prices may be negative. A suppressed row costs the penalty instead: of the rows with the highest prices,
    as many as may be suppressed count no more than the penalty.

    Prices begin with the nearest neighbours and are raised again and again, by about as much for each row. A walk over
    all boxes then lowers those that are too high, by the least sum of squares, and remembers the rows as a cut; the
    next step is made from the cuts. (A proximal point method; the projections are Hildreth's.) After each whole walk
    the prices are valid, and the best are returned. Ranges of many values are first coarsened to few cells. If the
    ``grouping`` of a known release is given, the search also ends when nothing is left to prove.

    With many attributes there are too many boxes. Prices from pairs of rows (:mod:`discreet.solve.local.pair_bound`)
    are returned if they prove more; boxes are not even walked over if they prove far more than nearest neighbours do.
    """
    with budget.paused():
        compile_ahead(prices=True)
    cells, of = merge_equal(make_cells(task))
    cost = np.inf if grouping is None else price(task, grouping).cost
    search = PriceSearch(task, budget, cells, cost * (1 - 2 * _RELATIVE))
    pairs = pair_prices(task, cells, budget)
    by_pairs = 0.0 if pairs is None else _value(task, cells, pairs)
    if by_pairs <= _FAR_MORE * search.value:
        search.run()
    value, best = search.value, search.best
    if pairs is not None and by_pairs > value:
        value, best = by_pairs, pairs
    return value, (best - _margin(best))[of]


def _margin(prices: FloatArray) -> FloatArray:
    return _RELATIVE * np.abs(prices) + _ABSOLUTE


def _value(task: LocalTask, cells: CellPoints, prices: FloatArray) -> float:
    """Return the bound that prices prove: their sum, less possible savings by suppression and a margin for rounding."""
    certain = prices - _margin(prices)
    total = float((cells.weights * certain).sum())
    above = np.flatnonzero(certain > task.points.penalty)
    above = above[np.argsort(-certain[above], kind="stable")]
    before = np.cumsum(cells.weights[above]) - cells.weights[above]
    rows = np.clip(task.problem.limit - before, 0, cells.weights[above])
    return max(total - float((rows * (certain[above] - task.points.penalty)).sum()), 0.0)


def _nearest(cells: CellPoints, k: int, budget: Budget, known: FloatArray | None = None) -> FloatArray:
    """Return what each point costs at least together with its k-th nearest row."""
    tree = build_boxes(cells)
    rates = np.zeros(tree.order.size)
    most = np.full(rates.size, np.inf) if known is None else known[tree.order] * (1 + _RELATIVE)
    visits = min(max(_ALL_VISITS // max(rates.size, 1), _FEWEST_VISITS), _VISITS)

    def search(begins: Sequence[int], visits: int) -> None:
        def portion(begin: int) -> None:
            if not budget.exhausted:
                end = min(begin + _AT_A_TIME, tree.box.size)
                nearest_rates(cells, tree, k, visits, most, begin, end, rates)

        in_parallel(portion, begins, budget)

    portions = range(0, tree.box.size, _AT_A_TIME)
    sample = portions[::_ONE_IN] if known is not None and len(portions) > _ONE_IN else portions[:0]
    if len(sample):
        search(sample, visits)
        if rates.sum() < _POOR * most[rates > 0.0].sum():
            visits = _IN_VAIN
    search([portion for portion in portions if portion not in sample], visits)
    found = np.empty_like(rates)
    found[tree.order] = rates
    return found


class PriceSearch:
    """Prices that rise: the best valid ones, and those tried next with the cuts that limit them."""

    def __init__(self, task: LocalTask, budget: Budget, cells: CellPoints, enough: float) -> None:
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
        self.counters = records(WalkCounters, 1)

    def run(self) -> None:
        """Raise prices until it is hardly worth it, or the time is over."""
        counters = self.counters[0]
        prices = _FIRST * self.best
        stages = _stages(self.cells)
        before, step = self.best, 0.0
        for number, cells in enumerate(stages):
            walk = self._walk_over(cells)
            last, idle = number == len(stages) - 1, 0
            while idle < (2 if last else 1):
                known = self.value
                most = self._highest(prices)
                rate_cuts(cells, self.k, most, self.cuts, counters.cuts)
                sweep(cells, prices, self.cuts, counters.cuts, _SWEEPS)
                cap_prices(cells, prices, most, walk, self.cuts)
                if not self._prove(cells, walk, prices):
                    return
                last = last or counters.steps > _WALK // 4
                after = prices
                grown = min(2 * step, 2 * self._mean()) if step else self._mean() / 2
                if step:
                    prices = after + (after - before) * grown / step
                    self.cuts.force[: counters.cuts] *= grown / step
                    drop_idle(self.cuts, walk)
                else:
                    prices = after + grown
                    self.cuts.force[: counters.cuts] = 0.0
                before, step = after, grown
                idle = idle + 1 if self.value - known <= (_TINY if last else _SMALL) * self.value else 0
            if last:
                return

    def _highest(self, prices: FloatArray) -> float:
        """Return what no price need exceed: only as many rows as may be suppressed have higher ones."""
        if not self.task.problem.limit:
            return np.inf
        order = np.argsort(-prices, kind="stable")
        rank = int(np.searchsorted(np.cumsum(self.weights[order]), self.task.problem.limit, side="right"))
        return max(self.task.points.penalty, float(prices[order[rank]]) if rank < order.size else 0.0)

    def _mean(self) -> float:
        return float((self.weights * np.abs(self.best)).sum()) / float(self.weights.sum())

    def _prove(self, cells: CellPoints, walk: BoxWalk, prices: FloatArray) -> bool:
        """Lower prices until they are valid, and keep them if they are the best; return whether to go on."""
        counters = self.counters[0]
        start_walk(cells, prices, walk)
        while counters.depth >= 0:
            if self.budget.exhausted or counters.steps > _WALK:
                return False
            walk_boxes(cells, self.k, prices, walk, self.cuts, _STEPS)
        value = _value(self.task, cells, prices)
        if value > self.value:
            self.best, self.value = prices.copy(), value
        self.steps += int(counters.steps)
        return self.steps < _ALL_STEPS and self.value < self.enough

    def _walk_over(self, cells: CellPoints) -> BoxWalk:
        n, m = cells.codes.shape
        most = int(cells.cells.max())
        return BoxWalk(
            order=np.argsort([count_runs(cells, i) for i in range(m)], kind="stable"),
            reach=free_growth(cells),
            members=np.zeros((m, n), dtype=np.int32),
            values=np.zeros((m, most), dtype=np.int16),
            first=np.zeros((m, most + 1), dtype=np.int32),
            rows=np.zeros((m, most + 1), dtype=np.int64),
            dearest=np.zeros((m, most)),
            run=records(BoxRun, m),
            top=records(TopPoint, (m, self.k + 1)),
            spare=np.zeros(n, dtype=np.int32),
            count=np.zeros(most + 1, dtype=np.int32),
            counters=self.counters,
        )


def _stages(cells: CellPoints) -> list[CellPoints]:
    """Return the points with few cells per attribute, then with more, then with all."""
    coarse = [coarsen(cells, width) for width in _WIDTHS]
    return [stage for stage in coarse if (stage.cells < cells.cells).any()] + [cells]
