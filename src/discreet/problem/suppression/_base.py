"""What suppression is: what happens to a class that is not ok."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.problem._classes import Classes
from discreet.problem._family import Family, Part
from discreet.problem.privacy._base import PrivacyModel
from discreet.problem.suppression._shared import one_attribute

__all__ = ["SUPPRESSION", "Suppressed", "Suppression"]


@dataclass(frozen=True, eq=False)
class Suppressed:
    """What one suppression kind does to each class.

    ``records[c]`` rows of class ``c`` are not published; ``values[c]`` of its sensitive values become
    unknown; ``feasible[c]`` is False where the kind cannot mend the class. Where single sensitive values go,
    ``removed[c, v]`` says how many of each.
    """

    records: NDArray[np.int64]
    values: NDArray[np.int64]
    feasible: NDArray[np.bool_]
    removed: NDArray[np.int64] | None = None


class Suppression(Part, ABC):
    """What happens to a class that is not ok."""

    whole_classes: ClassVar[bool] = True
    """Classes are published or suppressed as a whole; nothing inside a class is touched."""
    hides_values: ClassVar[bool] = False
    """Sensitive values become unknown and their records stay."""

    def budget(self, n: int) -> int:
        """Return how many of ``n`` records may be suppressed at most."""
        return n

    def note(self, n: int) -> str | None:
        """Return what somebody who chose it for a table of ``n`` rows should know; None if there is nothing."""
        return None

    def before(self, table: CountTable) -> NDArray[np.bool_] | None:
        """Return which tuples are suppressed before the search, or None if it is the search that decides."""
        return None

    def check(self, models: Sequence[PrivacyModel]) -> None:
        """Raise an UnsupportedCombinationError if the kind cannot mend what one of the models may find."""

    def divided(self, models: Sequence[PrivacyModel]) -> str | None:
        """Return the sensitive attribute by whose values classes may lose a part, or None if they never do."""
        return None if self.whole_classes else one_attribute(self.name, models)

    @abstractmethod
    def apply(self, classes: Classes, models: Sequence[PrivacyModel]) -> Suppressed:
        """Return what is suppressed in each class so that the rest is ok."""


SUPPRESSION: Family[Suppression] = Family(
    "suppression",
    Suppression,  # type: ignore[type-abstract]
    "discreet.problem.suppression",
    "discreet.suppression",
)
