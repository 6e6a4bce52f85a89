"""k-anonymity: every row is one of k that look the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable
from discreet.errors import UsageError, did_you_mean
from discreet.problem.classes import Classes
from discreet.problem.privacy._base import PRIVACY, Groups, PrivacyModel
from discreet.runtime.arguments import whole_number
from discreet.runtime.parts import NumberControl
from discreet.runtime.plurals import listed

__all__ = ["KAnonymity"]

_MOST_KEY_SETS = 5000
"""More combinations of columns than this are refused."""


@PRIVACY.register
@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least ``k`` rows.

    Classes are those of all quasi-identifiers together. With ``on`` they are formed by the released values of these
    columns alone, a *key set*; with ``any=j`` the promise is made for every j of the quasi-identifiers.

    >>> KAnonymity(5).text
    'k(5)'
    >>> KAnonymity(3, on=["age", "zip"]).text, KAnonymity(3, any=2).text
    ('k(3, on=[age, zip])', 'k(3, any=2)')
    """

    name = "k"
    aliases = ("k-anonymity",)
    examples = ("k(5)", "k(3, on=[age, zip])", "k(3, any=2)")
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
    on: Sequence[str] | None = None
    any: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self.k, "k of k-anonymity", least=1))
        if self.on is not None:
            object.__setattr__(self, "on", _columns(self.on))
        if self.any is not None:
            object.__setattr__(self, "any", whole_number(self.any, "any of k-anonymity", least=1))
        if self.on is not None and self.any is not None:
            raise UsageError(
                "k(…) has either on=[…], which names columns, or any=…, which counts them; leave one out, or promise "
                "both one after the other.",
                topic="key-sets",
            )

    def __repr__(self) -> str:
        key_sets = "".join(f", {name}={getattr(self, name)!r}" for name in ("on", "any") if getattr(self, name))
        return f"{type(self).__name__}(k={self.k!r}{key_sets})"

    @property
    def shown(self) -> str:
        """The text form; it holds names of columns and no values."""
        return self.text

    @property
    def words(self) -> str:
        """The promise as a sentence.

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
        """Return for each class whether it has k rows; a promise on key sets asks nothing of a class by itself."""
        return classes.sizes >= self.smallest(classes.table)

    def reached(self, groups: Groups) -> float:
        """Return the size of the smallest class; infinite if there is no class."""
        return float(groups.sizes.astype(np.float64).min(initial=np.inf))

    def satisfied_by(self, reached: float) -> bool:
        """Return whether the smallest class is large enough."""
        return reached >= self.k

    @property
    def minimum_size(self) -> int:
        """A class needs k rows, unless the promise is about key sets."""
        return self.k if self.on is None and self.any is None else 1

    def smallest(self, table: CountTable) -> int:
        """Return k if the classes are those of all quasi-identifiers, else 1."""
        plain = self.on is None and self.any is None
        return self.k if plain or not self.key_sets(table.names) else 1

    def check(self, table: CountTable) -> None:
        """Raise an InfeasibleError if the whole table has fewer than k rows."""
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
