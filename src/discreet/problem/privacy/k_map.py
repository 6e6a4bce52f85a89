"""k-map: every class represents k people of the population the table was drawn from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.errors import InfeasibleError, UsageError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel
from discreet.problem.privacy._sensitive import TOLERANCE
from discreet.runtime.arguments import number, one_of, whole_number
from discreet.runtime.parts import NumberControl

__all__ = ["KMap"]


@PRIVACY.register
@dataclass(frozen=True)
class KMap(PrivacyModel):
    """Every class represents at least ``k`` people of the population the table was drawn from.

    Without a ``fraction`` the people are counted, in a table of the population or by the survey weights of the class.
    With a ``fraction`` the table is taken for a random sample of that fraction of the population, and only its rows are
    counted: the number of rows of k people is then Poisson distributed with mean k · fraction. A class is ok if the
    probability of as many rows is at most ``significance``, or if it has k rows. The estimator ``truncated`` conditions
    on at least one row. These are the estimators D3 and D4 of El Emam and Dankar (2008).

    >>> model = KMap(20, 0.1)
    >>> model.text, model.needed
    ('k-map(20, 0.1)', 6)
    >>> KMap(20).text, KMap(20).looks_at_population
    ('k-map(20)', True)
    """

    name = "k-map"
    examples = ("k-map(20, 0.1)", "k-map(20, 0.1, estimator=truncated)", "k-map(20)")
    title = "Nobody stands out in the population"
    summary = "Every row could be one of so many people of the population the table was drawn from."
    term = "k-map, estimated"
    prevents = "Being found by somebody who does not know who is in the table."
    illustration = "With 20 and a sample of a tenth, each row could be 20 people of the country."
    rank = 120
    controls = (
        NumberControl("k", "People of the population, at least", 20, 2, 1000, 1),
        NumberControl("fraction", "Share of the population that is in the table", 0.1, 0.001, 1.0, 0.001),
    )
    sentence = "Every person looks like at least {k} people of the population."
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
        object.__setattr__(self, "favors_even", False)  # rows may represent different numbers of people

    @property
    def looks_at_population(self) -> bool:
        """People are counted if there is no fraction."""
        return self.fraction is None

    @cached_property
    def needed(self) -> int:
        """The rows a class needs: the fewest with P(X >= rows) <= significance, but at most k; 1 without a fraction."""
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
        """Return for each class whether it has enough rows, or represents enough people."""
        if self.fraction is None:
            return np.asarray(self.people(classes) >= self.k * (1 - TOLERANCE))
        return classes.sizes >= self.needed

    def reached(self, groups: Groups) -> float:
        """Return the rows, or the people, of the smallest class; infinite if there is no class."""
        if self.fraction is not None:
            return float(groups.sizes.astype(np.float64).min(initial=np.inf))
        if groups.population is None:
            raise self.unknown_population_error()
        return float(groups.population.min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the smallest class has enough."""
        return reached >= (self.needed if self.fraction is not None else self.k * (1 - TOLERANCE))

    @property
    def minimum_size(self) -> int:
        """The rows a class needs."""
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
