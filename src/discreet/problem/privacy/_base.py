"""What a privacy model is: a condition on one equivalence class, and what a search may rely on."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet._words import amount
from discreet.counts import CountTable, IntArray
from discreet.errors import InfeasibleError, UsageError
from discreet.problem._classes import Classes
from discreet.problem._family import Family, Part
from discreet.problem._text import outline

__all__ = ["PRIVACY", "Groups", "PrivacyModel"]


@dataclasses.dataclass(frozen=True, eq=False)
class Groups:
    """The classes of a released table as the audit counted them, in long form.

    Class ``g`` has ``sizes[g]`` rows. Entry ``e`` says that value ``value[e]`` of the sensitive attribute occurs
    ``count[e]`` times in class ``group[e]``; entries are sorted by group. Values that are missing or were made
    unknown have no entry. ``known[g]`` is how many rows of class ``g`` had a known value before any were made
    unknown, and what :attr:`shares` are shares of (None: all rows). With ``hides`` values may have been made
    unknown, and a class without any entry keeps the promise; else it has no value at all. ``whole[v]`` is how often
    value ``v`` occurs in the table the promise was made about, ``ancestors`` the attribute's hierarchy if it has
    one, ``names[v]`` its text. ``population[g]`` is how many people of the population have the released values of
    class ``g``, where the promise is about that.
    """

    sizes: NDArray[np.int64]
    group: NDArray[np.int64]
    value: NDArray[np.int64]
    count: NDArray[np.int64]
    whole: NDArray[np.int64]
    ancestors: NDArray[np.int32] | None = None
    names: Sequence[str] = ()
    population: NDArray[np.float64] | None = None
    known: NDArray[np.int64] | None = None
    hides: bool = False

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of each entry's value among the known values of its class."""
        known = self.sizes if self.known is None else self.known
        return np.asarray(self.count / known[self.group])

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which classes models of diversity look at: all, or those with a value where values may have been hidden."""
        if not self.hides:
            return np.ones(self.sizes.size, dtype=np.bool_)
        return np.bincount(self.group[self.count > 0], minlength=self.sizes.size) > 0


class PrivacyModel(Part, ABC):
    """A condition every published class must meet.

    Two flags tell a search what it may rely on. Both default to the careful answer.
    """

    union_closed: ClassVar[bool] = False
    """The union of two classes that are ok is ok (so that feasibility without suppression is monotone)."""
    superset_closed: ClassVar[bool] = False
    """An ok class stays ok when any rows are added (so rows suppressed at a node are suppressed below it)."""
    looks_at_sensitive: ClassVar[bool] = False
    """The model has an ``attribute`` field that names the sensitive attribute it looks at."""
    of_table: ClassVar[bool] = False
    """The condition is one on the whole released table, which :meth:`holds`; every class is ok by itself."""
    limits_values: ClassVar[bool] = False
    """The model limits each value: a class that is large enough is ok exactly if no count exceeds :meth:`caps`."""
    favors_even: ClassVar[bool] = False
    """An ok class stays ok when a row moves from a more to a less frequent value, within any ``caps``.

    This and ``limits_values`` are what taking single records out of a class relies on; without either it is
    refused.
    """

    @property
    def shown(self) -> str:
        """The text form for messages and reports, in which values of the data are only counted."""
        return outline(self.text)

    @property
    def promised(self) -> float | None:
        """The number that :meth:`reached` is compared with, for people; None where there is none."""
        first = next((getattr(self, field.name) for field in dataclasses.fields(self)), None)  # type: ignore[arg-type]
        return first if isinstance(first, Real) else None  # type: ignore[return-value]

    @property
    def looks_at_population(self) -> bool:
        """Whether it asks how many people of the population have the released values of a class."""
        return False

    @property
    def compares(self) -> bool:
        """Whether the promise compares classes with the whole table, so that an audit needs to know that."""
        return False

    @abstractmethod
    def ok(self, classes: Classes) -> NDArray[np.bool_]:
        """Return for each class whether it satisfies the model."""

    def holds(self, sizes: IntArray) -> bool:
        """Return whether a released table with classes of these sizes satisfies the model.

        Asked only where ``of_table`` is set, and besides :meth:`ok`.
        """
        return True

    @abstractmethod
    def reached(self, groups: Groups) -> float:
        """Measure the parameter a released table really attains, written apart from :meth:`ok`.

        It is the strictest parameter (for k the smallest class size) the whole table satisfies.
        """

    @abstractmethod
    def satisfied_by(self, reached: float) -> bool:
        """Whether the measured parameter keeps this promise."""

    @property
    def minimum_size(self) -> int:
        """No class with fewer rows than this can be ok, if the sensitive values of all its rows are known."""
        return 1

    def smallest(self, table: CountTable) -> int:
        """Return the size below which no class of a table can be ok, be some of its values unknown."""
        return self.minimum_size

    def fewest_removed(self, classes: Classes) -> NDArray[np.int64]:
        """Return a lower bound on the rows any ok sub-collection of each class must leave out.

        The default is exact for superset-closed models and 0 otherwise.
        """
        if self.superset_closed:
            return np.where(self.ok(classes), 0, classes.sizes).astype(np.int64)
        return np.zeros(len(classes), dtype=np.int64)

    def caps(self, table: CountTable, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the most rows of each sensitive value that classes with so many known values may hold, (c, v).

        Asked only where ``limits_values`` is set. Caps must not fall as the number grows.
        """
        raise NotImplementedError

    def resolve(self, sensitive: Sequence[str]) -> Self:
        """Fill in the sensitive attribute where there is only one, and check it where it is named."""
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
        """Raise a UsageError if the model speaks of something the table does not have."""
        if self.looks_at_population and table.population is None:
            raise self.nobody_known()

    def need_rows(self, table: CountTable, needed: int, way_out: str) -> None:
        """Raise an InfeasibleError if the whole table has fewer rows than one class must have."""
        if table.n < needed:
            raise InfeasibleError(
                f"'{self.text}' needs classes of {amount(needed, 'row')} and the whole table has {table.n:,}; "
                f"{way_out}.",
                topic="never-possible",
            )

    def nobody_known(self) -> UsageError:
        """Return the error of a model that looks at the population, where nothing is known about it."""
        return UsageError(
            f"'{self.shown}' asks how many people of the population are in a class; give a table of them as "
            "population, or the column with the survey weights as weights."
        )

    def people(self, classes: Classes) -> NDArray[np.float64]:
        """Return how many people of the population have the released values of each class."""
        if classes.population is None:
            raise self.nobody_known()
        return classes.population

    def check(self, table: CountTable) -> None:
        """Raise an InfeasibleError if the model can never hold on this table, before any search starts.

        Not asked where sensitive values may become unknown, which can mend any class; :meth:`fits` is.
        """
        self.fits(table)


PRIVACY: Family[PrivacyModel] = Family("privacy model", PrivacyModel, "discreet.problem.privacy", "discreet.privacy")  # type: ignore[type-abstract]
