"""What models that look at a sensitive attribute share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, Histogram
from discreet.errors import InfeasibleError, UsageError
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PrivacyModel
from discreet.runtime.plurals import amount

__all__ = ["TOLERANCE", "SensitiveModel", "largest", "whole_table"]

TOLERANCE = 1e-9
"""A class that misses a threshold by no more than this, relative to it, is on the threshold.

Rounding must not decide: three equally frequent values have an entropy of ln 3, and one row in three is a share of 1/3.
"""


class SensitiveModel(PrivacyModel):
    """A model with an ``attribute`` field.

    A row whose sensitive value is missing counts in the size of its class and nowhere else: shares are those of the
    known values. Where people are counted, one with several values counts for each of them: distributions of values
    are shares of the sum of all counts, and shares of the people of a class are those of :class:`ThresholdModel`.
    """

    looks_at_sensitive = True
    attribute: str | None

    @property
    def column(self) -> str:
        """The sensitive attribute; raise a UsageError if it was neither named nor resolved."""
        if self.attribute is None:
            raise UsageError(
                f"'{self.name}' does not say which sensitive attribute it looks at; name one.", topic="sensitive-column"
            )
        return self.attribute

    def histogram(self, table: CountTable) -> Histogram:
        """Return the histogram of the sensitive attribute."""
        return table.sensitive[self.column]

    def counts(self, classes: Classes) -> NDArray[np.int64]:
        """Return how often each sensitive value occurs in each class, (c, v)."""
        return classes.sensitive[self.column].astype(np.int64, copy=False)

    def numbers(self, table: CountTable) -> FloatArray:
        """Return the number of each sensitive value, dates as days since 1970-01-01; NaN for a missing one."""
        positions = self.histogram(table).positions
        if positions is None:
            raise UsageError(
                f"'{self.shown}' looks at numbers, and '{self.column}' holds text; choose another column.",
                column=self.column,
                topic="sensitive-column",
            )
        return positions

    def smallest(self, table: CountTable) -> int:
        """Return the least size of an ok class; one person may be enough where a person may have several values."""
        return 1 if self.histogram(table).overlaps else self.minimum_size

    def known(self, classes: Classes) -> NDArray[np.int64]:
        """Return how many known values each class has."""
        return np.asarray(self.counts(classes).sum(axis=1))

    def need_values(self, table: CountTable, needed: int) -> None:
        """Raise an InfeasibleError if the whole table has fewer different values than each class needs."""
        present = int(np.count_nonzero(self.histogram(table).totals))
        if present < needed:
            raise InfeasibleError(
                f"'{self.text}' needs {amount(needed, 'different value')} of '{self.column}' in each class "
                f"and the whole table has {present}; ask for less.",
                column=self.column,
                topic="never-possible",
            )


def whole_table(table: CountTable, column: str) -> Classes:
    """Return the whole table as one class."""
    totals = table.sensitive[column].totals
    return Classes(table, np.array([table.n], dtype=np.int64), sensitive={column: totals[np.newaxis, :]})


def largest(
    holds: Callable[[NDArray[np.int64]], NDArray[np.bool_]], low: NDArray[np.int64], high: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return, element by element, the largest x in low..high for which ``holds``, by bisection.

    ``holds`` must be true up to some x and false above it, and is assumed to be true at ``low``.

    >>> largest(lambda x: x * x <= 50, np.array([0, 0]), np.array([5, 50]))
    array([5, 7])
    """
    low, high = low.copy(), high.copy()
    while np.any(low < high):
        halfway = (low + high + 1) // 2
        fits = holds(halfway)
        low = np.where(fits, halfway, low)
        high = np.where(fits, high, halfway - 1)
    return low
