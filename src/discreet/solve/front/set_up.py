"""The state of the search for a front: allocated, filled with what is known beforehand, and grown when it is full."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.errors import Argument, UsageError
from discreet.problem import Axis, Problem
from discreet.problem.axes.k import K
from discreet.solve.front.evaluate import FrontEvaluator, published_costs
from discreet.solve.front.kernels.prediction import (
    SAMPLE,
    CandidateNode,
    FrontPredictor,
    PredictorCounters,
    PredictorFacts,
    SampledNode,
)
from discreet.solve.front.kernels.state import (
    AttributeSpan,
    FrontCounters,
    FrontFacts,
    FrontNode,
    FrontSearch,
    FrontStep,
    IncumbentPoint,
    NodeBounds,
    ProfileEntry,
)
from discreet.solve.kernels.records import extended, record, records

__all__ = [
    "equal_losses",
    "grid_of_classes",
    "grid_of_sizes",
    "grow",
    "is_large",
    "known_totals",
    "make_predictor",
    "make_search",
    "space_of",
]

_MOST_NODES = 1 << 24
"""Larger lattices are not listed: each node takes 33 bytes."""
_FIRST = 1 << 12
"""Evaluated nodes there is room for at first."""
_FIRST_POINTS = 64
_EQUAL = 1e-11
"""Losses closer than this, relatively, count as equal where they are not whole numbers."""


def is_large(problem: Problem) -> bool:
    """Return whether a lattice has too many nodes to list them."""
    return prod(high - low + 1 for low, high in zip(problem.lowest, problem.highest, strict=True)) > _MOST_NODES


def space_of(problem: Problem) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest level of each attribute, and the number of levels that may be used."""
    lowest = np.array(problem.lowest, dtype=np.int64)
    span = np.array(problem.highest, dtype=np.int64) - lowest + 1
    size = prod(span.tolist())
    if is_large(problem):
        raise UsageError(
            f"The lattice has {size:,} nodes, more than the {_MOST_NODES:,} that such a front is searched in; set ",
            Argument("min_levels"),
            " and ",
            Argument("max_levels"),
            ", or use fewer quasi-identifiers or lower hierarchies.",
            topic="too-large",
        )
    return lowest, span


def known_totals(problem: Problem) -> FloatArray | None:
    """Return what publishing all rows costs at each node; None if costs do not add up over attributes."""
    costs = published_costs(problem)
    if costs is None:
        return None
    totals = np.zeros(1)
    for levels, low, high in zip(costs, problem.lowest, problem.highest, strict=True):
        totals = (totals[:, None] + levels[low : high + 1]).ravel()
    return totals


def equal_losses(problem: Problem) -> tuple[float, float]:
    """Return how far apart losses may be that count as equal: an absolute part, and a share of the loss."""
    whole_numbers = problem.cost.compiled is not None
    most = max(problem.cost.worst(problem.table), problem.table.n)
    return (0.25, 0.0) if whole_numbers else (1e-3 * _EQUAL * most, _EQUAL)


def grid_of_sizes(n: int) -> FloatArray:
    """Return class sizes, growing by two fifths."""
    grid, size = [], 2.0
    while size <= max(n, 2):
        grid.append(float(int(size)))
        size = max(size * 1.4, size + 1)
    return np.array(grid)


def grid_of_classes(evaluator: FrontEvaluator, lowest: IntArray, span: IntArray) -> FloatArray:
    """Return values of classes of a few nodes, evenly spaced by rank."""
    seen = []
    for share in (0.0, 0.5, 1.0):
        node = lowest + np.rint(share * (span - 1)).astype(np.int64)
        seen.append(evaluator.class_values(node))
    values = np.unique(np.concatenate(seen))
    return np.unique(np.quantile(values, np.linspace(0, 1, 17), method="nearest"))


def make_search(problem: Problem, axis: Axis, span: NDArray[np.int64], totals: FloatArray | None) -> FrontSearch:
    """Return a search without any evaluated node; ``totals`` are those of :func:`known_totals`."""
    nodes = prod(span.tolist())
    attribute = records(AttributeSpan, span.size)
    attribute["levels"][:] = span
    attribute["stride"][:] = np.concatenate([np.cumprod(span[:0:-1])[::-1], [1]])
    bound = records(NodeBounds, nodes)
    bound["low"][:] = -np.inf if totals is None else totals
    bound["least"][:] = -np.inf
    bound["due"][:] = bound["most"][:] = np.inf
    monotone = axis.superset_closed or (axis.union_closed and problem.limit == 0 and not problem.varying)
    if axis.of_table and (problem.limit > 0 or problem.varying):
        monotone = False
    absolute, relative = equal_losses(problem)
    return FrontSearch(
        attribute=attribute,
        status=np.zeros(nodes, dtype=np.int8),
        bound=bound,
        counters=record(FrontCounters, open=nodes),
        facts=record(
            FrontFacts,
            rows=problem.table.n,
            monotone=monotone,
            value_per_row=type(axis) is K and problem.cost.compiled == "squares",
            absolute=absolute,
            relative=relative,
        ),
        evaluated=records(FrontNode, _FIRST),
        profile=records(ProfileEntry, 8 * _FIRST + problem.limit + 2),
        point=records(IncumbentPoint, _FIRST_POINTS),
        step=records(FrontStep, 2 * _FIRST_POINTS + 2),
    )


def make_predictor(
    problem: Problem, axis: Axis, span: NDArray[np.int64], grid: FloatArray, *, totals_known: bool
) -> FrontPredictor:
    """Return a predictor that has learned nothing yet."""
    p = 1 + int((span - 1).sum())
    shift = max(1.0, problem.limit / 10)
    edge = np.log(problem.limit + shift if problem.limit else 0.5)
    weight = np.zeros((grid.size + 2, p))
    weight[: grid.size, 0] = edge + 1.0
    weight[: grid.size, 1:] = -0.3
    return FrontPredictor(
        facts=record(PredictorFacts, edge=edge, shift=shift, whole=type(axis) is K, totals_known=totals_known),
        counters=record(PredictorCounters, seed=1),
        grid=grid,
        weight=weight,
        covariance=np.tile(10.0 * np.eye(p), (grid.size + 1, 1, 1)),
        table=np.zeros((grid.size + 2, span.size, int(span.max()))),
        sample=records(SampledNode, SAMPLE),
        sample_steps=np.zeros((SAMPLE, 1 + p // 64), dtype=np.uint64),
        candidate=records(CandidateNode, 4 * SAMPLE),
        candidate_steps=np.zeros((4 * SAMPLE, 1 + p // 64), dtype=np.uint64),
        heap=np.zeros(4 * SAMPLE, dtype=np.int64),
        levels=np.zeros(span.size, dtype=np.int64),
    )


def grow(search: FrontSearch, profile: int) -> FrontSearch:
    """Double whatever has no room for one more node with so long a profile."""
    counters = search.counters
    if counters.evaluated + 1 > search.evaluated.size:
        search = search._replace(evaluated=_doubled(search.evaluated))
    while counters.profile + profile + 2 > search.profile.size:
        search = search._replace(profile=_doubled(search.profile))
    if counters.points + 2 > search.point.size:
        search = search._replace(point=_doubled(search.point), step=_doubled(search.step))
    return search


def _doubled(array: Any) -> Any:
    return extended(array, len(array))
