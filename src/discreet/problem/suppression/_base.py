"""The base class of suppression kinds: what happens to a class that is not ok."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PrivacyModel
from discreet.problem.suppression._shared import one_attribute
from discreet.runtime.parts import Family, Part

__all__ = ["SUPPRESSION", "Suppressed", "Suppression"]


@dataclass(frozen=True, eq=False)
class Suppressed:
    """The rows and values of each class that are suppressed."""

    records: NDArray[np.int64]
    """Records of each class that are suppressed."""
    values: NDArray[np.int64]
    """Sensitive values of each class that are suppressed; their records stay."""
    feasible: NDArray[np.bool_]
    """False for classes that the kind cannot mend."""
    removed: NDArray[np.int64] | None = None
    """(c, v) suppressed records or values by sensitive value, if only some of a class are."""


class Suppression(Part, ABC):
    """What happens to a class that is not ok.

    A solver applies the kinds it names in ``Solver.suppressions``. If it names ``budget``, it applies every kind with
    ``is_budget``.
    """

    whole_classes: ClassVar[bool] = True
    """Classes are published or suppressed as a whole.

    If it is wrong, solvers ignore ``removed``, and the audit refuses the release.
    """
    hides_values: ClassVar[bool] = False
    """Sensitive values are suppressed and their records stay.

    If it is wrong, records are removed instead of values, or the cost of values is not counted.
    """

    hides_too_frequent: ClassVar[bool] = False
    """A value is hidden only where it is too frequent, or with others so that it stays ambiguous.

    If it is wrong, evaluations rule out values that a hidden one can be, or fail to.
    """
    is_budget: ClassVar[bool] = False
    """Classes that are not ok are suppressed as a whole, up to :meth:`budget` records, and nothing else.

    If it is wrong, solvers suppress something else than :meth:`apply`.
    """

    def budget(self, n: int) -> int:
        """Return the most of ``n`` records that may be suppressed."""
        return n

    @property
    def of_people(self) -> bool:
        """Whether its budget is one of people, who are suppressed with all their rows, if promises count people."""
        return False

    @property
    def keeps_ambiguous(self) -> bool:
        """Whether it promises that nobody can tell what a hidden value is, which the audit checks."""
        return False

    def note(self, n: int) -> str | None:
        """Return a note for whoever chose this kind for a table of ``n`` rows, or people, or None."""
        return None

    def before(self, table: CountTable) -> NDArray[np.bool_] | None:
        """Return the tuples to suppress before the search; None if the search decides."""
        return None

    def check(self, models: Sequence[PrivacyModel]) -> None:
        """Raise an UnsupportedCombinationError if the kind cannot mend classes that break one of the models."""

    def divided(self, models: Sequence[PrivacyModel]) -> str | None:
        """Return the sensitive attribute by whose values parts of classes are suppressed, or None."""
        return None if self.whole_classes else one_attribute(self.name, models)

    @abstractmethod
    def apply(self, classes: Classes, models: Sequence[PrivacyModel]) -> Suppressed:
        """Return what to suppress in each class so that the rest is ok."""

    def redrawn(
        self,
        classes: Classes,
        models: Sequence[PrivacyModel],
        hidden: NDArray[np.bool_],
        random: Callable[[], Random],
    ) -> NDArray[np.bool_]:
        """Return the values of each class to hide, (c, v): those given, or others drawn among equally good ones.

        Called after the search if ``keeps_ambiguous`` is set. The cost must stay the same.
        """
        return hidden

    def fewest_values(self, classes: Classes, models: Sequence[PrivacyModel]) -> NDArray[np.int64]:
        """Return a lower bound on the values suppressed in the rows of each class, however it may be divided.

        Called only if ``hides_values`` is set. The default is 0.
        """
        return np.zeros(len(classes), dtype=np.int64)


SUPPRESSION: Family[Suppression] = Family(
    "suppression",
    Suppression,  # type: ignore[type-abstract]
    "discreet.problem.suppression",
    "discreet.suppression",
)
