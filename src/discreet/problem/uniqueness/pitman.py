"""Pitman's model of population uniqueness (Pitman 1996; Hoshino 2001)."""

from __future__ import annotations

import math

import numpy as np

from discreet.counts import IntArray
from discreet.problem.uniqueness.numerics import digamma, digammas, root

__all__ = ["pitman"]

_ALPHAS = (
    -4096.0,
    -512.0,
    -64.0,
    -16.0,
    -4.0,
    -1.0,
    -0.3,
    -0.1,
    -0.03,
    -0.01,
    *np.linspace(0.005, 0.995, 34).tolist(),
    0.9999,
)
"""Where the slope of the likelihood is looked at first; none is 0, where the sums have another form."""


def pitman(sizes: IntArray, classes: IntArray, population: float) -> float | None:
    """Estimate how many people are unique in the population; None where the model does not fit.

    ``classes[i]`` classes of the sample have ``sizes[i]`` rows. The two parameters θ and α of Pitman's sampling formula
    are those of the greatest likelihood, and the estimate is the expected number of classes of size 1 among all N
    people, N · Γ(θ+1) Γ(θ+α+N-1) / (Γ(θ+α) Γ(θ+N)). For large N this is the published Γ(θ+1)/Γ(θ+α) · N^α, which
    may exceed N where θ is of the size of N.

    >>> round(pitman(np.array([1, 2, 3, 9]), np.array([60, 15, 4, 3]), 1_000))
    203
    """
    found = fit(sizes, classes)
    if found is None:
        return None
    theta, alpha = found
    log = math.log(population) + math.lgamma(theta + 1) - math.lgamma(theta + alpha)
    log += math.lgamma(theta + alpha + population - 1) - math.lgamma(theta + population)
    return math.exp(log)


def fit(sizes: IntArray, classes: IntArray) -> tuple[float, float] | None:
    """Return θ and α of the greatest likelihood, None where there is no greatest one.

    For each α below 1 there is one best θ, found by bisection; so is the α at which the slope of the likelihood
    along them changes from rising to falling.
    """
    rows, groups = float((sizes * classes).sum()), float(classes.sum())
    if groups < 3 or groups >= rows:
        return None  # all alike, or all different: the likelihood grows without end

    def slope(alpha: float) -> float:
        theta, spare = _theta(alpha, rows, groups)
        inner = (groups - 1 - theta * _inverse_sum(spare, alpha, groups)) / alpha
        return inner - float((classes * (digammas(sizes.astype(np.float64) - alpha) - digamma(1 - alpha))).sum())

    def likelihood(alpha: float) -> float:
        """Return the logarithm of the likelihood, but for what does not depend on the parameters."""
        theta, spare = _theta(alpha, rows, groups)
        least = spare / abs(alpha)
        found = math.lgamma(least + groups - 1) - math.lgamma(least) + (groups - 1) * math.log(abs(alpha))
        found += math.lgamma(theta + 1) - math.lgamma(theta + rows)
        each = np.array([math.lgamma(size - alpha) for size in sizes.tolist()]) - math.lgamma(1 - alpha)
        return found + float((classes * each).sum())

    slopes = [slope(alpha) for alpha in _ALPHAS]
    peaks = [i for i in range(len(slopes) - 1) if slopes[i] > 0 >= slopes[i + 1]]
    alphas = [root(slope, _ALPHAS[i], _ALPHAS[i + 1]) for i in peaks]
    best = max(alphas, key=likelihood, default=None)
    return None if best is None else (_theta(best, rows, groups)[0], best)


def _theta(alpha: float, rows: float, groups: float) -> tuple[float, float]:
    """Return the θ at which the likelihood of a given α is greatest, and how far it is above the least possible."""
    least = -alpha if alpha > 0 else -(groups - 1) * alpha

    def slope(log: float) -> float:
        spare = math.exp(log)
        theta = least + spare
        return _inverse_sum(spare, alpha, groups) - (digamma(theta + rows) - digamma(theta + 1))

    spare = math.exp(root(slope, math.log(1e-12), math.log(1e15)))
    return least + spare, spare


def _inverse_sum(spare: float, alpha: float, groups: float) -> float:
    """Return the sum of 1 / (θ + iα) over the i from 1 to one less than the number of groups."""
    least = spare / abs(alpha)
    return (digamma(least + groups - 1) - digamma(least)) / abs(alpha)
