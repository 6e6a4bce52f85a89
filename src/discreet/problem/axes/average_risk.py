"""Average risk: the chance of picking the right row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray
from discreet.problem._classes import Classes
from discreet.problem.axes._base import AXES, Axis

__all__ = ["AverageRisk"]


@AXES.register
@dataclass(frozen=True)
class AverageRisk(Axis):
    """The chance that somebody who knows the quasi-identifiers picks the right row, on average over the rows."""

    name: ClassVar[str] = "average-risk"
    union_closed: ClassVar[bool] = True
    of_table: ClassVar[bool] = True

    def values(self, classes: Classes) -> FloatArray:
        """Return the rows of each class."""
        return classes.sizes.astype(np.float64)

    def of(self, values: FloatArray, sizes: FloatArray) -> float:
        """Return the number of classes for each row, negated."""
        return -float(sizes.size / sizes.sum())

    def shown(self, value: float) -> float:
        """Return the risk."""
        return -value
