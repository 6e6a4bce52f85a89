"""Risk by a log-linear model: frequencies in the population from how often each value occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.counts import IntArray

__all__ = ["LogLinearRisk", "log_linear_risk"]


@dataclass(frozen=True)
class LogLinearRisk:
    """Expectations of a Poisson log-linear model with main effects for unique rows (Skinner and Shlomo 2008).

    The people of the population with each combination of values are Poisson with the mean λ, and each is in the data
    with the sampling fraction π. Of a unique row, F - 1 is Poisson with the mean μ = (1 - π) λ, so that it is unique in
    the population with probability exp(-μ), and its expected 1 / F is (1 - exp(-μ)) / μ.

    With main effects alone, the maximum likelihood fit over all possible combinations is known: π λ is the number of
    rows times the share of each value. It is as if columns were independent. Where they are not, both figures are
    mostly too high.
    """

    uniques: float
    """How many unique rows are unique in the population too."""
    matches: float
    """How many of them are re-identified: the sum of the expected 1 / F."""

    def to_dict(self) -> dict[str, float]:
        """Return everything as plain data."""
        return {"uniques": self.uniques, "matches": self.matches}


def log_linear_risk(codes: Sequence[IntArray], sizes: IntArray, fraction: float) -> LogLinearRisk:
    """Fit the model to classes, given the code of each quasi-identifier and the rows of each class.

    >>> sex, age = np.array([0, 0, 1]), np.array([0, 1, 0])
    >>> found = log_linear_risk([sex, age], np.array([5, 1, 3]), fraction=0.5)
    >>> round(found.uniques, 4), round(found.matches, 4)
    (0.5134, 0.7299)
    """
    alone, rows = sizes == 1, float(sizes.sum())
    expected = np.full(int(alone.sum()), rows)
    for code in codes:
        expected *= np.bincount(code, weights=sizes)[code[alone]] / rows
    others = np.maximum(expected * (1 - fraction) / fraction, np.finfo(float).tiny)
    return LogLinearRisk(float(np.exp(-others).sum()), float((-np.expm1(-others) / others).sum()))
