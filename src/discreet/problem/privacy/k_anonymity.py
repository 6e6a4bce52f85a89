"""k-anonymity: nobody can be told apart from fewer than k rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.problem._checks import whole_number
from discreet.problem._classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel

__all__ = ["KAnonymity"]


@PRIVACY.register
@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least ``k`` rows.

    >>> KAnonymity(5).text
    'k(5)'
    """

    name = "k"
    aliases = ("k-anonymity",)
    saying = "Every person is one of at least {k} who look the same."
    union_closed = True
    superset_closed = True
    favors_even = True

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self.k, "k of k-anonymity", least=1))

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it has k rows."""
        return classes.sizes >= self.k

    def reached(self, groups: Groups) -> float:
        """Return the size of the smallest class; infinite if nothing was released."""
        return float(groups.sizes.astype(np.float64).min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Whether the smallest class is large enough."""
        return reached >= self.k

    @property
    def minimum_size(self) -> int:
        """A class needs k rows."""
        return self.k

    def check(self, table: CountTable) -> None:
        """Raise an InfeasibleError if the whole table has fewer than k rows."""
        self.need_rows(table, self.k, f"k can be {table.n:,} at most")
