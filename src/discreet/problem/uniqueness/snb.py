"""The shifted negative binomial model of population uniqueness (Chen and Keller-McNulty 1998)."""

from __future__ import annotations

import math

import numpy as np

from discreet.counts import FloatArray, IntArray
from discreet.problem.uniqueness.numerics import root

__all__ = ["snb"]

_GRID = np.concatenate([np.logspace(-12, -1, 111), np.linspace(0.1, 0.9, 81), 1 - np.logspace(-1, -9, 81)])
"""The β looked at first."""


def snb(sizes: IntArray, classes: IntArray, population: int) -> float | None:
    """Estimate how many people are unique in the population; None where the model does not fit.

    ``classes[i]`` classes of the sample have ``sizes[i]`` rows. Population class sizes less 1 follow a negative
    binomial distribution with parameters α and β, and each person is drawn with a probability of the sampling
    fraction. The number K of classes of the population is estimated as Shlosser does (Haas and Stokes 1998); α and β
    are those for which the expected numbers of sample classes of size 1 and 2 are the ones seen; K · β^α is the
    estimate.

    >>> round(snb(np.array([1, 2, 3]), np.array([60, 20, 4]), 500))
    100
    """
    rows = int((sizes * classes).sum())
    if rows >= population or not (sizes == 1).any():
        return float(classes[sizes == 1].sum())
    found = fit(sizes, classes, rows / population)
    if found is None:
        return None
    total, alpha, beta = found
    return total * math.exp(alpha * math.log(beta))


def fit(sizes: IntArray, classes: IntArray, fraction: float) -> tuple[float, float, float] | None:
    """Return K, α and β; None unless exactly one α and β make the expected numbers those observed.

    For each β there is one α for which the expected numbers of classes of size 1 and 2 have the observed ratio, so that
    one equation for β is left.
    """
    one, two = (float(classes[sizes == size].sum()) for size in (1, 2))
    if not one or not two:
        return None
    total = _classes_of_population(sizes, classes, fraction)

    def surplus(beta: FloatArray) -> FloatArray:
        """Return the expected minus the observed number of sample uniques for a β and its α."""
        x = (1 - fraction) * (1 - beta)
        alpha = _alpha(beta, one, two, fraction)
        logs = alpha * (np.log(beta) - np.log1p(-x))
        return np.asarray(total * fraction * np.exp(logs) * (1 + alpha * x / (1 - x)) - one)

    gap = surplus(_GRID)
    changes = np.flatnonzero((gap[:-1] < 0) != (gap[1:] < 0))
    if changes.size != 1:
        return None
    at = int(changes[0])
    beta = root(lambda beta: float(surplus(np.array(beta))), float(_GRID[at]), float(_GRID[at + 1]))
    return total, float(_alpha(np.array(beta), one, two, fraction)), beta


def _alpha(beta: FloatArray, one: float, two: float, fraction: float) -> FloatArray:
    """Return the α for which the expected ratio of sample classes of size 2 and 1 is the observed one.

    It is the positive root of x α² + (2 - x - R x) α - R (1 - x), with R the ratio below.
    """
    x = (1 - fraction) * (1 - beta)
    ratio = 2 * two * (1 - x) / (one * fraction * (1 - beta))
    half = 2 - x - ratio * x
    root = np.sqrt(half * half + 4 * x * ratio * (1 - x))
    return np.asarray(np.where(half > 0, 2 * ratio * (1 - x) / (half + root), (root - half) / (2 * x)))


def _classes_of_population(sizes: IntArray, classes: IntArray, fraction: float) -> float:
    """Estimate how many classes the population has, by Shlosser's third estimator."""
    kept = classes * (1 - fraction) ** sizes
    twice = (classes * sizes * fraction**2 * (1 - fraction**2) ** (sizes - 1)).sum()
    seen = (classes * ((1 - fraction**2) ** sizes) - kept).sum()
    once = (classes * sizes * fraction * (1 - fraction) ** (sizes - 1)).sum()
    alone = classes[sizes == 1].sum()
    return float(classes.sum() + alone * (twice / seen) * (kept.sum() / once) ** 2)
