"""What may be said about the people a release leaves out: how many they are if at least five, and nothing else.

The number of rows, the cost and its bound tell by simple arithmetic how many people were left out. Where those are
fewer than five, none of these figures is handed over; :class:`discreet.Release` itself keeps all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import UsageError
from discreet.problem import PRIVACY
from discreet.release._small import LEAST, few

if TYPE_CHECKING:
    from discreet.release._release import Release

__all__ = ["WITHHELD", "LeftOut", "compared_promises", "comparing"]

WITHHELD = (
    f"Fewer than {LEAST} people were left out. How many rows the original table has, the cost and its bound would tell "
    "exactly how many, so they are not shown here; whoever holds the data has them in release.n, release.cost and "
    "release.lower_bound."
)
"""Why figures are missing."""


@dataclass(frozen=True)
class LeftOut:
    """How many people a release leaves out, and what may be said about that.

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

    @classmethod
    def of(cls, release: Release) -> LeftOut:
        """Return how many people a release leaves out."""
        return cls(release.n - release.suppressed, release.suppressed, release.dropped_missing)

    @property
    def total(self) -> int:
        """How many were left out, for whatever reason."""
        return self.suppressed + self.dropped

    @property
    def few(self) -> bool:
        """Whether so few were suppressed that the number of rows, the cost and its bound are not shown."""
        return 0 < self.suppressed < LEAST

    @property
    def rows(self) -> int | None:
        """The rows of the original table; None where they would tell about few people."""
        known = self.total == 0 or self.total >= LEAST
        return self.released + self.total if known and (self.few or not 0 < self.dropped < LEAST) else None

    @property
    def words(self) -> str:
        """How many were left out, as far as that may be said."""
        if self.few:
            return f"fewer than {LEAST} left out" if self.total < LEAST else f"{self.total:,} left out"
        share = self.suppressed / max(self.released + self.suppressed, 1)
        missing = f", {few(self.dropped)} left out for missing values" if self.dropped else ""
        return f"{self.suppressed:,} suppressed ({share:.2%}){missing}"

    @property
    def released_words(self) -> str:
        """How many rows are released, and of how many as far as that may be said."""
        return f"{self.released:,} released" if self.rows is None else f"{self.released:,} of {self.rows:,} released"

    def to_dict(self) -> dict[str, int | str | None]:
        """Return the counts as plain data; None is what would tell about few people."""
        return {
            "rows": None if self.few else self.released + self.suppressed,
            "released": self.released,
            "left_out": f"fewer than {LEAST}" if 0 < self.total < LEAST else None if self.rows is None else self.total,
            "suppressed": None if self.few else self.suppressed,
            "dropped_missing": None if self.few or 0 < self.dropped < LEAST else self.dropped,
        }


def compared_promises(release: Release) -> frozenset[str]:
    """Return the promises that compare classes with the whole table, if anybody of it was left out.

    What they have reached is not handed over: with the release at hand it would tell the values of few who are missing.
    """
    return comparing(release.job) if LeftOut.of(release).total else frozenset()


def comparing(job: Mapping[str, Any]) -> frozenset[str]:
    """Return the promises of a job that compare classes with the whole table."""
    found = set()
    for text in job["privacy"]:
        try:
            model = PRIVACY.make(text).resolve(list(job.get("sensitive") or ()))
        except UsageError:  # a model of the user's own, of which only the object is known
            found.add(str(text))
        else:
            found |= {model.shown} if model.compares else set()
    return frozenset(found)
