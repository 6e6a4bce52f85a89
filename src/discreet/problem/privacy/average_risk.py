"""Average risk: a row picked at random from the release is rarely re-identified."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.problem._checks import number
from discreet.problem._classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel
from discreet.problem.privacy._sensitive import TOLERANCE

__all__ = ["AverageRisk"]


@PRIVACY.register
@dataclass(frozen=True)
class AverageRisk(PrivacyModel):
    """The mean over the released rows of 1 / (rows of the class) is at most ``risk``.

    That mean is the number of classes divided by the number of rows. It is a condition on the whole table: single
    classes may be small.

    >>> AverageRisk(0.05).text
    'average-risk(0.05)'
    """

    name = "average-risk"
    union_closed = True
    superset_closed = True
    of_table = True

    risk: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "risk", number(self.risk, "The average risk", above=0, most=1))

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return that every class is ok by itself."""
        return np.ones(len(classes), dtype=np.bool_)

    def holds(self, sizes: IntArray) -> bool:
        """Return whether there are few enough classes for so many rows."""
        return self.satisfied_by(_average_risk(sizes))

    def reached(self, groups: Groups) -> float:
        """Return the classes divided by the rows; 0 if nothing was released."""
        return _average_risk(groups.sizes)

    def satisfied_by(self, reached: float) -> bool:
        """Whether the mean is low enough."""
        return reached <= self.risk * (1 + TOLERANCE)


def _average_risk(sizes: IntArray) -> float:
    return sizes.size / max(int(sizes.sum()), 1)
