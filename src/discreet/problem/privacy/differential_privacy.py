"""Differential privacy by random sampling and k-anonymity (Li, Qardaji and Su 2012; SafePub, Bild and others 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, expm1, floor, lgamma, log, log1p

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.errors import UsageError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel

__all__ = ["DifferentialPrivacy", "delta_of", "least_k"]

_LARGEST_K = 1_000_000
_NEGLIGIBLE = 1e-17


@PRIVACY.register
@dataclass(frozen=True)
class DifferentialPrivacy(PrivacyModel):
    """Rows are drawn at random, and every class has enough of them for (``epsilon``, ``delta``)-differential privacy.

    Each row is drawn with probability β = 1 - e^(-ε), and every class of drawn rows has at least :attr:`k` rows, the
    least number with δ(k) ≤ ``delta``, as in ARX. The statement holds for the released table if the recoding does not
    depend on the data: every quasi-identifier is at a level that was fixed beforehand (``min_levels`` and
    ``max_levels``) of a hierarchy that was given, smaller classes are suppressed without a limit, and nothing but
    quasi-identifiers is released. A release says in a note whether that is so.

    >>> DifferentialPrivacy(1, 1e-6).k, round(DifferentialPrivacy(1, 1e-6).sampling, 3)
    (74, 0.632)
    """

    name = "dp"
    aliases = ("differential-privacy",)
    examples = ("dp(1, 1e-6)", "dp(2, 0.05)")
    title = "One person makes hardly a difference"
    summary = "Whether somebody takes part hardly changes what is released: rows are drawn at random, rare ones go."
    term = "(ε, δ)-differential privacy by sampling"
    prevents = "Being noticed at all: the release would look much the same without any one person."
    illustration = "With 1 and one in a million, 37 % of the people are left out at random, and small groups too."
    rank = 140
    in_studio = False
    of_sampling = True
    sentence = "Rows are drawn at random, and classes are large enough for ε = {epsilon} and δ = {delta}."
    union_closed = True
    superset_closed = True
    favors_even = True

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        for value, name, most in ((self.epsilon, "epsilon", 20), (self.delta, "delta", 1)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
                raise UsageError(f"The {name} of dp is above 0 and at most {most}, as in dp(1, 1e-6).")
        if self.delta >= 1:
            raise UsageError("The delta of dp is below 1, as in dp(1, 1e-6).")

    @property
    def sampling(self) -> float:
        """The probability with which each row is drawn."""
        return -expm1(-self.epsilon)

    @property
    def k(self) -> int:
        """The fewest rows a class may have."""
        return least_k(float(self.epsilon), float(self.delta))

    @property
    def promised(self) -> float | None:
        """The δ, which :meth:`reached` measures."""
        return float(self.delta)

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it has k rows."""
        return classes.sizes >= self.k

    def reached(self, groups: Groups) -> float:
        """Return the δ that the smallest class allows for; 0 if there is no class."""
        smallest = int(groups.sizes.min(initial=_LARGEST_K))
        return 0.0 if not groups.sizes.size else delta_of(smallest, float(self.epsilon))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the δ is small enough."""
        return reached <= self.delta

    @property
    def minimum_size(self) -> int:
        """A class needs k rows."""
        return self.k

    def check(self, table: CountTable) -> None:
        """Raise an InfeasibleError if the whole table has fewer than k rows."""
        self.need_rows(table, self.k, "choose a larger epsilon or delta")


@lru_cache(maxsize=64)
def least_k(epsilon: float, delta: float) -> int:
    """Return the least k for which rows drawn with probability 1 - e^(-ε) in classes of k have δ(k) at most ``delta``.

    >>> least_k(2.0, 1e-5)
    113
    """
    low, high = 0, 1
    while delta_of(high, epsilon) > delta:
        low, high = high, 2 * high
        if high > _LARGEST_K:
            raise UsageError(
                "Such an epsilon and delta need classes of more than a million rows; choose an epsilon nearer to 1, or "
                "a larger delta."
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if delta_of(middle, epsilon) > delta else (low, middle)
    return high


@lru_cache(maxsize=4096)
def delta_of(k: int, epsilon: float) -> float:
    """Return δ(k) for a sampling probability β = 1 - e^(-ε) (Li, Qardaji and Su, theorem 4).

    With γ = (e^ε - 1 + β) / e^ε = 1 - e^(-2ε) it is the largest probability, over all n from ⌈k/γ - 1⌉ on, that more
    than γn of n rows are drawn, which is that fewer than ⌈(1 - γ)n⌉ are not. While that number stays the same, the
    probability falls, so that only the least n of each number is tried. The probability is at most
    exp(-n (γ ln(γ/β) - (γ - β))), so that large n need not be tried.
    """
    missed = exp(-epsilon)  # γ/β = 1 + missed
    rest, beta = missed**2, -expm1(-epsilon)
    rate = (1 - rest) * log1p(missed) - missed * beta
    n, largest = max(ceil(k / (1 - rest) - 1), 1), 0.0
    while True:
        fewer = ceil(rest * n)
        largest = max(largest, _more_than(n - fewer, n, beta))
        if largest >= exp(-n * rate) or exp(-n * rate) < 1e-300:
            return largest
        n = max(floor(fewer / rest) - 1, n)  # it is rounded: the next number begins right after it, or a bit later
        while ceil(rest * n) == fewer:
            n += 1


def _more_than(drawn: int, rows: int, beta: float) -> float:
    """Return the probability that more than so many of ``rows`` rows are drawn."""
    first = drawn + 1
    if first > rows:
        return 0.0
    chance = exp(
        lgamma(rows + 1)
        - lgamma(first + 1)
        - lgamma(rows - first + 1)
        + first * log(beta)
        + (rows - first) * log1p(-beta)
    )
    total = 0.0
    for j in range(first, rows + 1):
        total += chance
        chance *= (rows - j) / (j + 1) * beta / (1 - beta)
        if chance < total * _NEGLIGIBLE:
            break
    return total
