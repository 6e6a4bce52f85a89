"""θ: the confidence with which a sensitive value can be inferred."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray
from discreet.problem._classes import Classes
from discreet.problem._text import format_text
from discreet.problem.axes._base import AXES, Axis

__all__ = ["Theta"]


@AXES.register
@dataclass(frozen=True)
class Theta(Axis):
    """How frequent the most frequent sensitive value of any class is: what can be inferred with that confidence."""

    name: ClassVar[str] = "theta"
    union_closed: ClassVar[bool] = True
    aliases: ClassVar[tuple[str, ...]] = ("l+", "θ")

    column: str | None = None

    def values(self, classes: Classes) -> FloatArray:
        """Return the largest share of a value among the known ones of each class, negated; 0 if there is none."""
        counts = classes.sensitive[str(self.column)]
        return np.asarray(-counts.max(axis=1) / np.maximum(counts.sum(axis=1), 1))

    def shown(self, value: float) -> float:
        """Return the share."""
        return -value

    def promise(self, value: float) -> str:
        """Return the model that promises no larger share; rounded up, so that what was reached fulfils it."""
        return format_text("l+", [min(max(ceil(-value * 1e6), 1) / 1e6, 1.0), self.column], {})
