"""Statistical disclosure control of the report itself: which counts are shown, merged or withheld.

No count of fewer than five people is shown, nor one that gives such a count away by subtraction. Of the people a
release leaves out, reports say how many they are if at least five, and nothing else: the number of rows, the cost and
its lower bound would reveal the same by arithmetic, so these are withheld too. :class:`discreet.Release` has them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import UsageError
from discreet.problem import COSTS, PRIVACY
from discreet.runtime.plurals import units

if TYPE_CHECKING:
    from discreet.counts import IntArray
    from discreet.pipeline.release import Release
    from discreet.problem import PrivacyModel

__all__ = [
    "COST_WITHHELD",
    "LEAST",
    "WITHHELD",
    "LeftOut",
    "comparing_promises",
    "few",
    "hidden_cells",
    "least_cell",
    "merge_small_cells",
    "withheld_promises",
]

LEAST = 5
"""No smaller count is shown, whatever was promised."""
WITHHELD = (
    f"Fewer than {LEAST} people were left out. The number of original rows, the cost and its lower bound would reveal "
    "exactly how many, so they are not shown here; the owner of the data has them in release.n, release.cost and "
    "release.lower_bound."
)
"""Why figures are missing."""
_WITHHELD_ROWS = (
    f"Fewer than {LEAST} {{}} were left out or lost rows. The number of original rows, the cost and its lower bound "
    "would reveal more about them, so they are not shown here; the owner of the data has them in release.n, "
    "release.cost and release.lower_bound."
)
COST_WITHHELD = (
    "The cost depends on values of people who were left out, so that it and its lower bound are not shown here; the "
    "owner of the data has them in release.cost and release.lower_bound."
)
"""Why the cost is missing."""


def least_cell(models: Sequence[PrivacyModel]) -> int:
    """Return the smallest count that may be shown: the promised class size, but at least 5."""
    return max([LEAST, *(model.minimum_size for model in models)])


def few(rows: int, least: int = LEAST) -> str:
    """Write a count, unless it is too small to show.

    >>> few(3), few(0), few(1200)
    ('fewer than 5', '0', '1,200')
    """
    return f"fewer than {least:,}" if 0 < rows < least else f"{rows:,}"


def merge_small_cells(rows: IntArray, least: int) -> IntArray:
    """Merge neighbouring cells until each holds at least ``least`` rows; return the merged cell of each.

    A small cell absorbs those that follow it; a remainder at the end joins the last cell that is large enough. Empty
    cells stay as they are.

    >>> merge_small_cells(np.array([9, 0, 2, 1, 4, 7, 1]), 5).tolist()
    [0, 1, 2, 2, 2, 3, 3]
    """
    cell = np.zeros(len(rows), dtype=np.int64)
    current, size, last_large = -1, 0, -1
    for i, count in enumerate(np.asarray(rows).tolist()):
        if not 0 < size < least:
            current += 1
            size = 0
        cell[i] = current
        size += count
        if size >= least:
            last_large = current
    if 0 < size < least:
        cell[cell > last_large] = max(last_large, 0)
    return cell


def hidden_cells(counts: Sequence[int], least: int) -> list[bool]:
    """Return which counts to hide, given that their total is known (primary and secondary cell suppression).

    >>> hidden_cells([100, 3, 0, 40], 5), hidden_cells([100, 3, 4, 40], 5), hidden_cells([100, 0, 40], 5)
    ([False, True, False, True], [False, True, True, False], [False, False, False])
    """
    hidden = [0 < count < least for count in counts]
    large = [i for i, count in enumerate(counts) if count >= least]
    small_total = sum(count for count in counts if 0 < count < least)
    if any(hidden) and large and (sum(hidden) == 1 or small_total < least):
        hidden[min(large, key=lambda i: counts[i])] = True
    return hidden


@dataclass(frozen=True)
class LeftOut:
    """How many people a release leaves out, and what may be disclosed about that.

    >>> LeftOut(released=90, suppressed=10).words, LeftOut(released=97, suppressed=3).words
    ('10 suppressed (10.00%)', 'fewer than 5 left out')
    >>> LeftOut(released=90, suppressed=3, dropped=7).words
    '10 left out'
    >>> LeftOut(released=90, suppressed=10, dropped=3).words
    '10 suppressed (10.00%), fewer than 5 left out for missing values'
    """

    released: int
    suppressed: int
    """Left out to keep the promises."""
    dropped: int = 0
    """Left out because a quasi-identifier was missing."""
    cost_tells: bool = False
    """Whether the cost depends on values of suppressed rows."""
    unit: str = "row"
    """What is counted: rows, which are people unless the job says whose rows they are, people or households."""
    counted: PeopleLeftOut | None = None
    """Where people are counted: ``suppressed`` and ``dropped`` are then people who lose any row."""

    @classmethod
    def of(cls, release: Release) -> LeftOut:
        """Count the people a release leaves out."""
        tells = bool(release.suppressed) and _cost_tells(release.job.get("cost"))
        if release.people is None or release.audit.people is None:
            return cls(release.n - release.suppressed, release.suppressed, release.dropped_missing, tells)
        people = PeopleLeftOut(
            whole=release.people,
            suppressed=release.suppressed_people or 0,
            rows=release.n,
            suppressed_rows=release.suppressed,
            dropped_rows=release.dropped_missing,
        )
        losing, dropped = release.people_losing_rows or 0, release.people_missing_values or 0
        return cls(release.audit.people, losing, dropped, tells, release.audit.unit, people)

    @property
    def total(self) -> int:
        """How many were left out, for whatever reason."""
        return self.suppressed + self.dropped

    @property
    def few(self) -> bool:
        """Whether so few were suppressed that rows, cost and lower bound are withheld."""
        every = (self.suppressed,) if self.counted is None else (self.suppressed, self.counted.suppressed)
        return any(0 < number < LEAST for number in every)

    @property
    def hides_cost(self) -> bool:
        """Whether the cost and its lower bound are withheld."""
        return self.few or self.cost_tells

    @property
    def why_withheld(self) -> str | None:
        """Why figures are missing; None if all are shown."""
        if self.few and self.counted is not None:
            return _WITHHELD_ROWS.format(units(self.unit))
        return WITHHELD if self.few else COST_WITHHELD if self.cost_tells else None

    @property
    def rows(self) -> int | None:
        """The rows of the original table, or its people; None where they would give away a small count."""
        if self.counted is not None:
            return None if self.few else self.counted.whole
        known = self.total == 0 or self.total >= LEAST
        return self.released + self.total if known and (self.few or not 0 < self.dropped < LEAST) else None

    @property
    def words(self) -> str:
        """How many were left out, as far as that may be disclosed."""
        if self.counted is not None:
            return self._people_words(self.counted)
        if self.few:
            return f"fewer than {LEAST} left out" if self.total < LEAST else f"{self.total:,} left out"
        share = self.suppressed / max(self.released + self.suppressed, 1)
        missing = f", {few(self.dropped)} left out for missing values" if self.dropped else ""
        return f"{self.suppressed:,} suppressed ({share:.2%}){missing}"

    def _people_words(self, people: PeopleLeftOut) -> str:
        missing = f", {few(self.dropped)} lose rows with missing values" if self.dropped else ""
        if self.few:
            return f"fewer than {LEAST} left out{missing}"
        share = people.suppressed / max(people.whole, 1)
        partly = self.suppressed - people.suppressed
        others = "" if not partly else f", {few(partly)} lose some of their rows"
        return f"{people.suppressed:,} suppressed ({share:.2%}){others}{missing}"

    @property
    def row_words(self) -> str:
        """How many rows are released where people are counted, and how many are not, as far as that is disclosed."""
        assert self.counted is not None
        released = self.counted.rows - self.counted.suppressed_rows
        if self.few or 0 < self.dropped < LEAST:
            return f"{released:,} released"
        gone = self.counted.suppressed_rows + self.counted.dropped_rows
        return f"{released:,} of {released + gone:,} released"

    @property
    def released_words(self) -> str:
        """How many rows are released, and out of how many as far as that may be disclosed."""
        return f"{self.released:,} released" if self.rows is None else f"{self.released:,} of {self.rows:,} released"

    def to_dict(self) -> dict[str, int | str | None]:
        """Return the counts as plain data; None where a count is withheld."""
        people = self.counted
        if people is not None:
            hidden = self.few or 0 < self.dropped < LEAST
            gone = people.suppressed_rows + people.dropped_rows
            return {
                "rows": None if hidden else people.rows,
                "released": people.rows - people.suppressed_rows,
                "left_out": None if hidden else gone,
                "suppressed": None if hidden else people.suppressed_rows,
                "dropped_missing": None if hidden else people.dropped_rows,
                "people": self.rows,
                "released_people": self.released,
                "suppressed_people": f"fewer than {LEAST}" if self.few else people.suppressed,
            }
        return {
            "rows": None if self.few else self.released + self.suppressed,
            "released": self.released,
            "left_out": f"fewer than {LEAST}" if 0 < self.total < LEAST else None if self.rows is None else self.total,
            "suppressed": None if self.few else self.suppressed,
            "dropped_missing": None if self.few or 0 < self.dropped < LEAST else self.dropped,
        }


@dataclass(frozen=True)
class PeopleLeftOut:
    """How many people a table has and a release leaves out, where promises count people, and how many rows."""

    whole: int
    suppressed: int
    """Suppressed with all their rows."""
    rows: int
    suppressed_rows: int
    dropped_rows: int


def _cost_tells(cost: Any) -> bool:
    """Whether a cost of a job depends on values of suppressed rows."""
    try:
        return COSTS.make("LM" if cost is None else cost).tells_suppressed
    except UsageError:  # a cost that was passed as an object and has no text form
        return True


def withheld_promises(release: Release) -> frozenset[str]:
    """Return the promises whose measured value is withheld: those that compare with people who were left out.

    Together with the release, such a figure would reveal the sensitive values of a few missing people.
    """
    return comparing_promises(release.job) if LeftOut.of(release).total else frozenset()


def comparing_promises(job: Mapping[str, Any]) -> frozenset[str]:
    """Return the promises of a job that compare classes with the whole table, such as t-closeness."""
    found = set()
    for text in job["privacy"]:
        try:
            model = PRIVACY.make(text).resolve(list(job.get("sensitive") or ()))
        except UsageError:  # a model that was passed as an object and has no text form
            found.add(str(text))
        else:
            found |= {model.shown} if model.compares else set()
    return frozenset(found)
