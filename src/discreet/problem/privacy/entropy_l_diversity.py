"""Entropy l-diversity: the sensitive values of a class are as hard to guess as l equally frequent ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups
from discreet.problem.privacy._sensitive import TOLERANCE, SensitiveModel, largest
from discreet.runtime.arguments import column_name, number
from discreet.runtime.parts import NumberControl

__all__ = ["EntropyLDiversity"]


@PRIVACY.register
@dataclass(frozen=True)
class EntropyLDiversity(SensitiveModel):
    """The entropy of the known sensitive values of every class is at least ln ``l``; without any it is 0.

    Compared is exp(entropy), the number of equally frequent values that are as uncertain, with a tolerance of one part
    in 10^9. ``l`` need not be whole.

    >>> EntropyLDiversity(2.5, "disease").text
    'entropy-l(2.5, disease)'
    """

    name = "entropy-l"
    examples = ("entropy-l(3, disease)",)
    title = "No group makes guessing easy"
    summary = "Among people who look the same, the sensitive value is as hard to guess as one of so many likely ones."
    term = "entropy l-diversity"
    prevents = "A safe guess: two illnesses are in the group, but nine people in ten have the first."
    illustration = "With 2, guessing Ann's illness is at least as hard as calling a coin."
    rank = 30
    controls = (NumberControl("l", "As hard as guessing one of", 2.0, 1.1, 20.0, 0.1),)
    sentence = "Among people who look the same, {attribute} is as hard to guess as {l} equally frequent values."
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
        """Return exp(entropy) of the worst class; classes whose values were all suppressed do not count."""
        occurs = groups.count > 0
        shares = groups.distribution[occurs]
        bits = -np.bincount(groups.group[occurs], weights=shares * np.log2(shares), minlength=groups.sizes.size)
        return float(np.exp2(bits[groups.judged]).min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the worst class is uncertain enough."""
        return reached >= self.l * (1 - TOLERANCE)

    @property
    def minimum_size(self) -> int:
        """The entropy of s rows is at most ln s."""
        return math.ceil(self.l * (1 - TOLERANCE))

    def fewest_removed(self, classes: Classes) -> NDArray[np.int64]:
        """Return the exact minimum.

        Of all subsets of a given size, the evenest has the largest entropy: the one in which the most frequent values
        are cut down to one height. The lower the height, the larger the entropy. Keeping one more row of some of the
        cut values first lowers the entropy and raises it only towards the next height. So bisection finds both the
        height and the number of values that keep one more row.
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
