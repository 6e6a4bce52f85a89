"""Homogeneity: what the classes of a release alone reveal about sensitive values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.evaluate.classes import CountedClasses
from discreet.evaluate.sensitive import MatchedValues
from discreet.problem.hidden_values import HiddenValues, HidingClasses

__all__ = ["Homogeneity", "homogeneity"]


@dataclass(frozen=True)
class Homogeneity:
    """How sure of a sensitive value somebody can be who knows the class of a person."""

    certain: float
    """The share of released rows in classes whose known values are all the same."""
    at_least_80: float
    """The share of released rows in classes where at least 80 % of the rows have the same value."""
    at_least_50: float
    success: float
    """The share of released rows that have the most frequent value of their class."""
    naive: float
    """The share of released rows that have the most frequent value of the whole release."""
    hidden: HiddenValues | None = None
    """What the suppressed values can be; None if there are none."""


def homogeneity(released: CountedClasses, matched: MatchedValues, hiding: HidingClasses | None = None) -> Homogeneity:
    """Run the attack. Confidence is the share of a value among the known values of a class.

    Nobody is sure of a missing value. For suppressed ones the attacker guesses one of the values they can be, so that
    among h of them with c candidates h/c rows are expected to have it: all, if there is a single candidate.
    """
    group, value, count = matched.released
    top = np.zeros(released.sizes.size)
    np.maximum.at(top, group, count)
    if hiding is not None:
        top = np.maximum(top, hiding.expected(released.sizes.size))
    share, rows = top / np.maximum(matched.known, 1), released.rows

    def sure(least: float) -> float:
        return float(released.sizes[share >= least - 1e-12].sum() / rows)

    return Homogeneity(
        certain=float(released.sizes[(top == matched.known) & (top > 0)].sum() / rows),
        at_least_80=sure(0.8),
        at_least_50=sure(0.5),
        success=float(top.sum() / rows),
        naive=float(count[value == 0].sum() / rows),
        hidden=None if hiding is None else hiding.summed_up(),
    )
