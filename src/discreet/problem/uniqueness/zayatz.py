"""Zayatz' model of population uniqueness (Zayatz 1991)."""

from __future__ import annotations

import numpy as np

from discreet.counts import FloatArray, IntArray

__all__ = ["zayatz"]

_EXACT = 1 << 22
"""Classes larger than this are drawn from as if with replacement, which their size makes the same."""


def zayatz(sizes: IntArray, classes: IntArray, population: int) -> float | None:
    """Estimate how many people are unique in the population.

    ``classes[i]`` classes of the sample have ``sizes[i]`` rows. By Bayes' rule, a row that is unique in the sample is
    unique in the population with probability p_1 P(f=1|F=1) / Σ_j p_j P(f=1|F=j), where the share p_j of the
    population's classes that have j people is taken to be that of the sample, and P(f=1|F=j) is hypergeometric. The
    number of sample uniques times this, over the sampling fraction, is the estimate.

    >>> round(zayatz(np.array([1, 2]), np.array([10, 5]), 200), 4)
    52.5066
    """
    rows = int((sizes * classes).sum())
    alone = float(classes[sizes == 1].sum())
    if not alone:
        return 0.0
    drawn = float((classes * _drawn_once(sizes, rows, population)).sum())
    fraction = rows / population
    return float(alone * (alone * fraction / drawn) / fraction)


def _drawn_once(sizes: IntArray, rows: int, population: int) -> FloatArray:
    """Return how likely just one of ``sizes`` people is among ``rows`` drawn from the population."""
    others = np.arange(min(int(sizes.max()), _EXACT) - 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        left = np.log(np.maximum(population - rows - others, 0) / (population - 1 - others))
        alone = np.append(0.0, np.cumsum(left))
        beyond = np.log1p(-rows / population) * np.maximum(sizes - _EXACT, 0) if rows < population else 0.0
        logs = alone[np.minimum(sizes, _EXACT) - 1] + beyond
    return np.asarray(sizes * (rows / population) * np.exp(logs))
