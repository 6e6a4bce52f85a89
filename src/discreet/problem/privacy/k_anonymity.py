"""k-anonymity: every row is one of k that look the same."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.errors import Argument, UsageError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel
from discreet.runtime.arguments import switch, whole_number
from discreet.runtime.parts import NumberControl

__all__ = ["KAnonymity"]


@PRIVACY.register
@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least ``k`` rows or, if promises count people, ``k`` people.

    With ``profile`` whoever knows all rows of a person still finds ``k`` people: as many have the same released
    quasi-identifiers in all their rows, each equally often. Then every class has ``k`` people, too.

    >>> KAnonymity(5).text, KAnonymity(5, profile=True).text
    ('k(5)', 'k(5, profile=true)')
    """

    name = "k"
    aliases = ("k-anonymity",)
    examples = ("k(5)",)
    title = "Nobody stands out"
    summary = "Every person looks the same as at least so many people together, in all columns others may know."
    term = "k-anonymity"
    prevents = "Being found: a neighbour who knows somebody's age, town and job cannot tell which row is theirs."
    illustration = "With 5, whoever knows that Ann is 34 and lives in Leeds finds five rows or more, not one."
    recommended = True
    rank = 10
    controls = (NumberControl("k", "How many look the same, at least", 5, 2, 100, 1),)
    sentence = "Every person is one of at least {k} who look the same."
    union_closed = True
    superset_closed = True
    favors_even = True

    k: int
    profile: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self.k, "k of k-anonymity", least=1))
        switch(self.profile, "profile of k-anonymity")

    @property
    def words(self) -> str:
        """The promise as a sentence."""
        if not self.profile:
            return super().words
        return f"Every person is one of at least {self.k} whose rows, taken together, look the same."

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it has k rows; profiles are those of people, see ``Problem.profile``."""
        return classes.sizes >= self.k

    def reached(self, groups: Groups) -> float:
        """Return the size of the smallest class, or of the rarest profile if that is what groups are; else infinite."""
        return float(groups.sizes.astype(np.float64).min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the smallest class is large enough."""
        return reached >= self.k

    @property
    def minimum_size(self) -> int:
        """A class needs k rows."""
        return self.k

    def check(self, table: CountTable) -> None:
        """Raise an error if nobody says whose rows a profile is made of, or if the whole table has fewer than k."""
        if self.profile and table.unit != "person":
            raise UsageError(
                f"'{self.text}' looks at all rows of a person; name the column that says whose they are as ",
                Argument("person"),
                ".",
            )
        self.need_rows(table, self.k, f"k can be {table.n:,} at most")
