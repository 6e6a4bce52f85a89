"""Sample uniqueness: few released rows are unique."""

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

__all__ = ["SampleUniqueness"]


@PRIVACY.register
@dataclass(frozen=True)
class SampleUniqueness(PrivacyModel):
    """At most a ``share`` of the released rows are alone in their class.

    It is a condition on the whole table; with a share of 0 it is 2-anonymity.

    >>> SampleUniqueness(0.01).text
    'sample-uniqueness(0.01)'
    """

    name = "sample-uniqueness"
    examples = ("sample-uniqueness(0.01)",)
    title = "Few are alone"
    summary = "At most this share of people have a combination of values that nobody else has."
    term = "sample uniqueness"
    prevents = "Certain matches: rows that only one person can be."
    illustration = "With 0.01, at most one row in a hundred is the only one of its kind."
    rank = 110
    controls = (NumberControl("share", "Largest share of people", 0.01, 0.001, 1.0, 0.001),)
    union_closed = True
    superset_closed = True
    of_table = True

    share: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", number(self.share, "The share of unique rows", least=0, most=1))

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Every class is ok by itself."""
        return np.ones(len(classes), dtype=np.bool_)

    def holds(self, sizes: IntArray) -> bool:
        """Return whether few enough rows are unique."""
        return self.satisfied_by(_share_of_uniques(sizes))

    def reached(self, groups: Groups) -> float:
        """Return the share of rows that are unique; 0 if there are none."""
        return _share_of_uniques(groups.sizes)

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the share is low enough."""
        return reached <= self.share * (1 + TOLERANCE)


def _share_of_uniques(sizes: IntArray) -> float:
    return int(np.count_nonzero(sizes == 1)) / max(int(sizes.sum()), 1)
