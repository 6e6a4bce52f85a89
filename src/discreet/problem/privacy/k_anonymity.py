"""k-anonymity: every row is one of k that look the same."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, WEAKER, Groups, PrivacyModel
from discreet.runtime.arguments import one_of, whole_number
from discreet.runtime.parts import NumberControl

__all__ = ["KAnonymity"]


@PRIVACY.register
@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least ``k`` rows.

    ``unknown`` says what a hidden cell (``*``) is. By default it is a ``value`` of its own. With ``matches`` it is
    equal to every value, as sdcMicro and μ-ARGUS count: two rows match if they agree in every quasi-identifier in which
    neither is hidden, and every row must be matched by ``k`` rows, itself included. ``missing`` is the same, and
    missing values are hidden cells too, as in the files those tools write; it is for audits alone. Both are weaker:
    what is hidden may be inferred from rows that are not.

    >>> KAnonymity(5).text, KAnonymity(3, unknown="matches").text
    ('k(5)', 'k(3, unknown=matches)')
    """

    name = "k"
    aliases = ("k-anonymity",)
    examples = ("k(5)", "k(3, unknown=matches)")
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
    unknown: str = field(default="value", kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self.k, "k of k-anonymity", least=1))
        one_of(self.unknown, "The argument unknown of k", ("value", "matches", "missing"))

    @property
    def counts_matches(self) -> bool:
        """Whether a hidden cell is equal to every value."""
        return self.unknown != "value"

    @property
    def missing_matches(self) -> bool:
        """Whether a missing value is a hidden cell."""
        return self.unknown == "missing"

    @property
    def words(self) -> str:
        """The choice as a sentence for reports, which says that counting matches is weaker."""
        return f"Every row is matched by at least {self.k}. {WEAKER}" if self.counts_matches else super().words

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it has k rows, which is enough whatever a hidden cell is."""
        return classes.sizes >= self.k

    def reached(self, groups: Groups) -> float:
        """Return the size of the smallest class, or the fewest rows that match one; infinite if there is no class."""
        return float(groups.sizes.astype(np.float64).min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the smallest class is large enough."""
        return reached >= self.k

    @property
    def minimum_size(self) -> int:
        """A class needs k rows, unless rows of other classes match it."""
        return 1 if self.counts_matches else self.k

    @property
    def needs(self) -> tuple[int, dict[str, int]] | None:
        """A class needs k rows, unless options say what else counts."""
        return (self.k, {}) if self.text == f"k({self.k})" else None

    def check(self, table: CountTable) -> None:
        """Raise an InfeasibleError if the whole table has fewer than k rows."""
        self.need_rows(table, self.k, f"k can be {table.n:,} at most")
