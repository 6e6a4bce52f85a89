"""Suppression by budget: classes that are not ok are suppressed, up to so many records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PrivacyModel
from discreet.problem.suppression._base import SUPPRESSION, Suppressed, Suppression
from discreet.problem.suppression._shared import all_ok, nothing
from discreet.runtime.arguments import number, one_of, whole_number
from discreet.runtime.parts import NumberControl
from discreet.runtime.plurals import amount

__all__ = ["SuppressRecords"]


@SUPPRESSION.register
@dataclass(frozen=True)
class SuppressRecords(Suppression):
    """All records of a class that is not ok are suppressed, but at most ``limit`` in the whole table.

    A whole ``limit`` is a number of records; one with a decimal point is a share of the table, rounded down: 1 is one
    record and 1.0 is all. Shares are taken as the decimals they were written as, so that 0.29 of 100 is 29.

    If promises count people, so does the limit: a person in a class that is not ok is suppressed with all rows, which
    may leave other classes not ok, until all that are left are. With ``of="rows"`` the limit is one of rows, and just
    the rows of the classes that are not ok are suppressed.

    >>> SuppressRecords(0.05).text, SuppressRecords(300).text
    ('budget(0.05)', 'budget(300)')
    >>> SuppressRecords(0.05).budget(30162)
    1508
    >>> SuppressRecords(300, of="rows").text
    'budget(300, of=rows)'
    """

    name = "budget"
    examples = ("budget(0.05)", "budget(5%)", "budget(300)")
    sought_as = ("outliers", "records", "rows", "suppress", "limit", "max")
    bare = r"\d+(\.\d*)?\s*%|0?\.\d+"
    title = "Some people may be left out"
    summary = (
        "People who fit into no group are left out, but no more than this share. A few outliers fewer often keep much "
        "detail for all others."
    )
    recommended = True
    rank = 10
    controls = (NumberControl("limit", "At most this share of all people", 0.05, 0.0, 1.0, 0.005, percent=True),)

    is_budget = True

    limit: float
    of: str = field(default="people", kw_only=True)

    def __post_init__(self) -> None:
        one_of(self.of, "of in budget", ("people", "rows"))
        given: Any = self.limit
        if isinstance(given, float | np.floating):
            checked: float = float(number(given, "The share of records to suppress", least=0, most=1))
        else:
            checked = whole_number(given, "The number of records to suppress", least=0)
        object.__setattr__(self, "limit", checked)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SuppressRecords) and self.text == other.text

    @property
    def words(self) -> str:
        """The limit as a sentence."""
        unit = ("person", "people") if self.of_people else ("row",)
        if isinstance(self.limit, int):
            return f"At most {amount(self.limit, *unit)} may be left out."
        return f"At most {100 * self.limit:g} % of the {'people' if self.of_people else 'rows'} may be left out."

    @property
    def of_people(self) -> bool:
        """Whether the limit is one of people."""
        return self.of == "people"

    def budget(self, n: int) -> int:
        """Return how many of ``n`` records may be suppressed."""
        if isinstance(self.limit, int):
            return min(self.limit, n)
        return math.floor(Fraction(repr(self.limit)) * n)

    def note(self, n: int) -> str | None:
        """Return a note if a number of records, or people, may be meant as a percentage of a large table.

        >>> SuppressRecords(5).note(30162)
        'budget(5) leaves out 5 at most; for a share write budget(5%).'
        """
        if not isinstance(self.limit, int) or not 1 <= self.limit <= 100 or n < 100 * self.limit or n < 1000:
            return None
        share = self.text.replace(f"({self.limit}", f"({self.limit}%", 1)
        return f"{self.text} leaves out {self.limit} at most; for a share write {share}."

    def apply(self, classes: Classes, models: Sequence[PrivacyModel]) -> Suppressed:
        """Return all records of each class that is not ok; the caller compares them with the budget."""
        ok = all_ok(classes, models)
        records = np.where(ok, 0, classes.sizes).astype(np.int64)
        return Suppressed(records, nothing(classes), np.ones(len(classes), dtype=np.bool_))
