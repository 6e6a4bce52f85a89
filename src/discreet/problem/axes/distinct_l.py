"""l: the number of different sensitive values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray
from discreet.problem._classes import Classes
from discreet.problem._text import format_text
from discreet.problem.axes._base import AXES, Axis

__all__ = ["DistinctL"]


@AXES.register
@dataclass(frozen=True)
class DistinctL(Axis):
    """How many sensitive values occur in each class at least."""

    name: ClassVar[str] = "distinct-l"
    union_closed: ClassVar[bool] = True
    aliases: ClassVar[tuple[str, ...]] = ("l",)
    superset_closed: ClassVar[bool] = True

    column: str | None = None

    def values(self, classes: Classes) -> FloatArray:
        """Return the number of known values that occur in each class."""
        return np.asarray(np.count_nonzero(classes.sensitive[str(self.column)], axis=1), dtype=np.float64)

    def promise(self, value: float) -> str | None:
        """Return the model that promises so many values; none is needed for no value at all."""
        if value < 1:
            return None
        return format_text("distinct-l", [int(value), self.column], {})
