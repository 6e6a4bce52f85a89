"""A lower bound on the squared error of all groupings: potentials of points whose pairs pay for distances.

The squared error of a group of s rows is the sum of the squared distances d of its pairs, divided by s. Give every
row a potential p >= 0. With the excess e = max(0, p_i + p_j - d_ij) of a pair, d_ij >= p_i + p_j - e_ij, so that a
group costs at least

    ((s - 1) * sum of p - sum of e over its pairs) / s  >=  ((k - 1) * sum of p - sum of e over its pairs) / k,

since s >= k and both sums are at least 0. Added up over groups, pairs of rows in different groups only lower it:

    cost  >=  ((k - 1) * sum of p over all rows - sum of e over all pairs) / k.

It is concave in p, and its slope in p_i is k - 1 less the number of rows j with p_i + p_j > d_ij.
"""

from __future__ import annotations

from typing import NamedTuple

from discreet.solve.kernels.arrays import Floats, Ints
from discreet.solve.kernels.jit import kernel
from discreet.solve.microaggregation.kernels.tree import NearRows

__all__ = ["Climb", "PricedPoints", "price_points", "raise_potentials", "share_pairs"]

_PATIENCE, _SMALLER = 20, 0.6
"""After so many rounds in vain, steps are multiplied by the second."""


class PricedPoints(NamedTuple):
    """Points with their potentials; rows of one point have the same, and a distance of 0."""

    weights: Ints
    """The rows of each point."""
    near: NearRows
    """Other points near each; pairs that are not listed have no excess."""
    share: Floats
    """(n, r) 1/2 if a pair is listed with both of its points, else 1."""
    potential: Floats
    best: Floats
    """The best potentials so far."""
    slope: Floats
    price: Floats
    """What each row of a point costs at least, together with the others; see :func:`price_points`."""


class Climb:
    """How far the climb is."""

    step: float
    value: float  # the best so far
    idle: int  # rounds since it last rose


@kernel
def share_pairs(near: NearRows, share: Floats) -> None:  # share OUT
    """Set the share of each pair that is listed with both of its points to 1/2."""
    n, wide = near.row.shape
    for i in range(n):
        for r in range(wide):
            j = near.row[i, r]
            if j < 0:
                break
            for q in range(wide):
                if near.row[j, q] == i:
                    share[i, r] = 0.5
                    break


@kernel
def price_points(points: PricedPoints, potential: Floats, k: int) -> float:  # points.slope, points.price OUT
    """Return the bound, and find its slope and the price of a row of each point.

    The excess of a pair is divided equally between both, so that the prices of the rows of any group sum up to at most
    what it costs, and the prices of all rows to the bound.
    """
    n, wide = points.near.row.shape
    slope, price = points.slope, points.price
    for i in range(n):
        others = k - points.weights[i]  # k - 1 less the other rows of the point, which are at distance 0
        slope[i], price[i] = others, others * potential[i]
    for i in range(n):
        for r in range(wide):
            j = points.near.row[i, r]
            if j < 0:
                break
            excess = potential[i] + potential[j] - points.near.away[i, r]
            if excess > 0.0:
                share = points.share[i, r]
                slope[i] -= share * points.weights[j]
                slope[j] -= share * points.weights[i]
                price[i] -= share * points.weights[j] * excess / 2
                price[j] -= share * points.weights[i] * excess / 2
    total = 0.0
    for i in range(n):
        price[i] /= k
        total += points.weights[i] * price[i]
    return total


@kernel
def raise_potentials(points: PricedPoints, k: int, rounds: int, climb: Climb) -> None:  # points, climb OUT
    """Climb along the slope for some rounds; ``climb.value`` is then the best value, of ``points.best``.

    A step that has not paid for a while is made smaller, and the climb goes on from the best potentials. A potential is
    at most half the distance beyond which points are not listed: then pairs that are not listed have no excess.
    """
    n = points.potential.size
    mean = max(points.best.mean(), 1e-300)
    for _ in range(rounds):
        found = price_points(points, points.potential, k)
        climb.idle += 1
        if found > climb.value:
            if found > climb.value * (1 + 1e-5):
                climb.idle = 0
            climb.value = found
            points.best[:] = points.potential
        if climb.idle > _PATIENCE:
            climb.idle = 0
            climb.step *= _SMALLER
            points.potential[:] = points.best
            price_points(points, points.potential, k)
        for i in range(n):
            move = climb.step * points.slope[i] / max(k - 1, 1) * min(1.0, points.potential[i] / mean + 0.3)
            points.potential[i] = min(max(points.potential[i] + move, 0.0), points.near.beyond[i] / 2)
