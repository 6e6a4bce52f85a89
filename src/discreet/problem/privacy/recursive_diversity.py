"""Recursive (c, l)-diversity: the most frequent sensitive value does not outweigh all rare ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups
from discreet.problem.privacy._sensitive import TOLERANCE, SensitiveModel, largest
from discreet.runtime.arguments import column_name, number, whole_number
from discreet.runtime.parts import NumberControl

__all__ = ["RecursiveDiversity"]

_MOST = 2.0**62
"""More than any table has of anything."""


@PRIVACY.register
@dataclass(frozen=True)
class RecursiveDiversity(SensitiveModel):
    """With the counts of the known values of a class sorted downwards, n_(1) < ``c`` · (n_(``l``) + n_(``l`` + 1) + …).

    Even if ``l`` − 2 values are ruled out, the most frequent of the others stays below ``c`` times the rest. The
    inequality is strict: a class within one part in 10^9 of equality does not pass.

    >>> RecursiveDiversity(4, 3, "disease").text
    'recursive-cl(4, 3, disease)'
    """

    name = "recursive-cl"
    examples = ("recursive-cl(4, 3, disease)",)
    title = "The frequent do not drown the rare"
    summary = (
        "Among people who look the same, the most frequent value stays below c times all values from the rank l on."
    )
    term = "recursive (c, l)-diversity"
    prevents = "Ruling values out: somebody knows that Ann does not have the flu, and few illnesses are left."
    illustration = "With c = 4 and l = 2, the most frequent illness has less than 4 times the rows of all others."
    rank = 40
    controls = (
        NumberControl("c", "Factor", 4.0, 0.1, 100.0, 0.1),
        NumberControl("l", "From this rank on", 2, 2, 20, 1),
    )
    sentence = (
        "Among people who look the same, the most frequent value of {attribute} stays below {c} times the number of "
        "all values from the rank {l} on."
    )
    plain = ("attribute",)
    union_closed = True
    favors_even = True

    c: float
    l: int  # noqa: E741 - the name everyone knows it by
    attribute: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", number(self.c, "c of recursive (c,l)-diversity", above=0))
        object.__setattr__(self, "l", whole_number(self.l, "l of recursive (c,l)-diversity", least=1))
        column_name(self.attribute, "The attribute of recursive (c,l)-diversity")

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether its most frequent value stays below the limit."""
        return self._below(self.counts(classes))

    def _below(self, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        upwards = np.sort(counts, axis=1)
        rest = upwards[:, : max(upwards.shape[1] - self.l + 1, 0)].sum(axis=1)
        return np.asarray(upwards[:, -1] < self.c * (1 - TOLERANCE) * rest)

    def reached(self, groups: Groups) -> float:
        """Return the largest n_(1) / (n_(l) + …) of a class: the promise holds for every larger c.

        Classes whose values were all suppressed do not count; for a class without any value the ratio is infinite.
        """
        if (groups.judged & (np.bincount(groups.group, weights=groups.count, minlength=groups.sizes.size) == 0)).any():
            return math.inf
        order = np.lexsort((-groups.count, groups.group))
        group, count = groups.group[order], groups.count[order]
        _, first, entry = np.unique(group, return_index=True, return_inverse=True)
        rank = np.arange(group.size) - first[entry]
        rest = np.bincount(entry, weights=np.where(rank >= self.l - 1, count, 0), minlength=first.size)
        top = count[first].astype(np.float64)
        ratios = np.divide(top, rest, out=np.full(top.size, math.inf), where=rest > 0)
        return float(ratios[top > 0].max(initial=0.0))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the largest ratio stays below c."""
        return reached < self.c * (1 - TOLERANCE)

    @property
    def minimum_size(self) -> int:
        """With every value once, more than 1/c values are needed after the first l - 1."""
        return self.l + math.floor(min(1 / (self.c * (1 - TOLERANCE)), _MOST))

    def fewest_removed(self, classes: Classes) -> NDArray[np.int64]:
        """Return the exact minimum.

        Of all subsets of a given size, the one in which the most frequent values are cut down to one height has both
        the smallest n_(1) and the largest rest. The lower the height, the easier the condition, and one more row of
        some cut values is as hard as one more of all. So bisection finds the height.
        """
        counts = self.counts(classes)
        removed = np.where(self.ok(classes), 0, classes.sizes).astype(np.int64)
        fix = np.flatnonzero((removed > 0) & self._below(np.minimum(counts, 1)))
        if fix.size:
            counts = counts[fix]
            height = largest(
                lambda h: self._below(np.minimum(counts, h[:, np.newaxis])),
                np.ones(fix.size, np.int64),
                counts.max(axis=1),
            )
            removed[fix] = (counts - np.minimum(counts, height[:, np.newaxis])).sum(axis=1)
        return removed

    def check(self, table: CountTable) -> None:
        """Raise an InfeasibleError if the whole table has too few values."""
        self.need_values(table, self.minimum_size)
