"""Lower bounds on what the rows of classes cost, with any privacy models, cost and suppression.

Rows that share a class in a recoding share one in every more general recoding, so they cost at least their *floor*
there. A class that breaks a model of its own accord is divided in every more specific recoding, and some of its rows or
values are suppressed there however it is: these are *forced*. A node of a search that lies between a most specific and
a most general recoding costs at least the floors of the one and what the other forces.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.problem import Classes, Problem
from discreet.problem.costs import AttributeCosts

__all__ = ["ClassBounds"]


class ClassBounds:
    """Bounds the cost of classes of one problem; everything is 0 where the problem gives no hold."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.hides = problem.suppression.hides_values
        self.divided = problem.whole_people or (problem.divided is not None and not self.hides)
        self.models = [model for model in problem.privacy if not (self.hides and model.looks_at_sensitive)]
        """Those that suppressing values cannot mend, where values are suppressed."""
        self.superset_closed = all(model.superset_closed for model in self.models)
        self.union_closed = all(model.union_closed for model in self.models) and not problem.varying
        self.smallest = max((model.smallest(problem.whole.units) for model in self.models), default=1)
        self.value_penalty = problem.cost.value_penalty(problem.table) or 0.0 if self.hides else 0.0

    def floors(self, classes: Classes) -> FloatArray:
        """Return a lower bound on what the rows of each class cost in this recoding and in any more general one."""
        cost = self.problem.cost
        if not cost.additive or not cost.superadditive:
            return np.zeros(len(classes))
        return cost.divided_floor(classes) if self.divided else cost.floor(classes, self.smallest)

    def margins(self, classes: Classes, largest: IntArray | None = None) -> FloatArray:
        """Return a lower bound on what each suppressed row of a class adds to its floor.

        ``largest`` is the most rows of a class that they may be in; by default it is their own class.
        """
        cost = self.problem.cost
        if not cost.additive or not cost.superadditive:
            return np.zeros(len(classes))
        if self.divided:
            return cost.divided_margin(classes, classes.sizes if largest is None else largest)
        return cost.margin(classes, self.smallest)

    def by_attribute(self, classes: Classes) -> AttributeCosts | None:
        """Return floors and margins by attribute; None if the cost is no such sum, or removing rows may pay."""
        cost = self.problem.cost
        if not cost.additive or not cost.superadditive or (self.divided and not cost.removal_never_pays):
            return None
        return cost.by_attribute(classes)

    def forced_rows(self, classes: Classes, ok: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return how many rows, or people, of each class are suppressed at least, here and in any more specific one.

        Where only values are suppressed, a forced row means that there is no valid recoding. ``ok`` says which classes
        satisfy :attr:`models`, if the caller knows.
        """
        if ok is None:
            ok = np.ones(len(classes), dtype=np.bool_)
            for model in self.models:
                ok &= model.ok(classes.judged)
        sizes = classes.judged.sizes
        if self.superset_closed:
            return np.where(ok, 0, sizes).astype(np.int64)
        forced = np.zeros(len(classes), dtype=np.int64)
        for model in self.models:
            np.maximum(forced, self.problem.fewest_removed_by(model, classes), out=forced)
        forced = np.where(sizes - forced < self.smallest, sizes, forced)
        if self.union_closed:
            # If all parts of the class below were ok, so would be their union, the class itself.
            forced = np.where(ok, forced, np.maximum(forced, 1))
        return forced.astype(np.int64)

    def forced_cost(self, classes: Classes) -> FloatArray:
        """Return what the suppressed values of each class cost at least, here and in any more specific recoding."""
        if not self.value_penalty:
            return np.zeros(len(classes))
        fewest = self.problem.suppression.fewest_values(classes, self.problem.privacy)
        return np.asarray(self.value_penalty * fewest, dtype=np.float64)
