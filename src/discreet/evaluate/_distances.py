"""How far the distribution of a column moved: total variation, Jensen-Shannon divergence, earth mover's distance."""

from __future__ import annotations

import numpy as np

from discreet.counts import FloatArray

__all__ = ["earth_movers", "jensen_shannon", "total_variation"]


def total_variation(p: FloatArray, q: FloatArray) -> float:
    """Return half the sum of |p - q|: the share of rows that would have to change their value.

    >>> total_variation(np.array([0.5, 0.5]), np.array([1.0, 0.0]))
    0.5
    """
    return float(np.abs(p - q).sum() / 2)


def jensen_shannon(p: FloatArray, q: FloatArray) -> float:
    """Return the Jensen-Shannon divergence in bits, from 0 (the same) to 1 (nothing in common).

    >>> jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    1.0
    """
    middle = (p + q) / 2
    return max(0.0, float((_bits(p, middle) + _bits(q, middle)) / 2))


def earth_movers(p: FloatArray, q: FloatArray, positions: FloatArray) -> float | None:
    """Return how far values moved on average, as a share of the range of all values; missing ones do not count.

    None where one side knows no value, or where there is but one.

    >>> earth_movers(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), np.array([0.0, 5.0, 10.0]))
    0.5
    """
    known = ~np.isnan(positions)
    p, q, positions = p[known], q[known], positions[known]
    length = float(np.ptp(positions)) if positions.size else 0.0
    if not (p.sum() > 0 and q.sum() > 0 and length):
        return None
    apart = np.abs(np.cumsum(p / p.sum() - q / q.sum()))[:-1]
    return float((apart * np.diff(positions)).sum() / length)


def _bits(p: FloatArray, middle: FloatArray) -> float:
    some = p > 0
    return float((p[some] * np.log2(p[some] / middle[some])).sum())
