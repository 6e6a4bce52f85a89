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
_DIGITS = 2.0**-52


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
    """Return where a function changes sign between two ends at which its signs differ, to the last digits.

    Chandrupatla's method (1997): inverse quadratic interpolation where it is safe, bisection elsewhere. Both ends close
    in, so that no function is slow.

    >>> round(root(lambda x: x * x - 2, 0, 5), 12)
    1.414213562373
    """
    b, a = low, high
    at_b, at_a = function(b), function(a)
    if at_b and (at_b > 0) == (at_a > 0):
        at_a = -at_b  # so small at the high end that rounding decided its sign
    c, at_c, part = a, at_a, 0.5
    for _ in range(_STEPS):
        here = a + part * (b - a)
        value = function(here)
        if (value > 0) == (at_a > 0):
            c, at_c = a, at_a
        else:
            c, at_c, b, at_b = b, at_b, a, at_a
        a, at_a = here, value
        best, least = (a, at_a) if abs(at_a) < abs(at_b) else (b, at_b)
        nearest = (2 * _DIGITS * abs(best) + 1e-300) / abs(b - c)
        if least == 0 or nearest > 0.5:
            return best
        part = min(1 - nearest, max(nearest, _next_part(a, b, c, at_a, at_b, at_c)))
    return best


def _next_part(a: float, b: float, c: float, at_a: float, at_b: float, at_c: float) -> float:
    """Return the next point as a fraction of the way from a to b: by the inverse parabola if it is safe, else 1/2."""
    across, up = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
    if not (1 - math.sqrt(1 - across) < up < math.sqrt(across)):
        return 0.5
    return at_a / (at_b - at_a) * at_c / (at_b - at_c) + (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
