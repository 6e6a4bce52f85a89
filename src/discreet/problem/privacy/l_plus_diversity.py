"""l+-diversity: how sure anyone can be of a sensitive value is limited, value by value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet._words import amount
from discreet.counts import CountTable, FloatArray, IntArray
from discreet.errors import UsageError
from discreet.problem._checks import column_name, number, one_of
from discreet.problem.privacy._base import PRIVACY, Groups
from discreet.problem.privacy._sensitive import TOLERANCE
from discreet.problem.privacy._thresholds import ThresholdModel

__all__ = ["LPlusDiversity"]


@PRIVACY.register
@dataclass(frozen=True)
class LPlusDiversity(ThresholdModel):
    """No sensitive value i makes up more than a share θ_i of the known values of any class.

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
    saying = "Among people who look the same, no value of {attribute} has a larger share than {theta}."
    plain = ("attribute",)
    by_thetas = True

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

    @property
    def words(self) -> str:
        """What is limited; a threshold of each value counts the values only."""
        if not isinstance(self.theta, Mapping):
            return super().words
        column = self.attribute or "the sensitive column"
        number = f"{len(self.theta)} of the values of {column}"
        return f"Among people who look the same, {number} have no larger share than is set for each."

    @property
    def compares(self) -> bool:
        """Thresholds by frequency are those of the whole table."""
        return self.by is not None

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

    def reached(self, groups: Groups) -> float:
        """Return the largest share of a value in a class; where thresholds differ, as a multiple of its own."""
        if self._uniform:
            return float(groups.shares.max(initial=0.0))
        return float(self.multiples(groups).max(initial=0.0))

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

    def fits(self, table: CountTable) -> None:
        """Raise a UsageError if a value named is not there."""
        if isinstance(self.theta, Mapping):
            unknown = len(set(self.theta) - set(self.histogram(table).labels))
            if unknown:
                values = amount(unknown, "value")
                raise UsageError(
                    f"'{self.name}' has thresholds for {values} that '{self.column}' does not have; "
                    "correct the spelling or leave them out.",
                    column=self.column,
                )
