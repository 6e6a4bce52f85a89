"""k: the size of the smallest class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray
from discreet.problem.axes._base import AXES, Axis
from discreet.problem.classes import Classes

__all__ = ["K"]


@AXES.register
@dataclass(frozen=True)
class K(Axis):
    """The size of the smallest class.

    >>> AXES.make("k").text
    'k'
    """

    name: ClassVar[str] = "k"
    examples: ClassVar[tuple[str, ...]] = ("k",)
    title: ClassVar[str] = "How many look the same"
    summary: ClassVar[str] = "The size of the smallest group of people who look the same."
    rank: ClassVar[int] = 10
    union_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = True

    def values(self, classes: Classes) -> FloatArray:
        """Return the rows of each class."""
        return classes.sizes.astype(np.float64)

    def promise(self, value: float) -> str:
        """Return the model that promises classes of that size."""
        return f"k({int(value)})"
