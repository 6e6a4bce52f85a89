"""beta-likeness: in no class is a sensitive value much more frequent than in the whole table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.problem.privacy._base import PRIVACY, Groups
from discreet.problem.privacy._sensitive import TOLERANCE
from discreet.problem.privacy._thresholds import ThresholdModel
from discreet.runtime.arguments import column_name, number, one_of
from discreet.runtime.parts import NumberControl

__all__ = ["BetaLikeness"]


@PRIVACY.register
@dataclass(frozen=True)
class BetaLikeness(ThresholdModel):
    """A value with share p of the whole table has a share q of a class of at most p (1 + ``beta``).

    This is ``basic`` beta-likeness (Cao and Karras, 2012). In the form ``enhanced`` q is at most p (1 + min(beta,
    -ln p)), so that frequent values are limited too. Values may be as rare as they like.

    >>> BetaLikeness(1.5, "disease", "enhanced").text
    'beta(1.5, disease, enhanced)'
    """

    name = "beta"
    aliases = ("beta-likeness", "b-likeness")
    examples = ("beta(1, disease)", "beta(1, disease, enhanced)")
    title = "No value is much more likely than it was"
    summary = (
        "Among people who look the same, no value is more frequent than in the whole table by more than this factor."
    )
    term = "β-likeness"
    prevents = "Suspicion: a rare illness is three times as frequent in Ann's group as among everybody."
    illustration = "With 1, an illness of 2 % of all people has at most 4 % of any group."
    rank = 80
    controls = (NumberControl("beta", "More frequent by", 1.0, 0.1, 10.0, 0.1),)
    sentence = (
        "Among people who look the same, no value of {attribute} is much more frequent than in the whole table: "
        "at most by {beta} times its share there."
    )
    plain = ("attribute", "form")
    by_thetas = True
    of_distribution = True

    beta: float
    attribute: str | None = None
    form: str = "basic"

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", number(self.beta, "beta of beta-likeness", above=0))
        column_name(self.attribute, "The attribute of beta-likeness")
        one_of(self.form, "The form of beta-likeness", ("basic", "enhanced"))

    @property
    def compares(self) -> bool:
        """Classes are compared with the whole table."""
        return True

    def thetas(self, totals: IntArray, names: Sequence[str]) -> FloatArray:
        """Return the largest share of each value.

        >>> BetaLikeness(1).thetas(np.array([1, 3]), ())
        array([0.5, 1. ])
        """
        p = totals / max(int(totals.sum()), 1)
        return np.asarray(np.minimum(1.0, p * (1 + self._most(p))))

    def _most(self, p: FloatArray) -> FloatArray:
        """Return by how much a value may exceed its share p of the whole table, relative to p."""
        if self.form == "basic":
            return np.full(p.size, float(self.beta))
        return np.minimum(self.beta, -np.log(p, out=np.full(p.size, -np.inf), where=p > 0))

    def reached(self, groups: Groups) -> float:
        """Return the largest relative gain of a value in a class; infinite if no beta allows it."""
        p = (groups.whole / max(int(groups.whole.sum()), 1))[groups.value]
        gain = groups.distribution / p - 1
        if self.form == "enhanced":
            gain = np.where(gain > -np.log(p) + (1 - np.log(p)) * TOLERANCE, math.inf, gain)
        return float(gain.max(initial=0.0))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether no value gains too much."""
        return reached <= self.beta + (1 + self.beta) * TOLERANCE
