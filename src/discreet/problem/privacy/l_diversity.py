"""Distinct l-diversity: every class has several sensitive values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups
from discreet.problem.privacy._sensitive import SensitiveModel
from discreet.runtime.arguments import column_name, whole_number
from discreet.runtime.parts import NumberControl

__all__ = ["LDiversity"]


@PRIVACY.register
@dataclass(frozen=True)
class LDiversity(SensitiveModel):
    """At least ``l`` different known values of the sensitive attribute occur in every class.

    >>> LDiversity(3, "disease").text
    'distinct-l(3, disease)'
    """

    name = "distinct-l"
    aliases = ("l", "l-diversity")
    examples = ("distinct-l(3, disease)",)
    title = "No group gives itself away"
    summary = "People who look the same have at least so many different values of the sensitive column."
    term = "distinct l-diversity"
    prevents = "Learning a secret without finding the row: everybody in the group has the same illness."
    illustration = "With 3, the five rows that could be Ann's name three illnesses or more."
    rank = 20
    controls = (NumberControl("l", "Different values, at least", 3, 2, 20, 1),)
    sentence = "People who look the same have at least {l} different values of {attribute}."
    plain = ("attribute",)
    union_closed = True
    superset_closed = True
    favors_even = True

    l: int  # noqa: E741 - the name everyone knows it by
    attribute: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", whole_number(self.l, "l of distinct l-diversity", least=1))
        column_name(self.attribute, "The attribute of distinct l-diversity")

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether l values occur in it."""
        return np.asarray(np.count_nonzero(self.counts(classes), axis=1) >= self.l)

    def reached(self, groups: Groups) -> float:
        """Return the fewest values of a class; classes whose values were all suppressed do not count."""
        different = np.bincount(groups.group[groups.count > 0], minlength=groups.sizes.size)
        return float(different[groups.judged].astype(np.float64).min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the class with the fewest values has enough."""
        return reached >= self.l

    @property
    def minimum_size(self) -> int:
        """Different values come from different rows."""
        return self.l

    @property
    def needs(self) -> tuple[int, dict[str, int]] | None:
        """A class needs l different values."""
        return None if self.attribute is None else (1, {self.attribute: self.l})

    def check(self, table: CountTable) -> None:
        """Raise an InfeasibleError if the whole table has fewer than l values."""
        self.need_values(table, self.l)
