"""l by entropy: how diverse the sensitive values are."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray
from discreet.problem.axes._base import AXES, DECIMALS, Axis
from discreet.problem.classes import Classes
from discreet.runtime.text_form import format_text

__all__ = ["EntropyL"]


@AXES.register
@dataclass(frozen=True)
class EntropyL(Axis):
    """e to the lowest entropy of the sensitive values of a class: as hard to guess as so many equally frequent ones."""

    name: ClassVar[str] = "entropy-l"
    examples: ClassVar[tuple[str, ...]] = ("entropy-l(disease)",)
    title: ClassVar[str] = "How hard guessing is"
    summary: ClassVar[str] = "As hard as one of so many equally frequent values."
    rank: ClassVar[int] = 30
    looks_at_sensitive: ClassVar[bool] = True
    union_closed: ClassVar[bool] = True

    column: str | None = None

    def values(self, classes: Classes) -> FloatArray:
        """Return e to the entropy of the known sensitive values of each class; 1 if no value is known."""
        counts = classes.sensitive[str(self.column)]
        share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        entropy = -(share * np.log(share, out=np.zeros_like(share), where=share > 0)).sum(axis=1)
        return np.asarray(np.exp(entropy).round(DECIMALS))

    def promise(self, value: float) -> str:
        """Return the model that promises this diversity, rounded down so that the recoding keeps it."""
        return format_text("entropy-l", [max(floor(value * 1e6) / 1e6, 1.0), self.column], {})
