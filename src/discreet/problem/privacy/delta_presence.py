"""δ-presence: whether somebody of the population is in the table stays uncertain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray, IntArray
from discreet.errors import UsageError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel
from discreet.problem.privacy._sensitive import TOLERANCE
from discreet.runtime.arguments import number

__all__ = ["DeltaPresence"]


@PRIVACY.register
@dataclass(frozen=True)
class DeltaPresence(PrivacyModel):
    """Of the people with the released values of a class, a share of ``least`` to ``most`` is in the class.

    That share is the probability that a person of the population with these values is in the table (Nergiz, Atzori and
    Clifton 2007). As in ARX only released classes count: people whose values no class has are known not to be in the
    table.

    >>> DeltaPresence(0.1, 0.6).text
    'delta-presence(0.1, 0.6)'
    """

    name = "delta-presence"
    aliases = ("d-presence", "presence")
    examples = ("delta-presence(0.1, 0.6)",)
    title = "Nobody learns who is in the table"
    summary = "Of the people who look the same, the share that is in the table lies between two limits."
    term = "δ-presence"
    prevents = "Learning that somebody is in the table, and so that they are ill: everybody of that age in the town is."
    illustration = "With 0.1 and 0.6, at most 6 in 10 of the people who could be Ann are in the table."
    in_studio = False
    sentence = "Of the people who look the same, a share of {least} to {most} is in the table."

    least: float
    most: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "least", number(self.least, "The least share of delta-presence", least=0, most=1))
        object.__setattr__(self, "most", number(self.most, "The greatest share of delta-presence", above=0, most=1))
        if self.least > self.most:
            raise UsageError("The least share of delta-presence comes first and must not be above the greatest.")
        # People who are not in the table can only lower the share of a class.
        object.__setattr__(self, "union_closed", self.least == 0)

    @property
    def looks_at_population(self) -> bool:
        """Shares are those of the people of the population."""
        return True

    @property
    def promised(self) -> float:
        """The greatest share."""
        return self.most

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether its share is within the limits."""
        people = self.people(classes)
        enough = classes.sizes >= self.least * (1 - TOLERANCE) * people
        return np.asarray(enough & (classes.sizes <= self.most * (1 + TOLERANCE) * people))

    def reached(self, groups: Groups) -> float:
        """Return the greatest share of a class, or the least if that is too low."""
        if groups.population is None:
            raise self.unknown_population_error()
        shares = _shares(groups.sizes, groups.population)
        lowest = float(shares.min(initial=np.inf))
        return float(shares.max(initial=self.least)) if lowest >= self.least * (1 - TOLERANCE) else lowest

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the share is within the limits."""
        return self.least * (1 - TOLERANCE) <= reached <= self.most * (1 + TOLERANCE)


def _shares(sizes: IntArray, people: FloatArray) -> FloatArray:
    """Return the rows per person of each class; infinite if the population lacks the people of a class."""
    return np.asarray(np.divide(sizes, people, out=np.full(sizes.size, np.inf), where=people > 0))
