"""Average risk: rows are rarely re-identified on average."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import IntArray
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel
from discreet.problem.privacy._sensitive import TOLERANCE
from discreet.runtime.arguments import number
from discreet.runtime.parts import NumberControl

__all__ = ["AverageRisk"]


@PRIVACY.register
@dataclass(frozen=True)
class AverageRisk(PrivacyModel):
    """The mean over the released rows of 1 / (rows of the class) is at most ``risk``.

    The mean is the number of classes over the number of rows. It is a condition on the whole table: single classes may
    be small.

    >>> AverageRisk(0.05).text
    'average-risk(0.05)'
    """

    name = "average-risk"
    examples = ("average-risk(0.05)",)
    title = "Few are found on average"
    summary = "The chance of picking the right row, on average over all people, is at most this."
    term = "average risk"
    prevents = "Mass re-identification: somebody matches the table with a register of everybody."
    illustration = "With 0.05, one match in twenty is right on average; single people may still stand out."
    rank = 100
    controls = (NumberControl("risk", "Average chance", 0.05, 0.001, 1.0, 0.001),)
    union_closed = True
    superset_closed = True
    of_table = True

    risk: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "risk", number(self.risk, "The average risk", above=0, most=1))

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Every class is ok by itself."""
        return np.ones(len(classes), dtype=np.bool_)

    def holds(self, sizes: IntArray) -> bool:
        """Return whether the number of classes is small enough for the number of rows."""
        return self.satisfied_by(_average_risk(sizes))

    def reached(self, groups: Groups) -> float:
        """Return the number of classes over the number of rows; 0 if there are none."""
        return _average_risk(groups.sizes)

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the mean is low enough."""
        return reached <= self.risk * (1 + TOLERANCE)


def _average_risk(sizes: IntArray) -> float:
    return sizes.size / max(int(sizes.sum()), 1)
