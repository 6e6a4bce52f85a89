"""The state of a lattice search: allocated, filled with what is known beforehand, and grown when it is full."""

from __future__ import annotations

import numpy as np

from discreet.counts import FloatArray
from discreet.problem import Problem, Separable
from discreet.solve.kernels.classes import Lattice
from discreet.solve.kernels.records import extended, record, records
from discreet.solve.lattice.kernels.boxes import SCRATCH_ROWS
from discreet.solve.lattice.kernels.search import go_deep
from discreet.solve.lattice.kernels.state import (
    DOWN,
    INFINITE,
    UP,
    BoxQueues,
    Draft,
    Explorer,
    LatticeSearch,
    LevelCosts,
    NodeResult,
    OpenBox,
    Regressor,
    SearchFacts,
    SearchState,
)
from discreet.solve.lattice.pricing import base_costs

__all__ = ["grow", "make_search"]

_FIRST = 1 << 10
"""Evaluated nodes and open boxes there is room for at first."""
_EQUAL = 1e-15
"""Rates closer than this, relatively, are equal but for rounding."""
_EXPLORERS = 4
"""Boxes that are explored at a time in a long search, and so the most threads that it uses."""
_MOST_BOXES = 1 << 20
"""Open boxes kept before the search turns depth first."""


def make_search(
    problem: Problem, lattice: Lattice, separable: Separable | None, rates: list[FloatArray]
) -> LatticeSearch:
    """Return a search without any evaluated node."""
    m = len(problem.table.attributes)
    worst = problem.cost.worst(problem.table)
    level = records(LevelCosts, lattice.level.shape)
    level["entropy"][:] = lattice.level["entropy"]
    rising = False
    if separable is not None:
        bases = base_costs(problem.table, separable, rates)
        rising = True
        for i, base in enumerate(bases):
            per_leaf = rates[i] * separable.moment[i] + separable.offset[i]
            upwards = np.vstack([per_leaf, separable.penalty[i]])
            rising &= bool((np.diff(upwards, axis=0) >= -_EQUAL * np.abs(upwards).max(initial=0.0)).all())
            level["published"][i, : len(base)] = base
            level["margin"][i, : len(base)] = np.maximum((separable.penalty[i] - per_leaf).min(axis=1), 0.0)
    weights = np.zeros((2, m + 1))  # what is assumed before anything was evaluated
    weights[UP, :m], weights[UP, m] = 0.2, -2.5
    weights[DOWN, :m], weights[DOWN, m] = -1.0, np.log(worst + 1.0)
    queue = records(BoxQueues, _FIRST)
    queue["free"][:] = np.arange(_FIRST)[::-1]
    steps = int((lattice.limits["highest"] - lattice.limits["lowest"]).sum())
    return LatticeSearch(
        level=level,
        limits=lattice.limits,
        facts=record(
            SearchFacts,
            separable=separable is not None,
            rising=rising,
            limit=problem.limit,
            rows=problem.table.n,
            worst=worst,
            per_row=worst / problem.table.n,
        ),
        state=record(SearchState, best=INFINITE, free=_FIRST, target=INFINITE),
        explorer=records(Explorer, _EXPLORERS),
        explored=np.zeros((_EXPLORERS, m), dtype=np.int64),
        node=np.zeros((_FIRST, m), dtype=np.int16),
        steps=np.zeros((_FIRST + SCRATCH_ROWS, 1 + steps // 64), dtype=np.uint64),
        raised=np.zeros((1 + _FIRST // 64, max(steps, 1)), dtype=np.uint64),
        chosen=np.zeros((2, m), dtype=np.int64),
        result=records(NodeResult, _FIRST),
        corner=np.zeros((_FIRST, 2, m), dtype=np.int16),
        box=records(OpenBox, _FIRST),
        queue=queue,
        incumbent=np.zeros(m, dtype=np.int64),
        draft=records(Draft, m),
        trial=np.zeros(m, dtype=np.int64),
        regressor=records(Regressor, m + 1),
        covariance=np.eye(m + 1) * 10.0,
        weights=weights,
        correction=np.zeros(2),
    )


def grow(search: LatticeSearch) -> LatticeSearch:
    """Double whatever is full; once there are very many boxes, go on depth first in what is left."""
    state, (room, m) = search.state, search.node.shape
    if state.evaluated + _EXPLORERS > room:
        search = search._replace(
            node=extended(search.node, room),
            steps=extended(search.steps, room),
            raised=extended(search.raised, 1 + room // 64),
            result=extended(search.result, room),
        )
    free, size = int(state.free), len(search.box)
    if free < 2 * m + 4 + _EXPLORERS:
        extra = size
        if size >= _MOST_BOXES:
            go_deep(search)
            # A path to the bottom of the tree has one box per step at most, and siblings for each attribute.
            extra = _EXPLORERS * m * (int((search.limits["highest"] - search.limits["lowest"]).sum()) + 4)
        queue = extended(search.queue, extra)
        queue["free"][free : free + extra] = np.arange(size + extra - 1, size - 1, -1)
        state.free += extra
        search = search._replace(corner=extended(search.corner, extra), box=extended(search.box, extra), queue=queue)
    return search
