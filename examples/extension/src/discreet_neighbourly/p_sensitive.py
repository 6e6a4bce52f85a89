"""p-sensitive k-anonymity (Truta and Vinay 2006): large classes, each with several sensitive values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UsageError
from discreet.problem import Classes, Groups, PrivacyModel

__all__ = ["PSensitive"]


@dataclass(frozen=True)
class PSensitive(PrivacyModel):
    """Every class has at least ``k`` rows and at least ``p`` different values of the sensitive attribute.

    >>> PSensitive(2, 5, "diagnosis").text
    'p-sensitive(2, 5, diagnosis)'
    """

    name: ClassVar[str] = "p-sensitive"
    plain: ClassVar[tuple[str, ...]] = ("attribute",)
    sentence: ClassVar[str] = "Everybody is one of {k} who look the same, with {p} different values of {attribute}."
    looks_at_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True  # two such classes together are no smaller and no less diverse
    superset_closed: ClassVar[bool] = True  # and neither are those with any rows added

    p: int
    k: int
    attribute: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.p <= self.k:
            raise UsageError("p-sensitive needs whole numbers p and k with 1 ≤ p ≤ k.", topic="parameter")

    @property
    def minimum_size(self) -> int:
        """No class with fewer rows is ok."""
        return self.k

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it is large and diverse enough."""
        different = (classes.sensitive[str(self.attribute)] > 0).sum(axis=1)
        return np.asarray((classes.sizes >= self.k) & (different >= self.p))

    def reached(self, groups: Groups) -> float:
        """Measure the p that a released table attains, apart from ``ok``; 0 if a class has fewer than k rows."""
        different = np.zeros(groups.sizes.size, dtype=np.int64)
        np.add.at(different, groups.group, 1)
        attained = np.where(groups.judged, different, np.inf)  # a class whose values were hidden gives none away
        return float(np.where(groups.sizes >= self.k, attained, 0).min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Whether the promise is kept by what was measured."""
        return reached >= self.p
