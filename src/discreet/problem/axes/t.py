"""t: the distance from the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar, Self

from discreet.counts import CountTable, FloatArray
from discreet.problem.axes._base import AXES, DECIMALS, Axis
from discreet.problem.classes import Classes
from discreet.problem.privacy.t_closeness import TCloseness
from discreet.runtime.text_form import format_text

__all__ = ["T"]


@AXES.register
@dataclass(frozen=True)
class T(Axis):
    """The largest earth mover's distance between the sensitive values of a class and of the whole table."""

    name: ClassVar[str] = "t"
    examples: ClassVar[tuple[str, ...]] = ("t(disease)", "t(disease, ordered)", "t(disease, hierarchical)")
    title: ClassVar[str] = "Distance from everybody"
    summary: ClassVar[str] = "How far a group is from the whole table, at most."
    rank: ClassVar[int] = 50
    looks_at_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    column: str | None = None
    distance: str = "equal"

    def resolve(self, table: CountTable) -> Self:
        """Return the axis with its column filled in and its distance checked."""
        axis = super().resolve(table)
        TCloseness(1.0, axis.column, axis.distance).check(table)
        return axis

    def values(self, classes: Classes) -> FloatArray:
        """Return the distance of each class, negated."""
        return -TCloseness(1.0, self.column, self.distance).distances(classes).round(DECIMALS)

    def shown(self, value: float) -> float:
        """Return the distance."""
        return -value

    def promise(self, value: float) -> str:
        """Return the model that promises this distance, rounded up so that the recoding keeps it."""
        return format_text("t", [min(ceil(-value * 1e6) / 1e6, 1.0), self.column, self.distance], {})
