"""k-map: every class has k people in the population the table was drawn from, or is likely to have them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.errors import InfeasibleError, UsageError
from discreet.problem._checks import number, one_of, whole_number
from discreet.problem._classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel
from discreet.problem.privacy._sensitive import TOLERANCE

__all__ = ["KMap"]


@PRIVACY.register
@dataclass(frozen=True)
class KMap(PrivacyModel):
    """Every class stands for at least ``k`` people of the population the table was drawn from.

    Without a ``fraction`` the people are counted: in a table of the population, or by adding up the survey weights of
    the class. With one the table is taken for a random sample of that fraction of the population, and only its rows
    are counted. Of k people about k · fraction are then in the table, with a Poisson distribution. A class is ok if it
    has so many rows that no more than a share ``significance`` of classes of k people would have as many, or if it has
    k rows. The estimator ``truncated`` takes into account that a class is only seen if it has a row. These are the
    estimators D3 and D4 of El Emam and Dankar (2008).

    >>> model = KMap(20, 0.1)
    >>> model.text, model.needed
    ('k-map(20, 0.1)', 6)
    >>> KMap(20).text, KMap(20).looks_at_population
    ('k-map(20)', True)
    """

    name = "k-map"
    saying = "Every person looks like at least {k} people of the population."
    plain = ("fraction",)
    union_closed = True
    superset_closed = True
    favors_even = True

    k: int
    fraction: float | None = None
    estimator: str = "poisson"
    significance: float = 0.05

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self.k, "k of k-map", least=1))
        one_of(self.estimator, "The estimator of k-map", ("poisson", "truncated"))
        number(self.significance, "The significance of k-map", above=0, most=0.5)
        if self.fraction is not None:
            number(self.fraction, "The fraction of the population for k-map", above=0, most=1)
            return
        if (self.estimator, self.significance) != ("poisson", 0.05):
            raise UsageError("k-map estimates from a fraction of the population; give it, as in k-map(20, 0.1).")
        object.__setattr__(self, "favors_even", False)  # one row may stand for more people than another

    @property
    def looks_at_population(self) -> bool:
        """Without a fraction people are counted."""
        return self.fraction is None

    @cached_property
    def needed(self) -> int:
        """How many rows a class needs in the table.

        With a fraction that is the fewest with P(X >= rows) <= significance, and k at most.
        """
        if self.fraction is None:
            return 1
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
        """Return for each class whether it has rows, or stands for people, enough."""
        if self.fraction is None:
            return np.asarray(self.people(classes) >= self.k * (1 - TOLERANCE))
        return classes.sizes >= self.needed

    def reached(self, groups: Groups) -> float:
        """Return the rows, or the people, of the smallest class; infinite if nothing was released."""
        if self.fraction is not None:
            return float(groups.sizes.astype(np.float64).min(initial=np.inf))
        if groups.population is None:
            raise self.nobody_known()
        return float(groups.population.min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Whether the smallest class has enough."""
        return reached >= (self.needed if self.fraction is not None else self.k * (1 - TOLERANCE))

    @property
    def minimum_size(self) -> int:
        """A class needs so many rows."""
        return self.needed

    def check(self, table: CountTable) -> None:
        """Raise an error if the whole table has too few rows, or the population too few people."""
        self.fits(table)
        self.need_rows(table, self.needed, "lower k")
        if self.fraction is None and table.population is not None and table.population.size < self.k * (1 - TOLERANCE):
            raise InfeasibleError(
                f"'{self.text}' needs {self.k:,} people in each class and the whole population has "
                f"{table.population.size:,.15g}; lower k.",
                topic="never-possible",
            )
