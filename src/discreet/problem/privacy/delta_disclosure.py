"""delta-disclosure privacy: no class says much more, or much less, about a sensitive value than the whole table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import FloatArray
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups
from discreet.problem.privacy._sensitive import TOLERANCE, SensitiveModel
from discreet.runtime.arguments import column_name, number
from discreet.runtime.parts import NumberControl

__all__ = ["DeltaDisclosure"]


@PRIVACY.register
@dataclass(frozen=True)
class DeltaDisclosure(SensitiveModel):
    """For every value of a class, |ln (q / p)| < ``delta``: q is its share there, p that in the whole table.

    As in ARX, values that do not occur in a class do not count, so that the union of two ok classes may fail; Brickell
    and Shmatikov (2008) count all values. ARX takes the logarithm to base 2: its delta is this one divided by ln 2.

    >>> DeltaDisclosure(1.2, "disease").text
    'delta-disclosure(1.2, disease)'
    """

    name = "delta-disclosure"
    examples = ("delta-disclosure(1.2, disease)",)
    title = "Groups tell next to nothing"
    summary = "Among people who look the same, every value is about as frequent as in the whole table, up or down."
    term = "δ-disclosure privacy"
    prevents = "Learning that somebody is more likely, or less likely, to have a value than anybody else."
    illustration = "With 1, no illness is more than 2.7 times as frequent in a group as among everybody, or as rare."
    rank = 90
    controls = (NumberControl("delta", "Largest difference (logarithm)", 1.0, 0.1, 5.0, 0.1),)
    sentence = (
        "Among people who look the same, the values of {attribute} are about as frequent as in the whole table: "
        "within a factor of e to the power of {delta}."
    )
    plain = ("attribute",)

    delta: float
    attribute: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", number(self.delta, "delta of delta-disclosure", above=0))
        column_name(self.attribute, "The attribute of delta-disclosure")

    @property
    def compares(self) -> bool:
        """Classes are compared with the whole table."""
        return True

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether every value that occurs is about as frequent as in the whole table."""
        counts = self.counts(classes)
        q = counts / np.maximum(self.known(classes), 1)[:, np.newaxis]
        p = np.broadcast_to(self.histogram(classes.table).shares, q.shape)
        ratio = np.divide(q, p, out=np.ones_like(q), where=counts > 0)
        return np.asarray((np.abs(np.log(ratio)) < self._limit).all(axis=1))

    @property
    def _limit(self) -> float:
        """The limit less the tolerance: what is below it by rounding alone is refused."""
        return self.delta - (1 + self.delta) * TOLERANCE

    def reached(self, groups: Groups) -> float:
        """Return the largest |ln (q / p)| of a value that occurs in a class."""
        p = groups.whole[groups.value] / max(int(groups.whole.sum()), 1)
        logs: FloatArray = np.abs(np.log(groups.distribution) - np.log(p))
        return float(logs.max(initial=0.0))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether no value is much more or much less frequent."""
        return not math.isnan(reached) and reached < self._limit
