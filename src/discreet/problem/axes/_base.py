"""Axes of a front: privacy parameters that each recoding reaches to some degree.

An axis gives every class a number; a recoding reaches the worst number of the classes it publishes. Within, more is
always better, so that numbers where less is better are negated; ``shown`` turns them back.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import ClassVar, Self

from discreet.counts import CountTable, FloatArray
from discreet.errors import UsageError
from discreet.problem._classes import Classes
from discreet.problem._family import Family, Part

__all__ = ["AXES", "DECIMALS", "Axis"]

DECIMALS = 12
"""Numbers that are sums of fractions are rounded to these, so that classes that are equally bad have equal numbers."""


class Axis(Part):
    """One privacy parameter."""

    plain: ClassVar[tuple[str, ...]] = ("column", "distance")
    superset_closed: ClassVar[bool] = False
    """A class never gets worse when rows are added."""
    union_closed: ClassVar[bool] = False
    """Two classes put together are never worse than the worse of them."""
    of_table: ClassVar[bool] = False
    """The number is one of the whole table, and classes are suppressed from the smallest up."""

    def resolve(self, table: CountTable) -> Self:
        """Return the axis with its sensitive column filled in and checked."""
        if "column" not in {item.name for item in fields(self)}:  # type: ignore[arg-type]
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
        """The sensitive columns it looks at."""
        column = getattr(self, "column", None)
        return [] if column is None else [column]

    @abstractmethod
    def values(self, classes: Classes) -> FloatArray:
        """Return the number of each class; more is better."""

    def of(self, values: FloatArray, sizes: FloatArray) -> float:
        """Return the number of a recoding, given those of the classes it publishes and their rows."""
        return float(values.min())

    def shown(self, value: float) -> float:
        """Return the number as people know it."""
        return value

    def promise(self, value: float) -> str | None:
        """Return the model a recoding keeps that reaches a number, as text; None where there is no such model."""
        return None


AXES: Family[Axis] = Family("axis", Axis, "discreet.problem.axes", "discreet.axes")  # type: ignore[type-abstract]
