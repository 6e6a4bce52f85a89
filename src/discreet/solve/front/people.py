"""The k of a node where people are counted, and suppressed with all their rows in whatever class.

For each k some people must go until every class that is left has k. The node has the largest k for which these are no
more than may go, and its loss is that of the rows of all others. Who must go for some k must go at every node below,
too, and for every larger k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, Grouping
from discreet.errors import UnsupportedCombinationError
from discreet.problem import Axis, Problem
from discreet.problem.axes.k import K
from discreet.problem.privacy import PrivacyModel
from discreet.problem.privacy.k_anonymity import KAnonymity
from discreet.runtime.integer_codes import add_up
from discreet.solve._class_arrays import ClassArrays, Gatherer, Released
from discreet.solve._class_bounds import ClassBounds
from discreet.solve._recoding import people_cost

__all__ = ["PeopleEvaluation", "PeopleOfNode", "check_axes"]


class PeopleEvaluation(NamedTuple):
    """The result of evaluating a node."""

    k: int
    """0 if it cannot keep the promises."""
    loss: float
    total: float
    """What no node above can go below."""
    lost: int
    """People suppressed."""
    classes: int
    """Classes published."""
    profile: list[tuple[int, float]]
    """For sizes, rising: what suppressing for more than this size costs more at least, here and below."""
    sizes: FloatArray
    """People of each class, before anybody is suppressed."""
    possible: bool
    """Whether a node below may keep the promises."""


def check_axes(axes: Sequence[Axis]) -> None:
    """Refuse axes other than k where people are suppressed with all their rows."""
    if len(axes) > 1 or type(axes[0]) is not K:
        raise UnsupportedCombinationError(
            f"A front of {', '.join(axis.name for axis in axes)}",
            "a budget of people",
            "which classes go first is only defined by their size if a person has rows in several; choose the axis k, "
            "the suppression none, or a budget of rows as in budget(5%, of=rows)",
        )


class PeopleOfNode:
    """The classes of one node, to be evaluated."""

    def __init__(self, problem: Problem, gatherer: Gatherer, bounds: ClassBounds, grouping: Grouping) -> None:
        assert gatherer.counter is not None
        self.problem, self.gatherer, self.bounds, self.grouping = problem, gatherer, bounds, grouping
        self.counter, self.ids, self.count = gatherer.counter, grouping.tuple_ids, grouping.sizes.size

    def evaluate(self, models: Sequence[PrivacyModel], arrays: ClassArrays, released: Released) -> PeopleEvaluation:
        """Evaluate the node; every point keeps these models."""
        problem, cost = self.problem, self.problem.cost
        whole = self.gatherer.classes(self.grouping, arrays, released, slice(0, self.count))
        margins = self.bounds.margins(whole) if cost.superadditive else np.zeros(self.count)
        total = -np.inf
        if cost.superadditive:
            total = float(self.bounds.floors(whole).sum())
        elif not cost.additive:
            total = cost.lower(whole, problem.row_limit)
        everybody = self.counter.sizes(self.ids, slice(0, self.count))
        certain = [model for model in models if model.superset_closed]
        possible = self._lost(self._people_left(certain, 0)) <= problem.limit
        left, profile = self._people_left(models, 0), list[tuple[int, float]]()
        k = self._smallest(left)
        while k and self._lost(left) <= problem.limit:
            more = self._people_left(models, k + 1, left)
            if self._lost(more) > problem.limit or not more.any():
                break
            gone = self.grouping.sizes - add_up(self.ids, self.counter.rows_left(more), self.count)
            profile.append((k, float((gone * margins).sum()) if cost.superadditive and not models else 0.0))
            left, k = more, self._smallest(more)
        if self._lost(left) > problem.limit:
            k = 0
        rows = self.counter.rows_left(left)
        kept = add_up(self.ids, rows, self.count)
        if k and not problem.holds(self.counter.sizes(self.ids, slice(0, self.count), left)[kept > 0]):
            k = 0
        loss = np.inf
        if k and cost.additive:
            loss = people_cost(problem, self.gatherer, self.grouping, released, rows)
        elif k:
            loss = cost.total(replace(whole, sizes=kept), kept > 0)
        return PeopleEvaluation(
            k=k,
            loss=loss,
            total=total,
            lost=self._lost(left),
            classes=int(np.count_nonzero(kept)),
            profile=profile,
            sizes=everybody.astype(np.float64),
            possible=possible,
        )

    def _people_left(
        self, models: Sequence[PrivacyModel], k: int, alive: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        """Return who is left with k, and the models, of those who are left without."""
        wanted = [*models, KAnonymity(k)] if k > 1 else list(models)
        return self.counter.suppress(self.ids, self.count, wanted, self.gatherer.at_once, alive)

    def _lost(self, alive: NDArray[np.bool_]) -> int:
        return int(alive.size - np.count_nonzero(alive))

    def _smallest(self, alive: NDArray[np.bool_]) -> int:
        """Return the people of the smallest class that is left; 0 if none is."""
        sizes = self.counter.sizes(self.ids, slice(0, self.count), alive)
        sizes = sizes[sizes > 0]
        return int(sizes.min()) if sizes.size else 0
