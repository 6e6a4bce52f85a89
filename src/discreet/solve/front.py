"""The exact front of privacy against loss over the lattice of level vectors, with as few evaluations as possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.errors import UsageError
from discreet.kernels.front_choice import _SAMPLE, Guess, choose, learn
from discreet.kernels.front_run import search_front
from discreet.kernels.fronts import (
    EVALUATED_NODES,
    FRONT,
    LOSS,
    LOST,
    LOW,
    MOST,
    OPEN,
    OPEN_NODES,
    VALUE,
    Fronts,
    slack,
    tell,
)
from discreet.problem import Axis, Problem
from discreet.problem.axes.k import K
from discreet.solve._base import Budget
from discreet.solve._looks import CompiledLooks, Look, PlainLooks, base_costs, has_compiled_looks
from discreet.solve._warm_up import two_rows, warm_up

__all__ = [
    "FoundFront",
    "FoundPoint",
    "FrontProgress",
    "equal_losses",
    "exact_front",
    "known_totals",
    "prepare",
    "space_of",
]

_MOST_NODES = 1 << 24
"""Lattices larger than this are refused: each node takes 33 bytes."""
_FIRST = 1 << 12
"""Evaluated nodes and points there is room for at first."""
_AT_ONCE = 64
"""Nodes evaluated between two looks at the clock."""
_EQUAL = 1e-11
"""Losses closer than this, relatively, count as equal where they are not whole numbers."""


@dataclass(frozen=True)
class FrontProgress:
    """How far the search for a front is."""

    seconds: float
    evaluated: int
    open: int
    points: int


FrontCallback = Callable[[FrontProgress], None]


@dataclass(frozen=True, eq=False)
class FoundPoint:
    """One point of a front; ``values`` are those of the axes, more is better."""

    values: tuple[float, ...]
    loss: float
    levels: tuple[int, ...]
    suppressed: int
    classes: int
    also: int
    """How many other nodes have the same values and the same loss."""
    proven: bool


@dataclass(frozen=True, eq=False)
class FoundFront:
    """What a search for a front found."""

    points: tuple[FoundPoint, ...]
    """By falling value of the first axis."""
    space: int
    examined: int
    complete: bool
    cloud: FloatArray
    """(examined, axes + 1): values and loss of every node that was evaluated."""
    stats: dict[str, Any] = field(default_factory=dict)


def space_of(problem: Problem) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lowest level of each attribute, and the number of levels that may be used."""
    lowest = np.array(problem.lowest, dtype=np.int64)
    span = np.array(problem.highest, dtype=np.int64) - lowest + 1
    size = prod(span.tolist())
    if size > _MOST_NODES:
        raise UsageError(
            f"The lattice has {size:,} nodes, more than the {_MOST_NODES:,} a front is searched in; set min_levels and "
            "max_levels, or use fewer quasi-identifiers or lower hierarchies.",
            topic="too-large",
        )
    return lowest, span


def exact_front(
    problem: Problem, axes: Sequence[Axis], budget: Budget, progress: FrontCallback | None = None
) -> FoundFront:
    """Find all points no other node is better than, for one axis; stopped early, say which of them are proven."""
    axis = axes[0]
    with budget.paused():
        _load_kernels(compiled=has_compiled_looks(problem, axes))
    return _exact_front(problem, axis, budget, progress)


def _exact_front(problem: Problem, axis: Axis, budget: Budget, progress: FrontCallback | None = None) -> FoundFront:
    lowest, span = space_of(problem)
    plain = PlainLooks(problem, [axis])
    compiled = has_compiled_looks(problem, [axis])
    grid = _grid(problem.table.n) if type(axis) is K else _grid_of(plain, axis, lowest, span)
    fronts, guess = _set_up(problem, axis, span, grid)
    if compiled:
        looks = CompiledLooks(problem, grid)
    else:
        plain.grid = grid
    outcome = 1
    while outcome:
        try:
            if compiled:
                outcome = search_front(
                    looks.lattice, looks.lists, looks.ws, looks.prices, looks.tally,
                    problem.limit, fronts, guess, lowest, _AT_ONCE,
                )  # fmt: skip
            else:
                outcome, fronts = _plain_steps(fronts, guess, plain, lowest)
            if outcome == 2:
                fronts = _grown(fronts, problem.limit)
            if progress is not None:
                evaluated, left, points = (int(fronts.count[c]) for c in (EVALUATED_NODES, OPEN_NODES, FRONT))
                progress(FrontProgress(budget.seconds, evaluated, left, points))
        except KeyboardInterrupt:
            budget.stop.set()
        if outcome and budget.exhausted and fronts.count[EVALUATED_NODES]:
            break
    return _found(problem, fronts, plain, lowest, complete=outcome == 0)


@cache
def _load_kernels(compiled: bool) -> None:
    problem = Problem.build(two_rows(), privacy="k(1)", cost="LM" if compiled else "NCP")
    warm_up(lambda: _exact_front(problem, K(), Budget()))


def prepare() -> None:
    """Compile every kernel now rather than at the first search; later calls, and later processes, find them ready."""
    _load_kernels(compiled=True)
    _load_kernels(compiled=False)


def _plain_steps(fronts: Fronts, guess: Guess, looks: PlainLooks, lowest: IntArray) -> tuple[int, Fronts]:
    """Evaluate some nodes through arrays."""
    for _ in range(_AT_ONCE // 8):
        number = int(choose(fronts, guess))
        if number < 0:
            return 0, fronts
        levels = np.array(np.unravel_index(number, tuple(fronts.span.tolist()))) + lowest
        look = looks.look(levels)
        if fronts.count[EVALUATED_NODES] + 1 > fronts.node.size or fronts.count[FRONT] + 2 > len(fronts.front):
            fronts = _grown(fronts, len(look.profile))
        while fronts.first[fronts.count[EVALUATED_NODES]] + len(look.profile) + 2 > len(fronts.profile):
            fronts = _grown(fronts, len(look.profile))
        tell(fronts, number, look.values[0], look.loss, look.total, float(look.lost), look.profile)
        learn(fronts, guess, look.worse)
    return 1, fronts


def _grid(n: int) -> FloatArray:
    """Class sizes, growing by two fifths."""
    grid, size = [], 2.0
    while size <= max(n, 2):
        grid.append(float(int(size)))
        size = max(size * 1.4, size + 1)
    return np.array(grid)


def _grid_of(looks: PlainLooks, axis: Axis, lowest: IntArray, span: IntArray) -> FloatArray:
    """Values of classes of a few nodes, at equal distances by rank."""
    seen = []
    for share in (0.0, 0.5, 1.0):
        node = lowest + np.rint(share * (span - 1)).astype(np.int64)
        seen.append(looks.class_values(node))
    values = np.unique(np.concatenate(seen))
    return np.unique(np.quantile(values, np.linspace(0, 1, 17), method="nearest"))


def _set_up(problem: Problem, axis: Axis, span: NDArray[np.int64], grid: FloatArray) -> tuple[Fronts, Guess]:
    nodes, m = prod(span.tolist()), span.size
    stride = np.concatenate([np.cumprod(span[:0:-1])[::-1], [1]]).astype(np.int64)
    known = known_totals(problem)
    low = np.full(nodes, -np.inf) if known is None else known
    monotone = axis.superset_closed or (axis.union_closed and problem.limit == 0)
    if axis.of_table and problem.limit > 0:
        monotone = False
    floor = type(axis) is K and problem.cost.compiled == "squares"
    fronts = Fronts(
        span=span,
        stride=stride,
        state=np.zeros(nodes, dtype=np.int8),
        bound=np.stack([low, np.full(nodes, np.inf), np.full(nodes, -np.inf), np.full(nodes, np.inf)]),
        count=np.array([0, nodes, 0, 0, 0], dtype=np.int64),
        facts=np.array([float(problem.table.n), float(monotone), float(floor), *equal_losses(problem)]),
        node=np.zeros(_FIRST, dtype=np.int64),
        known=np.zeros((_FIRST, 4)),
        first=np.zeros(_FIRST + 1, dtype=np.int64),
        profile=np.zeros((8 * _FIRST + problem.limit + 2, 2)),
        front=np.zeros((64, 3)),
        step=np.zeros((130, 3)),
    )
    p = 1 + int((span - 1).sum())
    shift = max(1.0, problem.limit / 10)
    edge = np.log(problem.limit + shift if problem.limit else 0.5)
    weight = np.zeros((grid.size + 2, p))
    weight[: grid.size, 0] = edge + 1.0
    weight[: grid.size, 1:] = -0.3
    guess = Guess(
        grid=grid,
        edge=np.array([edge, shift, float(type(axis) is K)]),
        weight=weight,
        spread=np.tile(10.0 * np.eye(p), (grid.size + 1, 1, 1)),
        table=np.zeros((grid.size + 2, m, int(span.max()))),
        sample=np.zeros(_SAMPLE, dtype=np.int64),
        candidate=np.zeros(4 * _SAMPLE, dtype=np.int64),
        bits=np.zeros((2, 4 * _SAMPLE, 1 + p // 64), dtype=np.uint64),
        mean=np.zeros((5, _SAMPLE)),
        hope=np.zeros((2, 4 * _SAMPLE)),
        claim=np.zeros(4 * _SAMPLE, dtype=np.int64),
        heap=np.zeros(4 * _SAMPLE, dtype=np.int64),
        count=np.array([0, 0, 0, 0, 0, 1, known is not None, 0], dtype=np.int64),
    )
    return fronts, guess


def known_totals(problem: Problem) -> FloatArray | None:
    """What publishing all rows costs at each node, where costs add up over attributes."""
    base = base_costs(problem)
    if base is None:
        return None
    totals = np.zeros(1)
    for levels, low, high in zip(base, problem.lowest, problem.highest, strict=True):
        totals = (totals[:, None] + levels[low : high + 1]).ravel()
    return totals


def equal_losses(problem: Problem) -> tuple[float, float]:
    """How far apart losses may be that count as equal, whatever they are and as a share of the loss."""
    whole_numbers = problem.cost.compiled is not None
    most = max(problem.cost.worst(problem.table), problem.table.n)
    return (0.25, 0.0) if whole_numbers else (1e-3 * _EQUAL * most, _EQUAL)


def _grown(fronts: Fronts, profile: int) -> Fronts:
    """Double whatever is nearly full."""
    e = int(fronts.count[EVALUATED_NODES])
    if e + 1 > fronts.node.size:
        fronts = fronts._replace(node=_doubled(fronts.node), known=_doubled(fronts.known), first=_doubled(fronts.first))
    if fronts.first[e] + profile + 2 > len(fronts.profile):
        fronts = fronts._replace(profile=_doubled(fronts.profile))
    if fronts.count[FRONT] + 2 > len(fronts.front):
        fronts = fronts._replace(front=_doubled(fronts.front), step=_doubled(fronts.step))
    return fronts


def _doubled(array: Any) -> Any:
    return np.concatenate([array, np.zeros_like(array)])


def _found(problem: Problem, fronts: Fronts, looks: PlainLooks, lowest: IntArray, *, complete: bool) -> FoundFront:
    """Evaluate the points afresh, through the plain arrays, and state what is proven about them."""
    e, points = int(fronts.count[EVALUATED_NODES]), int(fronts.count[FRONT])
    known = fronts.known[:e]
    still = np.flatnonzero(fronts.state == OPEN)
    most, low = fronts.bound[MOST, still], fronts.bound[LOW, still]
    span, found = tuple(fronts.span.tolist()), []
    for value, loss, number in fronts.front[:points][::-1]:
        node = np.array(np.unravel_index(fronts.node[int(number)], span)) + lowest
        look: Look = looks.look(node)
        margin = slack(fronts.facts, loss)
        alike = (known[:, VALUE] == value) & (np.abs(known[:, LOSS] - loss) <= margin)
        rivals = (most >= value) & (low <= loss + margin) & ((most > value) | (low < loss - margin))
        levels = tuple(int(level) for level in node)
        found.append(
            FoundPoint(
                look.values, look.loss, levels, look.lost, look.classes, int(alike.sum()) - 1, not bool(rivals.any())
            )
        )
    return FoundFront(
        points=tuple(found),
        space=prod(span),
        examined=e,
        complete=complete,
        cloud=known[:, [VALUE, LOSS]].copy(),
        stats={"open": int(fronts.count[OPEN_NODES]), "suppressed": known[:, LOST].copy()},
    )
