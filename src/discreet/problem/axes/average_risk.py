"""Average risk: the probability of picking the right row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray
from discreet.problem.axes._base import AXES, Axis
from discreet.problem.classes import Classes

__all__ = ["AverageRiskAxis"]


@AXES.register
@dataclass(frozen=True)
class AverageRiskAxis(Axis):
    """The number of classes over the number of rows: the average probability of picking the right row."""

    name: ClassVar[str] = "average-risk"
    examples: ClassVar[tuple[str, ...]] = ("average-risk",)
    title: ClassVar[str] = "Average risk"
    summary: ClassVar[str] = "The chance of picking the right row, on average."
    rank: ClassVar[int] = 60
    union_closed: ClassVar[bool] = True
    of_table: ClassVar[bool] = True

    def values(self, classes: Classes) -> FloatArray:
        """Return the rows of each class."""
        return classes.sizes.astype(np.float64)

    def of(self, values: FloatArray, sizes: FloatArray) -> float:
        """Return the number of classes per row, negated."""
        return -float(sizes.size / sizes.sum())

    def shown(self, value: float) -> float:
        """Return the risk."""
        return -value
