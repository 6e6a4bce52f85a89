"""Confidence intervals of attacks: of shares, of their differences, and of attempts that share a guess."""

from __future__ import annotations

from math import hypot, sqrt

from discreet.counts import FloatArray

__all__ = ["independent_attempts", "interval", "least_difference"]

_NORMAL_95 = 1.959963984540054


def interval(share: float, attempts: float) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share (Wilson 1927).

    >>> [round(end, 3) for end in interval(0.5, 100)]
    [0.404, 0.596]
    >>> interval(1.0, 0)
    (0.0, 1.0)
    """
    if attempts <= 0:
        return 0.0, 1.0
    square = _NORMAL_95**2 / attempts
    middle = (share + square / 2) / (1 + square)
    half = _NORMAL_95 * sqrt(share * (1 - share) / attempts + square / (4 * attempts)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def least_difference(share: float, attempts: float, other: float, others: float) -> float:
    """Return the lower end of the 95 % confidence interval of a share minus one of other people.

    The interval is that of Newcombe (1998, method 10), which takes account of the sampling error of both.

    >>> round(least_difference(56 / 70, 70, 48 / 80, 80), 4)
    0.0524
    """
    return share - other - hypot(share - interval(share, attempts)[0], interval(other, others)[1] - other)


def independent_attempts(hits: FloatArray, attempts: FloatArray) -> float:
    """Return how many independent attempts would be as exact as these, which are correlated within clusters.

    ``hits`` and ``attempts`` are those of each cluster, such as a class whose people share a guess. The number follows
    from the variance of a ratio over clusters, and is never more than there were attempts.

    >>> import numpy as np
    >>> independent_attempts(np.array([10.0, 0.0, 10.0, 0.0]), np.array([10.0] * 4))
    3.0
    """
    hits, attempts = hits[attempts > 0], attempts[attempts > 0]
    total = float(attempts.sum())
    if not total:
        return 0.0
    share = float(hits.sum()) / total
    if attempts.size < 2 or not 0 < share < 1:  # no variance to go by: clusters of unequal size (Kish 1965)
        return total**2 / float((attempts**2).sum())
    spread = float(((hits - share * attempts) ** 2).sum()) * attempts.size / (attempts.size - 1)
    return min(total, total**2 * share * (1 - share) / max(spread, 1e-300))
