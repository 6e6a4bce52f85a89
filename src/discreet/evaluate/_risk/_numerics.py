"""The digamma function and a root finder: the little numerical mathematics the estimators need."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from discreet.counts import FloatArray

__all__ = ["digamma", "digammas", "root"]

X = TypeVar("X", float, FloatArray)

_LARGE = 10
"""From here on the asymptotic series is exact to the last digit or two."""
_STEPS = 300


def digamma(x: float) -> float:
    """Return the derivative of ln Γ at a positive number: by its recurrence, then by its asymptotic series.

    >>> round(digamma(1), 12)
    -0.577215664902
    """
    small = 0.0
    while x < _LARGE:
        small -= 1 / x
        x += 1
    return small + math.log(x) - _series(x)


def digammas(x: FloatArray) -> FloatArray:
    """Return :func:`digamma` of many numbers."""
    small = np.zeros_like(x)
    for _ in range(_LARGE):
        below = x < _LARGE
        small -= np.where(below, 1 / np.where(below, x, 1), 0)
        x = np.where(below, x + 1, x)
    return np.asarray(small + np.log(x) - _series(x))


def _series(x: X) -> X:
    square = 1 / (x * x)
    rest = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return 0.5 / x + rest


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes sign between two ends at which its signs differ, to the last digit.

    Regula falsi with the Illinois rule, and a bisection now and then, so that no function is slow.

    >>> round(root(lambda x: x * x - 2, 0, 5), 12)
    1.414213562373
    """
    at_low, at_high = function(low), function(high)
    moved = 0
    for step in range(_STEPS):
        here = (low + high) / 2
        if not (at_low and at_high) or here in (low, high):
            break
        if step % 4:
            chord = high - at_high * (high - low) / (at_high - at_low)
            here = chord if low < chord < high else here
        value = function(here)
        if (value > 0) == (at_low > 0):
            low, at_low, at_high, moved = here, value, at_high / 2 if moved < 0 else at_high, -1
        else:
            high, at_high, at_low, moved = here, value, at_low / 2 if moved > 0 else at_low, 1
    return low if abs(at_low) < abs(at_high) else high
