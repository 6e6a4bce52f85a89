"""l+-diversity: how sure anyone can be of a sensitive value is limited, value by value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.errors import UsageError
from discreet.problem._checks import column_name, number, one_of
from discreet.problem._classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups
from discreet.problem.privacy._sensitive import TOLERANCE, SensitiveModel, whole_table

__all__ = ["LPlusDiversity"]


@PRIVACY.register
@dataclass(frozen=True)
class LPlusDiversity(SensitiveModel):
    """No sensitive value i makes up more than a share θ_i of any class.

    ``theta`` is one number for all values (1/l is the frequency form of l-diversity), or a mapping from value
    to number where values not named may have any share. With ``by="frequency"`` the one number is meant for
    rare values: a value more frequent in the whole table than the average of the values that occur gets
    min(1, θ · frequency / average). A share may exceed its θ by one part in 10^9, which is rounding.

    >>> LPlusDiversity(0.25, "disease").text
    'l+(0.25, disease)'
    >>> LPlusDiversity({"HIV": 0.1, "Flu": 0.5}, "disease").text
    'l+({HIV: 0.1, Flu: 0.5}, disease)'
    """

    name = "l+"
    aliases = ("l-plus",)
    plain = ("attribute",)
    union_closed = True
    limits_values = True
    favors_even = True

    theta: float | Mapping[str, float] = field(hash=False)
    attribute: str | None = None
    by: str | None = None

    def __post_init__(self) -> None:
        what = "theta of l+-diversity"
        if self.by is not None:
            one_of(self.by, "by of l+-diversity", ("frequency",))
        if not isinstance(self.theta, Mapping):
            number(self.theta, what, above=0, most=1)
        elif self.by is not None:
            raise UsageError("With by=frequency, theta of l+-diversity must be one number for all values.")
        elif not self.theta or not all(isinstance(value, str) for value in self.theta):
            raise UsageError("theta of l+-diversity must be a number or map values, as text, to numbers.")
        else:
            plain = {value: number(theta, what, least=0, most=1) for value, theta in self.theta.items()}
            object.__setattr__(self, "theta", plain)
        column_name(self.attribute, "The attribute of l+-diversity")

    def thetas(self, totals: IntArray, names: Sequence[str]) -> FloatArray:
        """Return the threshold of each value, from how often it occurs in the table and what it is called.

        >>> LPlusDiversity(0.2, by="frequency").thetas(np.array([1, 1, 4]), ())
        array([0.2, 0.2, 0.4])
        """
        if isinstance(self.theta, Mapping):
            return np.array([self.theta.get(name, 1.0) for name in names], dtype=np.float64)
        if self.by is None:
            return np.full(totals.size, float(self.theta))
        average = totals.sum() / max(np.count_nonzero(totals), 1)
        return np.asarray(np.minimum(1.0, self.theta * np.maximum(totals / max(average, 1.0), 1.0)))

    def caps(self, table: CountTable, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the most rows of each value that classes of these sizes may hold, (c, v)."""
        histogram = self.histogram(table)
        shares = self.thetas(histogram.totals, histogram.labels) * (1 + TOLERANCE)
        return np.floor(sizes[:, np.newaxis] * shares).astype(np.int64)

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether every value keeps to its share."""
        return np.asarray((self.counts(classes) <= self.caps(classes.table, classes.sizes)).all(axis=1))

    def reached(self, groups: Groups) -> float:
        """Return the largest share of a value in a class; where thresholds differ, as a multiple of its own."""
        thetas = self.thetas(groups.whole, groups.names)[groups.value]
        shares = groups.count / groups.sizes[groups.group]
        if self._uniform:
            return float(shares.max(initial=0.0))
        multiples = np.divide(shares, thetas, out=np.where(shares > 0, math.inf, 0.0), where=thetas > 0)
        return float(multiples.max(initial=0.0))

    def satisfied_by(self, reached: float) -> bool:
        """Whether no value exceeds its threshold."""
        return reached <= (float(self.theta) if self._uniform else 1.0) * (1 + TOLERANCE)  # type: ignore[arg-type]

    @property
    def _uniform(self) -> bool:
        return self.by is None and not isinstance(self.theta, Mapping)

    @property
    def minimum_size(self) -> int:
        """A single row is a share of 1/size; if thresholds differ, one of them may be 1."""
        if isinstance(self.theta, Mapping) or self.by is not None:
            return 1
        return math.ceil((1 - TOLERANCE) / self.theta)

    def fewest_removed(self, classes: Classes) -> NDArray[np.int64]:
        """Return the exact minimum, which Lemma 3 of the l+ paper applied again and again arrives at.

        If s rows can stay, value i keeps at most floor(θ_i · s) of them; so s is lowered to what these caps
        leave until they leave all of it. Where the caps of some values sum to a share Θ and the others hold r
        rows, s ≤ r / (1 − Θ), which gets there in a few steps.
        """
        left = classes.sizes.astype(np.int64)
        moving = np.flatnonzero(~self.ok(classes))
        counts = self.counts(classes)[moving]
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
        return classes.sizes - left

    def fits(self, table: CountTable) -> None:
        """Raise a UsageError if a value named is not there."""
        if isinstance(self.theta, Mapping):
            unknown = len(set(self.theta) - set(self.histogram(table).labels))
            if unknown:
                raise UsageError(
                    f"'{self.name}' has thresholds for {unknown} values that '{self.column}' does not have; "
                    "correct their spelling or leave them out.",
                    column=self.column,
                )

    def check(self, table: CountTable) -> None:
        """Raise a UsageError if a value named is not there, or if no row could ever be published."""
        self.fits(table)
        if 0 < table.n == self.fewest_removed(whole_table(table, self.column))[0]:
            raise UsageError(
                f"No class can keep to the thresholds of '{self.name}' for '{self.column}'; raise them.",
                column=self.column,
            )
