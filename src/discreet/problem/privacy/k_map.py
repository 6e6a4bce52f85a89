"""k-map: every class is likely to have k people in the population, of which the table is a sample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.errors import UsageError
from discreet.problem._checks import number, one_of, whole_number
from discreet.problem._classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel

__all__ = ["KMap"]


@PRIVACY.register
@dataclass(frozen=True)
class KMap(PrivacyModel):
    """Every class stands for at least ``k`` people of the population, as far as its rows in the table can tell.

    The table is taken for a random sample of a ``fraction`` of the population. Of k people about k · fraction are then
    in the table, with a Poisson distribution. A class is ok if it has so many rows that no more than a share
    ``significance`` of classes of k people would have as many, or if it has k rows. The estimator ``truncated`` takes
    into account that a class is only seen if it has a row. These are the estimators D3 and D4 of El Emam and Dankar
    (2008).

    >>> model = KMap(20, 0.1)
    >>> model.text, model.needed
    ('k-map(20, 0.1)', 6)
    """

    name = "k-map"
    union_closed = True
    superset_closed = True
    favors_even = True

    k: int
    fraction: float
    estimator: str = "poisson"
    significance: float = 0.05

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self.k, "k of k-map", least=1))
        number(self.fraction, "The fraction of the population for k-map", above=0, most=1)
        one_of(self.estimator, "The estimator of k-map", ("poisson", "truncated"))
        number(self.significance, "The significance of k-map", above=0, most=0.5)

    @cached_property
    def needed(self) -> int:
        """How many rows a class needs in the table: the fewest with P(X >= rows) <= significance, and k at most."""
        mean = self.k * self.fraction
        chance = math.exp(-mean)
        least_likely = self.significance * (1 - chance if self.estimator == "truncated" else 1.0)
        rows, beyond = 1, 1 - chance
        while rows < self.k and beyond > least_likely:
            chance *= mean / rows
            beyond -= chance
            rows += 1
        return rows

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it has rows enough."""
        return classes.sizes >= self.needed

    def reached(self, groups: Groups) -> float:
        """Return the size of the smallest class; infinite if nothing was released."""
        return float(groups.sizes.astype(np.float64).min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Whether the smallest class has rows enough."""
        return reached >= self.needed

    @property
    def minimum_size(self) -> int:
        """A class needs so many rows."""
        return self.needed

    def check(self, table: CountTable) -> None:
        """Raise a UsageError if the whole table has too few rows."""
        if table.n < self.needed:
            raise UsageError(
                f"'{self.text}' needs classes of {self.needed} rows and the whole table has {table.n}; lower k.",
                topic="never-possible",
            )
