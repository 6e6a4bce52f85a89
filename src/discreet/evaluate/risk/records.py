"""The risk of a record: how likely each of El Emam's three attackers finds it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.counts import FloatArray, IntArray

__all__ = ["RecordRisk", "expected_risk", "record_risk"]

_BY_RECURRENCE = 64
_TERMS = 64


@dataclass(frozen=True)
class RecordRisk:
    """The probability that an attacker finds the record of a person, summarized over all records."""

    lowest: float
    average: float
    highest: float
    at_risk: int
    """The records whose risk is above the threshold."""
    share_at_risk: float
    success_rate: float
    """The expected share of records found; for the journalist the larger of the average risk and of the number of
    classes divided by their people in the population, as in El Emam and ARX."""

    def to_dict(self) -> dict[str, Any]:
        """Return the risk as plain data."""
        return asdict(self)


def record_risk(sizes: IntArray, risks: FloatArray, threshold: float) -> RecordRisk:
    """Summarize the risk of records, which is the same for all records of a class."""
    rows = int(sizes.sum())
    at_risk = int(sizes[risks > threshold].sum())
    average = float((sizes * risks).sum() / rows)
    by_class = float(sizes.size / (1 / risks).sum())
    return RecordRisk(
        lowest=float(risks.min()),
        average=average,
        highest=float(risks.max()),
        at_risk=at_risk,
        share_at_risk=at_risk / rows,
        success_rate=max(average, by_class),
    )


def expected_risk(sizes: IntArray, fraction: float | FloatArray) -> FloatArray:
    """Return the risk of a record if only the sampling fraction is known: the mean of 1 / F, given f.

    A class of f rows in a sample that holds this fraction of the population (or of each class) has F people in the
    population, where F follows a negative binomial distribution (Benedetti and Franconi 1998, the individual risk of
    μ-Argus and sdcMicro). With p the fraction and q = 1 - p this is ∫ u^(f-1) p / (p + q u) du over u from 0 to 1. A
    unique row has the risk p / q · ln(1 / p), and each further row follows from p r(f) + q r(f+1) = p / f. Where that
    loses digits or is long, the series p Σ q^m B(f, m+1) is summed instead.

    >>> expected_risk(np.array([1, 2, 5]), 0.1).round(4)
    array([0.2558, 0.0827, 0.0242])
    """
    p = np.broadcast_to(np.asarray(fraction, dtype=np.float64), sizes.shape)
    q = np.maximum(1 - p, 0.0)
    term = 1 / sizes.astype(np.float64)
    risks = term.copy()
    for m in range(1, _TERMS):
        term = term * q * m / (sizes + m)
        risks += term
    risks = np.where(q > 0, risks * p, 1 / sizes)
    rare = (p < q) & (sizes <= _BY_RECURRENCE)
    ratio = p[rare] / q[rare]
    exact = ratio * -np.log(p[rare])
    found = exact.copy()
    for f in range(1, int(sizes[rare].max(initial=1))):
        exact = ratio * (1 / f - exact)
        found = np.where(sizes[rare] == f + 1, exact, found)
    risks[rare] = found
    return np.asarray(risks)
