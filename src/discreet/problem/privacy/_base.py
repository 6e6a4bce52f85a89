"""The base class of privacy models: a condition on equivalence classes, and flags that a search may rely on."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.counts import CountTable, IntArray
from discreet.errors import InfeasibleError, UsageError
from discreet.problem.classes import Classes
from discreet.runtime.parts import Family, Part
from discreet.runtime.plurals import amount
from discreet.runtime.text_form import outline

__all__ = ["PRIVACY", "WEAKER", "Groups", "PrivacyModel"]

WEAKER = (
    "A hidden cell counts as equal to every value, as sdcMicro and μ-ARGUS count, which is weaker than k-anonymity in "
    "classes: what is hidden may be inferred from rows that are not."
)
"""What reports say about promises that count matches."""


_UNITS = {"row": ("row",), "person": ("person", "people")}
"""What a table counts, as one and as several."""


@dataclasses.dataclass(frozen=True, eq=False)
class Groups:
    """The equivalence classes of a released table as the audit counted them, in long form.

    Entry ``e`` says that value ``value[e]`` of the sensitive attribute occurs ``count[e]`` times in class
    ``group[e]``; entries are sorted by class. Values that are missing or were suppressed have no entry.
    """

    sizes: NDArray[np.int64]
    """Rows of each class."""
    group: NDArray[np.int64]
    value: NDArray[np.int64]
    count: NDArray[np.int64]
    whole: NDArray[np.int64]
    """How often each value occurs in the table the promise was made about."""
    ancestors: NDArray[np.int32] | None = None
    """The hierarchy of the sensitive attribute, if it has one."""
    names: Sequence[str] = ()
    """The text of each value."""
    population: NDArray[np.float64] | None = None
    """People of the population with the released values of each class, if a model looks at them."""
    known: NDArray[np.int64] | None = None
    """Rows of each class whose value was known before any was suppressed; None if that is all rows."""
    hides: bool = False
    """Values may have been suppressed. Then a class without an entry keeps every promise about them."""
    positions: NDArray[np.float64] | None = None
    """The number each value is, if the sensitive attribute is a number or date (days since 1970-01-01)."""
    of_people: bool = False
    """Everything is counted in people, of whom one may have several values; ``known`` are those with any."""
    suppressed: NDArray[np.int64] | None = None
    """How many of each class have a suppressed value, where that is not what ``known`` has more than the values."""

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of each entry's value among the known values of its class."""
        known = self.sizes if self.known is None else self.known
        return np.asarray(self.count / known[self.group])

    @property
    def distribution(self) -> NDArray[np.float64]:
        """The share of each entry's value in the distribution of its class, as :attr:`shares` unless people overlap."""
        if not self.of_people:
            return self.shares
        total = np.bincount(self.group, weights=self.count, minlength=self.sizes.size)
        return np.asarray(self.count / np.maximum(total, 1)[self.group])

    @property
    def judged(self) -> NDArray[np.bool_]:
        """The classes that models of diversity judge: all, or those with a value if values may have been suppressed."""
        if not self.hides:
            return np.ones(self.sizes.size, dtype=np.bool_)
        return np.bincount(self.group[self.count > 0], minlength=self.sizes.size) > 0


class PrivacyModel(Part, ABC):
    """A condition that every published equivalence class must meet.

    Flags tell a search what it may rely on; all default to the careful answer. Whatever they say, the audit measures
    :meth:`reached` on what was written, and a release that breaks its promise is never published.
    """

    union_closed: ClassVar[bool] = False
    """The union of two ok classes is ok, so that without suppression everything above a feasible recoding is feasible.

    If it is wrong, exact solvers skip recodings, and what they call optimal may not be.
    """
    superset_closed: ClassVar[bool] = False
    """An ok class stays ok when any rows are added, so that a row suppressed at a node is suppressed at all below it.

    If it is wrong, bounds on suppression are too high, and what exact solvers call optimal may not be.
    """
    looks_at_sensitive: ClassVar[bool] = False
    """The model has an ``attribute`` field, which names the sensitive attribute it looks at.

    If it is wrong, the attribute is neither filled in nor checked.
    """
    of_table: ClassVar[bool] = False
    """The condition is one on the whole released table, see :meth:`holds`; every class is ok by itself.

    If it is wrong, solvers never ask :meth:`holds`, and the audit refuses the release.
    """
    of_sampling: ClassVar[bool] = False
    """It is also a promise about how rows were drawn, which no table shows: only a release can be audited for it.

    If it is wrong, the audit of any table calls a promise kept that nobody can check.
    """
    limits_values: ClassVar[bool] = False
    """It limits each sensitive value by itself: a class that is large enough is ok if no count exceeds :meth:`caps`.

    If it is wrong, ``violating-records`` and ``violating-values`` suppress too little or too much.
    """
    favors_even: ClassVar[bool] = False
    """An ok class stays ok when a row moves from a more to a less frequent sensitive value, within any ``caps``.

    If it is wrong, ``violating-records`` suppresses more records than need be, or finds no way to mend a class.
    """

    @property
    def shown(self) -> str:
        """The text form for messages and reports; values of the data are only counted."""
        return outline(self.text)

    @property
    def promised(self) -> float | None:
        """The promised number, to be shown beside what :meth:`reached` measures; None if there is none."""
        first = next((getattr(self, field.name) for field in dataclasses.fields(self)), None)  # type: ignore[arg-type]
        return first if isinstance(first, Real) else None  # type: ignore[return-value]

    @property
    def sampling(self) -> float:
        """The probability with which each row of the table is drawn before anything else is done; 1 draws all.

        If it is wrong, the release holds rows that the model assumes were left to chance.
        """
        return 1.0

    @property
    def counts_matches(self) -> bool:
        """A hidden cell is equal to every value: the audit counts the rows that match each row, not those of classes.

        If it is wrong, the audit measures another promise than the one that was made.
        """
        return False

    @property
    def missing_matches(self) -> bool:
        """Where matches are counted, a missing value is a hidden cell too. Only an audit can be asked for that.

        If it is wrong, the audit takes missing values for values, or the other way round.
        """
        return False

    @property
    def counts_profiles(self) -> bool:
        """It counts the people who share the released values of all their rows, not those of each class.

        If it is wrong, the audit measures another promise than the one that was made.
        """
        return False

    @property
    def looks_at_population(self) -> bool:
        """It counts the people of the population who have the released values of a class.

        If it is wrong, ``classes.population`` is missing.
        """
        return False

    @property
    def compares(self) -> bool:
        """The promise compares classes with the whole original table, which an audit must then be given.

        If it is wrong, the audit of somebody else's file compares with the released rows instead.
        """
        return False

    def key_sets(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the columns of each key set of these quasi-identifiers whose classes must have ``k`` rows.

        None by default: the classes are those of all quasi-identifiers. A model with key sets has a field ``k``, and
        calls every class of all quasi-identifiers ok.
        """
        return []

    def check_key_sets(self, columns: Sequence[str]) -> None:
        """Raise a UsageError if the key sets do not fit these quasi-identifiers."""
        return

    @abstractmethod
    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it satisfies the model."""

    def holds(self, sizes: IntArray) -> bool:
        """Return whether a released table with classes of these sizes satisfies the model.

        Called only if ``of_table`` is set, in addition to :meth:`ok`.
        """
        return True

    @abstractmethod
    def reached(self, groups: Groups) -> float:
        """Measure the parameter that a released table attains, by other code than :meth:`ok`.

        It is the strictest parameter that all classes satisfy: for k the size of the smallest.
        """

    @abstractmethod
    def satisfied_by(self, reached: float) -> bool:
        """Return whether the measured parameter keeps the promise."""

    @property
    def minimum_size(self) -> int:
        """The size below which no class is ok whose sensitive values are all known."""
        return 1

    @property
    def needs(self) -> tuple[int, dict[str, int]] | None:
        """The rows, and the different values of sensitive columns, that a class needs, if that is all it takes."""
        return None

    def smallest(self, table: CountTable) -> int:
        """Return the size below which no class of this table is ok, whether or not its sensitive values are known."""
        return self.minimum_size

    def fewest_removed(self, classes: Classes) -> NDArray[np.int64]:
        """Return a lower bound on the rows of each class that every ok subset of it leaves out.

        The default is exact for superset-closed models and 0 for others.
        """
        if self.superset_closed:
            return np.where(self.ok(classes), 0, classes.sizes).astype(np.int64)
        return np.zeros(len(classes), dtype=np.int64)

    def caps(self, table: CountTable, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the most rows of each sensitive value that a class with so many known values may hold, (c, v).

        Called only if ``limits_values`` is set. Caps must not fall as ``sizes`` grow.
        """
        raise NotImplementedError

    def resolve(self, sensitive: Sequence[str]) -> Self:
        """Return the model with its sensitive attribute checked, or filled in if the table has only one."""
        if not self.looks_at_sensitive:
            return self
        attribute = getattr(self, "attribute", None)
        if attribute is None:
            if len(sensitive) != 1:
                problem = "there are several" if sensitive else "there is none"
                raise UsageError(
                    f"'{self.shown}' needs a sensitive attribute and {problem}; name one, as in "
                    f"{self.name}(…, column).",
                    topic="sensitive-column",
                )
            return dataclasses.replace(self, attribute=sensitive[0])  # type: ignore[type-var]
        if attribute not in sensitive:
            raise UsageError(
                f"'{self.shown}' looks at column '{attribute}', which is not sensitive; "
                "add it to the sensitive columns.",
                column=attribute,
                topic="sensitive-column",
            )
        return self

    def fits(self, table: CountTable) -> None:
        """Raise a UsageError if the model needs something the table does not have."""
        if self.looks_at_population and table.population is None:
            raise self.unknown_population_error()

    def need_rows(self, table: CountTable, needed: int, way_out: str) -> None:
        """Raise an InfeasibleError if the whole table has fewer rows, or people, than one class must have."""
        if table.n < needed:
            raise InfeasibleError(
                f"'{self.text}' needs classes of {amount(needed, *_UNITS[table.unit])} and the whole table has "
                f"{table.n:,}; "
                f"{way_out}.",
                topic="never-possible",
            )

    def unknown_population_error(self) -> UsageError:
        """Return the error for a model that looks at a population nothing is known about."""
        return UsageError(
            f"'{self.shown}' asks how many people of the population are in a class; give a table of them as "
            "population, or the column with the survey weights as weights."
        )

    def people(self, classes: Classes) -> NDArray[np.float64]:
        """Return the people of the population who have the released values of each class."""
        if classes.population is None:
            raise self.unknown_population_error()
        return classes.population

    def check(self, table: CountTable) -> None:
        """Raise an InfeasibleError if the model can never hold on this table, before any search starts.

        Not called if sensitive values may be suppressed, which can mend any class; :meth:`fits` is.
        """
        self.fits(table)


PRIVACY: Family[PrivacyModel] = Family("privacy model", PrivacyModel, "discreet.problem.privacy", "discreet.privacy")  # type: ignore[type-abstract]
