"""A better incumbent by simulated annealing; see :mod:`discreet.solve.partitions.kernels.anneal`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.solve._base import Budget
from discreet.solve.partitions.bounds import PartitionBounds
from discreet.solve.partitions.kernels.anneal import (
    AnnealedAttributes,
    AnnealedBlocks,
    AnnealedRules,
    AnnealedTuples,
    Cooling,
    anneal_partitions,
)
from discreet.solve.partitions.kernels.blocks import MINORITY
from discreet.solve.partitions.open_partitions import BlockRates, OpenPartitions

__all__ = ["PartitionAnnealing"]

Ints = NDArray[np.int64]

_RESTARTS = 3
_HOT, _COLD, _DEAR = 0.1, 2e-4, 1000.0
"""Temperatures at the start and the end, as shares of the incumbent's cost, and the last price of a row too many."""
_WORK = 400_000_000
"""Tuples to visit in all runs at most, about two seconds..."""
_SHARE = 0.15
"""... but no more than this share of the time that is left."""
_PORTION = 20_000_000
"""Tuples to visit between two checks of the budget."""


class PartitionAnnealing:
    """Annealing for one problem; ``possible`` says whether kernels know its models, its cost and one of its schemes."""

    def __init__(self, bounds: PartitionBounds, root: Sequence[OpenPartitions]) -> None:
        rates = [partitions.block_rates() for partitions in root]
        movable = [a for a, each in enumerate(rates) if each is not None and root[a].items.count > 1]
        self.possible = bounds.compiled and bounds.kind != MINORITY and bool(movable)
        if not self.possible:
            return
        self.rules = AnnealedRules(int(bounds.kind), float(bounds.smallest), float(bounds.limit))
        self.tuples = AnnealedTuples(
            np.ascontiguousarray(bounds.codes, dtype=np.int32), bounds.columns[0], bounds.columns[1]
        )
        self.attributes = _attributes(root, rates, movable)
        self.state = np.array([0x9E3779B97F4A7C15], dtype=np.uint64)

    def run(self, start: Sequence[IntArray], cost: float, budget: Budget, evaluations: int) -> list[Ints] | None:
        """Return the best partitions found from a start that has this cost, block by item; None if none is better.

        Each of three runs evaluates so many, or fewer if time is short.
        """
        block = np.zeros_like(self.attributes.measure)
        for a, own in enumerate(start):
            block[a, : own.size] = own
        evaluations = min(evaluations, _WORK // _RESTARTS // self.tuples.rows.size) + 1
        blocks, best = AnnealedBlocks(block, block.copy()), float(cost)
        begun, left = budget.seconds, (budget.time_limit or np.inf) - budget.seconds
        for number in range(_RESTARTS):
            blocks.now[:] = blocks.best
            until = begun + _SHARE * left * (number + 1) / _RESTARTS
            best = self._run(blocks, best, budget, until, evaluations)
        return [blocks.best[a, : own.size].copy() for a, own in enumerate(start)] if best < cost else None

    def _run(self, blocks: AnnealedBlocks, best: float, budget: Budget, until: float, evaluations: int) -> float:
        """Cool down once, faster if there is less time; returns the least cost."""
        portion = min(max(_PORTION // self.tuples.rows.size, 1), evaluations)
        begun, cooled, done, scale = budget.seconds, 0.0, 0, abs(best) + 1e-300
        while cooled < 1.0 and not budget.exhausted:
            done += portion
            spent = (budget.seconds - begun) / max(until - begun, 1e-9)  # of the time, before this portion
            cold = min(max(done / evaluations, spent + portion / evaluations), 1.0)
            first, last = (scale * _HOT * (_COLD / _HOT) ** part for part in (cooled, cold))
            plan = Cooling(portion, float(first), float(last), float(_DEAR**cold))
            best = anneal_partitions(self.rules, self.attributes, self.tuples, plan, self.state, best, blocks)
            cooled = cold
        return best


def _attributes(
    root: Sequence[OpenPartitions], rates: Sequence[BlockRates | None], movable: Sequence[int]
) -> AnnealedAttributes:
    """Lay out the rates of all attributes one after the other; an attribute that is not moved has a rate per block."""
    count = np.array([partitions.items.count for partitions in root])
    shape = count.size, int(count.max())
    measure, moment, offset = np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape)
    flat = []
    for a, (partitions, each) in enumerate(zip(root, rates, strict=True)):
        items = partitions.items
        form = items.separable
        if each is not None:
            measure[a, : items.count] = each.measure
            flat.append(each.rate)
            if form is not None:
                moment[a, : items.count] = form.moment[items.index][items.leaves]
                offset[a, : items.count] = form.offset[items.index][items.leaves]
        else:
            flat.append(np.zeros(1))
    sizes = np.array([rate.size for rate in flat])
    return AnnealedAttributes(
        movable=np.array(movable, dtype=np.int64),
        count=count,
        runs=np.array([each is not None and each.runs for each in rates]),
        start=np.cumsum(sizes) - sizes,
        rate=np.concatenate(flat),
        measure=measure,
        moment=moment,
        offset=offset,
    )
