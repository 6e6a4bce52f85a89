"""Distances of distributions: total variation, Jensen-Shannon divergence and earth mover's distance."""

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
    mixture = (p + q) / 2
    return max(0.0, float((_bits(p, mixture) + _bits(q, mixture)) / 2))


def earth_movers(p: FloatArray, q: FloatArray, positions: FloatArray) -> float | None:
    """Return how far values moved on average, relative to their range; missing values do not count.

    None if one side has no value, or if there is only one.

    >>> earth_movers(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), np.array([0.0, 5.0, 10.0]))
    0.5
    """
    known = ~np.isnan(positions)
    p, q, positions = p[known], q[known], positions[known]
    length = float(np.ptp(positions)) if positions.size else 0.0
    if not (p.sum() > 0 and q.sum() > 0 and length):
        return None
    difference = np.abs(np.cumsum(p / p.sum() - q / q.sum()))[:-1]
    return float((difference * np.diff(positions)).sum() / length)


def _bits(p: FloatArray, mixture: FloatArray) -> float:
    there = p > 0
    return float((p[there] * np.log2(p[there] / mixture[there])).sum())
