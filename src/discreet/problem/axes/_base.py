"""The base class of axes of fronts: privacy parameters that each recoding reaches to some degree.

An axis gives every class a number, and a recoding has the worst number of the classes it publishes. More is always
better: an axis on which less is better negates its numbers, and :meth:`Axis.shown` turns them back.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

from discreet.counts import CountTable, FloatArray
from discreet.errors import UsageError
from discreet.problem.classes import Classes
from discreet.runtime.parts import Family, Part

__all__ = ["AXES", "DECIMALS", "Axis"]

DECIMALS = 12
"""Sums of fractions are rounded to so many decimals, so that classes that are equally bad have equal numbers."""


class Axis(Part):
    """A privacy parameter by which the points of a front differ."""

    plain: ClassVar[tuple[str, ...]] = ("column", "distance")
    superset_closed: ClassVar[bool] = False
    """A class never gets worse when rows are added.

    If it is wrong, points of the front are missed.
    """
    union_closed: ClassVar[bool] = False
    """The union of two classes is never worse than the worse of them.

    If it is wrong, points of the front are missed.
    """
    of_table: ClassVar[bool] = False
    """The number is one of the whole table, see :meth:`of`; classes are suppressed from the smallest up.

    If it is wrong, points have the number of their worst class.
    """
    looks_at_sensitive: ClassVar[bool] = False
    """It has a ``column`` field, which names the sensitive attribute it looks at.

    If it is wrong, the column is neither filled in nor checked.
    """

    def resolve(self, table: CountTable) -> Self:
        """Return the axis with its sensitive column filled in and checked."""
        if not self.looks_at_sensitive:
            return self
        names, column = list(table.sensitive), self.columns[0] if self.columns else None
        if column is None and len(names) == 1:
            return replace(self, column=names[0])  # type: ignore[type-var]
        if column is None:
            raise UsageError(
                f"The axis {self.name} needs a sensitive column, as in {self.name}(disease).", topic="sensitive-column"
            )
        if column not in names:
            raise UsageError(
                f"The axis {self.name} is about '{column}', which is not a sensitive column.", topic="sensitive-column"
            )
        return self

    @property
    def columns(self) -> Sequence[str]:
        """The sensitive attributes it looks at."""
        column = getattr(self, "column", None)
        return [] if column is None else [column]

    @abstractmethod
    def values(self, classes: Classes) -> FloatArray:
        """Return the number of each class; more is better."""

    def of(self, values: FloatArray, sizes: FloatArray) -> float:
        """Return the number of a recoding from the numbers and the sizes of the classes it publishes."""
        return float(values.min())

    def shown(self, value: float) -> float:
        """Return the number as reports show it."""
        return value

    def promise(self, value: float) -> str | None:
        """Return the text form of the privacy model that a recoding with this number keeps, if there is one."""
        return None


AXES: Family[Axis] = Family("axis", Axis, "discreet.problem.axes", "discreet.axes")  # type: ignore[type-abstract]
