"""Entropy l-diversity: the sensitive values of a class are as hard to guess as l equally frequent ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.problem._checks import column_name, number
from discreet.problem._classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups
from discreet.problem.privacy._sensitive import TOLERANCE, SensitiveModel, largest

__all__ = ["EntropyLDiversity"]


@PRIVACY.register
@dataclass(frozen=True)
class EntropyLDiversity(SensitiveModel):
    """The entropy of the known sensitive values of every class is at least ln ``l``; without any it is 0.

    Compared as exp(entropy), the number of equally frequent values that would be as uncertain, which may miss
    ``l`` by one part in 10^9. ``l`` need not be whole.

    >>> EntropyLDiversity(2.5, "disease").text
    'entropy-l(2.5, disease)'
    """

    name = "entropy-l"
    saying = "Among people who look the same, {attribute} is as hard to guess as {l} equally frequent values."
    plain = ("attribute",)
    union_closed = True
    favors_even = True

    l: float  # noqa: E741 - the name everyone knows it by
    attribute: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", number(self.l, "l of entropy l-diversity", least=1))
        column_name(self.attribute, "The attribute of entropy l-diversity")

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether its entropy is large enough."""
        return self._even_enough(self.counts(classes))

    def _even_enough(self, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
        return np.asarray(np.exp(-(shares * logs).sum(axis=1)) >= self.l * (1 - TOLERANCE))

    def reached(self, groups: Groups) -> float:
        """Return exp(entropy) of the worst class; classes whose values were all made unknown do not count."""
        there = groups.count > 0
        shares = groups.shares[there]
        bits = -np.bincount(groups.group[there], weights=shares * np.log2(shares), minlength=groups.sizes.size)
        return float(np.exp2(bits[groups.judged]).min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Whether the worst class is uncertain enough."""
        return reached >= self.l * (1 - TOLERANCE)

    @property
    def minimum_size(self) -> int:
        """The entropy of s rows is at most ln s."""
        return math.ceil(self.l * (1 - TOLERANCE))

    def fewest_removed(self, classes: Classes) -> NDArray[np.int64]:
        """Return the exact minimum.

        Of all ways to keep a given number of rows, cutting the most frequent values down to one height leaves
        the evenest rest, so only those need be looked at. The lower the height, the larger the entropy; one
        more row on some of the cut values lowers it first and raises it only towards the next height. So both
        the height and the number of values that keep one row more can be found by bisection.
        """
        removed = np.where(self.ok(classes), 0, classes.sizes).astype(np.int64)
        enough = np.count_nonzero(self.counts(classes), axis=1) >= self.l * (1 - TOLERANCE)
        fix = np.flatnonzero((removed > 0) & enough)
        if fix.size == 0:
            return removed
        counts = self.counts(classes)[fix]

        def cut(height: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.minimum(counts, height[:, np.newaxis])

        height = largest(lambda h: self._even_enough(cut(h)), np.ones(fix.size, np.int64), counts.max(axis=1))
        higher = counts > height[:, np.newaxis]
        order = np.cumsum(higher, axis=1)

        def raised(more: NDArray[np.int64]) -> NDArray[np.int64]:
            return cut(height) + (higher & (order <= more[:, np.newaxis]))

        more = largest(
            lambda m: self._even_enough(raised(m)),
            np.zeros(fix.size, np.int64),
            np.maximum(order[:, -1] - 1, 0),
        )
        removed[fix] = counts.sum(axis=1) - raised(more).sum(axis=1)
        return removed

    def check(self, table: CountTable) -> None:
        """Raise an InfeasibleError if the whole table has too few values."""
        if self.minimum_size > 1:
            self.need_values(table, self.minimum_size)
