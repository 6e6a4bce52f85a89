"""(alpha, k)-anonymity: large classes in which no sensitive value is too frequent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.errors import UsageError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups
from discreet.problem.privacy._sensitive import TOLERANCE
from discreet.problem.privacy._thresholds import ThresholdModel
from discreet.runtime.arguments import column_name, number, whole_number
from discreet.runtime.parts import NumberControl

__all__ = ["AlphaKAnonymity"]

_MOST = 2.0**62
"""More rows than any table has."""


@PRIVACY.register
@dataclass(frozen=True)
class AlphaKAnonymity(ThresholdModel):
    """Every class has at least ``k`` rows, and no sensitive value more than a share ``alpha`` of the known ones.

    This is the general (alpha, k)-anonymity of Wong, Li, Fu and Wang (2006), which is ``k`` and ``l+`` in one. If
    values may be suppressed, which cannot mend a class that is too small, give these two instead.

    >>> AlphaKAnonymity(0.5, 5, "disease").text
    'alpha-k(0.5, 5, disease)'
    """

    name = "alpha-k"
    examples = ("alpha-k(0.5, 5, disease)",)
    title = "Nobody stands out, and no value is too likely"
    summary = "Every person looks the same as so many, and no sensitive value has a larger share of them than this."
    term = "(α, k)-anonymity"
    prevents = "Being found, and a good guess at the secret, both at once."
    illustration = "With 0.5 and 5, Ann is one of five or more, of whom at most half have the same illness."
    rank = 70
    controls = (
        NumberControl("alpha", "Largest share of a value", 0.5, 0.01, 1.0, 0.01),
        NumberControl("k", "How many look the same, at least", 5, 2, 100, 1),
    )
    sentence = (
        "Every person is one of at least {k} who look the same, and no value of {attribute} has a larger share of "
        "them than {alpha}."
    )
    plain = ("attribute",)
    by_thetas = True

    alpha: float
    k: int
    attribute: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", number(self.alpha, "alpha of (alpha, k)-anonymity", above=0, most=1))
        object.__setattr__(self, "k", whole_number(self.k, "k of (alpha, k)-anonymity", least=1))
        column_name(self.attribute, "The attribute of (alpha, k)-anonymity")

    def thetas(self, totals: IntArray, names: Sequence[str]) -> FloatArray:
        """Return alpha for each value."""
        return np.full(totals.size, float(self.alpha))

    def smallest(self, table: CountTable) -> int:
        """Return the least size of an ok class: k if some values are not known."""
        return max(self.k, super().smallest(table))

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it is large enough and no value is too frequent."""
        return np.asarray(super().ok(classes) & (classes.sizes >= self.k))

    def fewest_removed(self, classes: Classes) -> NDArray[np.int64]:
        """Return the fewest rows to remove so that no value is too frequent; all of them if too few stay."""
        removed = super().fewest_removed(classes)
        return np.where(classes.sizes - removed < self.k, classes.sizes, removed)

    def reached(self, groups: Groups) -> float:
        """Return the largest share of a value in a class; infinite if a class is too small."""
        if (groups.sizes < self.k).any():
            return math.inf
        return float(groups.shares.max(initial=0.0))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether no value is too frequent."""
        return reached <= self.alpha * (1 + TOLERANCE)

    @property
    def minimum_size(self) -> int:
        """A class needs k rows, and a single row is a share of 1/size."""
        return max(self.k, math.ceil((1 - TOLERANCE) / self.alpha))

    def fits(self, table: CountTable) -> None:
        """Raise a UsageError: called without :meth:`check` only if values may be suppressed."""
        raise UsageError(
            f"'{self.text}' does not work with a suppression that hides values, which can mend its share but not its "
            f"size; give k({self.k}) and l+({self.alpha:g}) instead.",
            column=self.column,
        )

    def check(self, table: CountTable) -> None:
        """Raise an InfeasibleError if no row could ever be published."""
        self.need_rows(table, self.k, f"k can be {table.n:,} at most")
        if not self.histogram(table).missing:
            self.need_values(table, math.ceil(min((1 - TOLERANCE) / self.alpha, _MOST)))
