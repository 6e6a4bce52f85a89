"""The lattice of a problem whose cost is a score: nodes with their scores, checked when needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.problem import Problem
from discreet.problem.costs import weight_array
from discreet.problem.costs.score import Score
from discreet.solve._base import Budget
from discreet.solve.lattice.evaluate import NodeEvaluator

__all__ = ["Node", "ScoredLattice", "as_score"]

Node = tuple[int, ...]
"""The level of each attribute, 0 being the original value."""


def as_score(problem: Problem) -> Score:
    """Return the score of a problem."""
    if not isinstance(problem.cost, Score):
        raise TypeError("the problem has no score")
    return problem.cost


@dataclass(eq=False)
class ScoredLattice:
    """The nodes of a problem's lattice with their scores; each is checked once at most."""

    problem: Problem
    checks: int = 0
    _known: dict[Node, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cost = as_score(self.problem)
        self.table = self.problem.table
        priorities = weight_array(self.cost.weights, self.table)
        self.by_priority: list[int] = np.argsort(priorities, kind="stable").tolist()
        """The attributes, lowest priority first."""
        self.shown = [[int(np.count_nonzero(rows)) for rows in a.block_rows] for a in self.table.attributes]
        """How many distinct values each attribute shows at each level."""

    @cached_property
    def evaluator(self) -> NodeEvaluator:
        """Checks nodes; made when the first one is checked."""
        return NodeEvaluator(self.problem)

    @property
    def space(self) -> int:
        """The number of nodes."""
        return prod(high - low + 1 for low, high in zip(self.problem.lowest, self.problem.highest, strict=True))

    def score(self, node: Sequence[int]) -> float:
        """Return the score of a node if nothing is suppressed."""
        return self.cost.of(self.table, [shown[level] for shown, level in zip(self.shown, node, strict=True)])

    def own_scores(self, i: int, values: IntArray) -> FloatArray:
        """Return the score of a table that shows so many values of attribute i and a single one of all others."""
        counts, index = np.unique(values, return_inverse=True)
        shown = np.ones((counts.size, len(self.shown)))
        shown[:, i] = counts
        return self.cost.of_each(self.table, shown)[index.reshape(-1)]

    def check(self, node: Node) -> bool:
        """Return whether the privacy models can be kept at a node."""
        if node not in self._known:
            self.checks += 1
            levels = np.array(node, dtype=np.int64)
            if self.problem.limit:
                self._known[node] = bool(np.isfinite(self.evaluator.evaluate(levels).cost))
            else:
                self._known[node] = self.evaluator.all_ok(levels)
        return self._known[node]

    def known(self, node: Node) -> bool:
        """Return whether a node was checked and can keep the privacy models."""
        return self._known.get(node, False)

    def lowest_levels(self, budget: Budget) -> Node:
        """Return for each attribute the lowest level that keeps the privacy models with all others at the highest.

        Raising attributes never breaks the models, so that no node with a lower level of any attribute keeps them. If
        that is not guaranteed, or the time is over, it is the lowest level allowed.
        """
        problem = self.problem
        whole = any(model.of_table for model in problem.privacy)
        if not problem.union_closed or (problem.limit and (whole or not problem.superset_closed)):
            return problem.lowest
        levels = list(problem.lowest)
        for i, low in enumerate(problem.lowest):
            node = self.with_others_highest(i, problem.highest[i])
            while node[i] > low and not budget.exhausted and self.check(self.with_others_highest(i, node[i] - 1)):
                node = self.with_others_highest(i, node[i] - 1)
            levels[i] = low if budget.exhausted else node[i]
        return tuple(levels)

    def with_others_highest(self, i: int, level: int) -> Node:
        """Return the node with one attribute at a level and all others at their highest."""
        highest = self.problem.highest
        return (*highest[:i], level, *highest[i + 1 :])

    def finer(self, node: Node, i: int) -> Node | None:
        """Return the node with one attribute a level lower, or None if that is not allowed."""
        return None if node[i] <= self.problem.lowest[i] else (*node[:i], node[i] - 1, *node[i + 1 :])

    def coarser(self, node: Node, i: int) -> Node | None:
        """Return the node with one attribute a level higher, or None if that is not allowed."""
        return None if node[i] >= self.problem.highest[i] else (*node[:i], node[i] + 1, *node[i + 1 :])
