"""The exact front of several privacy parameters against loss over the lattice of level vectors.

Rows are suppressed by the first axis under the budget rule, those that break a promise before all others; the other
axes are measured on what stays. A node that cannot keep the promises is no point. An evaluated node bounds what those
below it can reach on each axis, and the loss of those above it. A node is closed once some point is at least as good as
all of its bounds, and truly better than one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray
from discreet.problem import Axis, Problem
from discreet.solve._base import Budget
from discreet.solve.front.evaluate import FrontEvaluation, FrontEvaluator
from discreet.solve.front.search import FoundFront, FoundPoint, FrontCallback, FrontProgress
from discreet.solve.front.set_up import equal_losses, known_totals, space_of

__all__ = ["front_of_many"]

_AT_ONCE = 16
"""Nodes evaluated at most between two attempts to close others."""
_PAIRS = 1 << 22
"""Pairs of points and nodes compared at once."""
BoolArray = NDArray[np.bool_]


def front_of_many(
    problem: Problem, axes: Sequence[Axis], budget: Budget, progress: FrontCallback | None = None
) -> FoundFront:
    """Find all points no other node is better than; stopped early, say which of them are proven.

    There may be one axis only, where promises are to be kept. Without points, no node keeps them if the search is
    complete.
    """
    search = _SeveralAxesSearch(problem, axes)
    with budget.paused():
        search.evaluator.evaluate(search.levels(search.open.size - 1))
    complete = False
    try:
        while not complete:
            search.step()
            complete = not search.open.any()
            if progress is not None:
                left, points = int(search.open.sum()), len(search.front)
                progress(FrontProgress(budget.seconds, len(search.nodes), left, points))
            if budget.exhausted:
                break
    except KeyboardInterrupt:
        if not search.front:
            raise
        budget.stop.set()
    return search.result(complete=complete)


class _SeveralAxesSearch:
    """The state of a search. Nodes are numbered like the cells of an array of levels."""

    def __init__(self, problem: Problem, axes: Sequence[Axis]) -> None:
        self.evaluator = FrontEvaluator(problem, axes)
        self.lowest, span = space_of(problem)
        self.span = tuple(span.tolist())
        nodes = prod(self.span)
        self.absolute, self.relative = equal_losses(problem)
        self.open: BoolArray = np.ones(nodes, dtype=np.bool_)
        totals = known_totals(problem)
        self.low = np.full(nodes, -np.inf) if totals is None else totals
        self.most = np.full((len(axes), nodes), np.inf)
        self.nodes: list[int] = []
        self.seen: list[FrontEvaluation] = []
        self.known = np.zeros((0, len(axes) + 1))
        """Values and loss of each evaluated node."""
        self.front: list[int] = []
        """Evaluated nodes that none found so far is better than, of those alike the first."""

    @property
    def values(self) -> FloatArray:
        """The values of each evaluated node."""
        return self.known[:, :-1]

    @property
    def losses(self) -> FloatArray:
        """The loss of each evaluated node."""
        return self.known[:, -1]

    def levels(self, number: int) -> NDArray[np.int64]:
        """Return the levels of a node."""
        return np.array(np.unravel_index(number, self.span), dtype=np.int64) + self.lowest

    def slack(self, loss: FloatArray) -> FloatArray:
        """Return how far losses may be from others and still count as equal."""
        return np.asarray(self.absolute + self.relative * np.abs(loss))

    def step(self) -> None:
        """Evaluate some nodes, and close what can be closed."""
        for number in self._choice():
            self._add(number, self.evaluator.evaluate(self.levels(number)))
        self._close()

    def _choice(self) -> list[int]:
        """At first top and bottom; then open nodes that many open ones are above and below, none above another."""
        if not self.nodes:
            return sorted({0, self.open.size - 1})
        counts = self.open.reshape(self.span).astype(np.float64)
        below, above = counts, counts
        for axis in range(counts.ndim):
            below = below.cumsum(axis=axis)
            above = np.flip(np.flip(above, axis).cumsum(axis=axis), axis)
        worth = below * above * counts
        chosen: list[int] = []
        while len(chosen) < _AT_ONCE and worth.any():
            chosen.append(int(worth.argmax()))
            up, down = self._above_and_below(chosen[-1])
            worth[up] = worth[down] = 0.0
        return chosen

    def _above_and_below(self, number: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """Return the slices of the nodes at or above a node, and of those at or below."""
        where = [int(level) for level in np.unravel_index(number, self.span)]
        return tuple(slice(level, None) for level in where), tuple(slice(0, level + 1) for level in where)

    def _add(self, number: int, found: FrontEvaluation) -> None:
        """Take in what the evaluation of a node gave; it stays open until the end, so that Ctrl-C does no harm."""
        self.nodes.append(number)
        self.seen.append(found)
        self.known = np.vstack([self.known, [*found.values, found.loss]])
        up, down = self._above_and_below(number)
        low = self.low.reshape(self.span)[up]
        np.maximum(low, found.total, out=low)
        for bound, value in zip(self.most, found.most, strict=True):
            most = bound.reshape(self.span)[down]
            np.minimum(most, value, out=most)
        self._add_to_front()
        self.open[number] = False

    def _add_to_front(self) -> None:
        """Take the node evaluated last into the front if it belongs there."""
        e, front = len(self.nodes) - 1, np.array(self.front, dtype=np.int64)
        if not np.isfinite(self.losses[e]):
            return
        good, loss = self.values[e], self.losses[e]
        values, losses, margin = self.values[front], self.losses[front], self.slack(loss)
        as_good = (values >= good).all(axis=1) & (losses <= loss + margin)
        alike = as_good & (values == good).all(axis=1) & (losses >= loss - margin)
        if alike.any():
            first = int(np.flatnonzero(alike)[0])
            if self.nodes[e] < self.nodes[self.front[first]]:
                self.front[first] = e
        elif not as_good.any():
            worse = (values <= good).all(axis=1) & (losses >= loss - margin)
            self.front = [*front[~worse].tolist(), e]

    def _close(self) -> None:
        """Close the open nodes that some point of the front is better than, whatever they turn out to be."""
        still = np.flatnonzero(self.open & (self.most > -np.inf).all(axis=0))
        front = np.array(self.front, dtype=np.int64)
        values, losses = self.values[front], self.losses[front]
        at_once = max(1, _PAIRS // max(still.size, 1))
        for begin in range(0, len(self.front), at_once):
            part = slice(begin, begin + at_once)
            better = self._better(values[part], losses[part], self.most[:, still], self.low[still])
            still = still[~better.any(axis=0)]
        left = np.zeros_like(self.open)
        left[still] = True
        self.open = left

    def _better(self, values: FloatArray, losses: FloatArray, most: FloatArray, low: FloatArray) -> BoolArray:
        """Whether each point is at least as good as each node can be, and better in something."""
        margin = self.slack(losses)[:, None]
        at_least = (losses[:, None] - margin) <= low
        more = (losses[:, None] + margin) < low
        for value, bound in zip(values.T, most, strict=True):
            at_least &= value[:, None] >= bound
            more |= value[:, None] > bound
        return np.asarray(at_least & more)

    def _has_rivals(self, e: int) -> bool:
        """Whether an open node may be better than an evaluated one."""
        still = np.flatnonzero(self.open)
        loss, low, most = self.losses[e], self.low[still], self.most[:, still]
        margin = self.slack(loss)
        good = self.values[e][:, None]
        may = (most >= good).all(axis=0) & (low <= loss + margin)
        return bool((may & ((most > good).any(axis=0) | (low < loss - margin))).any())

    def result(self, *, complete: bool) -> FoundFront:
        """Return the front, and what is proven about it."""
        points = []
        for e in sorted(self.front, key=lambda e: (tuple(-self.values[e]), self.losses[e])):
            found, loss = self.seen[e], self.losses[e]
            alike = (self.values == self.values[e]).all(axis=1) & (np.abs(self.losses - loss) <= self.slack(loss))
            levels = tuple(self.levels(self.nodes[e]).tolist())
            also, proven = int(alike.sum()) - 1, not self._has_rivals(e)
            points.append(FoundPoint(found.values, found.loss, levels, found.lost, found.classes, also, proven))
        points_seen = np.isfinite(self.losses)
        return FoundFront(
            points=tuple(points),
            space=self.open.size,
            examined=len(self.known),
            complete=complete,
            cloud=self.known[points_seen],
            stats={
                "open": int(self.open.sum()),
                "suppressed": np.array([found.lost for found in self.seen[: len(self.known)]], dtype=np.float64)[
                    points_seen
                ],
            },
        )
