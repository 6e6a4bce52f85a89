"""What models share that limit the share of each sensitive value in a class."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.errors import InfeasibleError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import Groups
from discreet.problem.privacy._sensitive import TOLERANCE, SensitiveModel, whole_table

__all__ = ["ThresholdModel"]


class ThresholdModel(SensitiveModel):
    """No sensitive value i makes up more than a share θ_i of the known values of any class.

    A class without a known value breaks no threshold, however small it is. Shares are compared with a tolerance of one
    part in 10^9. Where people are counted, shares are of the people with a known value, unless the model compares
    distributions.
    """

    union_closed = True
    limits_values = True
    favors_even = True

    by_thetas: ClassVar[bool] = False
    """Thresholds and the smallest size are all there is to the model. Not inherited: each class sets it for itself."""

    of_distribution: ClassVar[bool] = False
    """Shares are those of the distribution of values, even where one person may have several."""

    @property
    def compiled(self) -> bool:
        """Whether compiled kernels may judge classes by the thresholds and the smallest size."""
        return bool(vars(type(self)).get("by_thetas", False))

    @abstractmethod
    def thetas(self, totals: IntArray, names: Sequence[str]) -> FloatArray:
        """Return the threshold of each value, from its frequency in the table and its name."""

    def smallest(self, table: CountTable) -> int:
        """Return the least size of an ok class; one row is enough if its value is not known."""
        return 1 if self.histogram(table).missing else self.minimum_size

    def known(self, classes: Classes) -> NDArray[np.int64]:
        """Return how many rows, or people, of each class have a known value."""
        counted = None if self.of_distribution else classes.known.get(self.column)
        return super().known(classes) if counted is None else np.asarray(counted, dtype=np.int64)

    def caps(self, table: CountTable, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the most rows of each value in a class with so many known values, (c, v)."""
        histogram = self.histogram(table)
        shares = self.thetas(histogram.totals, histogram.labels) * (1 + TOLERANCE)
        return np.floor(sizes[:, np.newaxis] * shares).astype(np.int64)

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether every value keeps to its share."""
        return np.asarray((self.counts(classes) <= self.caps(classes.table, self.known(classes))).all(axis=1))

    def multiples(self, groups: Groups) -> FloatArray:
        """Return each share of a value in a class as a multiple of its threshold."""
        thetas = self.thetas(groups.whole, groups.names)[groups.value]
        shares = groups.shares
        return np.divide(shares, thetas, out=np.where(shares > 0, math.inf, 0.0), where=thetas > 0)

    def fewest_removed(self, classes: Classes) -> NDArray[np.int64]:
        """Return the exact minimum: the fixed point of Lemma 3 of the l+ paper.

        If s rows stay, value i keeps at most floor(θ_i · s) of them, so s is lowered to what these caps leave until
        they leave all of it. If the caps of some values sum to a share Θ and the other values have r rows, then
        s ≤ r / (1 − Θ), so that few steps are needed. Rows without a known value stay and do not count.
        """
        known = self.known(classes)
        left = known.copy()
        counts = self.counts(classes)
        moving = np.flatnonzero((counts > self.caps(classes.table, known)).any(axis=1))
        counts = counts[moving]
        histogram = self.histogram(classes.table)
        thetas = self.thetas(histogram.totals, histogram.labels)
        while moving.size:
            before = left[moving]
            capped = counts > thetas * before[:, np.newaxis]
            share = np.where(capped, thetas, 0.0).sum(axis=1)
            free = np.where(capped, 0, counts).sum(axis=1)
            reach = np.divide(free, 1 - share, out=before.astype(np.float64), where=share < 1 - TOLERANCE)
            after = np.minimum(counts, self.caps(classes.table, before)).sum(axis=1)
            after = np.minimum(after, np.floor(reach * (1 + TOLERANCE) + TOLERANCE).astype(np.int64))
            left[moving] = after
            moving, counts = moving[after < before], counts[after < before]
        return known - left

    def check(self, table: CountTable) -> None:
        """Raise an error if the table does not fit, or if no row could ever be published."""
        self.fits(table)
        if self.histogram(table).overlaps:
            return  # leaving out one person may remove several values
        if 0 < table.n == self.fewest_removed(whole_table(table, self.column))[0]:
            raise InfeasibleError(
                f"No class can keep to the thresholds of '{self.name}' for '{self.column}'; raise them.",
                column=self.column,
                topic="never-possible",
            )
