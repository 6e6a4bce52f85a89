"""POkA (Dewri, Ray, Ray and Whitley, CIKM 2009): a front of k against loss, hopping from point to point.

From a base node, at first the top of the lattice, POkA looks for the node with less privacy and less loss that has as
much privacy as possible. Every node d steps below the base node is a *ground node*. A *depth search* goes down to the
ground nodes; from each, a *height search* goes up again, until a node has no less privacy or no less loss than the base
node. The best node found is the next base node.

Nodes below the base node are not evaluated, except its immediate neighbours: the others cannot have more privacy. Both
privacy and loss are assumed to grow with every step up. Where the loss does not, because of suppressed rows, or where
either stays the same along a step, points are missed, and others reported that are not on the front. So POkA proves
nothing, and no point is marked as proven.

Losses are sums of fractions, and equal sums may differ in the last digit. They are compared with the tolerance of the
exact front (:func:`discreet.solve.front.set_up.equal_losses`), so that a node as costly as the base node ends a height
search, as the paper's "L_H ≥ L_N" asks.

The first base node is the top of the lattice or any other (section 6: "POkA can very well be started from a sub-optimal
node"); points with less privacy than that are looked for.

Where the paper is silent: the bottom of the lattice is a ground node if it is fewer than d steps away; with d = 1,
ground nodes are immediate neighbours, and evaluated. The search ends at k ≤ 2, so that the point at k = 1 is only
reported if there is none at k = 2; on other axes it ends where nothing more is found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isclose, prod
from operator import le

import numpy as np

from discreet.errors import UsageError
from discreet.problem import Axis, Problem
from discreet.problem.axes.k import K
from discreet.solve._base import Budget
from discreet.solve.front.evaluate import CompiledFrontEvaluator, FrontEvaluator, has_compiled_front
from discreet.solve.front.search import FoundFront, FoundPoint, FrontCallback, FrontProgress
from discreet.solve.front.set_up import equal_losses, space_of

__all__ = ["FrontComparison", "compare_fronts", "default_depth", "poka_front"]

_LAST = 2
"""The k at which the search ends."""
Node = tuple[int, ...]


@dataclass(frozen=True)
class PokaNode:
    """An evaluated node."""

    value: float
    loss: float
    node: Node
    suppressed: int = 0
    classes: int = 0


_NOTHING = PokaNode(-inf, inf, ())


class _PokaStopped(Exception):  # noqa: N818
    """The budget is exhausted."""


def default_depth(problem: Problem) -> int:
    """Return the average height of the hierarchies, within the level limits, rounded up."""
    _, span = space_of(problem)
    return max(1, -int(-(span - 1).sum() // span.size))


def poka_front(
    problem: Problem,
    axes: Sequence[Axis],
    budget: Budget,
    progress: FrontCallback | None = None,
    *,
    depth: int | None = None,
    start: Mapping[str, int] | None = None,
) -> FoundFront:
    """Return the points POkA reports, dominated ones included.

    ``depth`` is d in the paper, ``start`` the level of each attribute in the first base node; attributes it does not
    name are at their highest level, and without it the first base node is the top of the lattice.
    """
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int) or depth < 1):
        raise UsageError("The depth of POkA must be a whole number from 1 on.")
    steps = default_depth(problem) if depth is None else depth
    search = PokaSearch(problem, axes[0], budget, steps)
    base = search.evaluate(_base_node(problem, start or {}))
    found, finished = [base], False
    try:
        while base.value > _LAST or type(axes[0]) is not K:
            base = search.next_to(base)
            if base is _NOTHING:
                break
            found.append(base)
            if progress is not None:
                examined = len(search.seen)
                progress(FrontProgress(budget.seconds, examined, search.space - examined, len(found)))
        finished = True
    except _PokaStopped:
        pass
    except KeyboardInterrupt:
        budget.stop.set()
    return search.found(found, finished=finished)


def _base_node(problem: Problem, start: Mapping[str, int]) -> Node:
    """Return the node with the levels given, and the highest ones of all other attributes."""
    if not isinstance(start, Mapping):
        raise UsageError("The start of POkA must map column names to levels, as in {age: 2}.", topic="level-limits")
    names = problem.table.names
    for name in start:
        if name not in names:
            raise UsageError(
                f"The start of POkA names '{name}', which is not a quasi-identifier; leave it out.", column=str(name)
            )
    levels = []
    for name, low, high in zip(names, problem.lowest, problem.highest, strict=True):
        level = start.get(name, high)
        if isinstance(level, bool) or not isinstance(level, int) or not low <= level <= high:
            raise UsageError(
                f"The start of POkA must be a level of '{name}' from {low} to {high}.",
                column=name,
                topic="level-limits",
            )
        levels.append(level)
    return tuple(levels)


class PokaSearch:
    """Depth and height searches from one base node after the other."""

    def __init__(self, problem: Problem, axis: Axis, budget: Budget, depth: int) -> None:
        self.budget, self.depth = budget, depth
        lowest, span = space_of(problem)
        self.lowest: Node = tuple(lowest.tolist())
        self.highest: Node = tuple((lowest + span - 1).tolist())
        self.space = prod(span.tolist())
        compiled = has_compiled_front(problem, [axis])
        self.evaluator = CompiledFrontEvaluator(problem, np.zeros(0)) if compiled else FrontEvaluator(problem, [axis])
        with budget.paused():
            self.evaluator.evaluate(np.array(self.highest))
        self.absolute, self.relative = equal_losses(problem)
        self.seen: dict[Node, PokaNode] = {}
        self.base = _NOTHING
        self.best_above: dict[Node, PokaNode] = {}
        """HBest in the paper."""
        self.best_below: dict[Node, PokaNode] = {}
        """DBest in the paper."""

    def evaluate(self, node: Node) -> PokaNode:
        """Evaluate a node, once."""
        known = self.seen.get(node)
        if known is None:
            if self.seen and self.budget.exhausted:
                raise _PokaStopped
            look = self.evaluator.evaluate(np.array(node))
            known = self.seen[node] = PokaNode(look.values[0], look.loss, node, look.lost, look.classes)
        return known

    def _costs_less(self, one: PokaNode, other: PokaNode) -> bool:
        """Whether a node costs less than another, by more than sums of the same fractions may differ."""
        return one.loss < other.loss - self.absolute - self.relative * abs(other.loss)

    def _beats(self, one: PokaNode, other: PokaNode) -> bool:
        """Whether a node has more privacy than another, or as much and less loss."""
        return one.value > other.value or (one.value == other.value and self._costs_less(one, other))

    def next_to(self, base: PokaNode) -> PokaNode:
        """Return the node found with less privacy and less loss than the base node that has the most privacy."""
        self.base = base
        self.best_above.clear()
        self.best_below.clear()
        return self._depth_search(base.node, 0)

    def _depth_search(self, node: Node, depth: int) -> PokaNode:
        """Go down to the ground nodes, and up from each of them."""
        known = self.best_below.get(node)
        if known is not None:
            return known
        best = _NOTHING
        for i, level in enumerate(node):
            if level == self.lowest[i]:
                continue
            child = (*node[:i], level - 1, *node[i + 1 :])
            ground = depth + 1 == self.depth or child == self.lowest
            found = self._height_search(child) if ground else self._depth_search(child, depth + 1)
            if self._beats(found, best):
                best = found
        self.best_below[node] = best
        return best

    def _height_search(self, node: Node) -> PokaNode:
        """Return the best of a node and those above it, until privacy or loss reach those of the base node."""
        known = self.best_above.get(node)
        if known is not None:
            return known
        best = _NOTHING if self._far_below(node) else self.evaluate(node)
        if best is not _NOTHING and (best.value >= self.base.value or not self._costs_less(best, self.base)):
            self.best_above[node] = _NOTHING
            return _NOTHING
        for i, level in enumerate(node):
            if level == self.highest[i]:
                continue
            child = (*node[:i], level + 1, *node[i + 1 :])
            found = self.best_above.get(child) or self._height_search(child)
            if self._beats(found, best):
                best = found
        self.best_above[node] = best
        return best

    def _far_below(self, node: Node) -> bool:
        """Whether a node is below the base node, but not an immediate neighbour."""
        base = self.base.node
        return sum(base) - sum(node) > 1 and all(map(le, node, base))

    def found(self, reported: list[PokaNode], *, finished: bool) -> FoundFront:
        """Return the reported points, and every evaluated node."""
        seen = list(self.seen.values())
        cloud = np.array([[each.value, each.loss] for each in seen])
        points = []
        for each in reported:
            alike = np.isclose(cloud, [each.value, each.loss], rtol=1e-9, atol=1e-9).all(axis=1)
            also = int(alike.sum()) - 1
            point = FoundPoint((each.value,), each.loss, each.node, each.suppressed, each.classes, also, proven=False)
            points.append(point)
        return FoundFront(
            points=tuple(points),
            space=self.space,
            examined=len(seen),
            complete=False,
            cloud=cloud,
            stats={
                "depth": self.depth,
                "finished": finished,
                "suppressed": np.array([each.suppressed for each in seen], dtype=np.float64),
            },
        )


@dataclass(frozen=True)
class FrontComparison:
    """How a front differs from the exact one."""

    missed: tuple[FoundPoint, ...]
    """Points of the exact front that were not reported."""
    false: tuple[FoundPoint, ...]
    """Reported points that are not on the exact front."""


def compare_fronts(found: FoundFront, true: FoundFront) -> FrontComparison:
    """Return the points of the exact front that another misses, and those that do not belong there."""

    def without(points: Sequence[FoundPoint], others: Sequence[FoundPoint]) -> tuple[FoundPoint, ...]:
        return tuple(point for point in points if not any(_same(point, other) for other in others))

    return FrontComparison(without(true.points, found.points), without(found.points, true.points))


def _same(a: FoundPoint, b: FoundPoint) -> bool:
    pairs = zip((*a.values, a.loss), (*b.values, b.loss), strict=True)
    return all(isclose(x, y, rel_tol=1e-9, abs_tol=1e-9) for x, y in pairs)
