"""t: the distance from the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar, Self

from discreet.counts import CountTable, FloatArray
from discreet.problem._classes import Classes
from discreet.problem._text import format_text
from discreet.problem.axes._base import AXES, DECIMALS, Axis
from discreet.problem.privacy.t_closeness import TCloseness

__all__ = ["T"]


@AXES.register
@dataclass(frozen=True)
class T(Axis):
    """How far the sensitive values of any class are from those of the whole table: the earth mover's distance."""

    name: ClassVar[str] = "t"
    union_closed: ClassVar[bool] = True

    column: str | None = None
    distance: str = "equal"

    def resolve(self, table: CountTable) -> Self:
        """Return the axis with its column filled in, and its ground distance checked."""
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
        """Return the model that promises to be that close; rounded up, so that what was reached fulfils it."""
        return format_text("t", [min(ceil(-value * 1e6) / 1e6, 1.0), self.column, self.distance], {})
