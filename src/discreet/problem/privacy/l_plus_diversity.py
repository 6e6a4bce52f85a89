"""l+-diversity: the share of each sensitive value in a class is limited, value by value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.counts import CountTable, FloatArray, IntArray
from discreet.errors import UsageError
from discreet.problem.privacy._base import PRIVACY, Groups
from discreet.problem.privacy._sensitive import TOLERANCE
from discreet.problem.privacy._thresholds import ThresholdModel
from discreet.runtime.arguments import column_name, number, one_of
from discreet.runtime.parts import NumberControl
from discreet.runtime.plurals import amount

__all__ = ["LPlusDiversity"]


@PRIVACY.register
@dataclass(frozen=True)
class LPlusDiversity(ThresholdModel):
    """No sensitive value i makes up more than a share θ_i of the known values of any class.

    ``theta`` is one number for all values (1/l is the frequency form of l-diversity), or a mapping from values to
    numbers; values not named may have any share. With ``by="frequency"`` the number is meant for rare values: a value
    more frequent in the whole table than the average value gets min(1, θ · frequency / average). Shares are compared
    with a tolerance of one part in 10^9.

    >>> LPlusDiversity(0.25, "disease").text
    'l+(0.25, disease)'
    >>> LPlusDiversity({"HIV": 0.1, "Flu": 0.5}, "disease").text
    'l+({HIV: 0.1, Flu: 0.5}, disease)'
    """

    name = "l+"
    aliases = ("l-plus",)
    examples = ("l+(0.25, disease)", "l+({HIV: 0.1, Flu: 0.5}, disease)", "l+(0.25, disease, by=frequency)")
    title = "No value is too likely"
    summary = "Among people who look the same, no sensitive value has a larger share than this."
    term = "l+-diversity"
    prevents = "A good guess: half of those who could be Ann have the same illness."
    illustration = "With 0.3, no illness is had by more than 3 in 10 of the rows that could be Ann's."
    rank = 50
    controls = (NumberControl("theta", "Largest share", 0.3, 0.01, 1.0, 0.01),)
    sentence = "Among people who look the same, no value of {attribute} has a larger share than {theta}."
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
        """The promise as a sentence, in which thresholds of single values are only counted."""
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
        """Return the threshold of each value, by its frequency in the table or by its name.

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
        """Return the largest share of a value in a class; if thresholds differ, as a multiple of its own."""
        if self._uniform:
            return float(groups.shares.max(initial=0.0))
        return float(self.multiples(groups).max(initial=0.0))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether no value exceeds its threshold."""
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
        """Raise a UsageError if a value with a threshold does not occur."""
        if isinstance(self.theta, Mapping):
            unknown = len(set(self.theta) - set(self.histogram(table).labels))
            if unknown:
                values = amount(unknown, "value")
                raise UsageError(
                    f"'{self.name}' has thresholds for {values} that '{self.column}' does not have; "
                    "correct the spelling or leave them out.",
                    column=self.column,
                )
