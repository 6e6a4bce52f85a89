"""Population uniqueness: few people of the population are estimated to be unique by what is released."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet._words import amount
from discreet.counts import CountTable, IntArray
from discreet.errors import UsageError
from discreet.problem._checks import number, one_of, whole_number
from discreet.problem._classes import Classes
from discreet.problem._uniques import MODELS, estimate_by
from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel
from discreet.problem.privacy._sensitive import TOLERANCE

__all__ = ["PopulationUniqueness"]


@PRIVACY.register
@dataclass(frozen=True)
class PopulationUniqueness(PrivacyModel):
    """At most a ``share`` of the population's people are unique in it, as the model ``model`` estimates.

    The released rows are taken for a random sample of ``population`` people. How many of those nobody is like by their
    quasi-identifiers is estimated from the sizes of the released classes: by Pitman's, Zayatz' or the SNB model, or by
    the one of them that the rule of Dankar et al. (2012) takes (``dankar``), as in ARX. It is a condition on the whole
    table. Without a released row that stands alone nobody is estimated to be unique; where a model does not fit, the
    condition does not hold. An estimate may rise as values get coarser, so that a search can rely on nothing.

    >>> model = PopulationUniqueness(0.01, "dankar", 300_000)
    >>> model.text
    'population-uniqueness(0.01, dankar, 300000)'
    >>> model.holds(np.repeat([1, 2], [900, 50])), model.holds(np.repeat([2, 5], [200, 400]))
    (False, True)
    """

    name = "population-uniqueness"
    of_table = True
    saying = "At most a share of {share} of a population of {population} people are estimated to be unique ({model})."

    share: float
    model: str
    population: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", number(self.share, "The share of unique people", least=0, most=1))
        one_of(self.model, "The model of population-uniqueness", MODELS)
        people = whole_number(self.population, "The population of population-uniqueness", least=1)
        object.__setattr__(self, "population", people)

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return that every class is ok by itself."""
        return np.ones(len(classes), dtype=np.bool_)

    def holds(self, sizes: IntArray) -> bool:
        """Return whether few enough people are estimated to be unique."""
        return self.satisfied_by(self._estimated(sizes))

    def reached(self, groups: Groups) -> float:
        """Return the estimated share of unique people; 0 if nothing was released, infinite where nothing fits."""
        return self._estimated(groups.sizes)

    def satisfied_by(self, reached: float) -> bool:
        """Whether the share is low enough."""
        return reached <= self.share * (1 + TOLERANCE)

    def check(self, table: CountTable) -> None:
        """Raise a UsageError if the table has more rows than the population people."""
        if table.n > self.population:
            raise UsageError(
                f"'{self.text}' speaks of a population of {self.population:,} people and the table alone has "
                f"{amount(table.n, 'row')}; give the size of the population they were drawn from."
            )

    def _estimated(self, sizes: IntArray) -> float:
        people = max(self.population, int(sizes.sum()))
        found = estimate_by(self.model, *np.unique(sizes, return_counts=True), people)
        return math.inf if found is None else found / people
