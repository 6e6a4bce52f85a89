"""k: the size of the smallest class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.counts import FloatArray
from discreet.problem._classes import Classes
from discreet.problem.axes._base import AXES, Axis

__all__ = ["K"]


@AXES.register
@dataclass(frozen=True)
class K(Axis):
    """The size of the smallest class.

    >>> AXES.make("k").text
    'k'
    """

    name: ClassVar[str] = "k"
    union_closed: ClassVar[bool] = True
    superset_closed: ClassVar[bool] = True

    def values(self, classes: Classes) -> FloatArray:
        """Return the rows of each class."""
        return classes.sizes.astype(np.float64)

    def promise(self, value: float) -> str:
        """Return the model that promises classes of that size."""
        return f"k({int(value)})"
