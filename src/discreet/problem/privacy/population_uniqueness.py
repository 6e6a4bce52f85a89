"""Population uniqueness: few people of the population are estimated to be unique."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray
from discreet.errors import UsageError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel
from discreet.problem.privacy._sensitive import TOLERANCE
from discreet.problem.uniqueness import MODELS, estimate_by
from discreet.runtime.arguments import number, one_of, whole_number
from discreet.runtime.parts import ChoiceControl, NumberControl
from discreet.runtime.plurals import amount

__all__ = ["PopulationUniqueness"]


@PRIVACY.register
@dataclass(frozen=True)
class PopulationUniqueness(PrivacyModel):
    """At most a ``share`` of the people of the population are unique in it, as ``model`` estimates.

    The released rows are taken for a random sample of ``population`` people. How many of these have quasi-identifiers
    that nobody else has is estimated from the sizes of the released classes, by the model of Pitman, Zayatz or SNB, or
    by the one that the rule of Dankar et al. (2012) chooses (``dankar``), as in ARX. It is a condition on the whole
    table. If no released row is unique, nobody is estimated to be; if a model does not fit, the condition does not
    hold. Estimates may rise as values get coarser, so that no flag is set.

    >>> model = PopulationUniqueness(0.01, "dankar", 300_000)
    >>> model.text
    'population-uniqueness(0.01, dankar, 300000)'
    >>> model.holds(np.repeat([1, 2], [900, 50])), model.holds(np.repeat([2, 5], [200, 400]))
    (False, True)
    """

    name = "population-uniqueness"
    examples = ("population-uniqueness(0.01, dankar, 300000)",)
    title = "Few are unique in the population"
    summary = "Of the population the table was drawn from, at most this share of people are estimated to be unique."
    term = "population uniqueness"
    prevents = "Certain matches by somebody who does not know who is in the table."
    illustration = "With 0.01, an estimated one person in a hundred of the country at most has values nobody else has."
    rank = 130
    controls = (
        NumberControl("share", "Largest share of people", 0.01, 0.001, 1.0, 0.001),
        ChoiceControl(
            "model",
            "Estimated by",
            {
                "dankar": "the rule that chooses (Dankar)",
                "pitman": "Pitman",
                "zayatz": "Zayatz",
                "snb": "negative binomial (SNB)",
            },
        ),
        NumberControl("population", "People in the population", 1000000, 1, 10000000000, 1),
    )
    of_table = True
    sentence = "At most a share of {share} of a population of {population} people are estimated to be unique ({model})."

    share: float
    model: str
    population: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", number(self.share, "The share of unique people", least=0, most=1))
        one_of(self.model, "The model of population-uniqueness", MODELS)
        people = whole_number(self.population, "The population of population-uniqueness", least=1)
        object.__setattr__(self, "population", people)

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Every class is ok by itself."""
        return np.ones(len(classes), dtype=np.bool_)

    def holds(self, sizes: IntArray) -> bool:
        """Return whether few enough people are estimated to be unique."""
        return self.satisfied_by(self._estimated(sizes))

    def reached(self, groups: Groups) -> float:
        """Return the estimated share of unique people; 0 if there are no rows, infinite if the model does not fit."""
        return self._estimated(groups.sizes)

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the share is low enough."""
        return reached <= self.share * (1 + TOLERANCE)

    def check(self, table: CountTable) -> None:
        """Raise a UsageError if the table has more rows than the population people."""
        if table.n > self.population:
            raise UsageError(
                f"'{self.text}' assumes a population of {self.population:,} people, and the table alone has "
                f"{amount(table.n, 'row')}; give the size of the population they were drawn from."
            )

    def _estimated(self, sizes: IntArray) -> float:
        people = max(self.population, int(sizes.sum()))
        found = estimate_by(self.model, *np.unique(sizes, return_counts=True), people)
        return math.inf if found is None else found / people
