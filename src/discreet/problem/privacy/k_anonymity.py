"""k-anonymity: every row is one of k that look the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.errors import Argument, UsageError, did_you_mean
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, WEAKER, Groups, PrivacyModel
from discreet.runtime.arguments import one_of, switch, whole_number
from discreet.runtime.parts import NumberControl
from discreet.runtime.plurals import listed

__all__ = ["KAnonymity"]

_MOST_KEY_SETS = 5000
"""More combinations of columns than this are refused."""


@PRIVACY.register
@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least ``k`` rows or, if promises count people, ``k`` people.

    Classes are those of all quasi-identifiers together. With ``on`` they are formed by the released values of these
    columns alone, a *key set*; with ``any=j`` the promise is made for every j of the quasi-identifiers.

    ``unknown`` says what a hidden cell (``*``) is. By default it is a ``value`` of its own. With ``matches`` it is
    equal to every value, as sdcMicro and μ-ARGUS count: two rows match if they agree in every quasi-identifier in which
    neither is hidden, and every row must be matched by ``k`` rows, itself included. ``missing`` is the same, and
    missing values are hidden cells too, as in the files those tools write; it is for audits alone. Both are weaker:
    what is hidden may be inferred from rows that are not.

    With ``profile`` whoever knows all rows of a person still finds ``k`` people: as many have the same released
    quasi-identifiers in all their rows, each equally often. Then every class has ``k`` people, too.

    >>> KAnonymity(5).text, KAnonymity(3, unknown="matches").text, KAnonymity(5, profile=True).text
    ('k(5)', 'k(3, unknown=matches)', 'k(5, profile=true)')
    >>> KAnonymity(3, on=["age", "zip"]).text, KAnonymity(3, any=2).text
    ('k(3, on=[age, zip])', 'k(3, any=2)')
    """

    name = "k"
    aliases = ("k-anonymity",)
    examples = ("k(5)", "k(3, on=[age, zip])", "k(3, any=2)", "k(3, unknown=matches)")
    title = "Nobody stands out"
    summary = "Every person looks the same as at least so many people together, in all columns others may know."
    term = "k-anonymity"
    prevents = "Being found: a neighbour who knows somebody's age, town and job cannot tell which row is theirs."
    illustration = "With 5, whoever knows that Ann is 34 and lives in Leeds finds five rows or more, not one."
    recommended = True
    rank = 10
    controls = (NumberControl("k", "How many look the same, at least", 5, 2, 100, 1),)
    union_closed = True
    superset_closed = True
    favors_even = True

    k: int
    on: Sequence[str] | None = field(default=None, kw_only=True)
    any: int | None = field(default=None, kw_only=True)
    unknown: str = field(default="value", kw_only=True)
    profile: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self.k, "k of k-anonymity", least=1))
        if self.on is not None:
            object.__setattr__(self, "on", _columns(self.on))
        if self.any is not None:
            object.__setattr__(self, "any", whole_number(self.any, "any of k-anonymity", least=1))
        one_of(self.unknown, "The argument unknown of k", ("value", "matches", "missing"))
        switch(self.profile, "profile of k-anonymity")
        self._check_arguments()

    def _check_arguments(self) -> None:
        """Raise a UsageError if arguments exclude each other."""
        if self.on is not None and self.any is not None:
            raise UsageError(
                "k(…) has either on=[…], which names columns, or any=…, which counts them; leave one out, or promise "
                "both one after the other.",
                topic="key-sets",
            )
        if self.of_key_sets and (self.profile or self.counts_matches):
            other = "profile" if self.profile else "unknown"
            raise UsageError(f"Key sets are about strict classes of rows; leave on and any out, or {other}.")
        if self.profile and self.counts_matches:
            raise UsageError("A profile is made of all cells of a person; leave either profile or unknown out.")

    def __repr__(self) -> str:
        given = {"on": self.on, "any": self.any, "unknown": self.unknown, "profile": self.profile}
        defaults = {"on": None, "any": None, "unknown": "value", "profile": False}
        more = "".join(f", {name}={value!r}" for name, value in given.items() if value != defaults[name])
        return f"{type(self).__name__}(k={self.k!r}{more})"

    @property
    def of_key_sets(self) -> bool:
        """Whether the promise is about key sets, and not about all quasi-identifiers together."""
        return self.on is not None or self.any is not None

    @property
    def counts_matches(self) -> bool:
        """Whether a hidden cell is equal to every value."""
        return self.unknown != "value"

    @property
    def counts_profiles(self) -> bool:
        """Whether all rows of a person together are counted."""
        return self.profile

    @property
    def missing_matches(self) -> bool:
        """Whether a missing value is a hidden cell."""
        return self.unknown == "missing"

    @property
    def shown(self) -> str:
        """The text form; it holds names of columns and no values."""
        return self.text

    @property
    def words(self) -> str:
        """The promise as a sentence for reports, which says that counting matches is weaker.

        >>> KAnonymity(5).words
        'Every person is one of at least 5 who look the same.'
        >>> KAnonymity(3, on=["age", "zip"]).words
        'Whoever knows age and zip of a person finds at least 3 who look the same.'
        """
        if self.on is not None:
            return f"Whoever knows {listed(self.on)} of a person finds at least {self.k} who look the same."
        if self.any is not None:
            known = "any quasi-identifier" if self.any == 1 else f"any {self.any} of the quasi-identifiers"
            return f"Whoever knows {known} of a person, and no more, finds at least {self.k} who look the same."
        if self.profile:
            return f"Every person is one of at least {self.k} whose rows, taken together, look the same."
        if self.counts_matches:
            return f"Every row is matched by at least {self.k}. {WEAKER}"
        return f"Every person is one of at least {self.k} who look the same."

    def key_sets(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the columns of each key set; none if the classes are those of all quasi-identifiers.

        >>> KAnonymity(3, any=2).key_sets(["age", "sex", "zip"])
        [('age', 'sex'), ('age', 'zip'), ('sex', 'zip')]
        """
        if self.on is not None:
            return [] if set(self.on) >= set(columns) else [tuple(name for name in columns if name in self.on)]
        if self.any is not None:
            return [] if self.any >= len(columns) else list(combinations(columns, self.any))
        return []

    def check_key_sets(self, columns: Sequence[str]) -> None:
        """Raise a UsageError if a key set names a column that is no quasi-identifier, or there are too many sets."""
        for column in self.on or ():
            if column not in columns:
                hint = did_you_mean(column, columns)
                raise UsageError(
                    f"'{self.text}' names '{column}', which is not a quasi-identifier; "
                    + (hint or "a key set is made of quasi-identifiers."),
                    column=column,
                    topic="not-a-quasi-identifier",
                )
        if self.any is not None and self.any > len(columns):
            raise UsageError(
                f"'{self.text}' asks for any {self.any} of {len(columns)} quasi-identifiers; "
                f"for all of them together write k({self.k}).",
                topic="key-sets",
            )
        if self.any is not None and comb(len(columns), self.any) > _MOST_KEY_SETS:
            raise UsageError(
                f"'{self.text}' makes {comb(len(columns), self.any):,} key sets of {len(columns)} quasi-identifiers, "
                f"and {_MOST_KEY_SETS:,} are the most; choose a smaller number, or name the key sets with on=[…].",
                topic="key-sets",
            )

    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it has k rows, which is enough whatever a hidden cell is.

        A promise on key sets asks nothing of a class by itself. Profiles are those of people, see ``Problem.profile``.
        """
        needed = self.smallest(classes.table) if self.of_key_sets else self.k
        return classes.sizes >= needed

    def reached(self, groups: Groups) -> float:
        """Return the size of the smallest class, of the rarest profile, or the fewest rows that match one.

        It is infinite if there is none.
        """
        return float(groups.sizes.astype(np.float64).min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the smallest class is large enough."""
        return reached >= self.k

    @property
    def minimum_size(self) -> int:
        """A class needs k rows, unless the promise is about key sets, or rows of other classes match it."""
        return 1 if self.counts_matches or self.of_key_sets else self.k

    def smallest(self, table: CountTable) -> int:
        """Return k if the classes are those of all quasi-identifiers, else 1."""
        if self.of_key_sets:
            return 1 if self.key_sets(table.names) else self.k
        return self.minimum_size

    @property
    def needs(self) -> tuple[int, dict[str, int]] | None:
        """A class needs k rows, unless options say what else counts."""
        return (self.k, {}) if self.text == f"k({self.k})" else None

    def check(self, table: CountTable) -> None:
        """Raise an error if nobody says whose rows a profile is made of, or if the whole table has fewer than k."""
        if self.profile and table.unit != "person":
            raise UsageError(
                f"'{self.text}' looks at all rows of a person; name the column that says whose they are as ",
                Argument("person"),
                ".",
            )
        self.need_rows(table, self.k, f"k can be {table.n:,} at most")


def _columns(given: Any) -> tuple[str, ...]:
    """Return the columns of a key set; raise a UsageError if they are none."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not names:
        raise UsageError("on= names the columns of a key set, as in k(3, on=[age, zip]).", topic="key-sets")
    columns = tuple(str(name) for name in names)
    repeated = next((name for name in columns if columns.count(name) > 1), None)
    if repeated is not None:
        raise UsageError(f"A key set names the column '{repeated}' twice; leave one out.", topic="key-sets")
    return columns
