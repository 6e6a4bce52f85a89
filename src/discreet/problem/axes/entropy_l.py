"""l by entropy: how diverse the sensitive values are."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray
from discreet.problem._classes import Classes
from discreet.problem._text import format_text
from discreet.problem.axes._base import AXES, DECIMALS, Axis

__all__ = ["EntropyL"]


@AXES.register
@dataclass(frozen=True)
class EntropyL(Axis):
    """How many equally frequent values would be as diverse as each class is at least: e to the entropy."""

    name: ClassVar[str] = "entropy-l"
    union_closed: ClassVar[bool] = True

    column: str | None = None

    def values(self, classes: Classes) -> FloatArray:
        """Return e to the entropy of the known sensitive values of each class; 1 if there is none."""
        counts = classes.sensitive[str(self.column)]
        share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        entropy = -(share * np.log(share, out=np.zeros_like(share), where=share > 0)).sum(axis=1)
        return np.asarray(np.exp(entropy).round(DECIMALS))

    def promise(self, value: float) -> str:
        """Return the model that promises so diverse classes; rounded down, so that what was reached fulfils it."""
        return format_text("entropy-l", [max(floor(value * 1e6) / 1e6, 1.0), self.column], {})
