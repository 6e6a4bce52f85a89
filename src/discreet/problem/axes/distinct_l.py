"""l: the number of different sensitive values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray
from discreet.problem.axes._base import AXES, Axis
from discreet.problem.classes import Classes
from discreet.runtime.text_form import format_text

__all__ = ["DistinctL"]


@AXES.register
@dataclass(frozen=True)
class DistinctL(Axis):
    """The fewest different sensitive values in a class."""

    name: ClassVar[str] = "distinct-l"
    examples: ClassVar[tuple[str, ...]] = ("distinct-l(disease)",)
    title: ClassVar[str] = "Different sensitive values"
    summary: ClassVar[str] = "The fewest different values in a group."
    rank: ClassVar[int] = 20
    looks_at_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True
    aliases: ClassVar[tuple[str, ...]] = ("l",)
    superset_closed: ClassVar[bool] = True

    column: str | None = None

    def values(self, classes: Classes) -> FloatArray:
        """Return the number of known values that occur in each class."""
        return np.asarray(np.count_nonzero(classes.sensitive[str(self.column)], axis=1), dtype=np.float64)

    def promise(self, value: float) -> str | None:
        """Return the model that promises so many values; None for no value at all."""
        if value < 1:
            return None
        return format_text("distinct-l", [int(value), self.column], {})
