"""θ: the confidence with which a sensitive value can be inferred."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray
from discreet.problem.axes._base import AXES, Axis
from discreet.problem.classes import Classes
from discreet.runtime.text_form import format_text

__all__ = ["Theta"]


@AXES.register
@dataclass(frozen=True)
class Theta(Axis):
    """The largest share of one sensitive value in a class: the confidence with which it can be inferred."""

    name: ClassVar[str] = "theta"
    examples: ClassVar[tuple[str, ...]] = ("theta(disease)",)
    title: ClassVar[str] = "Most likely value"
    summary: ClassVar[str] = "The largest share of one sensitive value in a group."
    rank: ClassVar[int] = 40
    looks_at_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True
    aliases: ClassVar[tuple[str, ...]] = ("l+", "θ")

    column: str | None = None

    def values(self, classes: Classes) -> FloatArray:
        """Return the largest share of a known value in each class, negated; 0 if no value is known."""
        counts = classes.sensitive[str(self.column)]
        known = classes.known.get(str(self.column), counts.sum(axis=1))
        return np.asarray(-counts.max(axis=1) / np.maximum(known, 1))

    def shown(self, value: float) -> float:
        """Return the share."""
        return -value

    def promise(self, value: float) -> str:
        """Return the model that promises no larger share, rounded up so that the recoding keeps it."""
        return format_text("l+", [min(max(ceil(-value * 1e6), 1) / 1e6, 1.0), self.column], {})
